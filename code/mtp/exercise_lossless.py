"""Checks of the two exercises on lossless verification, on plain lists of probabilities (multiples of 1/16).

`residual_distribution(p, q)` returns what a rejected candidate is replaced from. `verify_one_hot(token, p, u)` judges one
candidate of a deterministic draft with the random number u in [0, 1): `(accepted, residual)`, residual None when accepted.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from .answers import one_hot_accepts, one_hot_residual, residual_distribution, residual_support
from .checking import Mechanism, Probe, Report, run

CASES = 30

HINTS = {
    "support": {
        "zh": "残差只留下目标比草稿多出的部分。q 不小于 p 的地方还剩多少？",
        "en": "The residual keeps what the target has more than the draft. What is left where q is at least p?",
    },
    "mass": {"zh": "残差是一个分布：各项之和应是多少？", "en": "The residual is a distribution: what must its entries sum to?"},
    "proportion": {
        "zh": "各项之间的比例由 p - q 的正部决定，而不是由 p 决定。",
        "en": "The entries stand in the ratio of the positive parts of p - q, not in that of p.",
    },
    "no_mass": {
        "zh": "p 与 q 相等时不会拒绝，也就没有残差：抛出 ValueError，不要除以 0。",
        "en": "Where p equals q nothing is rejected and there is no residual: raise ValueError, do not divide by 0.",
    },
    "unchanged": {"zh": "不要改动传进来的列表。", "en": "Leave the lists that were passed in as they are."},
    "acceptance": {
        "zh": "草稿是 one-hot，q(token) 是 1。接受概率 min(1, p/q) 化简成什么？",
        "en": "The draft is one-hot, so q(token) is 1. What does min(1, p/q) come to?",
    },
    "zero": {
        "zh": "u 可以恰好是 0。目标概率为 0 的 token 也不能接受。",
        "en": "u can be exactly 0. A token to which the target gives nothing must not be accepted even then.",
    },
    "one_hot_residual": {
        "zh": "从 p 里减去 one-hot 的 q，取正部再归一化：被拒的 token 还可能出现吗？",
        "en": "Take the one-hot q from p, keep the positive part, normalise: can the rejected token come back?",
    },
    "exact": {
        "zh": "把接受与修正合在一起，每个 token 出现的概率应恰好是 p。",
        "en": "Acceptance and correction together must give each token exactly the probability p.",
    },
}


def _distribution(rng: random.Random, vocab: int) -> list[float]:
    cuts = sorted(rng.randrange(17) for _ in range(vocab - 1))
    return [(high - low) / 16 for low, high in zip([0, *cuts], [*cuts, 16])]


def _pairs() -> list[tuple[list[float], list[float]]]:
    rng = random.Random(4)
    pairs = [([0.125, 0.25, 0.625], [0.5, 0.25, 0.25]), ([0.25, 0.5, 0.25, 0.0], [0.75, 0.0, 0.125, 0.125])]
    while len(pairs) < CASES:
        p, q = _distribution(rng, 4), _distribution(rng, 4)
        if p != q:
            pairs.append((p, q))
    return pairs


def _close(got: Any, wanted: list[float]) -> bool:
    try:
        return len(got) == len(wanted) and all(abs(float(a) - b) < 1e-9 for a, b in zip(got, wanted))
    except (TypeError, ValueError):
        return False


def _for_pairs(function: Callable[..., Any], probe: Probe, hint: str, judge: Callable[..., tuple[bool, str]]) -> None:
    for p, q in _pairs():
        shown = f"residual_distribution(p={p}, q={q})"
        got = probe.call(shown, lambda: function(list(p), list(q)), HINTS[hint])
        try:
            right, expected = judge(p, q, [float(value) for value in got])
        except (TypeError, ValueError):
            right, expected = False, f"{len(p)} probabilities"
        probe.require(right, shown, expected, repr(got), HINTS[hint])


def _support(function: Callable[..., Any], probe: Probe) -> None:
    def judge(p: list[float], q: list[float], got: list[float]) -> tuple[bool, str]:
        positive = residual_support(p, q)
        right = len(got) == len(p) and min(got) >= 0 and [value > 0 for value in got] == positive
        return right, f"> 0: {positive}"

    _for_pairs(function, probe, "support", judge)


def _mass(function: Callable[..., Any], probe: Probe) -> None:
    _for_pairs(function, probe, "mass", lambda p, q, got: (abs(sum(got) - 1) < 1e-9, "sum = 1"))


def _proportion(function: Callable[..., Any], probe: Probe) -> None:
    def judge(p: list[float], q: list[float], got: list[float]) -> tuple[bool, str]:
        shares, total = residual_distribution(p, q), sum(got)
        return total > 0 and _close([value / total for value in got], shares), repr(shares)

    _for_pairs(function, probe, "proportion", judge)


def _no_mass(function: Callable[..., Any], probe: Probe) -> None:
    def call() -> str:
        try:
            return repr(function([0.25, 0.75], [0.25, 0.75]))
        except ValueError:
            return "ValueError"

    probe.equal("residual_distribution(p=[0.25, 0.75], q=[0.25, 0.75])", call, "ValueError", HINTS["no_mass"])


def _residual_unchanged(function: Callable[..., Any], probe: Probe) -> None:
    p, q = [0.125, 0.25, 0.625], [0.5, 0.25, 0.25]
    probe.call("residual_distribution", lambda: function(p, q), HINTS["unchanged"])
    probe.unchanged("residual_distribution: p, q", [[0.125, 0.25, 0.625], [0.5, 0.25, 0.25]], [p, q], HINTS["unchanged"])


def _judged(function: Callable[..., Any], probe: Probe, token: int, p: list[float], u: float, hint: str) -> tuple[bool, Any, str]:
    shown = f"verify_one_hot(token={token}, p={p}, u={u})"
    got = probe.call(shown, lambda: function(token, list(p), u), HINTS[hint])
    pair = isinstance(got, tuple) and len(got) == 2 and isinstance(got[0], bool)
    probe.require(pair, shown, "(bool, list | None)", repr(got), HINTS[hint])
    return got[0], got[1], shown


def _one_hot_cases() -> list[tuple[int, list[float]]]:
    rng = random.Random(5)
    return [(1, [0.25, 0.5, 0.25]), (0, [0.0, 0.5, 0.5])] + [(rng.randrange(4), _distribution(rng, 4)) for _ in range(CASES)]


def _acceptance(function: Callable[..., Any], probe: Probe) -> None:
    for token, p in _one_hot_cases():
        for step in range(16):
            u = (step + 0.5) / 16
            accepted, _, shown = _judged(function, probe, token, p, u, "acceptance")
            wanted = one_hot_accepts(token, p, u)
            probe.require(accepted is wanted, shown, str(wanted), str(accepted), HINTS["acceptance"])


def _zero(function: Callable[..., Any], probe: Probe) -> None:
    accepted, _, shown = _judged(function, probe, 0, [0.0, 0.5, 0.5], 0.0, "zero")
    probe.require(not accepted, shown, "False", str(accepted), HINTS["zero"])


def _one_hot_residual(function: Callable[..., Any], probe: Probe) -> None:
    for token, p in _one_hot_cases():
        if p[token] < 1:
            accepted, rest, shown = _judged(function, probe, token, p, 31 / 32, "one_hot_residual")
            wanted = one_hot_residual(token, p)
            probe.require(accepted or _close(rest, wanted), shown, repr(wanted), repr(rest), HINTS["one_hot_residual"])


def _exact(function: Callable[..., Any], probe: Probe) -> None:
    for token, p in _one_hot_cases():
        emitted = [0.0] * len(p)
        for step in range(16):  # p is in sixteenths: these u stand for all of [0, 1)
            accepted, rest, shown = _judged(function, probe, token, p, (step + 0.5) / 16, "exact")
            if accepted:
                emitted[token] += 1 / 16
                continue
            probe.require(isinstance(rest, list) and len(rest) == len(p), shown, "list", repr(rest), HINTS["exact"])
            emitted = [have + float(more) / 16 for have, more in zip(emitted, rest)]
        probe.require(_close(emitted, p), f"token={token}, p={p}", repr(p), repr(emitted), HINTS["exact"])


def _one_hot_unchanged(function: Callable[..., Any], probe: Probe) -> None:
    p = [0.25, 0.5, 0.25]
    probe.call("verify_one_hot", lambda: function(1, p, 0.9), HINTS["unchanged"])
    probe.unchanged("verify_one_hot: p", [0.25, 0.5, 0.25], p, HINTS["unchanged"])


RESIDUAL = [
    Mechanism("support", {"zh": "残差的支撑", "en": "Where the residual has mass"}, _support),
    Mechanism("mass", {"zh": "归一化", "en": "It sums to 1"}, _mass),
    Mechanism("proportion", {"zh": "各项的比例", "en": "Ratios of its entries"}, _proportion),
    Mechanism("no_mass", {"zh": "没有残差", "en": "No residual"}, _no_mass),
    Mechanism("unchanged", {"zh": "输入不变", "en": "Input unchanged"}, _residual_unchanged),
]
ONE_HOT = [
    Mechanism("acceptance", {"zh": "接受概率", "en": "Probability of acceptance"}, _acceptance),
    Mechanism("zero", {"zh": "目标概率为 0", "en": "Target probability 0"}, _zero),
    Mechanism("one_hot_residual", {"zh": "one-hot 草稿的残差", "en": "Residual of a one-hot draft"}, _one_hot_residual),
    Mechanism("exact", {"zh": "分布保持", "en": "Distribution preserved"}, _exact),
    Mechanism("unchanged", {"zh": "输入不变", "en": "Input unchanged"}, _one_hot_unchanged),
]


def check_residual(function: Callable[..., Any], language: str | None = None, strict: bool = False) -> Report:
    """Check a learner's `residual_distribution`; see `mtp.exercise.check` for the other arguments."""
    return run(RESIDUAL, function, language, strict)


def check_one_hot(function: Callable[..., Any], language: str | None = None, strict: bool = False) -> Report:
    """Check a learner's `verify_one_hot`; see `mtp.exercise.check` for the other arguments."""
    return run(ONE_HOT, function, language, strict)
