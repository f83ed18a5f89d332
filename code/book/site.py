"""What stands round the rendered pages of both languages: the steps that lay out the site."""

from __future__ import annotations

import html
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from string import Template

from .tree import LANGUAGES, Tree
from .words import WORDS

TEMPLATES = Path(__file__).parent / "templates"
LANGUAGE_TAGS = {"zh": "zh-CN", "en": "en"}
OTHER = {"zh": "en", "en": "zh"}
# What Sphinx and its extensions write that no page of ours loads.
LEFT_OVER = ("_static", "_sphinx_design_static", "genindex.html", "search.html", "searchindex.js", "objects.inv", ".buildinfo")


def assets(tree: Tree, site: Path) -> None:
    """Writing styles, scripts and icons."""
    from .stylesheet import stylesheet

    for language in LANGUAGES:
        for name in LEFT_OVER:
            path = site / language / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    target = site / "assets"
    target.mkdir()
    (target / "book.css").write_text(stylesheet(tree), encoding="utf-8")
    for path in (*(tree.root / "assets" / "js").glob("*.js"), *(tree.root / "assets" / "icons").iterdir()):
        shutil.copy(path, target / path.name)
    shutil.copytree(tree.root / "assets" / "js" / "live", target / "live")
    # Without this file GitHub Pages drops folders whose names begin with an underscore.
    (site / ".nojekyll").touch()


def front_pages(tree: Tree, site: Path) -> None:
    """Writing the front page that chooses a language, and the page for wrong addresses."""
    values = {f"title_{language}": html.escape(tree.title(language)) for language in LANGUAGES}
    values |= {"base": html.escape(tree.publication.baseurl or "/"), "canonical": _canonical(tree)}
    for name, target in (("front.html", "index.html"), ("404.html", "404.html")):
        template = Template((TEMPLATES / name).read_text(encoding="utf-8"))
        (site / target).write_text(template.substitute(values), encoding="utf-8")


def _canonical(tree: Tree) -> str:
    base = tree.publication.baseurl
    if not base:
        return ""
    links = [f'<link rel="canonical" href="{base}">', f'<link rel="alternate" hreflang="x-default" href="{base}">']
    links += [f'<link rel="alternate" hreflang="{LANGUAGE_TAGS[language]}" href="{base}{language}/">' for language in LANGUAGES]
    return "\n".join(links)


def sitemap(tree: Tree, site: Path) -> None:
    """Writing the map of the site for search engines."""
    base = tree.publication.baseurl
    robots = "User-agent: *\nAllow: /\n"
    if base:
        robots += f"Sitemap: {base}sitemap.xml\n"
        (site / "sitemap.xml").write_text(sitemap_xml(tree, base), encoding="utf-8")
    (site / "robots.txt").write_text(robots, encoding="utf-8")


def sitemap_xml(tree: Tree, base: str) -> str:
    """Every page of both languages, each with its twin."""
    entries = []
    for name in tree.pages:
        file = "" if name == tree.pages[0] else f"{name}.html"
        twins = "".join(
            f'<xhtml:link rel="alternate" hreflang="{LANGUAGE_TAGS[language]}" href="{base}{language}/{file}"/>' for language in LANGUAGES
        )
        entries += [f"<url><loc>{base}{language}/{file}</loc>{twins}</url>" for language in LANGUAGES]
    head = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">'
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + head + "\n".join(entries) + "</urlset>\n"


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


def downloads(tree: Tree, site: Path) -> None:
    """Making the whole book as EPUB and PDF."""
    from .browser import NoBrowser
    from .epub import write_epubs
    from .pdf import write_pdfs

    target = site / "downloads"
    target.mkdir()
    write_epubs(tree, target)
    try:
        write_pdfs(tree, site, target)
    except NoBrowser as error:
        print(f"  THE PDF WAS LEFT OUT: {error}", flush=True)


def last_downloads(tree: Tree, site: Path) -> None:
    """Taking over the EPUB and PDF of the last full build."""
    if (tree.site / "downloads").is_dir():
        shutil.copytree(tree.site / "downloads", site / "downloads")


def run_here(tree: Tree, site: Path) -> None:
    """Adding the editor and Python for exercises that run in the page."""
    from .node import NoNode
    from .run_here import add_run_here

    try:
        add_run_here(tree, site)
    except NoNode as error:
        if os.environ.get("CI"):
            raise
        print(f"  RUNNING EXERCISES IN THE PAGE WAS LEFT OUT: {error}", flush=True)


def home_actions(tree: Tree, site: Path) -> None:
    """Writing what the home pages offer: where to start, and what to download."""
    for language in LANGUAGES:
        words, page = WORDS[language], site / language / "index.html"
        first = tree.pages[1] if len(tree.pages) > 1 else tree.pages[0]
        links = [f'<a class="primary" href="{first}.html">{words["start"]}</a>']
        if "exercise" in tree.pages:
            links.append(f'<a href="exercise.html">{words["exercise"]}</a>')
        for kind in ("pdf", "epub"):
            for file in sorted((site / "downloads").glob(f"*.{language}.{kind}")):
                size = _size(file.stat().st_size)
                links.append(f'<a href="../downloads/{file.name}" download>{words[kind].format(size=size)}</a>')
        text = page.read_text(encoding="utf-8").replace("<!-- actions -->", f'<p class="actions">{"".join(links)}</p>')
        page.write_text(text, encoding="utf-8")


def _size(bytes_: int) -> str:
    return f"{bytes_ / 1e6:.1f} MB" if bytes_ >= 1e6 else f"{bytes_ / 1e3:.0f} kB"


def search_index(tree: Tree, site: Path) -> None:
    """Indexing both languages for the search."""
    from .pagefind_index import write_index

    write_index(tree, site)


# Seconds count while a page is being written; a whole book is made once.
IN_A_HURRY = {downloads: last_downloads}
STEPS: list[Callable[[Tree, Path], None]] = [assets, front_pages, sitemap, notebooks, package, run_here, downloads, home_actions, search_index]
