"""One real round watched from the caches' side: how long each is, how much of it was ever written, at every moment of the round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from .cache import KVCache
from .decoding import Prompt, Session, Target, one_round, open_session
from .mtp_drafter import MTPDrafter
from .proposal import Proposal
from .verification import GreedyMatch, RoundOutcome

MOMENTS = ("start", "drafted", "verified", "committed")


@dataclass(frozen=True)
class Moment:
    """Lengths at one moment, in positions.

    Attributes:
        name: one of `MOMENTS`.
        text: tokens of the text; the newest has been read by no model yet.
        trunk, draft: valid lengths of the two caches; what lies behind is stale.
        trunk_written, draft_written: how far each cache was ever written.
        pending: states of the trunk that wait for the draft module.
    """

    name: str
    text: int
    trunk: int
    trunk_written: int
    draft: int
    draft_written: int
    pending: int


@dataclass(frozen=True)
class CacheRound:
    """A round: its candidates, how many were accepted, the target's own token, and the four moments."""

    candidates: list[int]
    accepted: int
    next_token: int
    moments: list[Moment]


class _Watch(MTPDrafter):
    """The drafter, and the rule, of a round: both note the caches on their way."""

    def propose(self, session: Session, counts: list[int]) -> Proposal:
        self.session = session
        self.moments = [self.look("start")]
        proposal = super().propose(session, counts)
        self.moments.append(self.look("drafted"))
        return proposal

    def verify(self, candidates: Sequence[int], q: Any, p: Any, generator: Any) -> RoundOutcome:
        self.moments.append(self.look("verified"))
        self.candidates = list(candidates)
        self.outcome = GreedyMatch().verify(candidates, q, p, generator)
        return self.outcome

    def look(self, name: str) -> Moment:
        trunk, text = self.session.cache, len(self.session.tokens[0])
        waiting = len(self.session.pending[0])
        return Moment(name, text, trunk.lengths[0], written(trunk), self.cache.lengths[0], written(self.cache), waiting)


def written(cache: KVCache) -> int:
    """Positions of row 0 that hold anything: entries start as zeros, and no key that was computed is all zeros."""
    return int(cache.store[0, 0, 0].abs().sum((0, 2)).count_nonzero())


@torch.inference_mode()
def watch_rounds(target: Target, prompt: Prompt, k: int = 3, rounds: int = 8) -> list[CacheRound]:
    """Decode greedily with the target's MTP module, and return the first `rounds` rounds, fewer where the text ends before.

    Raises:
        ValueError: as `mtp.decoding.decode`.
    """
    session = open_session(target, [prompt], k, 0.0, None, None, 0, None, rounds * (k + 1) + 1, None)
    watch = _Watch()
    watch.start(session)
    session.emit(0, session.sample(session.prefill(None, watch)))
    found: list[CacheRound] = []
    # A last round that the limit cuts short is not like the others.
    while len(found) < rounds and not session.done[0] and session.room(0) > k:
        one_round(session, watch, k, [watch])
        moments = [*watch.moments, watch.look("committed")]
        found.append(CacheRound(watch.candidates, len(watch.outcome.accepted), watch.outcome.next_token, moments))
    return found
