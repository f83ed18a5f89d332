"""States of the exact rules are what the rules decided."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import torch
from live_vectors import RULES, distributions, uniform
from mtp.chance import GivenChance
from mtp.trace_rules import RULE_REASONS, trace_rule
from mtp.verification import GreedyMatch, SpeculativeSampling

P = torch.tensor([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]], dtype=torch.float64)
Q = torch.tensor([[0.5, 0.5], [0.1, 0.9]], dtype=torch.float64)


def test_a_round_of_speculative_sampling_by_hand() -> None:
    trace = trace_rule(SpeculativeSampling(), Q, P, [1, 1], 2, [0.99, 0.5], 0.1, kv_length=4)
    assert [state["kind"] for state in trace.states] == ["proposal", "test", "test", "next", "summary"]
    first, second, last, summary = trace.states[1:]
    assert (first["probability"], first["reason"], first["next"]) == (1.0, "target_likes_it_as_much", "go_on")
    assert second["probability"] == pytest.approx(0.4 / 0.9) and second["reason"] == "not_below_probability" and second["u"] == 0.5
    assert (second["rejected_at"], second["closed_tokens"], second["kv_length"], second["kv_written"]) == (1, [1], 5, 6)
    assert last["distribution"] == [1.0, 0.0] and (last["next_token"], last["next_kind"]) == (0, "correction")
    assert summary["accepted_len"] == 1 and summary["progress_per_round"] == 0.5 and summary["kv_length"] == 5


def test_a_round_of_greedy_match_by_hand() -> None:
    trace = trace_rule(GreedyMatch(), Q, P, [1, 0, 1], 2, [0.0] * 3, 0.0)
    assert [state.get("reason") for state in trace.states[1:3]] == ["is_argmax", "is_argmax"]
    assert trace[2]["next"] == "complete" and trace[3]["next_kind"] == "bonus" and trace[3]["next_token"] == 0
    assert trace[0]["offered_tokens"] == [1, 0, 1] and trace[0]["tokens"] == [1, 0]
    assert trace_rule(GreedyMatch(), Q, P, [0, 0], 2, [0.0] * 2, 0.0)[1]["best"] == 1


@pytest.mark.parametrize("name", ["greedy", "sampling"])
def test_random_rounds_agree_with_the_rule(name: str) -> None:
    rng, rule = random.Random(6), RULES[name](0.5)
    for _ in range(200):
        count, vocabulary = rng.randint(0, 5), rng.randint(2, 5)
        q, p = distributions(rng, count, vocabulary), distributions(rng, count + 1, vocabulary)
        q = 0.9 * q + 0.1 / vocabulary
        tokens, tests, draw = [rng.randrange(vocabulary) for _ in range(count)], [uniform(rng) for _ in range(count)], uniform(rng)
        states = trace_rule(rule, q, p, tokens, count + 1, tests, draw, 2).states
        outcome = rule.verify(tokens, q, p, GivenChance(tests, [draw]))
        summary = states[-1]
        assert summary["accepted_tokens"] == outcome.accepted and summary["rejected_at"] == outcome.rejected_at
        assert (summary["next_token"], summary["next_kind"]) == (outcome.next_token, outcome.kind)
        assert summary["accepted_tokens"] + summary["rejected_suffix"] == tokens
        seen = [state for state in states if state["kind"] == "test"]
        assert len(seen) == len(outcome.accepted) + (outcome.rejected_at is not None)
        assert all(state["reason"] in RULE_REASONS for state in seen)
        assert json.loads(json.dumps(states)) == states


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"budget": 0}, "budget must be an int of at least 1, not 0"),
        ({"budget": True}, "budget must be an int of at least 1, not True"),
        ({"tests": [0.5]}, "tests must hold a number for each of the 2 candidates, not 1"),
        ({"tests": [0.5, 1.0]}, "tests[1] must lie in [0, 1), not 1.0"),
        ({"draw": -0.1}, "draws[0] must lie in [0, 1), not -0.1"),
        ({"kv_length": -1}, "kv_length must be an int of at least 0, not -1"),
        ({"offered_tokens": [0, 2]}, "outside the vocabulary"),
    ],
)
def test_bad_input_is_named(change: dict[str, Any], words: str) -> None:
    settings = {"q": Q, "p": P, "offered_tokens": [1, 1], "budget": 2, "tests": [0.5, 0.5], "draw": 0.5, **change}
    with pytest.raises(ValueError) as error:
        trace_rule(SpeculativeSampling(), **settings)
    assert words in str(error.value)
