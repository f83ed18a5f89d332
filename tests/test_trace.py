"""A trace is what the simulator did, in states that JSON can hold."""

from __future__ import annotations

import json
import random

import pytest
import torch
from mtp.simulator import MultiTokenDecoderSim
from mtp.trace import REASONS, trace_round

Q = [[0.5, 0.0], [0.5, 0.0], [0.5, 0.0], [0.0, 0.5]]
P = [[0.8, 0.0], [0.8, 0.0], [0.2, 0.0], [0.2, 0.9]]


def test_the_worked_round_has_five_states() -> None:
    sim = MultiTokenDecoderSim(3, 0.6)
    trace = trace_round(sim, Q, P, [0, 0, 0, 1], kv_length=7)
    assert [state["kind"] for state in trace.states] == ["proposal", "test", "test", "test", "summary"]
    assert [state["step"] for state in trace.states] == [0, 1, 2, 3, 4]
    assert [state.get("next") for state in trace.states[1:4]] == ["go_on", "go_on", "stop"]
    assert [state["kv_length"] for state in trace.states] == [7, 8, 9, 9, 9]
    assert [state["kv_written"] for state in trace.states] == [7, 10, 10, 10, 10]
    assert trace[3]["reason"] == "below_threshold" and trace[3]["closed_tokens"] == [0]
    assert trace[4]["rejected_suffix"] == [0] and trace[4]["progress_per_round"] == 2 / 3
    assert sim.history == [], "tracing is not a round"


def test_zero_draft_has_its_own_reasons() -> None:
    zero, some = [[0.0]], [[0.5]]
    sim = MultiTokenDecoderSim()
    assert trace_round(sim, zero, some, [0])[1]["reason"] == "zero_draft_positive_target"
    assert trace_round(sim, zero, zero, [0])[1]["reason"] == "zero_draft_zero_target"


def test_an_empty_round_is_proposal_and_summary() -> None:
    trace = trace_round(MultiTokenDecoderSim(), Q, P, [], kv_length=3)
    assert [state["kind"] for state in trace.states] == ["proposal", "summary"]
    assert trace[1]["kv_length"] == 3


def test_random_rounds_agree_with_decode_and_with_json() -> None:
    rng = random.Random(2)
    for _ in range(200):
        length, vocab = rng.randint(0, 6), rng.randint(1, 6)
        q, p = torch.rand(length, vocab), torch.rand(length, vocab)
        tokens = [rng.randrange(vocab) for _ in range(length)]
        sim = MultiTokenDecoderSim(rng.randint(1, 6), rng.uniform(0.1, 1))
        trace, state = trace_round(sim, q, p, tokens, rng.randint(0, 9)), sim.decode(q, p, tokens)
        summary = trace[-1]
        assert {key: summary[key] for key in ("accepted_tokens", "accepted_len", "progress_per_round", "rejected_at", "rejected_suffix")} == {
            key: value for key, value in state.items() if key != "proposed_tokens"
        }
        tests = [step for step in trace.states if step["kind"] == "test"]
        assert len(tests) == state["accepted_len"] + (state["rejected_at"] is not None)
        for index, step in enumerate(tests):
            assert step["position"] == index and step["reason"] in REASONS
            assert step["accepted"] is sim._accept_token(step["q"], step["p"])
            assert step["accepted_tokens"] == tokens[: index + step["accepted"]]
        assert json.loads(json.dumps(trace.to_dict()))["states"] == trace.states


def test_a_learners_own_rule_is_followed() -> None:
    class Stubborn(MultiTokenDecoderSim):
        def _accept_token(self, draft_prob: float, target_prob: float) -> bool:
            return False

    assert trace_round(Stubborn(), Q, P, [0, 0])[-1]["accepted_len"] == 0


def test_changing_the_copy_leaves_the_trace() -> None:
    trace = trace_round(MultiTokenDecoderSim(), Q, P, [0, 0])
    trace.to_dict()["states"][0]["tokens"].append(9)
    assert trace[0]["tokens"] == [0, 0]


@pytest.mark.parametrize("length", [-1, 1.5, True, None])
def test_a_bad_length_is_named(length: object) -> None:
    with pytest.raises(ValueError, match="kv_length"):
        trace_round(MultiTokenDecoderSim(), Q, P, [0], kv_length=length)  # type: ignore[arg-type]


def test_bad_input_is_refused_as_by_decode() -> None:
    with pytest.raises(ValueError, match="draft_tokens"):
        trace_round(MultiTokenDecoderSim(), Q, P, [0.5])  # type: ignore[list-item]
