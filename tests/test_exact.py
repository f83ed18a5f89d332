"""Exact enumeration against figures derived in another way."""

from __future__ import annotations

import math

import pytest
import torch
import verification_checks as checks
from mtp import exact
from mtp.verification import BlockVerification, SpeculativeSampling, TargetSampleMatch, ThresholdAcceptance


@pytest.mark.parametrize("kind", checks.KINDS)
def test_one_position_accepts_the_overlap(kind: str):
    target, draft = checks.pair(kind, 4, 5)
    p, q = target(()), draft(())
    for rule, expected in ((SpeculativeSampling(), torch.minimum(p, q).sum()), (TargetSampleMatch(), (p * q).sum())):
        assert exact.expected_accepted(rule, target, draft, 1) == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize("rule", [SpeculativeSampling(), TargetSampleMatch(), BlockVerification()])
def test_expected_length_two_ways(rule: object):
    target, draft = checks.pair("random", 3, 9)
    survival = exact.survival(rule, target, draft, 3)
    conditional = exact.conditional(survival)
    products = [math.prod(conditional[: place + 1]) for place in range(3)]
    assert survival == pytest.approx(products, abs=1e-12)
    assert exact.expected_accepted(rule, target, draft, 3) == pytest.approx(sum(products), abs=1e-12)


def test_survival_of_speculative_sampling_by_sums():
    """Σ over drafts of Π min(p, q), without the rule."""
    target, draft = checks.pair("random", 3, 9)
    first = torch.minimum(target(()), draft(()))
    second = sum(first[x] * torch.minimum(target((x,)), draft((x,))).sum() for x in range(3))
    assert exact.survival(SpeculativeSampling(), target, draft, 2) == pytest.approx([float(first.sum()), float(second)], abs=1e-12)


@pytest.mark.parametrize("kind", checks.KINDS)
def test_block_verification_is_never_shorter(kind: str):
    for seed in range(10):
        target, draft = checks.pair(kind, 3, seed)
        lengths = [exact.expected_accepted(rule, target, draft, 3) for rule in (SpeculativeSampling(), BlockVerification())]
        assert lengths[1] >= lengths[0] - 1e-12, (seed, lengths)


def test_block_verification_is_longer_somewhere():
    target, draft = checks.pair("random", 3, 2)
    assert exact.expected_accepted(BlockVerification(), target, draft, 3) > exact.expected_accepted(
        SpeculativeSampling(), target, draft, 3
    ) + 1e-4


@pytest.mark.parametrize(("vocab", "k", "n"), [(3, 3, 4), (5, 2, 2), (3, 4, 2)])
def test_larger_cases(vocab: int, k: int, n: int):
    for rule in (SpeculativeSampling(validate=False), BlockVerification(validate=False)):
        assert checks.error(rule, "random", vocab, k, n, 4) < 1e-12


def test_prefix_is_respected_and_mass_is_one():
    target, draft = checks.pair("random", 3, 1)
    found = exact.emitted_distribution(SpeculativeSampling(), target, draft, 2, 2, prefix=(2, 1))
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)
    assert exact.distance(found, exact.target_distribution(target, 2, (2, 1))) < 1e-12
    assert exact.distance(found, exact.target_distribution(target, 2)) > 1e-3


def test_distance_by_hand():
    assert exact.distance({(0,): 0.5, (1,): 0.5}, {(0,): 0.25, (2,): 0.75}) == 0.75


@pytest.mark.parametrize(("k", "n", "name"), [(0, 1, "k"), (1, 0, "n"), (True, 1, "k")])
def test_bad_counts(k: int, n: int, name: str):
    target, draft = checks.pair("random", 3, 1)
    with pytest.raises(ValueError, match=f"^{name} must"):
        exact.emitted_distribution(SpeculativeSampling(), target, draft, k, n)


def test_error_curve_of_the_threshold_rule():
    """A lower threshold accepts no less; the exact rule lies at distance 0."""
    target, draft = checks.pair("random", 4, 3)
    rules = [ThresholdAcceptance(ratio) for ratio in (1.0, 0.6, 0.3, 0.05)]
    curve = exact.error_curve([SpeculativeSampling(), *rules], target, draft, 1, 1)
    assert curve[0][1] < 1e-12
    assert [length for length, _ in curve[1:]] == sorted(length for length, _ in curve[1:])
    assert max(error for _, error in curve[1:]) > 0.01
