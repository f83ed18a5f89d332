"""Exact distributions by running the real decoding loop once for every way its random decisions can fall."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from mtp.decoding import Target
from mtp.warping import warp
from torch import Tensor


class Script:
    """In a generator's place: follows a list of branches, notes each one's probability, and adds the first branch beyond its end."""

    def __init__(self, branches: list[int]) -> None:
        self.branches = branches
        self.options: list[list[tuple[int, float]]] = []

    def _choose(self, options: list[tuple[int, float]]) -> int:
        place = len(self.options)
        self.options.append([option for option in options if option[1] > 0])
        if place == len(self.branches):
            self.branches.append(0)
        return self.options[place][self.branches[place]][0]

    def accept(self, probability: float) -> bool:
        probability = min(max(float(probability), 0.0), 1.0)
        return bool(self._choose([(1, probability), (0, 1 - probability)]))

    def draw(self, distribution: Tensor) -> int:
        mass = distribution.double()
        return self._choose(list(enumerate((mass / mass.sum()).tolist())))

    @property
    def probability(self) -> float:
        product = 1.0
        for options, branch in zip(self.options, self.branches):
            product *= options[branch][1]
        return product

    def next(self) -> Script | None:
        """The script of the next path, depth first; None after the last."""
        branches = list(self.branches)
        while branches and branches[-1] == len(self.options[len(branches) - 1]) - 1:
            branches.pop()
        if not branches:
            return None
        branches[-1] += 1
        return Script(branches)


class LikeliestFirst:
    """A row that is not enumerated: accepts what is at all possible, draws the likeliest token."""

    def accept(self, probability: float) -> bool:
        return probability > 0

    def draw(self, distribution: Tensor) -> int:
        return int(distribution.argmax())


def enumerate_outputs(run: Callable[[Script], Sequence[int]]) -> dict[tuple[int, ...], float]:
    """Distribution of what `run(script)` returns, over all its random decisions."""
    found: dict[tuple[int, ...], float] = {}
    script: Script | None = Script([])
    while script is not None:
        output = tuple(run(script))
        found[output] = found.get(output, 0.0) + script.probability
        script = script.next()
    return found


def target_distribution(
    target: Target, prompt: list[int], count: int, temperature: float, top_p: float | None
) -> dict[tuple[int, ...], float]:
    """The target's own distribution of the next `count` tokens, from the model's definition."""
    found = {(): 1.0}
    for _ in range(count):
        longer: dict[tuple[int, ...], float] = {}
        for output, mass in found.items():
            logits = target.engine.model.logits(target.engine.model.hidden(torch.tensor([[*prompt, *output]])))[0, -1]
            for token, probability in enumerate(warp(logits, temperature, None, top_p).tolist()):
                if probability > 0:
                    longer[(*output, token)] = mass * probability
        found = longer
    return found


def distance(one: dict[tuple[int, ...], float], other: dict[tuple[int, ...], float]) -> float:
    """Total variation."""
    return sum(abs(one.get(key, 0.0) - other.get(key, 0.0)) for key in one.keys() | other.keys()) / 2
