"""What cells of the book need of a notebook: numbers for the text around them, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def glue(name: str, value: Any, form: str = "{}") -> None:
    """Store `value`, formatted by `form`, under `name` for `` {glue:text}`name` `` in the page's prose.

    Shows nothing. Where the book's tools are not installed (a launched notebook) it does nothing at all.
    """
    try:
        from myst_nb import glue as store
    except ImportError:
        return
    # A str, not a number: the role reads its text as a Python literal and would turn 0.20 into 0.2.
    store(name, form.format(value), display=False)


class Table:
    """Rows of values under a header, as the book shows tables.

    Args:
        header: one title for each column.
        rows: as many values a row as there are titles; each is shown as its text.
    """

    def __init__(self, header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> None:
        self.header = [str(title) for title in header]
        self.rows = [[str(value) for value in row] for row in rows]

    def __repr__(self) -> str:
        return "\n".join("\t".join(line) for line in [self.header, *self.rows])

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{escape(title)}</th>' for title in self.header)
        body = ("".join(f"<td>{escape(value)}</td>" for value in row) for row in self.rows)
        body = "".join(f"<tr>{cells}</tr>" for cells in body)
        return f'<table class="mtp-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
