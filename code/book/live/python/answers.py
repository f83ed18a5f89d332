"""Recorded answers: in the reader's browser this module stands in the place of `mtp.answers`.

When the book is built, the checks run once, and what they hold right is written to answers.json: under the digest of a question its
answer. The code that finds the answers, which would be the solution, stays behind.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_left
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("answers.json")


@cache
def _table() -> dict[str, Any]:
    return json.loads(TABLE.read_text(encoding="utf-8"))


def question(name: str, *arguments: Any) -> str:
    """The digest under which the answer to `name(*arguments)` is kept; tensors count as lists, numbers to six places."""
    text = json.dumps([name, *map(_plain, arguments)])
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _plain(value: Any) -> Any:
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, (list, tuple, range)):
        return [_plain(entry) for entry in value]
    return round(value, 6) + 0.0 if isinstance(value, float) else value


def _recorded(name: str, *arguments: Any) -> Any:
    found = _table()["answers"].get(question(name, *arguments))
    if found is None:
        raise LookupError(f"{name} was called with something that this check did not hand to your code")
    return json.loads(found)


def residual_support(p: list[float], q: list[float]) -> list[bool]:
    return _recorded("residual_support", p, q)


def residual_distribution(p: list[float], q: list[float]) -> list[float]:
    return _recorded("residual_distribution", p, q)


def one_hot_accepts(token: int, p: list[float], u: float) -> bool:
    return _recorded("one_hot_accepts", token, p, u)


def one_hot_residual(token: int, p: list[float]) -> list[float]:
    return _recorded("one_hot_residual", token, p)


def _least(knots: list[list[float]], q: float) -> float:
    """The least accepted p for a draft probability `q`: recorded, or between (beyond) the two nearest that were."""
    place = min(max(bisect_left(knots, [q]), 1), len(knots) - 1)
    (q0, p0), (q1, p1) = knots[place - 1], knots[place]
    return p1 if q == q1 else p0 + (q - q0) / (q1 - q0) * (p1 - p0)


class MultiTokenDecoderSim:
    """Answers as the reference would, for what the checks ask."""

    def __init__(self, max_proposal_len: int = 4, min_accept_ratio: float = 0.5) -> None:
        self.max_proposal_len = max_proposal_len
        self.min_accept_ratio = min_accept_ratio

    def propose(self, draft_tokens: list[int]) -> list[int]:
        return _recorded("propose", self.max_proposal_len, draft_tokens)

    def _accept_token(self, draft_prob: float, target_prob: float) -> bool:
        if draft_prob <= 0:  # given in the skeleton
            return bool(target_prob > 0)
        return bool(target_prob >= _least(_table()["least"][repr(self.min_accept_ratio)], float(draft_prob)))

    def verify(self, draft_probs: Any, target_probs: Any, draft_tokens: list[int]) -> tuple[list[int], int | None]:
        rows = len(draft_tokens)
        accepted, rejected_at = _recorded("verify", self.min_accept_ratio, draft_probs[:rows], target_probs[:rows], draft_tokens)
        return accepted, rejected_at

    def decode(self, draft_probs: Any, target_probs: Any, draft_tokens: list[int]) -> dict[str, Any]:
        return _recorded("decode", self.max_proposal_len, self.min_accept_ratio, draft_probs, target_probs, draft_tokens)
