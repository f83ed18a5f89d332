"""The pages on the real model: exercise and solution hang together; the watched round keeps the contract of the caches; their drawings."""

from __future__ import annotations

import ast
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from mtp.bars import draw_shares
from mtp.cache_figure import draw_caches
from mtp.cache_watch import MOMENTS, CacheRound, watch_rounds
from mtp.decoding import Target, decode_mtp
from mtp.exercise_cache import check_end_of_round
from mtp.figures import MARGIN, WIDTH
from skeletons import class_cell

SVG = "{http://www.w3.org/2000/svg}"
LANGUAGES = ("zh", "en")
PROMPTS = {"zh": "春风", "en": "And it came to pass"}


@pytest.fixture(scope="module", params=LANGUAGES)
def watched(request: pytest.FixtureRequest) -> tuple[str, Target, list[CacheRound]]:
    torch.set_num_threads(1)
    target = Target.load(request.param)
    return request.param, target, watch_rounds(target, PROMPTS[request.param], 3, 12)


def end_of_round(root: Path, language: str, page: str) -> tuple[ast.FunctionDef, Callable[..., torch.Tensor]]:
    source = class_cell(root / "chapters" / language / f"{page}.md", "end_of_round")
    scope: dict[str, Callable[..., torch.Tensor]] = {"torch": torch}  # type: ignore[dict-item]
    exec(compile(source, "<page>", "exec"), scope)
    return next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)), scope["end_of_round"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_skeleton_has_a_gap_and_the_solution_passes(root: Path, language: str) -> None:
    skeleton, empty = end_of_round(root, language, "native_model")
    solution, filled = end_of_round(root, language, "native_model_solution")
    assert ast.dump(skeleton.args) == ast.dump(solution.args)
    report = check_end_of_round(empty, language)
    assert set(report.results.values()) == {"todo"} and report.todos == ["TODO 1"]
    assert check_end_of_round(filled, language).passed


def test_a_watched_round_keeps_the_contract(watched: tuple[str, Target, list[CacheRound]]) -> None:
    _, _, rounds = watched
    assert len(rounds) > 5 and any(0 < found.accepted < 3 for found in rounds), "the page draws a partial acceptance"
    for found in rounds:
        start, drafted, verified, committed = found.moments
        n, k, a = start.text, len(found.candidates), found.accepted
        assert tuple(moment.name for moment in found.moments) == MOMENTS
        assert (start.trunk, drafted.trunk, verified.trunk, committed.trunk) == (n - 1, n - 1, n + k, n + a)
        assert (drafted.draft, verified.draft, committed.draft) == (n - 1, n - 1, n - 1)
        assert (drafted.pending, committed.pending, committed.text) == (0, a + 1, n + a + 1)
        assert start.draft + start.pending == n - 1
        assert verified.trunk_written >= verified.trunk and drafted.draft_written >= drafted.draft + k - 1


def test_watched_rounds_are_the_decoders_rounds(watched: tuple[str, Target, list[CacheRound]]) -> None:
    language, target, rounds = watched
    real = decode_mtp(target, [PROMPTS[language]], k=3, max_new_tokens=49)[0]
    assert [found.accepted for found in rounds] == [record.accepted for record in real.rounds[: len(rounds)]]
    assert watch_rounds(target, PROMPTS[language], 3, 2) == rounds[:2]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_caches_are_drawn_as_they_are(watched: tuple[str, Target, list[CacheRound]], language: str) -> None:
    found = watched[2][-1]
    root = ElementTree.fromstring(draw_caches(found, language).svg)
    label = root.get("aria-label", "")
    assert all(f" {moment.trunk}" in label and str(moment.draft) in label for moment in found.moments)
    texts = [element.text for element in root.iter(f"{SVG}text")]
    trunk, draft = {"zh": ("主干", "草稿"), "en": ("trunk", "draft")}[language]
    assert [f"{trunk} {moment.trunk}" for moment in found.moments] == [text for text in texts if text.startswith(f"{trunk} ")]
    assert [f"{draft} {moment.draft}" for moment in found.moments] == [text for text in texts if text.startswith(f"{draft} ")]
    assert all(float(cell.get("x")) + float(cell.get("width")) <= WIDTH for cell in root.iter(f"{SVG}rect"))
    first = max(min(found.moments[0].trunk, found.moments[0].draft) - 4, 0)
    end = max(max(moment.trunk_written, moment.draft_written) for moment in found.moments)
    assert len(list(root.iter(f"{SVG}rect"))) == 8 * (end - first) + 3  # two strips a moment, and the legend


def test_shares_fill_one_scale() -> None:
    rows = {"a": {"x": 1.0, "y": 3.0}, "b & c": {"x": 0.5, "y": 0.0}}
    root = ElementTree.fromstring(draw_shares(rows, "ms", "en").svg)
    widths = [float(bar.get("width")) for bar in root.iter(f"{SVG}rect")][:4]
    whole = WIDTH - 2 * MARGIN
    assert widths == pytest.approx([whole / 4, whole * 3 / 4, whole / 8, 0], abs=0.1)
    assert {"4.00 ms", "0.50 ms", "b & c", "x", "y"} <= {element.text for element in root.iter(f"{SVG}text")}
    assert "b & c: x 0.50 ms, y 0.00 ms" in root.get("aria-label", "")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({}, "at least one bar"),
        ({"a": {}}, "1 to 3 parts, not 0"),
        ({"a": dict.fromkeys("wxyz", 1.0)}, "not 4"),
        ({"a": {"x": 1.0}, "b": {"y": 1.0}}, "rows['b'] has the parts ['y']"),
        ({"a": {"x": -1.0}}, "rows['a']['x'] must be at least 0 and finite, not -1.0"),
        ({"a": {"x": float("nan")}}, "not nan"),
        ({"a": {"x": 0.0}}, "above 0"),
    ],
)
def test_shares_that_cannot_be_drawn_are_named(rows: dict[str, dict[str, float]], words: str) -> None:
    with pytest.raises(ValueError) as error:
        draw_shares(rows, "ms", "en")
    assert words in str(error.value)
