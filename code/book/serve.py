"""`python -m book serve`: both languages, rebuilt and reloaded on save."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .build import build_book
from .tree import LANGUAGES, BookError, Tree


def serve_book(tree: Tree, host: str, port: int) -> None:
    """Build the book, serve it, and build what a saved file touches; stops on Ctrl-C."""
    from livereload import Server

    build_book(tree, hurry=True)
    server = Server()
    for language in LANGUAGES:
        server.watch(str(tree.chapters / language / "*.md"), rebuild(tree, (language,)))
    for pattern in ("chapters/*.*", "assets/**/*", "code/mtp/**/*.py", "code/book/live/**/*", "code/book/templates/*", "_config.yml", "_toc.yml"):
        server.watch(str(tree.root / pattern), rebuild(tree, LANGUAGES))
    print(f"serving http://{host}:{port}/ (Ctrl-C stops)", flush=True)
    server.serve(root=str(tree.site), host=host, port=port)


def rebuild(tree: Tree, languages: tuple[str, ...]) -> Callable[[], None]:
    """Return what livereload calls when a file of `languages` was saved."""

    def run() -> None:
        try:
            # Read anew, since the settings themselves may be what was saved.
            build_book(Tree(tree.root), languages, hurry=True)
        except BookError as error:
            # The last good site stays; the author reads what is wrong and saves again.
            print(f"error: {error}", flush=True)

    return run
