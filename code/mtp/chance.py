"""Where random decisions come from. Drafters and rules ask a `Chance`, so that a test can answer in its place and try every branch."""

from __future__ import annotations

from bisect import bisect_right
from typing import Protocol

import torch
from torch import Tensor


class Chance(Protocol):
    """What a rule draws from. A `torch.Generator` may be given in its place, see `as_chance`; enumeration gives its own."""

    def accept(self, probability: float) -> bool:
        """True with this probability; never at 0, always at 1 and above."""

    def draw(self, distribution: Tensor) -> int:
        """A token of the distribution (V,), which need not sum to 1; never one of mass 0."""


class SeededChance:
    def __init__(self, generator: torch.Generator | None) -> None:
        self.generator = generator

    def accept(self, probability: float) -> bool:
        # u lies in [0, 1): with a strict comparison a probability of 0 never accepts, u = 0 included.
        return probability >= 1 or float(torch.rand((), generator=self.generator, dtype=torch.float64)) < probability

    def draw(self, distribution: Tensor) -> int:
        # A search in Python: the calls into torch that it takes the place of cost more.
        edges = distribution.cumsum(-1, dtype=torch.float64).tolist()
        place = edges[-1] * float(torch.rand((), generator=self.generator, dtype=torch.float64))
        # The first edge beyond the place: a token of mass 0 has the edge of the one before it and is passed over. The place
        # is below the last edge but for rounding up, which would point beyond the end.
        token = bisect_right(edges, place)
        return token if token < len(edges) else int(distribution.nonzero()[-1])


def as_chance(generator: torch.Generator | Chance | None) -> Chance:
    return SeededChance(generator) if generator is None or isinstance(generator, torch.Generator) else generator


def draw(distribution: Tensor, generator: torch.Generator | Chance | None) -> int:
    """One token of a distribution (V,)."""
    return as_chance(generator).draw(distribution)
