"""Checks of the main exercise: a learner's `MultiTokenDecoderSim`, mechanism by mechanism.

The mechanisms are kept apart: where one is tested, the methods that belong to the others are taken from the reference, so
that a wrong budget is reported as a wrong budget and not as everything at once.
"""

from __future__ import annotations

import copy
import random
from typing import Any

from .answers import MultiTokenDecoderSim as Reference
from .checking import Mechanism, Probe, Report, run

VOCAB = 12
RANDOM_ROUNDS = 40
# Multiples of 1/32 and these ratios multiply exactly in floating point, so "equal" is never a matter of rounding.
RATIOS = (0.25, 0.5, 0.75, 1.0)

HINTS = {
    "budget": {
        "zh": "预算限制的是候选的个数：从头取，保持顺序。候选不足时全部取走。",
        "en": "The budget limits how many candidates there are: from the front, in order. If there are fewer, all of them.",
    },
    "new_list": {
        "zh": "返回一个新的列表：以后修改它，不应影响传进来的那个，也不要改动传进来的列表。",
        "en": "Return a new list: changing it later must not change the one that was passed in, which stays as it is.",
    },
    "plain_ints": {
        "zh": "输入可以是张量或 NumPy 数组，返回的是普通的 int 组成的列表。",
        "en": "The input may be a tensor or a NumPy array; what comes back is a list of plain int.",
    },
    "threshold": {
        "zh": "比较的两边是什么？阈值乘在哪一个概率上？相等时怎么办？",
        "en": "What stands on the two sides of the comparison? Which probability does the threshold multiply? What about equality?",
    },
    "real_bool": {
        "zh": "比较张量得到的是张量。这里要的是真正的 True 或 False。",
        "en": "Comparing tensors gives a tensor. What is wanted is a real True or False.",
    },
    "zero_draft": {
        "zh": "草稿概率为 0 的分支已经给出：此时只看目标概率是否大于 0。",
        "en": "The branch for a draft probability of 0 was given: there only the target's probability counts.",
    },
    "first_rejection": {
        "zh": "第 i 个候选看第 i 行、它自己那一列，先草稿后目标。遇到第一个被拒的候选，这一轮就结束。",
        "en": "Candidate i has row i and the column of its own token, draft first, target second. The first rejection ends the round.",
    },
    "no_crossing": {
        "zh": "拒绝之后的候选是在被拒的 token 之后提出的。那个 token 已经不在，它们再可能也不能接受。",
        "en": "Candidates after a rejection were proposed behind the token that is gone. However likely, they cannot be accepted.",
    },
    "summary": {
        "zh": "后缀从被拒的候选开始；推进是接受数除以提议数，什么都没提议时为 0.0。",
        "en": "The suffix starts at the rejected candidate; progress is accepted over proposed, 0.0 when nothing was proposed.",
    },
    "history": {
        "zh": "每次 decode 追加一条记录。之后改动返回的字典（连同其中的列表），记录不应跟着变。",
        "en": "Each decode appends one record. Changing the returned dictionary later, its lists included, must not change the record.",
    },
    "all_accepted": {
        "zh": "全部接受时 rejected_at 是 None，后缀为空，推进是 1.0，预算取多少都一样。",
        "en": "When all are accepted, rejected_at is None, the suffix is empty and progress is 1.0, whatever the budget.",
    },
    "empty": {
        "zh": "没有候选也是合法的一轮：什么都不接受，也没有拒绝。",
        "en": "No candidates is a legal round as well: nothing accepted, nothing rejected.",
    },
}


def check(cls: type, language: str | None = None, strict: bool = False) -> Report:
    """Check a learner's class and report each mechanism as passed, failed or to do.

    Args:
        cls: the learner's `MultiTokenDecoderSim`.
        language: `"zh"` or `"en"`; None takes the page's language.
        strict: raise `ExerciseFailed` with the report unless everything passed.

    Raises:
        ValueError: `cls` is not a class, or the language is unknown.
    """
    if not isinstance(cls, type):
        raise ValueError(f"cls must be the class itself, not {cls!r}")
    return run(MECHANISMS, cls, language, strict)


def _with_reference(cls: type, *methods: str) -> type:
    """A subclass of the learner's class in which `methods` are the reference's."""
    return type(cls.__name__, (cls,), {name: Reference.__dict__[name] for name in methods})


def _construct(probe: Probe, cls: type, budget: int = 4, ratio: float = 0.5) -> Any:
    shown = f"MultiTokenDecoderSim(max_proposal_len={budget}, min_accept_ratio={ratio})"
    sim = probe.call(shown, lambda: cls(max_proposal_len=budget, min_accept_ratio=ratio), HINTS["budget"])
    return sim


def _rows(tokens: list[int], entries: list[float]) -> list[list[float]]:
    """One row for each candidate, its entry in its own column; the rest of the row is a decoy."""
    rows = []
    for index, (token, entry) in enumerate(zip(tokens, entries)):
        row = [1 / 32 if (index + column) % 2 else 31 / 32 for column in range(VOCAB)]
        row[token] = entry
        rows.append(row)
    return rows


def _random_round(rng: random.Random) -> tuple[float, list[int], list[float], list[float]]:
    """Draw a ratio, candidates, and their q and p (multiples of 1/32, sometimes exactly at the threshold)."""
    ratio, length = rng.choice(RATIOS), rng.randint(1, 6)
    tokens = [rng.randrange(VOCAB) for _ in range(length)]
    q = [rng.randrange(0, 33) / 32 for _ in tokens]
    p = [entry * ratio if rng.random() < 0.3 else rng.randrange(0, 33) / 32 for entry in q]
    return ratio, tokens, q, p


def _shown_round(method: str, budget: int | None, ratio: float, tokens: list[int], q: list[float], p: list[float]) -> str:
    budget_text = "" if budget is None else f"max_proposal_len={budget}, "
    entries = f"q={[round(value, 5) for value in q]}, p={[round(value, 5) for value in p]}"
    return f"{method}: {budget_text}min_accept_ratio={ratio}, draft_tokens={tokens}, {entries}"


def _proposal_budget(cls: type, probe: Probe) -> None:
    import torch

    rng = random.Random(35)
    cases = [(budget, [10, 20, 30, 31]) for budget in (3, 1, 4, 6)]
    cases += [(rng.randint(1, 8), [rng.randrange(50) for _ in range(rng.randint(1, 10))]) for _ in range(RANDOM_ROUNDS)]
    for budget, tokens in cases:
        sim, given = _construct(probe, cls, budget), list(tokens)
        shown = f"max_proposal_len={budget}: propose({tokens})"
        got = probe.equal(shown, lambda: sim.propose(given), Reference(budget).propose(tokens), HINTS["budget"])
        probe.unchanged(shown, tokens, given, HINTS["new_list"])
        probe.require(got is not given, shown, "is not draft_tokens", "is draft_tokens", HINTS["new_list"])
    sim = _construct(probe, cls, 2)
    shown = "max_proposal_len=2: propose(torch.tensor([7, 8, 9]))"
    probe.equal(shown, lambda: sim.propose(torch.tensor([7, 8, 9])), [7, 8], HINTS["plain_ints"])


def _acceptance_threshold(cls: type, probe: Probe) -> None:
    import torch

    cases = [(0.6, 0.5, 0.8), (0.6, 0.5, 0.2), (0.5, 0.5, 0.25), (1.0, 0.25, 0.25), (0.5, 0.25, 0.5), (0.5, 0.5, 0.2)]
    rng = random.Random(36)
    for _ in range(RANDOM_ROUNDS):
        ratio, _, q, p = _random_round(rng)
        cases.append((ratio, q[0], p[0]))
    for ratio, q, p in cases:
        sim = _construct(probe, cls, 4, ratio)
        shown = f"min_accept_ratio={ratio}: _accept_token({q}, {p})"
        expected = Reference(4, ratio)._accept_token(q, p)
        probe.equal(shown, lambda: sim._accept_token(q, p), expected, HINTS["threshold" if q > 0 else "zero_draft"])
        shown = f"min_accept_ratio={ratio}: _accept_token(torch.tensor({q}), torch.tensor({p}))"
        probe.equal(shown, lambda: sim._accept_token(torch.tensor(q), torch.tensor(p)), expected, HINTS["real_bool"])
    for q, p, expected in [(0.0, 0.25, True), (0.0, 0.0, False)]:
        sim = _construct(probe, cls)
        probe.equal(f"_accept_token({q}, {p})", lambda: sim._accept_token(q, p), expected, HINTS["zero_draft"])


def _verify_equals_reference(
    cls: type, probe: Probe, ratio: float, tokens: list[int], q: list[float], p: list[float], hint: dict[str, str]
) -> None:
    sim = _construct(probe, _with_reference(cls, "_accept_token"), len(tokens), ratio)
    rows_q, rows_p, given = _rows(tokens, q), _rows(tokens, p), list(tokens)
    expected = Reference(len(tokens), ratio).verify(rows_q, rows_p, tokens)
    shown = _shown_round("verify", None, ratio, tokens, q, p)
    probe.equal(shown, lambda: sim.verify(rows_q, rows_p, given), expected, hint)
    probe.unchanged(shown, tokens, given, HINTS["new_list"])


def _first_rejection(cls: type, probe: Probe) -> None:
    half = [0.5, 0.5, 0.5, 0.5]
    for p in ([0.8, 0.8, 0.2, 0.2], [0.2, 0.2, 0.2, 0.2], [0.8, 0.8, 0.8, 0.2]):
        _verify_equals_reference(cls, probe, 0.6, [1, 2, 3, 4], half, p, HINTS["first_rejection"])
    rng = random.Random(37)
    for _ in range(RANDOM_ROUNDS):
        ratio, tokens, q, p = _random_round(rng)
        # A prefix that passes, one candidate that fails, and none after it that could be mistaken for accepted.
        cut = rng.randrange(len(tokens))
        q = [0.5] * len(tokens)
        p = [rng.randrange(16, 33) / 32 if index < cut else 0.0 for index in range(len(tokens))]
        _verify_equals_reference(cls, probe, ratio, tokens, q, p, HINTS["first_rejection"])


def _no_crossing(cls: type, probe: Probe) -> None:
    half = [0.5, 0.5, 0.5, 0.5]
    for p in ([0.8, 0.8, 0.2, 0.9], [0.2, 0.9, 0.9, 0.9], [0.8, 0.2, 0.9, 0.2]):
        _verify_equals_reference(cls, probe, 0.6, [1, 2, 3, 4], half, p, HINTS["no_crossing"])
    rng = random.Random(38)
    for _ in range(RANDOM_ROUNDS):
        ratio, tokens, q, p = _random_round(rng)
        _verify_equals_reference(cls, probe, ratio, tokens, q, p, HINTS["no_crossing"])


def _suffix_and_history(cls: type, probe: Probe) -> None:
    half = [0.5, 0.5, 0.5, 0.5]
    # The gaps come first: nothing here can be said of a class that cannot decode yet.
    probe_call = _decode_call(_construct(probe, cls, 3, 0.6), [1, 2, 3, 4], half, [0.8, 0.8, 0.2, 0.2])
    try:
        probe_call()
    except NotImplementedError:
        probe.call("decode", probe_call, HINTS["summary"])
    except Exception:  # reported by the mechanism that it belongs to
        pass
    isolated = _with_reference(cls, "propose", "_accept_token", "verify")
    cases = [(3, 0.6, [1, 2, 3, 4], half, [0.8, 0.8, 0.2, 0.2]), (4, 0.6, [1, 2, 3, 4], half, [0.8, 0.8, 0.2, 0.9])]
    cases += [(6, 0.6, [1, 2], half[:2], [0.8, 0.2]), (4, 0.6, [1, 2, 3, 4], half, [0.2, 0.8, 0.8, 0.8])]
    rng = random.Random(39)
    for _ in range(RANDOM_ROUNDS):
        cases.append((rng.randint(1, 6), *_random_round(rng)))
    for case in cases:
        _check_decode(isolated, probe, *case)
    _check_history(isolated, probe, half)


def _decode_call(sim: Any, tokens: list[int], q: list[float], p: list[float]) -> Any:
    return lambda: sim.decode(_rows(tokens, q), _rows(tokens, p), list(tokens))


def _check_decode(
    cls: type, probe: Probe, budget: int, ratio: float, tokens: list[int], q: list[float], p: list[float], hint: str = "summary"
) -> None:
    sim = _construct(probe, cls, budget, ratio)
    shown = _shown_round("decode", budget, ratio, tokens, q, p)
    expected = _decode_call(Reference(budget, ratio), tokens, q, p)()
    probe.equal(shown, _decode_call(sim, tokens, q, p), expected, HINTS[hint])
    probe.require(_is_list_of_one(sim.history, expected), f"{shown}; history", repr([expected]), repr(sim.history), HINTS["history"])


def _is_list_of_one(history: Any, expected: dict[str, Any]) -> bool:
    return isinstance(history, list) and history == [expected]


def _check_history(cls: type, probe: Probe, half: list[float]) -> None:
    sim = _construct(probe, cls, 4, 0.6)
    shown = "first = decode(…); first['accepted_tokens'].append(99); first['rejected_at'] = 99; history"
    decode = _decode_call(sim, [1, 2, 3, 4], half, [0.8, 0.8, 0.2, 0.2])
    first = probe.call(shown, decode, HINTS["history"])
    before = copy.deepcopy(first)
    for key in ("proposed_tokens", "accepted_tokens", "rejected_suffix"):
        first[key].append(99)
    first["rejected_at"] = 99
    probe.require(sim.history == [before], shown, repr([before]), repr(sim.history), HINTS["history"])
    probe.call(shown, decode, HINTS["history"])
    probe.require(sim.history == [before, before], "two rounds; history", repr([before, before]), repr(sim.history), HINTS["history"])


def _all_accepted(cls: type, probe: Probe) -> None:
    tokens, q, p = [1, 2, 3, 4], [0.5] * 4, [0.8] * 4
    for budget in (1, 2, 3, 4, 6):
        _check_decode(cls, probe, budget, 0.6, tokens, q, p, "all_accepted")
    # Equality accepts, so a target that agrees entirely is accepted entirely.
    _check_decode(cls, probe, 4, 1.0, tokens, q, q, "all_accepted")


def _empty_proposal(cls: type, probe: Probe) -> None:
    import torch

    nothing = torch.zeros(0, VOCAB)
    sim = _construct(probe, cls)
    probe.equal("propose([])", lambda: sim.propose([]), [], HINTS["empty"])
    probe.equal("verify(…, [])", lambda: sim.verify(nothing, nothing, []), ([], None), HINTS["empty"])
    expected = Reference().decode(nothing, nothing, [])
    probe.equal("decode(…, [])", lambda: sim.decode(nothing, nothing, []), expected, HINTS["empty"])


MECHANISMS = [
    Mechanism("proposal_budget", {"zh": "候选预算", "en": "Proposal budget"}, _proposal_budget),
    Mechanism(
        "acceptance_threshold",
        {"zh": "接受阈值：相等与零草稿概率", "en": "Acceptance threshold, equality, zero draft"},
        _acceptance_threshold,
    ),
    Mechanism("first_rejection", {"zh": "首次拒绝", "en": "First rejection"}, _first_rejection),
    Mechanism("no_crossing", {"zh": "后面再可能的候选也不能越过拒绝", "en": "A later likely candidate does not cross it"}, _no_crossing),
    Mechanism("rollback_suffix", {"zh": "回退后缀、推进与记录", "en": "Rollback suffix, progress, history"}, _suffix_and_history),
    Mechanism("all_accepted", {"zh": "任何预算下全部接受", "en": "All accepted, at every budget"}, _all_accepted),
    Mechanism("empty_proposal", {"zh": "空提议", "en": "Empty proposal"}, _empty_proposal),
]
