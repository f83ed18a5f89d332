"""One round as a list of states, for figures and for stepping through.

The states are made of the simulator's own decisions: its tests are recorded while it decodes.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .simulator import MultiTokenDecoderSim

# Why a test came out as it did; a page turns the key into a sentence of its language.
REASONS = ("at_least_threshold", "below_threshold", "zero_draft_positive_target", "zero_draft_zero_target")


@dataclass(frozen=True)
class Trace:
    """A round from proposal to summary.

    `states` is a list of plain dictionaries, JSON-serialisable. All hold `kind`, `step`, `tokens` (the candidates after the budget
    cut), `accepted_tokens` (so far), `rejected_at` (None so far or for good), `closed_tokens` (the suffix closed so far),
    `kv_length` (valid positions) and `kv_written` (positions written, stale ones included).

    - `"proposal"`: also `offered_tokens`, `budget`, `ratio`.
    - `"test"`: also `position`, `token`, `q`, `p`, `threshold` (q times the ratio), `accepted`, `reason` (one of `REASONS`),
      `next` (`"go_on"`, `"stop"` or `"complete"`).
    - `"summary"`: also `accepted_len`, `progress_per_round`, `rejected_suffix`.
    """

    states: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, step: int) -> dict[str, Any]:
        return self.states[step]

    def to_dict(self) -> dict[str, Any]:
        """Return a copy that `json.dumps` takes."""
        return {"version": 1, "states": copy.deepcopy(self.states)}


def trace_round(
    sim: MultiTokenDecoderSim, draft_probs: Any, target_probs: Any, draft_tokens: Iterable[int], kv_length: int = 0
) -> Trace:
    """Run one round of `sim` and return its states; `sim.history` stays as it is.

    Args:
        sim: the simulator whose rule and budget are followed.
        draft_probs, target_probs, draft_tokens: as for `MultiTokenDecoderSim.decode`.
        kv_length: valid positions of the target's KV cache before the round, at least 0.

    Raises:
        ValueError: as `decode`, or for a negative `kv_length`.
    """
    if isinstance(kv_length, bool) or not isinstance(kv_length, int) or kv_length < 0:
        raise ValueError(f"kv_length must be an int of at least 0, not {kv_length!r}")
    offered = list(draft_tokens)
    record, tests = _recorded(sim, draft_probs, target_probs, offered)
    tokens = record["proposed_tokens"]
    shared = {"tokens": tokens, "accepted_tokens": [], "rejected_at": None, "closed_tokens": [], "kv_length": kv_length}
    proposal = {"kind": "proposal", **shared, "kv_written": kv_length, "offered_tokens": sim_tokens(offered)}
    proposal |= {"budget": sim.max_proposal_len, "ratio": float(sim.min_accept_ratio)}
    states = [proposal]
    for position, (q, p, accepted) in enumerate(tests):
        # The target's one pass has written every candidate's keys and values before the first test.
        states.append(_test_state(shared, tokens, position, q, p, accepted, sim.min_accept_ratio, kv_length))
    states.append(_summary_state(shared, record, kv_length))
    return Trace([{"step": step, **copy.deepcopy(state)} for step, state in enumerate(states)])


def sim_tokens(offered: list[Any]) -> list[int]:
    return [int(token) for token in offered]


def _recorded(sim: MultiTokenDecoderSim, draft_probs: Any, target_probs: Any, tokens: list[Any]) -> tuple[dict[str, Any], list]:
    """Decode with a copy of `sim` that notes each test it makes."""
    tests: list[tuple[float, float, bool]] = []

    def noting(draft_prob: Any, target_prob: Any) -> bool:
        accepted = sim._accept_token(draft_prob, target_prob)
        tests.append((float(draft_prob), float(target_prob), accepted))
        return accepted

    probe = copy.copy(sim)
    probe.history = []
    probe._accept_token = noting  # type: ignore[method-assign]
    return probe.decode(draft_probs, target_probs, tokens), tests


def _test_state(
    shared: dict[str, Any], tokens: list[int], position: int, q: float, p: float, accepted: bool, ratio: float, kv_length: int
) -> dict[str, Any]:
    if q <= 0:
        reason = "zero_draft_positive_target" if accepted else "zero_draft_zero_target"
    else:
        reason = "at_least_threshold" if accepted else "below_threshold"
    last = position == len(tokens) - 1
    state = {
        "kind": "test",
        **shared,
        "position": position,
        "token": tokens[position],
        "q": q,
        "p": p,
        "threshold": q * float(ratio),
        "accepted": accepted,
        "reason": reason,
        "next": "stop" if not accepted else "complete" if last else "go_on",
        "accepted_tokens": tokens[: position + accepted],
        "kv_written": kv_length + len(tokens),
        # Nothing is valid beyond what has been accepted so far.
        "kv_length": kv_length + position + accepted,
    }
    if not accepted:
        state |= {"rejected_at": position, "closed_tokens": tokens[position:]}
    return state


def _summary_state(shared: dict[str, Any], record: dict[str, Any], kv_length: int) -> dict[str, Any]:
    return {
        "kind": "summary",
        **shared,
        "accepted_tokens": record["accepted_tokens"],
        "rejected_at": record["rejected_at"],
        "closed_tokens": record["rejected_suffix"],
        "accepted_len": record["accepted_len"],
        "progress_per_round": record["progress_per_round"],
        "rejected_suffix": record["rejected_suffix"],
        "kv_length": kv_length + record["accepted_len"],
        "kv_written": kv_length + len(record["proposed_tokens"]),
    }
