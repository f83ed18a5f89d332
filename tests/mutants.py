"""What tests of deliberately wrong variants share.

Data files under `data/` list `Mutant`s; a test calls `kill(mutant, checks, monkeypatch)` for each. Whatever was killed is printed
as a table mutant → killing check at the end of the run (`pytest_terminal_summary` in conftest.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

# Lines of the table, in order of running.
KILLS: list[str] = []


@dataclass(frozen=True)
class Mutant:
    """A fault: its number in the list of faults, what it is, where it goes, and the check that must fail on it."""

    fault: int
    name: str
    owner: Any
    attribute: str
    make: Callable[[Any], Any]
    killed_by: str


def kill(mutant: Any, checks: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the fault in, and require the named check to fail on it."""
    check = getattr(checks, mutant.killed_by)
    check()
    original = getattr(mutant.owner, mutant.attribute)
    monkeypatch.setattr(mutant.owner, mutant.attribute, mutant.make(original))
    with pytest.raises(AssertionError):
        check()
    KILLS.append(f"{mutant.fault:3} {mutant.name:58} {mutant.killed_by}")
