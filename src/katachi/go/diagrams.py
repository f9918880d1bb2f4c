"""Boards as text that parses back, and as SVG.

A diagram knows no rules: it is the stones, whose turn it is, and the point that simple ko forbids.

>>> print(format_diagram(parse_diagram(". X / O ."), last_move=1))
  A B
2 .(X)2
1 O . 1
  A B
Black to play
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.go.points import (
    BLACK,
    COLUMN_LETTERS,
    EMPTY,
    WHITE,
    check_size,
    format_color,
    format_vertex,
    parse_color,
    parse_vertex,
)

_STONES = {".": EMPTY, "+": EMPTY, ",": EMPTY, "X": BLACK, "#": BLACK, "O": WHITE}
_LETTERS = {BLACK: "X", WHITE: "O"}
# Stones, the same in all pictures and on the board in the browser. In a page the first gradient of a name serves all
# that use it; where that one is not shown, the plain color behind it does.
STONE_FILLS = {BLACK: "url(#kb-black) #17171a", WHITE: "url(#kb-white) #f4f2ec"}
STONE_DEFS = (
    '<defs><radialGradient id="kb-black" cx="0.36" cy="0.3" r="0.75"><stop offset="0" stop-color="#6d6d70"/>'
    '<stop offset="0.35" stop-color="#333336"/><stop offset="1" stop-color="#0d0d0f"/></radialGradient>'
    '<radialGradient id="kb-white" cx="0.36" cy="0.3" r="0.8"><stop offset="0" stop-color="#ffffff"/>'
    '<stop offset="0.6" stop-color="#f4f2ec"/><stop offset="1" stop-color="#cfcabd"/></radialGradient></defs>'
)
WOOD = "#e3ba74"
_LINE = "#5d4415"
_TURN = re.compile(r"(black|white) to play(?:, ko at ([a-t]\d+))?", re.IGNORECASE)


class Diagram(NamedTuple):
    """What a diagram shows: colors [n²], the player to move, and the point forbidden by simple ko."""

    size: int
    stones: NDArray[np.int8]
    to_play: int = BLACK
    ko_point: int | None = None


def star_points(size: int) -> list[int]:
    """The points that a board marks: corners, sides and center, as far as the size has room for them."""
    edge = 2 if size < 13 else 3
    if size < 7:
        return [size * size // 2] if size % 2 else []
    lines = [edge, size - 1 - edge]
    corners = [row * size + col for row in lines for col in lines]
    middle = size // 2
    center = [middle * size + middle] if size % 2 else []
    sides = [middle * size + col for col in lines] + [row * size + middle for row in lines]
    return sorted(corners + center + (sides if size % 2 and size > 13 else []))


def parse_diagram(text: str) -> Diagram:
    """Read rows of ``.`` ``X`` (or ``#``) and ``O``, apart or together, each on a line or separated by ``/``.

    Coordinates around the board are passed over, and so is a mark of the last move; a line such as
    ``White to play, ko at C3`` gives the turn. Raises ValueError if what is left is not a square.
    """
    turn = _TURN.search(text)
    lines = (text[: turn.start()] if turn else text).replace("/", "\n").splitlines()
    rows = [re.sub(r"[\s\d()]", "", line) for line in lines]
    rows = [row for row in rows if row and not row.startswith("A")]
    size = check_size(len(rows))
    strange = {letter for row in rows for letter in row} - _STONES.keys()
    if strange or any(len(row) != size for row in rows):
        what = (
            f"{strange.pop()!r} is not a stone"
            if strange
            else f"{size} rows of {sorted({len(r) for r in rows})} points"
        )
        raise ValueError(f"this diagram is not a board: {what}")
    stones = np.array([_STONES[letter] for row in rows for letter in row], dtype=np.int8)
    to_play = parse_color(turn[1]) if turn else BLACK
    return Diagram(size, stones, to_play, parse_vertex(turn[2], size) if turn and turn[2] else None)


def format_diagram(diagram: Diagram, last_move: int | None = None) -> str:
    """Draw a diagram with coordinates; the last move stands in brackets, star points are ``+``."""
    size = diagram.size
    letters = "  " + " ".join(COLUMN_LETTERS[:size])
    width = len(str(size))
    stars = set(star_points(size))
    lines = [" " * (width - 1) + letters]
    for row in range(size):
        points = range(row * size, (row + 1) * size)
        cells = [_LETTERS.get(int(diagram.stones[p]), "+" if p in stars else ".") for p in points]
        gaps = [" "] * (size + 1)
        if last_move is not None and last_move in points:
            gaps[last_move - points[0]], gaps[last_move - points[0] + 1] = "()"
        body = "".join(gap + cell for gap, cell in zip(gaps, cells, strict=False)) + gaps[size]
        lines.append(f"{size - row:>{width}}{body}{size - row}")
    ko = f", ko at {format_vertex(diagram.ko_point, size)}" if diagram.ko_point is not None else ""
    return "\n".join([*lines, lines[0], f"{format_color(diagram.to_play).capitalize()} to play{ko}"])


def draw_svg(
    diagram: Diagram,
    *,
    last_move: int | None = None,
    labels: Mapping[int, str] | None = None,
    shades: Mapping[int, str] | None = None,
    cell: int = 28,
    coordinates: bool = True,
) -> str:
    """Draw a diagram as a self-contained SVG; ``labels`` are short texts by point, ``shades`` colors below them."""
    size = diagram.size
    left = cell * (1.2 if coordinates else 0.65)
    span = cell * (size - 1)
    full = span + 2 * left

    def center(point: int) -> tuple[float, float]:
        row, col = divmod(point, size)
        return left + col * cell, left + row * cell

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full:g} {full:g}" width="{full:g}" '
        f'role="img" aria-label="{size}×{size} Go board" font-family="sans-serif" text-anchor="middle">',
        f'{STONE_DEFS}<rect width="{full:g}" height="{full:g}" rx="{cell * 0.25:g}" fill="{WOOD}"/>',
    ]
    for i in range(size):
        at = left + i * cell
        lines = f"M{left:g} {at:g}h{span:g}M{at:g} {left:g}v{span:g}"
        parts.append(f'<path d="{lines}" stroke="{_LINE}" stroke-width="{min(1, cell / 16):g}"/>')
        for x, y, text in ((at, left * 0.4, COLUMN_LETTERS[i]), (left * 0.3, at, str(size - i))):
            parts += [_svg_text(x, y, text, _LINE, cell * 0.4)] if coordinates else []
    parts += [_svg_circle(*center(p), cell * 0.1, _LINE) for p in star_points(size)]
    parts += [_svg_square(*center(point), cell, color) for point, color in (shades or {}).items()]
    for point in np.flatnonzero(diagram.stones).tolist():
        parts.append(_svg_circle(*center(point), cell * 0.47, STONE_FILLS[int(diagram.stones[point])]))
    for point, text in (labels or {}).items():
        ink = "#fafafa" if diagram.stones[point] == BLACK else "#111"
        parts.append(_svg_text(*center(point), text, ink, cell * 0.45))
    if last_move is not None and last_move >= 0:
        ring = "#fafafa" if diagram.stones[last_move] == BLACK else "#111"
        parts.append(_svg_circle(*center(last_move), cell * 0.24, "none", ring))
    return "".join([*parts, "</svg>"])


def _svg_circle(x: float, y: float, radius: float, fill: str, stroke: str = "none") -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}" stroke="{stroke}"/>'


def _svg_square(x: float, y: float, side: float, fill: str) -> str:
    return f'<rect x="{x - side / 2:g}" y="{y - side / 2:g}" width="{side:g}" height="{side:g}" fill="{fill}"/>'


def _svg_text(x: float, y: float, text: str, fill: str, height: float) -> str:
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<text x="{x:g}" y="{y + height * 0.36:g}" fill="{fill}" font-size="{height:g}">{safe}</text>'
