"""Anchors of sections: the explicit label first, so that both languages share it and a translated heading does not move it."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx


def labels_first(app: Sphinx, doctree: nodes.document) -> None:
    """Put a section's explicit label before the anchor made from its title; contents and links then take the label."""
    explicit = {doctree.nameids.get(name) for name, chosen in doctree.nametypes.items() if chosen}
    for section in doctree.findall(nodes.section):
        section["ids"].sort(key=lambda anchor: anchor not in explicit)


def setup(app: Sphinx) -> None:
    # Before Sphinx collects the contents of each page from these anchors.
    app.connect("doctree-read", labels_first, priority=100)
