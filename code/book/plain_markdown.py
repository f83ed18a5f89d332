"""MyST markdown → the plain markdown that Colab, ModelScope and a bare JupyterLab render.

Blocks are found with the book's own parser; roles in running text are replaced by words and links.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pybtex.database import parse_file

from .markup import DIRECTIVE, TARGETED, Page, _options, parser, read_page
from .tree import Tree, read_yaml

ROLE = re.compile(r"\{(?P<name>[\w:]+)\}`(?P<content>[^`]*)`")
PAGE_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<page>[\w-]+)\.md(?P<anchor>#[\w-]+)?\)")
# Middle greys and tones that read on a white and on a dark notebook; an embedded image cannot see the page's theme.
COLOURS = {"ink": "#6b7280", "muted": "#7b8494", "line": "#8a93a3", "surface": "none", "accent": "#2b87c8", "accept": "#16916f", "reject": "#d2622a"}


@dataclass
class Context:
    """What the replacements need to know of the book around a page.

    Args:
        glued: name → text of the numbers that the page's cells computed.
        labels: label → (page, heading) in this language.
        titles: page → title.
        citations: key → (authors and year, address or empty).
    """

    tree: Tree
    language: str
    glued: dict[str, str] = field(default_factory=dict)
    labels: dict[str, tuple[str, str]] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    citations: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    courses: dict = field(default_factory=dict)

    @classmethod
    def of(cls, tree: Tree, language: str) -> Context:
        """Read labels, titles, citations and course sections once for a language."""
        context = cls(tree, language, courses=read_yaml(tree.chapters / "courses.yml"))
        for name in tree.pages:
            context._read_labels(name, read_page(tree.page(language, name)))
        context.citations = read_citations(tree.chapters / "references.bib")
        return context

    def _read_labels(self, name: str, page: Page) -> None:
        lines = page.path.read_text(encoding="utf-8").splitlines()
        headings = {item.line: lines[item.line - 1].lstrip("# ").strip() for item in page.of_kind("heading")}
        self.titles[name] = next(iter(headings.values()), name)
        for item in page.of_kind("label"):
            following = [headings[line] for line in sorted(headings) if line > item.line]
            self.labels[item.key] = (name, following[0] if following else self.titles[name])

    def link(self, text: str, page: str, anchor: str = "") -> str:
        """Link to a published page, or give the words alone where the book has no public address."""
        base = self.tree.publication.baseurl
        return f"[{text}]({base}{self.language}/{page}.html{anchor})" if base else text


def read_citations(path: Path) -> dict[str, tuple[str, str, str]]:
    """Return key → (authors, year, address) for running text."""
    citations = {}
    for key, entry in parse_file(str(path), "bibtex").entries.items():
        people = entry.persons.get("author", [])
        names = [" ".join(person.last_names) or str(person) for person in people]
        authors = names[0].strip("{}") if names else key
        if len(names) == 2:
            authors = " & ".join(name.strip("{}") for name in names)
        elif len(names) > 2:
            authors += " et al."
        address = entry.fields.get("url") or ("https://arxiv.org/abs/" + entry.fields["eprint"] if "eprint" in entry.fields else "")
        citations[key] = (authors, entry.fields.get("year", ""), address)
    return citations


def plain(text: str, context: Context) -> str:
    """Return `text` without MyST: directives as blockquotes, details or images, roles as words and links."""
    lines = text.splitlines()
    pieces: list[str] = []
    done = 0
    for token in parser().parse(text):
        if token.level or token.map is None or token.map[0] < done:
            continue
        start, end = token.map
        if token.type not in ("fence", "colon_fence", "myst_target", "math_block", "amsmath"):
            continue
        pieces += _running(lines[done:start], context)
        done = end
        if token.type == "myst_target":
            continue
        match = DIRECTIVE.match(token.info.strip()) if "fence" in token.type else None
        block = _directive(match["name"], match["argument"], token.content, context) if match else lines[start:end]
        pieces += ["", *block, ""]
    pieces += _running(lines[done:], context)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(pieces)).strip()


def _running(lines: list[str], context: Context) -> list[str]:
    """Replace roles and links in running text; code spans stay as they are."""
    return _inline("\n".join(lines), context).splitlines() if lines else []


def _inline(text: str, context: Context) -> str:
    if context.language == "zh":
        # The citation brings full-width parentheses, which take no space before them.
        text = re.sub(r" (?=\{cite(:p)?\}`)", "", text)
    text = ROLE.sub(lambda match: _role(match["name"], " ".join(match["content"].split()), context), text)
    return PAGE_LINK.sub(lambda match: context.link(match["text"], match["page"], match["anchor"] or ""), text)


def _directive(name: str, argument: str, content: str, context: Context) -> list[str]:
    options, body, _ = _options(content)
    title = _inline(argument.strip(), context)
    inner = plain(body, context)
    if name == "dropdown":
        return [f"<details><summary>{_html_code(title)}</summary>", "", inner, "", "</details>"]
    if name == "svg":
        return [_picture(argument.strip(), options.get("alt", ""), context), "", f"*{inner}*" if inner else ""]
    if name == "math":
        return ["$$", body.strip(), "$$"]
    if name in ("bibliography", "toctree"):
        return []
    quoted = [f"**{title}**", "", *inner.splitlines()] if title else inner.splitlines()
    return [f"> {line}".rstrip() for line in quoted]


def _html_code(text: str) -> str:
    """A summary is HTML, in which markdown's code spans are not rendered."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text)


def _picture(name: str, alt: str, context: Context) -> str:
    path = context.tree.root / "assets" / "figures" / f"{name}.{context.language}.svg"
    svg = path.read_text(encoding="utf-8")
    for key, colour in COLOURS.items():
        svg = re.sub(rf"var\(--mtp-{key}(?:,(?:[^()]|\([^()]*\))*)?\)", colour, svg)
    svg = svg.replace("currentColor", COLOURS["ink"])
    return f"![{alt.replace(']', ')')}](data:image/svg+xml;base64,{base64.b64encode(svg.encode('utf-8')).decode('ascii')})"


def _role(name: str, content: str, context: Context) -> str:
    handler = ROLES.get(name)
    if handler is None:
        raise ValueError(f"no plain form is known for the role {{{name}}}`{content}`")
    return handler(content, context)


def _split(content: str) -> tuple[str, str]:
    match = TARGETED.match(content)
    return (match["text"], match["target"]) if match else ("", content)


def _term(content: str, context: Context) -> str:
    text, target = _split(content)
    return text or target


def _reference(content: str, context: Context) -> str:
    text, label = _split(content)
    page, heading = context.labels[label]
    return context.link(text or heading, page, f"#{label}")


def _document(content: str, context: Context) -> str:
    text, page = _split(content)
    return context.link(text or context.titles[page], page)


def _glued(content: str, context: Context) -> str:
    return context.glued[content.split(":")[0]]


def _cited(form: str) -> Callable[[str, Context], str]:
    def render(content: str, context: Context) -> str:
        works = []
        for key in content.split(","):
            authors, year, address = context.citations[key.strip()]
            text = form.format(authors=authors, year=year).strip(", ")
            works.append(f"[{text}]({address})" if address else text)
        chinese = context.language == "zh"
        joined = ("；" if chinese else "; ").join(works)
        if not form.endswith("{year}"):
            return joined
        return f"（{joined}）" if chinese else f"({joined})"

    return render


def _course(content: str, context: Context) -> str:
    section = {str(key): value for key, value in context.courses["sections"].items()}[content]
    label = f"{content} {section[context.language]}".strip()
    return f"[{label}]({context.courses['base']}{section.get('path') or ''})"


ROLES: dict[str, Callable[[str, Context], str]] = {
    "term": _term,
    "ref": _reference,
    "numref": _reference,
    "doc": _document,
    "glue:text": _glued,
    "cite": _cited("{authors}, {year}"),
    "cite:p": _cited("{authors}, {year}"),
    "cite:t": _cited("{authors} ({year})"),
    "course": _course,
}
