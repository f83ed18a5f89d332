"""Make `.venv` with the pinned versions: the one step that needs nothing but Python itself.

`make` runs it before everything else; without make: `python code/book/bootstrap.py`, then
`.venv/bin/python -m book build` (PowerShell: `.venv\\Scripts\\python -m book build`).
It does nothing when `.venv` is already up to date.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OLDEST, NEWEST = (3, 10), (3, 13)
# What decides whether an environment is still the right one.
INPUTS = ("pyproject.toml", "constraints.txt")


def fail(message: str) -> None:
    sys.exit(f"error: {message}")


def check_python() -> None:
    """Refuse a Python for which the pinned versions do not exist."""
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        fail(
            f"Python {sys.version.split()[0]} cannot run this book: it needs {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}. "
            "Name another one, for example: make book PYTHON=python3.12"
        )


def venv_python(venv: Path) -> Path:
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def extras() -> str:
    """What to install beside the package: Node too where there is none, since the build needs it for the editor of the exercises."""
    return "book,test" if shutil.which("node") and shutil.which("npm") else "book,test,node"


def fingerprint() -> str:
    content = b"".join((ROOT / name).read_bytes() for name in INPUTS)
    return hashlib.sha256(content + sys.version.encode() + extras().encode()).hexdigest()


def run(command: list[str], problem: str) -> None:
    """Run a step with its output shown; a failure ends the program with what to do about it."""
    try:
        status = subprocess.call(command, cwd=ROOT)
    except OSError as error:
        fail(f"{problem} ({error})")
    if status:
        fail(problem)


def make_environment(venv: Path) -> None:
    print(f"[1/2] making {venv.name} with Python {sys.version.split()[0]}", flush=True)
    run(
        [sys.executable, "-m", "venv", "--clear", str(venv)],
        "could not make a virtual environment. On Debian and Ubuntu: apt install python3-venv",
    )
    print("[2/2] installing pinned versions (a few minutes the first time)", flush=True)
    pip = [str(venv_python(venv)), "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "on"]
    run(
        [*pip, "--quiet", "-c", "constraints.txt", "-e", f".[{extras()}]"],
        "installing failed (see above). Without a network connection the packages cannot be fetched; run the command again "
        "once there is one. Behind a mirror, set PIP_INDEX_URL",
    )


def main() -> None:
    check_python()
    venv = ROOT / ".venv"
    stamp = venv / "book-environment"
    wanted = fingerprint()
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted and venv_python(venv).exists():
        return
    make_environment(venv)
    stamp.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
