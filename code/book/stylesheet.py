"""The one style sheet of the site, from its sources.

Sources write a colour for both themes as `light-dark(first, second)`. Browsers that are a few years old, such as those inside messengers, do not know
that function, and without it a page would have no colours at all. So each pair becomes a variable with its value in either theme.
"""

from __future__ import annotations

import re

from .highlight import editor_css, pygments_css, report_css
from .tree import Tree

PART = r"(?:[^(),]|\([^()]*\))+"
PAIR = re.compile(rf"light-dark\(\s*({PART}),\s*({PART})\)")


# Of the sources, those that are not for the site.
ELSEWHERE = ("epub.css", "paper.css")


def stylesheet(tree: Tree) -> str:
    """All rules of the site: book.css first, so that the others may lean on it."""
    folder = tree.root / "assets" / "css"
    others = sorted(path.name for path in folder.glob("*.css") if path.name not in ("book.css", *ELSEWHERE))
    rules = "".join((folder / name).read_text(encoding="utf-8") for name in ("book.css", *others))
    return in_both_themes(rules + pygments_css() + editor_css() + report_css())


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
