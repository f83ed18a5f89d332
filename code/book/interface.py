"""The page round the text: our own layout in place of the theme's, with every word in the page's language.

The theme is sphinx-book-theme; its layout brings 2 MB of styles, icons and scripts and words that it does not translate. Pages are
rendered through `templates/book.html` instead, which needs one style sheet and one script.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from .courses import language_of
from .launch import launches
from .site import LANGUAGE_TAGS, OTHER
from .tables import facts, lay_out_tables
from .tree import Tree
from .words import WORDS

# What Sphinx writes into bodies in English whatever the language.
TITLES = {
    "Link to this heading": "heading_link",
    "Permalink to this heading": "heading_link",
    "Link to this image": "figure_link",
    "Link to this term": "term_link",
    "Link to this equation": "equation_link",
    "Link to this table": "table_link",
    "Link to this code": "heading_link",
}
HERO = re.compile(r"(<h1>.*?</h1>\s*<p>.*?</p>)\s*(?:<div[^>]*>)?(<table.*?</table>)(?:\s*</div>)?", re.DOTALL)
BRACKETED = re.compile(r"\s*[(（]([^<]*)[)）](?=.*</h1>)")
# The report of a check brings its styles along for notebooks; here the style sheet holds them.
REPORT_STYLE = re.compile(r"<style>\s*\.mtp-report.*?</style>", re.DOTALL)
SUMMARY = re.compile(r'<summary aria-label="[^"]*">(.*?)</summary>', re.DOTALL)
THEBE = re.compile(r'<script type="text/x-thebe-config">.*?</script>\s*<script>kernelName = .*?</script>', re.DOTALL)


def page_context(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> str | None:
    """Give the layout what it needs, and name it as the template; other builders (EPUB) keep their own."""
    if app.builder.name != "html" or template != "page.html":
        return None
    tree, language = Tree(Path(app.srcdir).parents[1]), language_of(app.config)
    words = WORDS[language]
    article = in_language(context["body"], words)
    context["body"] = lay_out_tables(hero(article) if page == app.config.root_doc else article)
    context["book"] = {
        "language": language,
        "tag": LANGUAGE_TAGS[language],
        "other": OTHER[language],
        "other_tag": LANGUAGE_TAGS[OTHER[language]],
        "words": words,
        "words_json": json.dumps(words, ensure_ascii=False).replace("<", "\\u003c"),
        "page": page,
        "home": page == app.config.root_doc,
        "description": meta(context.get("metatags", ""), "description"),
        "keywords": meta(context.get("metatags", ""), "keywords"),
        "base": tree.publication.baseurl,
        "launches": launches(tree.publication, language, page) if page in tree.notebook_pages else [],
        "tags": LANGUAGE_TAGS,
    }
    return "book.html"


def in_language(html: str, words: dict[str, str]) -> str:
    """The article without what other extensions leave in it, and without their English words."""
    html = REPORT_STYLE.sub("", THEBE.sub("", html))
    # myst-nb puts paragraphs and a second name into its summaries; docutils gives entries a role that ARIA has given up.
    html = SUMMARY.sub(lambda match: f"<summary>{match[1].replace('<p', '<span').replace('</p>', '</span>')}</summary>", html)
    html = html.replace('role="doc-biblioentry"', 'role="listitem"')
    for title, key in TITLES.items():
        html = html.replace(f'title="{title}"', f'title="{words[key]}" aria-label="{words[key]}"')
        html = html.replace(f'aria-label="{title}"', f'aria-label="{words[key]}"')
    return html


def hero(html: str) -> str:
    """The top of the home page: its title, the sentence below it, the table of facts as a list, and room for what can be done."""

    def laid_out(match: re.Match[str]) -> str:
        top = BRACKETED.sub(r" <small>\1</small>", match[1], count=1)
        return f'<div class="hero">{top}<!-- actions -->{facts(match[2])}</div>'

    return HERO.sub(laid_out, html, count=1)


def meta(metatags: str, name: str) -> str:
    """What a page's front matter says under `name`, ready for an attribute."""
    for tag in re.findall(r"<meta[^>]*>", metatags):
        if f'name="{name}"' in tag:
            return re.search(r'content="([^"]*)"', tag)[1]
    return ""


def use_own_layout(app: Sphinx, config: Config) -> None:
    config.templates_path = [*config.templates_path, str(Path(__file__).parent / "templates")]
    config.html_math_renderer = "mathml"


def setup(app: Sphinx) -> None:
    app.add_config_value("book_layout", "", "html")
    app.connect("config-inited", use_own_layout)
    app.connect("html-page-context", page_context, priority=900)
