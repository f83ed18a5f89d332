"""All static checks of the sources, as `python -m book check` runs them: nothing is executed, no browser is started."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from pybtex.database import parse_file

from .markup import Item, Page, read_page
from .prose import check_english, check_terms, check_typography, read_terms
from .tree import LANGUAGES, BookError, Tree, read_yaml
from .twins import Finding, compare, duplicates

__all__ = ["Finding", "run_checks"]


def run_checks(root: Path) -> list[Finding]:
    """Check the tree at `root`; return what is to be mended, with paths relative to it.

    Raises:
        BookError: a file that everything needs is missing or malformed.
    """
    tree = Tree(root.resolve())
    findings = _files(tree)
    pages = {language: _read_pages(tree, language) for language in LANGUAGES}
    terms = _terms(tree)
    chinese = {term.zh: term.en for term in terms}
    entries = {language: _entries(pages[language]) for language in LANGUAGES}
    for name in pages["zh"].keys() & pages["en"].keys():
        zh, en = (_named_alike(pages[language][name], entries[language], chinese) for language in LANGUAGES)
        findings += compare(zh, en)
    for language in LANGUAGES:
        for page in pages[language].values():
            findings += _one_page(page)
        findings += _references(tree, language, pages[language])
        findings += _terms_used(pages[language], entries[language])
    for page in pages["zh"].values():
        findings += check_terms(page, terms) + check_typography(page)
    for page in pages["en"].values():
        findings += check_english(page)
    findings += _glossary_terms(tree, pages, terms)
    return sorted((_relative(finding, tree.root) for finding in findings), key=lambda finding: (finding.places[0][0].as_posix(), finding.places[0][1]))


def _relative(finding: Finding, root: Path) -> Finding:
    return Finding(tuple((path.relative_to(root), line) for path, line in finding.places), finding.message)


def _files(tree: Tree) -> list[Finding]:
    """The table of contents, and both languages, name the same pages."""
    findings = []
    listed = set(tree.pages)
    for language, other in (("zh", "en"), ("en", "zh")):
        present = {path.stem for path in (tree.chapters / language).glob("*.md")}
        for name in sorted(present - listed):
            findings.append(Finding(((tree.page(language, name), 1),), "the page is not in _toc.yml"))
        for name in sorted(listed - present):
            where = tree.page(other, name)
            findings.append(Finding(((where, 1), (tree.page(language, name), 1)), f"the page is missing in {language}"))
    return findings


def _read_pages(tree: Tree, language: str) -> dict[str, Page]:
    return {path.stem: read_page(path) for path in sorted((tree.chapters / language).glob("*.md"))}


def _terms(tree: Tree) -> list:
    try:
        return read_terms(tree.chapters / "terms.tsv")
    except (OSError, ValueError) as error:
        raise BookError(str(error)) from None


def _entries(pages: dict[str, Page]) -> dict[str, str]:
    """Glossary entries, in lower case as Sphinx finds them, each to the first of the entries that share its definition."""
    first: dict[str, str] = {}
    for page in pages.values():
        before = None
        for item in page.of_kind("glossary entry"):
            shared = before is not None and item.line == before.line + 1
            first[item.key.lower()] = first[before.key.lower()] if shared and before else item.key
            before = item
    return first


def _named_alike(page: Page, entries: dict[str, str], english: dict[str, str]) -> Page:
    """The page with its glossary entries and uses of terms under English names, so that they can be compared."""

    def renamed(item: Item) -> Item:
        if item.kind == "term":
            name = entries.get(item.key.lower(), item.key)
        elif item.kind == "glossary entry":
            name = item.key
        else:
            return item
        return Item(item.kind, english.get(name, name), item.line, item.structural)

    return Page(page.path, [renamed(item) for item in page.items])


def _terms_used(pages: dict[str, Page], entries: dict[str, str]) -> list[Finding]:
    return [
        Finding(((page.path, line),), f"{{term}} {target!r} is not in this language's glossary")
        for page in pages.values()
        for kind, target, line in page.references
        if kind == "term" and target.lower() not in entries
    ]


def _one_page(page: Page) -> list[Finding]:
    """What holds for a page by itself: one title, no skipped level, labels defined once, figures described."""
    findings = duplicates(page) + [Finding(((page.path, line),), message) for line, message in page.problems]
    headings = page.of_kind("heading")
    titles = [item for item in headings if item.key == "h1"]
    if len(titles) != 1:
        line = titles[1].line if titles else 1
        findings.append(Finding(((page.path, line),), f"a page has exactly one title (#), this one has {len(titles)}"))
    for before, after in zip(headings, headings[1:]):
        if int(after.key[1]) > int(before.key[1]) + 1:
            findings.append(Finding(((page.path, after.line),), f"heading level skipped: {after.key} after {before.key}"))
    return findings


def _references(tree: Tree, language: str, pages: dict[str, Page]) -> list[Finding]:
    """Labels, pages, citations and course sections that are referred to exist."""
    labels = Counter(item.key for page in pages.values() for item in page.of_kind("label"))
    first = {item.key: (page.path, item.line) for page in pages.values() for item in page.of_kind("label")}
    findings = [Finding((first[key],), f"label {key!r} is defined on more than one page") for key, count in labels.items() if count > 1]
    cited = set(parse_file(str(tree.chapters / "references.bib"), "bibtex").entries)
    courses = read_yaml(tree.chapters / "courses.yml")
    sections = {str(key) for key in courses["sections"]}
    for page in pages.values():
        for kind, target, line in page.references:
            problem = _problem(kind, target, labels, pages, cited, sections)
            if problem:
                findings.append(Finding(((page.path, line),), problem))
        findings += _unglued(page)
        for item in page.of_kind("directive"):
            name = re.match(r"\{svg\} (\S+)", item.key)
            drawing = tree.root / "assets" / "figures" / f"{name[1]}.{language}.svg" if name else None
            if drawing is not None and not drawing.is_file():
                findings.append(Finding(((page.path, item.line),), f"there is no {drawing.name} in assets/figures"))
        findings += _literal_course_links(page, courses["base"])
    return findings


def _problem(kind: str, target: str, labels: Counter, pages: dict[str, Page], cited: set[str], sections: set[str]) -> str:
    """Say what is wrong with a reference, or nothing."""
    if kind in ("ref", "numref") and target not in labels:
        return f"label {target!r} is not defined on any page of this language"
    if kind == "doc" and target not in pages:
        return f"there is no page {target!r}"
    if kind == "citation" and target not in cited:
        return f"{target!r} is not in references.bib"
    if kind == "course section" and target not in sections:
        return f"course section {target!r} is not in courses.yml"
    if kind == "link" and not re.match(r"[a-z][a-z0-9+.-]*:", target):
        name, _, anchor = target.partition("#")
        if name and name.removesuffix(".md") not in pages:
            return f"the link {target!r} leads to no page of this language"
        if anchor and anchor not in (labels if not name else {item.key for item in pages[name.removesuffix(".md")].of_kind("label")}):
            return f"label {anchor!r} is not defined {'on ' + name if name else 'on any page of this language'}"
    return ""


def _unglued(page: Page) -> list[Finding]:
    """Report numbers in prose that no cell of the page keeps: together, since they are lost together with their cell."""
    used = [(target, line) for kind, target, line in page.references if kind == "glued number"]
    lost = {target: line for target, line in reversed(used) if not any(re.fullmatch(pattern, target) for pattern in page.glued)}
    if not lost:
        return []
    return [Finding(((page.path, min(lost.values())),), f"no cell of this page glues {', '.join(map(repr, reversed(lost)))}")]


def _literal_course_links(page: Page, base: str) -> list[Finding]:
    address = re.sub(r"^https?://", "", base).rstrip("/")
    lines = page.path.read_text(encoding="utf-8").splitlines()
    message = f"an address of the course is written out; use {{course}}`number` and courses.yml ({base})"
    return [Finding(((page.path, number),), message) for number, text in enumerate(lines, start=1) if address in text]


def _glossary_terms(tree: Tree, pages: dict[str, dict[str, Page]], terms: list) -> list[Finding]:
    """Every entry of a glossary is a term of the table."""
    findings = []
    for language in LANGUAGES:
        known = {getattr(term, language) for term in terms}
        for page in pages[language].values():
            for item in page.of_kind("glossary entry"):
                if item.key not in known:
                    findings.append(Finding(((page.path, item.line),), f"glossary entry {item.key!r} is not in terms.tsv"))
    return findings
