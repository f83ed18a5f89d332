"""Exact distributions of what speculative decoding emits, by running the rule itself once for every way that chance can fall.

`Enumerator` stands in the place of a generator: `rule.verify` asks it for decisions, and it walks through all of them, so what
is enumerated is the rule's own code. Distributions of token sequences are dicts: tuple of tokens → probability (float64).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .chance import Chance
from .verification import RoundOutcome

Distribution = dict[tuple[int, ...], float]
# Prefix → distribution (V,). A draft may answer with an int: a deterministic draft, q is None.
Target = Callable[[tuple[int, ...]], Tensor]
Draft = Callable[[tuple[int, ...]], "Tensor | int"]


class Enumerator:
    """A `Chance` that follows a list of branches and takes the first open one beyond its end; branches of probability 0 are none."""

    def __init__(self) -> None:
        self.branches: list[int] = []
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
        """Of the path just walked."""
        product = 1.0
        for options, branch in zip(self.options, self.branches):
            product *= options[branch][1]
        return product

    def advance(self) -> bool:
        """Go to the next path, depth first; False after the last."""
        while self.branches and self.branches[-1] == len(self.options[len(self.branches) - 1]) - 1:
            self.branches.pop()
        if not self.branches:
            return False
        self.branches[-1] += 1
        self.options = []
        return True


def enumerate_paths(run: Callable[[Chance], Any]) -> list[tuple[Any, float]]:
    """What `run(chance)` returns on each path, with the path's probability. `run` draws from `chance` only."""
    chance, found = Enumerator(), []
    while True:
        result = run(chance)
        found.append((result, chance.probability))
        if not chance.advance():
            return found


def one_round(rule: Any, target: Target, draft: Draft, k: int, prefix: Sequence[int], generator: Any) -> RoundOutcome:
    """Draft k candidates after `prefix`, and verify them. The q that is drawn from is the q that is handed to the rule."""
    candidates: list[int] = []
    rows: list[Tensor] = []
    for _ in range(k):
        proposal = draft((*prefix, *candidates))
        if isinstance(proposal, int):
            candidates.append(proposal)
        else:
            rows.append(proposal)
            candidates.append(generator.draw(proposal))
    if rows and len(rows) < k:
        raise ValueError(f"draft gave {len(rows)} distributions and {k - len(rows)} tokens in one round, not one kind")
    p = torch.stack([target((*prefix, *candidates[:place])) for place in range(k + 1)])
    return rule.verify(candidates, torch.stack(rows) if rows else None, p, generator)


def emitted_distribution(rule: Any, target: Target, draft: Draft, k: int, n: int, prefix: Sequence[int] = ()) -> Distribution:
    """Exact distribution of the next n emitted tokens, over as many rounds as that takes.

    Args:
        rule: of `mtp.verification`.
        target, draft: prefix → distribution (V,), float64 for exactness.
        k: candidates a round, at least 1.
        n: tokens, at least 1.
        prefix: tokens before them.
    """
    for name, value in (("k", k), ("n", n)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be an int of at least 1, not {value!r}")
    rounds: dict[tuple[int, ...], Distribution] = {}

    def round_after(text: tuple[int, ...]) -> Distribution:
        if text not in rounds:
            paths = enumerate_paths(lambda chance: one_round(rule, target, draft, k, text, chance))
            found: Distribution = {}
            for outcome, mass in paths:
                tokens = tuple(outcome.tokens)
                found[tokens] = found.get(tokens, 0.0) + mass
            rounds[text] = found
        return rounds[text]

    def extend(text: tuple[int, ...], wanted: int) -> Distribution:
        found: Distribution = {}
        for tokens, mass in round_after(text).items():
            rest = extend((*text, *tokens), wanted - len(tokens)) if len(tokens) < wanted else {(): 1.0}
            for more, share in rest.items():
                whole = (*tokens, *more)[:wanted]
                found[whole] = found.get(whole, 0.0) + mass * share
        return found

    return extend(tuple(prefix), n)


def target_distribution(target: Target, n: int, prefix: Sequence[int] = ()) -> Distribution:
    """The target's own distribution of the next n tokens."""
    found: Distribution = {(): 1.0}
    for _ in range(n):
        found = {
            (*text, token): mass * share
            for text, mass in found.items()
            for token, share in enumerate(target((*prefix, *text)).double().tolist())
            if share > 0
        }
    return found


def distance(one: Distribution, other: Distribution) -> float:
    """Total variation, between 0 and 1."""
    return sum(abs(one.get(key, 0.0) - other.get(key, 0.0)) for key in one.keys() | other.keys()) / 2


def survival(rule: Any, target: Target, draft: Draft, k: int, prefix: Sequence[int] = ()) -> list[float]:
    """Probability that at least i candidates of a round are accepted, i = 1..k. Their sum is the expected accepted length."""
    paths = enumerate_paths(lambda chance: one_round(rule, target, draft, k, prefix, chance))
    return [sum(mass for outcome, mass in paths if len(outcome.accepted) >= i) for i in range(1, k + 1)]


def conditional(survivals: Sequence[float]) -> list[float]:
    """Acceptance at each position given acceptance at all before it; 0 where that never happens."""
    before = [1.0, *survivals[:-1]]
    return [now / then if then else 0.0 for now, then in zip(survivals, before)]


def expected_accepted(rule: Any, target: Target, draft: Draft, k: int, prefix: Sequence[int] = ()) -> float:
    """Mean number of accepted candidates in a round, straight from the outcomes."""
    paths = enumerate_paths(lambda chance: one_round(rule, target, draft, k, prefix, chance))
    return sum(mass * len(outcome.accepted) for outcome, mass in paths)


def error_curve(rules: Sequence[Any], target: Target, draft: Draft, k: int, n: int) -> list[tuple[float, float]]:
    """For each rule, (expected accepted length of the first round, distance of the next n tokens from the target's)."""
    own = target_distribution(target, n)
    return [
        (expected_accepted(rule, target, draft, k), distance(emitted_distribution(rule, target, draft, k, n), own))
        for rule in rules
    ]
