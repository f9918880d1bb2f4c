"""Curves as a small SVG: shares by steps, with a few numbers on the axes. Every text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from katachi.web.watched_runs import Curve

_WIDTH: Final = 480
_HEIGHT: Final = 200  # of the frame itself
_LEFT: Final = 54
_LINE: Final = 19  # of text
_COLORS: Final = ("#1d5fa8", "#b3224f", "#2b8a6e", "#8a5a00")  # that color-blind people can tell apart


def draw_chart(curves: Sequence[Curve]) -> str:
    """All curves in one frame, from 0 to 100 %; above it what each is, and where it stands."""
    furthest = max((x for curve in curves for x, _ in curve.points), default=1.0) or 1.0
    top = _LINE * (len(curves) + 1)
    bottom = top + _HEIGHT
    parts = [f'<svg class="kc" viewBox="0 0 {_WIDTH + 6} {bottom + _LINE + 8}" role="img">']
    for percent in range(0, 101, 25):
        y = bottom - _HEIGHT * percent / 100
        parts.append(f'<path class="kc-line" d="M{_LEFT} {y:.1f}H{_WIDTH}"/>')
        parts.append(f'<text class="kc-text" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{percent} %</text>')
    parts.append(f'<text class="kc-text" x="{_LEFT}" y="{bottom + _LINE}">0</text>')
    parts.append(f'<text class="kc-text" x="{_WIDTH}" y="{bottom + _LINE}" text-anchor="end">{furthest:,.0f}</text>')
    for number, curve in enumerate(curves):
        parts.append(_draw_curve(curve, furthest, bottom, number))
    return "".join([*parts, "</svg>"])


def _draw_curve(curve: Curve, furthest: float, bottom: int, number: int) -> str:
    color = _COLORS[number % len(_COLORS)]
    places = [(_LEFT + (_WIDTH - _LEFT) * x / furthest, bottom - _HEIGHT * y) for x, y in curve.points]
    line = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    x, y = places[-1]
    last = f"{escape(curve.name)} {100 * curve.points[-1][1]:.0f} %"
    return (
        f'<path d="{line}" fill="none" stroke="{color}" stroke-width="2.4" stroke-linejoin="round"/>'
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}"/>'
        f'<text class="kc-text" x="{_LEFT}" y="{_LINE * (number + 1) - 4}" style="fill:{color}">{last}</text>'
    )
