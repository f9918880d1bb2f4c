"""One position explained: what a player and evaluators say of it, and the layers that can be drawn over its board."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from katachi.analysis.explaining import record_turn
from katachi.analysis.judges import Judges, last_turn
from katachi.analysis.layers import layers_of
from katachi.analysis.records import PositionRecord
from katachi.analysis.report import describe_position
from katachi.core.layers import Layer, draw_layer
from katachi.go.game import Game


@dataclass(frozen=True, slots=True)
class PositionAnalysis:
    """A position, its record and its layers."""

    game: Game
    record: PositionRecord
    layers: tuple[Layer, ...]

    def layer(self, name: str) -> Layer:
        """The layer of a kind; raises KeyError if there is none."""
        return {layer.name: layer for layer in self.layers}[name]

    def _repr_html_(self) -> str:
        """The layers side by side, and the analysis in words."""
        board, last_move = self.game.board, self.game.last_move
        boards = "".join(
            f'<figure style="display:inline-block;margin:.5rem">{draw_layer(board, layer, last_move)}'
            f"<figcaption>{escape(layer.title)}</figcaption></figure>"
            for layer in self.layers
        )
        return f"<pre>{escape(chr(10).join(describe_position(self.record)))}</pre>{boards}"


def analyze_position(game: Game, judges: Judges) -> PositionAnalysis:
    """Analyse the position of a game; raises WrongBoardSize if one of the evaluators is for boards of another size."""
    analysis = judges.analyze(game)
    layers = layers_of(game, analysis, judges.all_evaluators)
    return PositionAnalysis(game.copy(), record_turn(judges, last_turn(game), analysis), tuple(layers))
