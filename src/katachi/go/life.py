"""Benson's theorem: the chains that cannot be captured even if their owner always passes.

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
from katachi.go.kernels.scoring import fill_alive


class Life(NamedTuple):
    """What is unconditionally alive: stones of the color, and the vital regions around them, both [n²].

    The enemy cannot make an eye in a vital region, so that enemy stones there are dead.
    """

    stones: NDArray[np.bool_]
    regions: NDArray[np.bool_]


def unconditional_life(board: Board, color: int) -> Life:
    """The unconditionally alive stones of a color and their vital regions, apart."""
    alive = Life(np.empty(board.size**2, dtype=np.bool_), np.empty(board.size**2, dtype=np.bool_))
    fill_alive(board.record, color, alive.stones, alive.regions)
    return alive


def unconditionally_alive(board: Board, color: int) -> NDArray[np.bool_]:
    """All points that are a color's whatever the enemy plays: alive stones and their vital regions, [n²]."""
    alive = unconditional_life(board, color)
    return alive.stones | alive.regions
