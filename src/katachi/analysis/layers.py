"""The kinds of layers: what is known of a position as one number for each point, by whoever knows most.

A kind is one class below, and by being defined it is in ``LAYERS``, where the board in the browser, ``katachi play``
and analyses find it. ``layers_of`` makes one layer of each kind that there is something for.

>>> [layer.name for layer in layers_of(Game(5))]
['territory', 'influence']
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar, Final

import numpy as np

from katachi.analysis.words import say, say_color
from katachi.core.contracts import (
    AfterstateEvaluator,
    Analysis,
    Candidate,
    Doubles,
    Evaluator,
    LinearEvaluator,
    OwnershipEvaluator,
    PlacedFeatures,
    RankedEvaluator,
)
from katachi.core.drawing import OWNERSHIP_LEGEND, Layer, Style, ownership_layer
from katachi.features.influence import ChenInfluence, map_influence
from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, PASS
from katachi.go.scoring import estimate_status

_LEAST_SHARE: Final = 0.5  # percent: what is less likely is left out
_LEAST_VISITED: Final = 0.1  # of the visits of the most visited move: with fewer a win rate is mere chance
_LEAST_SCALE: Final = 20.0  # percent from end to end: small differences have like colors
_PLAYOUTS: Final = 100

Evaluators = Mapping[str, Evaluator]  # by name


class LayerKind:
    """A kind of layer. A subclass says what it is called, and makes it from any of three sources, or from none."""

    name: ClassVar[str]  # in commands
    title: ClassVar[str]
    button: ClassVar[str]  # a title of one or two words
    legend: ClassVar[str]  # with {how} for what differs from source to source
    unit: ClassVar[str] = ""
    style: ClassVar[Style] = "tint"
    by_rank: ClassVar[bool] = False  # whether it shows what people of a rank would play

    def __init_subclass__(cls) -> None:
        LAYERS[cls.name] = cls()

    def make(self, game: Game, analysis: Analysis, evaluators: Evaluators) -> Layer | None:
        """The layer by the first of its sources that has something to say; None if none has."""
        return next(filter(None, self._ask(game, analysis, evaluators)), None)

    def _ask(self, game: Game, analysis: Analysis, evaluators: Evaluators) -> Iterator[Layer | None]:
        """What each source says when it is asked for: the analysis, the evaluators in their order, the game alone."""
        yield self.of_analysis(game, analysis)
        yield from self._ask_evaluators(game, evaluators)
        yield self.of_game(game)

    def _ask_evaluators(self, game: Game, evaluators: Evaluators) -> Iterator[Layer | None]:
        return (self.of_evaluator(game, name, evaluator) for name, evaluator in evaluators.items())

    def of_analysis(self, game: Game, analysis: Analysis) -> Layer | None:  # noqa: ARG002
        """What a player's analysis of the position says."""
        return None

    def of_evaluator(self, game: Game, name: str, evaluator: Evaluator) -> Layer | None:  # noqa: ARG002
        """What an evaluator says; raises WrongBoardSize if it is for boards of another size."""
        return None

    def of_game(self, game: Game) -> Layer | None:  # noqa: ARG002
        """What can be said without any of them."""
        return None

    def _numbers(self, values: Doubles, low: float, high: float, how: str = "") -> Layer:
        """A layer with a number on every point that has a value."""
        labels = tuple("" if np.isnan(value) else f"{value:.0f}" for value in values.tolist())
        legend = self.legend.format(how=how)
        return Layer(self.name, self.title, values, self.unit, low, high, labels, legend, self.style)

    def _tints(self, values: Doubles, how: str = "") -> Layer:
        """A layer of colors alone, Black's above 0; its scale reaches as far as the values."""
        end = float(np.nanmax(np.abs(values), initial=0)) or 1.0
        legend = self.legend.format(how=how)
        return Layer(self.name, self.title, values, self.unit, -end, end, None, legend, self.style)


LAYERS: Final[dict[str, LayerKind]] = {}  # by name, in the order in which they are offered


def layers_of(game: Game, analysis: Analysis | None = None, evaluators: Evaluators | None = None) -> list[Layer]:
    """One layer of each kind that there is something for; raises WrongBoardSize as the evaluators do."""
    thought = Analysis(()) if analysis is None else analysis
    made = [kind.make(game, thought, evaluators or {}) for kind in LAYERS.values()]
    return [layer for layer in made if layer is not None]


# Moves


class WinLayer(LayerKind):
    """How often the player to move wins after each move."""

    name = "wins"
    title = say("layer.wins")
    button = say("layer.wins_button")
    legend = say("layer.wins_legend", how="{how}")
    unit = "%"
    style = "disc"

    def of_analysis(self, game: Game, analysis: Analysis) -> Layer | None:
        """After each move that was considered, and not just glanced at."""
        most = max((candidate.visits for candidate in analysis.candidates), default=0)
        seen = [candidate for candidate in analysis.candidates if candidate.visits >= _LEAST_VISITED * most]
        wins = _by_move(game, replace(analysis, candidates=tuple(seen)), lambda candidate: candidate.black_wins)
        return self._make(game, 100 * wins, say("layer.looked_ahead"))

    def of_evaluator(self, game: Game, name: str, evaluator: Evaluator) -> Layer | None:
        """After each legal move, of an evaluator that values all of them at once."""
        if not isinstance(evaluator, AfterstateEvaluator):
            return None
        sweep = evaluator.evaluate_afterstates(game.board)[:-1]
        return self._make(game, 100 * np.where(game.legal_moves()[:-1], sweep, np.nan), say("layer.no_look", name=name))

    def _make(self, game: Game, black: Doubles, how: str) -> Layer | None:
        wins = black if game.to_play == BLACK else 100 - black
        if np.isnan(wins).all():
            return None
        high = float(np.nanmax(wins))
        low = min(float(np.nanmin(wins)), high - _LEAST_SCALE)
        color = say_color("black" if game.to_play == BLACK else "white")
        return self._numbers(wins, low, high, say("layer.wins_after", color=color, how=how))


class PolicyLayer(LayerKind):
    """How likely each move is; who predicts people is asked first, because that is what one wants to see."""

    name = "policy"
    title = button = say("layer.policy")
    legend = say("layer.policy_legend", how="{how}")
    unit = "%"
    style = "disc"
    by_rank = True

    def _ask(self, game: Game, analysis: Analysis, evaluators: Evaluators) -> Iterator[Layer | None]:
        people = {name: one for name, one in evaluators.items() if isinstance(one, RankedEvaluator)}
        yield from self._ask_evaluators(game, people)
        yield from super()._ask(game, analysis, evaluators)

    def of_analysis(self, game: Game, analysis: Analysis) -> Layer | None:
        """How likely the player found each move before it looked ahead."""
        shares = _by_move(game, analysis, lambda candidate: candidate.prior)
        return self._make(100 * shares, say("layer.policy_prior"))

    def of_evaluator(self, game: Game, name: str, evaluator: Evaluator) -> Layer | None:
        """By an evaluator's policy."""
        shares = evaluator.evaluate([game.board]).policy[0, :-1].astype(np.float64)
        what = "layer.policy_people" if isinstance(evaluator, RankedEvaluator) else "layer.policy_good"
        return self._make(100 * np.where(game.legal_moves()[:-1], shares, np.nan), say(what, name=name))

    def _make(self, shares: Doubles, how: str) -> Layer | None:
        shares = np.where(shares >= _LEAST_SHARE, shares, np.nan)
        return None if np.isnan(shares).all() else self._numbers(shares, 0.0, float(np.nanmax(shares)), how)


class VisitLayer(LayerKind):
    """How often a search looked at each move."""

    name = "visits"
    title = say("layer.visits")
    button = say("layer.visits_button")
    legend = say("layer.visits_legend")
    unit = say("layer.visits_unit")
    style = "disc"

    def of_analysis(self, game: Game, analysis: Analysis) -> Layer | None:
        visits = _by_move(game, analysis, lambda candidate: candidate.visits or None)
        return None if np.isnan(visits).all() else self._numbers(visits, 0.0, float(np.nanmax(visits)))


def _by_move(game: Game, analysis: Analysis, number: Callable[[Candidate], float | None]) -> Doubles:
    """A number of each candidate at its point, [n²]; NaN where there is none."""
    values = np.full(game.size**2, np.nan)
    for candidate in analysis.candidates:
        value = number(candidate)
        if candidate.move != PASS and value is not None:
            values[candidate.move] = value
    return values


# Points


class TerritoryLayer(LayerKind):
    """Whose each point will be: by an analysis, by an evaluator that knows, or by playouts."""

    name = "territory"
    title = button = say("layer.territory")
    legend = OWNERSHIP_LEGEND
    style = "square"

    def of_analysis(self, game: Game, analysis: Analysis) -> Layer | None:  # noqa: ARG002
        how = say("layer.territory_player")
        return None if analysis.ownership is None else ownership_layer(analysis.ownership, how)

    def of_evaluator(self, game: Game, name: str, evaluator: Evaluator) -> Layer | None:
        if not isinstance(evaluator, OwnershipEvaluator):
            return None
        return ownership_layer(evaluator.ownership([game.board])[0], say("layer.territory_model", name=name))

    def of_game(self, game: Game) -> Layer:
        return ownership_layer(estimate_status(game.board, _PLAYOUTS).ownership, say("layer.territory_playouts"))


class InfluenceLayer(LayerKind):
    """How far the stones reach, where no stone is."""

    name = "influence"
    title = button = say("layer.influence")
    legend = say("layer.influence_legend")

    def of_game(self, game: Game) -> Layer:
        black, white = map_influence(game.board, ChenInfluence())
        return self._tints(np.where(game.board.stones == EMPTY, (black - white).astype(np.float64), np.nan))


class ShapeLayer(LayerKind):
    """What the shapes at each point add to the log-odds of Black, of an evaluator that is a sum of shapes."""

    name = "shapes"
    title = say("layer.shapes")
    button = say("layer.shapes_button")
    legend = say("layer.shapes_legend", how="{how}")

    def of_evaluator(self, game: Game, name: str, evaluator: Evaluator) -> Layer | None:
        if not (isinstance(evaluator, LinearEvaluator) and isinstance(evaluator.features, PlacedFeatures)):
            return None
        placed = evaluator.features.place(game.board)
        return self._tints(-game.to_play * placed.spread(evaluator.weights, game.size), name)
