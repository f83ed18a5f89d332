"""A page taken apart: its headings, labels, directives, formulas, cells and links, each with its line.

Parsed by the parser that the build uses; nested directives are parsed in turn, with the lines of the file they stand in.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

DIRECTIVE = re.compile(r"^\{(?P<name>[\w:-]+)\}\s*(?P<argument>.*)$")
OPTION = re.compile(r"^:(?P<key>[\w-]+):\s*(?P<value>.*)$")
GLUE = re.compile(r"\bglue\(\s*f?[\"']([^\"']+)[\"']")
TARGETED = re.compile(r"^(?P<text>.*?)\s*<(?P<target>[^<>]+)>$", re.DOTALL)
# Directives whose argument is a sentence in the page's language.
WORDED = {"admonition", "dropdown", "note", "tip", "warning", "important", "hint", "seealso", "card", "grid-item-card", "tab-item"}
# Directives whose body is not markdown.
OPAQUE = {"code-cell", "code", "code-block", "math", "bibliography", "toctree", "raw", "mermaid"}
# Options that hold a sentence in the page's language; only their presence is compared.
WORDED_OPTIONS = {"alt", "caption", "title", "header", "footer"}


@dataclass(frozen=True)
class Item:
    """Something that both languages must have.

    `kind` and `key` are free of language; `line` counts from 1. `structural` items keep their order, the others may
    stand anywhere between two structural ones, since word order differs between languages.
    """

    kind: str
    key: str
    line: int
    structural: bool = True

    @property
    def identity(self) -> tuple[str, str]:
        return self.kind, self.key


@dataclass
class Page:
    """One parsed page: what must be equal in both languages, and its prose by line."""

    path: Path
    items: list[Item] = field(default_factory=list)
    prose: list[tuple[int, list[Token]]] = field(default_factory=list)
    worded: list[tuple[int, str]] = field(default_factory=list)
    references: list[tuple[str, str, int]] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)
    glued: list[str] = field(default_factory=list)  # patterns of the names under which the page's cells keep numbers

    def of_kind(self, kind: str) -> list[Item]:
        return [item for item in self.items if item.kind == kind]


@lru_cache(1)
def parser() -> Any:
    extensions = {"amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath", "html_image", "substitution", "tasklist"}
    return create_md_parser(MdParserConfig(enable_extensions=extensions), RendererHTML)


def read_page(path: Path) -> Page:
    """Parse the page at `path`. Problems of the page itself are collected, not raised."""
    page = Page(path)
    _read(page, path.read_text(encoding="utf-8"), 0)
    return page


def _read(page: Page, text: str, offset: int) -> None:
    """Collect items of `text`, whose first line is line `offset` + 1 of the file."""
    tokens = parser().parse(text)
    for index, token in enumerate(tokens):
        line = offset + (token.map[0] if token.map else 0) + 1
        if token.type == "front_matter":
            _front_matter(page, token.content, line)
        elif token.type == "heading_open":
            page.items.append(Item("heading", token.tag, line))
        elif token.type == "myst_target":
            page.items.append(Item("label", token.content, line))
        elif token.type in ("fence", "colon_fence"):
            _fence(page, token, line)
        elif token.type in ("math_block", "math_block_label", "amsmath"):
            page.items.append(Item("formula", normal_math(token.content), line))
        elif token.type == "table_open":
            page.items.append(Item("table", _table_shape(tokens[index:]), line))
        elif token.type == "tr_open":
            page.items.append(Item("table row", _contents(tokens[index:], "tr"), line))
        elif token.type == "list_item_open":
            page.items.append(Item("list item", _contents(tokens[index:], "list_item"), line))
        elif token.type == "myst_block_break":
            page.items.append(Item("block break", token.content, line))
        elif token.type == "inline":
            _inline(page, token, line)
        elif token.type == "html_block":
            _html(page, token.content, line)


def _front_matter(page: Page, content: str, line: int) -> None:
    try:
        data = yaml.safe_load(content) or {}
    except yaml.YAMLError as error:
        page.problems.append((line, f"the front matter is not valid YAML: {error}"))
        return
    # What Jupytext and the kernel are told is equal; of the rest (a description in the page's language) only that it is there.
    settings = {key: value if key in ("jupytext", "kernelspec") else "…" for key, value in data.items()}
    page.items.append(Item("front matter", yaml.safe_dump(settings, allow_unicode=True), line))


def _table_shape(tokens: list[Token]) -> str:
    columns = 0
    for token in tokens:
        columns += token.type == "th_open"
        if token.type == "table_close":
            break
    return f"{columns} columns"


def _contents(tokens: list[Token], name: str) -> str:
    """Name what a table row or list item holds beside words, in any order, so that rows and steps cannot change places unnoticed."""
    depth, held = 0, set()
    for token in tokens:
        depth += {f"{name}_open": 1, f"{name}_close": -1}.get(token.type, 0)
        if depth == 0:
            break
        if token.type == "inline" and depth == 1:
            held |= {_content(child) for child in token.children or []}
    return " ".join(sorted(held - {""}))


def _content(token: Token) -> str:
    if token.type == "code_inline":
        return f"`{token.content}`"
    if token.type == "math_inline":
        return f"${normal_math(token.content)}$"
    if token.type == "link_open":
        return str(token.attrs.get("href", ""))
    if token.type == "myst_role" and token.meta["name"] in (*ROLE_KINDS, "ref", "numref", "doc"):
        targeted = TARGETED.match(token.content)
        return f"{{{token.meta['name']}}}`{targeted['target'] if targeted else token.content}`"
    return ""


def _html(page: Page, content: str, line: int) -> None:
    for tag in re.findall(r"<(?:img|a)\b[^>]*>", content):
        address = re.search(r"(?:src|href)\s*=\s*[\"']([^\"']*)", tag)
        page.items.append(Item("HTML element", address[1] if address else tag, line))
        if tag.startswith("<img") and "alt=" not in tag:
            page.problems.append((line, "an image has no alternative text"))


def _fence(page: Page, token: Token, line: int) -> None:
    match = DIRECTIVE.match(token.info.strip())
    if match is None:
        page.items.append(Item("code block", f"{token.info.strip()}: {normal_code(token.content, token.info.strip())}", line))
        return
    name, argument = match["name"], match["argument"].strip()
    options, body, skipped = _options(token.content)
    if name == "code-cell":
        tags = ", ".join(sorted(re.findall(r"[\w-]+", options.get("tags", ""))))
        page.items.append(Item("code cell", f"tags [{tags}]\n{normal_code(body, 'python')}", line))
        page.glued += [".+".join(map(re.escape, re.split(r"\{[^{}]*\}", glued))) for glued in GLUE.findall(body)]
        return
    if name == "math":
        page.items.append(Item("formula", normal_math(body), line))
        return
    page.items.append(Item("directive", _directive_key(name, argument, options), line))
    if name in WORDED and argument:
        page.worded.append((line, argument))
    for key in WORDED_OPTIONS & options.keys():
        page.worded.append((line, options[key]))
    if name in ("svg", "figure", "image") and not options.get("alt"):
        page.problems.append((line, f"{name} {argument} has no alternative text"))
    if "name" in options:
        page.items.append(Item("label", options["name"], line))
    if name == "glossary":
        _glossary(page, body, line + 1 + skipped)
    elif name not in OPAQUE:
        # Line of the fence, plus the lines of the options, precede the body.
        _read(page, body, line + skipped)


def _options(content: str) -> tuple[dict[str, str], str, int]:
    """Split a directive's content into options, body, and the number of lines before the body."""
    lines = content.splitlines()
    options: dict[str, str] = {}
    if lines and lines[0].strip() == "---":
        end = next((index for index, text in enumerate(lines[1:], 1) if text.strip() == "---"), 0)
        loaded = yaml.safe_load("\n".join(lines[1:end])) or {}
        return {key: str(value) for key, value in loaded.items()}, "\n".join(lines[end + 1 :]), end + 1
    count = 0
    for text in lines:
        match = OPTION.match(text)
        if match is None:
            break
        options[match["key"]] = match["value"]
        count += 1
    return options, "\n".join(lines[count:]), count


def _directive_key(name: str, argument: str, options: dict[str, str]) -> str:
    shown = "" if name in WORDED else re.sub(r"\.(zh|en)\b", "", argument)
    pairs = sorted((key, "…" if key in WORDED_OPTIONS else value) for key, value in options.items())
    return " ".join([f"{{{name}}}", shown, *(f":{key}: {value}" for key, value in pairs)]).strip()


def _glossary(page: Page, body: str, first_line: int) -> None:
    """Entries stand at the margin, their definitions are indented; several in a row share one definition."""
    for index, text in enumerate(body.splitlines()):
        if text.strip() and not text[0].isspace():
            page.items.append(Item("glossary entry", text.strip(), first_line + index))
        elif text.strip():
            inline = parser().parse(text.strip())
            page.prose.append((first_line + index, [child for token in inline for child in token.children or []]))


ROLE_KINDS = {"cite": "citation", "cite:p": "citation", "cite:t": "citation", "course": "course section", "glue:text": "glued number", "eq": "equation"}


def _inline(page: Page, token: Token, line: int) -> None:
    children = token.children or []
    page.prose.append((line, children))
    at = line
    for child in children:
        if child.type == "softbreak":
            at += 1
        elif child.type == "math_inline":
            page.items.append(Item("formula in text", normal_math(child.content), at, structural=False))
        elif child.type == "myst_role":
            _role(page, child, at)
        elif child.type == "link_open":
            _link(page, str(child.attrs.get("href", "")), at)
        elif child.type == "image":
            page.items.append(Item("image", re.sub(r"\.(zh|en)\b", "", str(child.attrs.get("src", ""))), at))
            if not child.content:
                page.problems.append((at, f"the image {child.attrs.get('src')} has no alternative text"))


def _role(page: Page, token: Token, line: int) -> None:
    name, content = token.meta["name"], " ".join(token.content.split())
    targeted = TARGETED.match(content)
    target = targeted["target"] if targeted else content
    if name in ROLE_KINDS:
        for key in target.split(",") if name.startswith("cite") else [target]:
            page.items.append(Item(ROLE_KINDS[name], key.strip(), line, structural=False))
            page.references.append((ROLE_KINDS[name], key.strip(), line))
    elif name == "term":
        page.items.append(Item("term", target, line, structural=False))
        page.references.append((name, target, line))
    elif name in ("ref", "numref", "doc"):
        page.items.append(Item("reference", target, line, structural=False))
        page.references.append((name, target, line))


def _link(page: Page, href: str, line: int) -> None:
    page.items.append(Item("link", href, line, structural=False))
    page.references.append(("link", href, line))


def normal_math(text: str) -> str:
    r"""Set aside white space and the words in \text{…}, \mathrm{…}-like commands whose content is Chinese."""
    text = re.sub(r"\\text\{[^{}]*\}", r"\\text{}", text)
    return re.sub(r"\s+", " ", text).strip()


class _WithoutWords(ast.NodeTransformer):
    """Set aside string literals; what an f-string computes stays."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.copy_location(ast.Constant(""), node) if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        values = [self.visit(value) for value in node.values if isinstance(value, ast.FormattedValue)]
        return ast.copy_location(ast.List([ast.Constant("f"), *(value.value for value in values)], ast.Load()), node)


def normal_code(source: str, language: str) -> str:
    """Set aside comments and string literals. Python is compared as a syntax tree, other code by its lines."""
    if language.split()[:1] in (["python"], ["ipython3"], ["py"]):
        try:
            return ast.unparse(_WithoutWords().visit(ast.parse(source)))
        except SyntaxError:
            pass
    lines = (re.sub(r"(^|\s)#.*$", "", text).rstrip() for text in source.splitlines())
    return "\n".join(re.sub(r"\"[^\"]*\"|'[^']*'", '""', text) for text in lines if text)


def plain_text(children: Iterable[Token]) -> Iterator[str]:
    """Yield the readable pieces of a line: text as it is, code, formulas and roles each as one Latin placeholder or their words."""
    for child in children:
        if child.type == "text":
            yield child.content
        elif child.type in ("code_inline", "math_inline"):
            # Stands for something Latin: it wants a space beside Chinese characters.
            yield "\x00x\x00"
        elif child.type == "myst_role":
            yield _role_text(child)
        elif child.type == "softbreak":
            yield "\n"
        elif child.type in ("strong_close", "em_close"):
            # Markdown needs a space here after punctuation, or the emphasis does not close.
            yield "\x00"


def _role_text(token: Token) -> str:
    name, content = token.meta["name"], " ".join(token.content.split())
    if name in ("term", "ref", "doc", "numref"):
        targeted = TARGETED.match(content)
        words = targeted["text"] if targeted else content if name == "term" else ""
        return words or "\x00"
    if name == "course":
        return "\x00x\x00"
    if name.startswith("glue"):
        return "\x00x\x00"
    return "\x00"
