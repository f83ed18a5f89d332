"""What the browser tests share: the pages of the book, opened with every other host blocked and every request recorded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from book.tree import LANGUAGES, Tree
from conftest import ROOT

TREE = Tree(ROOT)
PAGES = [(language, page) for language in LANGUAGES for page in TREE.pages]
OTHER = {"zh": "en", "en": "zh"}
# Characters of which there are none in the other language's interface.
HAN = "\u3400-\u9fff"


@dataclass
class Visit:
    """An open page, the requests it made, and what went wrong on it."""

    page: Any
    requests: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@contextmanager
def visit(browser: Any, address: str, **context: Any) -> Iterator[Visit]:
    """Open `address` in a fresh context; requests that leave its host are recorded and refused."""
    options = {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light", **context}
    opened = browser.new_context(**options)
    record = Visit(opened.new_page())

    def route(route: Any) -> None:
        url = route.request.url
        if urlsplit(url).netloc == urlsplit(address).netloc or url.startswith(("data:", "blob:")):
            record.requests.append(url)
            route.continue_()
        else:
            record.foreign.append(url)
            route.abort()

    opened.route("**/*", route)
    record.page.on("pageerror", lambda error: record.problems.append(f"error: {error}"))
    record.page.on("console", lambda message: message.type in ("error", "warning") and record.problems.append(message.text))
    record.page.on("response", lambda answer: answer.status >= 400 and record.problems.append(f"{answer.status}: {answer.url}"))
    try:
        record.page.goto(address, wait_until="load")
        yield record
    finally:
        opened.close()


def arrive(tab: Any, address: str) -> None:
    """Wait until `tab` shows `address`, in which ** stands for anything.

    Asks for the address again and again: waiting for the event of the navigation misses one that came in time, now and then.
    """
    from playwright.sync_api import expect

    expect(tab).to_have_url(re.compile("^" + ".*".join(map(re.escape, address.split("**"))) + "$"), timeout=20_000)
    tab.wait_for_load_state()


def settle(tab: Any) -> None:
    """Wait until the page has been laid out anew and what watches its sizes has run: two frames."""
    tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
