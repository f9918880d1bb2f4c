"""What a model has learned, as a ``Drawing``: for the terminal, as an SVG, as a page, and in the browser.

``draw_model`` asks the system of a model to draw it; of a system without a drawing of its own, and of every model in
a game, it is what the model would play. Below that are the parts that drawings are made of: shapes as small pieces of
a wooden board, figures of the largest weights of every set, sheets of boards with numbers. Nothing from a file
becomes markup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from katachi.core.contracts import Doubles, Evaluator, Floats
from katachi.core.evaluators import moves_of
from katachi.core.registry import resolve, system_of_card
from katachi.go.board import Board
from katachi.go.diagrams import STONE_DEFS, STONE_FILLS, WOOD, draw_svg, format_diagram
from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, MAX_SIZE, format_vertex

if TYPE_CHECKING:
    from katachi.core.models import SavedModel


class DrawingError(ValueError):
    """What cannot be drawn, and why."""


def frame_page(title: str, style: str, body: str) -> str:
    """A whole page that needs nothing else, from its style and its body, which is HTML already."""
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


# Drawings


class Figure(NamedTuple):
    """A picture, which is markup of ours, and a number below it, if there is one."""

    svg: str
    caption: str = ""


class Section(NamedTuple):
    """Pictures that belong together, and words with values below them."""

    title: str
    figures: tuple[Figure, ...]
    rows: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a model has learned."""

    title: str
    lead: str  # what the pictures mean
    sections: tuple[Section, ...]
    svg: str  # all of it as one picture
    text: RenderableType  # for the terminal

    def format_page(self, card: Sequence[tuple[str, str]] = ()) -> str:
        """One page that needs nothing else, with what is known of the model in words and values."""
        sections = "\n".join(_format_section(section) for section in self.sections)
        body = f'<p class="lead">{escape(self.lead, quote=False)}</p>\n{_format_rows(card)}\n{sections}'
        return frame_page(self.title, _PAGE_STYLE, body)


@dataclass(frozen=True, slots=True)
class DrawRequest:
    """What of a model is to be drawn; a system leaves out what does not concern its models."""

    name: str  # what the model is called
    per_set: int | None = None  # pictures of each set; None: as many as a page has room for
    only: tuple[str, ...] = ()  # sets; none of them: all
    beside: tuple[str, ...] = ()  # models to be drawn at its side
    game: Game | None = None  # what it would play there
    board_size: int = MAX_SIZE  # of the empty board where no game is given, for models of all sizes

    def position(self, board_size: int | None) -> Game:
        """The position to evaluate: that of the game, or the empty board of the size that a model is for."""
        return Game(board_size or self.board_size) if self.game is None else self.game


def draw_model(saved: SavedModel[Any], request: DrawRequest) -> Drawing:
    """Draw what a model has learned, as its system does; raises DrawingError if that cannot be."""
    own = system_of_card(saved.card.kind).draw
    draw: Callable[[SavedModel[Any], DrawRequest], Drawing] = draw_moves if own is None else resolve(own)
    return draw(saved, request)


_PAGE_STYLE: Final = """
:root { color-scheme: light dark; --ink: #222; --soft: #777; --paper: #fdfcf9; --line: #ddd6c8; --up: #1b6f4a;
        --down: #a33a2a; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --soft: #999; --paper: #181714; --line: #3c3830;
        --up: #6fd0a0; --down: #f09a86; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
       max-width: 66rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; }
h2 { font-size: 1.1rem; margin: 0 0 .6rem; }
.lead { color: var(--soft); margin-top: 0; max-width: 44rem; }
dl { display: grid; grid-template-columns: fit-content(16rem) 1fr; gap: .15rem 1rem;
     font-variant-numeric: tabular-nums; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
section { border-top: 1px solid var(--line); padding: 1rem 0; break-inside: avoid; }
.shapes { display: flex; flex-wrap: wrap; gap: 1.1rem; align-items: flex-end; }
figure { margin: 0; text-align: center; break-inside: avoid; }
figcaption { font-size: .85rem; font-variant-numeric: tabular-nums; line-height: 1.3; margin-top: .25rem; }
.up { color: var(--up); }
.down { color: var(--down); }
@media print { body { margin: 0; max-width: none; } svg { print-color-adjust: exact; } }
"""


def _format_section(section: Section) -> str:
    title = f"<h2>{escape(section.title)}</h2>\n" if section.title else ""
    rows = f"{_format_rows(section.rows)}\n" if section.rows else ""
    return f"<section>\n{title}{_format_figures(section.figures)}\n{rows}</section>"


def _format_figures(figures: Sequence[Figure]) -> str:
    """Figures side by side; a single one without a caption takes the room that it wants."""
    if len(figures) == 1 and not figures[0].caption:
        return figures[0].svg
    shown = "\n".join(_format_figure(figure) for figure in figures) or "<p>Nothing was learned.</p>"
    return f'<div class="shapes">\n{shown}\n</div>'


def _format_figure(figure: Figure) -> str:
    sign = "down" if figure.caption.startswith("−") else "up"
    return f'<figure>{figure.svg}<figcaption class="{sign}">{escape(figure.caption)}</figcaption></figure>'


def _format_rows(rows: Sequence[tuple[str, str]]) -> str:
    return f"<dl>{''.join(f'<dt>{escape(word)}</dt><dd>{escape(value)}</dd>' for word, value in rows)}</dl>"


# What any model would play in a position: the most probable moves on the board, with their shares in percent

MOVES_SHOWN: Final = 10
_LEAST_SHOWN: Final = 0.01  # of a move on the board
_MOVES_LEAD: Final = "A number on the board says how likely the model finds a move there, in percent."


@dataclass(frozen=True, slots=True)
class PositionPolicy:
    """A position, and what an evaluator says about it."""

    game: Game
    policy: Floats  # [n²+1]
    black_wins: float

    @property
    def title(self) -> str:
        return "Position" if self.game.steps else "Empty board"

    def best(self, count: int = MOVES_SHOWN) -> tuple[tuple[str, str], ...]:
        """The most probable moves and their shares in percent, best first."""
        moves = sorted(moves_of(self.policy > 0), key=lambda move: -self.policy[move])[:count]
        return tuple((format_vertex(move, self.game.size), f"{float(self.policy[move]):.1%}") for move in moves)


def evaluate_position(evaluator: Evaluator, game: Game) -> PositionPolicy:
    """Ask an evaluator about the position of a game."""
    black_wins, policy = evaluator.evaluate([game.board])
    return PositionPolicy(game, policy[0], float(black_wins[0]))


def draw_moves(saved: SavedModel[Any], request: DrawRequest) -> Drawing:
    """What a model of any kind would play."""
    game = request.position(saved.card.board_size)
    position = evaluate_position(saved.load(), game)
    svg = draw_policy(position)
    board = Text(format_diagram(game.board.diagram, game.last_move))
    return Drawing(
        f"What {request.name} would play",
        _MOVES_LEAD,
        (Section(position.title, (Figure(svg),), position.best()),),
        svg,
        Group(Text(), board, show_moves(position)),
    )


def draw_policy(position: PositionPolicy) -> str:
    """The board as an SVG, with the shares of the more probable moves in percent."""
    points = np.flatnonzero(position.policy[:-1] >= _LEAST_SHOWN).tolist()
    labels = {point: f"{100 * position.policy[point]:.0f}" for point in points}
    return draw_svg(position.game.board.diagram, last_move=position.game.last_move, labels=labels)


def show_moves(position: PositionPolicy) -> RenderableType:
    """Who is expected to win, and the most probable moves, for the terminal."""
    table = Table(box=None, show_header=False, pad_edge=False)
    for vertex, percent in position.best():
        table.add_row(vertex, Text(percent, justify="right"))
    return Group(Text(f"Black wins {position.black_wins:.1%}", style="dim"), Text(), table)


# Shapes
#
# A shape that may lie anywhere shows its own points only. One that has a place is drawn where it lies, from the upper
# left corner on; the points around it, of which it says nothing, are pale.


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


CELL: Final = 24  # pixels between two lines
CORNER_CELL: Final = 16  # the same where a corner of the board is shown
_PALE: Final = "#f0dcb4"
_LINE: Final = "#5a4520"
_BLACK: Final = "#1a1a1a"
_WHITE: Final = "#fdfdfa"
MARGIN: Final = 0.62  # of the wood around the outermost points, in cells
_OVERHANG: Final = 0.5  # of lines that continue beyond what is shown, in cells

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
        f'height="{height:g}" role="img"><title>{escape(title)}</title>{STONE_DEFS}{board_markup(shape)}</svg>'
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
        f'role="img"><title>{escape(title)}</title><style>{_FIGURE_STYLE}</style>{STONE_DEFS}'
        f'<g class="kf">{"".join(parts)}</g></svg>'
    )


def list_figures(shapes: Iterable[LearnedShape]) -> tuple[Figure, ...]:
    """Each shape as a picture of its own above its weight."""
    return tuple(
        Figure(draw_shape(learned.shape, describe_shape(learned)), format_weight(learned.weight)) for learned in shapes
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
        _rectangle(x, y, shape.width - 1 + 2 * MARGIN, shape.height - 1 + 2 * MARGIN, WOOD, cell),
        _lines(shape, cell),
    ]
    for i, point in enumerate(shape.cells):
        column, row = x + i % shape.width, y + i // shape.width
        parts += _stone(point, cell * (MARGIN + column), cell * (MARGIN + row), cell)
    return "".join(parts)


def _lines(shape: Shape, cell: float) -> str:
    """The grid: lines end at an edge, which is thick, and continue where the board does."""
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
    ink = _WHITE if point.stone == BLACK else _BLACK
    circle = f'<circle cx="{x:g}" cy="{y:g}" r="{cell * 0.47:g}" fill="{STONE_FILLS[point.stone]}"/>'
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
        f'height="{height:g}" role="img"><title>{escape(title)}</title><style>{_STYLE}</style>{STONE_DEFS}'
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


# Layers: one number for each point of a board, drawn over its stones, as SVG or in a terminal.
#
# Who draws a layer needs to know nothing of players and models. Chances are those of the player to move, in percent;
# what belongs to a color is above 0 where it is Black's. Colors are such that color-blind readers can tell them apart.
# ``analysis/layers.py`` has the kinds of layers, and how each of them is made.

Style = Literal["disc", "square", "tint"]  # over empty points, over all points in the colors of stones, below stones


@dataclass(frozen=True, slots=True)
class Layer:
    """Numbers over a board, and how they are to be shown."""

    name: str
    title: str
    values: Doubles  # [n²], NaN: nothing
    unit: str
    low: float  # the ends of the scale; values may lie beyond
    high: float
    labels: tuple[str, ...] | None  # [n²] short texts, "" where there is none
    legend: str
    style: Style = "tint"

    @property
    def is_diverging(self) -> bool:
        """Whether the scale has a middle: Black's is above 0, White's below."""
        return self.low < 0 < self.high

    def shade(self, point: int) -> float | None:
        """Where a value lies on the scale, 0 to 1; None where there is nothing."""
        value = float(self.values[point])
        if np.isnan(value):
            return None
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def describe(self, point: int) -> str:
        """The number of a point with its unit, empty where there is nothing."""
        value = float(self.values[point])
        if np.isnan(value):
            return ""
        number = f"{value:+.2f}" if self.is_diverging else f"{value:,.1f}".removesuffix(".0")
        return f"{number} {self.unit}".rstrip()


OWNERSHIP_LEGEND: Final = "Whose each point will be, {how}: +1 is surely Black's, −1 surely White's."


def ownership_layer(ownership: NDArray[np.floating[Any]], how: str) -> Layer:
    """Whose each point will be, from [n²] in [−1, 1], with the words for who says so."""
    legend = OWNERSHIP_LEGEND.format(how=how)
    return Layer("territory", "Territory", ownership.astype(np.float64), "", -1.0, 1.0, None, legend, "square")


# Colors and SVG

RGB = tuple[int, int, int]

BLACKS: Final[RGB] = (37, 52, 148)  # dark blue: Black's
WHITES: Final[RGB] = (255, 245, 190)  # pale yellow: White's, or little
_MUCH: Final[RGB] = (88, 140, 222)  # a blue on which black numbers can be read
_OPAQUE: Final = 0.85
_FAINT: Final = 0.4


def shade_color(layer: Layer, point: int) -> tuple[RGB, float] | None:
    """The color of a point and how strong it is, 0 to 1; None where there is nothing.

    On a scale with a middle the color says whose it is and the strength how much; else the color says how much.
    """
    shade = layer.shade(point)
    if shade is None:
        return None
    if layer.is_diverging:
        return (BLACKS, 2 * shade - 1) if shade >= 0.5 else (WHITES, 1 - 2 * shade)
    red, green, blue = (round(low + shade * (high - low)) for low, high in zip(WHITES, _MUCH, strict=True))
    return (red, green, blue), _FAINT + (1 - _FAINT) * shade


def draw_layer(board: Board, layer: Layer, last_move: int | None = None) -> str:
    """A layer over a board, with its labels where no stone is."""
    shades = {}
    for point in range(board.size**2):
        if (found := shade_color(layer, point)) is not None:
            (red, green, blue), strength = found
            shades[point] = f"rgba({red},{green},{blue},{_OPAQUE * strength:.2f})"
    labels = {point: text for point, text in enumerate(layer.labels or ()) if text and board[point] == EMPTY}
    return draw_svg(board.diagram, last_move=last_move, labels=labels, shades=shades)


# The terminal

NUMBERS_SHOWN: Final = 8
_LEAST_STRENGTH: Final = 0.15  # of a color: what is fainter cannot be told from the terminal's own
_BRIGHT: Final = 128


def format_board(board: Board, last_move: int | None, layer: Layer | None = None) -> Text:
    """A board with stones in two colors, over a layer if there is one."""
    text = Text(format_diagram(board.diagram, last_move))
    text.highlight_regex(r"(?<=[ (])X(?=[ )])", "bold cyan")
    text.highlight_regex(r"(?<=[ (])O(?=[ )])", "bold yellow")
    if layer is not None:
        _color_points(text, board.size, layer)
    return text


def _color_points(text: Text, size: int, layer: Layer) -> None:
    """Color each point and the gap before it."""
    starts = [0, *accumulate(len(line) + 1 for line in text.plain.splitlines())]
    for point in range(size * size):
        found = shade_color(layer, point)
        if found is not None and found[1] >= _LEAST_STRENGTH:
            row, column = divmod(point, size)
            start = starts[row + 1] + len(str(size)) + 2 * column
            text.stylize(_style(found[0]), start, start + 2)


def _style(color: RGB) -> str:
    red, green, blue = color
    ink = "black" if 0.3 * red + 0.59 * green + 0.11 * blue > _BRIGHT else "white"
    return f"{ink} on #{red:02x}{green:02x}{blue:02x}"


def show_layer(game: Game, layer: Layer, more: RenderableType) -> RenderableType:
    """A board over a layer with its legend, and more below; the sum of what belongs to colors says who leads."""
    lead = float(np.nansum(layer.values))
    leader = "Black" if lead > 0 else "White"
    legend = Text(f"{layer.legend} {leader} is ahead by {abs(lead):.1f} points on the board.", style="dim")
    return Group(Text(), format_board(game.board, game.last_move, layer), legend, more)


def describe_layer(layer: Layer, size: int) -> str:
    """What a layer is, and its numbers farthest from 0: ``Search visits: D4 120 visits, E5 31 visits``."""
    order = np.argsort(-np.abs(np.nan_to_num(layer.values)), kind="stable")[:NUMBERS_SHOWN].tolist()
    found = [f"{format_vertex(point, size)} {layer.describe(point)}" for point in order if layer.describe(point)]
    return f"{layer.title}: {', '.join(found) or 'nothing'}\n{layer.legend}"
