"""Deliberately wrong variants of the lossless rules, of warping and of the ledger, one or more for each fault they could have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from mtp import decoding, exact, metrics, verification, warping
from mtp.chance import SeededChance
from mtp.verification import RoundOutcome
from mutants import Mutant
from torch import Tensor


def _prop(function: Any) -> Any:
    return lambda original: property(function)


def _round(q_seen: Any = None, pick: Any = None) -> Any:
    """A round whose candidate is picked by `pick(q, chance)`, and whose rule sees `q_seen(q)`."""

    def make(original: Any) -> Any:
        def one_round(rule: Any, target: Any, draft: Any, k: int, prefix: Any, generator: Any) -> RoundOutcome:
            candidates: list[int] = []
            rows: list[Tensor] = []
            for _ in range(k):
                row = draft((*prefix, *candidates))
                if isinstance(row, int):
                    return original(rule, target, draft, k, prefix, generator)
                rows.append(q_seen(row) if q_seen else row)
                candidates.append(pick(row, generator) if pick else generator.draw(row))
            p = torch.stack([target((*prefix, *candidates[:place])) for place in range(k + 1)])
            return rule.verify(candidates, torch.stack(rows), p, generator)

        return one_round

    return make


def _flattened(row: Tensor) -> Tensor:
    root = row.sqrt()
    return root / root.sum()


def _shared_numbers(original: Any) -> Any:
    """The recovery draws with the draft's own random number: every draw sees the same u."""

    def draw(self: Any, distribution: Tensor) -> int:
        if not hasattr(self, "u"):
            self.u = 0.0
            self.turn = 0
        if self.turn % 2 == 0:
            self.u = float(torch.rand((), generator=self.generator, dtype=torch.float64))
        self.turn += 1
        edges = distribution.double().cumsum(0)
        return int(torch.searchsorted(edges, self.u * edges[-1], right=True).clamp(max=len(edges) - 1))

    return draw


def _not_strict(original: Any) -> Any:
    def accept(self: Any, probability: float) -> bool:
        return float(torch.rand((), generator=self.generator, dtype=torch.float64)) <= probability

    return accept


def _first_unverified(original: Any) -> Any:
    def verify(self: Any, candidates: list[int], q: Any, p: Tensor, generator: Any = None) -> RoundOutcome:
        rest = original(self, candidates[1:], None if q is None else q[1:], p[1:], generator)
        at = None if rest.rejected_at is None else rest.rejected_at + 1
        return replace(rest, accepted=[candidates[0], *rest.accepted], rejected_at=at)

    return verify


def _row_off_by_one(original: Any) -> Any:
    return lambda self, candidates, q, p, generator=None: original(self, candidates, q, p.roll(-1, 0), generator)


def _rejected_stay(original: Any) -> Any:
    def verify(self: Any, candidates: list[int], q: Any, p: Tensor, generator: Any = None) -> RoundOutcome:
        return replace(original(self, candidates, q, p, generator), accepted=list(candidates))

    return verify


def _length_by_token(original: Any) -> Any:
    """Whether the last candidate is verified depends on what was drawn: an even one is dropped unseen."""

    def verify(self: Any, candidates: list[int], q: Any, p: Tensor, generator: Any = None) -> RoundOutcome:
        k = len(candidates)
        if k and candidates[-1] % 2 == 0:
            return original(self, candidates[:-1], None if q is None else q[:-1], p[:k], generator)
        return original(self, candidates, q, p, generator)

    return verify


def _no_temperature(original: Any) -> Any:
    return lambda logits, temperature=1.0, top_k=None, top_p=None: original(logits, 1.0, top_k, top_p)


def _target_not_warped(original: Any) -> Any:
    """q is filtered, p is not. The target's call has k + 1 positions, the draft's has one."""

    def warp_rows(self: Any, logits: Tensor) -> Tensor:
        return original(self, logits) if logits.shape[1] == 1 else torch.softmax(logits, -1)

    return warp_rows


def _block_weight_forgotten(original: Any) -> Any:
    return lambda weight, q, p: original(1.0, q, p)


S, B, G = verification.SpeculativeSampling, verification.BlockVerification, verification.GreedyMatch
L = metrics.Ledger

MUTANTS = [
    Mutant(1, "bonus left out of the mean length", L, "mean_acceptance_length", _prop(lambda s: s.accepted / s.rounds),
           "metrics_count_the_added_token"),
    Mutant(2, "(accepted + 1) / (drafted + 1)", L, "acceptance_rate", _prop(lambda s: (s.accepted + 1) / (s.drafted + 1)),
           "metrics_rate_leaves_it_out"),
    Mutant(2, "rate counts the added token, above 1", L, "acceptance_rate", _prop(lambda s: (s.accepted + s.rounds) / s.drafted),
           "metrics_rate_leaves_it_out"),
    Mutant(3, "survival called conditional", L, "conditional", _prop(lambda s: s.survival),
           "metrics_conditional_is_a_ratio_of_neighbours"),
    Mutant(8, "argmax draft, its softmax reported as q", exact, "one_round", _round(pick=lambda q, chance: int(q.argmax())),
           "speculative_sampling_is_exact"),
    Mutant(9, "q warped, p not", decoding.Session, "warp_rows", _target_not_warped, "check_exact_distribution"),
    Mutant(9, "temperature applied to neither", warping, "warp", _no_temperature, "both_sides_are_warped_alike"),
    Mutant(10, "drawn from q, judged by another q", exact, "one_round", _round(q_seen=_flattened), "speculative_sampling_is_exact"),
    Mutant(11, "draft and recovery share a random number", SeededChance, "draw", _shared_numbers, "draws_are_independent"),
    Mutant(12, "u <= p/q", SeededChance, "accept", _not_strict, "a_token_without_mass_is_never_emitted"),
    Mutant(13, "first candidate committed unverified", S, "verify", _first_unverified, "row_before_verifies_token"),
    Mutant(13, "row i + 1 verifies candidate i", G, "verify", _row_off_by_one, "row_before_verifies_token"),
    Mutant(14, "rejected tokens stay", S, "verify", _rejected_stay, "rejected_tokens_are_gone"),
    Mutant(21, "threshold acceptance called lossless", verification.ThresholdAcceptance, "lossless", lambda original: True,
           "declared_lossless_rules_are_exact"),
    Mutant(21, "typical acceptance called lossless", verification.TypicalAcceptance, "lossless", lambda original: True,
           "declared_lossless_rules_are_exact"),
    Mutant(22, "verification length chosen after seeing the token", S, "verify", _length_by_token, "speculative_sampling_is_exact"),
    Mutant(24, "resampled from p", verification, "_left_over", lambda original: lambda weight, q, p: p, "speculative_sampling_is_exact"),
    Mutant(24, "one-hot draft: resampled from p", verification, "_left_over", lambda original: lambda weight, q, p: p,
           "deterministic_draft_is_exact"),
    Mutant(24, "block residual without its weight", verification, "_left_over", _block_weight_forgotten, "block_verification_is_exact"),
]
