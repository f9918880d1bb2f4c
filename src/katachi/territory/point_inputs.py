"""Point inputs as a picture: a small board for each thing that a network is told of a point, on one sheet."""

from __future__ import annotations

from katachi.core.contracts import Floats
from katachi.core.drawing import Picture, draw_sheet
from katachi.go.board import Board
from katachi.territory.inputs import PointInputs


def draw_point_inputs(inputs: PointInputs, board: Board, propensity: Floats | None = None) -> str:
    """What is told of each point itself as one SVG; of its neighbors the same is told, so that they are not drawn.

    Without a table all propensities are 0.
    """
    (encoded,) = inputs.encode([board], propensity)
    grids = encoded.T.reshape(inputs.d, board.size, board.size)
    pictures = [Picture(inputs.names[i], inputs.describe(i), grids[i]) for i in inputs.own]
    return draw_sheet(f"{inputs.d} inputs of a point", board, pictures)
