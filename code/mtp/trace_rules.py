"""One round of an exact rule as a list of states, for stepping through; `trace.py` does the same for the teaching simulator.

Chance is handed in as numbers, one for the test at each position and one for the draw that ends the round, so that a round can be
repeated and its numbers shown. The decisions are the rule's own: what it asks of chance is written down while it decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from .chance import GivenChance
from .trace import Trace
from .verification import GreedyMatch, RoundOutcome, SpeculativeSampling

# Why a test came out as it did.
RULE_REASONS = ("is_argmax", "not_argmax", "target_likes_it_as_much", "below_probability", "not_below_probability")


class _Recording(GivenChance):
    """Notes the probability of each test and the distribution of each draw."""

    def __init__(self, tests: Sequence[float], draws: Sequence[float]) -> None:
        super().__init__(tests, draws)
        self.probabilities: list[float] = []
        self.distributions: list[list[float]] = []

    def accept(self, probability: float) -> bool:
        self.probabilities.append(probability)
        return super().accept(probability)

    def draw(self, distribution: Tensor) -> int:
        self.distributions.append((distribution / distribution.sum()).tolist())
        return super().draw(distribution)


def trace_rule(
    rule: GreedyMatch | SpeculativeSampling,
    q: Tensor,
    p: Tensor,
    offered_tokens: Sequence[int],
    budget: int,
    tests: Sequence[float],
    draw: float,
    kv_length: int = 0,
) -> Trace:
    """Run one round of `rule` and return its states.

    States are as in `mtp.trace.Trace` with these differences. A `"proposal"` has no `ratio`. A `"test"` has no `threshold`; for greedy
    match it has `best`, the target's likeliest token; for speculative sampling `probability`, min(1, p/q), and `u`, the number
    that was compared with it; `reason` is one of `RULE_REASONS`. Before the summary stands a `"next"` state with `next_token`,
    `next_kind` (`"correction"` or `"bonus"`) and, for speculative sampling, `distribution` (V,) it was drawn from and its `u`.
    The summary repeats `next_token` and `next_kind`. The target's own token has no KV entry before the next round.

    Args:
        rule: greedy match or speculative sampling.
        q, p: float64 distributions, (n, V) and (n + 1, V) for n offered tokens.
        offered_tokens: candidates before the budget cut.
        budget: at least 1.
        tests: numbers in [0, 1), one for each candidate.
        draw: number in [0, 1) for the token that ends the round.
        kv_length: valid positions of the target's KV cache before the round.

    Raises:
        ValueError: as `rule.verify`, a budget below 1, a negative `kv_length`, too few numbers, or numbers outside [0, 1).
    """
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise ValueError(f"budget must be an int of at least 1, not {budget!r}")
    if isinstance(kv_length, bool) or not isinstance(kv_length, int) or kv_length < 0:
        raise ValueError(f"kv_length must be an int of at least 0, not {kv_length!r}")
    tokens = list(offered_tokens)[:budget]
    if len(tests) < len(tokens):
        raise ValueError(f"tests must hold a number for each of the {len(tokens)} candidates, not {len(tests)}")
    chance = _Recording(tests, [draw])
    outcome = rule.verify(tokens, q[: len(tokens)], p[: len(tokens) + 1], chance)
    shared = {"tokens": tokens, "accepted_tokens": [], "rejected_at": None, "closed_tokens": [], "kv_length": kv_length}
    states = [{"kind": "proposal", **shared, "kv_written": kv_length, "offered_tokens": list(offered_tokens), "budget": budget}]
    for place in range(len(outcome.accepted) + (outcome.rejected_at is not None)):
        test = {"position": place, "token": tokens[place], "q": float(q[place, tokens[place]]), "p": float(p[place, tokens[place]])}
        if isinstance(rule, GreedyMatch):
            test["best"] = int(p[place].argmax())
        else:
            test |= {"probability": min(1.0, chance.probabilities[place]), "u": tests[place]}
        states.append({"kind": "test", **shared, **test, **_decision(rule, outcome, tokens, test, kv_length)})
    end = {**shared, **_end(outcome, tokens, kv_length)}
    states.append({"kind": "next", **end, **({"distribution": chance.distributions[0], "u": draw} if chance.distributions else {})})
    progress = len(outcome.accepted) / len(tokens) if tokens else 0.0
    summary = {"accepted_len": len(outcome.accepted), "progress_per_round": progress, "rejected_suffix": end["closed_tokens"]}
    states.append({"kind": "summary", **end, **summary})
    return Trace([{"step": step, **state} for step, state in enumerate(states)])


def _decision(rule: Any, outcome: RoundOutcome, tokens: list[int], test: dict[str, Any], kv_length: int) -> dict[str, Any]:
    place = test["position"]
    accepted = place < len(outcome.accepted)
    if isinstance(rule, GreedyMatch):
        reason = "is_argmax" if accepted else "not_argmax"
    elif test["probability"] >= 1:
        reason = "target_likes_it_as_much"
    else:
        reason = "below_probability" if accepted else "not_below_probability"
    decision = {
        "accepted": accepted,
        "reason": reason,
        "next": "stop" if not accepted else "complete" if place == len(tokens) - 1 else "go_on",
        "accepted_tokens": tokens[: place + accepted],
        "kv_written": kv_length + len(tokens),
        "kv_length": kv_length + place + accepted,
    }
    return decision if accepted else {**decision, "rejected_at": place, "closed_tokens": tokens[place:]}


def _end(outcome: RoundOutcome, tokens: list[int], kv_length: int) -> dict[str, Any]:
    return {
        "accepted_tokens": outcome.accepted,
        "rejected_at": outcome.rejected_at,
        "closed_tokens": tokens[len(outcome.accepted) :],
        "next_token": outcome.next_token,
        "next_kind": outcome.kind,
        "kv_length": kv_length + len(outcome.accepted),
        "kv_written": kv_length + len(tokens),
    }
