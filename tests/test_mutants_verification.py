"""Every fault listed in `data/mutants_verification.py` is caught by the check it names."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import model_checks
import pytest
import verification_checks
from mutants import Mutant, kill

_SPEC = importlib.util.spec_from_file_location(
    "mutants_verification", Path(__file__).parent / "data" / "mutants_verification.py"
)
mutants_verification = importlib.util.module_from_spec(_SPEC)
sys.modules["mutants_verification"] = mutants_verification
_SPEC.loader.exec_module(mutants_verification)
MUTANTS = mutants_verification.MUTANTS


def test_every_fault_has_a_mutant():
    # 25 is a fault of the decoding loop alone: data/mutants_model.py.
    assert {mutant.fault for mutant in MUTANTS} == {1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 21, 22, 24}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.fault}: {mutant.name}")
def test_killed(mutant: Mutant, monkeypatch: pytest.MonkeyPatch):
    checks = verification_checks if hasattr(verification_checks, mutant.killed_by) else model_checks
    kill(mutant, checks, monkeypatch)
