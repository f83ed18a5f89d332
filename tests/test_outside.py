"""The target that follows the links to the outside: it names what does not answer, and where it is linked."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import copy_tree, run_book


class Answering(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self.send_response(200 if self.path == "/there" else 404)
        self.end_headers()

    do_GET = do_HEAD

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def outside() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def linking_book(tmp_path: Path) -> Path:
    root = copy_tree(tmp_path / "book")
    for page in (root / "chapters").glob("*/*.md"):
        page.unlink()
    (root / "_toc.yml").write_text("format: jb-book\nroot: index\n", encoding="utf-8")
    return root


def write(root: Path, language: str, *addresses: str) -> None:
    links = "\n\n".join(f"[link]({address})" for address in addresses)
    (root / "chapters" / language / "index.md").write_text(f"# Home\n\n{links}\n", encoding="utf-8")


def test_outside_links_are_followed_in_both_languages(linking_book: Path, outside: str) -> None:
    for language in ("zh", "en"):
        write(linking_book, language, f"{outside}/there")
    done = run_book(linking_book, "links")
    assert done.returncode == 0 and "1 of 1 outside addresses answer" in done.stdout, done.stdout + done.stderr
    write(linking_book, "en", f"{outside}/there", f"{outside}/gone")
    done = run_book(linking_book, "links")
    assert done.returncode == 1
    assert f"en/index.md:5: {outside}/gone: 404" in done.stdout and "1 of 2 outside addresses answer" in done.stdout, done.stdout
    assert "1 outside address did not answer" in done.stderr
