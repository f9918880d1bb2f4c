"""The win-rate graph of a game as SVG: Black's share from below, mistakes as dots, the score as a thin line."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from katachi.analysis.records import LEAST_MISTAKE, PositionRecord
from katachi.analysis.words import tell_loss, tell_value

_WIDTH: Final = 720.0
_HEIGHT: Final = 160.0
_DOT: Final = 4.0


def draw_graph(positions: Sequence[PositionRecord]) -> str:
    """The chances of a game, turn by turn; a turn without one leaves a gap, and hovering tells the numbers."""
    step = _WIDTH / max(1, len(positions) - 1)
    wins = [None if p.black_wins is None else _HEIGHT * (1 - p.black_wins) for p in positions]
    parts = [
        f'<svg class="graph" viewBox="0 -4 {_WIDTH:g} {_HEIGHT + 8:g}" role="img" aria-label="Win rate of Black">',
        f'<path class="middle" d="M0 {_HEIGHT / 2:g}H{_WIDTH:g}"/>',
        f'<path class="lead" d="{_line(_leads(positions), step)}"/>',
        f'<path class="wins" d="{_line(wins, step)}"/>',
    ]
    for turn, (position, height) in enumerate(zip(positions, wins, strict=True)):
        parts.append(_hover(position, turn * step, step))
        move = position.move
        if move is not None and move.loss is not None and move.loss >= LEAST_MISTAKE and height is not None:
            parts.append(f'<circle class="{move.color}" cx="{turn * step:.1f}" cy="{height:.1f}" r="{_DOT:g}"/>')
    return "".join([*parts, "</svg>"])


def _leads(positions: Sequence[PositionRecord]) -> list[float | None]:
    """The score in the same box: the largest lead of the game reaches its edge."""
    most = max((abs(p.black_lead) for p in positions if p.black_lead is not None), default=0.0) or 1.0
    return [None if p.black_lead is None else _HEIGHT / 2 * (1 - p.black_lead / most) for p in positions]


def _line(heights: Sequence[float | None], step: float) -> str:
    parts, pen_is_down = [], False
    for turn, height in enumerate(heights):
        if height is not None:
            parts.append(f"{'L' if pen_is_down else 'M'}{turn * step:.1f} {height:.1f}")
        pen_is_down = height is not None
    return "".join(parts)


def _hover(position: PositionRecord, x: float, step: float) -> str:
    move = position.move
    first = "" if move is None else f"{move.number}. {move.color.capitalize()} {move.move}. "
    text = first + tell_value(position.black_wins, position.black_lead) + (" " + tell_loss(move) if move else "")
    return (
        f'<rect class="hover" x="{x - step / 2:.1f}" y="0" width="{step:.1f}" height="{_HEIGHT:g}">'
        f"<title>{escape(text)}</title></rect>"
    )
