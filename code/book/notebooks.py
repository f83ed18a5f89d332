"""The notebooks that learners launch: one `.ipynb` and one `.md` for each page with cells, in both languages.

They run outside the repository: their first cell installs the package where it is missing.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import jupytext
import nbformat
from nbformat.notebooknode import NotebookNode

from .build import cache_dir, environment
from .plain_markdown import Context, plain
from .tree import LANGUAGES, Publication, Tree
from .wheel import wheel_name

FOLDER = "notebooks"
INSTALL = {
    "zh": "没有安装本书的小程序包时先安装；已经装好就什么都不做。",
    "en": "Installs the book's small package where it is missing; does nothing otherwise.",
}
KEEP_TORCH = {"zh": "已有的 torch 保持原样，只补上缺少的依赖。", "en": "A torch that is there stays as it is; only what is missing comes along."}
# pip replaces a torch that does not satisfy the package's range, and hosts such as Colab bring one made for their GPUs.
INSTALL_SOURCE = """# {text}
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("mtp") is None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    if importlib.util.find_spec("torch") is None:
        subprocess.check_call([*pip, "{package}"])
    else:
        # {keep}
        others = [name for name in ("safetensors", "tokenizers", "tqdm") if importlib.util.find_spec(name) is None]
        if others:
            subprocess.check_call([*pip, *others])
        subprocess.check_call([*pip, "--no-deps", "{package}"])"""
NO_SOURCE = {
    "zh": "本书还没有公开地址，无法自动安装。请在克隆的仓库里运行 pip install . 之后重试。",
    "en": "This book has no public address yet, so the package cannot be fetched. In a clone of the repository run: pip install .",
}


def write_notebooks(tree: Tree, site: Path | None = None) -> list[Path]:
    """Write all notebooks below `site` (default: the tree's site) and return their paths, `.ipynb` and `.md`.

    Numbers in the text are those that the cells of the last build computed; pages that were not built are executed.
    """
    site = site or tree.site
    written = []
    for language in LANGUAGES:
        context = Context.of(tree, language)
        folder = site / language / FOLDER
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in tree.notebook_pages:
            source = tree.page(language, name)
            context.glued = glued_numbers(tree, language, name)
            target = folder / f"{name}.ipynb"
            nbformat.write(notebook(source, context, tree.publication), target)
            shutil.copy(source, folder / source.name)
            written += [target, folder / source.name]
    return written


def notebook(source: Path, context: Context, publication: Publication) -> NotebookNode:
    """Turn a page into a notebook without outputs, in plain markdown, the same from build to build."""
    page = jupytext.read(source)
    cells = [nbformat.v4.new_code_cell(install_source(context.language, publication, context.tree), metadata={"tags": ["install"]})]
    for cell in page.cells:
        if cell.cell_type == "markdown":
            text = plain(cell.source, context)
            if text:
                cells.append(nbformat.v4.new_markdown_cell(text))
        else:
            cells.append(nbformat.v4.new_code_cell(cell.source, metadata=_cell_metadata(cell)))
    for number, cell in enumerate(cells):
        # The same page gives the same ids, so a rebuilt site does not change needlessly.
        cell["id"] = hashlib.sha256(f"{source.stem}/{number}".encode()).hexdigest()[:8]
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "mtp_book": {"language": context.language, "page": source.stem},
    }
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def _cell_metadata(cell: NotebookNode) -> dict:
    tags = list(cell.metadata.get("tags", []))
    metadata: dict = {"tags": tags} if tags else {}
    if {"remove-input", "hide-input", "remove-cell", "hide-cell"} & set(tags):
        metadata["jupyter"] = {"source_hidden": True}
    return metadata


def install_source(language: str, publication: Publication, tree: Tree) -> str:
    """Source of the first cell."""
    if publication.baseurl:
        package = f"{publication.baseurl}wheels/{wheel_name(tree)}"
    elif publication.repository:
        package = f"git+https://github.com/{publication.repository}@{publication.source_branch}"
    else:
        lines = [f"# {INSTALL[language]}", "import importlib.util", "", 'if importlib.util.find_spec("mtp") is None:']
        return "\n".join([*lines, f"    raise ModuleNotFoundError({NO_SOURCE[language]!r})"])
    return INSTALL_SOURCE.format(text=INSTALL[language], keep=KEEP_TORCH[language], package=package)


def glued_numbers(tree: Tree, language: str, name: str) -> dict[str, str]:
    """Return what the page's cells glued, from the build's cache of executed cells, else by executing them now."""
    executed = _cached(tree, language, name) or _executed(tree, tree.page(language, name))
    glued = {}
    for cell in executed.cells:
        for output in cell.get("outputs", []):
            scrap = output.get("metadata", {}).get("scrapbook")
            if scrap:
                mime = scrap["mime_prefix"] + "text/plain"
                glued[scrap["name"]] = output["data"].get(mime, "").strip("'\"")
    return glued


def _cached(tree: Tree, language: str, name: str) -> NotebookNode | None:
    """The executed page, if its cells are the ones that were executed."""
    from jupyter_cache import get_cache

    folder = cache_dir(tree, language)
    if not folder.is_dir():
        return None
    wanted = [cell.source for cell in jupytext.read(tree.page(language, name)).cells if cell.cell_type == "code"]
    cache = get_cache(folder)
    for record in cache.list_cache_records():
        executed = cache.get_cache_bundle(record.pk).nb
        if [cell.source for cell in executed.cells if cell.cell_type == "code"] == wanted:
            return executed
    return None


def _executed(tree: Tree, source: Path) -> NotebookNode:
    from nbclient import NotebookClient

    page = jupytext.read(source)
    NotebookClient(page, timeout=300, kernel_name="python3").execute(env=environment(tree))
    return page
