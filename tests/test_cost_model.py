"""The cost model: by hand, against the formulas of the paper, and its bad input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mtp.cost_model import best_k, expected_tokens, iid_tokens, round_time, speedup

RATES = st.floats(0, 1)
COSTS = st.floats(0, 4)


def falling(values: list[float]) -> list[float]:
    return sorted(values, reverse=True)


def test_by_hand() -> None:
    assert expected_tokens([]) == 1
    assert expected_tokens([0.9, 0.5, 0.25]) == pytest.approx(2.65)
    assert round_time(0, 0.3, 0.2) == 1
    assert round_time(3, 0.25, 0.125) == pytest.approx(2.125)
    assert speedup([0.9, 0.5], 0.25, 0.125) == pytest.approx(2.4 / 1.75)
    # 1.9/1.375, 2.4/1.75, 2.41/2.125: the first is the best.
    assert best_k([0.9, 0.5, 0.01], 0.25, 0.125) == 1
    assert best_k([0.1], 0.3, 0.2) == 0
    assert best_k([0.5], 0.25, 0.25) == 0  # a tie goes to plain decoding


@given(st.floats(0, 0.999), st.integers(0, 12), COSTS)
def test_iid_acceptance_gives_the_formula_of_leviathan(rate: float, k: int, draft: float) -> None:
    geometric = (1 - rate ** (k + 1)) / (1 - rate)
    assert iid_tokens(rate, k) == pytest.approx(geometric)
    assert speedup([rate**i for i in range(1, k + 1)], draft, 0) == pytest.approx(geometric / (k * draft + 1))


@given(st.lists(RATES, max_size=8).map(falling), COSTS, COSTS)
def test_best_k_is_no_slower_than_any_other(survival: list[float], draft: float, verify: float) -> None:
    best = best_k(survival, draft, verify)
    speeds = [speedup(survival[:k], draft, verify) for k in range(len(survival) + 1)]
    assert speeds[best] == max(speeds) >= 1
    assert all(speed < speeds[best] for speed in speeds[:best])


@given(st.lists(RATES, min_size=1, max_size=8).map(falling), COSTS, COSTS)
def test_cheaper_or_better_candidates_are_never_slower(survival: list[float], draft: float, verify: float) -> None:
    assert speedup(survival, draft / 2, verify) >= speedup(survival, draft, verify)
    assert speedup(survival, draft, verify / 2) >= speedup(survival, draft, verify)
    assert speedup([(value + 1) / 2 for value in survival], draft, verify) >= speedup(survival, draft, verify)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: expected_tokens([0.5, 0.6]), "survival[1]=0.6"),
        (lambda: expected_tokens([1.5]), "survival[0]=1.5"),
        (lambda: expected_tokens([float("nan")]), "survival[0]=nan"),
        (lambda: iid_tokens(-0.1, 2), "rate must lie between 0 and 1, not -0.1"),
        (lambda: iid_tokens(0.5, -1), "k must be an int of at least 0, not -1"),
        (lambda: round_time(True, 0.1, 0.1), "k must be an int of at least 0, not True"),
        (lambda: round_time(2, -1.0, 0.1), "draft must be at least 0 and finite, not -1.0"),
        (lambda: round_time(2, 0.1, float("inf")), "verify must be at least 0 and finite, not inf"),
        (lambda: best_k([2.0], 0.1, 0.1), "survival[0]=2.0"),
    ],
)
def test_bad_input_is_named(call, words: str) -> None:
    with pytest.raises(ValueError) as error:
        call()
    assert words in str(error.value)
