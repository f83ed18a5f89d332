"""The book's Sphinx extension: roles, directives and page context of our own."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from . import anchors, courses, epub, interface, mathml, svg_figure


def setup(app: Sphinx) -> dict[str, Any]:
    for part in (anchors, courses, svg_figure, mathml, interface, epub):
        part.setup(app)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
