"""What running exercises in the page needs: an editor, Python for the browser, and the checks without their solutions."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from . import node
from .build import environment
from .tree import LANGUAGES, BookError, Tree

LIVE = Path(__file__).parent / "live"
# What the browser loads of Pyodide.
PYODIDE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")
# What the checks import of the package; its answers are recorded ones.
MODULES = ("__init__", "checking", "exercise", "exercise_lossless", "language", "validation")
CELL = re.compile(r'<div class="cell tag_run-here[^"]*"')


def add_run_here(tree: Tree, site: Path) -> None:
    """Put all of it into `site`, and mark the cells of its pages; raises `NoNode` where npm cannot be had."""
    pages = [path for language in LANGUAGES for path in sorted((site / language).glob("*.html")) if CELL.search(path.read_text(encoding="utf-8"))]
    if not pages:
        return
    modules = node.install(LIVE, tree.build_dir / "live" / "node")
    built = bundle_editor(tree, modules)
    live = site / "assets" / "live"
    live.mkdir(parents=True, exist_ok=True)
    shutil.copy(built, live / "editor.js")
    (live / "licences.txt").write_text(licences(modules), encoding="utf-8")
    files = [live / "editor.js", *copy_pyodide(modules, site / "assets" / "pyodide"), write_package(tree, live / "exercises.zip")]
    mark_cells(pages, *_sizes(tree, files))


def _kept(target: Path, make: Callable[[], None]) -> Path:
    """`target`, whose name ends with the digest of its sources, made by `make` unless it is there; what older sources gave goes away."""
    if not target.is_file():
        for old in target.parent.glob(f"{target.name.split('-')[0]}-*"):
            old.unlink()
        make()
    return target


def bundle_editor(tree: Tree, modules: Path) -> Path:
    """The editor as one small file; bundled again only when its source or the versions change."""
    source = LIVE / "editor.js"
    digest = hashlib.sha256(source.read_bytes() + (LIVE / "package-lock.json").read_bytes()).hexdigest()[:16]
    target = tree.build_dir / "live" / f"editor-{digest}.js"

    def bundle() -> None:
        esbuild = [node.node(), str(modules / "esbuild" / "bin" / "esbuild")]
        options = ["--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=eof", f"--outfile={target}"]
        env = {**node.environment(), "NODE_PATH": str(modules)}
        done = subprocess.run([*esbuild, str(source), *options], env=env, capture_output=True, text=True, encoding="utf-8")
        if done.returncode:
            raise BookError(f"the editor could not be bundled: {done.stderr.strip()[-400:]}")

    return _kept(target, bundle)


# Packages that only do the work of the build, or that Pyodide asks for outside browsers.
NOT_SENT = {"esbuild", "ws"}


def licences(modules: Path) -> str:
    """Name, version, licence and notice of each package of which something is sent to readers."""
    texts = []
    for path in sorted([*modules.glob("*/package.json"), *modules.glob("@*/*/package.json")]):
        about = json.loads(path.read_text(encoding="utf-8"))
        if about["name"] in NOT_SENT or about["name"].startswith(("@esbuild/", "@types/")):
            continue
        notice = path.with_name("LICENSE")
        source = f"https://www.npmjs.com/package/{about['name']}"
        texts.append(f"{about['name']} {about['version']}, {about['license']}, {source}\n" + (notice.read_text(encoding="utf-8") if notice.is_file() else ""))
    return "\n".join(texts)


def copy_pyodide(modules: Path, target: Path) -> list[Path]:
    """Copy Python for the browser; of its list of packages, from which nothing is taken, only the head."""
    source = modules / "pyodide"
    target.mkdir()
    for name in PYODIDE:
        shutil.copyfile(source / name, target / name)
    lock = json.loads((source / "pyodide-lock.json").read_text(encoding="utf-8"))
    (target / "pyodide-lock.json").write_text(json.dumps({**lock, "packages": {}}), encoding="utf-8")
    return [target / name for name in PYODIDE]


def _sizes(tree: Tree, files: list[Path]) -> tuple[int, int]:
    """Bytes of the files, and bytes over the wire from a server that compresses. Compressing takes a while, so it is done once."""
    kept = tree.build_dir / "live" / "sizes.json"
    known = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else {}
    sizes = {}
    for path in files:
        key = f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"
        sizes[key] = known.get(key) or len(gzip.compress(path.read_bytes(), 6))
    kept.write_text(json.dumps(sizes), encoding="utf-8")
    return sum(path.stat().st_size for path in files), sum(sizes.values())


def mark_cells(pages: list[Path], size: int, download: int) -> None:
    """Tell the pages which cells can be run, and how many bytes that loads, unpacked and over the wire."""
    marks = f' data-live="run-here" data-bytes="{size}" data-download="{download / 1e6:.1f}"'
    for path in pages:
        path.write_text(CELL.sub(lambda match: match[0] + marks, path.read_text(encoding="utf-8")), encoding="utf-8")


def write_package(tree: Tree, target: Path) -> Path:
    """Write the archive that the worker unpacks: the checks, recorded answers, the stand-in for torch, and what runs them."""
    package, python = tree.root / "code" / "mtp", LIVE / "python"
    files = {f"mtp/{name}.py": (package / f"{name}.py").read_text(encoding="utf-8") for name in MODULES}
    files["mtp/answers.py"] = (python / "answers.py").read_text(encoding="utf-8")
    files["mtp/answers.json"] = answers(tree)
    files |= {name: (python / name).read_text(encoding="utf-8") for name in ("torch.py", "runner.py")}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in sorted(files.items()):
            # A fixed time, so that the same sources give the same bytes.
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), text, zipfile.ZIP_DEFLATED)
    return target


def answers(tree: Tree) -> str:
    """What the checks hold right, as JSON; recorded again when the package or the way of recording changes."""
    sources = [*sorted((tree.root / "code" / "mtp").glob("*.py")), Path(__file__).with_name("record.py"), LIVE / "python" / "answers.py"]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    target = tree.build_dir / "live" / f"answers-{digest}.json"

    def record() -> None:
        command = [sys.executable, "-m", "book.record"]
        done = subprocess.run(command, cwd=tree.root, env=environment(tree), capture_output=True, text=True, encoding="utf-8")
        if done.returncode:
            raise BookError(f"the answers of the exercises could not be recorded: {done.stderr.strip()[-400:]}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(done.stdout, encoding="utf-8")

    return _kept(target, record).read_text(encoding="utf-8")
