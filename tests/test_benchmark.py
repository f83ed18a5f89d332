"""The benchmark's record: complete, consistent with itself, and readable by the course. Nothing here asserts a time."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from mtp import benchmark as clock
from mtp.benchmark import Arm, describe, measure, table
from mtp.call_times import CallClock, CallTimes
from mtp.decoding import Target, decode_mtp, decode_plain
from mtp.metrics import Ledger
from mtp.mtp_drafter import MTPDrafter
from tiny import random_tokens, tiny_target


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The command itself, on a few tokens."""
    path = tmp_path_factory.mktemp("clock") / "record.json"
    clock.main(["--language", "en", "--json", str(path), "--repeats", "2", "--prompts", "2", "--new-tokens", "12"])
    return json.loads(path.read_text(encoding="utf-8"))


def test_every_way_to_decode_is_there(record: dict):
    for temperature in (0.0, 0.8):
        runs = [run for run in record["runs"] if run["temperature"] == temperature]
        assert [run["drafter"] for run in runs] == ["plain", "mtp", "mtp", "mtp", "mtp", "prompt_lookup", "ngram"]
        assert [run["k"] for run in runs[:5]] == [0, 1, 2, 3, 4]
        assert all(1 <= run["k"] <= 4 for run in runs[5:])


def test_fields_that_the_course_and_the_book_read(record: dict):
    for run in record["runs"]:
        assert {"name", "ttft_ms", "throughput", "acceptance_rate", "verify_cost_ms"} <= set(run)
        assert {"drafter", "k", "temperature", "tokens_per_second", "tokens_per_round", "survival", "speedup", "predicted_speedup",
                "output_equal"} <= set(run)  # fmt: skip
        assert run["ttft_ms"] > 0 and run["throughput"] == run["tokens_per_second"] > 0 and run["verify_cost_ms"] > 0
    for field in (
        "engine",
        "engine_version",
        "model",
        "hardware",
        "mtp_layers_loaded",
        "verification_rule",
        "input_tokens",
        "calls",
    ):
        assert record[field]
    assert record["acceptance_simulated"] is False


def test_figures_agree_with_each_other(record: dict):
    for run in record["runs"]:
        if run["drafter"] == "plain":
            assert run["speedup"] == run["tokens_per_round"] == 1.0 and run["drafted"] == 0
            continue
        assert run["mean_acceptance_length"] == pytest.approx(1 + sum(run["survival"]))
        assert run["acceptance_rate"] == pytest.approx(run["accepted"] / run["drafted"] if run["drafted"] else 0)
        assert run["survival"] == sorted(run["survival"], reverse=True)
        low, high = run["speedup_spread"]
        assert low <= run["speedup"] <= high
        assert run["output_equal"] is (True if run["temperature"] == 0 else None)
    assert all(run["drafted"] > 0 for run in record["runs"] if run["drafter"] == "mtp")


def test_prediction_is_the_cost_model():
    ledger = Ledger(rounds=10, drafted=30, accepted_per_position=[8, 6, 4], emitted=28)
    times = CallTimes(t={1: 2.0, 4: 3.0}, draft={3: 1.0})
    assert times.predicted_speedup(ledger, "mtp", 3) == pytest.approx(2.8 * 2.0 / (3.0 + 1.0))
    assert times.predicted_speedup(ledger, "ngram", 3) == pytest.approx(2.8 * 2.0 / 3.0)
    assert times.round_seconds("mtp", 3) == 4.0 and times.round_seconds("mtp", 0) == 2.0


def test_speedup_is_the_median_of_paired_ratios():
    """A machine that is three times slower in one repeat changes both arms of it, and no ratio."""
    plain = Arm("plain", 0, 0.0, seconds=[1.0, 3.0, 1.0], tokens=[100] * 3, ttft=[0.1], tpot=[0.01])
    fast = Arm("mtp", 1, 0.0, MTPDrafter, Ledger(60, 60, [40], 100), [0.5, 1.5, 0.4], [100] * 3, [0.1], [0.01])
    run = describe(fast, plain, CallTimes(t={1: 1.0, 2: 1.0}, draft={1: 0.1}))
    assert run["speedup"] == pytest.approx(2.0)
    assert run["speedup_spread"] == pytest.approx([2.0, 2.5])
    assert run["tokens_per_second"] == pytest.approx(200)


def test_arms_are_interleaved_and_turned(monkeypatch: pytest.MonkeyPatch):
    target, order = tiny_target(), []
    arms = [Arm("plain", 0, 0.0), Arm("mtp", 2, 0.0, MTPDrafter)]
    run = Arm.run
    monkeypatch.setattr(Arm, "run", lambda arm, *rest: order.append(arm.drafter) or run(arm, *rest))
    measure(target, arms, [[1, 2], [3, 4]], 2, 8, progress=False)
    assert order[2:] == ["plain", "mtp", "mtp", "plain", "mtp", "plain", "plain", "mtp"]
    assert arms[0].tokens == arms[1].tokens == [14, 14]
    assert arms[0].outputs == arms[1].outputs


def test_call_times_leave_the_caches_as_they_were():
    clock = CallClock(tiny_target(), 0.0)
    with pytest.raises(ValueError, match="no call has been timed"):
        clock.times()
    before = clock.session.cache.lengths, [states.clone() for states in clock.pending]
    for _ in range(3):
        clock.sample()
    assert clock.session.cache.lengths == before[0]
    assert all(map(torch.equal, clock.pending, before[1]))
    times = clock.times()
    assert set(times.t) == {1, 2, 3, 4, 5} and set(times.draft) == {1, 2, 3, 4}
    assert all(value > 0 for value in [*times.t.values(), *times.draft.values()])
    assert all(len(seconds) == 3 for seconds in [*clock.t.values(), *clock.draft.values()])


def test_calls_are_timed_between_the_texts():
    target = tiny_target()
    clock, arms = CallClock(target, 0.0), [Arm("plain", 0, 0.0), Arm("mtp", 2, 0.0, MTPDrafter)]
    measure(target, arms, [[1, 2], [3, 4]], 2, 8, progress=False, calls=clock)
    assert len(clock.t[1]) == 2 * 2 * len(arms)


def test_table_names_every_run(record: dict):
    lines = table(record).splitlines()
    assert len(lines) == 2 + len(record["runs"])
    assert all(line.split()[0] == run["drafter"] for line, run in zip(lines[2:], record["runs"]))


def test_batch_sweep_measures_each_size():
    found = clock.batch_sweep("en", sizes=(1, 3), repeats=1, new_tokens=6)
    assert [entry["batch"] for entry in found] == [1, 3]
    assert all(entry["speedup"] > 0 for entry in found)


@pytest.mark.parametrize("arguments", [["--repeats", "0"], ["--prompts", "0"], ["--new-tokens", "1"], ["--language", "fr"]])
def test_bad_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stopped:
        clock.main(arguments)
    assert stopped.value.code == 2
    assert arguments[0] in capsys.readouterr().err


def test_held_out_prompts_are_apart():
    texts = clock.held_out_prompts("en")
    assert len(texts["tune"]) >= 20 and len(texts["test"]) >= 20
    assert not {tuple(p) for p in texts["tune"]} & {tuple(p) for p in texts["test"]}
    target = Target.load("en")
    assert all(target.encode(prompt) == prompt for prompt in texts["test"])


@pytest.mark.skipif(not any(map(shutil.which, ("c++", "g++", "clang++", "cl"))), reason="torch.compile needs a C++ compiler")
def test_the_compiled_engine_writes_the_same_text() -> None:
    target, prompts = tiny_target(), random_tokens(1, 6).tolist()
    own = decode_plain(target, prompts, max_new_tokens=12)[0].tokens
    eager = target.engine.blocks[0].finish
    target.engine.compile()
    assert target.engine.blocks[0].finish is not eager and target.engine.mtp_block.finish is not eager
    assert decode_plain(target, prompts, max_new_tokens=12)[0].tokens == own
    assert decode_mtp(target, prompts, k=2, max_new_tokens=12)[0].tokens == own
