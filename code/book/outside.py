"""Following the links that leave the book, by Sphinx's own link checker. Needs the network, so it is apart from the tests."""

from __future__ import annotations

import json

from .build import render_language, require_pages
from .tree import LANGUAGES, BookError, Tree

BAD = ("broken", "timeout")


def check_outside(tree: Tree) -> None:
    """Ask for every outside address of both languages and print what does not answer.

    Raises:
        BookError: an address is broken, or the pages themselves are.
    """
    require_pages(tree)
    broken: dict[str, str] = {}
    asked: set[str] = set()
    for language in LANGUAGES:
        report = tree.build_dir / language / "_build" / "linkcheck" / "output.json"
        report.unlink(missing_ok=True)
        try:
            render_language(tree, language, "linkcheck")
        except BookError:
            # Broken links fail the run like warnings do; without a report it was something else.
            if not report.is_file():
                raise
        for line in report.read_text(encoding="utf-8").splitlines():
            link = json.loads(line)
            if link["status"] in ("unchecked", "local"):
                continue
            asked.add(link["uri"])
            if link["status"] in BAD:
                broken.setdefault(link["uri"], f"{language}/{link['filename']}:{link['lineno']}: {link['uri']}: {link['info']}")
    for line in broken.values():
        print(line)
    print(f"{len(asked) - len(broken)} of {len(asked)} outside addresses answer")
    if broken:
        raise BookError(f"{len(broken)} outside address{'' if len(broken) == 1 else 'es'} did not answer")
