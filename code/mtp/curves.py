"""Curves for notebook cells: points joined by lines, with axes and a legend, in the page's colours and the reader's fonts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .figures import ACCENT, ACCEPT, INK, LINE, MUTED, REJECT, WIDTH, Figure, number
from .language import check_language

LEFT, TOP, HEIGHT = 48.0, 16.0, 210.0
RIGHT = 24.0  # half of the last number under the axis, five digits long, reaches into it
# Told apart by colour and by dash, so that colour alone carries nothing.
STYLES = ((ACCENT, ""), (REJECT, "7 4"), (ACCEPT, "2 4"), (INK, "10 3 2 3"))

Points = Sequence[tuple[float, float]]


def draw_curves(curves: dict[str, Points], x_title: str, y_title: str, language: str | None = None, dots: bool = True) -> Figure:
    """Draw `curves` (name → points (x, y), both at least 0) into one pair of axes that start at 0.

    Args:
        dots: mark the points; without, only the line through them is drawn.

    Raises:
        ValueError: no curve, an empty one, more than four, a negative coordinate, or an unknown language.
    """
    language = check_language(language)
    if not 1 <= len(curves) <= len(STYLES):
        raise ValueError(f"curves must hold 1 to {len(STYLES)} curves, not {len(curves)}")
    for name, points in curves.items():
        if not points or any(min(point) < 0 for point in points):
            raise ValueError(f"curves[{name!r}] must hold points with coordinates of at least 0, not {points!r}")
    x_end = _round_up(max(x for points in curves.values() for x, _ in points))
    y_end = _round_up(max(y for points in curves.values() for _, y in points))
    parts = [*_axes(x_end, y_end, x_title, y_title)]
    for (colour, dash), (name, points) in zip(STYLES, curves.items()):
        parts += _curve([_place(point, x_end, y_end) for point in points], colour, dash, dots)
    bottom = TOP + HEIGHT + 64
    for index, ((colour, dash), name) in enumerate(zip(STYLES, curves)):
        y = bottom + 22 * index
        parts.append(f'<line x1="{LEFT}" x2="{LEFT + 30}" y1="{y - 5}" y2="{y - 5}" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dash}"/>')
        parts.append(_text(LEFT + 40, y, name))
    height = bottom + 22 * len(curves)
    label = escape(f"{y_title} / {x_title}: {', '.join(curves)}", quote=True)
    tag = "zh-CN" if language == "zh" else "en"
    return Figure(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" lang="{tag}" aria-label="{label}" '
        f'width="100%" style="font-family:inherit;color:inherit;height:auto;display:block">{"".join(parts)}</svg>'
    )


def _round_up(value: float) -> float:
    """The next of 1, 2, 4, 8 times a power of ten, so that a quarter of the axis is a readable number."""
    power = 1.0
    while value > 0 and power > value:
        power /= 10
    while power * 10 < value:
        power *= 10
    return next((power * step for step in (1, 2, 4, 8, 10) if power * step >= value * (1 - 1e-9)), 1.0)


def _place(point: tuple[float, float], x_end: float, y_end: float) -> tuple[float, float]:
    return LEFT + point[0] / x_end * (WIDTH - LEFT - RIGHT), TOP + HEIGHT * (1 - point[1] / y_end)


def _axes(x_end: float, y_end: float, x_title: str, y_title: str) -> list[str]:
    parts = [_text(LEFT, 11, y_title, colour=MUTED), _text(WIDTH - RIGHT, TOP + HEIGHT + 38, x_title, "end", MUTED)]
    for step in range(5):
        x, y = _place((x_end * step / 4, y_end * step / 4), x_end, y_end)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="{LINE}" stroke-opacity="0.35"/>')
        parts.append(_text(LEFT - 7, y + 5, number(y_end * step / 4), "end", MUTED))
        parts.append(_text(x, TOP + HEIGHT + 19, number(x_end * step / 4), "middle", MUTED))
    return parts


def _curve(points: Points, colour: str, dash: str, dots: bool) -> list[str]:
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    marks = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in points if dots]
    return [f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dash}"/>', *marks]


def _text(x: float, y: float, text: str, anchor: str = "start", colour: str = INK) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="14" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
