"""Sheets: many small pictures of one board, each with numbers on its points.

A number is a square on its point, as large as the number: red if it is positive, blue if it is negative. The board
with its stones is drawn once and used again, so that a sheet stays small. Nothing from a file becomes markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.core.drawing import CORNER_CELL, MARGIN, Cell, Shape, board_markup, shape_extent
from katachi.go.board import Board

_ACROSS: Final = 6
_WIDTH: Final = 190.0  # pixels of a small board
_GAP: Final = 18
_CAPTION: Final = 20
_TITLE: Final = 40
_MARK: Final = 0.6  # of the distance between two lines: the side of the square for 1
_SMALLEST: Final = 0.02  # of the same: what is smaller is not drawn
_STYLE: Final = (
    ".kp{font:11px system-ui,sans-serif;fill:#222}.kp .title{font-size:17px;font-weight:600}"
    ".kp .marks{fill:#d2362c;fill-opacity:.85}.kp .negative{fill:#1f5fbf;fill-opacity:.85}"
    "@media(prefers-color-scheme:dark){.kp{fill:#ddd}}"
)


class Picture(NamedTuple):
    """A small board with its numbers."""

    caption: str
    words: str  # what it means, for those who point at it
    values: NDArray[Any]  # [n, n], from −1 to 1


def draw_sheet(title: str, board: Board, pictures: Sequence[Picture]) -> str:
    """Pictures of one board as one SVG, side by side and row below row."""
    shape = Shape(board.size, board.size, tuple(Cell(stone) for stone in board.stones.tolist()), board.size, (0, 0))
    name = f"board-{board.size}-{board.hash:x}"  # a page may hold several sheets
    scale = _WIDTH / shape_extent(shape)[0]
    across, rows = min(len(pictures), _ACROSS), -(-len(pictures) // _ACROSS)
    width, height = across * (_WIDTH + _GAP) - _GAP, _TITLE + rows * (_WIDTH + _CAPTION + _GAP)
    parts = [_draw_picture(place, picture, name, scale) for place, picture in enumerate(pictures)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img"><title>{escape(title)}</title><style>{_STYLE}</style>'
        f'<defs><g id="{name}">{board_markup(shape)}</g></defs>'
        f'<g class="kp"><text class="title" x="0" y="20">{escape(title)}</text>{"".join(parts)}</g></svg>'
    )


def _draw_picture(place: int, picture: Picture, board: str, scale: float) -> str:
    """The board, the marks on it and the caption, in their place on the sheet."""
    row, column = divmod(place, _ACROSS)
    x, y = column * (_WIDTH + _GAP), _TITLE + row * (_WIDTH + _CAPTION + _GAP)
    values = picture.values.astype(np.float64)
    marks = f'<path class="marks" d="{_marks(values)}"/>'
    if negative := _marks(-values):
        marks += f'<path class="negative" d="{negative}"/>'
    return (
        f'<g transform="translate({x:g} {y:g})"><title>{escape(picture.words)}</title>'
        f'<g transform="scale({scale:.4g})"><use href="#{board}"/>{marks}</g>'
        f'<text x="0" y="{_WIDTH + 15:g}">{escape(picture.caption)}</text></g>'
    )


def _marks(values: NDArray[np.float64]) -> str:
    """A square on each point with a positive number, as a path; its area is the number."""
    sides = _MARK * CORNER_CELL * np.sqrt(np.maximum(values, 0))
    places = np.argwhere(sides > _SMALLEST * CORNER_CELL)
    chosen = sides[tuple(places.T)]
    corners = CORNER_CELL * (MARGIN + places) - chosen[:, None] / 2
    return "".join(
        f"M{x:g} {y:g}h{side:g}v{side:g}h{-side:g}z"
        for (y, x), side in zip(corners.tolist(), chosen.tolist(), strict=True)
    )
