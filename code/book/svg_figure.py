"""The directive `svg`: a figure of `assets/figures/`, in the page's language, inlined so that it follows the page's theme.

    :::{svg} lineage
    :name: fig-lineage
    :alt: What the figure shows, for those who cannot see it
    Caption.
    :::

takes `assets/figures/lineage.zh.svg` on a Chinese page and `lineage.en.svg` on an English one.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from .courses import language_of

XML_PROLOGUE = re.compile(r"^\s*(<\?xml.*?\?>|<!--.*?-->|<!DOCTYPE.*?>|\s)*", re.DOTALL)


class SvgFigure(SphinxDirective):
    required_arguments = 1
    has_content = True
    option_spec = {"name": directives.unchanged, "alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        path = Path(self.env.srcdir).parents[1] / "assets" / "figures" / f"{self.arguments[0]}.{language_of(self.config)}.svg"
        self.env.note_dependency(str(path))
        if not path.is_file():
            raise self.error(f"svg: there is no {path.name} in assets/figures")
        if "alt" not in self.options:
            raise self.error(f"svg: {self.arguments[0]} needs an :alt: text")
        figure = nodes.figure(classes=["svg-figure"])
        self.set_source_info(figure)
        figure += nodes.raw("", inlined(path.read_text(encoding="utf-8"), self.options["alt"]), format="html")
        self.add_caption(figure)
        self.add_name(figure)
        return [figure]

    def add_caption(self, figure: nodes.figure) -> None:
        parsed = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, parsed)
        paragraphs = list(parsed.children)
        if paragraphs:
            caption = nodes.caption("", "", *paragraphs[0].children)
            figure += caption
        if paragraphs[1:]:
            figure += nodes.legend("", *paragraphs[1:])


def inlined(svg: str, alt: str) -> str:
    """Strip what only a file of its own needs, and give the drawing its alternative text."""
    svg = XML_PROLOGUE.sub("", svg)
    svg = re.sub(r'\s(role|aria-label)="[^"]*"', "", svg.split(">", 1)[0]) + ">" + svg.split(">", 1)[1]
    label = alt.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    return svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def setup(app: Sphinx) -> None:
    app.add_directive("svg", SvgFigure)
