"""Drawings say what the state says, in the page's language, in well-formed SVG whose type stays readable on a phone."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
from mtp.figures import WIDTH, draw_rounds, draw_state
from mtp.simulator import MultiTokenDecoderSim
from mtp.trace import Trace, trace_round

Q = [[0.5]] * 4
SVG = "{http://www.w3.org/2000/svg}"


def trace(p: list[float], budget: int = 3) -> Trace:
    return trace_round(MultiTokenDecoderSim(budget, 0.6), Q, [[value] for value in p], [0, 0, 0, 0], kv_length=2)


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("step", range(5))
def test_every_state_is_well_formed_labelled_and_readable(language: str, step: int) -> None:
    svg = draw_state(trace([0.8, 0.8, 0.2, 0.2]), step, language).svg
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img" and root.get("aria-label") and root.get("lang") == {"zh": "zh-CN", "en": "en"}[language]
    smallest = min(int(element.get("font-size", "0")) for element in root.iter(f"{SVG}text"))
    # A phone of 320 px leaves about 288 px for the drawing.
    assert smallest * 288 / WIDTH >= 10
    assert not re.search(r"#(000|fff)", svg), "black or white would vanish in one of the themes"


def test_the_state_is_told_without_colour() -> None:
    words = texts(draw_state(trace([0.8, 0.8, 0.2, 0.2]), 3, "en").svg)
    assert words.count("✓ accepted") == 2 and words.count("✗ rejected") == 1
    assert "0.2" in words and "0.8" in words
    assert any("valid length 4" in word for word in words)
    assert "closed" in texts(draw_state(trace([0.2, 0.8, 0.8, 0.8], 4), 1, "en").svg)


def test_the_cut_candidate_is_shown_in_the_proposal_only() -> None:
    assert "预算外" in texts(draw_state(trace([0.8] * 4), 0, "zh").svg)
    assert "预算外" not in texts(draw_state(trace([0.8] * 4), 1, "zh").svg)


def test_chinese_and_english_draw_the_same_shapes() -> None:
    for step in range(5):
        drawings = [draw_state(trace([0.8, 0.8, 0.2, 0.2]), step, language).svg for language in ("zh", "en")]
        shapes = [re.findall(r"<(?:rect|line)[^>]*>", drawing) for drawing in drawings]
        assert shapes[0] == shapes[1]


def test_rounds_below_each_other() -> None:
    records = [MultiTokenDecoderSim(4, 0.6).decode(Q, [[value] for value in p], [0] * 4) for p in ([0.8] * 4, [0.1] * 4)]
    words = texts(draw_rounds(records, ["good & true", "bad"], "en").svg)
    assert "good & true" in words and words.count("✓ accepted") == 4 and words.count("closed") == 3
    with pytest.raises(ValueError, match="labels"):
        draw_rounds(records, ["one"], "en")


@pytest.mark.parametrize("step", [-1, 5])
def test_a_step_that_is_not_there_is_named(step: int) -> None:
    with pytest.raises(ValueError, match="step"):
        draw_state(trace([0.8, 0.8, 0.2, 0.2]), step, "en")


def test_no_text_leaves_the_drawing() -> None:
    """Judged by a generous width of each character, for six candidates as well."""
    long = trace_round(MultiTokenDecoderSim(6, 0.6), [[0.333]] * 6, [[0.457]] * 5 + [[0.001]], [0] * 6, kv_length=12)
    for language in ("zh", "en"):
        for step in range(len(long)):
            root = ElementTree.fromstring(draw_state(long, step, language).svg)
            for element in root.iter(f"{SVG}text"):
                size, text = int(element.get("font-size", "0")), element.text or ""
                width = sum(size * (1.0 if ord(char) > 0x2E80 else 0.6) for char in text)
                left = float(element.get("x", "0")) - (width / 2 if element.get("text-anchor") == "middle" else 0)
                assert left >= -2 and left + width <= WIDTH + 2, text
