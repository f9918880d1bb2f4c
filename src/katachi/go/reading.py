"""Reading without a search over all moves: ladders, and which chains live unconditionally (Benson).

A ladder puts a chain in atari again and again. The attacker, with the chain at two liberties, fills one of them; the
defender, always in atari, extends at its last liberty or takes an attacking chain in atari beside it. The chain is
captured when the defender has no move left that helps, and escapes when it has three liberties or the attacker has no
legal move. Simple ko is respected, suicide is illegal, stones on the way (ladder breakers, ladder stones in atari) are
read, not guessed.

A reading is bounded (``kernels.ladders.MAX_NODES`` positions, ``MAX_PLIES`` moves deep); what is undecided then neither
captures nor escapes.

>>> from katachi.go.points import parse_vertex
>>> board = Board.parse('''
... . . . . . .
... . . X . . .
... . X O . . .
... . X . . . .
... . . . . . .
... . . . . . .''')
>>> captures_in_ladder(board, parse_vertex("D4", 6)), captures_in_ladder(board, parse_vertex("C3", 6))
(True, False)
>>> " ".join(format_vertex(move, 6) for move in read_ladder(board, parse_vertex("C4", 6)).line)
'D4 C3 C2 D3 E3 D2 E2 D1 C1 E1 F1'

Benson's theorem: the chains that cannot be captured even if their owner always passes.

Benson, *Life in the game of Go*, Information Sciences 10 (1976). A region of a color holds no stone of it. It is
*vital* to a chain if all its empty points are liberties of the chain. The unconditionally alive chains are the
largest set in which each chain has two vital regions that only chains of the set surround.

>>> from katachi.go.board import Board
>>> from katachi.go.points import BLACK
>>> board = Board.parse('. X . X / X X X X / . . . . / . . . .')
>>> alive = unconditional_life(board, BLACK)
>>> int(alive.stones.sum()), int(alive.regions.sum())
(6, 2)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.go.board import Board
from katachi.go.kernels import ladders as kernels
from katachi.go.kernels.ladders import MAX_PLIES
from katachi.go.kernels.scoring import fill_alive
from katachi.go.points import EMPTY, PASS, format_vertex


class Ladder(NamedTuple):
    """What a reading found: ``captured`` is None if it was given up. ``line`` is the play that shows it.

    The side that succeeds plays what works, the other resists for as long as it can.
    """

    captured: bool | None
    line: tuple[int, ...]


def read_ladder(board: Board, point: int, *, attacker_first: bool = True) -> Ladder:
    """Read the ladder on the chain at a point; raises ValueError where no stone is.

    If the defender is to move, a chain that is not in atari has escaped already.
    """
    if board[point] == EMPTY:
        raise ValueError(f"there is no stone on {format_vertex(point, board.size)} to catch in a ladder")
    if not attacker_first and board.liberty_count(point) > 1:
        return Ladder(False, ())
    line = np.empty(MAX_PLIES + 1, dtype=np.int64)
    verdict, length = kernels.read_at(board.record, point, attacker_first, line)
    captured = None if verdict == kernels.UNDECIDED else verdict == kernels.CAPTURED
    return Ladder(captured, tuple(line[:length].tolist()))


def is_ladder_capture(board: Board, point: int) -> bool:
    """Whether the chain at a point is captured if the opponent moves first, in a ladder or out of atari at once."""
    return read_ladder(board, point).captured is True


def captures_in_ladder(board: Board, move: int, color: int | None = None) -> bool:
    """Whether a move fills one of the exactly two liberties of a chain, and catches it. ``color``: as in ``play``."""
    if not _is_playable(board, move, color):
        return False
    return bool(kernels.captures_by(board.record, move, board.to_play if color is None else color))


def escapes_from_ladder(board: Board, move: int, color: int | None = None) -> bool:
    """Whether a move saves an own chain in atari, so that no ladder catches it. ``color``: as in ``play``."""
    if not _is_playable(board, move, color):
        return False
    return bool(kernels.escapes_by(board.record, move, board.to_play if color is None else color))


def ladder_captures(board: Board, color: int | None = None) -> NDArray[np.bool_]:
    """``captures_in_ladder`` for every point at once, [n²]."""
    out = np.empty(board.size**2, dtype=np.bool_)
    kernels.fill_captures(board.record, board.to_play if color is None else color, out)
    return out


def _is_playable(board: Board, move: int, color: int | None) -> bool:
    return move != PASS and board.is_legal(move, color)


# Unconditional life: Benson's algorithm.


class Life(NamedTuple):
    """What is unconditionally alive: stones of the color, and the vital regions around them, both [n²].

    The opponent cannot make an eye in a vital region, so that opponent stones there are dead.
    """

    stones: NDArray[np.bool_]
    regions: NDArray[np.bool_]


def unconditional_life(board: Board, color: int) -> Life:
    """The unconditionally alive stones of a color and their vital regions, apart."""
    alive = Life(np.empty(board.size**2, dtype=np.bool_), np.empty(board.size**2, dtype=np.bool_))
    fill_alive(board.record, color, alive.stones, alive.regions)
    return alive


def unconditionally_alive(board: Board, color: int) -> NDArray[np.bool_]:
    """All points that are a color's whatever the opponent plays: alive stones and their vital regions, [n²]."""
    alive = unconditional_life(board, color)
    return alive.stones | alive.regions


def warmup() -> None:
    """Compile the reading of ladders."""
    board = Board(5)
    board.place(black=[11, 13, 7], white=[12])
    read_ladder(board, 12)
    read_ladder(board, 12, attacker_first=False)
    captures_in_ladder(board, 17), escapes_from_ladder(board, 17)
    ladder_captures(board)
