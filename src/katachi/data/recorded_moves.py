"""The moves of a record as arrays, from the board before the first of them up to what cannot be played."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.go.board import Board
from katachi.go.kernels import board as kernels
from katachi.go.points import BLACK, WHITE
from katachi.sgf.errors import SgfError
from katachi.sgf.record import SgfGame
from katachi.sgf.replay import MOST_STEPS
from katachi.sgf.vertices import read_move

_COLORS: Final = {"B": BLACK, "W": WHITE}
_STONES: Final = frozenset(("AB", "AW", "AE"))


class Cut(StrEnum):
    """Why a record is not taken to its end."""

    SETUP = "stones set up after the first move"
    UNREADABLE = "a move that is no point"
    ILLEGAL = "an illegal move"


class RecordedMoves(NamedTuple):
    """The board before the first move, and the legal moves from there on (simple ko, no suicide)."""

    start: Board
    moves: NDArray[np.int64]
    colors: NDArray[np.int8]
    cut: Cut | None


def read_moves(record: SgfGame) -> RecordedMoves:
    """The moves of the main line up to what cannot be played; raises SgfError if the game is none for katachi."""
    start = record.replay(before_move=1).board
    moves, colors, cut = _list_moves(record, start.size)
    if len(moves) > MOST_STEPS:
        raise SgfError(f"more than {MOST_STEPS} moves")
    line = np.array(moves, dtype=np.int64)
    line_colors = np.array(colors, dtype=np.int8)
    played = kernels.play_moves(start.record.copy(), line, line_colors, False)
    if played < line.size:
        cut = Cut.ILLEGAL
    return RecordedMoves(start, line[:played], line_colors[:played], cut)


def _list_moves(record: SgfGame, size: int) -> tuple[list[int], list[int], Cut | None]:
    """The moves and colors of the main line, legal or not, up to a later set-up or a move that cannot be read."""
    moves: list[int] = []
    colors: list[int] = []
    for node in record.main_line():
        if moves and not _STONES.isdisjoint(node.properties):
            return moves, colors, Cut.SETUP
        for name, values in node.properties.items():
            if name in _COLORS:
                for value in values:
                    move = read_move(value, size)
                    if move is None:
                        return moves, colors, Cut.UNREADABLE
                    moves.append(move)
                    colors.append(_COLORS[name])
    return moves, colors, None
