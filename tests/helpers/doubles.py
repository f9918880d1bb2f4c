"""Evaluators for tests of searches, and plain minimax: the slow twin of alpha-beta."""

from __future__ import annotations

import numpy as np
from numba import njit

from katachi.core.contracts import Evaluation
from katachi.core.evaluators import after, moves_of
from katachi.go.game import Game
from katachi.go.points import PASS
from katachi.go.scoring import area_score
from katachi.search.one_ply import komi_of, passes_before, root_moves, sensible_captures, sensible_moves


@njit(cache=True, nogil=True)
def hash_value(boards, parameters):
    """A value that looks random but depends on the stones and the turn alone; parameters: granularity, salt."""
    b = boards[0]
    word = b.hash ^ np.uint64(parameters[0][1])
    if b.to_play < 0:
        word = ~word
    word = (word ^ (word >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.float64((word >> np.uint64(40)) % np.uint64(parameters[0][0])) / np.float64(parameters[0][0] - 1)


class HashEvaluator:
    """Judges boards by ``hash_value``: no two are alike, unless ``steps`` is small. Only has ``evaluate``."""

    def __init__(self, steps: int = 1 << 20, salt: int = 0) -> None:
        self.parameters = (np.array([steps, salt], dtype=np.int32), np.zeros(1, dtype=np.float32))

    def value(self, board) -> float:
        return float(hash_value(board.record, self.parameters))

    def evaluate(self, boards):
        wins = np.array([self.value(board) for board in boards], dtype=np.float32)
        legal = np.stack([board.legal_moves() for board in boards])
        return Evaluation(wins, (legal / legal.sum(axis=1, keepdims=True)).astype(np.float32))


class CompiledHashEvaluator(HashEvaluator):
    """The same for compiled searches, without a sweep of its own."""

    kernel = staticmethod(hash_value)


class Minimax:
    """The value of a game to a depth, and then by captures, with neither cuts nor tables."""

    def __init__(self, evaluator, game: Game, quiescence: int = 0) -> None:
        self.value = evaluator.value
        self.komi = komi_of(game)
        self.quiescence = quiescence

    def root_values(self, game: Game, depth: int) -> dict[int, float]:
        """P(Black wins) after each move considered."""
        passes = passes_before(game)
        return {move: self.after(game.board, move, depth, passes) for move in moves_of(root_moves(game))}

    def after(self, board, move, depth, passes):
        if move == PASS and passes == 1:
            return self.outcome(board)
        return self.node(after(board, move), depth - 1, passes + 1 if move == PASS else 0)

    def outcome(self, board):
        return float(np.heaviside(area_score(board) - self.komi, 0.5))

    def node(self, board, depth, passes):
        if depth == -self.quiescence:
            return self.value(board)
        best = max if board.to_play > 0 else min
        if depth > 0:
            moves = moves_of(sensible_moves(board))
            return best(self.after(board, move, depth, passes) for move in moves)
        captures = moves_of(sensible_captures(board))
        return best([self.value(board), *(self.after(board, move, depth, passes) for move in captures)])
