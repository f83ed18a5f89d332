"""Every fault listed in `data/mutants_model.py` is caught by the check it names."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import model_checks
import pytest

_PATH = Path(__file__).parent / "data" / "mutants_model.py"
_SPEC = importlib.util.spec_from_file_location("mutants_model", _PATH)
mutants_model = importlib.util.module_from_spec(_SPEC)
sys.modules["mutants_model"] = mutants_model
_SPEC.loader.exec_module(mutants_model)
MUTANTS = mutants_model.MUTANTS

FAULTS = {4, 5, 6, 7, 13, 14, 15, 16, 17, 18, 19, 20, 23, 25, 26}


@pytest.fixture(scope="module", autouse=True)
def kills() -> Iterator[list[str]]:
    """Collects mutant → killing check, and prints the table at the end (shown by `pytest -s`)."""
    lines: list[str] = []
    yield lines
    print("\n" + "\n".join(lines))


def test_every_fault_has_a_mutant():
    assert {mutant.fault for mutant in MUTANTS} == FAULTS


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.fault}: {mutant.name}")
def test_killed(mutant: object, monkeypatch: pytest.MonkeyPatch, kills: list[str]):
    original = getattr(mutant.owner, mutant.attribute)
    monkeypatch.setattr(mutant.owner, mutant.attribute, mutant.make(original))
    with pytest.raises(AssertionError):
        getattr(model_checks, mutant.killed_by)()
    kills.append(f"{mutant.fault:3} {mutant.name:55} {mutant.killed_by}")
