"""The wheel of `mtp` that launched notebooks install from the published site."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .tree import BookError, Tree

# A fixed date (2026-01-01), so that the same sources give the same wheel.
SOURCE_DATE_EPOCH = "1767225600"


def metadata(tree: Tree) -> tuple[str, str]:
    """Name and version from pyproject.toml, without a TOML reader (Python 3.10 has none)."""
    lines = (tree.root / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    values = dict(line.split(" = ", 1) for line in lines if line.startswith(("name = ", "version = ")))
    return values["name"].strip('"'), values["version"].strip('"')


def wheel_name(tree: Tree) -> str:
    """File name of the wheel."""
    name, version = metadata(tree)
    return f"{name.replace('-', '_')}-{version}-py3-none-any.whl"


def build_wheel(tree: Tree, target: Path) -> Path:
    """Build the wheel into the folder `target`; needs no network. `BookError` when it cannot be built."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        # setuptools leaves a build folder beside what it builds; that is not to be the repository.
        copy = Path(scratch)
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(tree.root / name, copy / name)
        shutil.copytree(tree.root / "code" / "mtp", copy / "code" / "mtp", ignore=shutil.ignore_patterns("__pycache__"))
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
        env = {**os.environ, "SOURCE_DATE_EPOCH": SOURCE_DATE_EPOCH}
        done = subprocess.run([*command, "--wheel-dir", str(target), str(copy)], env=env, capture_output=True, text=True)
    wheel = target / wheel_name(tree)
    if done.returncode or not wheel.is_file():
        raise BookError(f"the wheel could not be built: {done.stderr.strip() or done.stdout.strip()}")
    return wheel
