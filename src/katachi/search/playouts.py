"""Informed playouts: which parts of the policy are on, records ready to play with, and many playouts from a position.

>>> from katachi.go.board import Board
>>> statistics = run_informed_playouts(Board(9), PlayoutSettings(), 1000, seed=1)
>>> statistics.playouts, 0.3 < statistics.black_wins < 0.6
(1000, True)
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Evaluator
from katachi.features.windows import CODES
from katachi.go.board import Board
from katachi.go.kernels.board import OFF
from katachi.go.kernels.playouts import STATISTICS, random_state
from katachi.go.playouts import PlayoutStatistics, summarize
from katachi.go.rules import DEFAULT_KOMI
from katachi.search.fused_shapes import FusedShapes, fuse_shapes
from katachi.search.kernels.playouts import PLAYOUT, add_informed_playouts
from katachi.search.move_weights import MoveWeights, load_move_weights
from katachi.search.settings import PlayoutSettings

UNIFORM = PlayoutSettings(nakade=False, captures=False, escapes=False, self_atari=False, patterns=False)


def new_playouts(
    settings: PlayoutSettings,
    count: int,
    seed: int,
    weights: MoveWeights | None = None,
    evaluator: Evaluator | None = None,
) -> NDArray[Any]:
    """Records to play with, one for each thread, [count]; each has its own stream of random numbers.

    ``weights`` are those of the shipped file if they are not given. Where shapes choose moves, the evaluator must be a
    model of local shapes, and the records are for boards of its size; raises ValueError if it is none.
    """
    playouts = np.repeat(_shipped_record() if weights is None else _weighted_record(weights), count)
    playouts["random"] = [random_state(s) for s in np.random.SeedSequence(seed).generate_state(count, np.uint64)]
    switches = settings.model_dump()
    for name, is_on in switches.items():
        playouts[name] = is_on
    playouts["informed"] = any(switches.values())
    if settings.shapes:
        _add_shapes(playouts, fuse_shapes(evaluator))
    return playouts


def run_informed_playouts(
    board: Board,
    settings: PlayoutSettings,
    count: int,
    seed: int,
    komi: float = DEFAULT_KOMI,
    threads: int = 1,
    evaluator: Evaluator | None = None,
) -> PlayoutStatistics:
    """As ``go.playouts.run_playouts``, without the all-moves-as-first statistics."""
    if count < 1 or threads < 1:
        raise ValueError(f"{count} playouts on {threads} threads: both must be at least 1")
    playouts = new_playouts(settings, threads, seed, evaluator=evaluator)
    statistics = np.zeros(threads, dtype=STATISTICS)

    def run(i: int) -> None:
        share = count // threads + (i < count % threads)
        own = slice(i, i + 1)
        add_informed_playouts(board.record, board.record.copy(), playouts[own], statistics[own], share, komi)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, range(threads)))
    return summarize(statistics, board.size, komi)


@cache
def _shipped_record() -> NDArray[Any]:
    return _weighted_record(load_move_weights())


def _weighted_record(weights: MoveWeights) -> NDArray[Any]:
    """A record with its tables, and nothing remembered, [1]."""
    record = np.zeros(1, dtype=PLAYOUT)
    record["last"] = record["before"] = record["reply"] = OFF
    record["gamma"] = weights.expand_patterns()
    record["tactic_gamma"] = weights.tactic
    record["last_gamma"] = weights.last
    record["before_gamma"] = weights.before
    return record


def _add_shapes(playouts: NDArray[Any], shapes: FusedShapes) -> None:
    """Give records the windows of a board, and their values as whole numbers of 16 bits."""
    unit = max(float(np.abs(shapes.values).max()), 1e-30) / np.iinfo(np.int16).max
    values = np.rint(shapes.values / unit).ravel()
    playouts["shape_value"][:, : values.size] = values
    playouts["first_entry"][:, : len(shapes.cells)] = shapes.class_of * CODES
    for window, points in enumerate(shapes.cells.tolist()):
        for cell, point in enumerate(points):
            k = int(playouts["holders"][0, point])
            playouts["holder"][:, point, k] = window
            playouts["power"][:, point, k] = 3**cell
            playouts["holders"][:, point] = k + 1
