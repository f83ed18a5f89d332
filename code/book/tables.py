"""Tables of a rendered page: wide ones scroll in a box of their own, and on a phone the rows of prose tables become cards."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup

# Tables written in markdown; what cells put out brings other classes and keeps its columns.
WRITTEN = re.compile(r'<table class="table">.*?</table>', re.DOTALL)
TAG = re.compile(r"(<table\b[^>]*>|</table>)")
ROLES = {"table": "table", "thead": "rowgroup", "tbody": "rowgroup", "tr": "row", "th": "columnheader", "td": "cell"}
CARDS_FROM = 3  # columns; two fit on a phone


def lay_out_tables(html: str) -> str:
    """Prepare every table of a page's body for all widths."""
    return boxed(WRITTEN.sub(lambda match: as_cards(match[0]), html))


def as_cards(table: str) -> str:
    """Give each cell the title of its column, for rows that are shown as cards; roles keep what `display` would take away."""
    soup = BeautifulSoup(table, "html.parser")
    titles = [" ".join(cell.get_text().split()) for cell in soup.select("thead th")]
    if len(titles) < CARDS_FROM:
        return table
    soup.table["class"] = ["table", "cards"]
    for name, role in ROLES.items():
        for element in soup.find_all(name):
            element["role"] = role
    for row in soup.select("tbody tr"):
        for title, cell in zip(titles, row.find_all("td")):
            cell["data-title"] = title
    return str(soup)


def boxed(html: str) -> str:
    """Put each table into a box that scrolls and that the keyboard can reach; the report of a check lays itself out."""
    parts = TAG.split(html)
    open_boxes: list[bool] = []
    for index, part in enumerate(parts):
        if part.startswith("<table"):
            open_boxes.append("mtp-report" not in part)
            parts[index] = f'<div class="scroll" tabindex="0">{part}' if open_boxes[-1] else part
        elif part == "</table>" and open_boxes.pop():
            parts[index] = "</table></div>"
    return "".join(parts)


def facts(table: str) -> str:
    """Turn a table of two columns, name and value, into a list of descriptions."""
    rows = BeautifulSoup(table, "html.parser").select("tbody tr")
    pairs = [[cell.p.decode_contents() if cell.p else cell.decode_contents() for cell in row.find_all("td")] for row in rows]
    return '<dl class="facts">' + "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in pairs) + "</dl>"
