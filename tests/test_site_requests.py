"""No request leaves the site: every page is whole with all other hosts blocked, below a path too, and readable without JavaScript."""

from __future__ import annotations

from typing import Any

import pytest
from pages import PAGES, visit

MOST_REQUESTS = 20
SHIFT = """() => new Promise(done => {
  let sum = 0;
  new PerformanceObserver(list => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value; })
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 300);
})"""
# A formula is set when its box has a size and its letters are not squeezed into one another.
UNSET = "nodes => nodes.filter(node => node.getBoundingClientRect().width < 3 || node.getBoundingClientRect().height < 5).length"


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_a_page_is_whole_with_all_other_hosts_blocked(browser: Any, served_below: str, language: str, page: str) -> None:
    with visit(browser, f"{served_below}/{language}/{page}.html") as opened:
        tab = opened.page
        assert tab.evaluate(SHIFT) < 0.02
        first_view = len(opened.requests)
        for theme in ("light", "dark"):
            tab.click("[data-theme-switch]")
            assert tab.evaluate("document.documentElement.dataset.theme") == theme
        tab.click("[data-search]")
        tab.fill("dialog input", "token")
        tab.wait_for_selector("dialog li a")
        tab.keyboard.press("Escape")
        tab.evaluate("scrollTo(0, document.body.scrollHeight)")
        tab.wait_for_load_state("networkidle")
        assert opened.foreign == []
        assert opened.problems == []
        assert first_view <= MOST_REQUESTS
        assert tab.locator("header svg.icon:visible").count() >= 2
        assert tab.locator("article math").evaluate_all(UNSET) == 0


@pytest.mark.parametrize("file", ["index.html", "404.html"])
def test_pages_outside_the_languages_ask_for_nothing_else(browser: Any, served_site: str, file: str) -> None:
    with visit(browser, f"{served_site}/{file}?choose") as opened:
        opened.page.wait_for_load_state("networkidle")
        assert opened.foreign == []
        assert opened.problems == []


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_a_page_reads_without_javascript(browser: Any, served_site: str, language: str, page: str) -> None:
    with visit(browser, f"{served_site}/{language}/{page}.html", java_script_enabled=False, color_scheme="dark") as opened:
        tab = opened.page
        assert opened.foreign == []
        assert tab.locator("h1:visible").count() == 1
        # What needs a script is not offered.
        assert tab.locator("[data-search]:visible, [data-theme-switch]:visible").count() == 0
        for formula in tab.locator("article math:visible").all()[:5]:
            box = formula.bounding_box()
            assert box["width"] > 3 and box["height"] > 5
        assert tab.locator("body").evaluate("body => getComputedStyle(body).backgroundColor") == "rgb(16, 21, 28)"


def test_code_is_copied_as_it_stands(browser: Any, served_site: str) -> None:
    with visit(browser, f"{served_site}/en/exercise.html", permissions=["clipboard-read", "clipboard-write"]) as opened:
        tab = opened.page
        block = tab.locator("article .cell_input .highlight").first
        block.hover()
        block.locator(".copy").click()
        tab.wait_for_function("text => document.querySelector('.copy').textContent === text", arg="Copied")
        copied = tab.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("import copy") and "class MultiTokenDecoderSim" in copied
        assert "Copy" not in copied.splitlines()[-1]


def test_nothing_of_a_page_blocks_its_first_paint_but_one_style_sheet(served_site: str, browser: Any) -> None:
    with visit(browser, f"{served_site}/zh/lineage.html") as opened:
        blocking = opened.page.evaluate(
            "performance.getEntriesByType('resource').filter(entry => entry.renderBlockingStatus === 'blocking').map(entry => entry.name)"
        )
        assert [url.rsplit("/", 1)[1] for url in blocking] == ["book.css"]
