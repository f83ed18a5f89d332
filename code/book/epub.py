"""The whole book as an EPUB, by Sphinx's EPUB builder, with what the standard asks for and the builder leaves out."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.builders.epub3 import Epub3Builder
from sphinx.config import Config

from .courses import language_of
from .highlight import report_css
from .tree import LANGUAGES, Tree
from .wheel import metadata
from .words import WORDS

BUILDER = "epub"
# The sign beside a folded answer, drawn in HTML's way and not in XML's; readers bring their own.
MARKER = re.compile(r'<span class="sd-summary-state-marker[^>]*>.*?</span>', re.DOTALL)
# The element round a live figure's drawing is no element of XHTML's.
LIVE = re.compile(r"</?mtp-[^>]*>")
CONTENT = re.compile(r'<item id="[^"]*" href="([^"]*\.xhtml)"[^>]*?(?=\s*/>)')
# What a content document holds must be declared in the package document.
PROPERTIES = {"mathml": "<math", "svg": "<svg"}


class BookEpub(Epub3Builder):
    """Sphinx's EPUB 3 builder with our style sheet alone, titles in the page's language, and declared properties."""

    name = BUILDER

    def init(self) -> None:
        super().init()
        words = WORDS[language_of(self.config)]
        self.guide_titles = {key: words["contents"] for key in self.guide_titles}

    def copy_static_files(self) -> None:
        # The theme's files are for pages that ours do not load; extensions copied theirs already.
        for folder in ("_static", "_sphinx_design_static"):
            shutil.rmtree(Path(self.outdir, folder), ignore_errors=True)
        styles = Path(self.srcdir).parents[1] / "assets" / "css" / "epub.css"
        Path(self.outdir, "_static").mkdir()
        Path(self.outdir, "_static", "epub.css").write_text(styles.read_text(encoding="utf-8") + report_css(), encoding="utf-8")

    def build_content(self) -> None:
        shutil.rmtree(Path(self.outdir, "_sphinx_design_static"), ignore_errors=True)
        super().build_content()
        package = Path(self.outdir, "content.opf")
        package.write_text(CONTENT.sub(self.declared, package.read_text(encoding="utf-8")), encoding="utf-8")

    def declared(self, item: re.Match[str]) -> str:
        page = Path(self.outdir, item[1])
        text = page.read_text(encoding="utf-8") if page.is_file() else ""
        found = [name for name, mark in PROPERTIES.items() if mark in text]
        return f'{item[0]} properties="{" ".join(found)}"' if found and "properties=" not in item[0] else item[0]


def page_context(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> str | None:
    from .interface import in_language
    from .site import LANGUAGE_TAGS

    if app.builder.name != BUILDER:
        return None
    language = language_of(app.config)
    context["body"] = LIVE.sub("", MARKER.sub("", in_language(context["body"], WORDS[language])))
    context["tag"] = LANGUAGE_TAGS[language]
    return "epub.html"


def settings(app: Sphinx, config: Config) -> None:
    """What the package document says of the book."""
    from .site import LANGUAGE_TAGS

    tree, language = Tree(Path(app.srcdir).parents[1]), language_of(config)
    config.version = metadata(tree)[1]
    config.epub_title = tree.title(language)
    config.epub_language = LANGUAGE_TAGS[language]
    config.epub_author = config.epub_publisher = config.epub_contributor = config.author
    config.epub_description = WORDS[language]["cover"]
    config.epub_copyright = WORDS[language]["licence"]
    # The builder writes the one into the package document and the other into its older twin; they must be the same.
    config.epub_uid = config.epub_identifier = f"native-mtp-{language}"
    config.epub_basename = f"native-mtp.{language}"
    config.epub_tocscope = "includehidden"
    config.epub_tocdepth = 2
    config.epub_tocdup = False
    config.epub_show_urls = "no"
    config.epub_use_index = False


def write_epubs(tree: Tree, target: Path) -> None:
    """Write one EPUB a language into `target`."""
    from .build import render_language, side_by_side

    def write(language: str) -> None:
        render_language(tree, language, BUILDER)
        name = f"native-mtp.{language}.epub"
        shutil.copy(tree.build_dir / language / "_build" / BUILDER / name, target / name)

    side_by_side(write, LANGUAGES)


def setup(app: Sphinx) -> None:
    app.add_builder(BookEpub, override=True)
    app.connect("config-inited", settings)
    app.connect("html-page-context", page_context, priority=900)
