"""Binder's environment holds all that launched cells import, at the versions that the book is built with."""

from __future__ import annotations

import re

from conftest import ROOT

PIN = re.compile(r"^([\w-]+)==(\S+)$", re.MULTILINE)


def pins(name: str) -> dict[str, str]:
    return dict(PIN.findall((ROOT / name).read_text(encoding="utf-8")))


def dependencies() -> set[str]:
    """Names of what the package requires; read without a TOML reader, which Python 3.10 lacks."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(r"^dependencies = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    assert listed
    return set(re.findall(r'"([\w-]+)', listed.group(1)))


def test_every_dependency_of_the_package_is_pinned() -> None:
    # postBuild installs the wheel without dependencies, so whatever is missing here is missing on Binder.
    assert "torch" in dependencies()
    assert dependencies() <= set(pins("binder/requirements.txt"))


def test_its_versions_are_those_of_the_book() -> None:
    book = pins("constraints.txt")
    binder = pins("binder/requirements.txt")
    shared = set(binder) & set(book)
    assert {"torch", "jupytext"} <= shared
    assert {name: binder[name] for name in shared} == {name: book[name] for name in shared}


def test_it_holds_no_tools_to_build_the_book_with() -> None:
    assert not {"jupyter-book", "sphinx", "myst-nb", "pytest", "playwright"} & set(pins("binder/requirements.txt"))
