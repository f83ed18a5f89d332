"""`python -m book.record`: run the checks of the exercises once and print what they hold right, as JSON.

In the reader's browser these answers stand in the place of the code that finds them; see live/python/answers.py.
"""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from mtp import answers, exercise, exercise_lossless

REPLAY = Path(__file__).parent / "live" / "python" / "answers.py"
FUNCTIONS = ("residual_support", "residual_distribution", "one_hot_accepts", "one_hot_residual")


def replay() -> ModuleType:
    """The module that plays the answers back: it names the questions."""
    spec = importlib.util.spec_from_file_location("book_live_answers", REPLAY)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Record:
    """Answers by question, and the thresholds and probabilities that occurred."""

    def __init__(self) -> None:
        self.question = replay().question
        self.answers: dict[str, str] = {}
        self.ratios: set[float] = set()
        self.entries: set[float] = {0.0, 1.0}

    def keep(self, name: str, arguments: tuple[Any, ...], answer: Any) -> Any:
        self.answers[self.question(name, *arguments)] = json.dumps(answer)
        return answer

    def least(self) -> dict[str, list[list[float]]]:
        """For each threshold, pairs of a draft probability and the least target probability that is accepted."""
        table = {}
        for ratio in sorted(self.ratios):
            sim = answers.MultiTokenDecoderSim(4, ratio)
            table[repr(ratio)] = [[q, _least(lambda p: sim._accept_token(q, p))] for q in sorted(self.entries)]
        return table


def _least(accepts: Callable[[float], bool]) -> float:
    """The least float in [0, 1] that is accepted, by halving; 1 must be."""
    low, high = 0.0, 1.0
    if accepts(low):
        return low
    while math.nextafter(low, high) < high:
        middle = low + (high - low) / 2 if high - low > 1e-300 else math.nextafter(low, high)
        low, high = (low, middle) if accepts(middle) else (middle, high)
    return high


def recording(record: Record) -> type:
    """The reference, with every answer put on record."""
    reference: type = answers.MultiTokenDecoderSim

    class Recording(reference):  # type: ignore[misc, valid-type]
        def __init__(self, max_proposal_len: int = 4, min_accept_ratio: float = 0.5) -> None:
            super().__init__(max_proposal_len, min_accept_ratio)
            record.ratios.add(min_accept_ratio)

        def propose(self, draft_tokens: Any) -> Any:
            return record.keep("propose", (self.max_proposal_len, draft_tokens), reference.propose(self, draft_tokens))

        def _accept_token(self, draft_prob: Any, target_prob: Any) -> Any:
            record.entries.update((float(draft_prob), float(target_prob)))
            return reference._accept_token(self, draft_prob, target_prob)

        def verify(self, draft_probs: Any, target_probs: Any, draft_tokens: Any) -> Any:
            for row in (*draft_probs, *target_probs):
                record.entries.update(row)
            # Every prefix: a reader's code may hand over fewer.
            for rows in range(len(draft_tokens) + 1):
                given = (draft_probs[:rows], target_probs[:rows], draft_tokens[:rows])
                answer = _plain_sim(self).verify(draft_probs, target_probs, draft_tokens[:rows])
                record.keep("verify", (self.min_accept_ratio, *given), answer)
            return reference.verify(self, draft_probs, target_probs, draft_tokens)

        def decode(self, draft_probs: Any, target_probs: Any, draft_tokens: Any) -> Any:
            self.propose(draft_tokens)
            self.verify(draft_probs, target_probs, draft_tokens)
            answer = _plain_sim(self).decode(draft_probs, target_probs, draft_tokens)
            return record.keep("decode", (self.max_proposal_len, self.min_accept_ratio, draft_probs, target_probs, draft_tokens), answer)

    def _plain_sim(sim: Any) -> Any:
        return reference(sim.max_proposal_len, sim.min_accept_ratio)

    return Recording


def kept(record: Record, name: str) -> Callable[..., Any]:
    """The function `name` of the answers, put on record."""
    function = getattr(answers, name)
    return lambda *arguments: record.keep(name, arguments, function(*arguments))


def record() -> dict[str, Any]:
    """Run all checks on what is right; returns what answers.json holds."""
    found = Record()
    exercise.Reference = recording(found)
    for name in FUNCTIONS:
        setattr(exercise_lossless, name, kept(found, name))
    reports = [exercise.check(answers.MultiTokenDecoderSim, "en")]
    reports.append(exercise_lossless.check_residual(_residual, "en"))
    reports.append(exercise_lossless.check_one_hot(_one_hot, "en"))
    for report in reports:
        if not report.passed:
            raise AssertionError(f"what the checks hold right does not pass them:\n{report}")
    return {"answers": dict(sorted(found.answers.items())), "least": found.least()}


def _residual(p: list[float], q: list[float]) -> list[float]:
    if p == q:
        raise ValueError("no residual")
    return answers.residual_distribution(p, q)


def _one_hot(token: int, p: list[float], u: float) -> tuple[bool, list[float] | None]:
    if answers.one_hot_accepts(token, p, u):
        return True, None
    return False, answers.one_hot_residual(token, p)


if __name__ == "__main__":
    print(json.dumps(record()))
