"""The search index, made by Pagefind from copies of the pages that are prepared for it.

Pagefind cuts Chinese into words of its own when it indexes, and the browser cuts a query in its own way; where the two differ, a term that stands
on the page is not found. So each Chinese character is indexed as a word, and assets/js/search.js asks for characters in a row.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from .tree import LANGUAGES, BookError, Tree

HAN = re.compile(r"([\u3400-\u9fff\uf900-\ufaff])")
ARTICLE = re.compile(r"<article.*</article>", re.DOTALL)
KEYWORDS = re.compile(r'<meta name="keywords" content="([^"]*)"')
TEXT = re.compile(r">([^<]+)<")
SECTION = re.compile(r'<section\b[^>]*?id="([^"]*)"[^>]*>((?:\s*<span id="[^"]*"></span>)*\s*)<h([1-6])>')
TERM = re.compile(r"<dt id=(.*?)</dt>", re.DOTALL)
HEADERLINK = re.compile(r'<a class="headerlink".*?</a>')
# Of what Pagefind writes, the ready-made interfaces are not used.
UNUSED = ("pagefind-ui*", "pagefind-modular-ui*", "pagefind-component-ui*", "pagefind-highlight*")


def write_index(tree: Tree, site: Path) -> None:
    """Write `pagefind/` below `site`, with one index a language."""
    with tempfile.TemporaryDirectory() as scratch:
        for language in LANGUAGES:
            (Path(scratch) / language).mkdir()
            for name in tree.pages:
                page = (site / language / f"{name}.html").read_text(encoding="utf-8")
                (Path(scratch) / language / f"{name}.html").write_text(prepared(page), encoding="utf-8")
        command = [sys.executable, "-m", "pagefind", "--site", scratch, "--output-path", str(site / "pagefind")]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace")
    if done.returncode or not (site / "pagefind" / "pagefind.js").is_file():
        raise BookError(f"Pagefind could not index the site: {done.stderr.strip() or done.stdout.strip()}")
    for pattern in UNUSED:
        for path in (site / "pagefind").glob(pattern):
            path.unlink()


def prepared(page: str) -> str:
    """A page with its subjects, with Chinese characters set apart, and with its sections and terms as headings that have anchors."""
    keywords = KEYWORDS.search(page)
    # As filters they come with a result but are no words of the page.
    subjects = "".join(f'<i data-pagefind-filter="subject:{word}"></i>' for word in keywords[1].split(", ")) if keywords else ""
    return ARTICLE.sub(lambda match: subjects + _article(match[0]), page)


def _article(html: str) -> str:
    html = HEADERLINK.sub("", html)
    html = SECTION.sub(r'<section>\2<h\3 id="\1">', html)
    html = TERM.sub(r"<h6 id=\1</h6>", html)
    return TEXT.sub(lambda match: ">" + HAN.sub(r" \1 ", match[1]) + "<", html)
