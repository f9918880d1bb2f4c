"""Candidate moves valued a second by CRBM features, one core: 105 kernels of each kind, and a second layer.

``katachi`` and the others are sweeps that compute what a move changes; ``katachi-whole-board`` computes all features of
every afterstate of the same boards. Weights are random: what a kernel looks for does not matter here.
"""

from __future__ import annotations

from itertools import cycle
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.bench.report import Bar, Contestant, Report, measure
from katachi.bench.shapes import UNIT, random_positions
from katachi.core.contracts import Floats
from katachi.core.evaluators import after, moves_of
from katachi.crbm.crbm_config import CrbmConfig
from katachi.crbm.evaluator import CrbmFeatures
from katachi.go.board import Board

SIZE: Final = 9
WANTED: Final = 20_000  # candidates a second of ``katachi``

_GUESSED_RATE: Final = 100_000  # how much work makes a round; it need not be right
_KINDS: Final = {
    "katachi": (CrbmConfig(size=SIZE), 1.0),
    "katachi-liberties": (CrbmConfig(size=SIZE, liberties=True, edges=True), 0.7),
    "katachi-oriented": (CrbmConfig(size=SIZE, units="oriented-or-off"), 0.1),
    "katachi-stacked": (CrbmConfig(size=SIZE, second_kernels=50), 0.05),
}


def run(seconds: float = 0.4, rounds: int = 15) -> Report:
    """Measure all contestants; a round of one of them lasts about ``seconds``."""
    boards = [_board(record) for record in random_positions(SIZE)]
    contestants = []
    for name, (config, weight) in _KINDS.items():
        features = random_features(config)
        values = np.random.default_rng(0).normal(size=features.size).astype(np.float32)
        contestants.append(Contestant(name, 1, _Sweeper(features, values, boards).sweep, weight))
        if name == "katachi":
            whole = _Sweeper(features, values, boards).whole_boards
            contestants.append(Contestant("katachi-whole-board", 1, whole, 0.1))
    for contestant in contestants:
        contestant.run(SIZE, 1, 0)  # compiles
    rows = measure(contestants, SIZE, UNIT, max(10, round(_GUESSED_RATE * seconds)), rounds)
    rates = {row.name: row.rate for row in rows}
    bars = [
        Bar(f"katachi / {WANTED:,} candidates/s", SIZE, rates["katachi"] / WANTED, 1.0),
        Bar("katachi / katachi-whole-board", SIZE, rates["katachi"] / rates["katachi-whole-board"], 1.0),
    ]
    return Report("crbm", rows, bars, [])


def random_features(config: CrbmConfig, seed: int = 0) -> CrbmFeatures:
    """A CRBM with random weights."""
    rng = np.random.default_rng(seed)
    shapes = config.weight_shapes().items()
    return CrbmFeatures(config, {name: rng.normal(size=shape, scale=0.3).astype(np.float32) for name, shape in shapes})


def _board(record: Any) -> Board:
    board = Board(SIZE)
    board.record = np.array([record])
    return board


class _Sweeper:
    """Values the candidates of board after board until enough are valued."""

    def __init__(self, features: CrbmFeatures, values: Floats, boards: list[Board]) -> None:
        self._features = features
        self._values = values
        self._boards = boards

    def sweep(self, size: int, count: int, seed: int) -> None:  # noqa: ARG002
        """What a move changes is computed."""
        done = 0
        for board in cycle(self._boards):
            done += int(np.count_nonzero(~np.isnan(self._features.sum_afterstates(board, self._values)[:-1])))
            if done >= count:
                return

    def whole_boards(self, size: int, count: int, seed: int) -> None:  # noqa: ARG002
        """Everything is computed, of all afterstates of a board in one call."""
        done = 0
        for board in cycle(self._boards):
            records = _afterstates(board)
            self._features.encode(records) @ self._values
            done += records.size
            if done >= count:
                return


def _afterstates(board: Board) -> NDArray[Any]:
    """The boards after all moves, as records; after the pass only if there is no other."""
    legal = board.legal_moves()
    legal[-1] = not legal[:-1].any()
    return np.concatenate([after(board, move).record for move in moves_of(legal)])
