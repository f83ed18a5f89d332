"""Fixtures that the tests of the built book share: one build for all workers, one server and one browser for each."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[1]


def run_book(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m book …` on the tree at `root`, with the tree's own `book` and `mtp`."""
    env = {**os.environ, "PYTHONUTF8": "1", "PYTHONPATH": str(root / "code"), **environment}
    command = [sys.executable, "-m", "book", *arguments]
    return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, encoding="utf-8", errors="replace")


def copy_tree(target: Path) -> Path:
    """Copy what the book is made of, without anything built, to `target`."""
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("chapters", "code", "assets", "binder"):
        shutil.copytree(ROOT / name, target / name, ignore=ignored)
    for name in ("_config.yml", "_toc.yml", "pyproject.toml", "constraints.txt", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target / name)
    return target


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Side by side, a worker takes whole files; everything in a browser is one worker's, since two browsers slow each other down."""
    for item in items:
        in_browser = {"browser", "server"} & set(getattr(item, "fixturenames", ()))
        item.add_marker(pytest.mark.xdist_group("browser" if in_browser else item.path.stem))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker hands its part of the table of mutants to the process that prints it."""
    from mutants import KILLS

    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["kills"] = KILLS


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    from mutants import KILLS

    KILLS.extend(getattr(node, "workeroutput", {}).get("kills", []))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print which check killed which mutant (see mutants.py)."""
    from mutants import KILLS

    if KILLS:
        terminalreporter.section("mutants: fault, variant, killing check")
        terminalreporter.write_line("\n".join(KILLS))


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], None]], Path]:
    """`once(name, make)` calls `make(folder)` in the first worker that asks; the others wait for it. Returns the folder, one for all."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def run(name: str, make: Callable[[Path], None]) -> Path:
        folder, made = shared / name, shared / f"{name}.made"
        with FileLock(shared / f"{name}.lock"):
            if not made.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                make(folder)
                made.touch()
        return folder

    return run


@pytest.fixture(scope="session")
def site(once: Callable[..., Path]) -> Path:
    """The built site of this tree."""

    def build(_: Path) -> None:
        done = run_book(ROOT, "build")
        assert done.returncode == 0, done.stdout + done.stderr

    once("site", build)
    return ROOT / "_build" / "site"


# As a fork would be published: another owner, another branch, below a path.
PUBLISHED = {
    "BOOK_REPOSITORY": "a-fork/mtp-book",
    "BOOK_SOURCE_BRANCH": "work",
    "BOOK_SITE_BRANCH": "pages",
    "BOOK_BASEURL": "https://a-fork.example/mtp-book/",
}


@pytest.fixture(scope="session")
def published_site(site: Path, once: Callable[..., Path]) -> Path:
    """The site as a deployment builds it, with a public address."""

    def build(folder: Path) -> None:
        root = copy_tree(folder / "book")
        # The cells were executed for `site` already, and the editor was bundled.
        for name in ("cells", "live"):
            if (ROOT / "_build" / name).is_dir():
                shutil.copytree(ROOT / "_build" / name, root / "_build" / name)
        done = run_book(root, "build", "--hurry", **PUBLISHED)
        assert done.returncode == 0, done.stdout + done.stderr

    return once("published", build) / "book" / "_build" / "site"


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    # Windows' registry may call scripts text/plain, which browsers refuse to run as modules.
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript", ".wasm": "application/wasm"}

    def log_message(self, format: str, *arguments: object) -> None:
        pass


def serve(directory: Path) -> tuple[http.server.ThreadingHTTPServer, str]:
    """Serve `directory` on a free port of the loopback; returns the server and its address without a trailing slash."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(directory)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"


@pytest.fixture(scope="session")
def served_site(site: Path) -> Iterator[str]:
    """Address of the built site at the root of a host."""
    server, address = serve(site)
    yield address
    server.shutdown()


@pytest.fixture(scope="session")
def served_below(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the built site below a path, as GitHub Pages serves a project's site."""
    top = tmp_path_factory.mktemp("host")
    shutil.copytree(site, top / "project" / "book")
    server, address = serve(top)
    yield f"{address}/project/book"
    server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """A headless Chromium. Where none can be started the tests are skipped, loudly; in CI they fail instead."""
    from book.browser import NoBrowser, chromium

    with ExitStack() as stack:
        try:
            started = stack.enter_context(chromium())
        except NoBrowser as error:
            message = f"NO BROWSER: the pages are not tested. {error}"
            if os.environ.get("CI"):
                pytest.fail(message)
            pytest.skip(message)
        yield started
