"""Bulk simulation against exact enumeration of the one-round code."""

from __future__ import annotations

import pytest
import torch
from mtp import exact
from mtp.simulate import simulate
from mtp.verification import BlockVerification, SpeculativeSampling, ThresholdAcceptance, TypicalAcceptance

ROUNDS = 200_000
Q = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]], dtype=torch.float64)
P = torch.tensor([[0.2, 0.2, 0.6], [0.6, 0.3, 0.1], [0.0, 0.5, 0.5]], dtype=torch.float64)


@pytest.mark.parametrize("rule", [SpeculativeSampling(), ThresholdAcceptance(0.5), TypicalAcceptance()])
@pytest.mark.parametrize("one_hot", [False, True])
def test_outcomes_have_their_exact_frequencies(rule: object, one_hot: bool):
    q = torch.eye(3, dtype=torch.float64)[[0, 2]] if one_hot else Q
    paths = exact.enumerate_paths(lambda chance: rule.verify([chance.draw(row) for row in q], q, P, chance))
    wanted: dict[tuple[int, ...], float] = {}
    for outcome, mass in paths:
        wanted[tuple(outcome.tokens)] = wanted.get(tuple(outcome.tokens), 0.0) + mass
    rounds = simulate(rule, q, P, ROUNDS, seed=1)
    rows, counts = rounds.tokens.unique(dim=0, return_counts=True)
    found = {tuple(t for t in row if t >= 0): n / ROUNDS for row, n in zip(rows.tolist(), counts.tolist())}
    assert found.keys() <= {key for key, mass in wanted.items() if mass > 0}
    for key, mass in wanted.items():
        # Five standard errors.
        assert abs(found.get(key, 0.0) - mass) <= 5 * (mass * (1 - mass) / ROUNDS) ** 0.5 + 1e-9, key
    assert torch.equal(rounds.accepted + 1, (rounds.tokens >= 0).sum(1))


def test_same_seed_same_rounds():
    one, other = (simulate(SpeculativeSampling(), Q, P, 100, seed=3).tokens for _ in range(2))
    assert torch.equal(one, other)
    assert not torch.equal(one, simulate(SpeculativeSampling(), Q, P, 100, seed=4).tokens)


def test_bad_input():
    with pytest.raises(ValueError, match="rounds"):
        simulate(SpeculativeSampling(), Q, P, 0)
    with pytest.raises(ValueError, match="p has shape"):
        simulate(SpeculativeSampling(), Q, P[:2], 10)
    with pytest.raises(ValueError, match=r"q\[0\] sums"):
        simulate(SpeculativeSampling(), Q * 2, P, 10)
    with pytest.raises(ValueError, match="BlockVerification"):
        simulate(BlockVerification(), Q, P, 10)
