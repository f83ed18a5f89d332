"""The whole book as PDF and EPUB: complete, with contents and numbers that are right, in the page's language, linked with their size."""

from __future__ import annotations

import posixpath
import re
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pytest
from book import browser as book_browser
from book.paper import chapter, entries
from book.pdf import page_numbers
from bs4 import BeautifulSoup
from conftest import run_book
from pages import HAN, TREE
from pypdf import PdfReader
from test_build import small_book  # noqa: F401  (a fixture)

XHTML = "{http://www.w3.org/1999/xhtml}"
OPF = "{http://www.idpf.org/2007/opf}"


@pytest.fixture(params=["zh", "en"])
def language(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def document(site: Path, browser: object, language: str) -> PdfReader:
    return PdfReader(site / "downloads" / f"native-mtp.{language}.pdf")


def test_the_pdf_names_itself_and_holds_every_page(document: PdfReader, language: str, site: Path) -> None:
    assert document.metadata["/Title"] == TREE.title(language)
    assert document.trailer["/Root"]["/Lang"] == {"zh": "zh-CN", "en": "en"}[language]
    assert "/StructTreeRoot" in document.trailer["/Root"], "not tagged for screen readers"
    assert len(document.pages) > 30
    bookmarks = [item.title for item in document.outline if not isinstance(item, list)]
    for page in TREE.pages:
        title = BeautifulSoup(chapter(TREE, site, language, page), "html.parser").h1
        for extra in title.select(".headerlink"):
            extra.decompose()
        assert any(plain(title.get_text()) in plain(bookmark) for bookmark in flat(document.outline)), page
    assert bookmarks


def flat(outline: list) -> list[str]:
    return [title for item in outline for title in (flat(item) if isinstance(item, list) else [item.title])]


def plain(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_the_numbers_in_the_contents_are_the_pages_of_the_sections(document: PdfReader, language: str, site: Path) -> None:
    numbers = page_numbers((site / "downloads" / f"native-mtp.{language}.pdf").read_bytes())
    lines = [line for page in TREE.pages for line in entries(page, chapter(TREE, site, language, page))]
    first = min(numbers[line.anchor] for line in lines)
    printed = "".join(sheet.extract_text() for sheet in document.pages[: first - 1])
    # The contents list the numbers in the order of the book.
    listed = [int(number) for number in re.findall(r"(?<!\d)(\d{1,3})\s*$", printed, re.MULTILINE)]
    expected = [numbers[line.anchor] for line in lines]
    assert expected == sorted(expected)
    remaining = iter(listed)
    assert all(number in remaining for number in expected), "a number of the contents is missing or wrong"
    # Each page prints its own number at its foot.
    assert all(sheet.extract_text().rstrip().endswith(str(number)) for number, sheet in enumerate(document.pages, start=1))


def test_the_pdf_shows_its_language_and_unfolded_answers(document: PdfReader, language: str) -> None:
    text = "".join(sheet.extract_text() for sheet in document.pages)
    assert bool(len(re.findall(f"[{HAN}]", text)) > 5000) == (language == "zh")
    # What stands in folded answers: the last step of a hint, and a line of the reference solution.
    assert "tokens[: self.max_proposal_len]" in text and "return bool(target_prob >= " in text


def test_the_epub_is_sound(site: Path, language: str) -> None:
    book = zipfile.ZipFile(site / "downloads" / f"native-mtp.{language}.epub")
    names = book.namelist()
    assert names[0] == "mimetype" and book.read("mimetype") == b"application/epub+zip"
    assert book.getinfo("mimetype").compress_type == zipfile.ZIP_STORED
    package = ElementTree.fromstring(book.read("content.opf"))
    assert package.find(".//{http://purl.org/dc/elements/1.1/}language").text == {"zh": "zh-CN", "en": "en"}[language]
    assert package.find(".//{http://purl.org/dc/elements/1.1/}title").text == TREE.title(language)
    identifier = package.find(".//{http://purl.org/dc/elements/1.1/}identifier")
    assert package.get("unique-identifier") == identifier.get("id")
    assert f'content="{identifier.text}"' in book.read("toc.ncx").decode()
    listed = {item.get("href"): item for item in package.iter(f"{OPF}item")}
    assert set(listed) == set(names) - {"mimetype", "content.opf", "META-INF/container.xml"}
    ids = {}
    for name in (name for name in names if name.endswith(".xhtml")):
        page = ElementTree.fromstring(book.read(name))  # raises where it is not well-formed
        ids[name] = {element.get("id") for element in page.iter() if element.get("id")}
        spaces = {element.tag.split("}")[0].lstrip("{") for element in page.iter()}
        declared = set((listed[name].get("properties") or "").split()) - {"nav"}
        assert declared == {key for key, space in (("mathml", "Math/MathML"), ("svg", "2000/svg")) if any(each.endswith(space) for each in spaces)}
    for name in ids:
        for link in ElementTree.fromstring(book.read(name)).iter(f"{XHTML}a"):
            address = link.get("href", "")
            if address and not re.match(r"[a-z]+:", address):
                path, _, anchor = address.partition("#")
                target = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
                assert target in ids, (name, address)
                assert not anchor or unquote(anchor) in ids[target], (name, address)


def test_the_epub_has_every_page_in_its_contents_and_order(site: Path, language: str) -> None:
    book = zipfile.ZipFile(site / "downloads" / f"native-mtp.{language}.epub")
    contents = [link.get("href") for link in ElementTree.fromstring(book.read("nav.xhtml")).iter(f"{XHTML}a")]
    assert contents == [f"{page}.xhtml" for page in TREE.pages]
    package = ElementTree.fromstring(book.read("content.opf"))
    files = {item.get("id"): item.get("href") for item in package.iter(f"{OPF}item")}
    assert [files[item.get("idref")] for item in package.iter(f"{OPF}itemref")] == contents


def test_the_home_page_links_both_with_their_size(site: Path, browser: object, language: str) -> None:
    home = BeautifulSoup((site / language / "index.html").read_text(encoding="utf-8"), "html.parser")
    for kind in ("pdf", "epub"):
        (link,) = home.select(f'.actions a[href$=".{kind}"]')
        file = site / language / link["href"]
        assert file.is_file()
        number, unit = re.search(r"([\d.]+) (kB|MB)", link.get_text()).groups()
        assert float(number) == pytest.approx(file.stat().st_size / {"kB": 1e3, "MB": 1e6}[unit], abs=0.51 if unit == "kB" else 0.051)


def test_without_a_browser_the_rest_is_built_and_the_gap_is_named(small_book: Path, tmp_path: Path) -> None:  # noqa: F811
    # No installed Chromium on the path, and none of Playwright's own.
    done = run_book(small_book, "build", PATH=str(tmp_path), PLAYWRIGHT_BROWSERS_PATH=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "THE PDF WAS LEFT OUT" in done.stdout and "playwright install chromium" in done.stdout
    files = {path.name for path in (small_book / "_build" / "site" / "downloads").iterdir()}
    assert files == {"native-mtp.zh.epub", "native-mtp.en.epub"}
    home = (small_book / "_build" / "site" / "en" / "index.html").read_text(encoding="utf-8")
    assert ".pdf" not in home and book_browser.NAMES
