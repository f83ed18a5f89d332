"""What the checks of the exercises hold right, in one place, so that the checks themselves give no solution away.

The page that runs exercises in the browser puts recorded answers in the place of this module: the reader gets what is right for the
cases of the checks, and not the code that finds it.
"""

from __future__ import annotations

from .simulator import MultiTokenDecoderSim

__all__ = ["MultiTokenDecoderSim", "one_hot_accepts", "one_hot_residual", "residual_distribution", "residual_support"]


def residual_support(p: list[float], q: list[float]) -> list[bool]:
    """Where the residual of target p and draft q has mass."""
    return [a > b for a, b in zip(p, q)]


def residual_distribution(p: list[float], q: list[float]) -> list[float]:
    """Normalised positive part of p - q, for p other than q."""
    rest = [max(a - b, 0.0) for a, b in zip(p, q)]
    return [value / sum(rest) for value in rest]


def one_hot_accepts(token: int, p: list[float], u: float) -> bool:
    """Whether a candidate of a deterministic draft is accepted, with u in [0, 1)."""
    return u < p[token]


def one_hot_residual(token: int, p: list[float]) -> list[float]:
    """What a rejected candidate of a deterministic draft is replaced from; p[token] is below 1."""
    return [0.0 if place == token else mass / (1 - p[token]) for place, mass in enumerate(p)]
