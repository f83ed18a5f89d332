"""The book's own roles and directives without its layout: what a default Jupyter Book needs to render the same chapters."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from . import courses, svg_figure


def setup(app: Sphinx) -> dict[str, Any]:
    for part in (courses, svg_figure):
        part.setup(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
