"""Layers: what is known of a position as one number for each point, ready to be drawn over the stones.

Who draws layers needs to know nothing of players and models. Chances are those of the player to move, in percent;
what belongs to a color is above 0 where it is Black's. ``layers_of`` makes one layer of each kind, by whoever knows
most; the other functions make a single one, or None where there is nothing to tell.

>>> [layer.name for layer in layers_of(Game(5))]
['territory', 'influence']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.analysis.shapes import place_shapes
from katachi.core.contracts import (
    AfterstateEvaluator,
    Analysis,
    Candidate,
    Doubles,
    Evaluator,
    LinearEvaluator,
    OwnershipEvaluator,
)
from katachi.features.influence import ChenInfluence, map_influence
from katachi.go.board import Board
from katachi.go.diagrams import draw_svg
from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, PASS, format_color
from katachi.go.scoring import estimate_status
from katachi.policy.evaluator import PolicyEvaluator

KINDS: Final = ("wins", "policy", "visits", "territory", "influence", "shapes")

_LEAST_SHARE: Final = 0.5  # percent: what is less likely is left out
_LEAST_VISITED: Final = 0.1  # of the visits of the most visited move: with fewer a win rate is mere chance
_PLAYOUTS: Final = 100


@dataclass(frozen=True, slots=True)
class Layer:
    """Numbers over a board, and how they are to be shown."""

    name: str  # one of KINDS
    title: str
    values: Doubles  # [n²], NaN: nothing
    unit: str
    low: float  # the ends of the scale; values may lie beyond
    high: float
    labels: tuple[str, ...] | None  # [n²] short texts, "" where there is none
    legend: str

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

    def tell(self, point: int) -> str:
        """The number of a point with its unit, empty where there is nothing."""
        value = float(self.values[point])
        if np.isnan(value):
            return ""
        number = f"{value:+.2f}" if self.is_diverging else f"{value:,.1f}".removesuffix(".0")
        return f"{number} {self.unit}".rstrip()


Judge = tuple[str, Evaluator]
Maker = Callable[[Game, str, Evaluator], Layer | None]


def layers_of(
    game: Game, analysis: Analysis | None = None, evaluators: Mapping[str, Evaluator] | None = None
) -> list[Layer]:
    """One layer of each kind that there is something for, in the order of KINDS.

    What a player's analysis of the position says comes first, except that networks know best what people play; then
    the evaluators are asked in their order. Raises WrongBoardSize if one of them judges boards of another size.
    """
    thought = Analysis(()) if analysis is None else analysis
    judges = list((evaluators or {}).items())
    networks = [(name, evaluator) for name, evaluator in judges if isinstance(evaluator, PolicyEvaluator)]
    ways: list[Iterable[Layer | None]] = [
        chain([wins_of(game, thought)], _ask(wins_by, game, judges)),
        chain(_ask(policy_by, game, networks), [priors_of(game, thought)], _ask(policy_by, game, judges)),
        [visits_of(game, thought)],
        chain([ownership_of(game, thought)], _ask(ownership_by, game, judges), map(territory, [game])),
        [influence(game)],
        _ask(shapes_by, game, judges),
    ]
    firsts = [next(filter(None, way), None) for way in ways]
    return [layer for layer in firsts if layer is not None]


def _ask(make: Maker, game: Game, judges: Iterable[Judge]) -> Iterator[Layer | None]:
    """What each judge says, when it is asked for."""
    return (make(game, name, evaluator) for name, evaluator in judges)


# Moves


def wins_of(game: Game, analysis: Analysis) -> Layer | None:
    """How often the player to move wins after each move that was considered, and not just glanced at."""
    most = max((candidate.visits for candidate in analysis.candidates), default=0)
    seen = [candidate for candidate in analysis.candidates if candidate.visits >= _LEAST_VISITED * most]
    wins = _by_move(game, replace(analysis, candidates=tuple(seen)), lambda candidate: candidate.black_wins)
    return _wins(game, 100 * wins, "as far as the player looked ahead")


def wins_by(game: Game, name: str, evaluator: Evaluator) -> Layer | None:
    """How often the player to move wins after each legal move, of an evaluator that values all of them at once."""
    if not isinstance(evaluator, AfterstateEvaluator):
        return None
    sweep = evaluator.evaluate_afterstates(game.board)[:-1]
    return _wins(game, 100 * np.where(game.legal_moves()[:-1], sweep, np.nan), f"{name} without looking ahead")


def _wins(game: Game, black: Doubles, how: str) -> Layer | None:
    wins = black if game.to_play == BLACK else 100 - black
    if np.isnan(wins).all():
        return None
    low, high = float(np.nanmin(wins)), float(np.nanmax(wins))
    return Layer(
        "wins",
        "Win probability of each move",
        wins,
        "%",
        low if low < high else low - 1,
        high,
        _labels(wins, "{:.0f}"),
        f"How often {format_color(game.to_play)} wins after a move there, {how}.",
    )


def priors_of(game: Game, analysis: Analysis) -> Layer | None:
    """How likely the player found each move before it looked ahead."""
    shares = _by_move(game, analysis, lambda candidate: candidate.prior)
    return _policy(100 * shares, "How likely a move there is good, before looking ahead")


def policy_by(game: Game, name: str, evaluator: Evaluator) -> Layer | None:
    """How likely each move is by an evaluator's policy; a network's is what people of its rank would play."""
    shares = evaluator.evaluate([game.board]).policy[0, :-1].astype(np.float64)
    people = isinstance(evaluator, PolicyEvaluator)
    what = "How likely people play there" if people else "How likely a move there is good, without looking ahead"
    return _policy(100 * np.where(game.legal_moves()[:-1], shares, np.nan), f"{what}, by {name}")


def _policy(shares: Doubles, what: str) -> Layer | None:
    shares = np.where(shares >= _LEAST_SHARE, shares, np.nan)
    if np.isnan(shares).all():
        return None
    high = float(np.nanmax(shares))
    return Layer("policy", "Move probability", shares, "%", 0.0, high, _labels(shares, "{:.0f}"), f"{what}.")


def visits_of(game: Game, analysis: Analysis) -> Layer | None:
    """How often a search looked at each move."""
    visits = _by_move(game, analysis, lambda candidate: candidate.visits or None)
    if np.isnan(visits).all():
        return None
    legend = "How often the search looked at a move there; it looks most at what it likes."
    return Layer(
        "visits", "Search visits", visits, "visits", 0.0, float(np.nanmax(visits)), _labels(visits, "{:.0f}"), legend
    )


def _by_move(game: Game, analysis: Analysis, number: Callable[[Candidate], float | None]) -> Doubles:
    """A number of each candidate at its point, [n²]; NaN where there is none."""
    values = np.full(game.size**2, np.nan)
    for candidate in analysis.candidates:
        value = number(candidate)
        if candidate.move != PASS and value is not None:
            values[candidate.move] = value
    return values


# Points


def ownership_of(game: Game, analysis: Analysis) -> Layer | None:
    """Whose each point will be, as the player sees it."""
    return None if analysis.ownership is None else _territory(game, analysis.ownership, "as the player expects it")


def ownership_by(game: Game, name: str, evaluator: Evaluator) -> Layer | None:
    """Whose each point will be, by an evaluator that can tell."""
    if not isinstance(evaluator, OwnershipEvaluator):
        return None
    return _territory(game, evaluator.ownership([game.board])[0], f"by {name}")


def territory(game: Game) -> Layer:
    """Whose each point will be, by playouts that settle the position."""
    return _territory(game, estimate_status(game.board, _PLAYOUTS).ownership, "by playouts")


def _territory(game: Game, ownership: NDArray[np.floating], how: str) -> Layer:
    values = ownership.astype(np.float64)[: game.size**2]
    legend = f"Whose each point will be, {how}: +1 is surely Black's, −1 surely White's."
    return Layer("territory", "Territory", values, "", -1.0, 1.0, None, legend)


def influence(game: Game) -> Layer:
    """How far the stones reach, where no stone is."""
    black, white = map_influence(game.board, ChenInfluence())
    values = np.where(game.board.stones == EMPTY, (black - white).astype(np.float64), np.nan)
    end = float(np.nanmax(np.abs(values), initial=0)) or 1.0
    legend = "How far the stones reach: above 0 is Black's, below is White's."
    return Layer("influence", "Influence", values, "", -end, end, None, legend)


def shapes_by(game: Game, name: str, evaluator: Evaluator) -> Layer | None:
    """What the shapes at each point add to the log-odds of Black, of an evaluator that is a sum of shapes."""
    if not isinstance(evaluator, LinearEvaluator):
        return None
    placed = place_shapes(evaluator.features, game.board)
    if placed is None:
        return None
    values = -game.to_play * placed.spread(evaluator.weights, game.size)
    end = float(np.abs(values).max()) or 1.0
    legend = f"What the shapes around each point add to the log-odds of Black, by {name}."
    return Layer("shapes", "Shapes that fired", values, "", -end, end, None, legend)


def _labels(values: Doubles, form: str) -> tuple[str, ...]:
    return tuple("" if np.isnan(value) else form.format(value) for value in values.tolist())


# Layers drawn over a board as SVG, in colors that color-blind readers can tell apart.

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
