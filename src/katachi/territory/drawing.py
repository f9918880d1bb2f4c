"""Influence as a picture: a small board for each rule, marked where Black is felt more than White, and the
reverse.
"""

from __future__ import annotations

from collections.abc import Mapping

from katachi.core.contracts import Floats
from katachi.core.drawing import Picture, draw_sheet
from katachi.features.influence import INFLUENCES, AnyInfluence, GroupKind, map_influence
from katachi.go.board import Board
from katachi.territory.inputs import PointInputs


def draw_influence(
    board: Board, influences: Mapping[str, AnyInfluence] = INFLUENCES, group: GroupKind = "chain"
) -> str:
    """Black's influence less White's by each of some rules, side by side as one SVG."""
    pictures = []
    for name, influence in influences.items():
        black, white = map_influence(board, influence, group)
        words = f"{name}: red where Black is felt more, blue where White is"
        pictures.append(Picture(name, words, (black - white).reshape(board.size, board.size)))
    return draw_sheet("Influence", board, pictures)


# Point inputs as a picture: a small board for each thing that a network is told of a point, on one sheet.


def draw_point_inputs(inputs: PointInputs, board: Board, propensity: Floats | None = None) -> str:
    """What is told of each point itself as one SVG; of its neighbors the same is told, so that they are not drawn.

    Without a table all propensities are 0.
    """
    (encoded,) = inputs.encode([board], propensity)
    grids = encoded.T.reshape(inputs.d, board.size, board.size)
    pictures = [Picture(inputs.names[i], inputs.describe(i), grids[i]) for i in inputs.own]
    return draw_sheet(f"{inputs.d} inputs of a point", board, pictures)
