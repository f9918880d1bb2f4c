"""Candidate moves valued a second, one ply: basic shapes, and basic and liberty shapes together.

``katachi-basic`` and ``katachi`` are sweeps that change what a move changes; ``katachi-whole-board`` values the same
shapes as ``katachi`` by playing each move on a copy of the board and looking at all of it. All take the same positions,
from random games, and random weights: what a shape is worth does not matter here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.bench.kernels.shapes import sweep_boards, value_afterstates
from katachi.bench.report import Bar, Contestant, Report, Row, measure
from katachi.go.board import Board
from katachi.go.kernels.board import new_boards
from katachi.shapes.combined_shapes import CombinedShapes
from katachi.shapes.liberty import LibertyShapes
from katachi.shapes.local_shapes import LocalShapes
from katachi.shapes.model import FusedLinearModel
from katachi.shapes.sets import ShapeSet

SIZES: Final = (9, 19)
UNIT: Final = "candidates/s"

_SMALL: Final = ("1x1", "2x1", "2x2")
_GAMES: Final = 4
_GUESSED_RATE: Final = 2_000_000  # how much work makes a round; it need not be right
_WHOLE_BOARD_WEIGHT: Final = {9: 1 / 5, 19: 1 / 20}
_LIBERTY_WEIGHT: Final = 1 / 4


def run(seconds: float = 0.4, rounds: int = 15) -> Report:
    """Measure all contestants; a round of one of them lasts about ``seconds``."""
    rows: list[Row] = []
    for size in SIZES:
        rows += measure(_contestants(size), size, UNIT, max(10, round(_GUESSED_RATE * seconds)), rounds)
    return Report("shapes", rows, list(_bars(rows)), [])


def _contestants(size: int) -> list[Contestant]:
    boards = random_positions(size)
    basic, both = _new_model(_basic(size)), _new_model(_both(size))
    spare = new_boards(1, size)
    sweep_basic = partial(sweep_boards, boards, basic.sweep_kernel, basic.parameters)
    sweep_both = partial(sweep_boards, boards, both.sweep_kernel, both.parameters)
    whole_board = partial(value_afterstates, boards, spare, both.kernel, both.parameters)
    for contestant in (sweep_basic, sweep_both, whole_board):
        contestant(1)  # compiles
    return [
        Contestant("katachi-basic", 1, lambda _, count, __: sweep_basic(count)),
        Contestant("katachi", 1, lambda _, count, __: sweep_both(count), _LIBERTY_WEIGHT),
        Contestant("katachi-whole-board", 1, lambda _, count, __: whole_board(count), _WHOLE_BOARD_WEIGHT[size]),
    ]


def random_positions(size: int) -> NDArray[Any]:
    """Every position of a few random games in which nobody fills an eye of his own, shuffled, as records."""
    rng = np.random.default_rng(size)
    records = []
    for _ in range(_GAMES):
        board = Board(size)
        for _ in range(size * size):
            legal = board.legal_moves()[:-1]
            sensible = [p for p in np.flatnonzero(legal).tolist() if not board.is_own_eye(p, board.to_play)]
            if not sensible:
                break
            board.play(int(rng.choice(sensible)))
            records.append(board.record.copy())
    return rng.permutation(np.concatenate(records))


def _basic(size: int) -> LocalShapes:
    names = (*_SMALL, "3x2", "3x3")
    return LocalShapes(size, [ShapeSet.parse(f"{location} {name}") for location in ("LI", "LD") for name in names])


def _both(size: int) -> CombinedShapes:
    sets = [ShapeSet.parse(f"{location} {name}") for location in ("LI", "LD") for name in _SMALL]
    return CombinedShapes(_basic(size), LibertyShapes(size, sets, tabled=True))


def _new_model(features: LocalShapes | CombinedShapes) -> FusedLinearModel:
    weights = np.random.default_rng(0).normal(scale=0.1, size=features.size)
    return FusedLinearModel(features, weights.astype(np.float32))


def _bars(rows: list[Row]) -> Iterator[Bar]:
    rates = {(row.name, row.size): row.rate for row in rows}
    for size in SIZES:
        for other, at_least in (("katachi-basic", 0.2), ("katachi-whole-board", 1.0)):
            yield Bar(f"katachi / {other}", size, rates["katachi", size] / rates[other, size], at_least)
