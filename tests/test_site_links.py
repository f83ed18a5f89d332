"""The built book: every link, anchor and twin of both languages."""

from __future__ import annotations

from pathlib import Path

from book.links import check_site
from book.tree import LANGUAGES, Tree


def test_every_internal_link_anchor_and_twin_resolves(site: Path) -> None:
    findings = check_site(site)
    assert findings == [], "\n".join(map(str, findings))


def test_both_trees_are_complete(site: Path, root: Path) -> None:
    for language in LANGUAGES:
        built = {path.stem for path in (site / language).glob("*.html")}
        assert built == set(Tree(root).pages)
