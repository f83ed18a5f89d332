"""Search, in the page's language, below a path, by mouse and by keyboard."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pages import PAGES, Visit, arrive, visit

FIRST = {
    ("zh", "投机解码"): "lineage",
    ("zh", "首次拒绝"): "verification_state",
    ("zh", "连续接受"): "prefix_acceptance",
    ("zh", "回退后缀"): "verification_state",
    ("zh", "候选预算"): "verification_state",
    ("zh", "验证"): "verification_state",
    ("zh", "progress_per_round"): "prefix_acceptance",
    ("zh", "逐位存活率"): "prefix_acceptance",
    ("en", "first rejection"): "verification_state",
    ("en", "acceptance rate"): "prefix_acceptance",
    ("en", "progress_per_round"): "prefix_acceptance",
    ("en", "Speculative Decoding"): "lineage",
}
# Nothing on any page; the middle ones share characters or a half with terms that do stand there.
NOTHING = {("zh", "量子力学"), ("zh", "验证码"), ("zh", "拒绝首次"), ("en", "量子力学"), ("en", "photosynthesis")}


def ask(opened: Visit, query: str) -> str:
    """Type `query` into the open dialog; return what the live region says when the answer is there."""
    status = opened.page.locator("dialog [role=status]")
    opened.page.fill("dialog input", "")
    opened.page.wait_for_function("() => /Esc/.test(document.querySelector('dialog [role=status]').textContent)")
    opened.page.fill("dialog input", query)
    opened.page.wait_for_function("() => !/Esc/.test(document.querySelector('dialog [role=status]').textContent)")
    return status.inner_text()


def found(opened: Visit) -> list[str]:
    return opened.page.locator("dialog li a").evaluate_all("nodes => nodes.map(node => node.href)")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_terms_find_the_page_that_teaches_them_first(browser: Any, served_below: str, language: str) -> None:
    with visit(browser, f"{served_below}/{language}/references.html") as opened:
        opened.page.keyboard.press("Control+k")
        for query, page in [(query, page) for (wanted, query), page in FIRST.items() if wanted == language]:
            said = ask(opened, query)
            assert re.search(r"[1-9]", said), (query, said)
            assert found(opened)[0] == f"{served_below}/{language}/{page}.html", query
            assert all(url.startswith(f"{served_below}/{language}/") for url in found(opened))
            marked = opened.page.locator("dialog li mark").all_inner_texts()
            whole = query.lower() if language == "zh" else query.lower().split()[0]
            assert any(whole in text.lower() or text.lower() in whole for text in marked), (query, marked)
        assert opened.problems == [] and opened.foreign == []


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_word_that_stands_nowhere_finds_nothing_and_says_so(browser: Any, served_below: str, language: str) -> None:
    with visit(browser, f"{served_below}/{language}/index.html") as opened:
        opened.page.keyboard.press("Control+k")
        for query in sorted(query for wanted, query in NOTHING if wanted == language):
            said = ask(opened, query)
            assert query in said and ("没有找到" if language == "zh" else "Nothing found") in said
            assert found(opened) == []


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_search_opens_on_every_page_by_mouse_and_both_shortcuts(browser: Any, served_site: str, language: str, page: str) -> None:
    with visit(browser, f"{served_site}/{language}/{page}.html") as opened:
        tab = opened.page
        for start in (lambda: tab.click("[data-search]"), lambda: tab.keyboard.press("Control+k"), lambda: tab.keyboard.press("/")):
            start()
            tab.wait_for_selector("dialog[open]")
            assert tab.evaluate("document.activeElement === document.querySelector('dialog input')")
            assert tab.input_value("dialog input") == ""
            tab.keyboard.press("Escape")
            tab.wait_for_selector("dialog:not([open])", state="attached")
            assert tab.evaluate("document.activeElement.matches('[data-search]')")


def test_a_result_is_chosen_by_keyboard(browser: Any, served_below: str) -> None:
    with visit(browser, f"{served_below}/zh/index.html") as opened:
        tab = opened.page
        tab.keyboard.press("Control+k")
        ask(opened, "首次拒绝")
        tab.keyboard.press("ArrowDown")
        tab.keyboard.press("ArrowDown")
        second = tab.evaluate("document.activeElement.href")
        assert second == found(opened)[1]
        tab.keyboard.press("ArrowUp")
        tab.keyboard.press("ArrowUp")
        assert tab.evaluate("document.activeElement.matches('input')")
        tab.keyboard.press("Enter")
        arrive(tab, f"{served_below}/zh/verification_state.html")


def test_a_term_of_the_glossary_is_a_result_of_its_own(browser: Any, served_site: str) -> None:
    with visit(browser, f"{served_site}/en/index.html") as opened:
        opened.page.keyboard.press("Control+k")
        ask(opened, "rollback suffix")
        assert f"{served_site}/en/glossary.html#term-rollback-suffix" in found(opened)


def test_only_the_article_is_indexed(browser: Any, served_site: str) -> None:
    with visit(browser, f"{served_site}/zh/index.html") as opened:
        opened.page.keyboard.press("Control+k")
        for word in ("跳到正文", "BY-SA", "本页内容"):
            ask(opened, word)
            assert found(opened) == [], word
