"""The one style sheet of the site, from its sources.

Sources write a colour for both themes as `light-dark(first, second)`. Browsers that are a few years old, such as those inside messengers, do not know
that function, and without it a page would have no colours at all. So each pair becomes a variable with its value in either theme.
"""

from __future__ import annotations

import re

from .highlight import pygments_css, report_css
from .tree import Tree

SOURCES = ("book.css", "live.css")
PART = r"(?:[^(),]|\([^()]*\))+"
PAIR = re.compile(rf"light-dark\(\s*({PART}),\s*({PART})\)")


def stylesheet(tree: Tree) -> str:
    """All rules of the site."""
    sources = [(tree.root / "assets" / "css" / name).read_text(encoding="utf-8") for name in SOURCES]
    return in_both_themes("".join([*sources, pygments_css(), report_css()]))


def in_both_themes(css: str) -> str:
    """Replace each pair of colours by a variable; without JavaScript the reader's system chooses between the values."""
    names: dict[tuple[str, str], str] = {}

    def variable(match: re.Match[str]) -> str:
        name = names.setdefault((match[1].strip(), match[2].strip()), f"--c{len(names)}")
        return f"var({name})"

    rules = PAIR.sub(variable, css)
    light = "".join(f"{name}:{pair[0]};" for pair, name in names.items())
    dark = "".join(f"{name}:{pair[1]};" for pair, name in names.items())
    return (
        f":root{{color-scheme:light;{light}}}"
        f':root[data-theme="dark"]{{color-scheme:dark;{dark}}}'
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme]){{color-scheme:dark;{dark}}}}}\n{rules}"
    )
