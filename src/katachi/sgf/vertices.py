"""Property values that name points: moves, stones and rectangles of stones.

>>> read_move("ba", 9), read_move("tt", 9), read_move("", 9)
(1, -1, -1)
>>> sorted(read_points(["aa:ba", "cc"], 3))
[0, 1, 8]
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from katachi.go.points import PASS, format_sgf_point, parse_vertex
from katachi.sgf.escaping import unescape_simple
from katachi.sgf.repairs import RepairKind, Report, ignore, shorten


@cache
def move_table(size: int) -> dict[str, int]:
    """Moves by their text. ``tt`` is a pass where it is off the board, which on 19×19 and smaller boards it is."""
    return {format_sgf_point(point, size): point for point in range(size * size)} | {"": PASS, "tt": PASS}


def read_move(value: str, size: int, report: Report = ignore, where: str = "") -> int | None:
    """The move that a value of B or W tells, None if it tells none."""
    table = move_table(size)
    if value in table:
        return table[value]
    text = unescape_simple(value)
    move = table.get(text.lower(), _read_vertex(text, size))
    what = f"{shorten(text)} is no point of a {size}×{size} board and was left out"
    if move is not None:
        what = f"{shorten(text)} read as {shorten(format_sgf_point(move, size))}"
    report(RepairKind.POINT, where, what)
    return move


def _read_vertex(text: str, size: int) -> int | None:
    """A vertex such as ``Q16`` or ``pass``, which some programs write instead of letters."""
    try:
        return parse_vertex(text, size)
    except ValueError:
        return None


def read_points(values: Iterable[str], size: int, report: Report = ignore, where: str = "") -> list[int]:
    """The points of a list property, rectangles such as ``aa:cc`` unfolded, each point once."""
    points: dict[int, None] = {}
    for value in dict.fromkeys(values):  # a rectangle said a million times is unfolded once
        if ":" in value:
            points.update(dict.fromkeys(_read_rectangle(value, size, report, where)))
        else:
            point = read_move(value, size, report, where)
            if point == PASS:
                report(RepairKind.POINT, where, f"{shorten(value)} names no point and was left out")
            elif point is not None:
                points[point] = None
    return list(points)


def _read_rectangle(value: str, size: int, report: Report, where: str) -> list[int]:
    corners = [read_move(corner, size, report, where) for corner in value.split(":", 1)]
    points = [corner for corner in corners if corner is not None and corner != PASS]
    if len(points) < 2:
        report(RepairKind.POINT, where, f"{shorten(value)} is no rectangle and was left out")
        return []
    top, bottom = sorted(point // size for point in points)
    left, right = sorted(point % size for point in points)
    return [row * size + col for row in range(top, bottom + 1) for col in range(left, right + 1)]
