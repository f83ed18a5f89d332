"""The whole book on one page, for paper: cover, table of contents, every page as a chapter, links turned into links inside."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bs4 import BeautifulSoup

from .site import LANGUAGE_TAGS
from .tree import Tree
from .words import WORDS

ARTICLE = re.compile(r"<article[^>]*>(.*)</article>", re.DOTALL)
ACTIONS = re.compile(r'<p class="actions">.*?</p>|<!-- actions -->', re.DOTALL)
IDS = re.compile(r'(?<=\s)(id|aria-labelledby|aria-describedby)="([^"]*)"')
HERE = re.compile(r'((?:xlink:)?href="#|url\(#)([^")]+)')
PAGE = re.compile(r'href="([\w-]+)\.html(?:#([^"]*))?"')


@dataclass(frozen=True)
class Entry:
    """A line of the table of contents."""

    level: int  # 1 a chapter, 2 a section of it
    anchor: str
    title: str


def chapter(tree: Tree, site: Path, language: str, page: str) -> str:
    """The article of a built page, with anchors that are its own in the whole book, and unfolded."""
    text = ARTICLE.search((site / language / f"{page}.html").read_text(encoding="utf-8"))[1]
    text = ACTIONS.sub("", text)
    text = IDS.sub(lambda match: f'{match[1]}="{" ".join(f"{page}--{name}" for name in match[2].split())}"', text)
    text = HERE.sub(lambda match: f"{match[1]}{page}--{match[2]}", text)

    def inside(match: re.Match[str]) -> str:
        if match[1] not in tree.pages:
            return match[0]
        return f'href="#{match[1]}--{match[2]}"' if match[2] else f'href="#{match[1]}"'

    text = PAGE.sub(inside, text).replace("<details", "<details open")
    return f'<article class="chapter" id="{page}">{text}</article>'


def entries(page: str, chapter_html: str) -> list[Entry]:
    """The lines that a chapter brings to the table of contents."""
    soup = BeautifulSoup(chapter_html, "html.parser")
    for extra in soup.select(".headerlink, h1 small"):
        extra.decompose()
    lines = [Entry(1, page, soup.h1.get_text(" ", strip=True))]
    for heading in soup.find_all("h2"):
        section = heading.find_parent("section")
        lines.append(Entry(2, section["id"], " ".join(heading.get_text().split())))
    return lines


def contents(lines: list[Entry], numbers: Mapping[str, int], title: str) -> str:
    """The table of contents; a page number that is not known yet keeps its place empty."""
    items = "".join(
        f'<li class="level{line.level}"><a href="#{line.anchor}"><span>{html.escape(line.title)}</span><i></i>'
        f"<b>{numbers.get(line.anchor, '')}</b></a></li>"
        for line in lines
    )
    return f'<nav class="contents-page"><h2>{title}</h2><ol>{items}</ol></nav>'


def paper(tree: Tree, site: Path, language: str, numbers: Mapping[str, int]) -> str:
    """The whole book in `language` as one HTML document without scripts or outside files."""
    words = WORDS[language]
    chapters = {page: chapter(tree, site, language, page) for page in tree.pages}
    lines = [line for page, text in chapters.items() for line in entries(page, text)]
    styles = "".join(path.read_text(encoding="utf-8") for path in (site / "assets" / "book.css", tree.root / "assets" / "css" / "paper.css"))
    title, author = html.escape(tree.title(language)), html.escape(tree.setting(language, "author"))
    address = f"<p>{html.escape(tree.publication.baseurl)}{language}/</p>" if tree.publication.baseurl else ""
    return (
        f'<!doctype html><html lang="{LANGUAGE_TAGS[language]}" data-theme="light"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="author" content="{author}"><style>{styles}</style></head><body class="paper">'
        f'<div class="cover"><p class="number">35</p><p class="title">{title}</p><p>{words["cover"]}</p><p>{author}</p>{address}<p>{words["licence"]}</p></div>'
        f"{contents(lines, numbers, words['contents'])}{''.join(chapters.values())}</body></html>"
    )
