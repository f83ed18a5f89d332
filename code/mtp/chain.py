"""What drafters have in common that run a model once for every candidate, each from the one before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .cache import KVCache
from .chance import draw
from .proposal import Proposal

if TYPE_CHECKING:
    from .decoding import Session


class ChainDrafter:
    """Candidates one after another; a subclass says which model makes them.

    Args:
        sample: draw candidates from the warped draft distribution where the temperature is above 0. If not, take the likeliest:
            a deterministic draft, with one-hot q.
    """

    cache: KVCache

    def __init__(self, sample: bool = True) -> None:
        self.sample = sample

    def begin(self, session: Session) -> Tensor:
        """Read what the text has grown by; returns the state that the first candidate comes from, (B, 1, D)."""
        raise NotImplementedError

    def extend(self, session: Session, state: Tensor, tokens: Tensor) -> Tensor:
        """The state after `tokens` (B, 1), the candidates drafted from `state`, (B, 1, D)."""
        raise NotImplementedError

    def logits(self, session: Session, state: Tensor) -> Tensor:
        """The draft's logits, (B, 1, V)."""
        raise NotImplementedError

    def end(self, read: list[int]) -> None:
        """Called when all candidates are drafted; `read` are the cache's lengths as `begin` left them."""

    def propose(self, session: Session, counts: list[int]) -> Proposal:
        depth = max(counts)
        if depth == 0:
            return Proposal([[] for _ in counts], [None] * len(counts))
        state = self.begin(session)
        read = self.cache.lengths
        steps: list[Tensor] = []
        drawn_from: list[Tensor] = []
        for step in range(depth):
            if step:
                state = self.extend(session, state, steps[-1])
            tokens, q = self._choose(session, self.logits(session, state), [step < count for count in counts])
            steps.append(tokens)
            drawn_from.append(q)
        self.end(read)
        candidates = [row[:count] for row, count in zip(torch.cat(steps, dim=1).tolist(), counts)]
        if not self._sampling(session):
            return Proposal(candidates, [None] * len(counts))
        q_rows = [
            row[:count] if count and temperature > 0 else None
            for row, count, temperature in zip(torch.cat(drawn_from, dim=1), counts, session.temperatures)
        ]
        return Proposal(candidates, q_rows)

    def _sampling(self, session: Session) -> bool:
        return self.sample and any(session.temperatures)

    def _choose(self, session: Session, logits: Tensor, wanted: list[bool]) -> tuple[Tensor, Tensor]:
        """One token for each row of logits (B, 1, V), as (B, 1), and the distributions that they come from, (B, 1, V).

        A row that wants no more candidates draws nothing: what it draws later must not depend on its neighbours.
        """
        if not self._sampling(session):
            return logits.argmax(-1), logits
        q = session.warp_rows(logits)
        drawn = [
            draw(row, generator) if more else 0 for row, generator, more in zip(q.flatten(0, 1), session.generators, wanted)
        ]
        return torch.tensor(drawn)[:, None], q


def last_of_each(out: Tensor, counts: list[int]) -> Tensor:
    """Of (B, S, D), the state at place counts[row] - 1 of every row, (B, 1, D)."""
    if min(counts) == out.shape[1]:
        return out[:, -1:]
    return out[torch.arange(len(counts)), torch.tensor(counts) - 1][:, None]
