"""The role `` {course}`23` ``: a link to another section of the course, through one table.

The table is `chapters/courses.yml`: `base`, the address of the course, and `sections`, which maps a number or name to its
title in each language and its path below `base` (null: no known address, so the link opens the course's front page).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

from .tree import read_yaml


def language_of(config: Any) -> str:
    """Return the book's short name of a Sphinx configuration's language (`zh` for `zh_CN`)."""
    return config.language.split("_")[0]


class CourseRole(SphinxRole):
    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        table_file = Path(self.env.srcdir).parent / "courses.yml"
        self.env.note_dependency(str(table_file))
        table = read_yaml(table_file)
        section = {str(key): value for key, value in table["sections"].items()}.get(self.text)
        if section is None:
            message = self.inliner.reporter.error(f"{table_file.name} has no section {self.text!r}", line=self.lineno)
            return [self.inliner.problematic(self.rawtext, self.rawtext, message)], [message]
        title = section[language_of(self.config)]
        label = f"{self.text} {title}" if self.text.isdigit() else f"{self.text} {title}".strip()
        return [nodes.reference(self.rawtext, label, refuri=table["base"] + (section.get("path") or ""), internal=False)], []


def setup(app: Sphinx) -> None:
    app.add_role("course", CourseRole())
