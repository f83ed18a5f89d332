"""Following the links of the built site: files, anchors, and the twin of each page. Nothing is fetched from a network."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from .tree import LANGUAGES
from .twins import Finding

LINKS = {"href", "src", "xlink:href"}
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
# A page and the notebook made from it exist in each language under one name.
TWINNED = {".html", ".ipynb"}


@dataclass
class Document(HTMLParser):
    """One HTML file: the anchors it offers and the addresses it links to, each with its line."""

    path: Path
    folder: str  # below the site, what its relative addresses start from
    anchors: set[str] = field(default_factory=set)
    links: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        line = self.getpos()[0]
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (name == "name" and tag == "a"):
                self.anchors.add(value)
            elif tag == "base" and name == "href":
                # A 404 page is served at any depth; its base is where the site is published, the site's root.
                self.folder = ""
            elif name in LINKS:
                self.links.append((value.strip(), line))
            elif name == "srcset":
                # Each candidate is an address, then its width or density.
                self.links += [(part.split()[0], line) for part in re.split(r",\s+", value) if part.strip()]


def check_site(site: Path) -> list[Finding]:
    """Check every internal link of the HTML files below `site`; return what does not resolve, with paths relative to it.

    An internal link (`href`, `src`, `srcset`) leads to a file of the site, and its anchor to an `id` of that page. A link that climbs
    out of the site, or starts at the server's root, breaks as soon as the site is published below a sub-path, so it is reported too.
    Addresses with a scheme (`https:`, `mailto:`, `data:`) are left alone. Every page has its twin in the other language.

    Raises:
        ValueError: `site` holds no HTML file, so nothing would be checked.
    """
    # Names are compared with their case, also where the file system ignores it.
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    documents = {name: Document(site / name, posixpath.dirname(name)) for name in sorted(files) if name.endswith(".html")}
    if not documents:
        raise ValueError(f"site={site.as_posix()!r} holds no HTML file")
    findings = _twins(files)
    for name, document in documents.items():
        for address, line in document.links:
            problem = _problem(name, address, files, documents)
            if problem:
                findings.append(Finding(((Path(name), line),), f"{problem}: {address!r}"))
    return findings


def _twins(files: set[str]) -> list[Finding]:
    findings = []
    for language, other in zip(LANGUAGES, reversed(LANGUAGES)):
        for name in sorted(files):
            folder, _, rest = name.partition("/")
            twin = f"{other}/{rest}"
            if folder == language and posixpath.splitext(rest)[1] in TWINNED and twin not in files:
                findings.append(Finding(((Path(name), 1), (Path(twin), 1)), f"the page is missing in {other}"))
    return findings


def _problem(page: str, address: str, files: set[str], documents: dict[str, Document]) -> str:
    """Say why a link of `page` does not resolve, or nothing."""
    if SCHEME.match(address):
        return ""
    parts = urlsplit(address)
    if parts.path.startswith("/"):
        return "the link starts at the server's root and breaks below a sub-path"
    target = page
    if parts.path:
        target = posixpath.normpath(posixpath.join(documents[page].folder, unquote(parts.path)))
        if target == ".." or target.startswith("../"):
            return "the link leaves the site"
        if target not in files:
            # A folder is served by its index.
            target = posixpath.normpath(posixpath.join(target, "index.html"))
        if target not in files:
            return "the link leads to no file of the site"
    # `#` and `#top` are the top of any page; a text fragment (`:~:`) is the reader's search, not an anchor.
    anchor = parts.fragment.partition(":~:")[0]
    if anchor in ("", "top") or target not in documents:
        return ""
    if {anchor, unquote(anchor)} & documents[target].anchors:
        return ""
    return f"there is no anchor {unquote(anchor)!r} in {target}"
