"""The memory of TD search by definition: a dictionary of what was seen in which rectangle, learned by the equations."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from helpers import naive_shapes
from katachi.go.board import Board
from katachi.go.points import BLACK


class NaiveMemory:
    """Weights by rectangle and contents; ``begin`` is the logit to which they add."""

    def __init__(self, board_size: int, sizes: Sequence[tuple[int, int]], begin=lambda board: 0.0) -> None:
        self.places = [place for size in sizes for place in naive_shapes.placements(board_size, *size)]
        self.weights: dict[tuple[object, ...], float] = defaultdict(float)
        self.begin = begin

    def active(self, board: Board) -> list[tuple[object, ...]]:
        seen = naive_shapes.digits(board, -board.to_play)
        return [(place, naive_shapes.read(seen, board.size, place)) for place in self.places]

    def logit(self, board: Board) -> float:
        """Of the player who has just moved."""
        return self.begin(board) + sum(self.weights[key] for key in self.active(board))

    def learn(self, afterstates: Sequence[Board], black_wins: float, step_size: float) -> None:
        """TD(0) over the afterstates of each side, all values by the weights from before."""
        values = [1 / (1 + math.exp(-self.logit(board))) for board in afterstates]
        for t, board in enumerate(afterstates):
            reward = black_wins if -board.to_play == BLACK else 1 - black_wins
            target = values[t + 2] if t + 2 < len(afterstates) else reward
            for key in self.active(board):
                self.weights[key] += step_size * (target - values[t]) / len(self.places)
