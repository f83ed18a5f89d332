"""Rules of verification: exact where they say so, never a token without mass, and errors that name the thing."""

from __future__ import annotations

import inspect
import math

import pytest
import torch
import verification_checks as checks
from hypothesis import given, settings
from hypothesis import strategies as st
from mtp.verification import (
    BlockVerification,
    GreedyMatch,
    SpeculativeSampling,
    TargetSampleMatch,
    ThresholdAcceptance,
    TypicalAcceptance,
    residual,
)

SAMPLED = (SpeculativeSampling, TargetSampleMatch, BlockVerification)
EVERY = (*SAMPLED, GreedyMatch, ThresholdAcceptance, TypicalAcceptance)
P = torch.tensor([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]], dtype=torch.float64)
Q = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64)
PLAIN_CHECKS = [
    name
    for name, value in vars(checks).items()
    if inspect.isfunction(value) and value.__module__ == checks.__name__ and not inspect.signature(value).parameters
]


@pytest.mark.parametrize("rule", SAMPLED)
@pytest.mark.parametrize("kind", checks.KINDS)
def test_lossless_on_random_pairs(rule: type, kind: str):
    """34 pairs of each of six kinds: 204 for each rule."""
    for seed in range(34):
        vocab, k = 3 + seed % 2, 1 + seed % 2
        found = checks.error(rule(validate=False), kind, vocab, k, 2, 1000 * vocab + seed)
        assert found < 1e-12, (seed, found)


@pytest.mark.parametrize("name", PLAIN_CHECKS)
def test_check_on_the_package(name: str):
    getattr(checks, name)()


@pytest.mark.parametrize("rule", [ThresholdAcceptance(1.0), ThresholdAcceptance(0.5), TypicalAcceptance()])
def test_lossy_error_by_hand(rule: object):
    """q = (.5, .25, .25), p = (.1, .2, .7): accepted tokens keep q's mass, the rejected mass is spread by p."""
    from mtp.exact import distance, emitted_distribution, target_distribution

    p, q = P[0].tolist(), Q[0].tolist()
    if isinstance(rule, ThresholdAcceptance):
        kept = [draft if want >= draft * rule.min_accept_ratio else 0 for want, draft in zip(p, q)]
    else:
        entropy = -sum(want * math.log(want) for want in p)
        kept = [draft if want > min(rule.epsilon, rule.delta * math.exp(-entropy)) else 0 for want, draft in zip(p, q)]
    expected = [keep + (1 - sum(kept)) * want for keep, want in zip(kept, p)]
    error = sum(abs(have - want) for have, want in zip(expected, p)) / 2
    found = emitted_distribution(rule, lambda prefix: P[0], lambda prefix: Q[0], 1, 1)
    assert error > 0.01
    assert distance(found, target_distribution(lambda prefix: P[0], 1)) == pytest.approx(error, abs=1e-12)


def test_greedy_match_takes_the_argmax_of_p():
    assert GreedyMatch().verify([2], Q, P).tokens == [2, 2]
    outcome = GreedyMatch().verify([1], None, P)
    assert (outcome.accepted, outcome.rejected_at, outcome.next_token, outcome.kind) == ([], 0, 2, "correction")


def test_block_verification_keeps_past_a_token_that_token_wise_rejects():
    """The first token alone would go with probability 1 - .2/.8, but the block's weight recovers: 1/4 · (.9/.1) > 1."""
    p = torch.tensor([[0.2, 0.8], [0.9, 0.1], [0.5, 0.5]], dtype=torch.float64)
    q = torch.tensor([[0.8, 0.2], [0.1, 0.9]], dtype=torch.float64)
    outcomes = [BlockVerification().verify([0, 0], q, p, torch.Generator().manual_seed(seed)) for seed in range(50)]
    assert all(outcome.kind == "bonus" for outcome in outcomes)
    token_wise = [SpeculativeSampling().verify([0, 0], q, p, torch.Generator().manual_seed(seed)) for seed in range(50)]
    assert sum(outcome.rejected_at == 0 for outcome in token_wise) > 20


def test_the_papers_own_example_of_block_verification():
    """Sun et al., arXiv 2403.10444, introduction: two tokens, two candidates; 10/9 accepted token by token, 11/9 by the block."""
    from mtp.exact import expected_accepted

    p = torch.tensor([1 / 3, 2 / 3], dtype=torch.float64)
    lengths = [expected_accepted(rule, lambda prefix: p, lambda prefix: p.flip(0), k=2) for rule in (SpeculativeSampling(), BlockVerification())]
    assert lengths == pytest.approx([10 / 9, 11 / 9], abs=1e-12)


def test_residual():
    assert residual(Q[0], P[0]).tolist() == pytest.approx([0, 0, 1])
    with pytest.raises(ValueError, match=r"residual .* mass 0\.0"):
        residual(P[0], P[0])


@pytest.mark.parametrize("rule", EVERY)
@pytest.mark.parametrize(
    ("candidates", "q", "p", "words"),
    [
        ([0], Q * 2, P, r"q\[0\] sums to 2"),
        ([0], Q, P * 0.5, r"p\[0\] sums to 0\.5"),
        ([0], Q, torch.tensor([[0.5, 0.5, 0], [0.5, float("nan"), 0.5]]), r"p\[1, 1\] .* nan"),
        ([0], torch.tensor([[1.2, -0.2, 0.0]]), P, r"q\[0, 1\] .* -0\.2"),
        ([0], Q, P[:1], r"p has shape \(1, 3\)"),
        ([0], Q[:, :2], P, r"q has shape \(1, 2\)"),
        ([3], Q, P, r"candidates hold 3"),
        ([-1], Q, P, r"candidates hold -1"),
        ([True], Q, P, r"candidates hold True"),
        ([1.0], Q, P, r"candidates hold 1\.0"),
    ],
)
def test_bad_input_is_named(rule: type, candidates: list, q: torch.Tensor, p: torch.Tensor, words: str):
    with pytest.raises(ValueError, match=words):
        rule().verify(candidates, q, p, torch.Generator())


@pytest.mark.parametrize("rule", [SpeculativeSampling, BlockVerification])
def test_a_candidate_that_cannot_have_been_drawn(rule: type):
    with pytest.raises(ValueError, match=r"candidate 1 at position 0 has q = 0\.0"):
        rule().verify([1], torch.tensor([[1.0, 0.0, 0.0]]), P.float())


@pytest.mark.parametrize("options", [{"min_accept_ratio": 0}, {"min_accept_ratio": float("nan")}, {"min_accept_ratio": True}])
def test_bad_ratio(options: dict):
    with pytest.raises(ValueError, match="min_accept_ratio"):
        ThresholdAcceptance(**options)


def test_bad_typical_settings():
    with pytest.raises(ValueError, match="epsilon"):
        TypicalAcceptance(epsilon=0)
    with pytest.raises(ValueError, match="delta"):
        TypicalAcceptance(delta=float("nan"))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_invariants(data: st.DataObject):
    vocab, k = data.draw(st.integers(2, 6)), data.draw(st.integers(0, 4))
    dtype = data.draw(st.sampled_from([torch.float32, torch.float64]))
    weights = st.lists(st.integers(0, 9), min_size=vocab, max_size=vocab).filter(any)
    rows = [torch.tensor(data.draw(weights), dtype=dtype) for _ in range(2 * k + 1)]
    table = torch.stack([row / row.sum() for row in rows])
    q, p = table[:k], table[k:]
    generator = torch.Generator().manual_seed(data.draw(st.integers(0, 999)))
    candidates = [int(torch.multinomial(row, 1, generator=generator)) for row in q]
    for rule in EVERY:
        outcome = rule().verify(candidates, q, p, generator)
        kept = len(outcome.accepted)
        assert outcome.accepted == candidates[:kept]
        assert (outcome.rejected_at, outcome.kind) == ((None, "bonus") if kept == k else (kept, "correction"))
        assert all(p[place, token] > 0 for place, token in enumerate(outcome.tokens))


@pytest.mark.parametrize("kind", checks.KINDS)
def test_greedy_match_is_exact_against_p_at_temperature_zero(kind: str):
    """34 pairs of each kind. Against p itself it is not exact."""
    from mtp.exact import distance, emitted_distribution, target_distribution

    for seed in range(34):
        target, draft = checks.pair(kind, 3, seed)

        def greedy(prefix: tuple[int, ...]) -> torch.Tensor:
            return torch.eye(3, dtype=torch.float64)[int(target(prefix).argmax())]

        found = emitted_distribution(GreedyMatch(), greedy, draft, 2, 2)
        assert distance(found, target_distribution(greedy, 2)) < 1e-12, seed
    if kind == "random":
        assert distance(found, target_distribution(target, 2)) > 1e-3
