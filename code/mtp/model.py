"""A transformer with a native MTP module, in MiMo's released layout.

The trunk is Qwen2's: RMSNorm, rotary positions (halves rotated), attention with biased q/k/v and an unbiased o, SwiGLU. The MTP
module follows MiMo-7B (`MiMoMTPLayers` of its `modeling_mimo.py`, and `mimo_mtp.py` of vLLM), names and order of operations
included, so that the checkpoint loads there as `MiMoForCausalLM` with `num_nextn_predict_layers: 1`.

Slot i of the module, for a text t_0, t_1, …:

    depth 1   takes h_i (the trunk's state before its final norm), the embedding of t_{i+1}, position i; predicts t_{i+2}
    depth d   takes the module's own output at depth d-1 (after its final norm), t_{i+d}, position i+d-1; predicts t_{i+d+1}

DeepSeek-V3 differs: its weights concatenate the embedding first, and its serving code takes h after the final norm.

What is here is the readable definition, over whole texts, used for training and as the reference in tests. Decoding runs the
same parameters through `mtp.engine`, with caches.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class ModelConfig:
    """Sizes, under the names of MiMo's `config.json`.

    Raises:
        ValueError: for a size that is not a positive int, or heads that do not divide the width; names it.
    """

    vocab_size: int = 512
    hidden_size: int = 96
    intermediate_size: int = 160
    num_hidden_layers: int = 24
    num_attention_heads: int = 3
    num_nextn_predict_layers: int = 1
    max_position_embeddings: int = 1024
    rope_theta: float = 10_000.0
    rms_norm_eps: float = 1e-6

    def __post_init__(self) -> None:
        for name in (
            "vocab_size",
            "hidden_size",
            "intermediate_size",
            "num_hidden_layers",
            "num_attention_heads",
            "max_position_embeddings",
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be an int of at least 1, not {value!r}")
        if self.num_nextn_predict_layers not in (0, 1):
            raise ValueError(f"num_nextn_predict_layers must be 0 or 1, not {self.num_nextn_predict_layers!r}")
        if self.hidden_size % (2 * self.num_attention_heads):
            raise ValueError(
                f"hidden_size={self.hidden_size} must be a multiple of 2 × num_attention_heads={self.num_attention_heads}"
            )

    @property
    def head_dim(self) -> int:
        return self.hidden_size // self.num_attention_heads


class RMSNorm(nn.Module):
    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


def rotary_angles(positions: Tensor, head_dim: int, theta: float) -> Tensor:
    """Angles of shape (*positions, head_dim / 2), in float64: pair j of a head turns by position · theta^(-2j / head_dim)."""
    pairs = torch.arange(0, head_dim, 2, dtype=torch.float64)
    return positions.double()[..., None] * theta ** (-pairs / head_dim)


def rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Turn each pair (x_j, x_{j + head_dim/2}) by its angle (Su et al. 2021, in the order of Qwen2's weights).

    Args:
        x: (B, H, T, head_dim).
        angles: (T, head_dim / 2) or broadcastable to (B, H, T, head_dim / 2).
    """
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


class Attention(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(config.hidden_size, config.hidden_size) for _ in range(3))
        self.o_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)

    def project(self, x: Tensor, angles: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys (both rotated) and values, each (B, H, T, head_dim)."""
        q, k, v = (
            layer(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        return rotate(q, angles), rotate(k, angles), v

    def output(self, attended: Tensor) -> Tensor:
        return self.o_proj(attended.transpose(1, 2).flatten(2))


class MLP(nn.Module):
    """SwiGLU (Shazeer 2020)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = MLP(config)

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """The block after its attention: both residual connections and the feed-forward part."""
        x = x + self.self_attn.output(attended)
        return x + self.mlp(self.post_attention_layernorm(x))

    def forward(self, x: Tensor, angles: Tensor) -> Tensor:
        q, k, v = self.self_attn.project(self.input_layernorm(x), angles)
        return self.finish(x, F.scaled_dot_product_attention(q, k, v, is_causal=True))


class MTPModule(Block):
    """One MTP layer: joins a hidden state and the embedding of the next token, then runs one block of its own."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.token_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.hidden_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.input_proj = nn.Linear(2 * config.hidden_size, config.hidden_size, bias=False)
        self.final_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)

    def join(self, hidden: Tensor, embedded: Tensor, positions: Tensor) -> Tensor:
        """input_proj over [hidden ; token]; the token's embedding is left out at position 0, as MiMo does."""
        embedded = embedded.masked_fill((positions == 0)[..., None], 0)
        return self.input_proj(torch.cat([self.hidden_layernorm(hidden), self.token_layernorm(embedded)], dim=-1))

    def unroll(self, hidden: Tensor, embedded: Tensor, depth: int, theta: float) -> list[Tensor]:
        """Run the module the way decoding reuses it, from every slot of a text at once.

        A chain that starts at slot i sees the depth-1 keys of slots 0..i and its own later steps, no other chain's: that is
        what the draft cache holds when a round that begins at slot i has drafted d - 1 tokens.

        Args:
            hidden: (B, T, D), the trunk's states h_0 … h_{T-1}.
            embedded: (B, T, D), embeddings of t_1 … t_T.
            depth: how many times, at least 1 and at most T.

        Returns:
            For depth d = 1 … depth, (B, T-d+1, D): the outputs of slots 0 … T-d, after `final_layernorm`.
        """
        outputs: list[Tensor] = []
        chain: list[tuple[Tensor, Tensor]] = []
        for step in range(depth):
            slots = hidden.shape[1] - step
            positions = torch.arange(step, step + slots)
            previous = hidden if step == 0 else outputs[-1][:, :slots]
            x = self.join(previous, embedded[:, step:], positions)
            angles = rotary_angles(positions, x.shape[-1] // self.self_attn.heads, theta)
            q, k, v = self.self_attn.project(self.input_layernorm(x), angles)
            chain = [(key[:, :, :slots], value[:, :, :slots]) for key, value in chain] + [(k, v)]
            outputs.append(self.final_layernorm(self.finish(x, attend_chain(q, chain))))
        return outputs


def attend_chain(q: Tensor, chain: list[tuple[Tensor, Tensor]]) -> Tensor:
    """Attention of slot i over the first step's slots 0..i and over the later steps of slot i alone.

    Args:
        q: (B, H, T, head_dim) queries of the last step.
        chain: keys and values of every step so far, each (B, H, T, head_dim); the last step's own included.
    """
    (first_key, first_value), later = chain[0], chain[1:]
    if not later:
        return F.scaled_dot_product_attention(q, first_key, first_value, is_causal=True)
    slots, scale = q.shape[2], q.shape[3] ** -0.5
    future = torch.ones(slots, slots, dtype=torch.bool).triu(1)
    scores = (q @ first_key.transpose(2, 3)).masked_fill(future, float("-inf"))
    own = [(q * key).sum(-1, keepdim=True) for key, _ in later]
    weights = torch.softmax(torch.cat([scores, *own], dim=-1) * scale, dim=-1)
    attended = weights[..., :slots] @ first_value
    for index, (_, value) in enumerate(later):
        attended = attended + weights[..., slots + index, None] * value
    return attended


class Trunk(nn.Module):
    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Block(config) for _ in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mtp_layers = nn.ModuleList(MTPModule(config) for _ in range(config.num_nextn_predict_layers))


class MTPLanguageModel(nn.Module):
    """The target model with its MTP module; parameter names are MiMo's (`model.layers.0.self_attn.q_proj.weight`, …)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.model = Trunk(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def hidden(self, tokens: Tensor) -> Tensor:
        """Trunk states before the final norm, (B, T, D), for tokens (B, T) at positions 0 … T-1."""
        angles = rotary_angles(torch.arange(tokens.shape[1]), self.config.head_dim, self.config.rope_theta)
        x = self.model.embed_tokens(tokens)
        for layer in self.model.layers:
            x = layer(x, angles)
        return x

    def logits(self, hidden: Tensor) -> Tensor:
        """The target's logits of the next token, (B, T, V)."""
        return self.lm_head(self.model.norm(hidden))

    def mtp_states(self, hidden: Tensor, next_tokens: Tensor, depth: int = 1) -> list[Tensor]:
        """States of the MTP module at depths 1 … depth; `lm_head` of them are its logits (no norm in between).

        Args:
            hidden: (B, T, D) trunk states of t_0 … t_{T-1}.
            next_tokens: (B, T), t_1 … t_T.

        Raises:
            ValueError: when the checkpoint has no MTP layer, or depth is out of range.
        """
        if not self.model.mtp_layers:
            raise ValueError(
                "this checkpoint has no MTP layers (num_nextn_predict_layers=0): MTP cannot be switched on by a flag"
            )
        if not 1 <= depth <= next_tokens.shape[1]:
            raise ValueError(f"depth={depth!r} must lie between 1 and the number of slots, {next_tokens.shape[1]}")
        return self.model.mtp_layers[0].unroll(hidden, self.model.embed_tokens(next_tokens), depth, self.config.rope_theta)
