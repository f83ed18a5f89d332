"""Candidates of the checkpoint's own MTP module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .chain import ChainDrafter, last_of_each
from .engine import padded

if TYPE_CHECKING:
    from .decoding import Session


class MTPDrafter(ChainDrafter):
    """The target's own MTP module, reused for every candidate after the first."""

    name = "mtp"

    def start(self, session: Session) -> None:
        self.cache = session.engine.draft_cache(len(session.tokens), session.capacity)

    def read(self, session: Session) -> None:
        """Fill the draft cache with every slot whose state and next token are known.

        The next token of a prompt's slot is the prompt's own, also where a chunk ends: it is never a predicted one.
        """
        self.begin(session)

    def begin(self, session: Session) -> Tensor:
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
        following = [tokens[length + 1 : length + 1 + count] for tokens, length, count in zip(session.tokens, base, counts)]
        out = session.engine.mtp(states, padded(following), self.cache)
        self.cache.rollback([length + count for length, count in zip(base, counts)])
        session.pending = [states[count:] for states, count in zip(session.pending, counts)]
        return last_of_each(out, counts)

    def extend(self, session: Session, state: Tensor, tokens: Tensor) -> Tensor:
        return session.engine.mtp(state, tokens, self.cache)

    def logits(self, session: Session, state: Tensor) -> Tensor:
        return session.engine.mtp_logits(state)

    def end(self, read: list[int]) -> None:
        # The chain's own slots are guesses at the trunk's states: they go, whatever verification says.
        self.cache.rollback(read)
