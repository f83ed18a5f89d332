"""A small web server that compresses as GitHub Pages does, for measuring on the loopback."""

from __future__ import annotations

import functools
import gzip
import http.server
import mimetypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TEXT = ("text/", "application/javascript", "application/json", "image/svg+xml", "application/xml", "application/manifest")


class GzipHandler(http.server.BaseHTTPRequestHandler):
    """Answers GET with files below `root`, text compressed; keeps connections open as a real host does."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *arguments: object, root: Path) -> None:
        self.root = root
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        path = (self.root / self.path.split("?")[0].split("#")[0].lstrip("/")).resolve()
        if path.is_dir():
            path /= "index.html"
        found = path.is_file() and self.root.resolve() in path.parents
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        kind = "text/javascript" if path.suffix == ".js" else kind
        content = path.read_bytes() if found else b"not found"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", f"{kind}; charset=utf-8" if kind.startswith("text/") else kind)
        self.send_header("Cache-Control", "max-age=600")
        if kind.startswith(TEXT):
            content = gzip.compress(content, 6)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def serving(root: Path) -> Iterator[str]:
    """Serve `root` on a free port of the loopback; yields the address without a trailing slash."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(GzipHandler, root=root))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
