"""When candidates pay: tokens of a round, time of a round, and the speed-up that follows.

Times are in units of one plain decoding step. A round with k candidates drafts them one after another and verifies k + 1 positions in
one call: its time is k · draft + 1 + k · verify, where `draft` is what one candidate costs and `verify` what each position beyond the
first adds to the target's call. With `verify` = 0 and i.i.d. acceptance this is Leviathan et al. 2023 (arXiv 2211.17192), Theorem 3.8.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def expected_tokens(survival: Sequence[float]) -> float:
    """Tokens of a round with `len(survival)` candidates, the target's own token included: 1 + Σ survival.

    Args:
        survival: for each position the share of rounds in which the candidate there is accepted; between 0 and 1, never rising.
    """
    return 1 + math.fsum(_checked(survival))


def iid_tokens(rate: float, k: int) -> float:
    """The same if every candidate were accepted with probability `rate`, whatever came before: (1 - rate^(k+1)) / (1 - rate)."""
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must lie between 0 and 1, not {rate!r}")
    return expected_tokens([rate ** (position + 1) for position in range(_count("k", k))])


def round_time(k: int, draft: float, verify: float) -> float:
    """Time of a round with k candidates, in plain steps; k = 0 is a plain step."""
    for name, value in (("draft", draft), ("verify", verify)):
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} must be at least 0 and finite, not {value!r}")
    return 1 + _count("k", k) * (draft + verify)


def speedup(survival: Sequence[float], draft: float, verify: float) -> float:
    """Speed of rounds with `len(survival)` candidates over plain decoding; below 1 where candidates do not pay."""
    return expected_tokens(survival) / round_time(len(survival), draft, verify)


def best_k(survival: Sequence[float], draft: float, verify: float) -> int:
    """The k of 0 … len(survival) with the highest speed-up; 0 means that plain decoding is the fastest. The smaller of equals."""
    _checked(survival)
    return max(range(len(survival) + 1), key=lambda k: (speedup(survival[:k], draft, verify), -k))


def _checked(survival: Sequence[float]) -> Sequence[float]:
    before = 1.0
    for position, value in enumerate(survival):
        if not 0 <= value <= before:
            raise ValueError(f"survival[{position}]={value!r} must lie between 0 and the value before it, {before!r}")
        before = value
    return survival


def _count(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{name} must be an int of at least 0, not {value!r}")
    return value
