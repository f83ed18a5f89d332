"""From chapters/ to _build/site/: two Jupyter Book builds and what stands round them."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .tree import LANGUAGES, BookError, Tree, merge, read_yaml

JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"
# Lines of Sphinx's output that tell a waiting person something.
TELLING = re.compile(r"WARNING|ERROR|Error|Exception|Traceback|Executing notebook|build succeeded|\d+ (added|warnings?)")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def build_book(tree: Tree, languages: Iterable[str] = LANGUAGES, hurry: bool = False) -> None:
    """Build `languages` and lay the whole site out anew in `tree.site`; in a `hurry` EPUB and PDF stay as they are.

    A language that is not named keeps the pages of its last build. Raises `BookError` when anything is wrong,
    warnings of Sphinx included; the site of the last good build then stays as it was.
    """
    from .site import IN_A_HURRY, STEPS

    started = time.monotonic()
    languages = [name for name in LANGUAGES if name in languages or not html_dir(tree, name).is_dir()]
    require_pages(tree)
    say(1, f"executing cells and rendering pages: {', '.join(languages)}")
    render(tree, languages)
    fresh = tree.build_dir / "site-new"
    shutil.rmtree(fresh, ignore_errors=True)
    for name in LANGUAGES:
        shutil.copytree(html_dir(tree, name), fresh / name, ignore=shutil.ignore_patterns(".buildinfo", "objects.inv"))
    for number, step in enumerate(STEPS, start=2):
        step = IN_A_HURRY.get(step, step) if hurry else step
        say(number, step.__doc__.splitlines()[0].rstrip("."))
        step(tree, fresh)
    replace_directory(tree.site, fresh)
    print(f"done in {time.monotonic() - started:.0f} s. Open {tree.site / 'index.html'}, or run `make serve` for search and reloading.")


def say(number: int, text: str) -> None:
    from .site import STEPS

    print(f"[{number}/{len(STEPS) + 1}] {text}", flush=True)


def require_pages(tree: Tree) -> None:
    """Refuse to build when a page of the table of contents lacks one of its languages."""
    missing = [tree.page(language, name) for language in LANGUAGES for name in tree.pages if not tree.page(language, name).is_file()]
    if missing:
        names = ", ".join(path.relative_to(tree.root).as_posix() for path in missing)
        raise BookError(f"{names}: named in _toc.yml, but missing; each page must exist in {' and '.join(LANGUAGES)}")


def html_dir(tree: Tree, language: str) -> Path:
    return tree.build_dir / language / "_build" / "html"


def cache_dir(tree: Tree, language: str) -> Path:
    """Where executed cells are kept: keyed on all that they import, so a change there executes them again."""
    digest = hashlib.sha256(sys.version.encode())
    sources = [*sorted((tree.root / "code" / "mtp").rglob("*")), tree.root / "constraints.txt"]
    for path in sources:
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(tree.root).as_posix().encode())
            digest.update(path.read_bytes())
    return tree.build_dir / "cells" / digest.hexdigest()[:16] / language


def layout(tree: Tree) -> str:
    """Digest of what every page is laid out with; when it changes, all pages are written again."""
    digest = hashlib.sha256(repr(tree.publication).encode())
    for path in sorted((tree.root / "code" / "book").rglob("*")):
        if path.suffix in (".py", ".html"):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def write_config(tree: Tree, language: str) -> Path:
    """Merge the language's overlay over `_config.yml` and write the result where Jupyter Book is told to find it."""
    import yaml

    config = merge(tree.config, read_yaml(tree.chapters / language / "_overlay.yml"))
    config = merge(config, {"execute": {"cache": str(cache_dir(tree, language))}, "sphinx": {"config": {"book_layout": layout(tree)}}})
    target = tree.build_dir / language / "_config.yml"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    return target


def environment(tree: Tree) -> dict[str, str]:
    """Environment of a build: the tree's own `mtp` and `book` come before the installed ones."""
    path = os.pathsep.join(filter(None, [str(tree.root / "code"), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}


def side_by_side(work: Callable[[str], None], languages: Iterable[str]) -> None:
    """Do `work` for all languages at once; when all are done, what went wrong is raised as one error."""
    with ThreadPoolExecutor() as pool:
        errors = [task.exception() for task in [pool.submit(work, language) for language in languages]]
    errors = [error for error in errors if error]
    for error in errors:
        if not isinstance(error, BookError):
            raise error
    if errors:
        raise type(errors[0])("; ".join(dict.fromkeys(map(str, errors))))


def render(tree: Tree, languages: list[str]) -> None:
    """Run Jupyter Book for all `languages` side by side."""
    side_by_side(lambda language: render_language(tree, language), languages)
    forget_old_caches(tree)
    for language in languages:
        forget_old_pages(tree, language)


def jupyter_book(tree: Tree, language: str, config: Path, work: Path) -> list[str]:
    """The command that builds one language with `config` into `work`."""
    # A relative table of contents would be looked up in two different folders.
    places = {"--config": config, "--toc": tree.toc_file.resolve(), "--path-output": work}
    command = [sys.executable, "-c", JUPYTER_BOOK, "build", str(tree.chapters / language)]
    return command + [word for option, place in places.items() for word in (option, str(place))]


def render_language(tree: Tree, language: str, builder: str = "html") -> None:
    """Run Jupyter Book with one of Sphinx's builders; warnings are errors."""
    command = [
        *jupyter_book(tree, language, write_config(tree, language), tree.build_dir / language),
        *(() if builder == "html" else ("--builder", "custom", "--custom-builder", builder)),
        *("-W", "--keep-going", "-n"),
    ]
    log = tree.build_dir / language / f"{builder}.log"
    status = run_logged(command, log, environment(tree), lambda line: print(f"  {language} | {line}", flush=True))
    if status:
        # Sphinx keeps pages that it warned about; the next build would pass over them in silence.
        built = tree.build_dir / language / "_build"
        # The link checker fails on broken addresses as well, and its report is wanted then.
        shutil.rmtree(built / ".doctrees" if builder == "linkcheck" else built, ignore_errors=True)
        raise BookError(f"the {language} book has errors or warnings (see above; all of it in {log.relative_to(tree.root).as_posix()})")


def run_logged(command: list[str], log: Path, env: dict[str, str], show: Callable[[str], None]) -> int:
    """Run `command`; write its output to `log`, and hand its telling lines to `show`. Returns the exit status."""
    log.parent.mkdir(parents=True, exist_ok=True)
    tail: list[str] = []
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace"
        )
        assert process.stdout is not None
        for raw in process.stdout:
            line = COLOURS.sub("", raw).rstrip().rsplit("\r", 1)[-1]
            file.write(line + "\n")
            tail = [*tail[-30:], line]
            if TELLING.search(line):
                show(line)
    status = process.wait()
    if status:
        for line in tail:
            show(line)
    return status


def forget_old_caches(tree: Tree) -> None:
    current = cache_dir(tree, LANGUAGES[0]).parent
    for path in current.parent.glob("*"):
        if path != current:
            shutil.rmtree(path, ignore_errors=True)


def forget_old_pages(tree: Tree, language: str) -> None:
    """Remove pages that are no longer in the table of contents; Sphinx leaves them where it wrote them."""
    for doctree in (html_dir(tree, language).parent / ".doctrees").glob("*.doctree"):
        if doctree.stem not in tree.pages:
            doctree.unlink()
            (html_dir(tree, language) / f"{doctree.stem}.html").unlink(missing_ok=True)


def replace_directory(target: Path, fresh: Path) -> None:
    """Put `fresh` in the place of `target`, so that a reader never finds half a site."""
    old = target.with_name(target.name + "-old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    fresh.rename(target)
    shutil.rmtree(old, ignore_errors=True)
