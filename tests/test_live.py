"""What a cell emits for a live figure: an element with its numbers, and a drawing inside for where nothing comes alive."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from bs4 import BeautifulSoup
from mtp.live import Live, full_rows, last_row, round_stepper, sampling_demo, speedup_explorer
from mtp.simulator import MultiTokenDecoderSim
from mtp.trace import trace_round

TOKENS = [10, 20, 30, 31]


def rows(entries: list[float]) -> torch.Tensor:
    table = torch.zeros(4, 40)
    table[range(4), TOKENS] = torch.tensor(entries)
    return table


def stepper(**settings: Any) -> Live:
    sim = MultiTokenDecoderSim(3, 0.6)
    return round_stepper(sim, rows([0.5] * 4), rows([0.8, 0.8, 0.2, 0.2]), TOKENS, kv_length=3, language="en", **settings)


def parts(live: Live) -> tuple[Any, dict[str, Any]]:
    """The element, and its numbers as a browser reads them."""
    (element,) = BeautifulSoup(live._repr_html_(), "html.parser").find_all(recursive=False)
    return element, json.loads(element["data-spec"])


@pytest.mark.parametrize("language", ["zh", "en"])
def test_each_is_an_element_round_a_labelled_drawing(language: str) -> None:
    p, q = torch.tensor([0.25, 0.75]), torch.tensor([0.5, 0.5])
    figures = {
        "stepper": stepper(),
        "sampling": sampling_demo(p, q, language=language),
        "explorer": speedup_explorer([0.8, 0.5], 0.1, 0.05, [(1, 1.3, 'a "quoted" <label>')], language),
    }
    for name, live in figures.items():
        element, spec = parts(live)
        assert element.name == f"mtp-{name}" and element["data-live"] == name and element.has_attr("data-pagefind-ignore")
        assert element.select_one(".mtp-figure > svg[role=img][aria-label]")
    assert spec == {"survival": [0.8, 0.5], "draft": 0.1, "verify": 0.05, "measured": [{"k": 1, "speedup": 1.3, "label": 'a "quoted" <label>'}]}


def test_the_stepper_begins_with_the_round_that_it_was_given() -> None:
    _, spec = parts(stepper())
    assert spec["tokens"] == TOKENS and spec["vocabulary"] == [7, 10, 20, 30, 31]
    assert spec["p"] == [0.8, 0.8, 0.2, 0.2] and spec["q"] == [0.5] * 4, "as they were written, not as float32 has them"
    places = [spec["vocabulary"].index(token) for token in TOKENS]
    q, p = full_rows(places, spec["q"], 5, falling=False), full_rows(places, spec["p"], 5, falling=True)
    sim = MultiTokenDecoderSim(spec["budget"], spec["ratio"])
    again = trace_round(sim, q, p, places, spec["kv_length"])
    given = trace_round(sim, rows([0.5] * 4), rows([0.8, 0.8, 0.2, 0.2]), TOKENS, 3)
    for one, other in zip(again.states, given.states, strict=True):
        assert [TOKENS[token - 1] for token in one["accepted_tokens"]] == other["accepted_tokens"]
        for key in ("kind", "rejected_at", "kv_length", "kv_written", "reason", "next"):
            assert one.get(key) == other.get(key)


def test_rows_are_distributions_with_the_said_entry() -> None:
    made = full_rows([0, 2, 4], [0.5, 0.0, 1.0], 5, falling=True)
    assert made[0].tolist() == pytest.approx([0.5, 0.2, 0.15, 0.1, 0.05])
    assert made[1].tolist() == pytest.approx([0.4, 0.3, 0, 0.2, 0.1])
    assert made[2].tolist() == [0, 0, 0, 0, 1]
    assert full_rows([1], [0.0], 3, falling=False)[0].tolist() == pytest.approx([1 / 3, 0, 2 / 3])
    assert last_row(3)[0].tolist() == pytest.approx([1 / 2, 1 / 3, 1 / 6])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: round_stepper(MultiTokenDecoderSim(), torch.ones(2, 3), torch.ones(2, 3), [0, 1]), "draft_tokens must hold 3 to 6 tokens, not 2"),
        (lambda: speedup_explorer([], 0.1, 0.1), "survival must hold 1 to 8 positions, not 0"),
        (lambda: speedup_explorer([0.5] * 9, 0.1, 0.1), "survival must hold 1 to 8 positions, not 9"),
        (lambda: speedup_explorer([0.5, 0.6], 0.1, 0.1), "survival[1]=0.6"),
        (lambda: speedup_explorer([0.5], -0.1, 0.1), "draft must be at least 0"),
        (lambda: sampling_demo(torch.ones(3) / 3, torch.ones(2) / 2), "q has 2 entries, not the 3 of p"),
        (lambda: speedup_explorer([0.5], 0.1, 0.1, language="fr"), "language must be one of"),
    ],
)
def test_bad_input_is_named(call: Any, words: str) -> None:
    with pytest.raises(ValueError) as error:
        call()
    assert words in str(error.value)
