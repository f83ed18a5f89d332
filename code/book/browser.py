"""A headless Chromium, for the PDF and for the tests: an installed one is found first, then Playwright's own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .tree import BookError

# A container's Chromium runs as root and without a screen; none of its own services may ask for anything.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class NoBrowser(BookError):
    """No Chromium can be started here."""


def executable() -> str | None:
    """Path of an installed Chromium, or None where Playwright's own is to be tried."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a headless Chromium (Playwright's `Browser`); raises `NoBrowser` where there is none."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        raise NoBrowser("Playwright is not installed") from None
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=executable(), args=FLAGS)
        except Error as error:
            raise NoBrowser(f"no browser was found; `playwright install chromium` fetches one ({str(error).splitlines()[0]})") from None
        try:
            yield browser
        finally:
            browser.close()
