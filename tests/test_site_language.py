"""Two languages: the switch keeps page and section, machines are told of both, and no word of the interface is in the other language."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from conftest import PUBLISHED
from pages import HAN, OTHER, PAGES, TREE, arrive, visit
from PIL import Image

TAGS = {"zh": "zh-CN", "en": "en"}
BASE = PUBLISHED["BOOK_BASEURL"]
# Words that are the same in Chinese: names, and what stands on keys.
NAMES = {"English", "Binder", "ModelScope", "Colab", "MTP", "Ctrl", "K", "CC", "BY-SA", "MIT", "Token", "TODO", "ipynb", "md", "PDF", "EPUB", "MB"}
SPOKEN = ("aria-label", "title", "placeholder", "alt")


def soup(site: Path, language: str, page: str) -> BeautifulSoup:
    return BeautifulSoup((site / language / f"{page}.html").read_text(encoding="utf-8"), "html.parser")


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_the_switch_opens_the_same_page_and_keeps_the_section(browser: Any, served_below: str, language: str, page: str) -> None:
    with visit(browser, f"{served_below}/{language}/{page}.html") as opened:
        tab = opened.page
        labels = tab.locator("article section section[id]").evaluate_all("nodes => nodes.map(node => node.id)")
        link = tab.locator("header a[data-language-link]")
        assert link.inner_text() == {"zh": "English", "en": "中文"}[language]
        assert link.get_attribute("hreflang") == link.get_attribute("lang") == TAGS[OTHER[language]]
        # At the top, after a jump to a section, and after scrolling to one.
        link.click()
        arrive(tab, f"{served_below}/{OTHER[language]}/{page}.html**")
        tab.goto(f"{served_below}/{language}/{page}.html#{labels[-1]}")
        tab.locator("header a[data-language-link]").click()
        arrive(tab, f"{served_below}/{OTHER[language]}/{page}.html#{labels[-1]}")
        assert tab.locator(f"[id='{labels[-1]}']").count() == 1
        assert tab.evaluate("document.documentElement.lang") == TAGS[OTHER[language]]


def test_the_switch_follows_the_section_that_is_being_read(browser: Any, served_site: str) -> None:
    with visit(browser, f"{served_site}/zh/lineage.html") as opened:
        tab = opened.page
        tab.locator("#lineage-models").evaluate("node => scrollTo(0, node.getBoundingClientRect().top + scrollY - 90)")
        tab.wait_for_selector('.aside a[aria-current][href="#lineage-models"]')
        # Not `click()`: where the machine is slow it tries again, and scrolls the page for it.
        tab.locator("header a[data-language-link]").evaluate("link => link.click()")
        arrive(tab, f"{served_site}/en/lineage.html#lineage-models")


@pytest.mark.parametrize("page", TREE.pages)
def test_sections_have_the_same_anchors_in_both_languages(site: Path, page: str) -> None:
    anchors = [[section["id"] for section in soup(site, language, page).select("article section[id]")] for language in ("zh", "en")]
    assert anchors[0] == anchors[1]


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_machines_are_told_of_both_languages(published_site: Path, language: str, page: str) -> None:
    document = soup(published_site, language, page)
    file = "" if page == TREE.pages[0] else f"{page}.html"
    assert document.html["lang"] == TAGS[language]
    assert document.find("link", rel="canonical")["href"] == f"{BASE}{language}/{file}"
    alternates = {link["hreflang"]: link["href"] for link in document.find_all("link", rel="alternate")}
    default = BASE if not file else f"{BASE}en/{file}"
    assert alternates == {"zh-CN": f"{BASE}zh/{file}", "en": f"{BASE}en/{file}", "x-default": default}
    for address in alternates.values():
        path = published_site / address.removeprefix(BASE)
        assert (path / "index.html" if path.is_dir() else path).is_file()
    description = document.find("meta", attrs={"name": "description"})["content"]
    for text in (document.title.string, description):
        assert bool(re.search(f"[{HAN}]", text)) == (language == "zh"), text
    assert len(description) > 20
    image = document.find("meta", property="og:image")["content"]
    assert Image.open(published_site / image.removeprefix(BASE)).size == (1200, 630)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_titles_and_descriptions_name_one_page_each(site: Path, language: str) -> None:
    documents = [soup(site, language, page) for page in TREE.pages]
    assert len({document.title.string for document in documents}) == len(TREE.pages)
    assert len({document.find("meta", attrs={"name": "description"})["content"] for document in documents}) == len(TREE.pages)


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_no_word_of_the_interface_is_in_the_other_language(site: Path, language: str, page: str) -> None:
    document = soup(site, language, page)
    # References keep their own language, and so does code.
    for element in document.select("script, style, article table, article pre, article code, article a.reference, [data-language-link]"):
        element.decompose()
    spoken = [element[name] for element in document.find_all(True) for name in SPOKEN if element.get(name)]
    # Of the article, what extensions write: captions' labels, folded cells, backlinks.
    written = [element.get_text(" ") for element in document.select("article .caption-number, article details.hide > summary, .headerlink")]
    for element in document.select("article, .page-toc"):
        element.decompose()
    written += list(document.body.stripped_strings)
    for text in [*spoken, *written]:
        if language == "en":
            assert not re.search(f"[{HAN}]", text), text
        else:
            assert re.search(f"[{HAN}]", text) or set(re.findall(r"[A-Za-z][\w-]*", text)) <= NAMES, text


@pytest.mark.parametrize(("wanted", "opened"), [("zh-CN", "zh"), ("zh-TW", "zh"), ("en-GB", "en"), ("fr-FR", "en")])
def test_the_root_page_opens_the_browsers_language(browser: Any, served_below: str, wanted: str, opened: str) -> None:
    with visit(browser, f"{served_below}/index.html", locale=wanted) as page:
        arrive(page.page, f"{served_below}/{opened}/index.html")


def test_the_root_page_remembers_the_readers_choice(browser: Any, served_site: str) -> None:
    with visit(browser, f"{served_site}/index.html", locale="zh-CN") as opened:
        tab = opened.page
        arrive(tab, "**/zh/index.html")
        tab.click("header a[data-language-link]")
        arrive(tab, "**/en/index.html")
        tab.goto(f"{served_site}/index.html")
        arrive(tab, "**/en/index.html")


def test_the_root_page_works_without_javascript(browser: Any, served_site: str) -> None:
    with visit(browser, f"{served_site}/index.html", java_script_enabled=False) as opened:
        links = opened.page.locator("main a:visible")
        assert links.evaluate_all("nodes => nodes.map(node => node.getAttribute('href'))") == ["zh/index.html", "en/index.html"]
        links.first.click()
        assert opened.page.locator("h1").count() == 1


def test_a_wrong_address_is_answered_in_both_languages(published_site: Path) -> None:
    document = BeautifulSoup((published_site / "404.html").read_text(encoding="utf-8"), "html.parser")
    # It is served at any depth, so its links start from the published root.
    assert document.find("base")["href"] == BASE
    assert document.html["lang"] == "zh-CN" and document.find("section", lang="en")
    for link in document.find_all("a"):
        assert (published_site / link["href"]).is_file()


def test_the_site_map_lists_every_page_with_its_twin(published_site: Path) -> None:
    names = {"map": "http://www.sitemaps.org/schemas/sitemap/0.9", "x": "http://www.w3.org/1999/xhtml"}
    urls = ElementTree.parse(published_site / "sitemap.xml").findall("map:url", names)
    listed = {url.find("map:loc", names).text: {link.get("hreflang"): link.get("href") for link in url.findall("x:link", names)} for url in urls}
    files = {page: "" if page == TREE.pages[0] else f"{page}.html" for page in TREE.pages}
    assert listed == {
        f"{BASE}{language}/{files[page]}": {TAGS[each]: f"{BASE}{each}/{files[page]}" for each in TAGS} for language, page in PAGES
    }
    assert f"Sitemap: {BASE}sitemap.xml" in (published_site / "robots.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["favicon.svg", "favicon.png", "touch-icon.png"])
def test_the_site_has_its_icons(site: Path, name: str) -> None:
    links = [link["href"] for link in soup(site, "zh", "index").find_all("link", rel=["icon", "apple-touch-icon"])]
    assert f"../assets/{name}" in links and (site / "assets" / name).is_file()
