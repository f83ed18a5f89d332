"""Every fault listed in `data/mutants_model.py` is caught by the check it names."""

from __future__ import annotations

import model_checks
import pytest
from data.mutants_model import MUTANTS
from mutants import Mutant, kill

FAULTS = {4, 5, 6, 7, 13, 14, 15, 16, 17, 18, 19, 20, 23, 25, 26}


def test_every_fault_has_a_mutant() -> None:
    assert {mutant.fault for mutant in MUTANTS} == FAULTS


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.fault}: {mutant.name}")
def test_killed(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    kill(mutant, model_checks, monkeypatch)
