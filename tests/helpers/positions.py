"""Positions for tests."""

from __future__ import annotations

import numpy as np

from katachi.go.board import Board
from katachi.go.points import PASS


def random_board(size: int, plies: int, seed: int) -> Board:
    """A board after so many random moves; a side without one waits."""
    rng = np.random.default_rng(seed)
    board = Board(size)
    for _ in range(plies):
        moves = np.flatnonzero(board.legal_moves()[:-1])
        if moves.size:
            board.play(int(rng.choice(moves)))
    return board


def random_positions(size: int, count: int, seed: int) -> list[Board]:
    """Positions of random games in which eyes are mostly left open, one of four of each game."""
    rng = np.random.default_rng(seed)
    found: list[Board] = []
    while len(found) < count:
        board = Board(size)
        for _ in range(2 * size * size):
            board.play(random_move(board, rng))
            if rng.random() < 0.25:
                found.append(Board.wrap(board.record.copy()))
    return [found[i] for i in rng.choice(len(found), size=count, replace=False)]


def random_move(board: Board, rng: np.random.Generator) -> int:
    """A legal move that hardly ever fills an own eye, or a pass."""
    fills_eyes = rng.random() < 0.05
    for move in rng.permutation(board.size**2).tolist():
        if board.is_legal(move) and (fills_eyes or not board.is_own_eye(move, board.to_play)):
            return move
    return PASS
