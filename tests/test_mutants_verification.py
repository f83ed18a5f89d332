"""Every fault listed in `data/mutants_verification.py` is caught by the check it names."""

from __future__ import annotations

import model_checks
import pytest
import verification_checks
from data.mutants_verification import MUTANTS
from mutants import Mutant, kill


def test_every_fault_has_a_mutant():
    # 25 is a fault of the decoding loop alone: data/mutants_model.py.
    assert {mutant.fault for mutant in MUTANTS} == {1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 21, 22, 24}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.fault}: {mutant.name}")
def test_killed(mutant: Mutant, monkeypatch: pytest.MonkeyPatch):
    checks = verification_checks if hasattr(verification_checks, mutant.killed_by) else model_checks
    kill(mutant, checks, monkeypatch)
