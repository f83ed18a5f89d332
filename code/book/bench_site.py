"""`python -m book bench-site`: our site beside a default Jupyter Book of the same chapters, measured in one run.

Requests, bytes and layout shift are those of a first view in Chromium with an empty cache, both sites served with gzip. Scores are
Lighthouse's, with its mobile settings. The table is printed and kept in `assets/bench-site.md`.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from . import node
from .browser import FLAGS, chromium, executable
from .build import build_book, cache_dir, environment, jupyter_book, run_logged
from .gzip_server import serving
from .tree import LANGUAGES, BookError, Tree, merge, read_yaml

PAGES = ("index", "lineage", "exercise")
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
NODE = Path(__file__).parent / "bench"
# Layout shifts as the browser saw them, and scripts that keep the page from being painted.
OBSERVE = """() => new Promise(done => {
  let shift = 0;
  new PerformanceObserver(list => list.getEntries().forEach(entry => { if (!entry.hadRecentInput) shift += entry.value; }))
    .observe({type: 'layout-shift', buffered: true});
  const blocking = performance.getEntriesByType('resource')
    .filter(entry => entry.initiatorType === 'script' && entry.renderBlockingStatus === 'blocking').length;
  setTimeout(() => done({shift, blocking}), 300);
})"""


@dataclass
class View:
    """First view of a page: requests, of those foreign, bytes over the wire, layout shift, blocking scripts, and Lighthouse's scores."""

    requests: int
    foreign: int
    bytes: int
    shift: float
    blocking: int
    scores: dict[str, int] = field(default_factory=dict)


def bench_site(tree: Tree) -> None:
    """Build both sites, measure both, print the table and keep it."""
    build_book(tree)
    default = build_default(tree)
    rows: dict[tuple[str, str, str], View] = {}
    with serving(tree.site) as ours, serving(default) as theirs:
        for language in LANGUAGES:
            for page in PAGES:
                for name, base in (("default", theirs), ("ours", ours)):
                    url = f"{base}/{language}/{page}.html"
                    view = first_view(url)
                    view.scores = lighthouse(tree, url)
                    rows[language, page, name] = view
                    print(f"  {language} {page:10} {name:8} {view.requests} requests, {view.bytes / 1e3:.0f} kB, {view.scores}", flush=True)
    table = render(rows)
    print(table)
    (tree.root / "assets" / "bench-site.md").write_text(table, encoding="utf-8")


def build_default(tree: Tree) -> Path:
    """Build the same chapters as Jupyter Book builds them by itself; returns the folder that holds both languages."""
    import yaml

    target = tree.build_dir / "bench" / "default"
    shutil.rmtree(target, ignore_errors=True)
    for language in LANGUAGES:
        config = merge(tree.config, read_yaml(tree.chapters / language / "_overlay.yml"))
        config = merge(config, {"execute": {"cache": str(cache_dir(tree, language))}})
        config["sphinx"]["extra_extensions"] = ["sphinxcontrib.bibtex", "book.plain_extension"]
        work = tree.build_dir / "bench" / language
        work.mkdir(parents=True, exist_ok=True)
        (work / "_config.yml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
        command = jupyter_book(tree, language, work / "_config.yml", work)
        if run_logged(command, work / "build.log", environment(tree), lambda line: None):
            raise BookError(f"the default book could not be built (see {work / 'build.log'})")
        shutil.copytree(work / "_build" / "html", target / language)
    return target


def first_view(url: str) -> View:
    """Open `url` with an empty cache on a phone-sized screen and count what it asks for."""
    host = url.split("/")[2]
    with chromium() as browser:
        context = browser.new_context(viewport={"width": 412, "height": 823})
        page = context.new_page()
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        asked: dict[str, str] = {}
        loaded: dict[str, int] = {}
        session.on("Network.requestWillBeSent", lambda event: asked.setdefault(event["requestId"], event["request"]["url"]))
        session.on("Network.loadingFinished", lambda event: loaded.setdefault(event["requestId"], int(event["encodedDataLength"])))
        page.goto(url, wait_until="load")
        page.wait_for_timeout(1500)
        seen = page.evaluate(OBSERVE)
    urls = [address for address in asked.values() if not address.startswith("data:")]
    foreign = sum(address.split("/")[2] != host for address in urls)
    return View(len(urls), foreign, sum(loaded.values()), seen["shift"], seen["blocking"])


def lighthouse(tree: Tree, url: str) -> dict[str, int]:
    """Return Lighthouse's scores (0 to 100) of a page, at the version of bench/package-lock.json."""
    folder = tree.build_dir / "bench" / "node"
    cli = node.install(NODE, folder) / "lighthouse" / "cli" / "index.js"
    command = [node.node(), str(cli), url, "--output=json", "--output-path=stdout", "--quiet", f"--only-categories={','.join(CATEGORIES)}"]
    command.append("--chrome-flags=--headless=new " + " ".join(FLAGS))
    chrome = executable()
    env = {**os.environ, **({"CHROME_PATH": chrome} if chrome else {})}
    done = subprocess.run(command, env=env, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise BookError(f"Lighthouse failed on {url}: {done.stderr.strip()[-500:]}")
    report: dict[str, Any] = json.loads(done.stdout)
    (folder / f"{'-'.join(url.split('/')[3:])}-{url.split(':')[2][:5]}.json").write_text(done.stdout, encoding="utf-8")
    return {name: round(100 * (report["categories"][name]["score"] or 0)) for name in CATEGORIES}


def render(rows: dict[tuple[str, str, str], View]) -> str:
    """The table in markdown, with the versions measured."""
    head = "| page | site | requests (foreign) | kB, gzip | share of default | layout shift | blocking scripts | performance | accessibility | best practices | SEO |"
    lines = ["# Our site beside a default Jupyter Book of the same chapters", "", head, "|---|---|---|---|---|---|---|---|---|---|---|"]
    for (language, page, name), view in rows.items():
        share = view.bytes / rows[language, page, "default"].bytes
        scores = " | ".join(str(view.scores[category]) for category in CATEGORIES)
        lines.append(
            f"| {language} {page} | {name} | {view.requests} ({view.foreign}) | {view.bytes / 1e3:.0f} | {share:.2f} | {view.shift:.3f} | {view.blocking} | {scores} |"
        )
    versions = ", ".join(f"{package} {version(package)}" for package in ("jupyter-book", "sphinx-book-theme"))
    with chromium() as browser:
        chrome = browser.version
    lines += [
        "",
        f"Measured by `make bench-site` with {versions}, Lighthouse 12.2.3 (mobile settings), Chromium {chrome}, Python {platform.python_version()}, "
        "both sites served with gzip on the loopback. First view, empty cache, 412 × 823. Foreign requests of the default site "
        "(MathJax, thebe) count as requests; where the network does not answer them, their bytes are missing from its sum.",
        "",
    ]
    return "\n".join(lines)
