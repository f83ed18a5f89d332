"""The model's parameters arranged for decoding on a CPU, where a small model pays for calls and not for arithmetic.

The same function as `mtp.model`, which the tests compare it with, in fewer calls:

- norm weights and the attention's scale are multiplied into the matrices that follow them, which are stored transposed;
- q, k and v are one product; residual sums ride on the products (`addmm`);
- rotary positions are one complex product: rows of q and k are reordered so that the pairs lie side by side (v is multiplied by 1);
- RMSNorm is x / hypot(|x|, √(D·eps)), its factor √D in the matrices too: three calls where `rms_norm` makes more;
- the token's half of `input_proj` is looked up: it depends on the token alone.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import embedding, scaled_dot_product_attention, silu

from .cache import KVCache, Reservation
from .model import Block, MTPLanguageModel, rotary_angles


def unit(x: Tensor, floor: Tensor) -> Tensor:
    """x / √(|x|² + floor²) over the last dimension."""
    return x / torch.hypot(torch.linalg.vector_norm(x, 2, -1, True), floor)


class Norm:
    """RMSNorm without weight and without its factor √D: `fold` puts both into the matrix that reads the result."""

    def __init__(self, width: int, eps: float, dtype: torch.dtype) -> None:
        self.root = width**0.5
        self.floor = torch.tensor((width * eps) ** 0.5, dtype=dtype)

    def __call__(self, x: Tensor) -> Tensor:
        return unit(x, self.floor)

    def fold(self, weight: Tensor, matrix: Tensor) -> Tensor:
        """(N, D) matrix after a norm with `weight` → (D, N), to be multiplied from the right."""
        return (matrix.detach() * (weight.detach() * self.root)).t().contiguous()


class PackedBlock:
    """One block: x → x + attention → + feed-forward, on rows (N, D)."""

    def __init__(self, block: Block, norm: Norm) -> None:
        attention, mlp = block.self_attn, block.mlp
        self.norm, self.heads, self.width = norm, attention.heads, attention.o_proj.in_features
        head_dim = self.width // self.heads
        # (head, half, pair) → (head, pair, half)
        pairs = torch.arange(self.width).view(self.heads, 2, head_dim // 2).transpose(1, 2).flatten()
        q, k, v, scale = attention.q_proj, attention.k_proj, attention.v_proj, head_dim**-0.5
        qkv = torch.cat([q.weight[pairs] * scale, k.weight[pairs], v.weight])
        self.qkv = norm.fold(block.input_layernorm.weight, qkv)
        self.qkv_bias = torch.cat([q.bias[pairs] * scale, k.bias[pairs], v.bias]).detach()
        self.out = attention.o_proj.weight.detach().t().contiguous()
        self.gate = norm.fold(block.post_attention_layernorm.weight, mlp.gate_proj.weight)
        self.up = norm.fold(block.post_attention_layernorm.weight, mlp.up_proj.weight)
        self.down = mlp.down_proj.weight.detach().t().contiguous()
        self.finish = finish

    def __call__(self, x: Tensor, layer: int, turns: Tensor, room: Reservation) -> Tensor:
        """x: (rows · count, D); turns: complex, broadcastable to (rows, count, 3, 1, head_dim / 2); writes `layer` of the cache."""
        rows, count = room.rows, room.count
        qkv = torch.addmm(self.qkv_bias, self.norm(x), self.qkv).view(rows, count, 3, self.heads, -1, 2)
        qkv = torch.view_as_real(torch.view_as_complex(qkv) * turns).flatten(-2)
        keys, values = room.write(layer, qkv[:, :, 1:])
        attended = attend(qkv.select(2, 0), keys, values, room.mask).view(rows * count, self.width)
        return self.finish(x, attended, self.out, self.norm.floor, self.gate, self.up, self.down)


def attend(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
    """Attention of scaled queries (rows, count, heads, head_dim) over what `Reservation.write` returns; as many numbers, contiguous."""
    if mask is None:
        # One query a row: three calls are less work than the fused one.
        queries = queries.reshape(len(keys), 1, -1)
        return torch.bmm(torch.softmax(torch.bmm(queries, keys), -1), values)
    attended = scaled_dot_product_attention(queries.transpose(1, 2), keys, values, attn_mask=mask, scale=1.0)
    return attended.transpose(1, 2).contiguous()


def finish(x: Tensor, attended: Tensor, out: Tensor, floor: Tensor, gate: Tensor, up: Tensor, down: Tensor) -> Tensor:
    """The block after its attention: both residual sums, norm and SwiGLU."""
    x = torch.addmm(x, attended, out)
    normed = unit(x, floor)
    inner = silu(torch.mm(normed, gate), inplace=True).mul_(torch.mm(normed, up))
    return torch.addmm(x, inner, down)


def padded(rows: list[list[int]]) -> Tensor:
    """Rows of tokens, filled up at the end with token 0 to the longest, (B, S)."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (width - len(row))] for row in rows])


class Engine:
    """Trunk and MTP module, ready to decode."""

    def __init__(self, model: MTPLanguageModel) -> None:
        config, trunk = model.config, model.model
        self.config, self.model, self.width = config, model, config.hidden_size
        self.dtype = model.lm_head.weight.dtype
        self.norm = norm = Norm(self.width, config.rms_norm_eps, self.dtype)
        self.embedding = trunk.embed_tokens.weight.detach()
        self.blocks = [PackedBlock(block, norm) for block in trunk.layers]
        self.head = norm.fold(trunk.norm.weight, model.lm_head.weight)
        self.turns = self._turns()
        self.has_mtp = bool(trunk.mtp_layers)
        if self.has_mtp:
            module = trunk.mtp_layers[0]
            self.mtp_block = PackedBlock(module, norm)
            by_hidden, by_token = module.input_proj.weight.detach().split(self.width, dim=1)
            self.from_hidden = norm.fold(module.hidden_layernorm.weight, by_hidden)
            self.from_token = module.token_layernorm(self.embedding).detach() @ by_token.t()
            self.mtp_norm = module.final_layernorm.weight.detach() * norm.root
            self.mtp_head = model.lm_head.weight.detach().t().contiguous()

    def compile(self) -> None:
        """Let torch.compile fuse what follows the attention in every block; needs a C++ compiler, changes no result but its rounding."""
        compiled = torch.compile(finish, dynamic=False)
        for block in [*self.blocks, *([self.mtp_block] if self.has_mtp else [])]:
            block.finish = compiled

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
            raise ValueError(
                "this checkpoint has no MTP layers (num_nextn_predict_layers=0): MTP cannot be switched on by a flag"
            )
        return self.cache(rows, capacity, 1)

    def trunk(self, tokens: Tensor, cache: KVCache) -> Tensor:
        """Read tokens (B, T) after what `cache` holds; returns their states before the final norm, (B, T, D)."""
        room = cache.reserve(tokens.shape[1])
        turns = self._turns_at(room)
        x = embedding(tokens.flatten(), self.embedding)
        for layer, block in enumerate(self.blocks):
            x = block(x, layer, turns, room)
        return x.view(*tokens.shape, -1)

    def logits(self, states: Tensor) -> Tensor:
        """The target's logits, (…, V), of states (…, D) from `trunk`."""
        return torch.matmul(self.norm(states), self.head)

    def mtp(self, states: Tensor, next_tokens: Tensor, cache: KVCache) -> Tensor:
        """Run the module on the next slots of `cache`; one slot for each state.

        Args:
            states: (B, S, D): from `trunk` at depth 1, from this method when reused.
            next_tokens: (B, S), the token after each state's own.

        Returns:
            (B, S, D), after the module's final norm.
        """
        room = cache.reserve(next_tokens.shape[1])
        token_part = embedding(next_tokens, self.from_token)
        self._leave_out_first(token_part, room)
        x = torch.addmm(token_part.flatten(0, 1), self.norm(states.flatten(0, 1)), self.from_hidden)
        x = self.mtp_block(x, 0, self._turns_at(room), room)
        return self.norm(x).mul_(self.mtp_norm).view(*next_tokens.shape, -1)

    def mtp_logits(self, states: Tensor) -> Tensor:
        """The draft's logits, (…, V), of states (…, D) from `mtp`."""
        return torch.matmul(states, self.mtp_head)

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
