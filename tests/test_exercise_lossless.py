"""The exercises on lossless verification: each wrong solution is caught by the mechanism it breaks; right ones pass."""

from __future__ import annotations

import pytest
from data import wrong_lossless as data
from mtp.exercise_lossless import HINTS, check_one_hot, check_residual

WRONG = [(check_residual, *case) for case in data.WRONG_RESIDUAL] + [(check_one_hot, *case) for case in data.WRONG_ONE_HOT]
RIGHT = [(check_residual, code) for code in data.RIGHT_RESIDUAL] + [(check_one_hot, code) for code in data.RIGHT_ONE_HOT]


def solution(source: str) -> object:
    scope: dict[str, object] = {}
    exec(source, scope)
    return scope["solution"]


@pytest.mark.parametrize(("check", "mechanism", "source"), WRONG)
def test_wrong_solution_is_caught(check: object, mechanism: str, source: str):
    assert check(solution(source), "en").results[mechanism] == "failed"


@pytest.mark.parametrize(("check", "source"), RIGHT)
def test_right_solution_passes(check: object, source: str):
    report = check(solution(source), "en")
    assert report.passed, str(report)


@pytest.mark.parametrize("check", [check_residual, check_one_hot])
def test_unfilled_gap_is_a_todo(check: object):
    def empty(*arguments: object) -> None:
        raise NotImplementedError("TODO 1")

    assert set(check(empty, "zh").results.values()) == {"todo"}


def test_hints_in_both_languages():
    assert all(set(hint) == {"zh", "en"} for hint in HINTS.values())
