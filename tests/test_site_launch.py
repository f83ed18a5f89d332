"""The launch menu: on each page with cells, every address leads to a file that the deployment publishes."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup
from conftest import PUBLISHED
from pages import PAGES, TREE, visit

REPOSITORY, BRANCH = PUBLISHED["BOOK_REPOSITORY"], PUBLISHED["BOOK_SITE_BRANCH"]


def menu(site: Path, language: str, page: str) -> dict[str, str]:
    text = (site / language / f"{page}.html").read_text(encoding="utf-8")
    return {link["data-launch"]: link["href"] for link in BeautifulSoup(text, "html.parser").select("[data-launch]")}


def opened_file(key: str, address: str, language: str) -> str:
    """The path below the site branch that an address opens, read as the service reads it."""
    parts = urlsplit(address)
    if key in ("ipynb", "md"):
        assert not parts.netloc
        return f"{language}/{parts.path}"
    if key == "binder":
        assert parts.netloc == "mybinder.org"
        assert parts.path == f"/v2/gh/{REPOSITORY}/{BRANCH}"
        return parse_qs(parts.query)["urlpath"][0].removeprefix("lab/tree/")
    host, start = {"colab": ("colab.research.google.com", ""), "modelscope": ("modelscope.cn", "/notebook/share")}[key]
    prefix = f"{start}/github/{REPOSITORY}/blob/{BRANCH}/"
    assert parts.netloc == host and parts.path.startswith(prefix), address
    return parts.path.removeprefix(prefix)


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_every_address_leads_to_a_published_file(published_site: Path, language: str, page: str) -> None:
    links = menu(published_site, language, page)
    if page not in TREE.notebook_pages:
        assert links == {}
        return
    assert list(links) == ["binder", "modelscope", "colab", "ipynb", "md"]
    for key, address in links.items():
        file = published_site / opened_file(key, address, language)
        assert file.is_file(), address
        assert file.stem == page
        if file.suffix == ".ipynb":
            nbformat.validate(nbformat.read(file, as_version=4))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_without_a_public_address_the_downloads_remain(site: Path, language: str) -> None:
    for page in TREE.notebook_pages:
        assert list(menu(site, language, page)) == ["ipynb", "md"]


def test_the_menu_works_by_keyboard_and_downloads_the_notebook(browser: Any, served_below: str) -> None:
    with visit(browser, f"{served_below}/zh/exercise.html", accept_downloads=True) as opened:
        tab = opened.page
        tab.focus("details.launch > summary")
        tab.keyboard.press("Enter")
        tab.wait_for_selector("[data-launch=ipynb]:visible")
        tab.keyboard.press("Escape")
        assert not tab.locator("[data-launch=ipynb]").is_visible()
        tab.keyboard.press("Enter")
        with tab.expect_download() as download:
            tab.click("[data-launch=ipynb]")
        assert download.value.suggested_filename == "exercise.ipynb"
