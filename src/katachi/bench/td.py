"""Games of TD self-play a second, learning on: katachi's fast form, its C++ twin, and the update after every move.

All ten sets of shapes up to 3×3, LI and LD, one agent. The twin (``benchmarks/td.cpp`` of the repository) is compiled
with ``g++ -O3 -march=native`` and must learn the same: same seed, same games, the same weights to the last bit, or
the benchmark refuses to go on. Each contestant goes on with its own learning from round to round, after enough games
for the batches to have their full length.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.bench.report import Bar, BenchmarkError, Contestant, Report, Row, load_twin, measure
from katachi.shapes.learner import TdLearner, TdSettings
from katachi.shapes.self_play import FastSelfPlay

SIZES: Final = (5, 9)
UNIT: Final = "games/s"
SETS: Final = tuple(f"{location} {size}" for location in ("LI", "LD") for size in ("1x1", "2x1", "2x2", "3x2", "3x3"))

_GUESSED_RATE: Final = {5: 40_000, 9: 10_000}  # how much work makes a round; it need not be right
_ONLINE_WEIGHT: Final = {5: 1 / 5, 9: 1 / 10}
_WARM_UP: Final = 2_000  # games; batches are of full length after 1,600
_ENOUGH: Final = 10**12


def run(seconds: float = 0.4, rounds: int = 15) -> Report:
    """Measure all contestants that are there; a round of one of them lasts about ``seconds``."""
    notes: list[str] = []
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        library = load_td_twin(Path(folder), notes)
        for size in SIZES:
            contestants = _contestants(size, library)
            rows += measure(contestants, size, UNIT, max(10, round(_GUESSED_RATE[size] * seconds)), rounds)
    return Report("td", rows, list(_bars(rows)), notes)


def _contestants(size: int, library: ctypes.CDLL | None) -> list[Contestant]:
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
    """The C++ learner, with the tables of a katachi learner that has not begun."""

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
        run, tables, learner = self_play.run[0], self_play.tables, self_play.learner[0]
        windows = len(tables.cells)
        numbers = {
            "size": size,
            "agents": 1,
            "windows3": len(self_play.fused.cells),
            "windows": windows,
            "weight_count": self.weights.shape[1],
            "seed": int(self_play.state()["random"][0]),
            "explore": int(run["explore"]),
            "komi": float(run["komi"]),
            "step_size": float(run["step_size"]),
            "logistic": int(run["logistic"]),
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


def _bars(rows: list[Row]) -> Iterator[Bar]:
    rates = {(row.name, row.size): row.rate for row in rows}
    for other, sizes, at_least in (("cpp", SIZES, 0.9), ("katachi-online", (9,), 5.0)):
        for size in sizes:
            if (other, size) in rates:
                yield Bar(f"katachi / {other}", size, rates["katachi", size] / rates[other, size], at_least)
