"""The published notebooks in a real JupyterLab with the environment of `binder/`: opened, run to the end, and looked at.

Takes minutes and an environment of its own, so it runs only when asked for: `make test-launch`. `BOOK_BINDER_VENV` names an environment
made from `binder/requirements.txt` that is there already.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from book.bootstrap import venv_python
from book.notebooks import write_notebooks
from book.tree import LANGUAGES, Tree
from conftest import ROOT
from playwright.sync_api import TimeoutError

pytestmark = pytest.mark.launch
TREE = Tree(ROOT)
IDLE = ".jp-Notebook-ExecutionIndicator[data-status='idle']"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of an environment made from `binder/`, without the package: the first notebook has to install it."""
    named = os.environ.get("BOOK_BINDER_VENV")
    venv = Path(named) if named else tmp_path_factory.mktemp("binder") / "venv"
    python = venv_python(venv)
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", "-r", str(ROOT / "binder" / "requirements.txt")], check=True)
    subprocess.run([str(python), "-m", "pip", "uninstall", "-q", "-y", "mtp-book"], check=True)
    return python


@pytest.fixture(scope="module")
def lab(python: Path, served_site: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A JupyterLab on the published notebooks: its address, and the folder it serves."""
    folder, home = tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BOOK_BASEURL", served_site)
        write_notebooks(Tree(ROOT), folder)
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "CI")}
    env |= {"HOME": str(home), "JUPYTER_CONFIG_DIR": str(home / "config"), "JUPYTER_DATA_DIR": str(home / "data"), "JUPYTER_RUNTIME_DIR": str(home / "run")}
    subprocess.run([str(python.with_name("jupytext-config")), "set-default-viewer", "markdown"], env=env, check=True)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    command = [str(python), "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--port={port}", "--ServerApp.port_retries=0"]
    command += ["--IdentityProvider.token=", "--ServerApp.password=", f"--ServerApp.root_dir={folder}", "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    with (home / "lab.log").open("w", encoding="utf-8") as log:
        server = subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
        address = f"http://127.0.0.1:{port}"
        try:
            _wait_for(f"{address}/api", server, home / "lab.log")
            yield address, folder
        finally:
            # Ended with its kernels; asked politely it waits for an answer on the terminal.
            server.kill()
            server.wait(timeout=30)


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(120):
        assert server.poll() is None, log.read_text(encoding="utf-8")
        try:
            urllib.request.urlopen(url, timeout=2)
            return
        except OSError:
            time.sleep(0.5)
    pytest.fail(log.read_text(encoding="utf-8"))


def _open(browser: Any, address: str, path: str) -> Any:
    # A workspace of its own: JupyterLab would open the tabs of the last test again, and `?reset` loads the page twice.
    workspace = path.replace("/", "-").replace(".", "-")
    tab = browser.new_context(viewport={"width": 1280, "height": 1600}).new_page()
    tab.goto(f"{address}/lab/workspaces/{workspace}/tree/{path}", timeout=120_000)
    tab.wait_for_selector(".jp-Notebook .jp-Cell", timeout=120_000)
    return tab


def _run_all(tab: Any) -> None:
    """Choose Run All Cells; a dialog in the way (which kernel to take, while none is there) gets the answer that it offers."""
    for _ in range(6):
        if tab.locator("dialog.jp-Dialog[open], .jp-Dialog:visible").count():
            print("dialog:", tab.locator(".jp-Dialog").first.inner_text())
            tab.keyboard.press("Enter")
            tab.wait_for_timeout(1000)
        try:
            tab.wait_for_selector(IDLE, timeout=20_000)
            tab.click(".lm-MenuBar-item:has-text('Run')", timeout=5000)
            tab.click(".lm-Menu-item[data-command='runmenu:run-all']", timeout=5000)
            return
        except TimeoutError:
            tab.keyboard.press("Escape")
    pytest.fail("the notebook could not be asked to run")


def _executed(path: Path, tab: Any) -> Any:
    """The notebook as saved once every code cell has run."""
    for second in range(180):
        # A JupyterLab that has just started may replace its first kernel, and forgets what that one was to run: ask again, as a person would.
        if second % 15 == 14 and tab.locator(f"{IDLE}, .jp-Dialog").count():
            _run_all(tab)
        tab.keyboard.press("Control+s")
        tab.wait_for_timeout(1000)
        notebook = nbformat.read(path, as_version=4)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        errors = [output for cell in code for output in cell.outputs if output.output_type == "error"]
        assert errors == [], errors
        if all(cell.execution_count for cell in code):
            return notebook
    tab.screenshot(path=path.with_suffix(".png"))
    pytest.fail(f"{path} was not run to its end: {[cell.execution_count for cell in code]}")


@pytest.mark.parametrize(("language", "page"), [(language, page) for language in LANGUAGES for page in TREE.notebook_pages])
def test_a_published_notebook_runs_in_jupyterlab(browser: Any, lab: tuple[str, Path], python: Path, language: str, page: str, tmp_path: Path) -> None:
    address, folder = lab
    path = f"{language}/notebooks/{page}.ipynb"
    tab = _open(browser, address, path)
    _run_all(tab)
    notebook = _executed(folder / path, tab)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = " ".join(str(output.get("data", {}).get("text/html", "")) + str(output.get("text", "")) for output in outputs)
    if page == "exercise":
        assert "mtp-report" in shown and "TODO 3" in shown
    if page == "verification_state":
        assert shown.count("<svg") >= 5
    # Formulas are typeset, and nothing of the book's own markup is left for the reader.
    assert tab.locator(".jp-RenderedMarkdown mjx-container, .jp-RenderedMarkdown table, .jp-RenderedMarkdown blockquote").count() > 0
    shots = Path(os.environ.get("BOOK_SCREENSHOTS", tmp_path))
    tab.screenshot(path=shots / f"lab.{language}.{page}.png")
    tab.context.close()
    installed = subprocess.run([str(python), "-c", "import mtp; print(mtp.__file__)"], capture_output=True, text=True, cwd=tmp_path)
    assert "site-packages" in installed.stdout, installed.stderr


@pytest.mark.parametrize("language", LANGUAGES)
def test_jupyterlab_opens_the_markdown_as_a_notebook(browser: Any, lab: tuple[str, Path], language: str) -> None:
    address, _ = lab
    tab = _open(browser, address, f"{language}/notebooks/exercise.md")
    tab.wait_for_selector(".jp-CodeCell", timeout=60_000)
    tab.context.close()
