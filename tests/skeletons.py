"""Reading classes out of pages: the skeleton that a learner fills, and the solution."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import jupytext
from mtp.simulator import MultiTokenDecoderSim


def class_cell(page: Path, name: str) -> str:
    """Return the source of the page's one code cell that defines the class (or function) `name`."""
    notebook = jupytext.read(page)
    found = [cell.source for cell in notebook.cells if cell.cell_type == "code" and _definition(cell.source, name)]
    assert len(found) == 1, f"{page}: {len(found)} cells define {name}, not 1"
    return found[0]


def _definition(source: str, name: str) -> ast.AST | None:
    nodes = (node for node in ast.parse(source).body if isinstance(node, (ast.ClassDef, ast.FunctionDef)))
    return next((node for node in nodes if node.name == name), None)


def tree(source: str, name: str) -> str:
    """Dump the syntax tree of the definition of `name`, without docstrings (comments are not in it)."""
    definition = _definition(source, name)
    assert definition is not None, f"no definition of {name}"
    for node in ast.walk(definition):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(definition, indent=1)


def reference_source() -> str:
    return inspect.getsource(MultiTokenDecoderSim)


GAPS = (
    "return tokens[: self.max_proposal_len]",
    "return bool(target_prob >= draft_prob * self.min_accept_ratio)",
    "accepted = self._accept_token(q[position, token], p[position, token])",
)


def with_gaps(source: str) -> str:
    """Return `source` with each gap of the exercise cut out: an error that names its TODO stands in its place.

    The wording of the error differs between the languages; it is set aside by replacing it with the TODO's number.
    """
    for number, gap in enumerate(GAPS, start=1):
        assert source.count(gap) == 1, f"the reference has {source.count(gap)} places that read {gap!r}, not 1"
        source = source.replace(gap, f'raise NotImplementedError("TODO {number}")')
    return source


def without_wording(source: str) -> str:
    """Reduce the text of each NotImplementedError to its TODO's number."""

    class Shorten(ast.NodeTransformer):
        def visit_Raise(self, node: ast.Raise) -> ast.Raise:
            if isinstance(node.exc, ast.Call) and getattr(node.exc.func, "id", "") == "NotImplementedError":
                text = node.exc.args[0].value
                node.exc.args[0].value = text[: len("TODO 1")]
            return node

    return ast.unparse(Shorten().visit(ast.parse(source)))
