"""Shapes as SVG: small pieces of a wooden board, and a figure of the largest weights of every set.

A shape that may lie anywhere shows its own points only. One that has a place is drawn where it lies, from the upper
left corner on; the points around it, of which it says nothing, are pale. Nothing from a file becomes markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from katachi.go.board import Board
from katachi.go.points import BLACK, EMPTY

# The frame of a page that needs nothing else: its style inline, its title escaped, fit for small screens.


def frame_page(title: str, style: str, body: str) -> str:
    """A whole page from its body, which is HTML already."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<h1>{escape(title)}</h1>
{body}
</body>
</html>
"""


class DrawingError(ValueError):
    """What cannot be drawn, and why."""


class Cell(NamedTuple):
    """A point of a shape."""

    stone: int  # BLACK is the mover
    liberties: int | None = None  # that its chain has outside of the shape, 2 for more; None if the shape does not say


@dataclass(frozen=True, slots=True)
class Shape:
    """A small rectangle of a board, its cells row by row."""

    width: int
    height: int
    cells: tuple[Cell, ...]
    board_size: int
    place: tuple[int, int] | None = None  # distances from the left and the top; None is anywhere


@dataclass(frozen=True, slots=True)
class LearnedShape:
    """A weight and what it stands for."""

    index: int  # of the feature
    weight: float
    words: str
    shape: Shape | None  # None where many shapes share a bin


@dataclass(frozen=True, slots=True)
class LearnedSet:
    """The largest weights of a set, the largest of either sign first."""

    name: str
    shapes: tuple[LearnedShape, ...]


# Svg

CELL: Final = 24  # pixels between two lines
CORNER_CELL: Final = 16  # the same where a corner of the board is shown
_WOOD: Final = "#e3b867"
_PALE: Final = "#f0dcb4"
_LINE: Final = "#5a4520"
_BLACK: Final = "#1a1a1a"
_WHITE: Final = "#fdfdfa"
MARGIN: Final = 0.62  # of the wood around the outermost points, in cells
_OVERHANG: Final = 0.5  # of lines that go on beyond what is shown, in cells

_LABELS: Final = 170  # pixels that the names of sets take in a figure
_CAPTION: Final = 22  # pixels below a shape, for its weight
_GAP: Final = 16
_NARROWEST: Final = 58.0  # pixels, so that weights do not touch
_TITLE: Final = 44

# Inside a figure alone: a page styles its own text.
_FIGURE_STYLE: Final = (
    ".kf{font:13px system-ui,sans-serif;fill:#222}.kf .up{fill:#1b6f4a}.kf .down{fill:#a33a2a}"
    ".kf .title{font-size:17px;font-weight:600}.kf .name{font-weight:600}"
    "@media(prefers-color-scheme:dark){.kf{fill:#ddd}.kf .up{fill:#6fd0a0}.kf .down{fill:#f09a86}}"
)


def draw_shape(shape: Shape | None, title: str = "a shape") -> str:
    """A shape as an SVG of its own, or a question mark; the title is for readers who see no pictures."""
    width, height = shape_extent(shape)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img"><title>{escape(title)}</title>{board_markup(shape)}</svg>'
    )


def draw_figure(sets: Sequence[LearnedSet], title: str = "The largest weights of each set") -> str:
    """All sets as one picture: a row for each, its shapes side by side, each with its weight below."""
    pitches = [_pitch(row) for row in sets]
    width = _LABELS + max((wide * len(row.shapes) for row, (wide, _) in zip(sets, pitches, strict=True)), default=0)
    parts, y = [f'<text class="title" x="0" y="20">{escape(title)}</text>'], float(_TITLE)
    for row, (wide, high) in zip(sets, pitches, strict=True):
        middle = y + (high - _CAPTION) / 2
        parts.append(f'<text class="name" x="0" y="{middle + 4:g}">{escape(row.name)}</text>')
        for column, learned in enumerate(row.shapes):
            parts.append(_figure_cell(learned, _LABELS + column * wide, y, wide - _GAP, high - _CAPTION))
        y += high + _GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {y:g}" width="{width:g}" height="{y:g}" '
        f'role="img"><title>{escape(title)}</title><style>{_FIGURE_STYLE}</style>'
        f'<g class="kf">{"".join(parts)}</g></svg>'
    )


def format_weight(weight: float) -> str:
    """A weight with its sign, a true minus, and three figures."""
    return f"{weight:+.3f}".replace("-", "−")


def describe_shape(learned: LearnedShape) -> str:
    """A learned shape in words: what it is, and its weight."""
    return f"{learned.words}: {format_weight(learned.weight)}"


# Figures


def _pitch(row: LearnedSet) -> tuple[float, float]:
    """What each shape of a row takes, across with the gap, and down with the caption."""
    extents = [shape_extent(learned.shape) for learned in row.shapes] or [(0.0, 0.0)]
    return max(_NARROWEST, *(width for width, _ in extents)) + _GAP, max(height for _, height in extents) + _CAPTION


def _figure_cell(learned: LearnedShape, x: float, y: float, width: float, height: float) -> str:
    """A shape above its weight, in the middle of the place that it has."""
    across, down = shape_extent(learned.shape)
    sign = "up" if learned.weight > 0 else "down"
    middle = x + width / 2
    caption = f'<text class="{sign}" x="{middle:g}" y="{y + height + 17:g}">{format_weight(learned.weight)}</text>'
    drawn = f'<g transform="translate({middle - across / 2:g} {y + height - down:g})">{board_markup(learned.shape)}</g>'
    return f'<g text-anchor="middle"><title>{escape(describe_shape(learned))}</title>{drawn}{caption}</g>'


# Boards


def _shown(shape: Shape) -> tuple[int, int]:
    """How many lines of the board are shown, across and down: one more than the shape takes, if it has a place."""
    if shape.place is None:
        return shape.width, shape.height
    x, y = shape.place
    return min(x + shape.width + 1, shape.board_size), min(y + shape.height + 1, shape.board_size)


def shape_extent(shape: Shape | None) -> tuple[float, float]:
    """Width and height of a drawing in pixels."""
    if shape is None:
        return 2.0 * CELL, 2.0 * CELL
    across, down = _shown(shape)
    return _cell(shape) * (across - 1 + 2 * MARGIN), _cell(shape) * (down - 1 + 2 * MARGIN)


def _cell(shape: Shape) -> int:
    return CELL if shape.place is None else CORNER_CELL


def board_markup(shape: Shape | None) -> str:
    """Wood, lines, and the stones of a shape; the first point is at ``MARGIN`` from the upper left."""
    if shape is None:
        return _rectangle(0, 0, 2, 2, _PALE, CELL) + _text(CELL, CELL, "?", _LINE, CELL)
    cell = _cell(shape)
    across, down = (lines - 1 + 2 * MARGIN for lines in _shown(shape))
    x, y = shape.place or (0, 0)
    parts = [
        _rectangle(0, 0, across, down, _PALE, cell),
        _rectangle(x, y, shape.width - 1 + 2 * MARGIN, shape.height - 1 + 2 * MARGIN, _WOOD, cell),
        _lines(shape, cell),
    ]
    for i, point in enumerate(shape.cells):
        column, row = x + i % shape.width, y + i // shape.width
        parts += _stone(point, cell * (MARGIN + column), cell * (MARGIN + row), cell)
    return "".join(parts)


def _lines(shape: Shape, cell: float) -> str:
    """The grid: lines end at an edge, which is thick, and go on where the board does."""
    across, down = _shown(shape)
    placed = shape.place is not None
    before = MARGIN - (0 if placed else _OVERHANG)
    right, bottom = (
        MARGIN + shown - 1 + (0 if placed and shown == shape.board_size else _OVERHANG) for shown in (across, down)
    )
    thin = [(before, MARGIN + row, right, MARGIN + row) for row in range(down)]
    thin += [(MARGIN + column, before, MARGIN + column, bottom) for column in range(across)]
    edges = [(before, before, right, before), (before, before, before, bottom)] if placed else []
    edges += [(right, before, right, bottom)] * (placed and across == shape.board_size)
    edges += [(before, bottom, right, bottom)] * (placed and down == shape.board_size)
    return _path(thin, 1, cell) + (_path(edges, 2.2, cell) if edges else "")


def _path(lines: Iterable[tuple[float, float, float, float]], width: float, cell: float) -> str:
    moves = "".join(f"M{cell * a:g} {cell * b:g}L{cell * c:g} {cell * d:g}" for a, b, c, d in lines)
    return f'<path d="{moves}" stroke="{_LINE}" stroke-width="{width:g}" stroke-linecap="square" fill="none"/>'


def _rectangle(x: float, y: float, width: float, height: float, fill: str, cell: float) -> str:
    left, top, wide, high = (cell * value for value in (x, y, width, height))
    return f'<rect x="{left:g}" y="{top:g}" width="{wide:g}" height="{high:g}" rx="{cell * 0.2:g}" fill="{fill}"/>'


def _stone(point: Cell, x: float, y: float, cell: float) -> list[str]:
    """A stone with its external liberties, or nothing."""
    if point.stone == EMPTY:
        return []
    fill, ink = (_BLACK, _WHITE) if point.stone == BLACK else (_WHITE, _BLACK)
    circle = f'<circle cx="{x:g}" cy="{y:g}" r="{cell * 0.46:g}" fill="{fill}" stroke="{_BLACK}" stroke-width="0.8"/>'
    if point.liberties is None:
        return [circle]
    text = ("0", "1", "2+")[point.liberties]
    return [circle, _text(x, y, text, ink, cell * 0.46)]


def _text(x: float, y: float, text: str, fill: str, height: float) -> str:
    return (
        f'<text x="{x:g}" y="{y + height * 0.36:g}" font-size="{height:g}" font-family="system-ui,sans-serif" '
        f'text-anchor="middle" style="fill:{fill}">{text}</text>'
    )


# Sheets: many small pictures of one board, each with numbers on its points.
#
# A number is a square on its point, as large as the number: red if it is positive, blue if it is negative. The board
# with its stones is drawn once and used again, so that a sheet stays small. Nothing from a file becomes markup.

_ACROSS: Final = 6
_WIDTH: Final = 190.0  # pixels of a small board
_SHEET_GAP: Final = 18
_SHEET_CAPTION: Final = 20
_SHEET_TITLE: Final = 40
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
    width, height = (
        across * (_WIDTH + _SHEET_GAP) - _SHEET_GAP,
        _SHEET_TITLE + rows * (_WIDTH + _SHEET_CAPTION + _SHEET_GAP),
    )
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
    x, y = column * (_WIDTH + _SHEET_GAP), _SHEET_TITLE + row * (_WIDTH + _SHEET_CAPTION + _SHEET_GAP)
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


# Shapes for the terminal: the largest weights of each set side by side; ``X`` is the mover, ``O`` the opponent.

_STYLES = {"X": "bold cyan", "O": "bold yellow", ".": "dim"}


def show_sets(sets: Sequence[LearnedSet]) -> RenderableType:
    """All sets, one below the other."""
    return Group(*(_show_set(learned) for learned in sets))


def show_card(rows: Sequence[tuple[str, str]]) -> RenderableType:
    """What is known of a model, a line for each."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", max_width=32)
    table.add_column(overflow="fold")
    for word, value in rows:
        table.add_row(word, Text(value))
    return table


def draw_text(shape: Shape) -> str:
    """A shape as lines of text: the edges of the board where it has a place, dots for empty points."""
    letters = [_letters(cell) for cell in shape.cells]
    step = max(map(len, letters)) + 1
    rows = range(0, len(letters), shape.width)
    lines = ["".join(f"{word:{step}}" for word in letters[row : row + shape.width]).rstrip() for row in rows]
    if shape.place is None:
        return "\n".join(lines)
    x, y = shape.place
    lines = [""] * y + [" " * step * x + line for line in lines]
    return "\n".join(["┌" + "─" * step * (x + shape.width), *(f"│ {line}".rstrip() for line in lines)])


def _letters(cell: Cell) -> str:
    """A stone with its liberties, where the shape has them."""
    if cell.stone == EMPTY:
        return "."
    letter = "X" if cell.stone == BLACK else "O"
    return letter if cell.liberties is None else f"{letter}{cell.liberties}"


def _show_set(learned: LearnedSet) -> RenderableType:
    title = Text(f"\n{learned.name}", style="bold")
    if not learned.shapes:
        return Group(title, Text("  nothing was learned", style="dim"))
    return Group(title, Padding(Columns([_show_shape(shape) for shape in learned.shapes], equal=True), (0, 0, 0, 1)))


def _show_shape(learned: LearnedShape) -> RenderableType:
    drawing = Text(draw_text(learned.shape) if learned.shape else f"? ({learned.words})")
    for letter, style in _STYLES.items():
        drawing.highlight_regex(rf"{'[.]' if letter == '.' else letter + '[012]?'}", style)
    weight = Text(format_weight(learned.weight), style="green" if learned.weight > 0 else "red")
    return Panel(Group(drawing, weight), box=box.MINIMAL, expand=False, padding=(0, 1))
