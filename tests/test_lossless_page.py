"""The exercises on the page `lossless` and their solutions hang together; the page's experiment says what it claims."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from mtp.checking import Report
from mtp.exercise_lossless import check_one_hot, check_residual
from skeletons import class_cell, without_wording

EXERCISES: list[tuple[str, Callable[..., Report]]] = [("residual_distribution", check_residual), ("verify_one_hot", check_one_hot)]
LANGUAGES = ("zh", "en")


def page(root: Path, language: str, name: str) -> Path:
    return root / "chapters" / language / f"{name}.md"


def function(source: str, name: str) -> Callable[..., object]:
    scope: dict[str, Callable[..., object]] = {}
    exec(compile(source, "<page>", "exec"), scope)
    return scope[name]


def head(source: str, name: str) -> str:
    """The definition without its body."""
    definition = next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == name)
    definition.body = [ast.Pass()]
    return ast.dump(definition)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "check"), EXERCISES)
def test_the_skeleton_is_the_solution_without_its_body_and_reports_its_gap(root: Path, language: str, name: str, check: Callable[..., Report]) -> None:
    skeleton = class_cell(page(root, language, "lossless"), name)
    assert head(skeleton, name) == head(class_cell(page(root, language, "lossless_solution"), name), name)
    report = check(function(skeleton, name), language)
    assert set(report.results.values()) == {"todo"} and report.todos == ["TODO 1"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("name", "check"), EXERCISES)
def test_the_solution_passes(root: Path, language: str, name: str, check: Callable[..., Report]) -> None:
    report = check(function(class_cell(page(root, language, "lossless_solution"), name), name), language)
    assert report.passed, str(report)


@pytest.mark.parametrize(("name", "check"), EXERCISES)
def test_both_languages_have_the_same_code(root: Path, name: str, check: Callable[..., Report]) -> None:
    for kind in ("lossless", "lossless_solution"):
        trees = []
        for language in LANGUAGES:
            source = without_wording(class_cell(page(root, language, kind), name))
            definition = ast.parse(source).body[0]
            definition.body = definition.body[1:]  # the docstring
            for node in ast.walk(definition):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    node.value = ""
            trees.append(ast.dump(definition))
        assert trees[0] == trees[1]
