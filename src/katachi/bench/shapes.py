"""Linear values: candidate moves per second that shapes and CRBM features evaluate, and games learned from.

One ply: basic shapes, and basic and liberty shapes together.

``katachi-basic`` and ``katachi`` are sweeps that change what a move changes; ``katachi-whole-board`` values the same
shapes as ``katachi`` by playing each move on a copy of the board and looking at all of it. All take the same positions,
from random games, and random weights: what a shape is worth does not matter here.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.bench import BenchmarkError, Contestant, Report, Row, Target, load_twin, measure
from katachi.bench.kernels.shapes import sweep_boards, value_afterstates
from katachi.core.contracts import Floats
from katachi.core.evaluators import after, moves_of
from katachi.crbm.config import CrbmConfig
from katachi.crbm.evaluator import CrbmFeatures
from katachi.go.board import Board
from katachi.go.kernels.board import new_boards
from katachi.shapes.features import LocalShapes
from katachi.shapes.learner import TdLearner, TdSettings
from katachi.shapes.liberty import CombinedShapes, LibertyShapes
from katachi.shapes.model import FusedLinearModel
from katachi.shapes.self_play import FastSelfPlay
from katachi.shapes.sets import ShapeSet

SHAPES_SIZES: Final = (9, 19)
SHAPES_UNIT: Final = "candidates/s"

_SMALL: Final = ("1x1", "2x1", "2x2")
_GAMES: Final = 4
_SHAPES_GUESSED_RATE: Final = 2_000_000  # how much work makes a round; it need not be right
_WHOLE_BOARD_WEIGHT: Final = {9: 1 / 5, 19: 1 / 20}
_LIBERTY_WEIGHT: Final = 1 / 4


def run_shapes(seconds: float = 0.4, rounds: int = 15) -> Report:
    """Measure all contestants; a round of one of them lasts about ``seconds``."""
    rows: list[Row] = []
    for size in SHAPES_SIZES:
        rows += measure(
            _shapes_contestants(size), size, SHAPES_UNIT, max(10, round(_SHAPES_GUESSED_RATE * seconds)), rounds
        )
    return Report("shapes", rows, list(_shapes_targets(rows)), [])


def _shapes_contestants(size: int) -> list[Contestant]:
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
    """Every position of a few random games in which nobody fills an eye of their own, shuffled, as records."""
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


def _shapes_targets(rows: list[Row]) -> Iterator[Target]:
    rates = {(row.name, row.size): row.rate for row in rows}
    for size in SHAPES_SIZES:
        for other, at_least in (("katachi-basic", 0.2), ("katachi-whole-board", 1.0)):
            yield Target(f"katachi / {other}", size, rates["katachi", size] / rates[other, size], at_least)


# Candidate moves per second valued by CRBM features, one core: 105 kernels of each kind, and a second layer.
#
# ``katachi`` and the others are sweeps that compute what a move changes; ``katachi-whole-board`` computes all features
# of every afterstate of the same boards. Weights are random: what a kernel looks for does not matter here.

SIZE: Final = 9
WANTED: Final = 20_000  # candidates per second of ``katachi``

_CRBM_GUESSED_RATE: Final = 100_000  # how much work makes a round; it need not be right
_KINDS: Final = {
    "katachi": (CrbmConfig(size=SIZE), 1.0),
    "katachi-liberties": (CrbmConfig(size=SIZE, liberties=True, edges=True), 0.7),
    "katachi-oriented": (CrbmConfig(size=SIZE, units="oriented-or-off"), 0.1),
    "katachi-stacked": (CrbmConfig(size=SIZE, second_kernels=50), 0.05),
}


def run_crbm(seconds: float = 0.4, rounds: int = 15) -> Report:
    """Measure all contestants; a round of one of them lasts about ``seconds``."""
    records = random_positions(SIZE)
    boards = [Board.wrap(records[i : i + 1]) for i in range(records.size)]
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
    rows = measure(contestants, SIZE, SHAPES_UNIT, max(10, round(_CRBM_GUESSED_RATE * seconds)), rounds)
    rates = {row.name: row.rate for row in rows}
    targets = [
        Target(f"katachi / {WANTED:,} candidates/s", SIZE, rates["katachi"] / WANTED, 1.0),
        Target("katachi / katachi-whole-board", SIZE, rates["katachi"] / rates["katachi-whole-board"], 1.0),
    ]
    return Report("crbm", rows, targets, [])


def random_features(config: CrbmConfig, seed: int = 0) -> CrbmFeatures:
    """A CRBM with random weights."""
    rng = np.random.default_rng(seed)
    shapes = config.weight_shapes().items()
    return CrbmFeatures(config, {name: rng.normal(size=shape, scale=0.3).astype(np.float32) for name, shape in shapes})


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


# Games of TD self-play per second, learning on: katachi's fast form, its C++ twin, and the update after every move.
#
# All ten sets of shapes up to 3×3, LI and LD, one agent. The twin (``benchmarks/td.cpp`` of the repository) is compiled
# with ``g++ -O3 -march=native`` and must learn the same: same seed, same games, the same weights to the last bit, or
# the benchmark is refused. Each contestant continues its own learning from round to round, after enough games
# for the batches to have their full length.

TD_SIZES: Final = (5, 9)
TD_UNIT: Final = "games/s"
SETS: Final = tuple(f"{location} {size}" for location in ("LI", "LD") for size in ("1x1", "2x1", "2x2", "3x2", "3x3"))

_TD_GUESSED_RATE: Final = {5: 40_000, 9: 10_000}  # how much work makes a round; it need not be right
_ONLINE_WEIGHT: Final = {5: 1 / 5, 9: 1 / 10}
_WARM_UP: Final = 2_000  # games; batches are of full length after 1,600
_ENOUGH: Final = 10**12


def run_td(seconds: float = 0.4, rounds: int = 15) -> Report:
    """Measure all contestants that are there; a round of one of them lasts about ``seconds``."""
    notes: list[str] = []
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        library = load_td_twin(Path(folder), notes)
        for size in TD_SIZES:
            contestants = _td_contestants(size, library)
            rows += measure(contestants, size, TD_UNIT, max(10, round(_TD_GUESSED_RATE[size] * seconds)), rounds)
    return Report("td", rows, list(_td_targets(rows)), notes)


def _td_contestants(size: int, library: ctypes.CDLL | None) -> list[Contestant]:
    fast, online = (new_learner(size, mode) for mode in ("fast", "online"))
    fast.train(_WARM_UP)
    online.train(10)  # compiles
    contestants = [
        Contestant("katachi", 1, lambda _, count, __: fast.train(count)),
        Contestant("katachi-online", 1, lambda _, count, __: online.train(count), _ONLINE_WEIGHT[size]),
    ]
    if library is not None:
        check_same_weights(library, size)
        twin = Twin(library, size)
        twin.train(_WARM_UP)
        contestants.append(Contestant("cpp", 1, lambda _, count, __: twin.train(count)))
    return contestants


def new_learner(size: int, mode: str = "fast", seed: int = 1) -> TdLearner:
    """The learner that is measured."""
    options = {"size": size, "sets": SETS, "agents": 1, "gradient": "logistic", "step_size": 0.3, "seed": seed}
    return TdLearner(TdSettings.model_validate({**options, "mode": mode}), _ENOUGH)


class _Level(ctypes.Structure):
    """``Level`` of the twin."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("child", "child_share", "weight", "weight_share", "table")),
        *((name, ctypes.c_int64) for name in ("classes", "children", "weights", "codes")),
    )


class _Task(ctypes.Structure):
    """``TdTask`` of the twin."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("size", "agents", "windows3", "windows", "weight_count")),
        *((name, ctypes.c_uint64) for name in ("seed", "explore")),
        *((name, ctypes.c_double) for name in ("komi", "step_size")),
        ("logistic", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("cells", "classes", "starts", "contact", "power")),
        *((name, ctypes.c_void_p) for name in ("sets", "base", "step", "canonical", "weights")),
        ("levels", _Level * 3),
    )


class Twin:
    """The C++ learner, with the tables of a new katachi learner."""

    def __init__(self, library: ctypes.CDLL, size: int) -> None:
        self_play = new_learner(size).self_play
        assert isinstance(self_play, FastSelfPlay)
        self.weights = self_play.weights
        self._library = library
        self._arrays: list[NDArray[Any]] = []  # what the twin points into must live as long as it does
        self._task = self._new_task(self_play, size)
        self._learner = ctypes.c_void_p(library.katachi_td_new(ctypes.byref(self._task)))

    def train(self, games: int) -> None:
        self._library.katachi_td_train(self._learner, games)

    def __del__(self) -> None:
        self._library.katachi_td_free(self._learner)

    def _new_task(self, self_play: FastSelfPlay, size: int) -> _Task:
        run_td, tables, learner = self_play.run[0], self_play.tables, self_play.learner[0]
        windows = len(tables.cells)
        numbers = {
            "size": size,
            "agents": 1,
            "windows3": len(self_play.fused.cells),
            "windows": windows,
            "weight_count": self.weights.shape[1],
            "seed": int(self_play.state()["random"][0]),
            "explore": int(run_td["explore"]),
            "komi": float(run_td["komi"]),
            "step_size": float(run_td["step_size"]),
            "logistic": int(run_td["logistic"]),
        }
        arrays = {
            "cells": self_play.fused.cells,
            "classes": self_play.fused.classes,
            "starts": tables.contact_starts,
            "contact": tables.contact_window,
            "power": tables.contact_power,
            "sets": learner["sets"][:windows],
            "base": learner["base"][:windows],
            "step": learner["step"][:windows],
            "canonical": tables.canonical,
            "weights": self.weights,
        }
        pointers = {name: self._point_to(array) for name, array in arrays.items()}
        return _Task(**numbers, **pointers, levels=(_Level * 3)(*map(self._new_level, self_play.levels)))

    def _new_level(self, level: Any) -> _Level:
        classes, children, codes = level.child.shape
        pointers = [self._point_to(array) for array in level]
        return _Level(*pointers, classes, children, level.weight.shape[1], codes)

    def _point_to(self, array: NDArray[Any]) -> int:
        whole = np.ascontiguousarray(array)
        self._arrays.append(whole)
        return whole.ctypes.data


def load_td_twin(folder: Path, notes: list[str]) -> ctypes.CDLL | None:
    """The C++ twin with the types of its functions."""
    library = load_twin("td", folder, notes)
    if library is None:
        return None
    library.katachi_td_new.restype = ctypes.c_void_p
    library.katachi_td_train.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    library.katachi_td_free.argtypes = [ctypes.c_void_p]
    for function in (library.katachi_td_train, library.katachi_td_free):
        function.restype = None
    return library


def check_same_weights(library: ctypes.CDLL, size: int, games: int = 300) -> None:
    """Raise BenchmarkError unless both learn the same weights from the same seed."""
    learner, twin = new_learner(size), Twin(library, size)
    learner.train(games)
    twin.train(games)
    ours, theirs = learner.self_play.weights, twin.weights
    if ours.tobytes() != theirs.tobytes():
        raise BenchmarkError(f"{size}×{size}: katachi's weights sum to {ours.sum()}, the C++ twin's to {theirs.sum()}")


def _td_targets(rows: list[Row]) -> Iterator[Target]:
    rates = {(row.name, row.size): row.rate for row in rows}
    for other, sizes, at_least in (("cpp", TD_SIZES, 0.9), ("katachi-online", (9,), 5.0)):
        for size in sizes:
            if (other, size) in rates:
                yield Target(f"katachi / {other}", size, rates["katachi", size] / rates[other, size], at_least)
