"""Monte-Carlo tree search that any evaluator can steer.

Simulations grow a tree: each descends by the moves that promise most, and ends in a playout, or in the value of a
``CompiledEvaluator``, or a mixture. Any evaluator's policy can be the prior of the moves, at once or with delay
(``delayed_priors.py``). All threads work on one tree (``mcts_workers.py``), which has its bound (``mcts_tree.py``); the
formulas are in ``_mcts.py``. One thread, a seed and a number of simulations give the same tree every time.

The tree is a private cache: when the next call is about the same game some moves later, what was grown below its
position is kept. Draws count half; territory rules are searched as area rules.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from functools import partial
from threading import Event
from typing import Final

import numpy as np

from katachi.evaluators import moves_of
from katachi.go.game import Game
from katachi.interfaces import CompiledEvaluator, Evaluator, Limit
from katachi.search.delayed_priors import DelayedPriors, PriorReport, PriorSource
from katachi.search.mcts_settings import MctsSettings
from katachi.search.mcts_tree import MctsTree
from katachi.search.mcts_workers import MctsWorkers
from katachi.search.moves import is_won, komi_of, playable
from katachi.search.results import TreeResult

VARIATIONS: Final = 10  # so many of the best moves are followed further
_REPORT_SECONDS: Final = 0.1  # between the results of ``deepen``
_SECONDS_BEFORE_STOPPING_EARLY: Final = 0.05


class MctsSearch:
    """The search, with an evaluator or with playouts alone."""

    def __init__(self, evaluator: Evaluator | None = None, settings: MctsSettings | None = None) -> None:
        self._settings = settings or MctsSettings()
        self._evaluator = evaluator
        judge = evaluator if isinstance(evaluator, CompiledEvaluator) else None
        if self._settings.value_share and judge is None:
            raise ValueError("value_share needs an evaluator that compiled code can call")
        has_priors = evaluator is not None and self._settings.priors != "none"
        self._source = PriorSource(evaluator) if evaluator is not None and has_priors else None
        self._feeder: DelayedPriors | None = None
        if self._source is not None and self._settings.priors == "delayed":
            self._feeder = DelayedPriors(self._source, self._settings.batch)
        threads = self._settings.threads or os.cpu_count() or 1
        self._workers = MctsWorkers(threads, self._settings.playouts, judge)
        self._tree: MctsTree | None = None

    @property
    def evaluator(self) -> Evaluator | None:
        return self._evaluator

    @property
    def settings(self) -> MctsSettings:
        return self._settings

    def with_settings(self, settings: MctsSettings) -> MctsSearch:
        """The same search with other settings, and without its tree."""
        return MctsSearch(self._evaluator, settings)

    def search(self, game: Game, limit: Limit, rng: np.random.Generator) -> TreeResult:
        """The most visited move; ``visits`` are simulations, those of a tree that was kept included."""
        *_, last = self._results(game, limit, rng, None, stops_early=self._settings.stops_early)
        return last

    def deepen(
        self, game: Game, limit: Limit, rng: np.random.Generator, stop: Event | None = None
    ) -> Iterator[TreeResult]:
        """Yield a result ten times a second until the limit is reached or ``stop`` is set."""
        return self._results(game, limit, rng, stop, stops_early=False, seconds_between=_REPORT_SECONDS)

    def ponder(self, game: Game, rng: np.random.Generator, stop: Event) -> None:
        """Grow the tree of a game until ``stop`` is set; a search after the opponent's move goes on from there."""
        for _ in self.deepen(game, Limit(seconds=float("inf")), rng, stop):
            pass

    def _results(
        self,
        game: Game,
        limit: Limit,
        rng: np.random.Generator,
        stop: Event | None,
        *,
        stops_early: bool,
        seconds_between: float = float("inf"),
    ) -> Iterator[TreeResult]:
        begun = time.monotonic()
        tree = self._begin(game, rng, stops_early)
        quota = self._quota(limit)
        ending = _Ending(tree, self._workers, begun, limit.seconds, stop, stops_early)
        if self._feeder is not None:
            self._feeder.start(tree)
        try:
            while not (ending.has_come() or (quota is not None and self._workers.simulations >= quota)):
                report_due = time.monotonic() + seconds_between
                left = None if quota is None else quota - self._workers.simulations
                self._workers.run(tree, left, partial(ending.has_come, report_due), self._serve)
                if tree.is_full:
                    tree.prune()
                if time.monotonic() >= report_due:
                    yield self._result(tree, game)
        finally:
            if self._feeder is not None:
                self._feeder.stop()
        yield self._result(tree, game)

    def _begin(self, game: Game, rng: np.random.Generator, stops_early: bool) -> MctsTree:
        """The tree for a game: the last one if it has the size, its root where the game is."""
        settings = self._settings
        if self._evaluator is not None and settings.value_share:
            self._evaluator.evaluate([game.board])  # raises if it cannot judge such boards; its kernel would not
        if self._tree is None or self._tree.size != game.size:
            self._tree = MctsTree(game.size, settings.megabytes, settings.shares_positions)
        tree, control = self._tree, self._tree.control
        for name in ("exploration", "rave", "first_play_reduction", "expand_after", "value_share", "score_share"):
            control[name] = getattr(settings, name)
        control["pattern_priors"] = settings.pattern_priors
        control["stops_early"] = stops_early
        control["wants_priors"] = self._source is not None
        control["waits_for_priors"] = self._source is not None and self._feeder is None
        control["decided"] = 0
        self._workers.begin(rng)
        tree.begin(game, self._workers.playouts, settings.reuse)
        if self._source is not None:
            self._source.begin()
            if self._feeder is None:
                self._serve()
        if is_won(game):
            tree.favor_pass()
        return tree

    def _serve(self) -> None:
        """Let a node that waits for its prior have it now."""
        if self._source is not None and self._tree is not None:
            self._source.evaluate(self._tree, 1)

    def _quota(self, limit: Limit) -> int | None:
        if limit.simulations is None and limit.seconds is None:
            return self._settings.simulations
        return limit.simulations

    def _result(self, tree: MctsTree, game: Game) -> TreeResult:
        visits, move = tree.visits(tree.root), tree.best_move()
        order = sorted(moves_of(visits > 0), key=lambda other: -visits[other])[:VARIATIONS]
        variations = {other: playable(game, tree.line(other)) for other in order}
        priors = PriorReport() if self._source is None else self._source.report(tree)
        values = tree.values()
        return TreeResult(
            move=move,
            black_wins=float(values[move]) if visits[move] else 0.5,
            visits=visits,
            variation=variations.get(move, (move,)),
            sweep=values.astype(np.float64),
            priors=tree.priors(),
            variations=variations,
            black_lead=self._workers.black_lead(komi_of(game)),
            ownership=self._workers.ownership(tree.points),
            criticality=self._workers.criticality(tree.points),
            simulations=self._workers.simulations,
            coverage=priors.coverage,
            warning=priors.error,
        )


class _Ending:
    """Whether a search is to end before its simulations are done. One is always done."""

    def __init__(
        self,
        tree: MctsTree,
        workers: MctsWorkers,
        begun: float,
        seconds: float | None,
        stop: Event | None,
        stops_early: bool,
    ) -> None:
        self._tree = tree
        self._workers = workers
        self._begun = begun
        self._deadline = None if seconds is None else begun + seconds
        self._stop = stop
        self._stops_early = stops_early

    def has_come(self, pause: float = float("inf")) -> bool:
        """Because it was told to, the time is up, or nothing can change any more; or because it is time for a pause."""
        if not self._workers.simulations:
            return False
        now = time.monotonic()
        if now >= pause or (self._stop is not None and self._stop.is_set()):
            return True
        if self._deadline is not None and now >= self._deadline:
            return True
        return self._stops_early and (self._is_decided(now) or np.count_nonzero(self._tree.priors()) == 1)

    def _is_decided(self, now: float) -> bool:
        """Whether the most visited move would stay so at the present speed; the simulations decide it themselves."""
        if self._tree.control["decided"][0]:
            return True
        elapsed = now - self._begun
        if self._deadline is None or elapsed < _SECONDS_BEFORE_STOPPING_EARLY:
            return False
        left = (self._deadline - now) * self._workers.simulations / elapsed
        second, best = np.partition(self._tree.visits(self._tree.root), -2)[-2:]
        return bool(best - second > left)
