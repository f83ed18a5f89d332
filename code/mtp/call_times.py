"""The calls that a round is made of, timed apart from the loops, and the speed-up that their times predict."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from .decoding import Target, open_session
from .metrics import Ledger
from .mtp_drafter import MTPDrafter

TEXT_LENGTH = 64  # positions in the caches while calls are timed
LARGEST_K = 4


@dataclass
class CallTimes:
    """Single calls, in seconds: t[n] of the trunk with its head on n positions, draft[k] of k candidates of the MTP module."""

    t: dict[int, float]
    draft: dict[int, float]

    def round_seconds(self, drafter: str, k: int) -> float:
        """Drafting and verification of k candidates; lookups draft for nothing. k = 0 is a plain step."""
        return (self.draft[k] if drafter == "mtp" and k else 0.0) + self.t[k + 1]

    def predicted_speedup(self, ledger: Ledger, drafter: str, k: int) -> float:
        """(1 + Σ survival) · t(1) / (t_draft + t(k+1)): what a loop without any cost of its own would reach."""
        return ledger.mean_acceptance_length * self.t[1] / self.round_seconds(drafter, k)


class CallClock:
    """Times every call once each time it is asked; the caches it uses are its own and stay as they were.

    Calls come in the order of a round, since each finds the processor's caches as the one before it left them: drafting follows a
    verification and is followed by one, a plain step follows a plain step.

    Args:
        rows: texts in the batch.
    """

    @torch.inference_mode()
    def __init__(self, target: Target, temperature: float, rows: int = 1) -> None:
        self.engine, self.rows = target.engine, rows
        generator = torch.Generator().manual_seed(0)
        prompts = torch.randint(target.engine.config.vocab_size, (rows, TEXT_LENGTH), generator=generator).tolist()
        self.session = session = open_session(target, prompts, 2 * LARGEST_K, temperature, None, None, 0, (), 16, None)
        self.drafter = MTPDrafter()
        self.drafter.start(session)
        for row, token in enumerate(session.sample(session.prefill(None, self.drafter))):
            session.emit(row, [token])
        # As in a round: everything is in the draft cache but the last two states.
        self.pending = [states[-2:] for states in session.pending]
        self.drafter.propose(session, [1] * rows)
        self.drafted = [length - 2 for length in self.drafter.cache.lengths]
        self.t: dict[int, list[float]] = {count: [] for count in range(1, LARGEST_K + 2)}
        self.draft: dict[int, list[float]] = {k: [] for k in range(1, LARGEST_K + 1)}

    @torch.inference_mode()
    def sample(self) -> None:
        """Time each call once."""
        self._read(1)
        self.t[1].append(self._read(1))
        for k, seconds in self.draft.items():
            self._read(k + 1)
            self.drafter.cache.rollback(self.drafted)
            self.session.pending = self.pending
            seconds.append(_seconds(lambda k=k: self.drafter.propose(self.session, [k] * self.rows)))
            self.t[k + 1].append(self._read(k + 1))

    def _read(self, count: int) -> float:
        """Seconds of the trunk and its head on `count` positions."""
        cache, tokens = self.session.cache, torch.zeros(self.rows, count, dtype=torch.long)
        base = cache.lengths
        seconds = _seconds(lambda: self.engine.logits(self.engine.trunk(tokens, cache)))
        cache.rollback(base)
        return seconds

    def times(self) -> CallTimes:
        """Medians of all samples so far."""
        if not self.t[1]:
            raise ValueError("no call has been timed yet: sample() comes first")
        return CallTimes(
            {count: statistics.median(seconds) for count, seconds in self.t.items()},
            {k: statistics.median(seconds) for k, seconds in self.draft.items()},
        )


def _seconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
