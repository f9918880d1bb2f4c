"""The graph of a game as an element of a page: win rate and score by turns; a click goes to a turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nicegui.element import Element
from nicegui.events import GenericEventArguments

from katachi.analysis.records import LEAST_MISTAKE, PositionRecord
from katachi.analysis.report import tell_value
from katachi.web import texts


class GraphElement(Element, component="graph.js"):
    """A graph of as many turns as are judged, in a frame for all turns of the game."""

    def __init__(self, on_turn: Callable[[int], None]) -> None:
        super().__init__()
        self._on_turn = on_turn
        self._judged = 0
        self._props["label"] = texts.GRAPH
        self.show((), 0, None)
        self.on("turn", self._take)

    def show(self, positions: Sequence[PositionRecord], turns: int, here: int | None) -> None:
        """Draw these positions, and a line where one stands."""
        self._judged = len(positions)
        self._props["wins"] = [position.black_wins for position in positions]
        self._props["leads"] = [position.black_lead for position in positions]
        self._props["mistakes"] = [turn for turn, position in enumerate(positions) if _is_mistake(position)]
        self._props["notes"] = [_describe(position) for position in positions]
        self._props["turns"] = max(turns, len(positions))
        self._props["here"] = here
        self.update()

    def _take(self, event: GenericEventArguments) -> None:
        if type(event.args) is int and 0 <= event.args < self._judged:
            self._on_turn(event.args)


def _is_mistake(position: PositionRecord) -> bool:
    move = position.move
    return move is not None and move.loss is not None and move.loss >= LEAST_MISTAKE and position.black_wins is not None


def _describe(position: PositionRecord) -> str:
    move = position.move
    first = "" if move is None else f"{move.number} {move.move}: "
    return first + tell_value(position.black_wins, position.black_lead).rstrip(".")
