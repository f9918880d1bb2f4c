"""Monte-Carlo tree search that any evaluator can steer.

Simulations grow a tree: each descends by the moves that promise most, and ends in a playout, in the value of an
evaluator, or in a mixture. Any evaluator's policy can be the prior of the moves, at once or with delay, and its value
comes with it (``search/delayed_priors.py``); a ``CompiledEvaluator`` is asked for its value at every leaf. All
threads work on one tree (``search/mcts_workers.py``), which has its bound (``search/mcts_tree.py``); the formulas are
in ``search/kernels/mcts.py``. One thread, a seed and a number of simulations give the same tree every time.

The tree is a private cache: when the next call is about the same game some moves later, what was grown below its
position is kept. Draws count half; territory rules are searched as area rules.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import Final

import numpy as np

from katachi.core.contracts import Ban, CompiledEvaluator, Evaluator, Limit
from katachi.core.evaluators import moves_of
from katachi.go.game import Game
from katachi.search.delayed_priors import DelayedPriors, PriorReport, PriorSource
from katachi.search.mcts_tree import MctsTree
from katachi.search.mcts_workers import MctsWorkers
from katachi.search.moves import is_won, komi_of, playable
from katachi.search.results import TreeResult
from katachi.search.settings import MctsSettings
from katachi.search.td import TdSearch
from katachi.search.td_settings import TdSearchSettings

VARIATIONS: Final = 10  # so many of the best moves are followed further
_REPORT_SECONDS: Final = 0.1  # between the results of ``deepen``
_SECONDS_BEFORE_STOPPING_EARLY: Final = 0.05
_PREPARING_SIMULATIONS: Final = 200


class MctsSearch:
    """The search, with an evaluator or with playouts alone."""

    def __init__(self, evaluator: Evaluator | None = None, settings: MctsSettings | None = None) -> None:
        self._settings = settings or MctsSettings()
        self._evaluator = evaluator
        self._td = None
        if self._settings.td_simulations:
            if evaluator is None:
                raise ValueError("td_simulations needs a model of local shapes up to 3×3")
            self._td = TdSearch(evaluator, TdSearchSettings(playouts=self._settings.playouts))
        steering = evaluator if self._td is None else self._td.memory
        judge = steering if isinstance(steering, CompiledEvaluator) else None
        self._has_judge = judge is not None
        has_priors = self._settings.priors != "none"
        self._source = PriorSource(steering) if steering is not None and has_priors else None
        if self._settings.value_share and judge is None and self._source is None:
            raise ValueError("value_share needs an evaluator that compiled code can call, or one that gives priors")
        self._feeder: DelayedPriors | None = None
        if self._source is not None and self._settings.priors == "delayed":
            self._feeder = DelayedPriors(self._source, self._settings.batch)
        threads = self._settings.threads or os.cpu_count() or 1
        self._workers = MctsWorkers(threads, self._settings.playouts, judge, evaluator)
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
        ending = _Ending(limit.seconds, stops_early=self._settings.stops_early)
        tree = self._begin(game, rng, ending)
        for _ in self._grow(tree, self._quota(limit), ending):
            pass
        return self._result(tree, game)

    def deepen(
        self,
        game: Game,
        limit: Limit,
        rng: np.random.Generator,
        stop: Event | None = None,
        *,
        bans: Collection[Ban] = (),
        stops_early: bool = False,
    ) -> Iterator[TreeResult]:
        """Yield a result ten times a second until the limit is reached, ``stop`` is set, or, if asked, it is clear.

        Bans are moves that are not looked at.
        """
        ending = _Ending(limit.seconds, stop, stops_early=stops_early and self._settings.stops_early)
        tree = self._begin(game, rng, ending, bans)
        for _ in self._grow(tree, self._quota(limit), ending, _REPORT_SECONDS):
            yield self._result(tree, game)
        yield self._result(tree, game)

    def ponder(self, game: Game, rng: np.random.Generator, stop: Event) -> None:
        """Grow the tree of a game until ``stop`` is set; a search after the opponent's move goes on from there."""
        ending = _Ending(None, stop)
        for _ in self._grow(self._begin(game, rng, ending, goes_on=True), None, ending):
            pass

    def prepare(self, size: int) -> None:
        """Load and allocate what the first searches on a board of that size would wait for, and find nothing."""
        game, rng = Game(size), np.random.default_rng(0)
        if self._evaluator is not None:
            self._evaluator.evaluate([game.board])  # raises if it cannot judge such boards
        for _ in range(2):  # the second goes on with the tree of the first
            game.play(self.search(game, Limit(simulations=_PREPARING_SIMULATIONS), rng).move)
        if self._tree is not None:
            self._tree.prune()
            self._tree.forget()

    def finish_priors(self) -> PriorReport:
        """Wait for what is still at the evaluator, and tell what became of the priors of the last search."""
        if self._feeder is not None:
            self._feeder.join()
        return PriorReport() if self._source is None or self._tree is None else self._source.report(self._tree)

    def _grow(
        self, tree: MctsTree, quota: int | None, ending: _Ending, pause_every: float = float("inf")
    ) -> Iterator[None]:
        """Run simulations to the end; yields whenever they pause."""
        tree.control["stops_early"] = ending.stops_early
        workers = self._workers
        if self._feeder is not None:
            self._feeder.start(tree)
        try:
            while not (ending.has_come(tree, workers) or (quota is not None and workers.simulations >= quota)):
                pause = time.monotonic() + pause_every
                left = None if quota is None else quota - workers.simulations
                workers.run(tree, left, partial(ending.has_come, tree, workers, pause), self._serve)
                if tree.is_full:
                    tree.prune()
                if time.monotonic() >= pause:
                    yield
        finally:
            if self._feeder is not None:
                self._feeder.stop()

    def _begin(
        self,
        game: Game,
        rng: np.random.Generator,
        ending: _Ending,
        bans: Collection[Ban] = (),
        *,
        goes_on: bool = False,
    ) -> MctsTree:
        """The tree for a game: the last one if it has the size, its root where the game is."""
        settings = self._settings
        asks_kernel = settings.playouts.shapes or (self._has_judge and settings.value_share)
        if self._evaluator is not None and asks_kernel:
            self._evaluator.evaluate([game.board])  # raises if it cannot judge such boards; its kernel would not
        if self._td is not None:  # it may take half of the time
            seconds = None if ending.seconds is None else ending.seconds / 2
            self._td.adapt(game, Limit(simulations=settings.td_simulations, seconds=seconds), rng, ending.stop)
        if self._tree is None or self._tree.size != game.size:
            self._tree = MctsTree(game.size, settings.megabytes, settings.shares_positions)
        tree, control = self._tree, self._tree.control
        for name in ("exploration", "rave", "first_play_reduction", "expand_after", "value_share", "score_share"):
            control[name] = getattr(settings, name)
        control["pattern_priors"] = settings.pattern_priors
        control["ladder_priors"] = settings.ladder_priors
        control["values_come_with_priors"] = not self._has_judge
        control["wants_priors"] = self._source is not None
        control["waits_for_priors"] = self._source is not None and self._feeder is None
        control["decided"] = 0
        self._workers.begin(rng)
        tree.begin(game, self._workers.playouts, settings.reuse, bans, goes_on=goes_on)
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
        lines = {other: tree.line(other) for other in order}
        variations = {other: playable(game, line) for other, (line, _) in lines.items()}
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
            variation_visits={other: tuple(counts[: len(variations[other])]) for other, (_, counts) in lines.items()},
            black_lead=self._workers.black_lead(komi_of(game)),
            leads=self._workers.move_leads(komi_of(game), tree.points),
            ownership=self._workers.ownership(tree.points),
            criticality=self._workers.criticality(tree.points),
            simulations=self._workers.simulations,
            coverage=priors.coverage,
            lag_simulations=priors.lag_simulations,
            lag_seconds=priors.lag_seconds,
            warning=priors.error,
        )


@dataclass(slots=True)
class _Ending:
    """Whether a search is to end before its simulations are done. One is always done. Time counts from its making."""

    seconds: float | None
    stop: Event | None = None
    stops_early: bool = False
    begun: float = field(default_factory=time.monotonic)

    def has_come(self, tree: MctsTree, workers: MctsWorkers, pause: float = float("inf")) -> bool:
        """Because it was told to, the time is up, or nothing can change any more; or because it is time for a pause."""
        if not workers.simulations:
            return False
        now = time.monotonic()
        if now >= pause or (self.stop is not None and self.stop.is_set()):
            return True
        if self.seconds is not None and now >= self.begun + self.seconds:
            return True
        return self.stops_early and (self._is_decided(tree, workers, now) or np.count_nonzero(tree.priors()) == 1)

    def _is_decided(self, tree: MctsTree, workers: MctsWorkers, now: float) -> bool:
        """Whether the most visited move would stay so at the present speed; the simulations decide it themselves."""
        if tree.control["decided"][0]:
            return True
        elapsed = now - self.begun
        if self.seconds is None or elapsed < _SECONDS_BEFORE_STOPPING_EARLY:
            return False
        left = (self.seconds - elapsed) * workers.simulations / elapsed
        second, best = np.partition(tree.visits(tree.root), -2)[-2:]
        return bool(best - second > left)
