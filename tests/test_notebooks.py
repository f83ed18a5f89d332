"""The notebooks that learners launch: complete, in plain markdown, and running away from the repository."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import requires
from pathlib import Path

import jupytext
import nbformat
import pytest
from book.launch import launches
from book.notebooks import install_source, write_notebooks
from book.tree import LANGUAGES, Publication, Tree
from book.wheel import build_wheel, wheel_name
from conftest import ROOT
from skeletons import class_cell

TREE = Tree(ROOT)
# The pages with cells. A page that gains or loses its cells is to be noticed.
EXPECTED = {"verification_state", "prefix_acceptance", "exercise", "exercise_solution", "lossless", "lossless_solution", "native_model", "native_model_solution", "effective_progress", "benchmark"}
NAME = "MultiTokenDecoderSim"


def ipynb(site: Path, language: str, page: str) -> Path:
    return site / language / "notebooks" / f"{page}.ipynb"


def pairs() -> list[tuple[str, str]]:
    return [(language, page) for language in LANGUAGES for page in TREE.notebook_pages]


def test_every_page_with_cells_is_a_notebook_in_both_languages(site: Path) -> None:
    assert EXPECTED <= set(TREE.notebook_pages)
    for language in LANGUAGES:
        written = {path.stem for path in (site / language / "notebooks").glob("*.ipynb")}
        assert written == {path.stem for path in (site / language / "notebooks").glob("*.md")} == set(TREE.notebook_pages)


@pytest.mark.parametrize("language, page", pairs())
def test_the_markdown_is_plain(site: Path, language: str, page: str) -> None:
    notebook = nbformat.read(ipynb(site, language, page), as_version=4)
    nbformat.validate(notebook)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    for syntax in (r"\{[\w:]+\}`", r"^:::", r"^```\{", r"^\([\w-]+\)=$", r"^:\w+: ", r"\]\([\w-]+\.md", r"var\(--", "myst"):
        assert not re.search(syntax, text, re.MULTILINE), syntax
    # $$ and fences stand by themselves, or they are not rendered.
    assert not re.search(r"[^\n]\n```\w|[^\n$]\n\$\$\n[^\n]*=", text)


@pytest.mark.parametrize("language, page", pairs())
def test_cells_are_those_of_the_page_after_an_installing_one(site: Path, language: str, page: str) -> None:
    notebook = nbformat.read(ipynb(site, language, page), as_version=4)
    source = jupytext.read(TREE.page(language, page))
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.source for cell in code[1:]] == [cell.source for cell in source.cells if cell.cell_type == "code"]
    assert notebook.cells[0] is code[0] and 'find_spec("mtp")' in code[0].source
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


def test_writing_them_again_gives_the_same_bytes(site: Path, tmp_path: Path) -> None:
    for path in write_notebooks(TREE, tmp_path):
        published = site / path.relative_to(tmp_path)
        assert path.read_bytes() == published.read_bytes(), path.name


@pytest.mark.parametrize("language, page", pairs())
def test_jupytext_opens_the_page_itself_as_a_notebook(language: str, page: str) -> None:
    path = TREE.page(language, page)
    notebook = jupytext.read(path)
    assert notebook.metadata["kernelspec"]["name"] == "python3"
    assert sum(cell.cell_type == "code" for cell in notebook.cells) == path.read_text(encoding="utf-8").count("```{code-cell}")
    again = jupytext.reads(jupytext.writes(notebook, "md:myst"), "md:myst")
    assert [cell.source for cell in again.cells] == [cell.source for cell in notebook.cells]


def run_nbmake(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Execute the notebooks in `folder`, away from the repository and with nothing but the installed package."""
    # What builds the book is missing where notebooks are launched; Python runs this file at its start.
    (folder / "without").mkdir()
    (folder / "without" / "sitecustomize.py").write_text("import sys\nsys.modules['myst_nb'] = sys.modules['book'] = None\n", encoding="utf-8")
    env = {key: value for key, value in os.environ.items() if key != "CI"} | {"PYTHONPATH": str(folder / "without")}
    command = [sys.executable, "-m", "pytest", "--nbmake", "--nbmake-timeout=300", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, env={**env, "PYTHONUTF8": "1"}, capture_output=True, text=True, encoding="utf-8")


def copy_notebooks(site: Path, folder: Path) -> int:
    for language, page in pairs():
        (folder / f"{language}_{page}.ipynb").write_bytes(ipynb(site, language, page).read_bytes())
    return len(list(folder.glob("*.ipynb")))


def test_nbmake_executes_every_notebook_elsewhere(site: Path, tmp_path: Path) -> None:
    assert copy_notebooks(site, tmp_path) == 2 * len(TREE.notebook_pages)
    done = run_nbmake(tmp_path)
    assert f"{2 * len(TREE.notebook_pages)} passed" in done.stdout, done.stdout


def test_nbmake_notices_a_cell_that_raises(site: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(ipynb(site, "en", "verification_state"), as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell("raise RuntimeError('broken cell')"))
    nbformat.write(notebook, tmp_path / "broken.ipynb")
    done = run_nbmake(tmp_path)
    assert done.returncode == 1 and "broken cell" in done.stdout


WRONG_GAP = "return bool(target_prob > draft_prob * self.min_accept_ratio)"
RIGHT_GAP = "return bool(target_prob >= draft_prob * self.min_accept_ratio)"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("version, status, word", [("skeleton", "todo", "TODO 3"), ("solution", "passed", ""), ("wrong", "failed", "")])
def test_the_exercise_notebook_as_shipped_solved_and_wrong(site: Path, tmp_path: Path, language: str, version: str, status: str, word: str) -> None:
    notebook = nbformat.read(ipynb(site, language, "exercise"), as_version=4)
    cell = next(cell for cell in notebook.cells if f"class {NAME}" in cell.source)
    if version != "skeleton":
        cell.source = class_cell(TREE.page(language, "exercise_solution"), NAME)
    if version == "wrong":
        assert RIGHT_GAP in cell.source
        cell.source = cell.source.replace(RIGHT_GAP, WRONG_GAP)
    notebook.cells.append(nbformat.v4.new_code_cell(f"print('RESULTS', check({NAME}).results, check({NAME}).todos)"))
    nbformat.write(notebook, tmp_path / "exercise.ipynb")
    done = run_nbmake(tmp_path, "--overwrite")
    assert done.returncode == 0, done.stdout
    outputs = [output for cell in nbformat.read(tmp_path / "exercise.ipynb", as_version=4).cells for output in cell.get("outputs", [])]
    printed = next(output.text for output in outputs if "RESULTS" in output.get("text", ""))
    statuses = re.findall(r"'(passed|failed|todo)'", printed)
    expected = {"skeleton": {"todo"}, "solution": {"passed"}, "wrong": {"passed", "failed"}}[version]
    assert set(statuses) == expected and status in statuses and word in printed
    tables = [output.data["text/html"] for output in outputs if "mtp-report" in str(output.get("data", {}).get("text/html", ""))]
    assert tables, "the report is not shown as a table"


def test_the_install_cell_takes_the_wheel_then_the_repository_then_says_what_to_do() -> None:
    site_wheel = install_source("en", Publication("me/book", "main", "gh-pages", "https://me.github.io/book/"), TREE)
    assert f"https://me.github.io/book/wheels/{wheel_name(TREE)}" in site_wheel
    assert "git+https://github.com/me/book@main" in install_source("zh", Publication("me/book", "main", "gh-pages", ""), TREE)
    nowhere = install_source("zh", Publication("", "main", "gh-pages", ""), TREE)
    assert "ModuleNotFoundError" in nowhere and "pip install ." in nowhere
    for source in (site_wheel, nowhere):
        exec(source, {})  # mtp is here, so nothing happens


def test_the_wheel_holds_the_package_alone_and_is_reproducible(site: Path, tmp_path: Path) -> None:
    again = build_wheel(TREE, tmp_path)
    assert (site / "wheels" / wheel_name(TREE)).is_file()
    once_more = build_wheel(TREE, tmp_path / "once more")
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in (again, once_more)}
    assert len(digests) == 1
    names = zipfile.ZipFile(again).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"mtp"}
    sources = {path.relative_to(ROOT / "code").as_posix() for path in (ROOT / "code" / "mtp").glob("*.py")}
    assert sources <= set(names)
    assert not (ROOT / "build").exists(), "building left a folder in the repository"


@pytest.mark.parametrize("repository, branch", [("datawhalechina/book", "gh-pages"), ("somebody/fork-of-it", "preview")])
def test_each_launch_address_opens_a_file_that_is_published(site: Path, repository: str, branch: str) -> None:
    publication = Publication(repository, "main", branch, "")
    for language, page in pairs():
        found = {launch.key: launch for launch in launches(publication, language, page)}
        assert list(found) == ["binder", "modelscope", "colab", "ipynb", "md"]
        for launch in found.values():
            assert (site / launch.file).is_file(), launch
        path = f"{language}/notebooks/{page}.ipynb"
        assert found["colab"].url == f"https://colab.research.google.com/github/{repository}/blob/{branch}/{path}"
        assert found["modelscope"].url == f"https://modelscope.cn/notebook/share/github/{repository}/blob/{branch}/{path}"
        assert found["binder"].url == f"https://mybinder.org/v2/gh/{repository}/{branch}?urlpath=lab/tree/{path}"
    assert (site / "binder" / "requirements.txt").is_file() and (site / "binder" / "postBuild").is_file()


def test_without_a_public_address_only_the_downloads_remain() -> None:
    found = launches(Publication("", "main", "gh-pages", ""), "zh", "exercise")
    assert [launch.key for launch in found] == ["ipynb", "md"]
    assert found[0].url == "notebooks/exercise.ipynb"


def test_a_fork_overrides_the_addresses_by_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOK_REPOSITORY", "somebody/fork")
    monkeypatch.setenv("BOOK_SITE_BRANCH", "preview")
    monkeypatch.setenv("BOOK_BASEURL", "https://somebody.github.io/fork")
    publication = Tree(ROOT).publication
    assert (publication.repository, publication.site_branch, publication.baseurl) == ("somebody/fork", "preview", "https://somebody.github.io/fork/")


@pytest.mark.parametrize("present", [{"torch"}, {"torch", "safetensors", "tokenizers", "tqdm"}, set(), {"mtp"}])
def test_the_install_cell_never_replaces_a_torch_that_is_there(monkeypatch: pytest.MonkeyPatch, present: set[str]) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object() if name in present else None)
    monkeypatch.setattr("subprocess.check_call", lambda command: calls.append(command[5:]))
    exec(install_source("en", Publication("me/book", "main", "gh-pages", "https://me.github.io/book/"), TREE), {})
    wheel = f"https://me.github.io/book/wheels/{wheel_name(TREE)}"
    if "mtp" in present:
        assert calls == []
    elif "torch" in present:
        needed = {re.split("[<>=]", name)[0] for name in requires("mtp-book") or [] if "extra ==" not in name} - present
        assert calls == [sorted(needed)] * bool(needed) + [["--no-deps", wheel]]
    else:
        assert calls == [[wheel]]
