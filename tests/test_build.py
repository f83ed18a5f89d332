"""The build refuses what is wrong, executes again what is stale, and keeps the last good site."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from conftest import copy_tree, run_book

PAGE = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

(probe)=
# {title}

{prose}

```{{code-cell}} ipython3
import time
from mtp.probe import VALUE

print("value", VALUE, "run", time.time_ns())
```
"""


@pytest.fixture
def small_book(tmp_path: Path) -> Path:
    """A copy of this repository whose chapters are a home page and one page with a cell."""
    root = copy_tree(tmp_path / "book")
    for language in ("zh", "en"):
        folder = root / "chapters" / language
        for page in folder.glob("*.md"):
            page.unlink()
        (folder / "index.md").write_text("(home)=\n# Home\n\nSee {ref}`probe`.\n", encoding="utf-8")
        write_probe(root, language)
    (root / "_toc.yml").write_text("format: jb-book\nroot: index\nchapters:\n  - file: probe\n", encoding="utf-8")
    (root / "code" / "mtp" / "probe.py").write_text("VALUE = 1\n", encoding="utf-8")
    return root


def write_probe(root: Path, language: str, prose: str = "Text.", title: str = "Probe") -> None:
    (root / "chapters" / language / "probe.md").write_text(PAGE.format(title=title, prose=prose), encoding="utf-8")


def outputs(root: Path, language: str) -> tuple[str, str]:
    """Return the value that the page's cell printed, and the time at which it ran."""
    html = (root / "_build" / "site" / language / "probe.html").read_text(encoding="utf-8")
    found = re.search(r"value (\d+) run (\d+)", html)
    assert found, "the page shows no output"
    return found[1], found[2]


def test_prose_is_rendered_anew_without_running_the_cells(small_book: Path) -> None:
    first = run_book(small_book, "build", "--hurry")
    assert first.returncode == 0, first.stdout + first.stderr
    before = outputs(small_book, "en")
    write_probe(small_book, "en", prose="Other words, *quietly* changed.")
    assert run_book(small_book, "build", "--hurry").returncode == 0
    assert "quietly" in (small_book / "_build/site/en/probe.html").read_text(encoding="utf-8")
    assert outputs(small_book, "en") == before


def test_a_change_in_the_package_runs_the_cells_again(small_book: Path) -> None:
    assert run_book(small_book, "build", "--hurry").returncode == 0
    (small_book / "code" / "mtp" / "probe.py").write_text("VALUE = 2\n", encoding="utf-8")
    assert run_book(small_book, "build", "--hurry").returncode == 0
    assert [outputs(small_book, language)[0] for language in ("zh", "en")] == ["2", "2"]


def test_a_cell_that_raises_fails_the_build_each_time_and_keeps_the_last_site(small_book: Path) -> None:
    assert run_book(small_book, "build", "--hurry").returncode == 0
    before = outputs(small_book, "zh")
    page = small_book / "chapters" / "zh" / "probe.md"
    page.write_text(page.read_text(encoding="utf-8").replace("print(", "raise RuntimeError('broken cell')\nprint("), encoding="utf-8")
    for _ in range(2):
        done = run_book(small_book, "build", "--hurry")
        assert done.returncode == 1
        assert "broken cell" in done.stdout and "zh" in done.stderr
    assert outputs(small_book, "zh") == before


def test_a_missing_page_is_named(small_book: Path) -> None:
    (small_book / "chapters" / "en" / "probe.md").unlink()
    done = run_book(small_book, "build", "--hurry")
    assert done.returncode == 1
    assert "chapters/en/probe.md" in done.stderr


def test_an_undefined_label_fails_the_build_each_time(small_book: Path) -> None:
    write_probe(small_book, "en", prose="See {ref}`nowhere-at-all`.")
    for _ in range(2):
        done = run_book(small_book, "build", "--hurry")
        assert done.returncode == 1
        assert "nowhere-at-all" in done.stdout


def test_a_page_that_is_gone_leaves_the_site(small_book: Path) -> None:
    assert run_book(small_book, "build", "--hurry").returncode == 0
    (small_book / "_toc.yml").write_text("format: jb-book\nroot: index\n", encoding="utf-8")
    for language in ("zh", "en"):
        (small_book / "chapters" / language / "probe.md").unlink()
        (small_book / "chapters" / language / "index.md").write_text("(home)=\n# Home\n", encoding="utf-8")
    assert run_book(small_book, "build", "--hurry").returncode == 0
    assert not (small_book / "_build/site/en/probe.html").exists()


def test_clean_removes_what_was_built(small_book: Path) -> None:
    (small_book / "_build" / "site").mkdir(parents=True)
    assert run_book(small_book, "clean").returncode == 0
    assert not (small_book / "_build").exists()


def test_outside_a_book_the_command_says_so(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parents[1] / "code", tmp_path / "code", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    done = run_book(tmp_path, "check")
    assert done.returncode == 1
    assert "_config.yml" in done.stderr and "Traceback" not in done.stderr
