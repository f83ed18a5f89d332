"""The contract of the teaching simulator, sentence by sentence."""

from __future__ import annotations

import copy
import random

import numpy as np
import pytest
import torch
from mtp.simulator import MultiTokenDecoderSim

TOKENS = [10, 20, 30, 31]


def rows(entries: list[float], vocab: int = 40) -> torch.Tensor:
    table = torch.zeros(len(entries), vocab)
    for row, (token, entry) in enumerate(zip(TOKENS, entries)):
        table[row, token] = entry
    return table


Q = rows([0.5] * 4)
P = rows([0.8, 0.8, 0.2, 0.2])


def test_defaults_and_attributes() -> None:
    sim = MultiTokenDecoderSim()
    assert (sim.max_proposal_len, sim.min_accept_ratio, sim.history) == (4, 0.5, [])


@pytest.mark.parametrize("value", [0, -1, True, False, 1.0, "3", None, float("nan"), np.int64(3)])
def test_a_budget_that_is_no_positive_int_is_named(value: object) -> None:
    with pytest.raises(ValueError, match="max_proposal_len"):
        MultiTokenDecoderSim(max_proposal_len=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, -0.1, 1.0001, float("nan"), float("inf"), None, "half", True])
def test_a_ratio_outside_its_range_is_named(value: object) -> None:
    with pytest.raises(ValueError, match="min_accept_ratio"):
        MultiTokenDecoderSim(min_accept_ratio=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [1e-9, 0.5, 1, 1.0, np.float32(0.25)])
def test_ratios_up_to_one_are_taken(value: float) -> None:
    assert MultiTokenDecoderSim(min_accept_ratio=value).min_accept_ratio == value


@pytest.mark.parametrize("budget", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("make", [list, tuple, np.array, torch.tensor, lambda tokens: [np.int32(t) for t in tokens]])
def test_propose_takes_the_first_tokens_as_a_new_list_of_int(budget: int, make) -> None:
    given = make(TOKENS)
    before = copy.deepcopy(given)
    proposed = MultiTokenDecoderSim(budget).propose(given)
    assert proposed == TOKENS[:budget]
    assert type(proposed) is list and all(type(token) is int for token in proposed)
    assert proposed is not given and list(given) == list(before)
    proposed.append(99)
    assert len(given) == 4


def test_nothing_in_nothing_out() -> None:
    sim = MultiTokenDecoderSim()
    nothing = torch.zeros(0, 5)
    assert sim.propose([]) == []
    assert sim.verify(nothing, nothing, []) == ([], None)
    result = sim.decode(Q, P, [])
    assert result == {
        "proposed_tokens": [],
        "accepted_tokens": [],
        "accepted_len": 0,
        "progress_per_round": 0.0,
        "rejected_at": None,
        "rejected_suffix": [],
    }
    assert type(result["progress_per_round"]) is float


@pytest.mark.parametrize("wrap", [float, np.float32, np.float64, torch.tensor, lambda value: torch.tensor(value, requires_grad=True)])
@pytest.mark.parametrize(
    "q, p, ratio, accepted",
    [
        (0.5, 0.25, 0.5, True),
        (0.5, 0.125, 0.5, False),
        (0.25, 0.25, 1.0, True),
        (0.25, 0.125, 1.0, False),
        (0.25, 1.0, 1.0, True),
        (0.0, 0.25, 0.5, True),
        (0.0, 0.0, 0.5, False),
        (-1.0, 0.25, 0.5, True),
        (-1.0, 0.0, 0.5, False),
    ],
)
def test_the_threshold_accepts_equality_and_returns_a_real_bool(wrap, q: float, p: float, ratio: float, accepted: bool) -> None:
    assert MultiTokenDecoderSim(4, ratio)._accept_token(wrap(q), wrap(p)) is accepted


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("q, p, ratio", [(0.5, 0.3, 0.6), (0.7, 0.42, 0.6), (0.3, 0.15, 0.5), (0.9, 0.9, 1.0)])
def test_equality_is_judged_in_the_type_that_was_handed_in(dtype: torch.dtype, q: float, p: float, ratio: float) -> None:
    q_row, p_row = torch.tensor([[q]], dtype=dtype), torch.tensor([[q]], dtype=dtype) * ratio
    assert MultiTokenDecoderSim(4, ratio).verify(q_row, p_row, [0]) == ([0], None)
    assert MultiTokenDecoderSim(4, ratio).verify([[q]], [[q * ratio]], [0]) == ([0], None)


def test_the_worked_round() -> None:
    result = MultiTokenDecoderSim(3, 0.6).decode(Q, P, TOKENS)
    assert result["proposed_tokens"] == [10, 20, 30]
    assert result["accepted_tokens"] == [10, 20]
    assert (result["accepted_len"], result["rejected_at"], result["rejected_suffix"]) == (2, 2, [30])
    assert result["progress_per_round"] == 2 / 3


def test_a_likely_candidate_behind_a_rejection_changes_nothing() -> None:
    result = MultiTokenDecoderSim(4, 0.6).decode(Q, rows([0.8, 0.8, 0.2, 0.9]), TOKENS)
    assert (result["accepted_tokens"], result["rejected_at"], result["rejected_suffix"]) == ([10, 20], 2, [30, 31])


@pytest.mark.parametrize("budget", [1, 2, 3, 4])
def test_all_accepted_at_every_budget(budget: int) -> None:
    result = MultiTokenDecoderSim(budget, 0.6).decode(Q, rows([0.8] * 4), TOKENS)
    assert result["accepted_tokens"] == TOKENS[:budget]
    assert (result["progress_per_round"], result["rejected_at"], result["rejected_suffix"]) == (1.0, None, [])


@pytest.mark.parametrize("make", [lambda t: t, lambda t: t.tolist(), lambda t: t.numpy(), lambda t: list(t), lambda t: [r.numpy() for r in t], lambda t: t.clone().requires_grad_()])
def test_tables_of_any_make(make) -> None:
    assert MultiTokenDecoderSim(3, 0.6).verify(make(Q), make(P), TOKENS[:3]) == ([10, 20], 2)


def test_more_rows_than_candidates_are_fine_and_not_looked_at() -> None:
    spoiled = P.clone()
    spoiled[3] = float("nan")
    assert MultiTokenDecoderSim(3, 0.6).decode(Q, spoiled, TOKENS)["accepted_len"] == 2


def test_rows_need_not_sum_to_one() -> None:
    assert MultiTokenDecoderSim(4, 0.6).decode(Q * 3, P * 3, TOKENS)["accepted_len"] == 2


def test_history_is_independent_of_what_was_returned() -> None:
    sim = MultiTokenDecoderSim(3, 0.6)
    first = sim.decode(Q, P, TOKENS)
    kept = copy.deepcopy(first)
    first["accepted_tokens"].append(1)
    first["proposed_tokens"].clear()
    first["rejected_suffix"].append(7)
    first["rejected_at"] = None
    assert sim.history == [kept]
    assert sim.decode(Q, P, TOKENS) == kept
    assert sim.history == [kept, kept] and sim.history[0] is not sim.history[1]


def test_two_simulators_do_not_share_their_history() -> None:
    MultiTokenDecoderSim().decode(Q, P, TOKENS)
    assert MultiTokenDecoderSim().history == []


NAN, INF = float("nan"), float("inf")


def spoil(table: torch.Tensor, value: float) -> torch.Tensor:
    table = table.clone()
    table[1, 5] = value
    return table


@pytest.mark.parametrize(
    "q, p, tokens, named",
    [
        (Q[0], P, TOKENS, "draft_probs"),
        (Q, P[0], TOKENS, "target_probs"),
        (Q[None], P[None], TOKENS, "draft_probs"),
        (Q, P[:, :39], TOKENS, "shapes"),
        (Q, P[:3], TOKENS, "shapes"),
        (Q[:3], P[:3], TOKENS, "rows"),
        (Q, P, [10, 20.0], r"draft_tokens\[1\].*20\.0"),
        (Q, P, [10, "20"], r"draft_tokens\[1\].*'20'"),
        (Q, P, [True], r"draft_tokens\[0\].*True"),
        (Q, P, [np.bool_(True)], r"draft_tokens\[0\]"),
        (Q, P, [torch.tensor(True)], r"draft_tokens\[0\]"),
        (Q, P, [torch.tensor([1])], r"draft_tokens\[0\]"),
        (Q, P, [torch.tensor(1.0)], r"draft_tokens\[0\]"),
        (Q, P, [None], r"draft_tokens\[0\].*None"),
        (Q, P, "12", "draft_tokens"),
        (Q, P, 7, "draft_tokens.*7"),
        (Q, P, None, "draft_tokens"),
        (Q, P, [40], r"draft_tokens\[0\]=40"),
        (Q, P, [10, -1], r"draft_tokens\[1\]=-1"),
        (spoil(Q, NAN), P, TOKENS, r"draft_probs\[1, 5\].*nan"),
        (spoil(Q, INF), P, TOKENS, r"draft_probs\[1, 5\].*inf"),
        (spoil(Q, -0.1), P, TOKENS, r"draft_probs\[1, 5\].*-0\.1"),
        (Q, spoil(P, NAN), TOKENS, r"target_probs\[1, 5\]"),
        (Q, spoil(P, -INF), TOKENS, r"target_probs\[1, 5\]"),
        ("rows", P, TOKENS, "draft_probs"),
        (None, P, TOKENS, "draft_probs"),
        ([[0.5], [0.5, 0.5]], P, TOKENS, "draft_probs"),
        (Q.to(torch.complex64), P, TOKENS, "draft_probs"),
    ],
)
def test_bad_input_names_the_argument_and_leaves_the_history(q: object, p: object, tokens: object, named: str) -> None:
    sim = MultiTokenDecoderSim(4, 0.6)
    sim.decode(Q, P, TOKENS)
    before = copy.deepcopy(sim.history)
    with pytest.raises(ValueError, match=named):
        sim.decode(q, p, tokens)  # type: ignore[arg-type]
    assert sim.history == before
    assert sim.decode(Q, P, TOKENS)["accepted_len"] == 2


def test_random_rounds_keep_the_identities_of_the_state() -> None:
    rng = random.Random(1)
    for _ in range(300):
        budget, length, vocab = rng.randint(1, 6), rng.randint(0, 6), rng.randint(1, 8)
        q, p = torch.rand(length, vocab), torch.rand(length, vocab)
        tokens = [rng.randrange(vocab) for _ in range(length)]
        ratio = rng.uniform(0.01, 1)
        state = MultiTokenDecoderSim(budget, ratio).decode(q, p, tokens)
        assert state["accepted_tokens"] + state["rejected_suffix"] == state["proposed_tokens"] == tokens[:budget]
        assert state["rejected_at"] in (None, state["accepted_len"])
        assert (state["rejected_at"] is None) == (state["rejected_suffix"] == [])
        passes = [bool(p[i, t] >= q[i, t] * ratio) for i, t in enumerate(state["proposed_tokens"])]
        assert all(passes[: state["accepted_len"]]) and not any(passes[state["accepted_len"] : state["accepted_len"] + 1])
