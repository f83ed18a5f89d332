"""Many rounds at once of the rules that test one candidate after the other, for pictures and large checks."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .verification import SpeculativeSampling, ThresholdAcceptance, TypicalAcceptance, _check_rows


@dataclass(frozen=True)
class Rounds:
    """Attributes: `accepted` (rounds,) lengths; `tokens` (rounds, k+1) emitted, -1 beyond the end; both int64."""

    accepted: Tensor
    tokens: Tensor


def _draw(rows: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """`count` tokens of one distribution (V,); never one without mass."""
    edges = rows.cumsum(0)
    u = torch.rand(count, generator=generator, dtype=torch.float64) * edges[-1]
    return torch.searchsorted(edges, u, right=True).clamp_(max=int(rows.nonzero()[-1]))


def _tables(rule: object, q: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
    """Acceptance probability of each token, and what is drawn after a rejection, both (k, V)."""
    rows = p[:-1]
    if isinstance(rule, SpeculativeSampling):
        ratio = torch.where(q > 0, rows / q.clamp(min=torch.finfo(q.dtype).tiny), torch.zeros_like(q)).clamp(max=1)
        rest = (rows - q).clamp(min=0)
        return ratio, torch.where(rest.sum(-1, keepdim=True) > 0, rest, rows)
    if isinstance(rule, (ThresholdAcceptance, TypicalAcceptance)):
        accepts = [
            [float(rule._accepts(draft, wanted, row)) for draft, wanted in zip(drafts.tolist(), row.tolist())]
            for drafts, row in zip(q, rows)
        ]
        return torch.tensor(accepts, dtype=torch.float64).reshape(q.shape), rows
    raise ValueError(f"rule {type(rule).__name__} is not simulated in bulk; use mtp.exact or its verify")


def simulate(rule: object, q: Tensor, p: Tensor, rounds: int, seed: int = 0) -> Rounds:
    """Simulate rounds whose distributions do not depend on the tokens: `q` (k, V), `p` (k+1, V), one-hot rows allowed.

    Agrees with `rule.verify` in exact distribution, not draw by draw.

    Raises:
        ValueError: shapes or rows that do not fit, `rounds` below 1, a rule that cannot be run in bulk.
    """
    if isinstance(rounds, bool) or not isinstance(rounds, int) or rounds < 1:
        raise ValueError(f"rounds must be an int of at least 1, not {rounds!r}")
    if q.dim() != 2 or p.shape != (q.shape[0] + 1, q.shape[1]):
        raise ValueError(f"p has shape {tuple(p.shape)}, not (k + 1, V) for q of shape {tuple(q.shape)}")
    q, p = q.double(), p.double()
    _check_rows("q", q)
    _check_rows("p", p)
    probability, after = _tables(rule, q, p)
    generator = torch.Generator().manual_seed(seed)
    accepted = torch.zeros(rounds, dtype=torch.int64)
    tokens = torch.full((rounds, len(p)), -1, dtype=torch.int64)
    alive = torch.arange(rounds)
    for place in range(len(q)):
        drawn = _draw(q[place], len(alive), generator)
        keep = torch.rand(len(alive), generator=generator, dtype=torch.float64) < probability[place][drawn]
        out = alive[~keep]
        if len(out):
            tokens[out, place] = _draw(after[place], len(out), generator)
        alive = alive[keep]
        tokens[alive, place] = drawn[keep]
        accepted[alive] += 1
    tokens[alive, len(q)] = _draw(p[-1], len(alive), generator)
    return Rounds(accepted, tokens)
