"""Full-width alpha-beta with iterative deepening.

Every sensible move is looked at, to depth 1, 2, 3 …; each depth is searched in the order that the last one suggests,
so that most of it is cut off, and the value is that of plain minimax. A transposition table, killer and history moves
and the evaluator's own values give the order. At depth 0 the evaluator judges, or, with ``quiescence``, captures are
played out first. A side passes only where it has no sensible move; two passes end the game by its score.

With a ``CompiledEvaluator`` all of it runs compiled (``search/compiled_tree.py``), else in Python
(``search/python_tree.py``): the same values, some hundred times slower. The clock is looked at every few
milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from threading import Event

import numpy as np

from katachi.core.contracts import CompiledEvaluator, Evaluator, Limit, SearchResult
from katachi.core.evaluators import moves_of
from katachi.go.game import Game
from katachi.search.moves import playable, root_moves
from katachi.search.python_tree import PythonTree
from katachi.search.settings import MAX_DEPTH, AlphaBetaSettings
from katachi.search.tree import ShouldStop, Tree


class AlphaBetaSearch:
    """Iterative deepening over any evaluator. Of the limit's ``simulations`` each stands for a node."""

    def __init__(self, evaluator: Evaluator, settings: AlphaBetaSettings | None = None) -> None:
        self._evaluator = evaluator
        self._settings = settings or AlphaBetaSettings()
        if isinstance(evaluator, CompiledEvaluator):
            from katachi.search.compiled_tree import compile_for  # not while the clock of the first move runs

            compile_for(evaluator)

    @property
    def evaluator(self) -> Evaluator:
        return self._evaluator

    @property
    def settings(self) -> AlphaBetaSettings:
        return self._settings

    def with_settings(self, settings: AlphaBetaSettings) -> AlphaBetaSearch:
        """The same search with other settings."""
        return AlphaBetaSearch(self._evaluator, settings)

    def search(self, game: Game, limit: Limit, rng: np.random.Generator) -> SearchResult:
        """The result of the greatest depth that the limit allows; ``visits`` are nodes."""
        *_, last = self.deepen(game, limit, rng)
        return last

    def deepen(
        self, game: Game, limit: Limit, rng: np.random.Generator, stop: Event | None = None
    ) -> Iterator[SearchResult]:
        """Yield a result after each depth, and a last one when the limit is reached or ``stop`` is set."""
        should_stop = _stopper(limit, stop)
        tree = self._tree(game, rng)
        result = _first_guess(game)
        for depth in range(1, self._last_depth(limit) + 1):
            complete = tree.run(depth, limit.simulations, should_stop)
            # The best move of the last depth is searched first: what beats it in an incomplete run is better, too.
            if tree.line:
                result = _result(tree, game)
            yield result
            if not complete or should_stop() or _is_forced(result, limit):
                return

    def _tree(self, game: Game, rng: np.random.Generator) -> Tree:
        settings = self._settings
        if isinstance(self._evaluator, CompiledEvaluator):
            from katachi.search.compiled_tree import CompiledTree  # only for those who need its kernels

            return CompiledTree(self._evaluator, game, rng, settings.quiescence, settings.table_bits)
        return PythonTree(self._evaluator, game, rng, settings.quiescence)

    def _last_depth(self, limit: Limit) -> int:
        if limit.depth is not None:
            return max(1, min(limit.depth, MAX_DEPTH))
        return self._settings.depth if limit.seconds is None else MAX_DEPTH


def _stopper(limit: Limit, stop: Event | None) -> ShouldStop:
    deadline = None if limit.seconds is None else time.monotonic() + limit.seconds

    def should_stop() -> bool:
        return (stop is not None and stop.is_set()) or (deadline is not None and time.monotonic() >= deadline)

    return should_stop


def _result(tree: Tree, game: Game) -> SearchResult:
    line = tree.line
    return SearchResult(line[0], tree.black_wins, tree.visits, playable(game, line))


def _first_guess(game: Game) -> SearchResult:
    """What to play if there was no time for a single move."""
    considered = root_moves(game)
    return SearchResult(moves_of(considered)[0], 0.5, np.zeros(considered.size, dtype=np.int64))


def _is_forced(result: SearchResult, limit: Limit) -> bool:
    """Whether there is one move only and a clock that need not run for it."""
    return limit.depth is None and np.count_nonzero(result.visits) == 1
