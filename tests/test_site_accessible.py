"""Everyone can read it: axe-core and an HTML validator find nothing, and pages have the structure that helps to move about."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from book import node
from bs4 import BeautifulSoup
from conftest import ROOT
from pages import HAN, PAGES, settle, visit

NODE = Path(__file__).parent / "node"
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
RUN = "rules => axe.run(document, rules).then(found => found.violations.map(each => [each.id, each.nodes.map(node => node.html.slice(0, 200))]))"


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """The validators from npm, at the versions of tests/node/package-lock.json."""
    try:
        return node.install(NODE, ROOT / "_build" / "node")
    except node.NoNode as error:
        message = f"NO NODE: accessibility and HTML are not checked. {error}"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_axe_finds_nothing_in_either_theme_at_either_width(browser: Any, served_site: str, node_modules: Path, language: str, page: str) -> None:
    with visit(browser, f"{served_site}/{language}/{page}.html") as opened:
        tab = opened.page
        tab.add_script_tag(path=node_modules / "axe-core" / "axe.min.js")
        tab.locator("article details").evaluate_all("nodes => nodes.forEach(node => { node.open = true; })")
        for theme in ("light", "dark"):
            tab.click("[data-theme-switch]")
            assert tab.evaluate("document.documentElement.dataset.theme") == theme
            for width in (1280, 360):
                tab.set_viewport_size({"width": width, "height": 800})
                settle(tab)
                assert tab.evaluate(RUN, RULES) == [], (theme, width)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_menus_and_search(browser: Any, served_site: str, node_modules: Path, theme: str) -> None:
    with visit(browser, f"{served_site}/zh/exercise.html", viewport={"width": 360, "height": 800}, color_scheme=theme) as opened:
        tab = opened.page
        tab.add_script_tag(path=node_modules / "axe-core" / "axe.min.js")
        settle(tab)
        for menu in ("details.contents > summary", "details.launch > summary"):
            tab.click(menu)
            assert tab.evaluate(RUN, RULES) == [], menu
        tab.keyboard.press("Escape")
        tab.click("[data-search]")
        tab.fill("dialog input", "首次拒绝")
        tab.wait_for_selector("dialog li a")
        assert tab.evaluate(RUN, RULES) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("file", ["index.html?choose", "404.html"])
def test_axe_finds_nothing_on_pages_outside_the_languages(browser: Any, served_site: str, node_modules: Path, file: str, theme: str) -> None:
    with visit(browser, f"{served_site}/{file}", color_scheme=theme) as opened:
        opened.page.add_script_tag(path=node_modules / "axe-core" / "axe.min.js")
        assert opened.page.evaluate(RUN, RULES) == []


def test_every_page_is_valid_html(site: Path, published_site: Path, node_modules: Path) -> None:
    command = [node.node(), str(node_modules / "html-validate" / "bin" / "html-validate.mjs"), "--config", str(NODE / "htmlvalidate.json"), "--formatter", "json"]
    for root in (site, published_site):
        files = [path.relative_to(root).as_posix() for path in sorted(root.rglob("*.html"))]
        assert len(files) == len(PAGES) + 2
        done = subprocess.run([*command, *files], cwd=root, capture_output=True, text=True, encoding="utf-8")
        results = json.loads(done.stdout)
        found = [(result["filePath"], each["line"], each["ruleId"], each["message"]) for result in results for each in result["messages"]]
        assert found == [] and done.returncode == 0, done.stderr


def test_the_validator_does_find_faults(tmp_path: Path, node_modules: Path) -> None:
    (tmp_path / "bad.html").write_text('<!doctype html><html><body><p><div id="a"></div></p><img src="x"></body></html>', encoding="utf-8")
    command = [node.node(), str(node_modules / "html-validate" / "bin" / "html-validate.mjs"), "--config", str(NODE / "htmlvalidate.json"), "bad.html"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 1


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_headings_landmarks_and_figures(site: Path, language: str, page: str) -> None:
    document = BeautifulSoup((site / language / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
    levels = [int(heading.name[1]) for heading in document.find_all(re.compile(r"^h[1-6]$"))]
    assert levels.count(1) == 1 and levels[0] == 1
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:]))
    for landmark in ("header", "main", "footer", "nav[aria-label]"):
        assert document.select(f"body {landmark}"), landmark
    for drawing in document.select("article svg:not([aria-hidden], svg svg)"):
        assert drawing["role"] == "img"
        assert bool(re.search(f"[{HAN}]", drawing["aria-label"])) == (language == "zh"), drawing["aria-label"]
    assert all(picture.get("alt") for picture in document.select("article img"))


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_the_keyboard_skips_to_the_text_and_shows_where_it_is(browser: Any, served_site: str, language: str, page: str) -> None:
    with visit(browser, f"{served_site}/{language}/{page}.html") as opened:
        tab = opened.page
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.className") == "skip"
        assert tab.locator(".skip").bounding_box()["y"] >= 0
        tab.keyboard.press("Enter")
        assert tab.evaluate("document.activeElement.id") == "main"
        seen = 0
        for _ in range(12):
            tab.keyboard.press("Tab")
            outline = tab.evaluate("(() => { const style = getComputedStyle(document.activeElement); return [style.outlineStyle, parseFloat(style.outlineWidth)]; })()")
            if tab.evaluate("document.activeElement !== document.body"):
                seen += 1
                assert outline[0] != "none" and outline[1] >= 2, tab.evaluate("document.activeElement.outerHTML.slice(0, 200)")
        assert seen > 2
