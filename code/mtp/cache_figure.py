"""The two KV caches of a round, drawn as strips of cells at each of its four moments."""

from __future__ import annotations

from .cache_watch import CacheRound
from .figures import ACCENT, ACCEPT, INK, LINE, MARGIN, MUTED, WIDTH, Figure, document, text_at
from .language import check_language

LABEL = 62.0  # width of the strips' names
MOMENT = 106.0  # height of a moment
BEFORE = 4  # positions shown of what both caches held before

_TEXT = {
    "zh": {
        "title": "一轮里的两份 KV Cache",
        "start": "一轮开始：文本 {text} 个 token，{pending} 个状态待读",
        "drafted": "起草之后：模块读完待读状态，起草 {k} 个候选",
        "verified": "验证之后：主干一次写入 {k} + 1 个位置",
        "committed": "提交之后：接受 {accepted} 个，{pending} 个状态待读",
        "trunk": "主干",
        "draft": "草稿",
        "lengths": "{trunk} / {draft}",
        "desc": "{title}：主干有效长度 {trunk}，草稿有效长度 {draft}",
        "join": "；",
        "valid": "轮初已有",
        "new": "本轮新增",
        "stale": "作废",
    },
    "en": {
        "title": "Both KV caches through one round",
        "start": "Start: {text} tokens of text, {pending} states pending",
        "drafted": "Drafted: pending states read, {k} candidates",
        "verified": "Verified: the trunk wrote {k} + 1 positions",
        "committed": "Committed: {accepted} accepted, {pending} states pending",
        "trunk": "trunk",
        "draft": "draft",
        "lengths": "{trunk} / {draft}",
        "desc": "{title}: valid length {trunk} of the trunk, {draft} of the draft",
        "join": "; ",
        "valid": "there before",
        "new": "new in this round",
        "stale": "stale",
    },
}


def draw_caches(round_: CacheRound, language: str | None = None) -> Figure:
    """Draw the four moments of a round of `watch_rounds`; only the last positions that held still are shown.

    Raises:
        ValueError: an unknown language.
    """
    language = check_language(language)
    words, start = _TEXT[language], round_.moments[0]
    first = max(min(start.trunk, start.draft) - BEFORE, 0)
    end = max(max(moment.trunk_written, moment.draft_written) for moment in round_.moments)
    cell = min(30.0, (WIDTH - 2 * MARGIN - LABEL) / (end - first))
    parts: list[str] = []
    titles = []
    for index, moment in enumerate(round_.moments):
        title = words[moment.name].format(text=moment.text, pending=moment.pending, k=len(round_.candidates), accepted=round_.accepted)
        titles.append(words["desc"].format(title=title, trunk=moment.trunk, draft=moment.draft))
        y = 6 + index * MOMENT
        parts.append(text_at(MARGIN, y + 16, title, size=15, weight=600))
        parts += _strip(y + 28, words["trunk"], moment.trunk, moment.trunk_written, start.trunk, first, end, cell)
        parts += _strip(y + 60, words["draft"], moment.draft, moment.draft_written, start.draft, first, end, cell)
    bottom = 6 + len(round_.moments) * MOMENT
    parts += _legend(bottom + 12, words)
    return Figure(document(bottom + 26, words["title"], words["join"].join(titles), parts, language))


def _strip(y: float, name: str, length: int, written: int, before: int, first: int, end: int, cell: float) -> list[str]:
    """Cells from position `first`, with the valid length as an upright bar and as a number."""
    left = MARGIN + LABEL
    parts = [text_at(MARGIN, y + 15, f"{name} {length}", size=14, colour=MUTED)]
    for position in range(first, end):
        style = _style(position, length, written, before)
        parts.append(f'<rect x="{left + (position - first) * cell + 1.5:.1f}" y="{y}" width="{cell - 3:.1f}" height="20" rx="3" {style}/>')
    mark = left + (length - first) * cell
    parts.append(f'<line x1="{mark:.1f}" x2="{mark:.1f}" y1="{y - 4}" y2="{y + 24}" stroke="{INK}" stroke-width="2.5"/>')
    return parts


def _style(position: int, length: int, written: int, before: int) -> str:
    if position < length:
        return f'fill="{ACCENT if position < before else ACCEPT}" fill-opacity="0.75"'
    if position < written:
        return f'fill="none" stroke="{LINE}" stroke-dasharray="3 3"'
    return f'fill="{LINE}" fill-opacity="0.16"'


def _legend(y: float, words: dict[str, str]) -> list[str]:
    parts, x = [], float(MARGIN)
    for key, length, written, before, width in (("valid", 1, 1, 1, 118), ("new", 1, 1, 0, 150), ("stale", 0, 1, 0, 60)):
        parts.append(f'<rect x="{x}" y="{y - 12}" width="14" height="14" rx="3" {_style(0, length, written, before)}/>')
        parts.append(text_at(x + 20, y, words[key], size=14, colour=MUTED))
        x += width
    return parts
