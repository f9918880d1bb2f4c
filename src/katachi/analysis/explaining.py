"""From analyses to records: what is said of a position, and of the move that led to it.

A move is explained by its tactics and by shapes that have names (``analysis/tactics.py``), by the territory that
changed hands, and by the features of a linear evaluator.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from math import fsum, hypot, isqrt
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.analysis.judges import Judges, Turn, has_value, last_turn, predict_people
from katachi.analysis.layers import layers_of
from katachi.analysis.records import (
    CandidateRecord,
    Color,
    MoveRecord,
    NamedShapeRecord,
    OpinionRecord,
    PeopleRecord,
    PositionRecord,
    ShapeRecord,
    ShapesRecord,
    TacticRecord,
    TerritoryRecord,
    Whose,
)
from katachi.analysis.tactics import find_shapes, find_tactics
from katachi.analysis.words import describe_models, describe_position
from katachi.core.cards import CONFIDENCE
from katachi.core.contracts import (
    Analysis,
    Candidate,
    Doubles,
    FeatureSet,
    LinearEvaluator,
    PlacedFeatures,
    RankedEvaluator,
)
from katachi.core.drawing import Layer, draw_layer
from katachi.core.evaluators import after
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE, format_vertex

# Which territory a move moved: the points that became more Black's or more White's, and by how much together.

Ownership = NDArray[np.floating]

MOVED: Final = 0.5  # of the way from one color to the other is 2: so much is reported of a single point


@dataclass(frozen=True, slots=True)
class TerritoryChange:
    """What became of the points: ``black_gain`` is their sum, all of them counted."""

    black_gain: float
    by_point: Doubles  # [n²]
    to_black: tuple[int, ...]  # points that moved far, the farthest first
    to_white: tuple[int, ...]


def compare_ownership(before: Ownership, now: Ownership) -> TerritoryChange:
    """What changed between two predictions of who will own each point, [n²] in [−1, 1]."""
    change = now.astype(np.float64) - before
    order = np.argsort(-np.abs(change), kind="stable").tolist()
    moved = [point for point in order if abs(change[point]) >= MOVED]
    return TerritoryChange(
        float(change.sum()),
        change,
        tuple(point for point in moved if change[point] > 0),
        tuple(point for point in moved if change[point] < 0),
    )


# What a move changes for an evaluator that is a sum of features: which of them came, which went, what each added.
#
# A linear value is that of the player who has just moved. So a move changes two things: the stones, and whose turn it
# is. The *turn* is what a pass would have changed, the same for all moves; everything else are features that appeared
# or disappeared, all of them seen by the mover. Together they are the change of the mover's logit, exactly. Where a
# feature is and whose stones it consists of is known of ``PlacedFeatures`` alone.

SHAPES_LISTED: Final = 8
_WHOSE: Final[dict[frozenset[int], Whose]] = {
    frozenset(): "nobody's",
    frozenset((BLACK,)): "ours",
    frozenset((WHITE,)): "theirs",
    frozenset((BLACK, WHITE)): "both",
}


@dataclass(frozen=True, slots=True)
class FeatureChange:
    """A feature that occurs more or less often after a move; ``before`` and ``after`` are what it adds to the logit."""

    index: int
    before: float
    after: float
    places: tuple[tuple[int, ...], ...]  # where it came, or if nowhere, where it went, of those that are listed

    @property
    def change(self) -> float:
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class ShapeChanges:
    """The logit of the mover before and after the move, and what its change is made of, the largest part first."""

    logit_before: float
    logit_after: float
    turn: float
    changes: tuple[FeatureChange, ...]

    @property
    def total(self) -> float:
        """The sum of all parts: ``logit_after − logit_before``."""
        return fsum([self.turn, *(change.change for change in self.changes)])


def explain_change(evaluator: LinearEvaluator, board: Board, move: int) -> ShapeChanges:
    """What a move on a board changes for its player; raises IllegalMove if simple ko or suicide forbids it."""
    passed, played = after(board, PASS), after(board, move)
    logit_before = -fsum(_added(evaluator, board).values())  # it is the opponent who had just moved
    before, now = _added(evaluator, passed), _added(evaluator, played)
    changed = [index for index in before.keys() | now.keys() if before.get(index, 0.0) != now.get(index, 0.0)]
    changed.sort(key=lambda i: (-abs(now.get(i, 0.0) - before.get(i, 0.0)), i))
    places = _find_places(evaluator.features, changed[:SHAPES_LISTED], passed, played)
    changes = tuple(FeatureChange(i, before.get(i, 0.0), now.get(i, 0.0), places.get(i, ())) for i in changed)
    return ShapeChanges(logit_before, fsum(now.values()), fsum(before.values()) - logit_before, changes)


def _added(evaluator: LinearEvaluator, board: Board) -> dict[int, float]:
    """What every feature on a board adds to the logit of the player who has just moved."""
    indices, occurrences = evaluator.features.active(board)
    added = evaluator.weights[indices].astype(np.float64) * occurrences
    return dict(zip(indices.tolist(), added.tolist(), strict=True))


def _find_places(
    features: FeatureSet, changed: list[int], passed: Board, played: Board
) -> dict[int, tuple[tuple[int, ...], ...]]:
    """Where each of some features came, or if nowhere, where it went; empty if the features do not say."""
    if not isinstance(features, PlacedFeatures):
        return {}
    before, now = features.place(passed), features.place(played)
    found = {}
    for index in changed:
        there, here = set(before.places_of(index)), set(now.places_of(index))
        found[index] = tuple(sorted(here - there or there - here))
    return found


def whose(features: FeatureSet, index: int) -> Whose:
    """Whose stones a shape is made of; ours are the mover's."""
    stones = features.stones_of(index) if isinstance(features, PlacedFeatures) else None
    return "unknown" if stones is None else _WHOSE[stones]


def sum_by_side(features: FeatureSet, changes: ShapeChanges) -> dict[Whose, float]:
    """What the shapes of each side changed together; without the turn."""
    parts: dict[Whose, list[float]] = {}
    stones_of = features.stones_of if isinstance(features, PlacedFeatures) else lambda _: None
    for change in changes.changes:
        stones = stones_of(change.index)
        parts.setdefault("unknown" if stones is None else _WHOSE[stones], []).append(change.change)
    return {side: fsum(values) for side, values in parts.items()}


# Positions

CANDIDATES_LISTED: Final = 10
VARIATION_LISTED: Final = 12  # moves
_DIGITS: Final = 4
_SURE: Final = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)  # standard errors in half an interval
_LEAST_VISITS: Final = 3  # that make the value of a candidate more than a guess


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
        lines = describe_position(self.record) + describe_models(self.record.move)
        return f"<pre>{escape(chr(10).join(lines))}</pre>{boards}"


def analyze_position(game: Game, judges: Judges) -> PositionAnalysis:
    """Analyse the position of a game; raises WrongBoardSize if one of the evaluators is for boards of another size."""
    analysis = judges.analyze(game)
    layers = layers_of(game, analysis, judges.all_evaluators)
    return PositionAnalysis(game.copy(), record_turn(judges, last_turn(game), analysis), tuple(layers))


def evaluate_turn(judges: Judges, turn: Turn, game_name: str = "", *, in_full: bool = True) -> PositionRecord:
    """A position as a record, with what can be said of its last move without looking at the turn before."""
    record = record_turn(judges, turn, judges.analyze(turn.game), game_name)
    return record.model_copy(update={"in_full": in_full})


def record_turn(judges: Judges, turn: Turn, analysis: Analysis, game_name: str = "") -> PositionRecord:
    """The same from an analysis that was made."""
    explained = {"opinions": _opinions(judges, turn.game.board), "move": _explain_move(judges, turn)}
    return _record(turn, analysis, game_name).model_copy(update=explained)


def _record(turn: Turn, analysis: Analysis, game_name: str) -> PositionRecord:
    return PositionRecord(
        game=game_name,
        turn=turn.turn,
        node=turn.node,
        to_play=_color(turn.game.to_play),
        black_wins=_round(analysis.black_wins),
        black_lead=_round(analysis.black_lead, 2),
        error=round(analysis.error, _DIGITS),
        candidates=_candidates(turn.game, analysis),
        ownership=None if analysis.ownership is None else tuple(np.round(analysis.ownership, 2).tolist()),
    )


def glance_turn(turn: Turn, analysis: Analysis, game_name: str = "") -> PositionRecord:
    """A position as a record of a first look: values, and what the last move did, without what takes long."""
    move = None
    if turn.play is not None and turn.before is not None:
        color, point = turn.play
        vertex = format_vertex(point, turn.game.size)
        move = MoveRecord(number=turn.number, color=_color(color), move=vertex, **_facts(turn.before, point))
    return _record(turn, analysis, game_name).model_copy(update={"is_first_look": True, "in_full": False, "move": move})


def link_turns(previous: PositionRecord, position: PositionRecord) -> PositionRecord:
    """The position with what its last move lost and which territory it moved, compared with the turn before."""
    move = position.move
    if move is None:
        return position
    sign = 1 if move.color == "black" else -1
    candidates = [candidate.move for candidate in previous.candidates]
    found = {candidate.move: candidate for candidate in previous.candidates}.get(move.move)
    priors = [candidate.prior for candidate in previous.candidates if candidate.prior is not None]
    changes = {
        "loss": _difference(previous.black_wins, position.black_wins, sign, _DIGITS),
        "loss_error": round(_SURE * hypot(previous.error, position.error), _DIGITS),
        "points_lost": _difference(previous.black_lead, position.black_lead, sign, 2),
        "order": candidates.index(move.move) if move.move in candidates else None,
        "best": candidates[0] if candidates else None,
        "loss_foreseen": _foresee_loss(previous, found, sign),
        "prior": None if found is None else found.prior,
        "is_most_probable": found is not None and found.prior is not None and found.prior >= max(priors),
        "in_full": previous.in_full and position.in_full,
        "is_near_pass": "pass" in (move.move, previous.move and previous.move.move),
        "territory": _territory(previous, position, move.move),
        "best_tactics": previous.candidates[0].tactics if previous.candidates else (),
        "answer": position.candidates[0].move if position.candidates else None,
        "answer_tactics": position.candidates[0].tactics if position.candidates else (),
    }
    return position.model_copy(update={"move": move.model_copy(update=changes)})


def _foresee_loss(previous: PositionRecord, found: CandidateRecord | None, sign: int) -> float | None:
    """What a candidate was found to be worse by than the best one, if both were looked into."""
    if found is None or found.visits < _LEAST_VISITS:
        return None
    return _difference(previous.candidates[0].black_wins, found.black_wins, sign, _DIGITS)


def _difference(before: float | None, now: float | None, sign: int, digits: int) -> float | None:
    return None if before is None or now is None else round(sign * (before - now), digits)


def _territory(previous: PositionRecord, position: PositionRecord, played: str) -> TerritoryRecord | None:
    """The points that changed hands, but the one that was played on."""
    if previous.ownership is None or position.ownership is None:
        return None
    size = isqrt(len(position.ownership))
    change = compare_ownership(np.array(previous.ownership), np.array(position.ownership))
    where, there = find_region(np.sign(change.black_gain) * change.by_point, size)
    return TerritoryRecord(
        black_gain=round(change.black_gain, 2),
        to_black=tuple(vertex for vertex in _vertices(change.to_black, size) if vertex != played),
        to_white=tuple(vertex for vertex in _vertices(change.to_white, size) if vertex != played),
        where=where,
        there=round(float(np.sign(change.black_gain)) * there, 2),
    )


_MOST_POINTS: Final = 0.6  # of what was gained, that makes a region the place of it
_CORNERS: Final = {  # of thirds of the board, from the top and from the left
    (0, 0): "in the upper left",
    (0, 2): "in the upper right",
    (1, 1): "in the center",
    (2, 0): "in the lower left",
    (2, 2): "in the lower right",
}


def find_region(gains: Ownership, size: int) -> tuple[str, float]:
    """Where most of a gain lies, [n²], and how much: a corner, the center, or a side with its corners; else nowhere.

    >>> gains = np.zeros(81)
    >>> gains[[0, 1, 9, 80]] = 1.0, 1.0, 1.0, -0.5
    >>> find_region(gains, 9)
    ('in the upper left', 3.0)
    """
    zones = np.zeros((3, 3))
    lines, third = np.arange(size), -(-size // 3)  # rounded up, from either edge
    thirds = 1 + (lines >= size - third).astype(int) - (lines < third)
    np.add.at(zones, (thirds[:, None], thirds[None, :]), gains.reshape(size, size))
    corners = {name: zones[zone] for zone, name in _CORNERS.items()}
    rows, columns = zones.sum(axis=1), zones.sum(axis=0)
    sides = {"at the top": rows[0], "at the bottom": rows[2], "on the left": columns[0], "on the right": columns[2]}
    for places in (corners, sides):
        name = max(places, key=lambda each: float(places[each]))
        if places[name] > 0 and places[name] >= _MOST_POINTS * gains.sum():
            return name, float(places[name])
    return "", 0.0


# A position


def _candidates(game: Game, analysis: Analysis) -> tuple[CandidateRecord, ...]:
    """What was considered, and what the best of it would do."""
    found = [_candidate(candidate, game.size) for candidate in analysis.candidates[:CANDIDATES_LISTED]]
    if found and game.board.is_legal(analysis.candidates[0].move):
        found[0] = found[0].model_copy(update=_facts(game.board, analysis.candidates[0].move))
    return tuple(found)


def _facts(board: Board, move: int) -> dict[str, Any]:
    """What a move does at once, and the shapes that it makes, as records have it."""
    size = board.size
    return {
        "tactics": tuple(
            TacticRecord(
                what=fact.tactic.value, stones=_vertices(fact.stones, size), others=_vertices(fact.others, size)
            )
            for fact in find_tactics(board, move)
        ),
        "named_shapes": tuple(
            NamedShapeRecord(name=shape.name.value, stones=_vertices(shape.stones, size))
            for shape in find_shapes(board, move)
        ),
    }


def _candidate(candidate: Candidate, size: int) -> CandidateRecord:
    return CandidateRecord(
        move=format_vertex(candidate.move, size),
        black_wins=_round(candidate.black_wins),
        black_lead=_round(candidate.black_lead, 2),
        prior=_round(candidate.prior),
        visits=candidate.visits,
        variation=_vertices((candidate.variation or (candidate.move,))[:VARIATION_LISTED], size),
    )


def _opinions(judges: Judges, board: Board) -> tuple[OpinionRecord, ...]:
    asked = {name: evaluator for name, evaluator in judges.all_evaluators.items() if has_value(evaluator)}
    wins = {name: float(evaluator.evaluate([board]).black_wins[0]) for name, evaluator in asked.items()}
    return tuple(OpinionRecord(evaluator=name, black_wins=round(share, _DIGITS)) for name, share in wins.items())


# A move


def _explain_move(judges: Judges, turn: Turn) -> MoveRecord | None:
    if turn.play is None or turn.before is None:
        return None
    color, move = turn.play
    board, size = turn.before, turn.before.size
    evaluators = judges.all_evaluators
    return MoveRecord(
        number=turn.number,
        color=_color(color),
        move=format_vertex(move, size),
        shapes=tuple(
            explain_shapes(name, evaluator, board, move)
            for name, evaluator in evaluators.items()
            if isinstance(evaluator, LinearEvaluator)
        ),
        people=tuple(
            people
            for name, evaluator in evaluators.items()
            if isinstance(evaluator, RankedEvaluator)
            for people in explain_people(name, evaluator, board, move)
        ),
        **_facts(board, move),
    )


def explain_shapes(name: str, evaluator: LinearEvaluator, board: Board, move: int) -> ShapesRecord:
    """What a move changes in the mover's logit, shape by shape, the largest changes one by one."""
    changes = explain_change(evaluator, board, move)
    listed, others = changes.changes[:SHAPES_LISTED], changes.changes[SHAPES_LISTED:]
    return ShapesRecord(
        evaluator=name,
        logit_before=changes.logit_before,
        logit_after=changes.logit_after,
        turn=changes.turn,
        shapes=tuple(
            ShapeRecord(
                shape=evaluator.features.describe(change.index),
                whose=whose(evaluator.features, change.index),
                before=change.before,
                after=change.after,
                places=tuple(_vertices(place, board.size) for place in change.places),
            )
            for change in listed
        ),
        others=fsum(change.change for change in others),
        sides=sum_by_side(evaluator.features, changes),
    )


def explain_people(name: str, evaluator: RankedEvaluator, board: Board, move: int) -> list[PeopleRecord]:
    """What people of several ranks would have played."""
    return [
        PeopleRecord(
            evaluator=name,
            rank=prediction.rank,
            likely=tuple((format_vertex(m, board.size), round(share, _DIGITS)) for m, share in prediction.best()),
            played=round(float(prediction.policy[move]), _DIGITS),
        )
        for prediction in predict_people(evaluator, board)
    ]


# Text and numbers


def _color(color: int) -> Color:
    return "black" if color == BLACK else "white"


def _vertices(moves: Iterable[int], size: int) -> tuple[str, ...]:
    return tuple(format_vertex(move, size) for move in moves)


def _round(value: float | None, digits: int = _DIGITS) -> float | None:
    return None if value is None else round(value, digits) + 0.0
