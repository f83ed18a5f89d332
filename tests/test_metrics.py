"""The ledger counts, and derives everything else; faults 1 to 3 of public implementations are variants that fail here."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mtp.metrics import Ledger
from mtp.simulator import MultiTokenDecoderSim

ROUNDS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)).map(lambda pair: (max(pair), min(pair))), max_size=60)


def ledger_of(rounds: list[tuple[int, int]]) -> Ledger:
    ledger = Ledger()
    for drafted, accepted in rounds:
        ledger.record(drafted, accepted)
    return ledger


@given(ROUNDS)
def test_the_invariants_hold(rounds: list[tuple[int, int]]) -> None:
    ledger = ledger_of(rounds)
    accepted = sum(a for _, a in rounds)
    assert (ledger.rounds, ledger.drafted, ledger.accepted) == (len(rounds), sum(k for k, _ in rounds), accepted)
    assert ledger.emitted == accepted + len(rounds) - ledger.truncated
    assert 0 <= ledger.acceptance_rate <= 1
    if accepted == 0:
        assert ledger.acceptance_rate == 0
    if rounds:
        assert math.isclose(ledger.mean_acceptance_length, 1 + accepted / len(rounds))
        assert math.isclose(ledger.mean_acceptance_length, 1 + sum(ledger.survival))
    assert ledger.survival == sorted(ledger.survival, reverse=True)
    product = 1.0
    for survival, conditional in zip(ledger.survival, ledger.conditional):
        product *= conditional
        assert 0 <= conditional <= 1 and math.isclose(product, survival, abs_tol=1e-12)


@given(ROUNDS, ROUNDS)
def test_adding_ledgers_is_recording_both(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> None:
    assert ledger_of(first) + ledger_of(second) == ledger_of(first + second)


def test_an_example_by_hand() -> None:
    ledger = ledger_of([(4, 3), (4, 0), (4, 1), (2, 2)])
    assert (ledger.rounds, ledger.drafted, ledger.accepted_per_position) == (4, 14, [3, 2, 1])
    assert ledger.acceptance_rate == 6 / 14
    assert ledger.mean_acceptance_length == 1 + 6 / 4
    assert ledger.mean_accepted == 1.5
    assert ledger.survival == [0.75, 0.5, 0.25]
    assert ledger.conditional == [0.75, 2 / 3, 0.5]
    assert ledger.emitted_per_round == 10 / 4


def test_nothing_counted_is_all_zero() -> None:
    empty = Ledger()
    assert (empty.acceptance_rate, empty.mean_acceptance_length, empty.mean_accepted, empty.survival, empty.conditional) == (0, 0, 0, [], [])


def test_a_cut_is_counted() -> None:
    ledger = Ledger()
    ledger.record(4, 4, truncated=3)
    assert (ledger.emitted, ledger.truncated, ledger.accepted) == (2, 3, 4)


@pytest.mark.parametrize("arguments", [(-1, 0), (4, 5), (4, -1)])
def test_rounds_that_cannot_be_are_refused_and_change_nothing(arguments: tuple[int, int]) -> None:
    ledger = ledger_of([(4, 2)])
    with pytest.raises(ValueError, match="accepted|drafted"):
        ledger.record(*arguments)
    assert ledger == ledger_of([(4, 2)])


@pytest.mark.parametrize(
    "fields, named",
    [
        ({"rounds": 2, "drafted": 8, "accepted_per_position": [1, 2]}, "accepted_per_position"),
        ({"rounds": 2, "drafted": 8, "accepted_per_position": [3]}, "accepted_per_position"),
        ({"rounds": 2, "drafted": 1, "accepted_per_position": [2]}, "drafted"),
        ({"rounds": -1}, "rounds"),
        ({"rounds": 1.0}, "rounds"),
        ({"emitted": True}, "emitted"),
    ],
)
def test_counts_that_cannot_be_are_named(fields: dict[str, object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Ledger(**fields)  # type: ignore[arg-type]


def test_the_simulators_history_counts_accepted_tokens_only() -> None:
    sim = MultiTokenDecoderSim(3, 0.5)
    sim.decode([[0.5, 0], [0.5, 0]], [[0.9, 0], [0.1, 0]], [0, 0])
    sim.decode([[0.5, 0]], [[0.9, 0]], [])
    ledger = Ledger.from_history(sim.history)
    assert ledger == Ledger(2, 2, [1], emitted=1)
    assert ledger.mean_acceptance_length == 1.5


METRICS = """# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.
# TYPE vllm:spec_decode_num_drafts_total counter
vllm:spec_decode_num_drafts_total{engine="0",model_name="a"} 100.0
vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="a"} 3e+02
vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="a"} 150.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="a",position="1"} 50.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="a",position="0"} 80.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="a",position="2"} 20.0 1764570000000
vllm:num_requests_running{engine="0",model_name="a"} 1.0
vllm:spec_decode_num_drafts_created{engine="0",model_name="a"} 1.7645e+09
"""


def test_a_servers_counters_are_read() -> None:
    ledger = Ledger.from_prometheus(METRICS)
    assert ledger == Ledger(100, 300, [80, 50, 20], emitted=250)
    assert ledger.acceptance_rate == 0.5 and ledger.mean_acceptance_length == 2.5


def test_names_without_total_are_read_as_well() -> None:
    assert Ledger.from_prometheus(METRICS.replace("_total", "")) == Ledger.from_prometheus(METRICS)


def test_engines_are_summed_or_chosen() -> None:
    both = METRICS + METRICS.replace('engine="0"', 'engine="1"')
    one = Ledger.from_prometheus(METRICS)
    assert Ledger.from_prometheus(both) == one + one
    assert Ledger.from_prometheus(both, engine="1") == one


@pytest.mark.parametrize("counter", ["num_drafts", "num_draft_tokens", "num_accepted_tokens", "num_accepted_tokens_per_pos"])
def test_a_missing_counter_is_named(counter: str) -> None:
    text = "\n".join(line for line in METRICS.splitlines() if f"{counter}_total" not in line)
    with pytest.raises(ValueError, match=f"{counter} "):
        Ledger.from_prometheus(text)


@pytest.mark.parametrize(
    "old, new, named",
    [("150.0", "151.0", "num_accepted_tokens"), ("} 80.0", "} 80.5", "num_accepted_tokens_per_pos"), ('position="2"', 'position="3"', "positions")],
)
def test_counters_that_contradict_each_other_are_named(old: str, new: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        Ledger.from_prometheus(METRICS.replace(old, new))


def test_another_servers_text_is_refused() -> None:
    with pytest.raises(ValueError, match="num_drafts"):
        Ledger.from_prometheus("up 1\n")
