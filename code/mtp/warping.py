"""`warp`: the one function that turns logits into the distributions p and q."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def warp(logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None) -> Tensor:
    """Logits (…, V) → probabilities (…, V): temperature, then the top_k likeliest, then the smallest set with mass top_p.

    Temperature 0 is one-hot on the largest logit. Among equal logits the lowest token comes first, everywhere.

    Raises:
        ValueError: a setting out of range, named with its value.
    """
    if isinstance(temperature, bool) or not 0 <= temperature < math.inf:
        raise ValueError(f"temperature must be at least 0 and finite, not {temperature!r}")
    if top_k is not None and (isinstance(top_k, bool) or not isinstance(top_k, int) or top_k < 1):
        raise ValueError(f"top_k must be an int of at least 1, not {top_k!r}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must lie in (0, 1], not {top_p!r}")
    if temperature == 0:
        best = logits.argmax(-1, keepdim=True)
        return torch.zeros_like(logits).scatter_(-1, best, 1.0)
    p = torch.softmax(logits / temperature, dim=-1)
    if (top_k is None or top_k >= p.shape[-1]) and (top_p is None or top_p == 1):
        return p
    # Ranked by logits: probabilities can be equal where the logits differ by a rounding, and the argmax must stay in.
    order = logits.sort(dim=-1, descending=True, stable=True).indices
    ordered = p.gather(-1, order)
    if top_k is not None:
        ordered[..., top_k:] = 0
    if top_p is not None:
        # A token stays while the mass before it is below top_p: the one that crosses the line is the last one in.
        ordered = ordered / ordered.sum(-1, keepdim=True)
        ordered[ordered.cumsum(-1) - ordered >= top_p] = 0
    kept = torch.zeros_like(p).scatter_(-1, order, ordered)
    return kept / kept.sum(-1, keepdim=True)
