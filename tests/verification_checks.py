"""Checks of the lossless rules, warping and ledger as plain functions, so that mutants can be put before each of them."""

from __future__ import annotations

from unittest import mock

import pytest
import torch
from mtp import exact, verification, warping
from mtp.chance import SeededChance
from mtp.metrics import Ledger
from mtp.verification import BlockVerification, GreedyMatch, SpeculativeSampling, TargetSampleMatch
from torch import Tensor

KINDS = ("random", "opposed", "disjoint", "equal", "one-hot", "near-zero")


def pair(kind: str, vocab: int, seed: int) -> tuple[exact.Target, exact.Target]:
    """A target and a draft, each prefix → distribution, fixed by the prefix."""
    tables: dict[tuple[int, ...], tuple[Tensor, Tensor]] = {}

    def rows(prefix: tuple[int, ...]) -> tuple[Tensor, Tensor]:
        if prefix not in tables:
            # The prefix alone decides, not the order in which prefixes are asked for.
            generator = torch.Generator().manual_seed(hash((seed, *prefix)) % 2**31)
            p, q = torch.rand(2, vocab, generator=generator, dtype=torch.float64) ** 3 + 1e-6
            if kind == "opposed":
                p = p.sort().values
                q = p.flip(0)
            elif kind == "disjoint":
                p[: vocab // 2], q[vocab // 2 :] = 0, 0
            elif kind == "equal":
                q = p.clone()
            elif kind == "one-hot":
                q = torch.eye(vocab, dtype=torch.float64)[int(q.argmax())]
            elif kind == "near-zero":
                p[0], q[0] = 1e-15, 1e-3
                p[1], q[1] = 1e-3, 1e-15
            tables[prefix] = (p / p.sum(), q / q.sum())
        return tables[prefix]

    return (lambda prefix: rows(prefix)[0]), (lambda prefix: rows(prefix)[1])


def error(rule: object, kind: str, vocab: int, k: int, n: int, seed: int) -> float:
    target, draft = pair(kind, vocab, seed)
    return exact.distance(exact.emitted_distribution(rule, target, draft, k, n), exact.target_distribution(target, n))


def _exact(rule: object, kinds: tuple[str, ...] = KINDS) -> None:
    for number, kind in enumerate(kinds):
        assert error(rule, kind, 3, 2, 3, 100 + number) < 1e-12, kind


def speculative_sampling_is_exact() -> None:
    _exact(SpeculativeSampling())


def block_verification_is_exact() -> None:
    _exact(BlockVerification())


def target_sample_match_is_exact() -> None:
    _exact(TargetSampleMatch())


def deterministic_draft_is_exact() -> None:
    target, _ = pair("random", 3, 7)
    for rule in (SpeculativeSampling(), BlockVerification(), TargetSampleMatch()):
        found = exact.emitted_distribution(rule, target, lambda prefix: len(prefix) % 3, 2, 3)
        assert exact.distance(found, exact.target_distribution(target, 3)) < 1e-12


def lossy_rules_are_not_exact() -> None:
    for name in ("ThresholdAcceptance", "TypicalAcceptance"):
        rule = getattr(verification, name)()
        assert not rule.lossless
        assert error(rule, "opposed", 3, 2, 2, 0) > 1e-3, name


def declared_lossless_rules_are_exact() -> None:
    for rule in (SpeculativeSampling, BlockVerification, TargetSampleMatch, verification.ThresholdAcceptance, verification.TypicalAcceptance):
        if rule.lossless:
            assert error(rule(), "opposed", 3, 2, 2, 0) < 1e-12, rule.__name__


def a_token_without_mass_is_never_emitted() -> None:
    p = torch.tensor([[0.0, 0.5, 0.5], [0.0, 0.5, 0.5]], dtype=torch.float64)
    q = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64)
    for rule in (SpeculativeSampling(), BlockVerification(), TargetSampleMatch()):
        with mock.patch.object(torch, "rand", lambda *size, **settings: torch.tensor(0.0, dtype=torch.float64)):
            assert 0 not in rule.verify([0], q, p).tokens


def row_before_verifies_token() -> None:
    """Row i judges candidate i, the first one too: an adversarial draft is refused where it stands."""
    p = torch.eye(4, dtype=torch.float64)[[1, 2, 3]]
    for rule in (GreedyMatch(), SpeculativeSampling(), TargetSampleMatch(), BlockVerification()):
        assert rule.verify([0, 2], None, p, torch.Generator()).tokens == [1]
        assert rule.verify([1, 2], None, p, torch.Generator()).tokens == [1, 2, 3]
        assert rule.verify([1, 0], None, p, torch.Generator()).tokens == [1, 2]


def rejected_tokens_are_gone() -> None:
    target, draft = pair("random", 3, 3)
    for rule in (SpeculativeSampling(), TargetSampleMatch(), BlockVerification()):
        paths = exact.enumerate_paths(lambda chance: exact.one_round(rule, target, draft, 2, (), chance))
        for outcome, _ in paths:
            assert len(outcome.tokens) == len(outcome.accepted) + 1
            assert len(outcome.accepted) == (2 if outcome.rejected_at is None else outcome.rejected_at)
            assert outcome.kind == ("bonus" if outcome.rejected_at is None else "correction")


def draws_are_independent() -> None:
    """Opposed q on a narrow vocabulary, two tokens in the residual: frequencies of the sampled rule, not of the enumerated one."""
    p = torch.tensor([[0.05, 0.15, 0.4, 0.4]] * 2, dtype=torch.float64)
    q, counts = torch.tensor([[0.6, 0.2, 0.1, 0.1]], dtype=torch.float64), torch.zeros(4)
    chance = SeededChance(torch.Generator().manual_seed(1))
    for _ in range(4000):
        counts[SpeculativeSampling().verify([chance.draw(q[0])], q, p, chance).tokens[0]] += 1
    assert (counts / 4000 - p[0]).abs().max() < 0.035  # above four standard errors


def both_sides_are_warped_alike() -> None:
    """p at a temperature and a top-p other than 1, by hand: softmax([0, ln 2, ln 4] / 0.5) = [1, 4, 16] / 21; top-p .9 drops one."""
    logits = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64).log()
    assert warping.warp(logits, 0.5).tolist() == pytest.approx([1 / 21, 4 / 21, 16 / 21], abs=1e-12)
    assert warping.warp(logits, 0.5, None, 0.9).tolist() == pytest.approx([0, 0.2, 0.8], abs=1e-12)


def metrics_count_the_added_token() -> None:
    ledger = Ledger()
    for accepted in (2, 0, 1):
        ledger.record(2, accepted)
    assert ledger.mean_acceptance_length == 1 + 3 / 3
    assert ledger.emitted == 3 + 3 - ledger.truncated


def metrics_rate_leaves_it_out() -> None:
    ledger = Ledger()
    ledger.record(3, 0)
    assert ledger.acceptance_rate == 0
    ledger.record(3, 3)
    assert ledger.acceptance_rate == 0.5


def metrics_conditional_is_a_ratio_of_neighbours() -> None:
    ledger = Ledger()
    for accepted in (2, 1, 0, 2):
        ledger.record(2, accepted)
    assert list(ledger.survival) == [0.75, 0.5]
    assert list(ledger.conditional) == pytest.approx([0.75, 2 / 3])
    assert ledger.mean_acceptance_length == 1 + sum(ledger.survival)
