"""Positions for tests."""

from __future__ import annotations

import numpy as np

from katachi.go.board import Board


def random_board(size: int, plies: int, seed: int) -> Board:
    """A board after so many random moves; a side without one waits."""
    rng = np.random.default_rng(seed)
    board = Board(size)
    for _ in range(plies):
        moves = np.flatnonzero(board.legal_moves()[:-1])
        if moves.size:
            board.play(int(rng.choice(moves)))
    return board
