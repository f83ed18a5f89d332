"""Seeded corruptions of the real pages: each must be reported at its place, and harmless edits must not be."""

from __future__ import annotations

import random
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from book.checks import run_checks
from book.markup import normal_code, read_page
from book.twins import Finding
from conftest import ROOT, run_book

LANGUAGES = ("zh", "en")


HAN = "[\u4e00-\u9fff]"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "chapters", tmp_path / "chapters")
    shutil.copytree(ROOT / "assets" / "figures", tmp_path / "assets" / "figures")
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_the_real_pages_pass_without_any_exception(root: Path) -> None:
    started = time.monotonic()
    findings = run_checks(root)
    assert findings == [], "\n".join(map(str, findings))
    assert time.monotonic() - started < 20


Place = tuple[Path, int]  # file, line counted from 1


def places(tree: Path, pattern: str, language: str | None = None, where: Callable[[list[str], int], bool] = lambda lines, at: True) -> list[Place]:
    """All lines of the pages that match `pattern`, outside the front matter."""
    found = []
    for path in sorted((tree / "chapters").glob(f"{language or '*'}/*.md")):
        lines = path.read_text(encoding="utf-8").splitlines()
        body = lines.index("---", 1) if lines[0] == "---" else 0
        found += [(path, at + 1) for at, line in enumerate(lines) if at > body and re.search(pattern, line) and where(lines, at)]
    return found


def edit(place: Place, change: Callable[[str], str]) -> Place:
    """Change one line of a file in place."""
    path, number = place
    lines = path.read_text(encoding="utf-8").splitlines()
    before = lines[number - 1]
    lines[number - 1] = change(before)
    assert lines[number - 1] != before, "the corruption changed nothing"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place


def in_python(lines: list[str], at: int) -> bool:
    """Is this line code of a cell, beyond its options?"""
    fences = [number for number, line in enumerate(lines[:at]) if line.startswith("```")]
    if len(fences) % 2 == 0 or "{code-cell}" not in lines[fences[-1]]:
        return False
    return not lines[at].lstrip().startswith((":", "#"))


def blocks(tree: Path, opening: str) -> list[tuple[Path, int, int]]:
    """Fenced blocks whose opening line matches: file, first line, last line (counted from 1)."""
    found = []
    # Of fences that open and close alike, every second one opens.
    opens = lambda lines, at: lines[:at].count(lines[at]) % 2 == 0 or "{" in lines[at]  # noqa: E731
    for path, first in places(tree, opening, where=opens):
        lines = path.read_text(encoding="utf-8").splitlines()
        fence = re.match(r"`+|:+|\$+", lines[first - 1])[0]
        last = next(number for number in range(first, len(lines)) if lines[number] == fence) + 1
        found.append((path, first, last))
    return found


def cut(block: tuple[Path, int, int]) -> tuple[list[str], list[str]]:
    path, first, last = block
    lines = path.read_text(encoding="utf-8").splitlines()
    return lines, lines[first - 1 : last]


def drop_block(tree: Path, rng: random.Random, opening: str) -> Place:
    path, first, last = block = rng.choice(blocks(tree, opening))
    lines, _ = cut(block)
    path.write_text("\n".join(lines[: first - 1] + lines[last:]) + "\n", encoding="utf-8")
    return path, first


def swap_cells(tree: Path, rng: random.Random) -> Place:
    """Exchange two neighbouring cells of a page whose code differs."""
    cells = blocks(tree, r"^```\{code-cell\}")
    pairs = [(a, b) for a, b in zip(cells, cells[1:]) if a[0] == b[0] and _code(a) != _code(b)]
    a, b = rng.choice(pairs)
    lines, first = cut(a)
    _, second = cut(b)
    text = [*lines[: a[1] - 1], *second, *lines[a[2] : b[1] - 1], *first, *lines[b[2] :]]
    a[0].write_text("\n".join(text) + "\n", encoding="utf-8")
    return a[0], a[1]


def _code(block: tuple[Path, int, int]) -> str:
    return normal_code("\n".join(line for line in cut(block)[1][1:-1] if not line.startswith(":")), "python")


def swap_glossary_entries(tree: Path, rng: random.Random) -> Place:
    path = tree / "chapters" / rng.choice(LANGUAGES) / "glossary.md"
    entries = read_page(path).of_kind("glossary entry")
    at = rng.randrange(2, len(entries) - 2)
    a, b = entries[at].line, entries[at + 1].line
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[a - 1], lines[b - 1] = lines[b - 1], lines[a - 1]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, a


def drop_line(place: Place) -> Place:
    path, number = place
    lines = path.read_text(encoding="utf-8").splitlines()
    del lines[number - 1]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place


def drop_glossary_entry(tree: Path, rng: random.Random) -> Place:
    path = tree / "chapters" / rng.choice(LANGUAGES) / "glossary.md"
    lines = path.read_text(encoding="utf-8").splitlines()
    entries = [item.line for item in read_page(path).of_kind("glossary entry")]
    first = rng.choice([line for line, after in zip(entries[1:], entries[2:]) if after > line + 1 and line - 1 not in entries])
    last = next(number for number in range(first, len(lines)) if not lines[number].strip() or lines[number].startswith(":::"))
    path.write_text("\n".join(lines[: first - 1] + lines[last:]) + "\n", encoding="utf-8")
    return path, first


def swap_rows(tree: Path, rng: random.Random) -> Place:
    """Exchange two neighbouring rows of a table that hold different formulas, code or citations."""
    rows = [(path, item) for path in sorted((tree / "chapters").glob("*/*.md")) for item in read_page(path).of_kind("table row")]
    pairs = [(path, a, b) for (path, a), (other, b) in zip(rows, rows[1:]) if path == other and b.line == a.line + 1 and a.key != b.key and a.key and b.key]
    path, a, b = rng.choice(pairs)
    return swap_lines(path, a.line, b.line)


def swap_lines(path: Path, first: int, second: int) -> Place:
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[first - 1], lines[second - 1] = lines[second - 1], lines[first - 1]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, first


def remove_figure(tree: Path, rng: random.Random) -> Place:
    """Take away the drawing that a page of one language shows."""
    path, line = pick(tree, rng, r"^:::\{svg\}")
    name = re.search(r"\} (\w+)", path.read_text(encoding="utf-8").splitlines()[line - 1])[1]
    (tree / "assets" / "figures" / f"{name}.{path.parent.name}.svg").unlink()
    return path, line


def rename_glued(tree: Path, rng: random.Random) -> Place:
    """Keep a number under another name; it is missed where the prose shows it first."""
    path, line = pick(tree, rng, r"^ *glue\(\"\w+\"", where=in_python)
    text = path.read_text(encoding="utf-8").splitlines()
    name = re.search(r"glue\(\"(\w+)", text[line - 1])[1]
    edit((path, line), sub(r"glue\(\"", 'glue("other-'))
    return path, next(number for number, words in enumerate(text, start=1) if f"{{glue:text}}`{name}`" in words)


def banned_longer_term(tree: Path, rng: random.Random) -> Place:
    """A variant that contains the accepted term is a variant all the same."""
    return edit(pick(tree, rng, rf"^[^`|:{{]*{HAN}[^`{{]*吞吐(?!率)", "zh"), sub("吞吐", "吞吐率"))


def pick(tree: Path, rng: random.Random, *arguments: object, **options: object) -> Place:
    return rng.choice(places(tree, *arguments, **options))  # type: ignore[arg-type]


def insert_after(place: Place, text: str) -> Place:
    path, number = place
    lines = path.read_text(encoding="utf-8").splitlines()
    lines.insert(number, text)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, number + 1


def sub(pattern: str, replacement: str) -> Callable[[str], str]:
    return lambda line: re.sub(pattern, replacement, line, count=1)


PROSE = rf"^{HAN}.*{HAN}{HAN}.*。$"

CORRUPTIONS: dict[str, Callable[[Path, random.Random], Place]] = {
    "a dropped cell": lambda tree, rng: drop_block(tree, rng, r"^```\{code-cell\}"),
    "two cells exchanged": swap_cells,
    "a number changed in code": lambda tree, rng: edit(pick(tree, rng, r"= \d+\b(?!.*[\"'#])", where=in_python), sub(r"= (\d+)", r"= 1\g<1>")),
    "an operator changed in code": lambda tree, rng: edit(pick(tree, rng, r"^[^\"'#]*\w / \w", where=in_python), sub(r"(\w) / (\w)", r"\1 * \2")),
    "an expression changed in an f-string": lambda tree, rng: edit(pick(tree, rng, r"f\"[^\"]*\{\w+", where=in_python), sub(r"(f\"[^\"]*\{)(\w+)", r"\1other_\2")),
    "another tag": lambda tree, rng: edit(pick(tree, rng, r"^:tags:.*remove-input"), sub("remove-input", "hide-input")),
    "a dropped tag": lambda tree, rng: drop_line(pick(tree, rng, r"^:tags:")),
    "a number changed in a display formula": lambda tree, rng: edit(pick(tree, rng, r"[=\-+] ?\d", where=_in_formula), sub(r"([=\-+] ?)(\d)", r"\g<1>1\2")),
    "a letter changed in a formula in the text": lambda tree, rng: edit(pick(tree, rng, r"\$[a-zA-Z]_i"), sub(r"\$([a-zA-Z])_i", r"$x\1_i")),
    "a dropped display formula": lambda tree, rng: drop_block(tree, rng, r"^\$\$$"),
    "a renamed label": lambda tree, rng: edit(pick(tree, rng, r"^\([\w-]+\)=$"), sub(r"^\(", "(renamed-")),
    "a dropped label": lambda tree, rng: drop_line(pick(tree, rng, r"^\([\w-]+\)=$")),
    "another heading level": lambda tree, rng: edit(pick(tree, rng, r"^## "), sub("^## ", "### ")),
    "an added heading": lambda tree, rng: insert_after(pick(tree, rng, r"^\([\w-]+\)=$", where=_before_heading), "## 又一节 one more\n"),
    "a second title": lambda tree, rng: edit(pick(tree, rng, r"^## "), sub("^## ", "# ")),
    "a missing glossary entry": drop_glossary_entry,
    "two glossary entries exchanged": swap_glossary_entries,
    "another directive option": lambda tree, rng: edit(pick(tree, rng, r"^:class: warning"), sub("warning", "danger")),
    "another directive": lambda tree, rng: edit(pick(tree, rng, r"^:::\{dropdown\}"), sub("dropdown", "admonition")),
    "another figure": lambda tree, rng: edit(pick(tree, rng, r"^:::\{svg\}"), sub(r"\} (\w+)", r"} other")),
    "a figure without alternative text": lambda tree, rng: drop_line(pick(tree, rng, r"^:alt: ")),
    "another citation": lambda tree, rng: edit(pick(tree, rng, r"\{cite:p\}`leviathan2023"), sub("leviathan2023", "medusa")),
    "a dropped citation": lambda tree, rng: edit(pick(tree, rng, r"\{cite:p\}`eagle2`"), sub(r" ?\{cite:p\}`eagle2`", "")),
    "an unknown citation": lambda tree, rng: edit(pick(tree, rng, r"\{cite:p\}`[a-z]"), sub(r"\{cite:p\}`", "{cite:p}`nobody")),
    "an undefined label": lambda tree, rng: edit(pick(tree, rng, r"\{ref\}`[^`]*<[\w-]+>`"), sub(r"<[\w-]+>", "<nowhere>")),
    "a link to no page": lambda tree, rng: edit(pick(tree, rng, r"\]\(\w+\.md\)"), sub(r"\]\(\w+\.md", "](nowhere.md")),
    "another course section": lambda tree, rng: edit(pick(tree, rng, r"\{course\}`68`"), sub(r"`68`", "`36`")),
    "an unknown course section": lambda tree, rng: edit(pick(tree, rng, r"\{course\}`\d+`"), sub(r"`\d+`", "`99`")),
    "a course address written out": lambda tree, rng: edit(
        pick(tree, rng, r"\{course\}`23`"), sub(r"\{course\}`23`", "[23](https://datawhalechina.github.io/llm-algo-leetcode/02_PyTorch_Algorithms/23_Speculative_Decoding)")
    ),
    "another glued number": lambda tree, rng: edit(pick(tree, rng, r"\{glue:text\}`\w+`"), sub(r"\{glue:text\}`", "{glue:text}`other_")),
    "a table row dropped": lambda tree, rng: drop_line(pick(tree, rng, r"^\| .* \|$", where=_inner_row)),
    "two table rows exchanged": swap_rows,
    "a block break more": lambda tree, rng: insert_after(pick(tree, rng, r"^## "), "\n+++\n"),
    "another kernel": lambda tree, rng: edit((pick(tree, rng, r"^```\{code-cell\}")[0], 8), sub(r".*", "  name: python2")),
    "a drawing missing in one language": remove_figure,
    "an HTML image more": lambda tree, rng: insert_after(pick(tree, rng, r"^## "), '\n<img src="x.png" alt="x">\n'),
    "an undefined term": lambda tree, rng: edit(pick(tree, rng, r"\{term\}`"), sub(r"\{term\}`", "{term}`no ")),
    "another term": lambda tree, rng: edit(pick(tree, rng, r"\{term\}`verification`", "en"), sub(r"\{term\}`verification`", "{term}`prefill`")),
    "a number that no cell glues": rename_glued,
    "a link to no anchor": lambda tree, rng: edit(pick(tree, rng, r"\]\(\w+\.md\)"), sub(r"\.md\)", ".md#nowhere)")),
    "a course address without its scheme": lambda tree, rng: edit(pick(tree, rng, r"\{course\}`23`"), sub("$", " datawhalechina.github.io/llm-algo-leetcode")),
    "full-width punctuation in English": lambda tree, rng: edit(pick(tree, rng, r"^[A-Z][a-z ]+\w\.$", "en"), sub(r"\.$", "。")),
    "two spaces in English": lambda tree, rng: edit(pick(tree, rng, r"^[A-Z][a-z]+ [a-z ]+\w\.$", "en"), sub(" ", "  ")),
    "a half-width parenthesis": lambda tree, rng: edit(pick(tree, rng, rf"^{HAN}.*{HAN}，{HAN}", "zh"), sub(f"({HAN})，({HAN})", r"\1 (x)，\2")),
    "a banned term that contains the right one": banned_longer_term,
    "a banned term": lambda tree, rng: edit(pick(tree, rng, "投机解码", "zh"), sub("投机解码", "推测解码")),
    "half-width punctuation": lambda tree, rng: edit(pick(tree, rng, PROSE, "zh"), sub("。$", ".")),
    "a half-width comma": lambda tree, rng: edit(pick(tree, rng, rf"^{HAN}.*{HAN}，{HAN}", "zh"), sub(f"({HAN})，({HAN})", r"\1,\2")),
    "no space before Latin": lambda tree, rng: edit(pick(tree, rng, rf"^{HAN}[^`$|]*{HAN} token {HAN}", "zh"), sub(f"({HAN}) token", r"\1token")),
}


def _in_formula(lines: list[str], at: int) -> bool:
    return lines[:at].count("$$") % 2 == 1 and lines[at] != "$$"


def _inner_row(lines: list[str], at: int) -> bool:
    return "|---" not in lines[at] and at + 1 < len(lines) and "|---" not in lines[at + 1] and "{code-cell}" not in lines[at]


def _before_heading(lines: list[str], at: int) -> bool:
    return at > 30 and lines[at + 1].startswith("## ")


SEEDS = {name: seed for seed, name in enumerate(CORRUPTIONS, start=35)}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_a_corruption_is_reported_at_its_place(tree: Path, name: str) -> None:
    path, line = CORRUPTIONS[name](tree, random.Random(SEEDS[name]))
    findings = run_checks(tree)
    assert 1 <= len(findings) <= 4, "\n".join(map(str, findings)) or "nothing was reported"
    relative = path.relative_to(tree)
    near = [at for finding in findings for place, at in finding.places if place == relative and abs(at - line) <= 12]
    assert near, f"{relative}:{line} is not near {[str(finding) for finding in findings]}"


STRUCTURAL = [name for name in CORRUPTIONS if not re.search("term|punctuation|comma|parenthesis|space|unknown|no cell|drawing|undefined|no page|written out|without", name)]


@pytest.mark.parametrize("name", STRUCTURAL)
def test_a_difference_names_both_files(tree: Path, name: str) -> None:
    path, _ = CORRUPTIONS[name](tree, random.Random(SEEDS[name]))
    twin = Path("chapters") / ("en" if path.parent.name == "zh" else "zh") / path.name
    named = {place for finding in run_checks(tree) for place, _ in finding.places}
    assert {path.relative_to(tree), twin} <= named


def test_a_missing_page_is_reported_with_its_twin(tree: Path) -> None:
    (tree / "chapters" / "en" / "lineage.md").unlink()
    findings = [finding for finding in run_checks(tree) if "missing in en" in finding.message]
    assert len(findings) == 1 and [path.as_posix() for path, _ in findings[0].places] == ["chapters/zh/lineage.md", "chapters/en/lineage.md"]


def test_a_page_outside_the_table_of_contents_is_reported(tree: Path) -> None:
    for language in LANGUAGES:
        (tree / "chapters" / language / "stray.md").write_text("# Stray\n", encoding="utf-8")
    assert sum("_toc.yml" in finding.message for finding in run_checks(tree)) == 2


HARMLESS: dict[str, Callable[[Path, random.Random], object]] = {
    "another comment": lambda tree, rng: edit(pick(tree, rng, r"\S.*  # \w", where=in_python), sub(r"  # .*$", "  # something else altogether")),
    "a comment more": lambda tree, rng: insert_after(pick(tree, rng, r"^\w+ = .*[^(\[{,]$", where=in_python), "# one more comment"),
    "another string": lambda tree, rng: edit(pick(tree, rng, r"^    \"[a-z ]+\": ", "en", where=in_python), sub(r"\"[a-z ]+\":", '"other words":')),
    "other words in an f-string": lambda tree, rng: edit(pick(tree, rng, r"print\(f\"\{name\}: ", where=in_python), sub(r"f\"\{name\}: ", 'f"{name} gives ')),
    "other prose": lambda tree, rng: edit(pick(tree, rng, PROSE, "zh"), sub("。$", "，换一种说法。")),
    "a longer sentence": lambda tree, rng: edit(pick(tree, rng, r"^[A-Z][a-z ]+\w\.$", "en"), sub(r"\.$", ", to put it another way.")),
    "a paragraph wrapped elsewhere": lambda tree, rng: edit(pick(tree, rng, r"^[A-Z][a-z]+ [a-z]+ [a-z]+ [a-z ,]+$", "en"), sub(r"^(\w+ \w+ \w+) ", r"\1" + "\n")),
    "another heading text": lambda tree, rng: edit(pick(tree, rng, r"^## "), sub(r"^## .*$", "## Other words")),
    "another admonition title": lambda tree, rng: edit(pick(tree, rng, r"^:::\{admonition\} "), sub(r"\} .*$", "} Other words")),
    "another alternative text": lambda tree, rng: edit(pick(tree, rng, r"^:alt: "), sub(r": .*$", ": Other words")),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_edit_is_not_reported(tree: Path, name: str) -> None:
    HARMLESS[name](tree, random.Random(35))
    assert run_checks(tree) == []


def test_the_command_prints_findings_and_fails(tree: Path) -> None:
    shutil.copytree(ROOT / "code", tree / "code", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    assert run_book(tree, "check").returncode == 0
    path, line = edit(places(tree, r"^## ", "zh")[3], sub("^## ", "### "))
    done = run_book(tree, "check")
    assert done.returncode == 1
    assert f"chapters/zh/{path.name}:{line}" in done.stdout and f"chapters/en/{path.name}:" in done.stdout


def test_findings_read_as_places_and_message() -> None:
    finding = Finding(((Path("chapters/zh/a.md"), 3), (Path("chapters/en/a.md"), 4)), "heading differs")
    assert str(finding) == "chapters/zh/a.md:3 | chapters/en/a.md:4: heading differs"


def test_a_term_that_no_glossary_has_is_reported_even_if_both_languages_use_it(tree: Path) -> None:
    for language in LANGUAGES:
        path = tree / "chapters" / language / "lineage.md"
        path.write_text(path.read_text(encoding="utf-8") + "\n{term}`nonsense`\n", encoding="utf-8")
    findings = run_checks(tree)
    assert [finding.places[0][0].parent.name for finding in findings] == ["en", "zh"]
    assert all("'nonsense' is not in this language's glossary" in finding.message for finding in findings)
