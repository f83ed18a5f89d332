"""Plain decoding, and one loop that decodes with any drafter: propose, verify, commit, roll back.

A round of the loop, for each row of the batch:

1. the drafter proposes up to k candidates;
2. the trunk reads the newest token and the candidates, k + 1 positions in one call, and gives p for each;
3. the rule accepts a prefix of a candidates and adds a token of the target's own;
4. the text grows by a + 1 tokens (cut at a stop token), and the trunk cache's length moves back to what was kept.

`mtp.cache` writes down what both caches hold at each of these moments.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream
from torch import Tensor

from .chance import draw
from .checkpoint import END_OF_TEXT, SHIPPED, load_checkpoint
from .engine import Engine, padded
from .lookups import NGramTable, PromptLookup
from .metrics import Ledger
from .model import MTPLanguageModel
from .mtp_drafter import MTPDrafter
from .proposal import Drafter
from .verification import GreedyMatch, SpeculativeSampling
from .warping import warp

Prompt = str | Sequence[int]


class Target:
    """A target model ready to decode: packed parameters and a tokenizer."""

    def __init__(self, model: MTPLanguageModel, tokenizer: Tokenizer | None = None) -> None:
        self.engine = Engine(model)
        self.tokenizer = tokenizer
        self.source: Path | None = None

    @classmethod
    def load(cls, source: str | Path, dtype: torch.dtype = torch.float32) -> Target:
        """A shipped checkpoint by language (`"en"`, `"zh"`), or any by its folder; errors as `load_checkpoint`."""
        target = cls(*load_checkpoint(source, dtype))
        target.source = SHIPPED / source if source in ("en", "zh") else Path(source)
        return target

    def ngram_table(self) -> NGramTable:
        """The n-gram table counted on the training corpus and kept beside the checkpoint."""
        if self.source is None:
            raise ValueError("this target was not loaded from a folder, so it has no n-gram table")
        return NGramTable.load(self.source / "ngram.table")

    @property
    def end_of_text(self) -> int | None:
        return self.tokenizer.token_to_id(END_OF_TEXT) if self.tokenizer else None

    def encode(self, prompt: Prompt) -> list[int]:
        """Tokens of a prompt, given as text or as tokens.

        Raises:
            ValueError: no token, or one that is not an int inside the vocabulary.
        """
        if isinstance(prompt, str):
            if self.tokenizer is None:
                raise ValueError(f"prompt={prompt!r} is text, and this target has no tokenizer: give tokens")
            prompt = self.tokenizer.encode(prompt).ids
        tokens, size = list(prompt), self.engine.config.vocab_size
        if not tokens:
            raise ValueError("prompt must hold at least one token")
        for token in tokens:
            if isinstance(token, bool) or not isinstance(token, int) or not 0 <= token < size:
                raise ValueError(f"prompt holds {token!r}, which is no token of a vocabulary of {size}")
        return tokens

    def text(self, tokens: Sequence[int]) -> str:
        return self.tokenizer.decode(list(tokens)) if self.tokenizer else ""


@dataclass(frozen=True)
class RoundRecord:
    """One round of one row. The two times are of the whole batch's round, in seconds.

    Attributes:
        drafted, accepted: k of this round and a.
        kind: `"correction"` or `"bonus"`: what the target's own token was.
        emitted, truncated: tokens added to the text; tokens that a stop token cut off.
    """

    drafted: int
    accepted: int
    kind: str
    emitted: int
    truncated: int
    draft_seconds: float
    verify_seconds: float


@dataclass
class Decoded:
    """What came of one prompt.

    Attributes:
        text, tokens: the new part only; a stop token that ended it is its last token.
        ledger: counts of all rounds; empty after plain decoding.
        rounds: one record a round.
        prefill_seconds: reading the prompt up to the first token; `seconds` is everything after it.
        draft_seconds, verify_seconds: the parts of `seconds` spent on proposing, and on the trunk's call and the rule.
    """

    text: str
    tokens: list[int]
    ledger: Ledger
    rounds: list[RoundRecord]
    prefill_seconds: float
    seconds: float
    draft_seconds: float
    verify_seconds: float

    @property
    def tokens_per_second(self) -> float:
        """Tokens after the first over `seconds`; 0 when there is none."""
        return (len(self.tokens) - 1) / self.seconds if self.seconds and len(self.tokens) > 1 else 0.0


@dataclass
class Session:
    """A batch being decoded: texts, settings, the trunk's cache, and the states that the drafter has not read yet.

    Attributes:
        tokens: for each row the whole text, prompt included.
        pending: for each row (S, D), the trunk's states of the last committed positions, oldest first.
        temperatures, generators: one for each row.
    """

    engine: Engine
    tokens: list[list[int]]
    temperatures: list[float]
    top_k: int | None
    top_p: float | None
    generators: Sequence[Any]
    stop: frozenset[int]
    limit: int
    capacity: int
    pending: list[Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.prompt_lengths = [len(tokens) for tokens in self.tokens]
        self.cache = self.engine.trunk_cache(len(self.tokens), self.capacity)
        self.done = [False] * len(self.tokens)

    def warp_rows(self, logits: Tensor) -> Tensor:
        """Logits (B, T, V) → probabilities, every position of a row at the row's own temperature."""
        if len(set(self.temperatures)) == 1:
            return warp(logits, self.temperatures[0], self.top_k, self.top_p)
        rows = [warp(row, temperature, self.top_k, self.top_p) for row, temperature in zip(logits, self.temperatures)]
        return torch.stack(rows)

    def room(self, row: int) -> int:
        """Tokens that may still be added to a row."""
        return 0 if self.done[row] else self.limit - (len(self.tokens[row]) - self.prompt_lengths[row])

    def emit(self, row: int, tokens: list[int]) -> int:
        """Add tokens to a row's text up to its first stop token and its limit; returns how many were cut off."""
        kept = tokens[: self.room(row)]
        stopped = next((index for index, token in enumerate(kept) if token in self.stop), None)
        if stopped is not None:
            kept = kept[: stopped + 1]
        self.tokens[row] += kept
        self.done[row] = stopped is not None or self.room(row) == 0
        return len(tokens) - len(kept)

    def prefill(self, chunk: int | None, drafter: Drafter | None) -> Tensor:
        """Read the prompts, `chunk` positions at a time; returns the logits of each row's next token, (B, V)."""
        longest = max(self.prompt_lengths)
        chunk = chunk or longest
        last: list[Tensor] = [torch.empty(0)] * len(self.tokens)
        self.pending = [torch.empty(0, self.engine.width, dtype=self.engine.dtype) for _ in self.tokens]
        for start in range(0, longest, chunk):
            counts = [min(max(length - start, 0), chunk) for length in self.prompt_lengths]
            base = self.cache.lengths
            part = [tokens[start : start + count] for tokens, count in zip(self.tokens, counts)]
            states = self.engine.trunk(padded(part), self.cache)
            self.cache.rollback([length + count for length, count in zip(base, counts)])
            for row, count in enumerate(counts):
                if count:
                    self.pending[row] = torch.cat([self.pending[row], states[row, :count]])
                    last[row] = states[row, count - 1]
            if drafter is not None and start + chunk < longest:
                drafter.read(self)
        return self.engine.logits(torch.stack(last))

    def sample(self, logits: Tensor) -> list[int]:
        """The target's own choice for each row of logits (B, V)."""
        if not any(self.temperatures):
            return logits.argmax(-1).tolist()
        p = self.warp_rows(logits[:, None])[:, 0]
        return [draw(row, generator) for row, generator in zip(p, self.generators)]


def open_session(
    target: Target,
    prompts: Sequence[Prompt],
    k: int,
    temperature: float | Sequence[float],
    top_k: int | None,
    top_p: float | None,
    seed: int,
    stop: Sequence[int] | None,
    max_new_tokens: int,
    generators: Sequence[Any] | None,
) -> Session:
    """Check the settings and set a batch up.

    Raises:
        ValueError: names the setting and its value.
    """
    for name, value, least in (("k", k, 0), ("max_new_tokens", max_new_tokens, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"{name} must be an int of at least {least}, not {value!r}")
    tokens = [target.encode(prompt) for prompt in prompts]
    if not tokens:
        raise ValueError("prompts must hold at least one prompt")
    capacity = max(map(len, tokens)) + max_new_tokens
    positions = target.engine.config.max_position_embeddings
    if capacity > positions:
        raise ValueError(
            f"max_new_tokens={max_new_tokens!r} after a prompt of {capacity - max_new_tokens} tokens: the model has {positions} positions"
        )
    temperatures = list(temperature) if isinstance(temperature, Sequence) else [temperature] * len(tokens)
    if len(temperatures) != len(tokens):
        raise ValueError(f"temperature={temperature!r} must be one number, or one for each of the {len(tokens)} prompts")
    for value in temperatures:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
            raise ValueError(f"temperature must be at least 0 and finite, not {value!r}")
    if stop is None:
        stop = [] if target.end_of_text is None else [target.end_of_text]
    if generators is None:
        generators = [torch.Generator().manual_seed(seed + row) for row in range(len(tokens))]
    # Room beyond the limit for rows that are done, or have fewer candidates than others, while the batch goes on.
    return Session(
        target.engine, tokens, temperatures, top_k, top_p, generators, frozenset(stop), max_new_tokens, capacity + k + 1
    )


def plain_rounds(session: Session, chunk: int | None = None) -> Iterator[list[int]]:
    """Decode one token a step; yields each row's newest token after every step."""
    logits = session.prefill(chunk, None)
    engine, cache = session.engine, session.cache
    while True:
        newest = session.sample(logits)
        for row, token in enumerate(newest):
            if not session.done[row]:
                session.emit(row, [token])
        yield newest
        if all(session.done):
            return
        logits = engine.logits(engine.trunk(torch.tensor(newest)[:, None], cache)[:, 0])


def speculative_rounds(
    session: Session, drafter: Drafter, k: int, rule: Any = None, chunk: int | None = None
) -> Iterator[list[RoundRecord | None]]:
    """Decode by rounds; yields first the prompt's round (all None), then for each round one record a row, None for rows done."""
    # p and q are the loop's own: the rules need not check them again in every round.
    exact = [(SpeculativeSampling if temperature else GreedyMatch)(validate=False) for temperature in session.temperatures]
    rules = [rule or default for default in exact]
    drafter.start(session)
    first = session.sample(session.prefill(chunk, drafter))
    for row, token in enumerate(first):
        session.emit(row, [token])
    yield [None] * len(first)
    while not all(session.done):
        yield one_round(session, drafter, k, rules)


def one_round(session: Session, drafter: Drafter, k: int, rules: list[Any]) -> list[RoundRecord | None]:
    """Propose, verify, commit, roll back."""
    engine, cache = session.engine, session.cache
    began = time.perf_counter()
    # The target adds a token of its own, so the last place is not worth a candidate.
    counts = [max(min(k, session.room(row) - 1), 0) for row in range(len(session.tokens))]
    proposal = drafter.propose(session, counts)
    drafted = time.perf_counter()
    base = cache.lengths
    block = [[tokens[-1], *candidates] for tokens, candidates in zip(session.tokens, proposal.candidates)]
    states = engine.trunk(padded(block), cache)
    logits = engine.logits(states)
    # Greedy match looks for the largest entry only, which is the same one in the logits.
    ranks_do = all(isinstance(rule, GreedyMatch) and not rule.validate for rule in rules)
    p = logits if ranks_do else session.warp_rows(logits)
    results = [
        None
        if session.done[row]
        else rules[row].verify(candidates, proposal.q[row], p[row, : len(candidates) + 1], session.generators[row])
        for row, candidates in enumerate(proposal.candidates)
    ]
    verified = time.perf_counter()
    records: list[RoundRecord | None] = []
    kept = list(base)
    for row, outcome in enumerate(results):
        if outcome is None:
            records.append(None)
            continue
        advanced = len(outcome.tokens)
        kept[row] += advanced
        session.pending[row] = states[row, :advanced]
        truncated = session.emit(row, outcome.tokens)
        drafted_here = len(proposal.candidates[row])
        records.append(
            RoundRecord(
                drafted_here,
                len(outcome.accepted),
                outcome.kind,
                advanced - truncated,
                truncated,
                drafted - began,
                verified - drafted,
            )
        )
    cache.rollback(kept)
    return records


def _collect(
    session: Session, target: Target, rounds: Iterator[Any], on_text: Callable[[int, str], None] | None
) -> list[Decoded]:
    """Run a loop to its end, and hand pieces of text to `on_text(row, piece)` as they are decided."""
    began = time.perf_counter()
    first = began
    records: list[list[RoundRecord]] = [[] for _ in session.tokens]
    streams = [DecodeStream(skip_special_tokens=True) for _ in session.tokens]
    shown = list(session.prompt_lengths)
    ended = [began] * len(session.tokens)
    with torch.inference_mode():
        for number, entries in enumerate(rounds):
            now = time.perf_counter()
            if number == 0:
                first = now
            for row, entry in enumerate(entries):
                if isinstance(entry, RoundRecord):
                    records[row].append(entry)
                if ended[row] == began and session.done[row]:
                    ended[row] = now
            if on_text is not None:
                _stream(session, target, streams, shown, on_text)
    return [
        _decoded(session, target, row, records[row], first - began, ended[row] - first) for row in range(len(session.tokens))
    ]


def _stream(
    session: Session, target: Target, streams: list[DecodeStream], shown: list[int], on_text: Callable[[int, str], None]
) -> None:
    for row, tokens in enumerate(session.tokens):
        pieces = [streams[row].step(target.tokenizer, token) for token in tokens[shown[row] :]]
        shown[row] = len(tokens)
        if text := "".join(piece for piece in pieces if piece):
            on_text(row, text)


def _decoded(
    session: Session, target: Target, row: int, records: list[RoundRecord], prefill_seconds: float, seconds: float
) -> Decoded:
    ledger = Ledger()
    for record in records:
        ledger.record(record.drafted, record.accepted, emitted=record.emitted, truncated=record.truncated)
    tokens = session.tokens[row][session.prompt_lengths[row] :]
    return Decoded(
        target.text(tokens),
        tokens,
        ledger,
        records,
        prefill_seconds,
        seconds,
        sum(record.draft_seconds for record in records),
        sum(record.verify_seconds for record in records),
    )


def decode_plain(
    target: Target,
    prompts: Sequence[Prompt],
    *,
    temperature: float | Sequence[float] = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int = 0,
    stop: Sequence[int] | None = None,
    max_new_tokens: int = 100,
    prefill_chunk: int | None = None,
    on_text: Callable[[int, str], None] | None = None,
    generators: Sequence[Any] | None = None,
) -> list[Decoded]:
    """Decode each prompt a token at a time; settings as in `decode`."""
    session = open_session(target, prompts, 0, temperature, top_k, top_p, seed, stop, max_new_tokens, generators)
    return _collect(session, target, plain_rounds(session, prefill_chunk), on_text)


def decode(
    target: Target,
    prompts: Sequence[Prompt],
    drafter: Drafter,
    k: int = 3,
    *,
    rule: Any = None,
    temperature: float | Sequence[float] = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int = 0,
    stop: Sequence[int] | None = None,
    max_new_tokens: int = 100,
    prefill_chunk: int | None = None,
    on_text: Callable[[int, str], None] | None = None,
    generators: Sequence[Any] | None = None,
) -> list[Decoded]:
    """Decode with candidates of `drafter`, verified by `rule`.

    Args:
        prompts: texts or lists of tokens; decoded as one batch.
        k: candidates a round, at least 1.
        rule: of `mtp.verification`; by default greedy match at temperature 0 and speculative sampling above: both lossless.
        temperature: 0 is greedy; one number, or one for each prompt.
        seed: row r draws from a generator seeded with seed + r.
        stop: tokens that end a text (and stay its last token); by default the end-of-text token.
        prefill_chunk: positions of the prompt read in one call; all by default.
        on_text: called with (row, piece of text) after every round.
        generators: what rows draw from, in place of seeded ones.

    Raises:
        ValueError: a bad setting, or MTP asked of a checkpoint without MTP layers.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(f"k must be an int of at least 1, not {k!r}")
    session = open_session(target, prompts, k, temperature, top_k, top_p, seed, stop, max_new_tokens, generators)
    return _collect(session, target, speculative_rounds(session, drafter, k, rule, prefill_chunk), on_text)


def decode_mtp(target: Target, prompts: Sequence[Prompt], k: int = 3, **settings: Any) -> list[Decoded]:
    """`decode` with the target's own MTP module."""
    return decode(target, prompts, MTPDrafter(), k, **settings)


def decode_prompt_lookup(target: Target, prompts: Sequence[Prompt], k: int = 3, **settings: Any) -> list[Decoded]:
    """`decode` with candidates copied from the text so far."""
    return decode(target, prompts, PromptLookup(), k, **settings)


def decode_ngram(target: Target, prompts: Sequence[Prompt], k: int = 3, **settings: Any) -> list[Decoded]:
    """`decode` with the static n-gram table that lies beside the checkpoint."""
    return decode(target, prompts, target.ngram_table(), k, **settings)
