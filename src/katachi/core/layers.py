"""Layers: one number for each point of a board, drawn over its stones, as SVG or in a terminal.

Who draws a layer needs to know nothing of players and models. Chances are those of the player to move, in percent;
what belongs to a color is above 0 where it is Black's. Colors are such that color-blind readers can tell them apart.
``analysis/layers.py`` has the kinds of layers, and how each of them is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.text import Text

from katachi.core.contracts import Doubles
from katachi.go.board import Board
from katachi.go.diagrams import draw_svg, format_diagram
from katachi.go.game import Game
from katachi.go.points import EMPTY, format_vertex

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
