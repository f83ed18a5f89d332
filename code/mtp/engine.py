"""The model's parameters arranged for decoding on a CPU, where a small model pays for calls and not for arithmetic.

The same function as `mtp.model`, which the tests compare it with, in fewer calls:

- norm weights and the attention's scale are multiplied into the matrices that follow them, which are stored transposed;
- q, k, v are one product, gate and up another; residual sums ride on the products (`addmm`);
- rotary positions are one complex product: rows of q and k are reordered so that the pairs lie side by side (v is multiplied by 1);
- the residual stream x is carried as [x, -x]: its mean is 0, so layer norm, one call, is RMSNorm, which is several;
- the token's half of `input_proj` is looked up: it depends on the token alone.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .cache import KVCache, Reservation
from .model import Block, MTPLanguageModel, rotary_angles


def _mirrored(matrix: Tensor) -> Tensor:
    """(n, D) → (n, 2D): [m, -m]."""
    return torch.cat([matrix, -matrix], dim=-1).contiguous()


class PackedBlock:
    """One block: x → x + attention → + feed-forward, on mirrored rows (N, 2D)."""

    def __init__(self, block: Block, eps: float) -> None:
        attention, mlp = block.self_attn, block.mlp
        width = attention.o_proj.in_features
        self.heads, self.width, self.eps = attention.heads, width, eps
        head_dim = width // self.heads
        # (head, half, pair) → (head, pair, half)
        pairs = torch.arange(width).view(self.heads, 2, head_dim // 2).transpose(1, 2).flatten()
        q, k, v, o = (layer.weight.detach() for layer in (attention.q_proj, attention.k_proj, attention.v_proj, attention.o_proj))
        q_bias, k_bias, v_bias = (layer.bias.detach() for layer in (attention.q_proj, attention.k_proj, attention.v_proj))
        scale = head_dim**-0.5
        before, after = block.input_layernorm.weight.detach(), block.post_attention_layernorm.weight.detach()
        self.qkv = (torch.cat([q[pairs] * scale, k[pairs], v]) * before).t().contiguous()
        self.qkv_bias = torch.cat([q_bias[pairs] * scale, k_bias[pairs], v_bias])
        self.out = _mirrored(o.t())
        self.gate_up = (torch.cat([mlp.gate_proj.weight.detach(), mlp.up_proj.weight.detach()]) * after).t().contiguous()
        self.down = _mirrored(mlp.down_proj.weight.detach().t())
        self.inner = mlp.gate_proj.out_features

    def __call__(self, x: Tensor, layer: int, turns: Tensor, room: Reservation) -> Tensor:
        """x: (rows · count, 2D); turns: complex, broadcastable to (rows, count, 3, 1, head_dim / 2); writes `layer` of the cache."""
        rows, count, width = x.shape[0] // room.count, room.count, self.width
        normed = torch.layer_norm(x, (2 * width,), None, None, self.eps)[:, :width]
        qkv = torch.addmm(self.qkv_bias, normed, self.qkv).view(rows, count, 3, self.heads, -1, 2)
        qkv = torch.view_as_real(torch.view_as_complex(qkv) * turns).flatten(-2)
        keys, values = room.write(layer, qkv[:, :, 1:])
        queries = qkv[:, :, 0].transpose(1, 2).reshape(rows * self.heads, count, -1)
        scores = torch.bmm(queries, keys.transpose(1, 2))
        if room.mask is not None:
            scores += room.mask
        attended = torch.bmm(torch.softmax(scores, dim=-1), values)
        attended = attended.view(rows, self.heads, count, -1).transpose(1, 2).reshape(rows * count, width)
        x = torch.addmm(x, attended, self.out)
        normed = torch.layer_norm(x, (2 * width,), None, None, self.eps)[:, :width]
        inner = torch.mm(normed, self.gate_up)
        return torch.addmm(x, torch.nn.functional.silu(inner[:, : self.inner]) * inner[:, self.inner :], self.down)


class Engine:
    """Trunk and MTP module, ready to decode. States are mirrored rows; `plain(state)` gives x itself."""

    def __init__(self, model: MTPLanguageModel) -> None:
        config, trunk = model.config, model.model
        self.config, self.model = config, model
        self.eps, self.width = config.rms_norm_eps, config.hidden_size
        self.dtype = model.lm_head.weight.dtype
        head = model.lm_head.weight.detach()
        self.embedding = _mirrored(trunk.embed_tokens.weight.detach())
        self.blocks = [PackedBlock(block, self.eps) for block in trunk.layers]
        self.head = (head * trunk.norm.weight.detach()).t().contiguous()
        self.turns = self._turns()
        self.has_mtp = bool(trunk.mtp_layers)
        if self.has_mtp:
            module = trunk.mtp_layers[0]
            self.mtp_block = PackedBlock(module, self.eps)
            by_hidden, by_token = module.input_proj.weight.detach().split(self.width, dim=1)
            self.from_hidden = _mirrored((by_hidden * module.hidden_layernorm.weight.detach()).t())
            self.from_token = _mirrored(module.token_layernorm(trunk.embed_tokens.weight).detach() @ by_token.t())
            self.mtp_norm = module.final_layernorm.weight.detach().repeat(2)
            self.mtp_head = head.t().contiguous()

    def _turns(self) -> Tensor:
        angles = rotary_angles(torch.arange(self.config.max_position_embeddings), self.config.head_dim, self.config.rope_theta)
        turned = torch.polar(torch.ones_like(angles), angles)
        turns = torch.stack([turned, turned, torch.ones_like(turned)], dim=1)[:, :, None]
        return turns.to(torch.complex128 if self.dtype == torch.float64 else torch.complex64)

    def cache(self, rows: int, capacity: int, layers: int) -> KVCache:
        return KVCache(layers, rows, self.config.num_attention_heads, capacity, self.config.head_dim, self.dtype)

    def trunk_cache(self, rows: int, capacity: int) -> KVCache:
        return self.cache(rows, capacity, self.config.num_hidden_layers)

    def draft_cache(self, rows: int, capacity: int) -> KVCache:
        """Raises ValueError when the checkpoint has no MTP layer."""
        if not self.has_mtp:
            raise ValueError("this checkpoint has no MTP layers (num_nextn_predict_layers=0): MTP cannot be switched on by a flag")
        return self.cache(rows, capacity, 1)

    def plain(self, state: Tensor) -> Tensor:
        return state[..., : self.width]

    def trunk(self, tokens: Tensor, cache: KVCache) -> Tensor:
        """Read tokens (B, T) after what `cache` holds; returns their states before the final norm, (B, T, 2D), mirrored."""
        room = cache.reserve(tokens.shape[1])
        turns = self._turns_at(room)
        x = self.embedding[tokens.flatten()]
        for layer, block in enumerate(self.blocks):
            x = block(x, layer, turns, room)
        return x.view(*tokens.shape, -1)

    def logits(self, states: Tensor) -> Tensor:
        """The target's logits, (…, V), of states (…, 2D) from `trunk`."""
        normed = torch.layer_norm(states, (2 * self.width,), None, None, self.eps)
        return normed[..., : self.width] @ self.head

    def mtp(self, states: Tensor, next_tokens: Tensor, cache: KVCache) -> Tensor:
        """Run the module on the next slots of `cache`; one slot for each state.

        Args:
            states: (B, S, 2D): from `trunk` at depth 1, from this method when reused.
            next_tokens: (B, S), the token after each state's own.

        Returns:
            (B, S, 2D), after the module's final norm.
        """
        room = cache.reserve(next_tokens.shape[1])
        token_part = self.from_token[next_tokens.flatten()].view(*next_tokens.shape, -1)
        self._leave_out_first(token_part, room)
        normed = torch.layer_norm(states, (2 * self.width,), None, None, self.eps)[..., : self.width]
        x = torch.addmm(token_part.flatten(0, 1), normed.flatten(0, 1), self.from_hidden)
        x = self.mtp_block(x, 0, self._turns_at(room), room)
        return torch.layer_norm(x, (2 * self.width,), self.mtp_norm, None, self.eps).view(*next_tokens.shape, -1)

    def mtp_logits(self, states: Tensor) -> Tensor:
        """The draft's logits, (…, V), of states (…, 2D) from `mtp`."""
        return states[..., : self.width] @ self.mtp_head

    def _leave_out_first(self, token_part: Tensor, room: Reservation) -> None:
        """Zero the token's part at position 0 (its norm of a zero embedding is zero)."""
        if room.positions is not None:
            token_part.masked_fill_((room.positions == 0)[..., None], 0)
        elif room.start == 0:
            token_part[:, 0] = 0

    def _turns_at(self, room: Reservation) -> Tensor:
        if room.positions is None:
            return self.turns[room.start : room.end]
        # Padded slots may lie beyond the table; what they compute is thrown away.
        return self.turns[room.positions.clamp(max=len(self.turns) - 1)]
