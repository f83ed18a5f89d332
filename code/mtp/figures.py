"""Drawings of a round for notebook cells, in the page's language.

SVG whose colours come from the page's variables (with fallbacks that read on light and dark), and whose text is left to the
reader's own fonts. Widths are in user units of a narrow drawing, so type stays readable when a phone scales it down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from .language import check_language
from .trace import Trace

WIDTH = 400
MARGIN = 12
BAR_HEIGHT = 84

_TEXT: dict[str, dict[str, str]] = {
    "zh": {
        "proposal": "提议：预算 {budget}，{offered} 个候选取前 {count} 个",
        "proposal_all": "提议：预算 {budget}，{count} 个候选全部取用",
        "test": "位置 {position}：p = {p}，阈值 r·q = {threshold}",
        "zero": "位置 {position}：q = 0，看 p = {p} 是否大于 0",
        "summary_rejected": "小结：接受 {accepted} 个，位置 {at} 首次拒绝，回退 {closed} 个",
        "summary_all": "小结：{accepted} 个全部接受",
        "waiting": "等待",
        "accepted": "✓ 接受",
        "rejected": "✗ 拒绝",
        "closed": "关闭",
        "beyond": "预算外",
        "threshold": "阈值 r·q",
        "target": "目标 p",
        "draft": "草稿 q",
        "kv": "KV：有效长度 {length}",
        "kv_stale": "KV：有效长度 {length}，其后 {stale} 格作废",
        "desc": "候选 {tokens}；已接受 {accepted}；回退后缀 {closed}；KV 有效长度 {length}。",
        "none": "无",
        "comma": "、",
    },
    "en": {
        "proposal": "Proposal: budget {budget}, first {count} of {offered} candidates",
        "proposal_all": "Proposal: budget {budget}, all {count} candidates",
        "test": "Position {position}: p = {p}, threshold r·q = {threshold}",
        "zero": "Position {position}: q = 0, is p = {p} above 0?",
        "summary_rejected": "{accepted} accepted, rejected at {at}, {closed} rolled back",
        "summary_all": "All {accepted} accepted",
        "waiting": "waiting",
        "accepted": "✓ accepted",
        "rejected": "✗ rejected",
        "closed": "closed",
        "beyond": "cut off",
        "threshold": "threshold r·q",
        "target": "target p",
        "draft": "draft q",
        "kv": "KV: valid length {length}",
        "kv_stale": "KV: valid length {length}, {stale} behind it stale",
        "desc": "Candidates {tokens}; accepted so far {accepted}; rollback suffix {closed}; valid KV length {length}.",
        "none": "none",
        "comma": ", ",
    },
}

INK = "var(--mtp-ink, currentColor)"
MUTED = "var(--mtp-muted, currentColor)"
LINE = "var(--mtp-line, #8a93a3)"
ACCENT = "var(--mtp-accent, #2f7fd1)"
ACCEPT = "var(--mtp-accept, #12876a)"
REJECT = "var(--mtp-reject, #cf5a1c)"


class Figure:
    """An SVG drawing that a notebook shows inline, so that it follows the page's theme."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_html_(self) -> str:
        return f'<div class="mtp-figure" style="max-width:34rem;margin:0 auto">{self.svg}</div>'


def number(value: float) -> str:
    """Format a probability: at most three decimals, no trailing zeros."""
    return f"{value:.3f}".rstrip("0").rstrip(".") if value else "0"


def draw_state(trace: Trace, step: int, language: str | None = None) -> Figure:
    """Draw one state of a round.

    Args:
        trace: from `mtp.trace.trace_round`.
        step: index of the state, 0 to `len(trace) - 1`.
        language: `"zh"` or `"en"`; None takes the page's language.

    Raises:
        ValueError: for a step that does not exist, or an unknown language.
    """
    language = check_language(language)
    if not 0 <= step < len(trace):
        raise ValueError(f"step must be from 0 to {len(trace) - 1}, not {step!r}")
    return Figure(_Drawing(trace, step, language).svg())


def draw_rounds(records: Sequence[dict[str, Any]], labels: Sequence[str], language: str | None = None) -> Figure:
    """Draw results of `decode` below each other: accepted prefix, rejected candidate, closed suffix.

    Args:
        records: dictionaries as `MultiTokenDecoderSim.decode` returns them.
        labels: one caption for each.

    Raises:
        ValueError: when there are not as many labels as records, or the language is unknown.
    """
    language = check_language(language)
    if len(records) != len(labels):
        raise ValueError(f"labels must name each of the {len(records)} records, not {len(labels)}")
    words, parts, y = _TEXT[language], [], 4
    for record, label in zip(records, labels):
        parts.append(text_at(MARGIN, y + 16, label, size=15, weight=600))
        parts += _round_row(record, words, y + 26)
        y += 90
    description = "; ".join(f"{label}: {record['accepted_len']}" for record, label in zip(records, labels))
    return Figure(document(y, words["accepted"], description, parts, language))


def _round_row(record: dict[str, Any], words: dict[str, str], y: float) -> list[str]:
    tokens, at = record["proposed_tokens"], record["rejected_at"]
    column = (WIDTH - 2 * MARGIN) / max(len(tokens), 1)
    parts = []
    for index, token in enumerate(tokens):
        status = "accepted" if at is None or index < at else "rejected" if index == at else "closed"
        parts += _token_box(MARGIN + index * column, y, column, str(token), status, words)
    return parts


def _token_box(x: float, y: float, column: float, token: str, status: str, words: dict[str, str]) -> list[str]:
    colour, dash = _status_style(status)
    box = (
        f'<rect x="{x + 3:.1f}" y="{y:.1f}" width="{column - 6:.1f}" height="34" rx="7" fill="{colour}" '
        f'fill-opacity="{0.14 if status in ("accepted", "rejected") else 0}" stroke="{colour}" stroke-width="2"{dash}/>'
    )
    faded = status in ("closed", "beyond")
    middle = x + column / 2
    return [
        box,
        text_at(middle, y + 23, token, size=17, weight=600, anchor="middle", colour=MUTED if faded else INK, strike=faded),
        text_at(middle, y + 51, _status_word(status, words, column), size=14, anchor="middle", colour=colour if not faded else MUTED),
    ]


def _status_word(status: str, words: dict[str, str], column: float) -> str:
    """The status in words, or only its mark where six candidates leave no room for words."""
    if column >= 80:
        return words[status]
    return {"accepted": "✓", "rejected": "✗"}.get(status, "–")


def _status_style(status: str) -> tuple[str, str]:
    """Colour and dash of a candidate's box; the word below it says the same without colour."""
    dashed = ' stroke-dasharray="5 4"'
    styles = {"accepted": (ACCEPT, ""), "rejected": (REJECT, ""), "closed": (LINE, dashed), "beyond": (LINE, dashed), "waiting": (LINE, "")}
    return styles[status]


class _Drawing:
    """One state: headline, candidates, bars of p and q once tested, the KV strip."""

    def __init__(self, trace: Trace, step: int, language: str) -> None:
        self.state, self.language, self.words = trace[step], language, _TEXT[language]
        self.proposal = trace[0]
        self.tests = [state for state in trace.states[: step + 1] if state["kind"] == "test"]
        self.beyond = self.proposal["offered_tokens"][len(self.state["tokens"]) :] if self.state["kind"] == "proposal" else []
        self.columns = max(len(self.state["tokens"]) + len(self.beyond), 1)
        self.column = (WIDTH - 2 * MARGIN) / self.columns

    def svg(self) -> str:
        parts = [text_at(MARGIN, 22, self.headline(), size=15, weight=600)]
        for index, token in enumerate([*self.state["tokens"], *self.beyond]):
            parts += _token_box(self.x(index), 38, self.column, str(token), self.status(index), self.words)
        y = 104.0
        if self.tests:
            parts += self.bars(y)
            y += BAR_HEIGHT + 64
        parts += self.cache(y)
        return document(y + 58, self.headline(), self.description(), parts, self.language)

    def x(self, index: int) -> float:
        return MARGIN + index * self.column

    def status(self, index: int) -> str:
        if index >= len(self.state["tokens"]):
            return "beyond"
        if index < len(self.state["accepted_tokens"]):
            return "accepted"
        at = self.state["rejected_at"]
        return "waiting" if at is None else "rejected" if index == at else "closed"

    def headline(self) -> str:
        state, words = self.state, self.words
        if state["kind"] == "proposal":
            key = "proposal" if self.beyond else "proposal_all"
            offered = len(state["offered_tokens"])
            return words[key].format(budget=state["budget"], offered=offered, count=len(state["tokens"]))
        if state["kind"] == "test":
            key = "zero" if state["reason"].startswith("zero") else "test"
            return words[key].format(position=state["position"], p=number(state["p"]), threshold=number(state["threshold"]))
        key = "summary_all" if state["rejected_at"] is None else "summary_rejected"
        return words[key].format(accepted=state["accepted_len"], at=state["rejected_at"], closed=len(state["rejected_suffix"]))

    def description(self) -> str:
        def listed(tokens: list[int]) -> str:
            return self.words["comma"].join(map(str, tokens)) or self.words["none"]

        state = self.state
        return self.words["desc"].format(
            tokens=listed(state["tokens"]), accepted=listed(state["accepted_tokens"]), closed=listed(state["closed_tokens"]), length=state["kv_length"]
        )

    def bars(self, top: float) -> list[str]:
        """Bars of p and q of every test so far, with the threshold as a line across them."""
        base = top + BAR_HEIGHT + 10
        width = min(30.0, self.column / 2 - 8)
        parts = [f'<line x1="{MARGIN}" x2="{WIDTH - MARGIN}" y1="{base}" y2="{base}" stroke="{LINE}"/>']
        for test in self.tests:
            middle = self.x(test["position"]) + self.column / 2
            line = base - test["threshold"] * BAR_HEIGHT
            parts += _bar(middle - width - 2, base, width, test["q"], line, LINE, 0.55)
            parts += _bar(middle + 2, base, width, test["p"], line, ACCEPT if test["accepted"] else REJECT, 0.85)
            parts.append(
                f'<line x1="{middle - width - 7:.1f}" x2="{middle + width + 7:.1f}" y1="{line:.1f}" y2="{line:.1f}" '
                f'stroke="{INK}" stroke-width="1.5" stroke-dasharray="4 3"/>'
            )
        return [*parts, *self.legend(base + 24)]

    def legend(self, y: float) -> list[str]:
        words, parts, x = self.words, [], float(MARGIN)
        for key, colour, opacity in (("draft", LINE, 0.55), ("target", INK, 0.6)):
            parts.append(f'<rect x="{x}" y="{y - 11}" width="12" height="12" rx="2" fill="{colour}" fill-opacity="{opacity}"/>')
            parts.append(text_at(x + 17, y, words[key], size=14, colour=MUTED))
            x += 92
        parts.append(f'<line x1="{x}" x2="{x + 22}" y1="{y - 5}" y2="{y - 5}" stroke="{INK}" stroke-width="1.5" stroke-dasharray="4 3"/>')
        parts.append(text_at(x + 28, y, words["threshold"], size=14, colour=MUTED))
        return parts

    def cache(self, y: float) -> list[str]:
        """The KV cache as cells: valid ones filled, stale ones dashed, and where the length stands."""
        state = self.state
        before, written, length = self.proposal["kv_length"], state["kv_written"], state["kv_length"]
        stale = written - length if state["kind"] == "summary" or state["rejected_at"] is not None else 0
        key = "kv_stale" if stale else "kv"
        parts = [text_at(MARGIN, y + 14, self.words[key].format(length=length, stale=stale), size=14, colour=MUTED)]
        cells = max(before + len(self.state["tokens"]), written, 1)
        width = min(34.0, (WIDTH - 2 * MARGIN) / cells)
        for index in range(cells):
            x = MARGIN + index * width
            if index < length:
                style = f'fill="{ACCENT if index < before else ACCEPT}" fill-opacity="0.75"'
            elif index < written:
                style = f'fill="none" stroke="{LINE}" stroke-dasharray="3 3"'
            else:
                style = f'fill="{LINE}" fill-opacity="0.16"'
            parts.append(f'<rect x="{x + 1.5:.1f}" y="{y + 24}" width="{width - 3:.1f}" height="18" rx="3" {style}/>')
        mark = MARGIN + length * width
        parts.append(f'<line x1="{mark:.1f}" x2="{mark:.1f}" y1="{y + 19}" y2="{y + 47}" stroke="{INK}" stroke-width="2.5"/>')
        return parts


def _bar(x: float, base: float, width: float, value: float, line: float, colour: str, opacity: float) -> list[str]:
    """A bar with its number; the number steps above the threshold `line` (a height) where that would cross it."""
    height = min(value, 1.0) * BAR_HEIGHT
    foot = base - height - 5
    foot = line - 5 if foot - 14 < line < foot + 4 else foot
    return [
        f'<rect x="{x:.1f}" y="{base - height:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2" fill="{colour}" fill-opacity="{opacity}"/>',
        text_at(x + width / 2, foot, number(value), size=14, anchor="middle"),
    ]


def text_at(
    x: float, y: float, text: str, *, size: int, weight: int = 400, anchor: str = "start", colour: str = INK, strike: bool = False
) -> str:
    decoration = ' text-decoration="line-through"' if strike else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" '
        f'fill="{colour}"{decoration}>{escape(text)}</text>'
    )


def document(height: float, title: str, description: str, parts: list[str], language: str) -> str:
    tag = "zh-CN" if language == "zh" else "en"
    label = escape(f"{title}. {description}" if language == "en" else f"{title}。{description}", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" lang="{tag}" aria-label="{label}" '
        f'width="100%" style="font-family:inherit;color:inherit;height:auto;display:block">{"".join(parts)}</svg>'
    )
