"""Reading: any width, both themes, Chinese typography, folded answers by keyboard, paper."""

from __future__ import annotations

import io
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from pages import HAN, PAGES, TREE, arrive, settle, visit
from pypdf import PdfReader

WIDTHS = (320, 360, 480, 768, 1024, 1280, 1920)
# What sticks out of the window although no box of its own scrolls it.
STRAYS = """() => [...document.querySelectorAll('article *, header *, footer *')].filter(element => {
  const box = element.getBoundingClientRect();
  if (!box.width || !element.checkVisibility() || box.right <= innerWidth + 1 || getComputedStyle(element).position === 'fixed') return false;
  for (let node = element.parentElement; node; node = node.parentElement) {
    const overflow = getComputedStyle(node).overflowX;
    if (overflow === 'auto' || overflow === 'scroll' || overflow === 'hidden' || overflow === 'clip') return false;
  }
  return true;
}).map(element => element.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_no_page_scrolls_sideways_at_any_width(browser: Any, served_site: str, language: str, page: str) -> None:
    with visit(browser, f"{served_site}/{language}/{page}.html") as opened:
        tab = opened.page
        tab.locator("article details").evaluate_all("nodes => nodes.forEach(node => { node.open = true; })")
        for width in WIDTHS:
            tab.set_viewport_size({"width": width, "height": 800})
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, width
            assert tab.evaluate(STRAYS) == [], width


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_what_is_wide_scrolls_by_keyboard_in_a_box_of_its_own(browser: Any, served_site: str, language: str, page: str) -> None:
    with visit(browser, f"{served_site}/{language}/{page}.html", viewport={"width": 360, "height": 800}) as opened:
        # Folded text counts as well, once it is unfolded.
        opened.page.locator("article details").evaluate_all("nodes => nodes.forEach(node => { node.open = true; })")
        settle(opened.page)
        boxes = opened.page.locator("article .scroll, article .highlight pre, article div.math")
        wide = boxes.evaluate_all("nodes => nodes.filter(node => node.scrollWidth > node.clientWidth + 1).map(node => node.tabIndex)")
        assert set(wide) <= {0}


@pytest.mark.parametrize("language", ["zh", "en"])
def test_rows_of_prose_tables_are_cards_on_a_phone(browser: Any, served_site: str, language: str) -> None:
    with visit(browser, f"{served_site}/{language}/lineage.html", viewport={"width": 360, "height": 800}) as opened:
        table = opened.page.locator("table.cards").first
        columns = table.locator("tbody tr").first.locator("td")
        assert columns.count() >= 4
        boxes = [columns.nth(number).bounding_box() for number in range(columns.count())]
        assert all(box["width"] > 250 for box in boxes)
        assert [box["y"] for box in boxes] == sorted({box["y"] for box in boxes})
        # Each says which column it is, and it stays a table for a screen reader.
        heads = table.locator("thead th").all_text_contents()
        assert [columns.nth(number).get_attribute("data-title") for number in range(columns.count())] == heads
        assert table.get_attribute("role") == "table" and columns.first.get_attribute("role") == "cell"


def test_the_theme_follows_the_system_until_the_reader_chooses(browser: Any, served_site: str) -> None:
    ground = "() => getComputedStyle(document.body).backgroundColor"
    theme = "() => document.documentElement.dataset.theme"
    with visit(browser, f"{served_site}/en/index.html", color_scheme="dark") as opened:
        tab = opened.page
        dark = tab.evaluate(ground)
        tab.emulate_media(color_scheme="light")
        tab.wait_for_function("() => document.documentElement.dataset.theme === 'light'")
        light = tab.evaluate(ground)
        assert dark != light
        names = []
        for _ in range(3):
            tab.click("[data-theme-switch]")
            names.append(tab.get_attribute("[data-theme-switch]", "aria-label"))
        assert names == ["Theme: light", "Theme: dark", "Theme: as the system"]
        tab.click("[data-theme-switch]")
        tab.click("[data-theme-switch]")
        assert tab.evaluate(theme) == "dark" and tab.evaluate(ground) == dark
        # Remembered, and set before anything is painted: the style sheet comes after the script that sets it.
        tab.goto(f"{served_site}/zh/lineage.html")
        assert tab.evaluate(theme) == "dark"
        head = tab.evaluate("[...document.head.children].map(node => node.tagName + (node.rel || ''))")
        assert head.index("SCRIPT") < head.index("LINKstylesheet")


@pytest.mark.parametrize("page", TREE.pages)
def test_chinese_is_set_as_chinese(browser: Any, served_site: str, page: str) -> None:
    with visit(browser, f"{served_site}/zh/{page}.html") as opened:
        style = opened.page.evaluate(
            """() => {
              const texts = [...document.querySelectorAll('article section > p')];
              const text = texts.reduce((one, other) => (other.textContent.length > one.textContent.length ? other : one));
              const style = getComputedStyle(text);
              return { family: style.fontFamily, leading: parseFloat(style.lineHeight) / parseFloat(style.fontSize),
                       measure: text.clientWidth / parseFloat(style.fontSize),
                       slanted: [...document.querySelectorAll('article em, article i')].map(node => getComputedStyle(node).fontStyle) };
            }"""
        )
        for family in ("PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "Noto Sans CJK SC", "Source Han Sans SC"):
            assert family in style["family"]
        assert 1.7 <= style["leading"] <= 1.9
        assert style["measure"] <= 46
        assert set(style["slanted"]) <= {"normal"}


def test_no_font_is_downloaded(site: Path) -> None:
    assert "@font-face" not in (site / "assets" / "book.css").read_text(encoding="utf-8")
    assert not [path for path in site.rglob("*") if path.suffix in (".woff", ".woff2", ".ttf", ".otf")]


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_folded_text_opens_by_keyboard(browser: Any, served_site: str, language: str, page: str) -> None:
    with visit(browser, f"{served_site}/{language}/{page}.html") as opened:
        tab = opened.page
        for fold in tab.locator("article details").all():
            assert fold.evaluate("node => !node.open")
            fold.locator("> summary").focus()
            tab.keyboard.press("Enter")
            assert fold.evaluate("node => node.open && node.lastElementChild.getBoundingClientRect().height > 10")


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_paper_shows_all_of_the_text_and_nothing_of_the_interface(browser: Any, served_site: str, site: Path, language: str, script: bool) -> None:
    page = "verification_state"
    document = BeautifulSoup((site / language / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
    answers = [letters(answer.get_text()) for answer in document.select("article details.sd-dropdown > .sd-summary-content")]
    assert len(answers) >= 2
    with visit(browser, f"{served_site}/{language}/{page}.html", java_script_enabled=script, color_scheme="dark") as opened:
        printed = PdfReader(io.BytesIO(opened.page.pdf(format="A4")))
        text = letters("".join(sheet.extract_text() for sheet in printed.pages))
        for answer in answers:
            assert answer[-12:] in text
        opened.page.emulate_media(media="print")
        assert opened.page.locator("header.top, .side, .aside, .turn, .copy, .headerlink, .foot").evaluate_all("nodes => nodes.every(node => !node.offsetParent)")


def letters(text: str) -> str:
    """Letters, digits and characters of a text: without line breaks, ligatures, and the shapes that a PDF's fonts share."""
    return re.sub(rf"[^A-Za-z0-9{HAN}]", "", unicodedata.normalize("NFKC", text))


def test_the_section_being_read_is_marked_in_the_contents(browser: Any, served_site: str) -> None:
    with visit(browser, f"{served_site}/en/prefix_acceptance.html") as opened:
        tab = opened.page
        anchors = tab.locator(".aside a").evaluate_all("nodes => nodes.map(node => node.hash.slice(1))")
        for anchor in (anchors[3], anchors[1]):
            tab.locator(f"#{anchor}").evaluate("node => scrollTo(0, node.getBoundingClientRect().top + scrollY - 90)")
            tab.wait_for_selector(f".aside a[aria-current][href='#{anchor}']")


def test_the_pages_of_the_book_follow_one_another(browser: Any, served_site: str) -> None:
    with visit(browser, f"{served_site}/zh/{TREE.pages[0]}.html") as opened:
        tab = opened.page
        for page in TREE.pages[1:]:
            tab.click(".turn a[rel=next]")
            arrive(tab, f"{served_site}/zh/{page}.html")
            assert tab.locator(".side a[aria-current=page], .side .current > a").last.get_attribute("href") == "#"
        assert tab.locator(".turn a[rel=next]").count() == 0


def test_a_phone_reaches_all_pages_from_the_menu(browser: Any, served_site: str) -> None:
    with visit(browser, f"{served_site}/en/lineage.html", viewport={"width": 360, "height": 700}) as opened:
        tab = opened.page
        assert not tab.locator(".side").is_visible()
        tab.click("details.contents > summary")
        assert tab.locator("details.contents a:visible").count() == len(TREE.pages)
        tab.click("details.contents a:has-text('Glossary')")
        arrive(tab, f"{served_site}/en/glossary.html")
