"""The set-up says what is wrong and what to do; it installs nothing here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, copy_tree

sys.path.insert(0, str(ROOT / "code"))
from book import bootstrap  # noqa: E402


@pytest.mark.parametrize("version", [(3, 9, 18), (3, 14, 0), (2, 7, 18)])
def test_a_wrong_python_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch, version: tuple[int, int, int]) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    monkeypatch.setattr(sys, "version", ".".join(map(str, version)) + " (main)")
    with pytest.raises(SystemExit) as stopped:
        bootstrap.check_python()
    assert ".".join(map(str, version)) in str(stopped.value) and "PYTHON=" in str(stopped.value)


@pytest.mark.parametrize("version", [(3, 10, 0), (3, 13, 9)])
def test_supported_pythons_pass(monkeypatch: pytest.MonkeyPatch, version: tuple[int, int, int]) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    bootstrap.check_python()


def test_node_is_installed_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: f"/usr/bin/{name}")
    with_node = bootstrap.fingerprint()
    assert bootstrap.extras() == "book,test"
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: None if name == "npm" else f"/usr/bin/{name}")
    assert bootstrap.extras() == "book,test,node"
    # An environment that was made while there was a Node is made again.
    assert bootstrap.fingerprint() != with_node


def test_an_environment_that_is_up_to_date_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    root = copy_tree(tmp_path / "book")
    monkeypatch.setattr(bootstrap, "ROOT", root)
    python = bootstrap.venv_python(root / ".venv")
    python.parent.mkdir(parents=True)
    python.touch()
    stamp = root / ".venv" / "book-environment"
    stamp.write_text(bootstrap.fingerprint(), encoding="utf-8")
    made: list[Path] = []
    monkeypatch.setattr(bootstrap, "make_environment", made.append)
    bootstrap.main()
    assert made == []
    with (root / "constraints.txt").open("a", encoding="utf-8") as file:
        file.write("# another version\n")
    bootstrap.main()
    assert made == [root / ".venv"] and stamp.read_text(encoding="utf-8") == bootstrap.fingerprint()


def test_without_a_network_the_set_up_says_so_and_is_not_taken_for_done(tmp_path: Path) -> None:
    root = copy_tree(tmp_path / "book")
    # Nothing listens on this port, so every download is refused at once; the user's own pip settings are set aside.
    closed = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1"}
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    for _ in range(2):
        command = [sys.executable, str(root / "code" / "book" / "bootstrap.py")]
        done = subprocess.run(command, env={**clean, **closed}, capture_output=True, text=True, encoding="utf-8", errors="replace")
        assert done.returncode == 1
        assert "network" in done.stderr and "Traceback" not in done.stderr.splitlines()[-1]
    assert not (root / ".venv" / "book-environment").exists()
