"""The exercise on the end of a round: wrong solutions are caught by the mechanism they break, right ones pass."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from data.wrong_cache import RIGHT, SILENT, WRONG
from mtp.decoding import Target, decode_mtp
from mtp.exercise_cache import HINTS, MECHANISMS, check_end_of_round, decode_rounds


def solution(body: str) -> Callable[..., torch.Tensor]:
    scope: dict[str, object] = {"torch": torch}
    exec(f"def end_of_round(trunk, draft, states, n, a):\n    {body}", scope)
    return scope["end_of_round"]  # type: ignore[return-value]


@pytest.mark.parametrize(("mechanism", "body"), WRONG)
def test_a_wrong_solution_is_caught_by_what_it_breaks(mechanism: str, body: str) -> None:
    assert check_end_of_round(solution(body), "en").results[mechanism] == "failed"


def test_every_mechanism_has_a_wrong_solution_of_its_own() -> None:
    assert {mechanism for mechanism, _ in WRONG} == {mechanism.key for mechanism in MECHANISMS} == set(HINTS)
    assert all(set(hint) == {"zh", "en"} for hint in HINTS.values())


@pytest.mark.parametrize("body", RIGHT)
def test_a_right_solution_passes(body: str) -> None:
    report = check_end_of_round(solution(body), "zh")
    assert report.passed, str(report)


def test_an_unfilled_gap_is_to_do() -> None:
    def empty(*arguments: object) -> None:
        raise NotImplementedError("TODO 1: roll both caches back")

    assert set(check_end_of_round(empty, "zh").results.values()) == {"todo"}


@pytest.mark.parametrize("body", SILENT)
def test_faults_of_the_draft_cache_alone_leave_the_text_right(body: str) -> None:
    results = check_end_of_round(solution(body), "en").results
    assert results["text"] == "passed" and results["recompute"] == "failed"


def test_the_loop_of_the_exercise_is_the_loop_of_the_decoder() -> None:
    target = Target.load("en", torch.float64)
    prompt = target.encode("And it came to pass")
    text, accepted = decode_rounds(solution(RIGHT[0]), target.engine, prompt, 3, 20)
    real = decode_mtp(target, [prompt], k=3, stop=(), max_new_tokens=90)[0]
    assert text[len(prompt) :] == real.tokens[: len(text) - len(prompt)]
    assert accepted == [record.accepted for record in real.rounds[:20]]
