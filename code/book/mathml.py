"""Formulas as MathML, typeset when the book is built: no script, no fonts, readable and copyable everywhere."""

from __future__ import annotations

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.writers.html5 import HTML5Translator

# latex2mathml sets \mathrm letter by letter and does not know these; upright words are operators here.
REWRITES = (
    (re.compile(r"\\arg\s*\\max"), r"\\operatorname{argmax}"),
    (re.compile(r"\\(?:mathrm|text|operatorname)\{([A-Za-z]{2,})\}"), r"\\operatorname{\1}"),
    (re.compile(r"\\!"), ""),
)
# As operators they would get the space of a relation on both sides; as identifiers they are set upright and close, as in print.
WORD = re.compile(r"<mo>([A-Za-z]{2,})</mo>")
# TeX's thin space between a function with an index and what it is applied to.
APPLIED = re.compile(r"(<msub><mi>(?:argmax|max|min)</mi><mi>[^<]*</mi></msub>)(?=<m[isn])")


def to_mathml(latex: str, display: bool) -> str:
    r"""Return the MathML of a LaTeX formula. A command that is left over raises `ValueError` with its name."""
    for pattern, replacement in REWRITES:
        latex = pattern.sub(replacement, latex)
    mathml = convert(" ".join(latex.split()), display="block" if display else "inline")
    left = re.search(r"\\[A-Za-z]+", re.sub(r"<annotation.*?</annotation>", "", mathml))
    if left:
        raise ValueError(f"{left[0]} has no MathML: {latex!r}")
    return APPLIED.sub(r'\1<mspace width="0.167em" />', WORD.sub(r"<mi>\1</mi>", mathml))


def _formula(node: nodes.Node, display: bool) -> str:
    try:
        return to_mathml(node.astext(), display)
    except Exception as error:
        raise ExtensionError(f"{node.source}:{node.line}: the formula cannot be typeset: {error}") from error


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(_formula(node, display=False))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    # A box of its own, so that a wide formula scrolls and not the page.
    self.body.append(f'<div class="math" tabindex="0">{_formula(node, display=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None))
