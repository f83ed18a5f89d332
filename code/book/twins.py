"""Comparing the two languages of a page: the same structure, the same code, the same formulas, in the same order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from .markup import Item, Page


@dataclass(frozen=True)
class Finding:
    """Something to mend: where (file and line, one or two places) and what."""

    places: tuple[tuple[Path, int], ...]
    message: str

    def __str__(self) -> str:
        return " | ".join(f"{path.as_posix()}:{line}" for path, line in self.places) + f": {self.message}"


def compare(zh: Page, en: Page) -> list[Finding]:
    """Return every difference between the two pages, each with both lines."""
    findings, blocks = _structure(zh, en)
    for zh_items, en_items in blocks:
        findings += _loose(zh, en, zh_items, en_items)
    return sorted(findings, key=lambda finding: finding.places[0][1])


def _structure(zh: Page, en: Page) -> tuple[list[Finding], list[tuple[list[Item], list[Item]]]]:
    """Align what keeps its order; return the differences, and the loose items between aligned headings."""
    left = [item for item in zh.items if item.structural]
    right = [item for item in en.items if item.structural]
    matcher = SequenceMatcher(None, [item.identity for item in left], [item.identity for item in right], autojunk=False)
    lost: list[tuple[Item, int]] = []  # item, and the other page's line at that place
    extra: list[tuple[Item, int]] = []
    findings = []
    for operation, i, i_end, j, j_end in matcher.get_opcodes():
        if operation == "equal":
            continue
        paired = min(i_end - i, j_end - j)
        same_kind = [n for n in range(paired) if left[i + n].kind == right[j + n].kind]
        for n in same_kind:
            findings.append(_differs(zh, en, left[i + n], right[j + n]))
        lost += [(left[n], _line(right, j)) for n in range(i, i_end) if n - i not in same_kind]
        extra += [(right[n], _line(left, i)) for n in range(j, j_end) if n - j not in same_kind]
    findings += _moved_or_missing(zh, en, lost, extra)
    return findings, _sections(zh, en)


def _line(items: list[Item], index: int) -> int:
    """Line of `items[index]`, or of the last one where the page has ended."""
    return items[min(index, len(items) - 1)].line if items else 1


def _differs(zh: Page, en: Page, left: Item, right: Item) -> Finding:
    return Finding(((zh.path, left.line), (en.path, right.line)), f"{left.kind} differs: {_difference(left.key, right.key)}")


def _difference(left: str, right: str) -> str:
    """Show the first line in which two texts differ."""
    pairs = list(zip(left.splitlines(), right.splitlines()))
    for a, b in pairs:
        if a != b:
            return f"{a.strip()!r} in Chinese, {b.strip()!r} in English"
    longer = left.splitlines()[len(pairs) :] or right.splitlines()[len(pairs) :] or [""]
    return f"{longer[0].strip()!r} only in {'Chinese' if len(left) > len(right) else 'English'}"


def _moved_or_missing(zh: Page, en: Page, lost: list[tuple[Item, int]], extra: list[tuple[Item, int]]) -> list[Finding]:
    """What is lost on one side and extra on the other has moved; the rest is missing."""
    findings = []
    rest = list(extra)
    for item, line in lost:
        twin = next((entry for entry in rest if entry[0].identity == item.identity), None)
        if twin is not None:
            rest.remove(twin)
            findings.append(Finding(((zh.path, item.line), (en.path, twin[0].line)), f"{item.kind} stands in another order: {_short(item)}"))
        else:
            findings.append(Finding(((zh.path, item.line), (en.path, line)), f"{item.kind} is missing in English: {_short(item)}"))
    for item, line in rest:
        findings.append(Finding(((zh.path, line), (en.path, item.line)), f"{item.kind} is missing in Chinese: {_short(item)}"))
    return findings


def _short(item: Item) -> str:
    lines = [line for line in item.key.splitlines() if line.strip() and not line.startswith("tags [")]
    return repr((lines or [item.key])[0].strip()[:80])


def _sections(zh: Page, en: Page) -> list[tuple[list[Item], list[Item]]]:
    """Loose items of each section, paired by the number of the heading that opens it."""
    left, right = _by_heading(zh), _by_heading(en)
    return list(zip(left, right)) if len(left) == len(right) else [(sum(left, []), sum(right, []))]


def _by_heading(page: Page) -> list[list[Item]]:
    sections: list[list[Item]] = [[]]
    for item in page.items:
        if item.kind == "heading":
            sections.append([])
        if not item.structural:
            sections[-1].append(item)
    return sections


def _loose(zh: Page, en: Page, left: list[Item], right: list[Item]) -> list[Finding]:
    """Compare a section's loose items as sets: a formula or link that one language repeats is no difference."""
    missing = _absent(left, right)
    surplus = _absent(right, left)
    findings = []
    for kind in {item.kind for item in missing + surplus}:
        ours = [item for item in missing if item.kind == kind]
        theirs = [item for item in surplus if item.kind == kind]
        for a, b in zip(ours, theirs):
            findings.append(Finding(((zh.path, a.line), (en.path, b.line)), f"{kind} differs: {a.key!r} in Chinese, {b.key!r} in English"))
        for item in ours[len(theirs) :]:
            findings.append(Finding(((zh.path, item.line), (en.path, _near(right, en))), f"{kind} is missing in English: {item.key!r}"))
        for item in theirs[len(ours) :]:
            findings.append(Finding(((zh.path, _near(left, zh)), (en.path, item.line)), f"{kind} is missing in Chinese: {item.key!r}"))
    return findings


def _absent(items: list[Item], others: list[Item]) -> list[Item]:
    known = {item.identity for item in others}
    unique = {item.identity: item for item in reversed(items)}
    return [item for identity, item in unique.items() if identity not in known]


def _near(items: list[Item], page: Page) -> int:
    return items[0].line if items else 1


def duplicates(page: Page) -> list[Finding]:
    """Report labels that a page defines twice."""
    counts = Counter(item.key for item in page.of_kind("label"))
    return [
        Finding(((page.path, item.line),), f"label {item.key!r} is defined {counts[item.key]} times")
        for item in page.of_kind("label")
        if counts[item.key] > 1
    ]
