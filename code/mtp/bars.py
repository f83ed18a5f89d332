"""Stacked bars for notebook cells: where time goes, side by side in one scale."""

from __future__ import annotations

from collections.abc import Mapping

from .figures import ACCENT, ACCEPT, LINE, MARGIN, MUTED, WIDTH, Figure, document, text_at
from .language import check_language

# Colour and opacity of the parts, in order; the legend and the order carry the meaning too.
STYLES = ((ACCENT, 0.85), (ACCEPT, 0.6), (LINE, 0.5))
ROW = 56.0


def draw_shares(rows: Mapping[str, Mapping[str, float]], unit: str, language: str | None = None) -> Figure:
    """Draw a bar for each row, made of its parts, all in one scale.

    Args:
        rows: caption → part → size, at least 0; all rows have the same one to three parts, in the same order.
        unit: what sizes are given in, for example `"ms"`.

    Raises:
        ValueError: no rows, rows of different parts, a negative size, nothing but zeros, or an unknown language.
    """
    language = check_language(language)
    parts = _parts(rows)
    largest = max(sum(row.values()) for row in rows.values())
    if not largest > 0:
        raise ValueError("rows must hold a size above 0")
    drawn: list[str] = []
    for index, (caption, row) in enumerate(rows.items()):
        y, x = 6 + index * ROW, float(MARGIN)
        total = sum(row.values())
        drawn.append(text_at(MARGIN, y + 15, caption, size=15, weight=600))
        drawn.append(text_at(WIDTH - MARGIN, y + 15, f"{total:.2f} {unit}", size=14, anchor="end", colour=MUTED))
        for (colour, opacity), size in zip(STYLES, row.values()):
            width = size / largest * (WIDTH - 2 * MARGIN)
            drawn.append(f'<rect x="{x:.1f}" y="{y + 23}" width="{width:.1f}" height="20" fill="{colour}" fill-opacity="{opacity}"/>')
            x += width
    bottom = 6 + len(rows) * ROW
    for index, ((colour, opacity), part) in enumerate(zip(STYLES, parts)):
        y = bottom + 14 + 22 * index
        drawn.append(f'<rect x="{MARGIN}" y="{y - 12}" width="14" height="14" rx="3" fill="{colour}" fill-opacity="{opacity}"/>')
        drawn.append(text_at(MARGIN + 22, y, part, size=14, colour=MUTED))
    description = "; ".join(f"{caption}: " + ", ".join(f"{part} {size:.2f} {unit}" for part, size in row.items()) for caption, row in rows.items())
    return Figure(document(bottom + 22 * len(parts) + 2, ", ".join(parts), description, drawn, language))


def _parts(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    if not rows:
        raise ValueError("rows must hold at least one bar")
    parts = list(next(iter(rows.values())))
    if not 1 <= len(parts) <= len(STYLES):
        raise ValueError(f"rows must have 1 to {len(STYLES)} parts, not {len(parts)}")
    for caption, row in rows.items():
        if list(row) != parts:
            raise ValueError(f"rows[{caption!r}] has the parts {list(row)!r}, not {parts!r}")
        for part, size in row.items():
            if not 0 <= size < float("inf"):
                raise ValueError(f"rows[{caption!r}][{part!r}] must be at least 0 and finite, not {size!r}")
    return parts
