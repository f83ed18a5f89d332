"""Candidates without a model: copied from the text so far, or looked up in a table counted beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors.torch import load_file, save_file

from .proposal import Proposal

if TYPE_CHECKING:
    from .decoding import Session


class PromptLookup:
    """Copies what followed the last earlier occurrence of the newest tokens, longest match first (Saxena 2023).

    Args:
        longest: tokens of the longest match looked for, at least 1.
    """

    name = "prompt_lookup"

    def __init__(self, longest: int = 3) -> None:
        if isinstance(longest, bool) or not isinstance(longest, int) or longest < 1:
            raise ValueError(f"longest must be an int of at least 1, not {longest!r}")
        self.longest = longest

    def start(self, session: Session) -> None:
        # For each row: n-gram → place after its latest occurrence that something follows; and how much text is indexed.
        self._places: list[dict[tuple[int, ...], int]] = [{} for _ in session.tokens]
        self._indexed = [0] * len(session.tokens)

    def read(self, session: Session) -> None:
        pass

    def propose(self, session: Session, counts: list[int]) -> Proposal:
        candidates = [self._continue(row, tokens, count) for row, (tokens, count) in enumerate(zip(session.tokens, counts))]
        return Proposal(candidates, [None] * len(counts))

    def _continue(self, row: int, tokens: list[int], count: int) -> list[int]:
        places = self._places[row]
        for end in range(self._indexed[row], len(tokens)):
            for size in range(1, min(self.longest, end) + 1):
                places[tuple(tokens[end - size : end])] = end
        self._indexed[row] = len(tokens)
        for size in range(min(self.longest, len(tokens)), 0, -1):
            place = places.get(tuple(tokens[-size:]))
            if place is not None:
                return tokens[place : place + count]
        return []


class NGramTable:
    """The likeliest next token after the last 0 … 3 tokens, counted once on a corpus; the longest context known decides.

    Args:
        table: context (a tuple of at most 3 tokens, the empty one included) → next token.
    """

    name = "ngram"
    ORDER = 3

    def __init__(self, table: dict[tuple[int, ...], int]) -> None:
        if () not in table:
            raise ValueError("table must hold the empty context, (), which every text falls back to")
        self.table = table

    @classmethod
    def count(cls, stream: list[int], entries: int) -> NGramTable:
        """Count `stream`; of the longer contexts keep the `entries` that correct their shorter ones most often."""
        kept: dict[tuple[int, ...], int] = {}
        gains: list[tuple[int, tuple[int, ...], int]] = []
        for size in range(cls.ORDER + 1):
            following: dict[tuple[int, ...], dict[int, int]] = {}
            for end in range(size, len(stream)):
                counts = following.setdefault(tuple(stream[end - size : end]), {})
                counts[stream[end]] = counts.get(stream[end], 0) + 1
            for context, counts in following.items():
                best = max(counts, key=lambda token: (counts[token], -token))
                if size == 0:
                    kept[context] = best
                    continue
                shorter = next(kept[context[cut:]] for cut in range(1, size + 1) if context[cut:] in kept)
                gain = counts[best] - counts.get(shorter, 0)
                if gain > 1:
                    gains.append((gain, context, best))
            if size == 0:
                continue
            # Longer contexts are compared with what the shorter ones, all of them, would say.
            kept.update({context: best for _, context, best in gains})
        gains.sort(key=lambda entry: (-entry[0], entry[1]))
        return cls({(): kept[()], **{context: best for _, context, best in gains[:entries]}})

    def save(self, path: Path) -> None:
        contexts = sorted(self.table)
        padded = [[*[-1] * (self.ORDER - len(context)), *context] for context in contexts]
        save_file(
            {
                "contexts": torch.tensor(padded, dtype=torch.int16),
                "tokens": torch.tensor([self.table[context] for context in contexts], dtype=torch.int16),
            },
            path,
        )

    @classmethod
    def load(cls, path: Path) -> NGramTable:
        arrays = load_file(path)
        contexts = (tuple(token for token in context if token >= 0) for context in arrays["contexts"].tolist())
        return cls(dict(zip(contexts, arrays["tokens"].tolist())))

    def start(self, session: Session) -> None:
        pass

    def read(self, session: Session) -> None:
        pass

    def propose(self, session: Session, counts: list[int]) -> Proposal:
        candidates = [self._continue(tokens[-self.ORDER :], count) for tokens, count in zip(session.tokens, counts)]
        return Proposal(candidates, [None] * len(counts))

    def _continue(self, context: list[int], count: int) -> list[int]:
        candidates: list[int] = []
        for _ in range(count):
            recent = tuple([*context, *candidates][-self.ORDER :])
            candidates.append(next(self.table[recent[cut:]] for cut in range(len(recent) + 1) if recent[cut:] in self.table))
        return candidates
