"""What cells of the book need of a notebook: numbers for the text around them."""

from __future__ import annotations

from typing import Any


def glue(name: str, value: Any, form: str = "{}") -> None:
    """Store `value`, formatted by `form`, under `name` for `` {glue:text}`name` `` in the page's prose.

    Shows nothing. Where the book's tools are not installed (a launched notebook) it does nothing at all.
    """
    try:
        from myst_nb import glue as store
    except ImportError:
        return
    store(name, Number(form.format(value)), display=False)


class Number(str):
    """A string that pastes into prose without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
