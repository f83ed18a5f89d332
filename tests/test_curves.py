"""Curves are well-formed, stay inside their axes, are told apart without colour, and refuse what cannot be drawn."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest
from mtp.curves import HEIGHT, LEFT, TOP, draw_curves
from mtp.figures import WIDTH

SVG = "{http://www.w3.org/2000/svg}"
CURVES = {"a & b": [(0.0, 0.0), (1.5, 0.3)], "c": [(2.0, 0.5)], "d": [(0.1, 0.01), (0.2, 0.02)]}


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_drawing_is_well_formed_and_labelled(language: str) -> None:
    root = ElementTree.fromstring(draw_curves(CURVES, "tokens", "error", language).svg)
    assert root.get("role") == "img" and "a & b" in root.get("aria-label", "")
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert {"a & b", "c", "d", "tokens", "error"} <= set(texts)
    for circle in root.iter(f"{SVG}circle"):
        assert LEFT - 0.1 <= float(circle.get("cx", "0")) <= WIDTH and TOP - 0.1 <= float(circle.get("cy", "0")) <= TOP + HEIGHT + 0.1
    dashes = [line.get("stroke-dasharray") for line in root.iter(f"{SVG}polyline")]
    assert len(set(dashes)) == len(CURVES)


def test_points_stand_where_their_coordinates_say() -> None:
    root = ElementTree.fromstring(draw_curves({"x": [(0.0, 0.0), (1.0, 0.5), (2.0, 1.0)]}, "x", "y", "en").svg)
    spots = [(float(c.get("cx", "0")), float(c.get("cy", "0"))) for c in root.iter(f"{SVG}circle")]
    assert spots[0] == (LEFT, TOP + HEIGHT) and spots[2][1] == TOP
    assert spots[1] == pytest.approx(tuple((a + b) / 2 for a, b in zip(spots[0], spots[2])))


def test_points_need_not_be_marked() -> None:
    root = ElementTree.fromstring(draw_curves(CURVES, "x", "y", "en", dots=False).svg)
    assert not list(root.iter(f"{SVG}circle")) and len(list(root.iter(f"{SVG}polyline"))) == len(CURVES)


@pytest.mark.parametrize("end, last", [(0.3, "0.4"), (2.0, "2"), (2.0000000001, "2"), (35.0, "40"), (0.0, "1")])
def test_axes_end_at_round_numbers(end: float, last: str) -> None:
    root = ElementTree.fromstring(draw_curves({"x": [(end, end)]}, "x", "y", "en").svg)
    assert [element.text for element in root.iter(f"{SVG}text")].count(last) == 2


@pytest.mark.parametrize("end", [4.0, 1000.0, 40000.0])
def test_numbers_under_the_axis_stay_inside(end: float) -> None:
    """A digit of 14 pixels height is at most 9 wide."""
    root = ElementTree.fromstring(draw_curves({"x": [(end, 1.0)]}, "x", "y", "en").svg)
    numbers = [element for element in root.iter(f"{SVG}text") if element.get("text-anchor") == "middle"]
    assert len(numbers) == 5
    assert all(float(element.get("x", "0")) + 4.5 * len(element.text or "") <= WIDTH for element in numbers)


@pytest.mark.parametrize("curves", [{}, {"a": []}, {"a": [(-1.0, 0.0)]}, {name: [(1.0, 1.0)] for name in "abcde"}])
def test_what_cannot_be_drawn_is_named(curves: dict) -> None:
    with pytest.raises(ValueError, match="curves"):
        draw_curves(curves, "x", "y", "en")
