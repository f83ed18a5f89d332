"""Styles that come from Python: colours of code for both themes in one set of rules, and the reports of checks."""

from __future__ import annotations

from pygments.style import Style
from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES, Comment, Keyword, Literal, Name, Operator

LIGHT, DARK = "a11y-high-contrast-light", "a11y-high-contrast-dark"


def pygments_css() -> str:
    """Return one rule a token class, with a pair of colours where the two styles differ from plain text."""
    light, dark = get_style_by_name(LIGHT), get_style_by_name(DARK)
    rules = []
    for token, name in STANDARD_TYPES.items():
        pair = _colour(light, token), _colour(dark, token)
        if name and any(pair):
            first, second = (colour or "inherit" for colour in pair)
            if "inherit" not in (first, second):
                rules.append(f".highlight .{name}{{color:light-dark({first},{second})}}")
    return "\n".join(rules) + "\n"


# What the editor's grammar calls by its own names.
EDITOR = {
    "tok-keyword": Keyword,
    "tok-comment": Comment,
    "tok-string": Literal.String,
    "tok-number": Literal.Number,
    "tok-bool": Keyword.Constant,
    "tok-operator": Operator,
    "tok-className": Name.Class,
    "tok-variableName.tok-definition": Name.Function,
}


def editor_css() -> str:
    """Return the same colours for the editor of the exercises."""
    light, dark = get_style_by_name(LIGHT), get_style_by_name(DARK)
    pairs = {name: (_colour(light, token), _colour(dark, token)) for name, token in EDITOR.items()}
    return "".join(f".run-editor .{name}{{color:light-dark({first},{second})}}\n" for name, (first, second) in pairs.items() if first and second)


def report_css() -> str:
    """Return the rules for the reports of checks, which notebooks carry in each report."""
    from mtp.checking import STYLE

    return STYLE.removeprefix("<style>").removesuffix("</style>")


def _colour(style: type[Style], token: object) -> str:
    colour = style.style_for_token(token)["color"]
    return f"#{colour}" if colour else ""
