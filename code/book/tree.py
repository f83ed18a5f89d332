"""The tree that a command works on: its languages, its pages, its settings.

Every command takes the tree from the directory it is run in, not from where this package is installed,
so a copy of the repository can be built and checked with the same environment.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

LANGUAGES = ("zh", "en")


class BookError(Exception):
    """Something that the person who ran the command can mend; shown without a traceback."""


def merge(base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    """Return `base` with `overlay` laid over it: mappings merge, everything else is replaced."""
    merged = dict(base)
    for key, value in overlay.items():
        if isinstance(value, dict) and isinstance(merged.get(key), dict):
            value = merge(merged[key], value)
        merged[key] = value
    return merged


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML mapping; a missing or malformed file raises `BookError` with its name."""
    import yaml  # here, so that `clean` works before anything is installed

    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BookError(f"{path} is missing") from None
    except yaml.YAMLError as error:
        raise BookError(f"{path} is not valid YAML: {error}") from None
    if not isinstance(data, dict):
        raise BookError(f"{path} must hold a mapping, not {type(data).__name__}")
    return data


@dataclass(frozen=True)
class Publication:
    """Where the built site lives, once it is published. Empty fields mean: not published.

    `repository` is `owner/name`; `baseurl` ends with a slash.
    """

    repository: str
    source_branch: str
    site_branch: str
    baseurl: str

    @classmethod
    def read(cls, config: dict[str, Any]) -> Publication:
        """Take the values of `_config.yml`, each overridden by `BOOK_<NAME>` of the environment."""
        settings = config.get("publish", {})
        values = {
            name: os.environ.get(f"BOOK_{name.upper()}") or settings.get(name) or ""
            for name in ("repository", "source_branch", "site_branch", "baseurl")
        }
        if values["repository"].count("/") not in (0, 1) or " " in values["repository"]:
            raise BookError(f"repository must be owner/name, not {values['repository']!r}")
        if values["baseurl"] and not values["baseurl"].startswith(("http://", "https://")):
            raise BookError(f"baseurl must start with http:// or https://, not {values['baseurl']!r}")
        values["baseurl"] = values["baseurl"].rstrip("/") + "/" if values["baseurl"] else ""
        return cls(**values)


@dataclass(frozen=True)
class Tree:
    """A copy of the book's repository, by its root directory."""

    root: Path

    @classmethod
    def here(cls) -> Tree:
        """Return the tree of the current directory, or of the nearest parent that holds `_config.yml`."""
        start = Path.cwd()
        for directory in (start, *start.parents):
            if (directory / "_config.yml").is_file() and (directory / "chapters").is_dir():
                return cls(directory)
        raise BookError(f"no _config.yml beside a chapters folder in {start} or above it: run this in the book's repository")

    @property
    def chapters(self) -> Path:
        return self.root / "chapters"

    @property
    def toc_file(self) -> Path:
        return self.root / "_toc.yml"

    @property
    def build_dir(self) -> Path:
        return self.root / "_build"

    @property
    def site(self) -> Path:
        """The folder that is published as it is."""
        return self.build_dir / "site"

    @cached_property
    def config(self) -> dict[str, Any]:
        return read_yaml(self.root / "_config.yml")

    @cached_property
    def publication(self) -> Publication:
        return Publication.read(self.config)

    def setting(self, language: str, name: str) -> Any:
        """A setting of `_config.yml`, with the language's overlay laid over it."""
        return merge(self.config, read_yaml(self.chapters / language / "_overlay.yml"))[name]

    def title(self, language: str) -> str:
        return self.setting(language, "title")

    @cached_property
    def pages(self) -> list[str]:
        """Names of the pages in reading order, without suffix, the home page first."""
        toc = read_yaml(self.toc_file)
        return [toc["root"], *_files(toc)]

    def page(self, language: str, name: str) -> Path:
        return self.chapters / language / f"{name}.md"

    def has_cells(self, language: str, name: str) -> bool:
        return "```{code-cell}" in self.page(language, name).read_text(encoding="utf-8")

    @cached_property
    def notebook_pages(self) -> list[str]:
        """Names of the pages that have code cells."""
        return [name for name in self.pages if self.has_cells(LANGUAGES[0], name)]


def _files(entry: dict[str, Any]) -> list[str]:
    """Collect `file:` entries of a Jupyter Book table of contents, depth first."""
    names: list[str] = []
    for key in ("parts", "chapters", "sections"):
        for child in entry.get(key, []):
            if "file" in child:
                names.append(child["file"])
            names.extend(_files(child))
    return names
