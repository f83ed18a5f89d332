"""Where random decisions come from. Drafters and rules ask a `Chance`, so that a test can answer in its place and try every branch."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
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
        return _at(float(torch.rand((), generator=self.generator, dtype=torch.float64)), distribution)


class GivenChance:
    """Answers from given numbers in [0, 1): the i-th test from `tests[i]`, the i-th draw from `draws[i]`.

    A test that is certain uses up its number all the same, so that each number belongs to one place of a round.
    """

    def __init__(self, tests: Sequence[float], draws: Sequence[float]) -> None:
        for name, numbers in (("tests", tests), ("draws", draws)):
            for place, number in enumerate(numbers):
                if not 0 <= number < 1:
                    raise ValueError(f"{name}[{place}] must lie in [0, 1), not {number!r}")
        self._tests, self._draws = iter(tests), iter(draws)

    def accept(self, probability: float) -> bool:
        u = next(self._tests)
        return probability >= 1 or u < probability

    def draw(self, distribution: Tensor) -> int:
        return _at(next(self._draws), distribution)


def _at(u: float, distribution: Tensor) -> int:
    """The token at the share `u` of a distribution's mass."""
    # A search in Python: the calls into torch that it takes the place of cost more.
    edges = distribution.cumsum(-1, dtype=torch.float64).tolist()
    # The first edge beyond the place: a token of mass 0 has the edge of the one before it and is passed over. The place
    # is below the last edge but for rounding up, which would point beyond the end.
    token = bisect_right(edges, edges[-1] * u)
    return token if token < len(edges) else int(distribution.nonzero()[-1])


def as_chance(generator: torch.Generator | Chance | None) -> Chance:
    return SeededChance(generator) if generator is None or isinstance(generator, torch.Generator) else generator


def draw(distribution: Tensor, generator: torch.Generator | Chance | None) -> int:
    """One token of a distribution (V,)."""
    return as_chance(generator).draw(distribution)
