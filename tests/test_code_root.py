"""The folder `code/` must not hide Python's own module of that name, which debuggers and IPython import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SHOW = "import code; print(code.__file__)"


def run(root: Path, *arguments: str, stdin: str = "") -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=root, input=stdin, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("arguments", [("-c", SHOW), ("-c", "import pdb, IPython, debugpy; " + SHOW)])
def test_import_code_finds_pythons_own(root: Path, arguments: tuple[str, ...]) -> None:
    shown = Path(run(root, *arguments).strip())
    assert shown.name == "code.py" and root not in shown.parents


def test_pdb_starts_in_the_repository(root: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SHOW + "\n", encoding="utf-8")
    shown = run(root, "-m", "pdb", "-c", "continue", str(script), stdin="quit\n")
    assert "code.py" in shown and str(root / "code") not in shown


def test_a_kernel_started_in_the_repository_finds_pythons_own(root: Path) -> None:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3", cwd=str(root))
    try:
        shown: list[str] = []

        def collect(message: dict) -> None:
            shown.append(message["content"].get("text", ""))

        reply = client.execute_interactive(SHOW + "; import mtp; print(mtp.__file__)", timeout=60, output_hook=collect)
        assert reply["content"]["status"] == "ok"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    code, mtp = "".join(shown).split()[:2]
    assert Path(code).name == "code.py" and root not in Path(code).parents
    assert Path(mtp) == root / "code" / "mtp" / "__init__.py"


def test_code_is_no_package(root: Path) -> None:
    assert not (root / "code" / "__init__.py").exists() and not (root / "code.py").exists()
