"""Rules that decide how much of a draft is kept: one call, `rule.verify(candidates, q, p, generator)`, for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .chance import Chance, as_chance


@dataclass(frozen=True)
class RoundOutcome:
    """What a rule makes of a round.

    Attributes:
        accepted: the accepted prefix of the candidates.
        rejected_at: index of the first rejected candidate, or None.
        next_token: the token that the target adds.
        kind: `"correction"` after a rejection, `"bonus"` after full acceptance.
    """

    accepted: list[int]
    rejected_at: int | None
    next_token: int
    kind: str

    @property
    def tokens(self) -> list[int]:
        return [*self.accepted, self.next_token]


def _check(candidates: Sequence[int], q: Tensor | None, p: Tensor) -> None:
    if p.dim() != 2 or p.shape[0] != len(candidates) + 1:
        raise ValueError(f"p has shape {tuple(p.shape)}, not ({len(candidates) + 1}, V) for {len(candidates)} candidates")
    if q is not None and q.shape != (len(candidates), p.shape[1]):
        raise ValueError(f"q has shape {tuple(q.shape)}, not ({len(candidates)}, {p.shape[1]})")
    for token in candidates:
        if not 0 <= token < p.shape[1]:
            raise ValueError(f"candidates hold {token!r}, outside the vocabulary of {p.shape[1]}")


class GreedyMatch:
    """Accept while the candidate is the target's likeliest token. Lossless for greedy decoding; needs no q."""

    def verify(
        self, candidates: Sequence[int], q: Tensor | None, p: Tensor, generator: torch.Generator | Chance | None = None
    ) -> RoundOutcome:
        _check(candidates, q, p)
        best = p.argmax(-1).tolist()
        for place, token in enumerate(candidates):
            if token != best[place]:
                return RoundOutcome(list(candidates[:place]), place, best[place], "correction")
        return RoundOutcome(list(candidates), None, best[-1], "bonus")


class SpeculativeSampling:
    """Accept x with min(1, p(x)/q(x)), else draw from the residual max(p - q, 0) (Leviathan et al. 2023). Lossless."""

    def verify(
        self, candidates: Sequence[int], q: Tensor | None, p: Tensor, generator: torch.Generator | Chance | None = None
    ) -> RoundOutcome:
        _check(candidates, q, p)
        chance, places = as_chance(generator), list(range(len(candidates)))
        wanted = p[places, list(candidates)].tolist()
        drafted = [1.0] * len(candidates) if q is None else q[places, list(candidates)].tolist()
        for place, token in enumerate(candidates):
            if drafted[place] <= 0:
                raise ValueError(
                    f"candidate {token} at position {place} has q = {drafted[place]}: it cannot have been drawn from q"
                )
            if chance.accept(wanted[place] / drafted[place]):
                continue
            if q is None:
                residual = p[place].clone()
                residual[token] = 0
            else:
                residual = (p[place] - q[place]).clamp_(min=0)
            # Rounding alone can reject where p = q; the residual has no mass then, and p itself is what is left.
            return RoundOutcome(
                list(candidates[:place]), place, chance.draw(residual if bool(residual.any()) else p[place]), "correction"
            )
        return RoundOutcome(list(candidates), None, chance.draw(p[-1]), "bonus")
