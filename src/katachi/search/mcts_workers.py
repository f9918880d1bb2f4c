"""The threads that run simulations on one tree. None of them holds the interpreter while it does.

A *round* lasts until its simulations are done, the tree is full, or it is told to end; between rounds nothing runs,
so that the tree can be pruned, read and replanted. ``control["stop"]`` is looked at before each simulation.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import CompiledEvaluator, Doubles, Evaluator, Floats
from katachi.features.kernels.signatures import VALUE
from katachi.go.kernels.board import OFF
from katachi.go.kernels.ladders import new_stack
from katachi.go.kernels.playouts import random_state
from katachi.search.kernels import mcts as kernels
from katachi.search.kernels import mcts_nodes as layout
from katachi.search.mcts_tree import MctsTree
from katachi.search.playouts import new_playouts
from katachi.search.settings import PlayoutSettings

ENDLESS: Final = 1 << 62
_POLL_SECONDS: Final = 0.003
_NO_PARAMETERS: Final = (np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.float32))


class MctsWorkers:
    """So many threads with what each of them needs: a board, a path, a playout."""

    def __init__(
        self,
        threads: int,
        playouts: PlayoutSettings,
        judge: CompiledEvaluator | None,
        evaluator: Evaluator | None = None,
    ) -> None:
        """Leaves are valued by ``judge``; playouts choose by the shapes of ``evaluator`` if their settings say so."""
        self._value: Any = kernels.no_value if judge is None else judge.kernel
        self._parameters: Any = _NO_PARAMETERS if judge is None else judge.parameters
        if hasattr(self._value, "compile"):  # not where the compiler is switched off
            self._value.compile(VALUE.signature)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="mcts")
        self._states = [np.zeros(1, dtype=layout.WORKER) for _ in range(threads)]
        records = new_playouts(playouts, threads, seed=0, evaluator=evaluator)
        self._playouts = [records[i : i + 1] for i in range(threads)]
        self._stacks = [new_stack() for _ in range(threads)]

    @property
    def playouts(self) -> NDArray[Any]:
        """The first worker's playout: a source of random numbers for whoever makes a root."""
        return self._playouts[0]

    def begin(self, rng: np.random.Generator) -> None:
        """Forget what was counted and what good replies were, and draw new random numbers."""
        for state, playout in zip(self._states, self._playouts, strict=True):
            state[:] = np.zeros(1, dtype=layout.WORKER)
            playout["random"] = random_state(rng.integers(1 << 63, dtype=np.uint64))
            playout["reply"] = OFF

    def run(
        self, tree: MctsTree, simulations: int | None, should_stop: Callable[[], bool], serve: Callable[[], object]
    ) -> None:
        """One round of so many simulations at most. ``serve`` is called for each new node that waits."""
        tree.control["stop"] = 0
        tree.control["threads"] = len(self._states)
        for i, state in enumerate(self._states):
            share = None if simulations is None else (simulations + i) // len(self._states)
            state["left"] = ENDLESS if share is None else share
        futures = [self._pool.submit(self._work, i, tree, serve) for i in range(len(self._states))]
        try:
            while wait(futures, timeout=_POLL_SECONDS).not_done:
                if should_stop():
                    tree.control["stop"] = 1
        finally:
            tree.control["stop"] = 1
            wait(futures)
        _raise_first(futures)

    def _work(self, index: int, tree: MctsTree, serve: Callable[[], object]) -> None:
        state = self._states[index]
        boards, frames = self._stacks[index]
        try:
            while state["is_waiting"][0] or state["free_left"][0] or tree.hand_out(state):
                why = kernels.run_simulations(
                    tree.control,
                    tree.nodes,
                    tree.edges,
                    tree.children,
                    tree.stones,
                    tree.table,
                    tree.history,
                    tree.root_board,
                    boards,
                    frames,
                    state,
                    self._playouts[index],
                    self._value,
                    self._parameters,
                )
                if why == kernels.DONE:
                    return
                if why == kernels.NEEDS_PRIOR:
                    serve()
        finally:
            tree.take_back(state)
            tree.control["stop"] |= tree.is_full

    # What the playouts since ``begin`` came to

    @property
    def simulations(self) -> int:
        return int(self._sum("done"))

    def _sum(self, field: str) -> Any:
        return sum(state[field][0] for state in self._states)

    def black_lead(self, komi: float) -> float | None:
        """Black's mean area less White's, less komi; None if there was no playout."""
        playouts = self._sum("playouts")
        return float(self._sum("black_area")) / playouts - komi if playouts else None

    def move_leads(self, komi: float, points: int) -> Doubles:
        """The same after each move of the root, [n²+1]; NaN where no playout began with it."""
        playouts, area = (self._sum(field)[: points + 1] for field in ("move_playouts", "move_area"))
        leads: Doubles = np.divide(area, playouts, out=np.full(points + 1, np.nan), where=playouts > 0) - komi
        return leads

    def ownership(self, points: int) -> Floats | None:
        """Who owned each point on average, [n²], +1 Black; None if there was no playout."""
        playouts = self._sum("playouts")
        return (self._sum("ownership")[:points] / playouts).astype(np.float32) if playouts else None

    def criticality(self, points: int) -> Floats | None:
        """How far owning a point goes with winning, [n²] (Coulom 2009); None if there was no playout."""
        playouts = self._sum("playouts")
        if not playouts:
            return None
        winner = 2 * self._sum("black_wins") / playouts - 1
        together = self._sum("owned_by_winner")[:points] / playouts
        apart = winner * self._sum("ownership")[:points] / playouts
        critical: Floats = ((together - apart) / 2).astype(np.float32)
        return critical


def _raise_first(futures: list[Future[None]]) -> None:
    for future in futures:
        future.result()
