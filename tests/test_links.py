"""Links of the built site, on small sites of our own: each fault is reported once, at its file and line."""

from __future__ import annotations

from pathlib import Path

import pytest
from book.links import check_site

PAGE = """<!doctype html>
<html><head><link rel="stylesheet" href="../assets/book.css?v=3"></head>
<body id="body"><h1 id="start">Title</h1>
{body}
</body></html>
"""
LINE = 4  # of the page that {body} is on


@pytest.fixture
def small_site(tmp_path: Path) -> Path:
    """Two pages in each language, a front page, a style sheet and a picture; all links resolve."""
    root = tmp_path / "site"
    for language in ("zh", "en"):
        (root / language / "notebooks").mkdir(parents=True)
        for name in ("index", "page"):
            write(root, f"{language}/{name}", "")
        (root / language / "notebooks" / "page.ipynb").write_text("{}", encoding="utf-8")
    (root / "assets").mkdir()
    (root / "assets" / "book.css").write_text("", encoding="utf-8")
    (root / "assets" / "图 1.png").write_bytes(b"")
    (root / "index.html").write_text('<a href="zh/index.html">中文</a> <a href="en/">English</a>', encoding="utf-8")
    return root


def write(root: Path, page: str, body: str) -> None:
    (root / f"{page}.html").write_text(PAGE.format(body=body), encoding="utf-8")


SOUND = [
    '<a href="page.html">a page</a>',
    '<a href="page.html#start">an anchor</a>',
    '<a href="#start">an anchor here</a>',
    '<a href="#">the top</a> <a href="#top">the top</a> <a href="">this page</a>',
    '<a href="page.html?q=1#start">a query</a> <a href="?q=1">a query here</a>',
    '<a href="../">the front page</a> <a href="./">this folder</a> <a href="../en">a folder</a>',
    '<a href="notebooks/page.ipynb#anything">no HTML, so no anchors</a>',
    '<a href="page.html#:~:text=Title">a text fragment</a> <a href="page.html#start:~:text=Title">both</a>',
    '<h2 id="首次拒绝">x</h2><a href="#%E9%A6%96%E6%AC%A1%E6%8B%92%E7%BB%9D">encoded</a> <a href="#首次拒绝">as it is</a>',
    '<h2 id="a%20b">x</h2><a href="#a%20b">an anchor that holds a percent sign</a>',
    '<a name="old">x</a><a href="#old">an anchor by name</a>',
    '<img src="../assets/%E5%9B%BE%201.png" srcset="../assets/%E5%9B%BE%201.png 1x, ../assets/%E5%9B%BE%201.png 2x">',
    '<a href="mailto:a@example.org">m</a> <a href="https://example.org/x#y">w</a> <a href="//example.org/x">p</a> <img src="data:,x">',
    '<svg><path id="tip"></path><use href="#tip"></use><use xlink:href="#tip"></use></svg>',
    "<!-- <a href='gone.html'>a comment</a> --><script>const a = '<a href=\"gone.html\">';</script>",
]


@pytest.mark.parametrize("body", SOUND)
def test_a_link_that_resolves_is_not_reported(small_site: Path, body: str) -> None:
    write(small_site, "zh/index", body)
    assert check_site(small_site) == []


FAULTS = {
    '<a href="gone.html">x</a>': "no file",
    '<a href="gone/">x</a>': "no file",
    '<a href="Page.html">x</a>': "no file",
    '<a href="gone.html?q=1#start">x</a>': "no file",
    '<a href="page.html#gone">x</a>': "no anchor 'gone' in zh/page.html",
    '<a href="page.html?q=1#gone">x</a>': "no anchor 'gone'",
    '<a href="#Start">x</a>': "no anchor 'Start' in zh/index.html",
    '<a href="#%E9%A6%96%E6%AC%A1">x</a>': "no anchor '首次'",
    '<a href="../en/#gone">x</a>': "no anchor 'gone' in en/index.html",
    '<img src="../assets/gone.png">': "no file",
    '<script src="../assets/gone.js"></script>': "no file",
    '<img srcset="../assets/book.css 1x, ../assets/gone.png 2x">': "no file",
    '<a href="../../outside.html">x</a>': "leaves the site",
    '<a href="../..">x</a>': "leaves the site",
    '<a href="%2E%2E/../outside.html">x</a>': "leaves the site",
    '<a href="/zh/page.html">x</a>': "server's root",
    '<svg><use xlink:href="#gone"></use></svg>': "no anchor 'gone'",
}


@pytest.mark.parametrize(("body", "message"), FAULTS.items())
def test_a_fault_is_reported_once_at_its_line(small_site: Path, body: str, message: str) -> None:
    write(small_site, "zh/index", body)
    (finding,) = check_site(small_site)
    assert finding.places == ((Path("zh/index.html"), LINE),)
    assert message in finding.message


@pytest.mark.parametrize("missing", ["en/page.html", "zh/page.html", "en/notebooks/page.ipynb"])
def test_a_page_without_its_twin_is_reported(small_site: Path, missing: str) -> None:
    (small_site / missing).unlink()
    (finding,) = check_site(small_site)
    language, _, rest = missing.partition("/")
    other = {"zh": "en", "en": "zh"}[language]
    assert finding.places == ((Path(other) / rest, 1), (Path(language) / rest, 1))
    assert f"missing in {language}" in finding.message


def test_pages_outside_the_languages_are_read_too(small_site: Path) -> None:
    (small_site / "404.html").write_text('\n<a href="gone.html">x</a>', encoding="utf-8")
    (finding,) = check_site(small_site)
    assert finding.places == ((Path("404.html"), 2),)


def test_a_page_with_a_base_is_read_from_the_root_of_the_site(small_site: Path) -> None:
    text = '<base href="/book/">\n<a href="en/page.html#start">x</a>\n<a href="page.html">x</a>'
    (small_site / "zh" / "404.html").write_text(text, encoding="utf-8")
    (small_site / "en" / "404.html").write_text("", encoding="utf-8")
    (finding,) = check_site(small_site)
    assert finding.places == ((Path("zh/404.html"), 3),)


def test_an_empty_site_is_an_error_and_not_a_success(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="site="):
        check_site(tmp_path)
