"""Counting rounds: a ledger that stores counts only and derives every figure from them.

Words and definitions follow vLLM (`vllm/v1/spec_decode/metrics.py`): the acceptance rate leaves the target's own token of a
round out, the mean acceptance length counts it, a per-position figure is survival.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

PROMETHEUS_PREFIX = "vllm:spec_decode_"
# name{label="value",…} value [timestamp]
_SAMPLE = re.compile(r"^(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})?\s+(?P<value>\S+)(?:\s+\S+)?$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def _ratio(numerator: float, denominator: float) -> float:
    """A share of nothing is 0: no rounds, no acceptance."""
    return numerator / denominator if denominator else 0.0


@dataclass
class Ledger:
    """Counts of speculative decoding over many rounds.

    Args:
        rounds: R, verification rounds.
        drafted: D, candidates proposed in them.
        accepted_per_position: A_i, rounds in which the candidate at position i was accepted; never rises with i.
        emitted: tokens that became text.
        truncated: accepted or added tokens that a stop token or a length limit cut off again.

    Raises:
        ValueError: for counts that no sequence of rounds can have; names the count.
    """

    rounds: int = 0
    drafted: int = 0
    accepted_per_position: list[int] = field(default_factory=list)
    emitted: int = 0
    truncated: int = 0

    def __post_init__(self) -> None:
        self.accepted_per_position = list(self.accepted_per_position)
        counts = {name: getattr(self, name) for name in ("rounds", "drafted", "emitted", "truncated")}
        for name, value in [*counts.items(), *(("accepted_per_position", value) for value in self.accepted_per_position)]:
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"{name} must be a count of at least 0, not {value!r}")
        steps = [self.rounds, *self.accepted_per_position]
        if any(later > earlier for earlier, later in zip(steps, steps[1:])):
            raise ValueError(
                f"accepted_per_position={self.accepted_per_position} must not rise, nor exceed rounds={self.rounds}: "
                "a position is reached only when all before it were accepted"
            )
        if self.accepted > self.drafted:
            raise ValueError(f"accepted_per_position={self.accepted_per_position} sums to more than drafted={self.drafted}")

    def record(self, drafted: int, accepted: int, emitted: int | None = None, truncated: int = 0) -> None:
        """Add one round.

        Args:
            drafted: candidates proposed, k.
            accepted: accepted prefix, a, 0 <= a <= k.
            emitted: tokens that became text; a + 1 - truncated by default (the target adds one of its own).
            truncated: tokens of the round that were cut off by a stop token or a limit.
        """
        if not 0 <= accepted <= drafted:
            raise ValueError(f"accepted={accepted!r} must lie between 0 and drafted={drafted!r}")
        emitted = accepted + 1 - truncated if emitted is None else emitted
        round_ = Ledger(1, drafted, [1] * accepted, emitted, truncated)
        self.__dict__.update((self + round_).__dict__)

    def __add__(self, other: Ledger) -> Ledger:
        """Return the counts of both."""
        columns = zip_longest(self.accepted_per_position, other.accepted_per_position, fillvalue=0)
        return Ledger(
            self.rounds + other.rounds,
            self.drafted + other.drafted,
            [a + b for a, b in columns],
            self.emitted + other.emitted,
            self.truncated + other.truncated,
        )

    @classmethod
    def from_history(cls, history: Iterable[Mapping[str, Any]]) -> Ledger:
        """Count the records of `MultiTokenDecoderSim.history`.

        The simulator stops at the accepted prefix: it draws no correction and no bonus token. So `emitted` counts accepted
        tokens only, while `mean_acceptance_length` still says what a real decoder would have written a round. Rounds in
        which nothing was proposed are rounds all the same.
        """
        ledger = cls()
        for record in history:
            accepted = record["accepted_len"]
            ledger.record(len(record["proposed_tokens"]), accepted, emitted=accepted)
        return ledger

    @classmethod
    def from_prometheus(cls, text: str, **labels: str) -> Ledger:
        """Read the counters `vllm:spec_decode_*` from the text of a server's `/metrics`.

        Args:
            text: Prometheus exposition text; names with or without `_total`.
            labels: count only series that carry these, for example `engine="0"` or `model_name="…"`. All series are summed.

        The counters hold neither the target's own tokens nor cuts: `emitted` is accepted + rounds, `truncated` 0 (vLLM counts
        accepted tokens that `max_tokens` later cuts off).

        Raises:
            ValueError: a counter is missing, not a whole number, or they contradict each other.
        """
        samples = list(_samples(text, labels))
        rounds, drafted, accepted = (
            _total(samples, name) for name in ("num_drafts", "num_draft_tokens", "num_accepted_tokens")
        )
        by_position: dict[int, int] = {}
        for position, value in _series(samples, "num_accepted_tokens_per_pos"):
            index = int(position["position"])
            by_position[index] = by_position.get(index, 0) + value
        if sorted(by_position) != list(range(len(by_position))):
            raise ValueError(f"num_accepted_tokens_per_pos has positions {sorted(by_position)}, not 0, 1, 2, …")
        per_position = [by_position[index] for index in range(len(by_position))]
        if sum(per_position) != accepted:
            raise ValueError(f"num_accepted_tokens={accepted} is not the sum of num_accepted_tokens_per_pos={per_position}")
        return cls(rounds, drafted, per_position, emitted=accepted + rounds)

    @property
    def accepted(self) -> int:
        """A = Σ A_i, candidates accepted in all rounds."""
        return sum(self.accepted_per_position)

    @property
    def acceptance_rate(self) -> float:
        """A / D: accepted over drafted. The target's own token of a round is in neither. 0 where nothing was drafted."""
        return _ratio(self.accepted, self.drafted)

    @property
    def mean_acceptance_length(self) -> float:
        """1 + A / R: tokens a round, with the one that the target adds (correction or bonus). 0 without rounds."""
        return 1 + self.accepted / self.rounds if self.rounds else 0.0

    @property
    def mean_accepted(self) -> float:
        """A / R: candidates accepted a round, without the target's own token."""
        return _ratio(self.accepted, self.rounds)

    @property
    def emitted_per_round(self) -> float:
        """Emitted tokens over rounds: effective progress, after cuts."""
        return _ratio(self.emitted, self.rounds)

    @property
    def survival(self) -> list[float]:
        """s_i = A_i / R for each position: how often a round got past position i. Never rises; 1 + Σ s_i = mean length."""
        return [_ratio(count, self.rounds) for count in self.accepted_per_position]

    @property
    def conditional(self) -> list[float]:
        """c_i = A_i / A_{i-1}, with A_{-1} = R: acceptance at i once all before it were accepted. Their products are s_i."""
        before = [self.rounds, *self.accepted_per_position]
        return [_ratio(count, reached) for count, reached in zip(self.accepted_per_position, before)]


def _samples(text: str, wanted: Mapping[str, str]) -> Iterable[tuple[str, dict[str, str], float]]:
    """Yield (name without prefix and `_total`, labels, value) of each speculative-decoding sample."""
    for line in text.splitlines():
        match = _SAMPLE.match(line.strip())
        if match is None or not match["name"].startswith(PROMETHEUS_PREFIX):
            continue
        labels = dict(_LABEL.findall(match["labels"] or ""))
        if all(labels.get(key) == value for key, value in wanted.items()):
            yield match["name"].removeprefix(PROMETHEUS_PREFIX).removesuffix("_total"), labels, float(match["value"])


def _series(samples: list[tuple[str, dict[str, str], float]], name: str) -> list[tuple[dict[str, str], int]]:
    found = [(labels, value) for sample, labels, value in samples if sample == name]
    if not found:
        raise ValueError(f"the text has no counter {PROMETHEUS_PREFIX}{name} with the labels asked for")
    for _, value in found:
        if value != int(value):
            raise ValueError(f"{PROMETHEUS_PREFIX}{name} must be a whole number, not {value!r}")
    return [(labels, int(value)) for labels, value in found]


def _total(samples: list[tuple[str, dict[str, str], float]], name: str) -> int:
    return sum(value for _, value in _series(samples, name))
