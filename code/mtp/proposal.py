"""What the decoding loop asks of any source of candidates.

A drafter is asked for up to `counts[row]` candidates for each row and answers with a `Proposal`. It reads the session (tokens,
settings, and the trunk's `pending` states) and never changes what the target will do: a bad drafter costs time, not correctness.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from torch import Tensor

if TYPE_CHECKING:
    from .decoding import Session


@dataclass(frozen=True)
class Proposal:
    """Candidates of one round.

    Attributes:
        candidates: for each row, at most as many tokens as were asked for.
        q: for each row (candidates, V), the distributions they were drawn from; None where a draft is deterministic (one-hot).
    """

    candidates: list[list[int]]
    q: list[Tensor | None]


class Drafter(Protocol):
    name: str

    def start(self, session: Session) -> None:
        """Called once, before the prompt is read."""

    def read(self, session: Session) -> None:
        """Called when a chunk of the prompt has been read and more of it is to come."""

    def propose(self, session: Session, counts: list[int]) -> Proposal:
        """Candidates for the next round."""
