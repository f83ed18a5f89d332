"""Exact distributions by running the real decoding loop once for every way its random decisions can fall."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from mtp.chance import Chance
from mtp.decoding import Target
from mtp.exact import Distribution, enumerate_paths
from mtp.warping import warp
from torch import Tensor


class LikeliestFirst:
    """A row that is not enumerated: accepts what is at all possible, draws the likeliest token."""

    def accept(self, probability: float) -> bool:
        return probability > 0

    def draw(self, distribution: Tensor) -> int:
        return int(distribution.argmax())


def enumerate_outputs(run: Callable[[Chance], Sequence[int]]) -> Distribution:
    """Distribution of what `run(chance)` returns, over all its random decisions."""
    found: Distribution = {}
    for output, probability in enumerate_paths(run):
        found[tuple(output)] = found.get(tuple(output), 0.0) + probability
    return found


def target_distribution(
    target: Target, prompt: list[int], count: int, temperature: float, top_p: float | None
) -> Distribution:
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
