"""Layers drawn over a board as SVG, in colors that color-blind readers can tell apart."""

from __future__ import annotations

from typing import Final

from katachi.analysis.layers import Layer
from katachi.go.board import Board
from katachi.go.diagrams import draw_svg
from katachi.go.points import EMPTY

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
