"""What stands round the rendered pages of both languages: the steps that lay out the site."""

from __future__ import annotations

import html
import shutil
from collections.abc import Callable
from pathlib import Path
from string import Template

from .tree import LANGUAGES, Tree

TEMPLATES = Path(__file__).parent / "templates"
LANGUAGE_NAMES = {"zh": "中文", "en": "English"}
LANGUAGE_TAGS = {"zh": "zh-CN", "en": "en"}


def front_page(tree: Tree, site: Path) -> None:
    """Writing the front page that chooses a language."""
    template = Template((TEMPLATES / "front.html").read_text(encoding="utf-8"))
    titles = {f"title_{language}": html.escape(tree.title(language)) for language in LANGUAGES}
    (site / "index.html").write_text(template.substitute(titles), encoding="utf-8")
    # Without this file GitHub Pages drops folders whose names begin with an underscore.
    (site / ".nojekyll").touch()


def notebooks(tree: Tree, site: Path) -> None:
    """Writing the notebooks that learners launch."""
    from .notebooks import write_notebooks

    write_notebooks(tree, site)


def package(tree: Tree, site: Path) -> None:
    """Building the package for launched notebooks."""
    from .wheel import build_wheel

    build_wheel(tree, site / "wheels")
    # Binder reads this folder from the branch that it opens.
    shutil.copytree(tree.root / "binder", site / "binder")


STEPS: list[Callable[[Tree, Path], None]] = [front_page, notebooks, package]
