"""Checks of prose that a program can make: terms of both languages, and Chinese punctuation and spacing."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from .markup import Page, plain_text
from .twins import Finding

HAN = r"\u3400-\u4dbf\u4e00-\u9fff"
# A placeholder of markup.plain_text stands for code, a formula or a number.
HALF_WIDTH = re.compile(rf"[{HAN}\x00]\s?[,;:!?](?=\s|$|[{HAN}])|[{HAN}\x00]\.(?=\s|$|[{HAN}])|[{HAN}] \(|(?<=[{HAN}])[()]|[()](?=[{HAN}])|[,;:!?](?=[{HAN}])")
NO_SPACE = re.compile(rf"[{HAN}](?:\x00?[A-Za-z0-9])|[A-Za-z0-9%]\x00?[{HAN}]")
SPACE_AT_PUNCTUATION = re.compile(rf"[，。；：！？、（《「）》」] (?=[{HAN}A-Za-z0-9\x00])|[{HAN}A-Za-z0-9\x00] (?=[，。；：！？、）》」])")
FULL_WIDTH = re.compile(r"[，。；：！？、（）《》「」]")
DOUBLE_SPACE = re.compile(r"\S {2,}\S")


@dataclass(frozen=True)
class Term:
    """A row of `chapters/terms.tsv`: a term in both languages, and the Chinese variants that are not to be used."""

    en: str
    zh: str
    banned: tuple[str, ...]


def read_terms(path: Path) -> list[Term]:
    """Read the table; a row without both terms raises `ValueError` with its number."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    terms = []
    for number, row in enumerate(rows, start=2):
        if not row.get("en") or not row.get("zh"):
            raise ValueError(f"{path.as_posix()}:{number}: a term needs both `en` and `zh`")
        terms.append(Term(row["en"], row["zh"], tuple(filter(None, (row.get("banned") or "").split("|")))))
    return terms


def check_terms(page: Page, terms: list[Term]) -> list[Finding]:
    """Report variants that `terms.tsv` bans on a Chinese page."""
    findings = []
    for line, text in _lines(page):
        for term in terms:
            for variant in term.banned:
                # A term may contain a variant of its own (验证 in 验证状态): only what stands outside an accepted term counts.
                if variant in (text if term.zh in variant else text.replace(term.zh, "\n")):
                    findings.append(Finding(((page.path, line),), f"{variant!r} is not the book's word for {term.en!r}: use {term.zh!r}"))
    return findings


def check_typography(page: Page) -> list[Finding]:
    """Report half-width punctuation within Chinese, missing spaces between Chinese and Latin, and stray spaces."""
    findings = []
    for line, text in _lines(page):
        for pattern, message in (
            (HALF_WIDTH, "half-width punctuation beside Chinese"),
            (NO_SPACE, "no space between Chinese and Latin"),
            (SPACE_AT_PUNCTUATION, "a space beside full-width punctuation"),
            (DOUBLE_SPACE, "two spaces in a row"),
        ):
            match = pattern.search(text)
            if match:
                around = text[max(match.start() - 8, 0) : match.end() + 8].replace("\x00x\x00", "`…`").replace("\x00", "")
                findings.append(Finding(((page.path, line),), f"{message}: {around.strip()!r}"))
    return findings


def check_english(page: Page) -> list[Finding]:
    """Report full-width punctuation and stray spaces on an English page."""
    findings = []
    for line, text in _lines(page):
        # A line with Chinese in it quotes a Chinese term, with its own punctuation.
        if FULL_WIDTH.search(text) and not re.search(f"[{HAN}]", text):
            findings.append(Finding(((page.path, line),), f"full-width punctuation in English: {FULL_WIDTH.search(text)[0]!r}"))
        if DOUBLE_SPACE.search(text):
            findings.append(Finding(((page.path, line),), "two spaces in a row"))
    return findings


def _lines(page: Page) -> list[tuple[int, str]]:
    """The page's readable text with its line numbers: prose, headings, titles and alternative texts."""
    lines = []
    for start, children in page.prose:
        for offset, text in enumerate("".join(plain_text(children)).split("\n")):
            lines.append((start + offset, text.strip()))
    lines += [(line, text) for line, text in page.worded]
    return lines
