"""Planes as a picture: a small board for each of them, with its points marked, on one sheet.

The board with its stones is drawn once and used again, so that a sheet stays small. Nothing from a file becomes markup.
"""

from __future__ import annotations

from html import escape
from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.drawing.shapes import Cell, Shape
from katachi.drawing.svg import CORNER_CELL, MARGIN, board_markup, shape_extent
from katachi.features.planes import HIGHEST_RANK, PlaneSet
from katachi.go.board import Board

_ACROSS: Final = 6
_WIDTH: Final = 190.0  # pixels of a small board
_GAP: Final = 18
_CAPTION: Final = 20
_TITLE: Final = 40
_MARK: Final = 0.6  # of the distance between two lines
_STYLE: Final = (
    ".kp{font:11px system-ui,sans-serif;fill:#222}.kp .title{font-size:17px;font-weight:600}"
    ".kp .marks{fill:#d2362c;fill-opacity:.85}@media(prefers-color-scheme:dark){.kp{fill:#ddd}}"
)


def draw_planes(planes: PlaneSet, board: Board, rank: int = HIGHEST_RANK) -> str:
    """All planes of a position as one SVG, each with its name below, and what it means for those who point at it."""
    (encoded,) = planes.encode([board], rank)
    shape = Shape(board.size, board.size, tuple(Cell(stone) for stone in board.stones.tolist()), board.size, (0, 0))
    name = f"board-{board.size}-{board.hash:x}"  # a page may hold several sheets
    title = f"{planes.name}: {planes.count} planes"
    rows = -(-planes.count // _ACROSS)
    width, height = _ACROSS * (_WIDTH + _GAP) - _GAP, _TITLE + rows * (_WIDTH + _CAPTION + _GAP)
    parts = [
        _draw_plane(planes, plane, encoded[plane], name, _WIDTH / shape_extent(shape)[0])
        for plane in range(planes.count)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img"><title>{escape(title)}</title><style>{_STYLE}</style>'
        f'<defs><g id="{name}">{board_markup(shape)}</g></defs>'
        f'<g class="kp"><text class="title" x="0" y="20">{escape(title)}</text>{"".join(parts)}</g></svg>'
    )


def _draw_plane(planes: PlaneSet, plane: int, points: NDArray[np.uint8], board: str, scale: float) -> str:
    """The board, the marks on it and the name of a plane, in its place on the sheet."""
    row, column = divmod(plane, _ACROSS)
    x, y = column * (_WIDTH + _GAP), _TITLE + row * (_WIDTH + _CAPTION + _GAP)
    return (
        f'<g transform="translate({x:g} {y:g})"><title>{escape(planes.describe(plane))}</title>'
        f'<g transform="scale({scale:.4g})"><use href="#{board}"/><path class="marks" d="{_marks(points)}"/></g>'
        f'<text x="0" y="{_WIDTH + 15:g}">{plane} {escape(planes.names[plane])}</text></g>'
    )


def _marks(points: NDArray[np.uint8]) -> str:
    """A square on each point of a plane, as a path."""
    side = _MARK * CORNER_CELL
    corners = CORNER_CELL * (MARGIN + np.argwhere(points)) - side / 2
    return "".join(f"M{x:g} {y:g}h{side:g}v{side:g}h{-side:g}z" for y, x in corners.tolist())
