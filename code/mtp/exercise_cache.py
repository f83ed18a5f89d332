"""The exercise on the end of a round: where both caches stand after a of k candidates were accepted, and what the draft module reads next.

A learner writes `end_of_round(trunk, draft, states, n, a)`. `trunk` and `draft` are `mtp.cache.KVCache`s of one row: the trunk's holds
n + k positions after verification, the draft's n - 1 slots made from the trunk's states and k - 1 of the chain that drafted. `states`
(k + 1, D) are the trunk's states of the newest token and of the candidates, `n` the tokens of text before the round. The function rolls both
back and returns the states that the module has not read: what `mtp.cache` writes down as the committed-prefix contract.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from .cache import KVCache
from .checking import Mechanism, Probe, Report, run
from .engine import Engine
from .model import ModelConfig, MTPLanguageModel

EndOfRound = Callable[[KVCache, KVCache, Tensor, int, int], Tensor]
TINY = ModelConfig(13, 16, 24, 2, 2, 1, 128)
PROMPT = [3, 1, 4, 1, 5]

HINTS = {
    "trunk": {
        "zh": "主干读过的是最新 token 和 k 个候选。接受 a 个之后，哪些位置仍是文本？新写下的那个 token 还没有人读过。",
        "en": "The trunk has read the newest token and k candidates. With a accepted, which positions are text? Nobody has read the token just written.",
    },
    "draft": {
        "zh": "草稿 cache 里只有由主干状态算出的条目可以留下。链条自己写的 k - 1 个条目用的是模块的猜测，哪怕候选被接受也不留。",
        "en": "Only slots made from the trunk's states may stay. The chain's own k - 1 slots rest on the module's guesses: they go, even where "
        "their candidate was accepted.",
    },
    "pending": {
        "zh": "模块下一轮要读的，是主干在最新 token 和被接受候选上的状态：一共 a + 1 个，从第 0 个起。",
        "en": "The module next reads the trunk's states of the newest token and of the accepted candidates: a + 1 of them, from the first.",
    },
    "moves": {
        "zh": "回退只移动长度。不要清零，也不要复制：过期的条目会被下一次写入覆盖。",
        "en": "Rollback moves a length. Do not erase and do not copy: stale entries are overwritten by the next write.",
    },
    "recompute": {
        "zh": "每一轮之后，两份 cache 都应与从头重算的结果一致，不论接受了几个。",
        "en": "After every round both caches must equal a recomputation from the start, however many candidates were accepted.",
    },
    "text": {
        "zh": "主干 cache 错一位，文本就不再是目标自己的文本。",
        "en": "With the trunk cache off by one, the text is no longer the target's own.",
    },
}


@torch.inference_mode()
def decode_rounds(
    end_of_round: EndOfRound,
    engine: Engine,
    prompt: Sequence[int],
    k: int,
    rounds: int,
    draft_token: Callable[[int, int, Tensor], int] | None = None,
    after: Callable[[list[int], KVCache, KVCache], None] | None = None,
) -> tuple[list[int], list[int]]:
    """Decode greedily, one text, with the learner's function at the end of every round.

    Args:
        draft_token: (round, place, the module's logits (V,)) → candidate; the likeliest by default.
        after: called with the text and both caches after every round.

    Returns:
        The text, prompt included, and how many candidates each round accepted.
    """
    capacity = len(prompt) + (rounds + 1) * (k + 1)
    # A draft cache that is not rolled back as it should be grows: that is for the checks to report, not for its capacity.
    trunk, draft = engine.trunk_cache(1, capacity), engine.draft_cache(1, 3 * capacity)
    pending = engine.trunk(torch.tensor([list(prompt)]), trunk)[0]
    text, counts = [*prompt, int(engine.logits(pending[-1]).argmax())], []
    for number in range(rounds):
        n = len(text)
        candidates = _chain(engine, draft, pending, text, k, number, draft_token)
        states = engine.trunk(torch.tensor([[text[-1], *candidates]]), trunk)[0]
        chosen = engine.logits(states).argmax(-1).tolist()
        a = next((place for place, token in enumerate(candidates) if token != chosen[place]), k)
        pending = end_of_round(trunk, draft, states, n, a)
        text += [*candidates[:a], chosen[a]]
        counts.append(a)
        if after is not None:
            after(text, trunk, draft)
    return text, counts


def _chain(
    engine: Engine, draft: KVCache, pending: Tensor, text: list[int], k: int, number: int, draft_token: Callable[..., int] | None
) -> list[int]:
    """k candidates: the pending states in one call, then the module on its own outputs."""
    following = text[draft.lengths[0] + 1 :][: len(pending)]
    following += [text[-1]] * (len(pending) - len(following))  # more states than tokens: a fault that the checks report
    state = engine.mtp(pending[None], torch.tensor([following]), draft)[:, -1]
    candidates: list[int] = []
    for place in range(k):
        if place:
            state = engine.mtp(state[:, None], torch.tensor([candidates[-1:]]), draft)[:, 0]
        logits = engine.mtp_logits(state)[0]
        candidates.append(draft_token(number, place, logits) if draft_token else int(logits.argmax()))
    return candidates


def random_model(config: ModelConfig, seed: int = 0, dtype: torch.dtype = torch.float64, spread: float = 0.7) -> MTPLanguageModel:
    """A model with every parameter random, norm weights and biases too, so that none can be left out unnoticed."""
    generator = torch.Generator().manual_seed(seed)
    model = MTPLanguageModel(config).to(dtype).eval().requires_grad_(False)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64).to(dtype)
        parameter.copy_(1 + 0.2 * noise if "norm" in name else spread * noise)
    return model


@cache
def tiny_engine() -> Engine:
    """A model of random parameters, so small that checks take no time."""
    return Engine(random_model(TINY))


@torch.inference_mode()
def _own_text(engine: Engine, length: int) -> list[int]:
    """What the target writes by itself: the definition, one token at a time."""
    text = list(PROMPT)
    while len(text) < length:
        text.append(int(engine.model.logits(engine.model.hidden(torch.tensor([text])))[0, -1].argmax()))
    return text


def _cases() -> list[tuple[int, int, int]]:
    """(k, n, a) with every a of every k."""
    return [(k, n, a) for k in range(1, 5) for n in (2, 6) for a in range(k + 1)]


def _caches(k: int, n: int) -> tuple[KVCache, KVCache, Tensor]:
    """Both caches as they stand after verification, with entries that tell themselves apart."""
    trunk, draft = KVCache(2, 1, 1, 16, 2, torch.float64), KVCache(1, 1, 1, 16, 2, torch.float64)
    for place in (trunk, draft):
        place.store.copy_(torch.arange(place.store.numel(), dtype=torch.float64).view_as(place.store) + 1)
    trunk.lengths, draft.lengths = [n + k], [n - 1 + k - 1]
    return trunk, draft, torch.arange((k + 1) * 3, dtype=torch.float64).view(k + 1, 3) + 0.5


def _called(function: EndOfRound, probe: Probe, hint: str, k: int, n: int, a: int) -> tuple[KVCache, KVCache, Tensor, Any, str]:
    trunk, draft, states = _caches(k, n)
    shown = f"end_of_round(…, n={n}, a={a}), k = {k}"
    got = probe.call(shown, lambda: function(trunk, draft, states, n, a), HINTS[hint])
    return trunk, draft, states, got, shown


def _trunk(function: EndOfRound, probe: Probe) -> None:
    for k, n, a in _cases():
        trunk, *_, shown = _called(function, probe, "trunk", k, n, a)
        probe.require(trunk.lengths == [n + a], shown, f"trunk.lengths == {[n + a]}", f"{trunk.lengths}", HINTS["trunk"])


def _draft(function: EndOfRound, probe: Probe) -> None:
    for k, n, a in _cases():
        _, draft, *_, shown = _called(function, probe, "draft", k, n, a)
        probe.require(draft.lengths == [n - 1], shown, f"draft.lengths == {[n - 1]}", f"{draft.lengths}", HINTS["draft"])


def _pending(function: EndOfRound, probe: Probe) -> None:
    for k, n, a in _cases():
        *_, states, got, shown = _called(function, probe, "pending", k, n, a)
        right = isinstance(got, Tensor) and got.shape == (a + 1, 3) and torch.equal(got, states[: a + 1])
        described = f"shape {tuple(got.shape)}, {got.tolist()}" if isinstance(got, Tensor) else repr(got)
        probe.require(right, shown, f"shape {(a + 1, 3)}, {states[: a + 1].tolist()}", described, HINTS["pending"])


def _moves(function: EndOfRound, probe: Probe) -> None:
    for k, n, a in _cases():
        before = _caches(k, n)
        trunk, draft, *_, shown = _called(function, probe, "moves", k, n, a)
        for name, now, then in (("trunk", trunk, before[0]), ("draft", draft, before[1])):
            same_shape = now.store.shape == then.store.shape
            changed = int((now.store != then.store).sum()) if same_shape else now.store.numel()
            probe.require(changed == 0, shown, f"{name}.store: 0", f"{name}.store: {changed}", HINTS["moves"])


def _script(own: list[int], k: int) -> tuple[list[int], Callable[[int, int, Tensor], int]]:
    """Rounds that accept 0, 1, … k candidates, twice over: how many each accepts, and the candidates that bring it about."""
    wanted = [number % (k + 1) for number in range(2 * (k + 1))]
    starts = [len(PROMPT) + 1 + sum(wanted[:number]) + number for number in range(len(wanted))]

    def draft_token(number: int, place: int, logits: Tensor) -> int:
        true = own[starts[number] + place]
        return true if place < wanted[number] else (true + 1) % TINY.vocab_size

    return wanted, draft_token


def _real_rounds(function: EndOfRound, probe: Probe, hint: str, after: Callable[..., None] | None) -> None:
    """Rounds of a real model, for every k; without `after`, its text is compared."""
    engine = tiny_engine()
    own = _own_text(engine, 60)
    for k in range(1, 5):
        wanted, draft_token = _script(own, k)
        shown = f"k = {k}, a = {', '.join(map(str, wanted))}"
        run_rounds = partial(decode_rounds, function, engine, PROMPT, k, len(wanted), draft_token, after)
        text, _ = probe.call(shown, run_rounds, HINTS[hint])
        if after is None:
            probe.require(text == own[: len(text)], shown, str(own[: len(text)]), str(text), HINTS[hint])


def _recompute(function: EndOfRound, probe: Probe) -> None:
    engine = tiny_engine()

    def compare(text: list[int], trunk: KVCache, draft: KVCache) -> None:
        whole, fresh = engine.trunk_cache(1, 128), engine.draft_cache(1, 128)
        states = engine.trunk(torch.tensor([text[:-1]]), whole)
        for name, cache_, true in (("trunk", trunk, whole), ("draft", draft, fresh)):
            length = cache_.lengths[0]
            shown = f"text of {len(text)} tokens: {name}"
            probe.require(length < len(text), shown, f"length < {len(text)}", str(length), HINTS["recompute"])
            if name == "draft" and length:
                engine.mtp(states[:, :length], torch.tensor([text[1 : length + 1]]), fresh)
            apart = (cache_.entries(0) - true.entries(0)[..., :length, :]).abs().amax((0, 1, 2, 4)) if length else torch.zeros(0)
            wrong = (apart > 1e-9).nonzero().flatten().tolist()
            probe.require(not wrong, shown, "= recomputation", f"positions {wrong} differ", HINTS["recompute"])

    _real_rounds(function, probe, "recompute", compare)


def _text(function: EndOfRound, probe: Probe) -> None:
    _real_rounds(function, probe, "text", None)


MECHANISMS = [
    Mechanism("trunk", {"zh": "主干 cache 的长度", "en": "Length of the trunk cache"}, _trunk),
    Mechanism("draft", {"zh": "草稿 cache 的长度", "en": "Length of the draft cache"}, _draft),
    Mechanism("pending", {"zh": "待读的状态", "en": "Pending states"}, _pending),
    Mechanism("moves", {"zh": "只移动长度", "en": "Lengths only"}, _moves),
    Mechanism("recompute", {"zh": "与重算一致", "en": "Equal to a recomputation"}, _recompute),
    Mechanism("text", {"zh": "目标自己的文本", "en": "The target's own text"}, _text),
]


def check_end_of_round(function: EndOfRound, language: str | None = None, strict: bool = False) -> Report:
    """Check a learner's `end_of_round`; see `mtp.exercise.check` for the other arguments."""
    return run(MECHANISMS, function, language, strict)
