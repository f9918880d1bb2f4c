"""The compiled tree: what ``search/alphabeta.py`` searches when the evaluator can be called inside compiled code.

All compiled evaluators have the same types: ``kernel(records, parameters)`` with a pair of parameters, an int32 array
and a float32 array. So the search is compiled once, whatever evaluator it is handed.
"""

from __future__ import annotations

import time
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import CompiledEvaluator, Ints
from katachi.features.kernels.signatures import SWEEP, VALUE
from katachi.go.game import Game
from katachi.go.kernels import board as board_kernels
from katachi.go.points import PASS
from katachi.search.alphabeta import ShouldStop
from katachi.search.kernels import alphabeta as kernels
from katachi.search.one_ply import komi_of, passes_before, root_moves

MAX_PLY: Final = kernels.MAX_PLY
_SLICE_SECONDS: Final = 0.003  # how long compiled code may run before the clock is looked at
_FIRST_SLICE: Final = 16  # nodes
_TIE_BREAK: Final = 1e-9


@runtime_checkable
class SweepingEvaluator(CompiledEvaluator, Protocol):
    """A compiled evaluator that values all moves at once: ``sweep_kernel(records, parameters, values)``.

    It writes P(Black wins) after each move to ``values`` [n²+1] float64, the pass last, NaN where a move is illegal.
    """

    @property
    def sweep_kernel(self) -> Any: ...


def compile_for(evaluator: CompiledEvaluator) -> None:
    """Compile what an evaluator hands to the tree, or load it from the cache, so that the first search need not."""
    for function, kind in ((evaluator.kernel, VALUE), (_sweep_kernel(evaluator), SWEEP)):
        if hasattr(function, "compile"):  # not where the compiler is switched off
            function.compile(kind.signature)


def _sweep_kernel(evaluator: CompiledEvaluator) -> Any:
    return evaluator.sweep_kernel if isinstance(evaluator, SweepingEvaluator) else kernels.no_sweep


class CompiledTree:
    """A game's tree in record arrays; ``run`` searches it to a depth."""

    def __init__(
        self, evaluator: CompiledEvaluator, game: Game, rng: np.random.Generator, quiescence: int, table_bits: int
    ) -> None:
        evaluator.evaluate([game.board])  # raises if it cannot judge such boards; its kernels would not
        self._size = game.size
        self._value = evaluator.kernel
        self._sweep = _sweep_kernel(evaluator)
        self._parameters = evaluator.parameters
        self._boards = np.repeat(game.board.record, MAX_PLY + 2)  # the last is a spare
        self._frames = np.zeros(MAX_PLY + 1, dtype=kernels.FRAME)
        self._table = np.zeros(1 << table_bits, dtype=kernels.ENTRY)
        self._work = np.empty(kernels.MOVES, dtype=np.float64)
        self._passes = passes_before(game)
        self._tree = self._new_tree(game, rng, quiescence)
        self._slice = _FIRST_SLICE

    def _new_tree(self, game: Game, rng: np.random.Generator, quiescence: int) -> NDArray[Any]:
        tree = np.zeros(1, dtype=kernels.TREE)
        tree["komi"] = komi_of(game)
        tree["quiescence"] = quiescence
        tree["has_sweep"] = self._sweep is not kernels.no_sweep
        considered = root_moves(game)
        tree["considered"][0, : considered.size - 1] = considered[:-1]
        tree["tie_break"] = _TIE_BREAK * rng.random(kernels.MOVES)
        tree["killers"] = board_kernels.OFF
        self._frames["best_move"][0] = board_kernels.OFF
        return tree

    @property
    def nodes(self) -> int:
        return int(self._tree["nodes"][0])

    def run(self, depth: int, node_limit: int | None, should_stop: ShouldStop) -> bool:
        """Search to a depth; returns whether that was completed before the limit or ``should_stop`` ended it."""
        root = self._frames[0]
        root["entered"] = False
        root["depth"], root["passes"] = depth, self._passes
        root["alpha"], root["beta"] = -np.inf, np.inf
        self._tree["ply"] = 0
        while not self._run_slice(node_limit):
            if should_stop() or (node_limit is not None and self.nodes >= node_limit):
                return False
        return True

    def _run_slice(self, node_limit: int | None) -> bool:
        """Some milliseconds of nodes; how many that is, is learned from the last slice."""
        budget = self._slice if node_limit is None else min(self._slice, max(node_limit - self.nodes, 0))
        start = time.perf_counter()
        done = kernels.run_nodes(
            self._frames,
            self._boards,
            self._table,
            self._work,
            self._tree,
            self._value,
            self._sweep,
            self._parameters,
            budget,
        )
        elapsed = time.perf_counter() - start
        if not done:  # one that came to its end says nothing about how long its budget would have taken
            self._slice = int(np.clip(self._slice * _SLICE_SECONDS / max(elapsed, 1e-6), 1, 4 * self._slice))
        return bool(done)

    # What the last run found

    @property
    def line(self) -> list[int]:
        """The principal variation, the best move first; empty if no move was searched to its end."""
        root = self._frames[0]
        return [self._move(point) for point in root["line"][: root["line_length"]].tolist()]

    @property
    def black_wins(self) -> float:
        """The value of the best move."""
        return abs(float(self._frames["best"][0]))

    @property
    def visits(self) -> Ints:
        """How many nodes lay behind each move, [n²+1], over all runs."""
        visits = self._tree["visits"][0]
        points = self._size**2
        return np.append(visits[:points], visits[board_kernels.OFF])

    def _move(self, point: int) -> int:
        return PASS if point == board_kernels.OFF else point
