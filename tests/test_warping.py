"""`warp`: order of the steps, ties, one-hot at temperature 0."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from mtp.warping import warp

LOGITS = torch.tensor([1.0, 2.0, 4.0, 8.0], dtype=torch.float64).log()  # softmax: 1, 2, 4, 8 fifteenths


def test_temperature_zero_is_one_hot_on_the_lowest_of_equals():
    assert warp(torch.tensor([0.0, 3.0, 3.0]), 0).tolist() == [0, 1, 0]


def test_by_hand():
    assert warp(LOGITS).tolist() == pytest.approx([1 / 15, 2 / 15, 4 / 15, 8 / 15])
    assert warp(LOGITS, 0.5).tolist() == pytest.approx([1 / 85, 4 / 85, 16 / 85, 64 / 85])
    assert warp(LOGITS, 1.0, 2).tolist() == pytest.approx([0, 0, 1 / 3, 2 / 3])
    assert warp(LOGITS, 1.0, None, 0.6).tolist() == pytest.approx([0, 0, 1 / 3, 2 / 3])


def test_top_p_works_on_what_top_k_left():
    """Of (2/3, 1/3) the first alone has mass .6; of the whole distribution it has only 8/15."""
    assert warp(LOGITS, 1.0, 2, 0.6).tolist() == [0, 0, 0, 1]


def test_ties_keep_the_lowest_token():
    assert warp(torch.zeros(4), 1.0, 2).tolist() == [0.5, 0.5, 0, 0]


def test_top_k_one_keeps_the_argmax_where_probabilities_tie():
    logits = torch.tensor([-1e-30, 0.0], dtype=torch.float64)
    assert warp(logits, 1.0, 1).tolist() == warp(logits, 0).tolist() == [0, 1]


@settings(deadline=None)
@given(st.lists(st.floats(-8, 8), min_size=2, max_size=9), st.floats(0.1, 3), st.integers(1, 9), st.floats(0.05, 1))
def test_invariants(logits: list[float], temperature: float, top_k: int, top_p: float):
    p = warp(torch.tensor(logits, dtype=torch.float64), temperature, top_k, top_p)
    assert float(p.sum()) == pytest.approx(1)
    assert 1 <= int((p > 0).sum()) <= top_k
    assert p[int(torch.tensor(logits, dtype=torch.float64).argmax())] == p.max()


@pytest.mark.parametrize(
    ("options", "name"),
    [({"temperature": -1}, "temperature"), ({"temperature": float("nan")}, "temperature"), ({"top_k": 0}, "top_k"),
     ({"top_k": True}, "top_k"), ({"top_p": 0.0}, "top_p"), ({"top_p": 1.5}, "top_p")],
)
def test_bad_settings(options: dict, name: str):
    with pytest.raises(ValueError, match=name):
        warp(LOGITS, **options)
