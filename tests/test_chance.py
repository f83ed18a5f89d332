"""Random decisions: what can never happen does not, and the rest happens as often as it should."""

from __future__ import annotations

import pytest
import torch
from mtp.chance import SeededChance, as_chance, draw


def chance_with(u: float, monkeypatch: pytest.MonkeyPatch) -> SeededChance:
    monkeypatch.setattr(torch, "rand", lambda *size, **settings: torch.tensor(u, dtype=torch.float64))
    return SeededChance(None)


@pytest.mark.parametrize("u", [0.0, 0.25, 0.5, 0.75, 1 - 2**-53, 1.0])
def test_a_token_without_mass_is_never_drawn(u: float, monkeypatch: pytest.MonkeyPatch):
    distribution = torch.tensor([0.0, 0.5, 0.0, 0.25, 0.25, 0.0])
    assert chance_with(u, monkeypatch).draw(distribution) in (1, 3, 4)


def test_nothing_is_accepted_with_probability_zero_and_everything_with_one(monkeypatch: pytest.MonkeyPatch):
    assert chance_with(0.0, monkeypatch).accept(0.0) is False
    assert chance_with(1 - 2**-53, monkeypatch).accept(1.0) is True
    assert chance_with(0.5, monkeypatch).accept(7.0) is True


def test_frequencies():
    generator, mass = torch.Generator().manual_seed(0), torch.tensor([3.0, 0.0, 1.0, 4.0])
    counts = torch.bincount(torch.tensor([draw(mass, generator) for _ in range(4000)]), minlength=4) / 4000
    assert (counts - mass / mass.sum()).abs().max() < 0.03
    chance = as_chance(generator)
    assert sum(chance.accept(0.3) for _ in range(4000)) / 4000 == pytest.approx(0.3, abs=0.03)


def test_same_seed_same_draws():
    mass = torch.ones(50)
    one, other = (torch.Generator().manual_seed(5) for _ in range(2))
    assert [draw(mass, one) for _ in range(20)] == [draw(mass, other) for _ in range(20)]
