"""Counting recorded games again: whether somebody's word on who owns what leads to the result that the record tells.

An ownership is [n²] of int8: +1 Black's, −1 White's, 0 neutral. A stone on a point that is not its owner's is dead.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.data.dataset import BONUSES, SCORINGS, TAXES, Dataset
from katachi.go import scoring
from katachi.go.board import Board
from katachi.go.points import BLACK, EMPTY, WHITE
from katachi.go.rules import Rules, Scoring, Tax

Ownership = NDArray[np.int8]

_ANY_RULES: Final = (Rules(), Rules(scoring=Scoring.TERRITORY))  # how games are counted whose records tell no rules
_SAME: Final = 0.01  # of a point: results are written with one digit after the point


class FinalGame(NamedTuple):
    """The end of a game that was counted, and what its record says of the count."""

    board: Board
    marks: Ownership  # whose territory the record marks each point as; all EMPTY if it does not
    rules: tuple[Rules, ...]  # by one of which it was counted
    handicap: int
    black_lead: float


def final_game(dataset: Dataset, game: int) -> FinalGame:
    """The end of a game of a set that was counted with a komi that the record tells."""
    row, ending = dataset.games[game], dataset.endings[game]
    told = SCORINGS[ending["scoring"]]
    rules: tuple[Rules, ...] = _ANY_RULES
    if told is not None:
        rules = (Rules(scoring=told, tax=TAXES[ending["tax"]], handicap_bonus=BONUSES[ending["bonus"]]),)
    return FinalGame(
        dataset.end(game),
        dataset.marks_of(game),
        tuple(way.with_komi(float(row["komi"])) for way in rules),
        int(row["handicap"]),
        float(row["winner"]) * float(ending["margin"]),
    )


def was_counted(dataset: Dataset) -> NDArray[np.bool_]:
    """Of which games the record tells by how much they were won, and with what komi, [games]."""
    return np.asarray(~np.isnan(dataset.endings["margin"]) & ~np.isnan(dataset.games["komi"]))


def reproduces(final: FinalGame, ownership: Ownership) -> bool:
    """Whether counting like this leads to the result of the record."""
    return any(abs(_black_lead(final, ownership, way) - final.black_lead) < _SAME for way in final.rules)


def _black_lead(final: FinalGame, ownership: Ownership, rules: Rules) -> float:
    stones = final.board.stones
    if rules.scoring is Scoring.AREA:
        points = int(ownership.sum(dtype=np.int64))
    else:
        is_alive = (stones != EMPTY) & (stones == ownership)
        dead_and_owned = (ownership - stones)[~is_alive]  # a dead stone is a prisoner, the point under it territory
        points = int(dead_and_owned.sum(dtype=np.int64)) + final.board.captured(WHITE) - final.board.captured(BLACK)
    return points - rules.komi - rules.handicap_compensation(final.handicap)


def ownership_by_marks(final: FinalGame) -> Ownership:
    """What the record marks, and stones where it marks nothing."""
    return np.where(final.marks == EMPTY, final.board.stones, final.marks)


def ownership_by_status(final: FinalGame, dead: Collection[int], seki: Collection[int]) -> Ownership:
    """Who owns each point if these stones are dead; raises ValueError where there is no stone.

    Eyes in seki are neutral if that alone leads to the result: not every server takes them for what its rules say.
    """
    ownership = scoring.area(final.board, dead)
    if not seki or reproduces(final, ownership) or all(way.tax is not Tax.SEKI for way in final.rules):
        return ownership
    surrounded = scoring.territory(final.board, dead)
    taxed = scoring.territory(final.board, dead, seki)
    return np.where(surrounded == taxed, ownership, np.int8(EMPTY))
