"""What the pages' cells use of a notebook: numbers for the prose, tables."""

from __future__ import annotations

import sys

import myst_nb
from bs4 import BeautifulSoup
from myst_nb.core.variables import format_plain_text

from mtp.notebook import Table, glue


def pasted(monkeypatch, value, form) -> str:
    """What `{glue:text}` writes for a glued value, by the role's own formatting of the stored repr."""
    stored = {}
    monkeypatch.setattr(myst_nb, "glue", lambda name, value, display: stored.update({name: value}))
    glue("name", value, form)
    return format_plain_text(repr(stored["name"]), "s")


def test_a_glued_number_is_pasted_as_formatted(monkeypatch):
    assert pasted(monkeypatch, 0.2, "{:.2f}") == "0.20"
    assert pasted(monkeypatch, 1646.15, "{:.0f}") == "1646"
    assert pasted(monkeypatch, 2 / 3, "{:.1%}") == "66.7%"


def test_glue_does_nothing_without_the_books_tools(monkeypatch):
    monkeypatch.setitem(sys.modules, "myst_nb", None)
    assert glue("name", 1) is None


def test_a_table_shows_each_value_as_its_text():
    table = Table(("k", 1, "<b>"), [("rejected_suffix", None, [30, 31]), ("a & b", 0.5, "x")])
    page = BeautifulSoup(table._repr_html_(), "html.parser")
    assert [cell.text for cell in page.select("thead th")] == ["k", "1", "<b>"]
    assert [[cell.text for cell in row.select("td")] for row in page.select("tbody tr")] == [
        ["rejected_suffix", "None", "[30, 31]"],
        ["a & b", "0.5", "x"],
    ]
    assert repr(table).splitlines()[1] == "rejected_suffix\tNone\t[30, 31]"
