"""Candidates of the checkpoint's own MTP module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .chance import draw
from .proposal import Proposal

if TYPE_CHECKING:
    from .decoding import Session


class MTPDrafter:
    """The target's own MTP module, reused for every candidate after the first.

    Args:
        sample: draw candidates from the warped draft distribution where the temperature is above 0. If not, take the likeliest:
            a deterministic draft, with one-hot q.
    """

    name = "mtp"

    def __init__(self, sample: bool = True) -> None:
        self.sample = sample

    def start(self, session: Session) -> None:
        self.cache = session.engine.draft_cache(len(session.tokens), session.capacity)

    def read(self, session: Session) -> None:
        """Fill the draft cache with every slot whose state and next token are known.

        The next token of a prompt's slot is the prompt's own, also where a chunk ends: it is never a predicted one.
        """
        self._ingest(session)

    def _ingest(self, session: Session) -> Tensor:
        """Run the module on all pending states; returns its output for the last of each row, (B, 1, D)."""
        base = self.cache.lengths
        counts = [
            min(len(states), len(tokens) - 1 - length) for states, tokens, length in zip(session.pending, session.tokens, base)
        ]
        width = max(counts)
        if min(counts) == width:
            states = torch.stack([states[:width] for states in session.pending])
        else:
            states = torch.zeros(len(counts), width, session.pending[0].shape[-1], dtype=session.engine.dtype)
            for row, count in enumerate(counts):
                states[row, :count] = session.pending[row][:count]
        following = [
            [*tokens[length + 1 : length + 1 + count], *[0] * (width - count)]
            for tokens, length, count in zip(session.tokens, base, counts)
        ]
        out = session.engine.mtp(states, torch.tensor(following), self.cache)
        self.cache.rollback([length + count for length, count in zip(base, counts)])
        session.pending = [states[count:] for states, count in zip(session.pending, counts)]
        if min(counts) == width:
            return out[:, width - 1 :]
        return out[torch.arange(len(counts)), torch.tensor(counts) - 1][:, None]

    def propose(self, session: Session, counts: list[int]) -> Proposal:
        depth = max(counts)
        if depth == 0:
            return Proposal([[] for _ in counts], [None] * len(counts))
        engine, state = session.engine, self._ingest(session)
        kept = self.cache.lengths
        steps: list[Tensor] = []
        drawn_from: list[Tensor] = []
        for step in range(depth):
            if step:
                state = engine.mtp(state, steps[-1], self.cache)
            tokens, q = self._choose(session, engine.mtp_logits(state), [step < count for count in counts])
            steps.append(tokens)
            drawn_from.append(q)
        # The chain's own slots are guesses at the trunk's states: they go, whatever verification says.
        self.cache.rollback(kept)
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
