"""The whole book as a PDF, by Chromium's print: contents with page numbers, bookmarks, tags for screen readers."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from pypdf import PdfReader

from .browser import chromium
from .build import side_by_side
from .paper import paper
from .tree import LANGUAGES, Tree

FOOTER = '<div style="width:100%;text-align:center;font:8pt sans-serif;color:#566273"><span class="pageNumber"></span></div>'
MARGINS = {"top": "18mm", "bottom": "20mm", "left": "18mm", "right": "18mm"}


def write_pdfs(tree: Tree, site: Path, target: Path) -> None:
    """Write one PDF a language into `target`; raises `NoBrowser` where no browser can be started."""

    def write(language: str) -> None:
        with chromium() as browser:
            (target / f"native-mtp.{language}.pdf").write_bytes(pdf(browser, tree, site, language))

    side_by_side(write, LANGUAGES)


def pdf(browser: Any, tree: Tree, site: Path, language: str) -> bytes:
    """Print the book twice: page numbers are known only once it has been laid out."""
    page = browser.new_page(color_scheme="light")
    draft = printed(page, paper(tree, site, language, {}))
    numbers = page_numbers(draft)
    final = printed(page, paper(tree, site, language, numbers))
    if page_numbers(final) != numbers:
        raise AssertionError("the numbers in the table of contents moved the pages they name")
    return final


def printed(page: Any, document: str) -> bytes:
    page.set_content(document, wait_until="load")
    return page.pdf(
        format="A4", margin=MARGINS, display_header_footer=True, header_template="<span></span>", footer_template=FOOTER,
        print_background=True, outline=True, tagged=True,
    )  # fmt: skip


def page_numbers(document: bytes) -> dict[str, int]:
    """Return on which page, counted from 1, each anchor that is linked to stands."""
    reader = PdfReader(io.BytesIO(document))
    return {name.lstrip("/"): reader.get_destination_page_number(place) + 1 for name, place in reader.named_destinations.items()}
