"""Drawings of territory networks: whose each point will be, and as sheets of small boards what a network reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from katachi.core import drawing
from katachi.core.contracts import Floats, OwnershipEvaluator
from katachi.features.influence import INFLUENCES, AnyInfluence, GroupKind, map_influence
from katachi.go.board import Board
from katachi.territory.inputs import PointInputs

if TYPE_CHECKING:
    from katachi.core.models import SavedModel

_LEAD: Final = (
    "Blue points will be Black’s, yellow ones White’s, the surer the stronger the color. Below the board are the moves "
    "that promise most."
)


def draw(saved: SavedModel[Any], request: drawing.DrawRequest) -> drawing.Drawing:
    """Whose each point will be, and the moves that promise most."""
    game = request.position(saved.card.board_size)
    evaluator = saved.load()
    if not isinstance(evaluator, OwnershipEvaluator):
        raise drawing.DrawingError(f"{request.name} does not say who will own each point")
    layer = drawing.ownership_layer(evaluator.ownership([game.board])[0], f"by {request.name}")
    position, svg = drawing.evaluate_position(evaluator, game), drawing.draw_layer(game.board, layer, game.last_move)
    return drawing.Drawing(
        f"Whose each point will be, by {request.name}",
        _LEAD,
        (drawing.Section(position.title, (drawing.Figure(svg),), position.best()),),
        svg,
        drawing.show_layer(game, layer, drawing.show_moves(position)),
    )


def draw_influence(
    board: Board, influences: Mapping[str, AnyInfluence] = INFLUENCES, group: GroupKind = "chain"
) -> str:
    """Black's influence less White's by each of some rules, side by side as one SVG, red where Black is felt more."""
    pictures = []
    for name, influence in influences.items():
        black, white = map_influence(board, influence, group)
        words = f"{name}: red where Black is felt more, blue where White is"
        pictures.append(drawing.Picture(name, words, (black - white).reshape(board.size, board.size)))
    return drawing.draw_sheet("Influence", board, pictures)


def draw_point_inputs(inputs: PointInputs, board: Board, propensity: Floats | None = None) -> str:
    """The inputs of each point itself as one SVG; those of its neighbors are the same, so that they are not drawn.

    Without a table all propensities are 0.
    """
    (encoded,) = inputs.encode([board], propensity)
    grids = encoded.T.reshape(inputs.d, board.size, board.size)
    pictures = [drawing.Picture(inputs.names[i], inputs.describe(i), grids[i]) for i in inputs.own]
    return drawing.draw_sheet(f"{inputs.d} inputs of a point", board, pictures)
