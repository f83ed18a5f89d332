"""The book's Sphinx extension: roles, directives and page context of our own."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from . import courses, svg_figure


def setup(app: Sphinx) -> dict[str, Any]:
    courses.setup(app)
    svg_figure.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
