"""Layers in a terminal: the board with colored points, and the numbers that stand out."""

from __future__ import annotations

from itertools import accumulate
from typing import Final

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from katachi.analysis.layers import RGB, Layer, shade_color
from katachi.go.board import Board
from katachi.go.diagrams import format_diagram
from katachi.go.game import Game
from katachi.go.points import format_vertex

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
    """A board over a layer with what it means, and more below; the sum of what belongs to colors tells who leads."""
    lead = float(np.nansum(layer.values))
    leader = "Black" if lead > 0 else "White"
    told = Text(f"{layer.legend} {leader} is ahead by {abs(lead):.1f} points on the board.", style="dim")
    return Group(Text(), format_board(game.board, game.last_move, layer), told, more)


def tell_layer(layer: Layer, size: int) -> str:
    """What a layer is, and its numbers farthest from 0: ``Search visits: D4 120 visits, E5 31 visits``."""
    order = np.argsort(-np.abs(np.nan_to_num(layer.values)), kind="stable")[:NUMBERS_SHOWN].tolist()
    told = [f"{format_vertex(point, size)} {layer.tell(point)}" for point in order if layer.tell(point)]
    return f"{layer.title}: {', '.join(told) or 'nothing'}\n{layer.legend}"
