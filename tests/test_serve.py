"""`python -m book serve` builds, serves, and shows a saved page within seconds; bad saves keep the last good site."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from test_build import small_book, write_probe  # noqa: F401  (a fixture)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def fetch(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.read().decode("utf-8")
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return ""


def wait(condition: Callable[[], bool], seconds: float, process: subprocess.Popen[str]) -> float:
    """Wait until `condition` holds; return how long it took, fail when the server ends or time is up."""
    started = time.monotonic()
    while not condition():
        assert process.poll() is None, "the server ended"
        assert time.monotonic() - started < seconds, f"nothing changed within {seconds} s"
        time.sleep(0.2)
    return time.monotonic() - started


@pytest.fixture
def server(small_book: Path, tmp_path: Path) -> Iterator[tuple[Path, str, subprocess.Popen[str]]]:  # noqa: F811
    port = free_port()
    env = {**os.environ, "PYTHONUTF8": "1", "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(small_book / "code")}
    log = (tmp_path / "serve.log").open("w", encoding="utf-8")
    command = [sys.executable, "-m", "book", "serve", "--port", str(port)]
    process = subprocess.Popen(command, cwd=small_book, env=env, stdout=log, stderr=subprocess.STDOUT, text=True)
    yield small_book, f"http://127.0.0.1:{port}", process
    process.terminate()
    process.wait(timeout=20)
    log.close()


def test_a_saved_page_is_rebuilt_and_a_bad_one_keeps_the_site(server: tuple[Path, str, subprocess.Popen[str]], tmp_path: Path) -> None:
    root, address, process = server
    page = f"{address}/en/probe.html"
    wait(lambda: "Text." in fetch(page), 120, process)
    assert "livereload" in fetch(page)

    write_probe(root, "en", prose="Saved words.")
    seconds = wait(lambda: "Saved words." in fetch(page), 60, process)
    print(f"a saved page was there after {seconds:.1f} s")

    write_probe(root, "en", prose="See {ref}`nowhere-at-all`.")
    wait(lambda: "nowhere-at-all" in (tmp_path / "serve.log").read_text(encoding="utf-8"), 60, process)
    assert "Saved words." in fetch(page)

    write_probe(root, "en", prose="Mended.")
    wait(lambda: "Mended." in fetch(page), 60, process)
    (root / "code" / "mtp" / "probe.py").write_text("VALUE = 7\n", encoding="utf-8")
    wait(lambda: "value 7" in fetch(page), 60, process)
