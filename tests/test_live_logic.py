"""What the live figures compute is what `mtp` computes: Node replays Python's rounds and curves through their modules."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
from pathlib import Path

import pytest
from book.node import NoNode
from book.node import node as found_node
from conftest import ROOT
from live_vectors import write_vectors

MODULES = ROOT / "assets" / "js" / "live"


@pytest.fixture(scope="module")
def node() -> str:
    """Node itself: the one on the path, or PyPI's."""
    try:
        return found_node()
    except NoNode as error:
        message = f"NO NODE: the live figures are not compared with mtp. {error}"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)


def test_node_replays_every_vector(node: str, tmp_path: Path) -> None:
    vectors = write_vectors(tmp_path / "vectors.json")
    rounds = [each for each in vectors["rounds"] if each["states"]]
    # The edge cases are among them.
    reasons = {state["reason"] for each in rounds for state in each["states"] if state["kind"] == "test"}
    assert reasons == {
        *("at_least_threshold", "below_threshold", "zero_draft_positive_target", "zero_draft_zero_target"),
        *("is_argmax", "not_argmax", "target_likes_it_as_much", "below_probability", "not_below_probability"),
    }
    assert len(rounds) >= 500 and len(rounds) < len(vectors["rounds"])
    assert any(not each["given"]["tokens"] for each in rounds)
    command = [node, "--test", str(Path(__file__).parent / "node" / "live.test.mjs")]
    done = subprocess.run(command, env={**os.environ, "LIVE_VECTORS": str(tmp_path / "vectors.json")}, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 7" in done.stdout, done.stdout


def with_imports(names: set[str]) -> set[str]:
    """Modules, and all that they import."""
    wanted, found = set(names), set()
    while wanted:
        name = wanted.pop()
        found.add(name)
        wanted |= set(re.findall(r'from "\./([\w-]+\.js)"', (MODULES / name).read_text(encoding="utf-8"))) - found
    return found


def test_the_modules_of_the_figures_are_light() -> None:
    modules = with_imports({"stepper.js", "sampling.js", "explorer.js"})
    assert {"dom.js", "round-logic.js", "rules.js", "chance.js", "sampling-logic.js", "speedup-logic.js"} <= modules
    assert sum(len(gzip.compress((MODULES / name).read_bytes())) for name in modules) < 40_000
