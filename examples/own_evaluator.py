"""An evaluator of your own in the tree search: any object with ``evaluate(boards)`` will do.

This one counts a point for whoever has the nearest stone, which knows nothing of captures. The example shows what it
says about a position, what the tree finds with it, and a match against ``influence``, a bundled player with a similar
idea that does not look ahead.

Run it with: python examples/own_evaluator.py [GAMES]       (about half a minute)
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from katachi import Board, Evaluation, Game, Mcts, format_vertex, parse_vertex, play_match

SIZE = 7
KOMI = 7.5


class NearestStone:
    """P(Black wins) from the points that are nearer to Black's stones, and moves near other stones first."""

    def evaluate(self, boards: Sequence[Board]) -> Evaluation:
        wins, policies = zip(*map(self._evaluate, boards), strict=True)
        return Evaluation(np.array(wins, dtype=np.float32), np.array(policies, dtype=np.float32))

    def _evaluate(self, board: Board) -> tuple[float, NDArray[np.float64]]:
        stones = np.asarray(board)  # [n, n]: +1 Black, −1 White, 0 empty
        to_black, to_white = distances(stones == 1), distances(stones == -1)
        lead = np.sign(to_white - to_black).sum() - KOMI
        weights = np.append(1 / np.minimum(to_black, to_white).clip(1, 4).ravel(), 0.01)  # the pass is last
        weights *= board.legal_moves()
        return 1 / (1 + np.exp(-lead / 5)), weights / weights.sum()


def distances(stones: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Steps from each point to the nearest of some stones."""
    rows, columns = np.indices(stones.shape)
    steps = [abs(rows - row) + abs(columns - column) for row, column in np.argwhere(stones)]
    nearest: NDArray[np.int64] = np.min(steps or [np.full(stones.shape, 99)], axis=0)
    return nearest


def main(games: int) -> None:
    game = Game(SIZE)
    for vertex in ("D4", "D3", "E3", "C4"):
        game.play(parse_vertex(vertex, SIZE))
    print(game)
    print(f"nearest stone alone: Black wins {NearestStone().evaluate([game.board]).black_wins[0]:.0%}")
    found = Mcts(NearestStone(), simulations=500, seed=1).search(game)
    line = " ".join(format_vertex(move, SIZE) for move in found.variation[:6])
    print(f"after {found.simulations} simulations: Black wins {found.black_wins:.0%} with {line}")
    own = Mcts(NearestStone(), simulations=100, seed=1, name="nearest stone")
    print(play_match(own, "influence", games=games, size=SIZE))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
