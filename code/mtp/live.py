"""Figures that come alive in the book's pages, and stay drawings everywhere else.

Each is a custom element round a drawing. The book's script finds `data-live`, loads the module of that name from `assets/js/live/`
and hands it `data-spec`; in a notebook, without JavaScript, or on paper the drawing inside is what is seen. Modules compute what
this package computes; the tests compare them number by number.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import torch
from torch import Tensor

from .cost_model import expected_tokens, round_time, speedup
from .curves import draw_curves
from .exact import emitted_distribution
from .figures import Figure, draw_state
from .language import check_language
from .simulator import MultiTokenDecoderSim
from .trace import trace_round
from .verification import SpeculativeSampling, ThresholdAcceptance


class Live:
    """A drawing that a page of the book brings to life.

    Args:
        name: of the module and, after `mtp-`, of the element.
        spec: what the module starts from, as JSON can hold it.
        figure: what is seen where nothing comes alive.
    """

    def __init__(self, name: str, spec: dict[str, Any], figure: Figure) -> None:
        self.name, self.spec, self.figure = name, spec, figure

    def _repr_html_(self) -> str:
        spec = escape(json.dumps(self.spec, ensure_ascii=False, separators=(",", ":")), quote=True)
        inside = self.figure._repr_html_()
        return f'<mtp-{self.name} data-live="{self.name}" data-pagefind-ignore data-spec="{spec}">{inside}</mtp-{self.name}>'


def full_rows(tokens: Sequence[int], entries: Sequence[float], vocabulary: int, falling: bool) -> Tensor:
    """Distributions (n, vocabulary), float64, of which only each candidate's own entry was said.

    What it leaves is spread over the other tokens in the order of their ids: for m others in the shares m : … : 2 : 1 when `falling`
    (the target's rows), 1 : 2 : … : m when not (the draft's).
    """
    rows = torch.zeros(len(tokens), vocabulary, dtype=torch.float64)
    shares = range(vocabulary - 1, 0, -1) if falling else range(1, vocabulary)
    for row, (token, entry) in enumerate(zip(tokens, entries)):
        others = [other for other in range(vocabulary) if other != token]
        for other, share in zip(others, shares):
            rows[row, other] = (1 - entry) * share / sum(shares)
        rows[row, token] = entry
    return rows


def last_row(vocabulary: int) -> Tensor:
    """The target's distribution (1, vocabulary) behind the last candidate offered: shares vocabulary : … : 2 : 1."""
    shares = torch.arange(vocabulary, 0, -1, dtype=torch.float64)
    return (shares / shares.sum())[None]


def round_stepper(
    sim: MultiTokenDecoderSim,
    draft_probs: Any,
    target_probs: Any,
    draft_tokens: Sequence[int],
    kv_length: int = 0,
    other_tokens: Sequence[int] = (7,),
    language: str | None = None,
) -> Live:
    """A round to step through, with rules, budget, threshold and probabilities to change.

    Args:
        sim, draft_probs, target_probs, draft_tokens, kv_length: the round to begin with, as for `mtp.trace.trace_round`.
        other_tokens: what the vocabulary of the rules that need whole rows holds beside the candidates.
        language: `"zh"` or `"en"`; None takes the page's language.

    Raises:
        ValueError: fewer than three candidates, of which no scenario can be made, or more than six; or as `trace_round`.
    """
    if not 3 <= len(draft_tokens) <= 6:
        raise ValueError(f"draft_tokens must hold 3 to 6 tokens, not {len(draft_tokens)}")
    trace = trace_round(sim, draft_probs, target_probs, draft_tokens, kv_length)
    places = list(range(len(draft_tokens)))
    spec = {
        "tokens": list(draft_tokens),
        "vocabulary": sorted({*draft_tokens, *other_tokens}),
        "budget": sim.max_proposal_len,
        "ratio": sim.min_accept_ratio,
        "kv_length": kv_length,
        "q": _shortest(torch.as_tensor(draft_probs)[places, list(draft_tokens)]),
        "p": _shortest(torch.as_tensor(target_probs)[places, list(draft_tokens)]),
    }
    return Live("stepper", spec, draw_state(trace, len(trace) - 1, language))


def _shortest(entries: Tensor) -> list[float]:
    """Numbers as they were written: 0.2 in float32 is 0.2, and not 0.20000000298."""
    return [float(f"{value:.6g}") for value in entries.tolist()]


_SAMPLING = {
    "zh": {"p": "目标 p", "sampling": "投机采样", "threshold": "阈值规则，r = {ratio}", "x": "token", "y": "概率"},
    "en": {
        "p": "target p",
        "sampling": "speculative sampling",
        "threshold": "threshold rule, r = {ratio}",
        "x": "token",
        "y": "probability",
    },
}


def sampling_demo(p: Tensor, q: Tensor, ratio: float = 0.5, language: str | None = None) -> Live:
    """Thousands of rounds of one candidate each, drawn in the page, beside the exact distribution of what they emit.

    Args:
        p, q: target's and draft's distributions (V,).
        ratio: of the threshold rule.
        language: as for `round_stepper`.

    Raises:
        ValueError: p and q over different vocabularies, or a ratio outside (0, 1].
    """
    language = check_language(language)
    if q.shape != p.shape:
        raise ValueError(f"q has {q.numel()} entries, not the {p.numel()} of p")
    words = _SAMPLING[language]

    def emitted(rule: Any) -> list[tuple[float, float]]:
        found = emitted_distribution(rule, lambda prefix: p, lambda prefix: q, k=1, n=1)
        return [(token, found.get((token,), 0.0)) for token in range(len(p))]

    curves = {
        words["sampling"]: emitted(SpeculativeSampling()),
        words["threshold"].format(ratio=ratio): emitted(ThresholdAcceptance(ratio)),
        words["p"]: list(enumerate(p.tolist())),
    }
    spec = {"p": _shortest(p), "q": _shortest(q), "ratio": ratio}
    return Live("sampling", spec, draw_curves(curves, words["x"], words["y"], language))


_EXPLORER = {
    "zh": {
        "tokens": "每轮期望 token 数",
        "time": "一轮的时间",
        "speed": "加速比",
        "measured": "实测",
        "x": "k",
        "y": "以普通解码一步为单位",
    },
    "en": {
        "tokens": "expected tokens",
        "time": "time of a round",
        "speed": "speed-up",
        "measured": "measured",
        "x": "k",
        "y": "in plain steps",
    },
}


def speedup_explorer(
    survival: Sequence[float], draft: float, verify: float, measured: Sequence[tuple[int, float, str]] = (), language: str | None = None
) -> Live:
    """The cost model of `mtp.cost_model` with its numbers as controls, and measured speed-ups laid over its curve.

    Args:
        survival: per position, never rising; one to eight.
        draft, verify: costs in plain steps, as for `mtp.cost_model.round_time`.
        measured: (k, speed-up, label) of each point.
        language: as for `round_stepper`.

    Raises:
        ValueError: no position or more than eight, or what the cost model refuses.
    """
    language = check_language(language)
    if not 1 <= len(survival) <= 8:
        raise ValueError(f"survival must hold 1 to 8 positions, not {len(survival)}")
    words, counts = _EXPLORER[language], range(len(survival) + 1)
    curves = {
        words["tokens"]: [(k, expected_tokens(survival[:k])) for k in counts],
        words["time"]: [(k, round_time(k, draft, verify)) for k in counts],
        words["speed"]: [(k, speedup(survival[:k], draft, verify)) for k in counts],
    }
    if measured:
        curves[words["measured"]] = sorted((k, value) for k, value, _ in measured)
    points = [{"k": k, "speedup": value, "label": label} for k, value, label in measured]
    spec = {"survival": list(survival), "draft": draft, "verify": verify, "measured": points}
    return Live("explorer", spec, draw_curves(curves, words["x"], words["y"], language))
