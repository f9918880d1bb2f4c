"""From judgments to records: what is told of a position, and of the move that led to it."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum, isqrt
from typing import Final

import numpy as np

from katachi.analysis.judges import Judges, has_value
from katachi.analysis.people import predict_people
from katachi.analysis.records import (
    CandidateRecord,
    Color,
    MoveRecord,
    OpinionRecord,
    PeopleRecord,
    PositionRecord,
    ShapeRecord,
    ShapesRecord,
    TacticRecord,
    TerritoryRecord,
)
from katachi.analysis.shapes import explain_change, sum_by_side, whose
from katachi.analysis.tactics import find_tactics
from katachi.analysis.territory_changes import compare_ownership
from katachi.analysis.turns import Turn
from katachi.core.contracts import Analysis, Candidate, LinearEvaluator
from katachi.go.board import Board
from katachi.go.points import BLACK, format_vertex
from katachi.policy.evaluator import CnnEvaluator

SHAPES_TOLD: Final = 8
CANDIDATES_TOLD: Final = 10
VARIATION_TOLD: Final = 12  # moves
_DIGITS: Final = 4


def judge_turn(judges: Judges, turn: Turn, game_name: str = "") -> PositionRecord:
    """A position as a record, with what can be said of its last move without looking at the turn before."""
    return record_turn(judges, turn, judges.analyze(turn.game), game_name)


def record_turn(judges: Judges, turn: Turn, analysis: Analysis, game_name: str = "") -> PositionRecord:
    """The same from an analysis that the judges have made."""
    size = turn.game.size
    return PositionRecord(
        game=game_name,
        turn=turn.turn,
        node=turn.node,
        to_play=_color(turn.game.to_play),
        black_wins=_round(analysis.black_wins),
        black_lead=_round(analysis.black_lead, 2),
        candidates=tuple(_candidate(candidate, size) for candidate in analysis.candidates[:CANDIDATES_TOLD]),
        opinions=_opinions(judges, turn.game.board),
        ownership=None if analysis.ownership is None else tuple(np.round(analysis.ownership, 2).tolist()),
        move=_explain_move(judges, turn),
    )


def link_turns(previous: PositionRecord, position: PositionRecord) -> PositionRecord:
    """The position with what its last move lost and which territory it moved, compared with the turn before."""
    move = position.move
    if move is None:
        return position
    sign = 1 if move.color == "black" else -1
    candidates = [candidate.move for candidate in previous.candidates]
    changes = {
        "loss": _difference(previous.black_wins, position.black_wins, sign, _DIGITS),
        "points_lost": _difference(previous.black_lead, position.black_lead, sign, 2),
        "order": candidates.index(move.move) if move.move in candidates else None,
        "best": candidates[0] if candidates else None,
        "territory": _territory(previous, position, move.move),
    }
    return position.model_copy(update={"move": move.model_copy(update=changes)})


def _difference(before: float | None, now: float | None, sign: int, digits: int) -> float | None:
    return None if before is None or now is None else round(sign * (before - now), digits)


def _territory(previous: PositionRecord, position: PositionRecord, played: str) -> TerritoryRecord | None:
    """The points that changed hands, but the one that was played on."""
    if previous.ownership is None or position.ownership is None:
        return None
    size = isqrt(len(position.ownership))
    change = compare_ownership(np.array(previous.ownership), np.array(position.ownership))
    return TerritoryRecord(
        black_gain=round(change.black_gain, 2),
        to_black=tuple(vertex for vertex in _vertices(change.to_black, size) if vertex != played),
        to_white=tuple(vertex for vertex in _vertices(change.to_white, size) if vertex != played),
    )


# A position


def _candidate(candidate: Candidate, size: int) -> CandidateRecord:
    return CandidateRecord(
        move=format_vertex(candidate.move, size),
        black_wins=_round(candidate.black_wins),
        black_lead=_round(candidate.black_lead, 2),
        prior=_round(candidate.prior),
        visits=candidate.visits,
        variation=_vertices((candidate.variation or (candidate.move,))[:VARIATION_TOLD], size),
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
    tactics = find_tactics(board, move)
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
            if isinstance(evaluator, CnnEvaluator)
            for people in explain_people(name, evaluator, board, move)
        ),
        tactics=tuple(TacticRecord(what=fact.tactic.value, stones=_vertices(fact.stones, size)) for fact in tactics),
    )


def explain_shapes(name: str, evaluator: LinearEvaluator, board: Board, move: int) -> ShapesRecord:
    """What a move changes in the mover's logit, shape by shape, as far as there is room to tell."""
    changes = explain_change(evaluator, board, move)
    told, others = changes.changes[:SHAPES_TOLD], changes.changes[SHAPES_TOLD:]
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
            for change in told
        ),
        others=fsum(change.change for change in others),
        sides=sum_by_side(evaluator.features, changes),
    )


def explain_people(name: str, evaluator: CnnEvaluator, board: Board, move: int) -> list[PeopleRecord]:
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
