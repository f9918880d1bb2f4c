"""Monte-Carlo tree search that any evaluator can steer.

Simulations grow a tree: each descends by the moves that promise most, and ends in a playout, in the value of an
evaluator, or in a mixture. Any evaluator's policy can be the prior of the moves, waited for or with delay, and its
value comes with it, for an ``OutcomeEvaluator`` with the score and who owns what; a ``CompiledEvaluator`` is asked for
its value at every leaf. All threads work on one tree, which has its bound (``search/mcts_tree.py``); the formulas are
in ``search/kernels/mcts.py``. One thread, a seed and a number of simulations give the same tree every time, unless
priors are delayed.

The tree is a private cache: when the next call is about the same game some moves later, what was grown below its
position is kept. Draws count half; territory rules are searched as area rules.
"""

from __future__ import annotations

import atexit
import logging
import math
import time
from collections.abc import Callable, Collection, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from threading import Event, Lock, Thread
from typing import Any, Final, NamedTuple
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import (
    Ban,
    CompiledEvaluator,
    Doubles,
    Evaluation,
    Evaluator,
    Floats,
    Ints,
    Limit,
    OutcomeEvaluator,
)
from katachi.core.disk import usable_cores
from katachi.core.evaluators import evaluate_outcomes, moves_of
from katachi.go.game import Game
from katachi.go.kernels.board import OFF
from katachi.go.kernels.ladders import new_stack
from katachi.go.kernels.playouts import random_state
from katachi.go.kernels.values import VALUE
from katachi.go.points import BLACK
from katachi.search.kernels import mcts as kernels
from katachi.search.kernels import mcts_nodes as layout
from katachi.search.mcts_tree import MctsTree
from katachi.search.one_ply import TreeResult, at_komi_of, is_won, playable
from katachi.search.playouts import LargePatterns, load_large_patterns, new_playouts, window_values_of
from katachi.search.settings import MctsSettings, PlayoutSettings, TdSearchSettings
from katachi.search.td import TdSearch

# Priors from an evaluator that is slower than the search: it works beside it, and what it says is put in later.
#
# Maddison et al. 2014, section 6: a new node starts with the default prior and waits in a queue, first in, first out.
# When a minibatch is full, or the queue has stopped growing, it goes to the evaluator, in a thread of its own, while
# the search continues. On return the prior of each node is replaced; its statistics stay. *Synchronous* priors are the
# alternative: a thread that has made some nodes waits for their priors. That is also done for the root, and for the
# first nodes of a search with delayed ones, so that no move is chosen without having asked the evaluator. Where the
# queue grows faster than the evaluator can answer, moves must have more visits before they get a node. With the prior
# comes the evaluator's value of the node, for searches that want it.
#
# An evaluator that fails is not asked again; the search continues with default priors, and says so.

_PRIOR_POLL_SECONDS: Final = 0.01  # a queue that has not grown for so long has stopped growing
_PATIENCE: Final = 10.0  # seconds that the end of the program waits for an evaluator
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class PriorReport:
    """What became of the priors of one search."""

    sent: int = 0
    returned: int = 0
    used: int = 0  # the others came back for a node that had been pruned
    batches: int = 0
    lag_simulations: float = 0.0  # mean, from the making of a node to its prior
    lag_seconds: float = 0.0  # mean, of a batch from sending to return
    coverage: float = 0.0  # the share of visited nodes that have the evaluator's prior
    error: str = ""


class PriorSource:
    """Asks an evaluator for the priors of nodes, and keeps count."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._asked = evaluator
        self._lock = Lock()
        self._report = PriorReport()  # lags are sums here

    @property
    def failed(self) -> bool:
        return bool(self._report.error)

    def begin(self, game: Game) -> None:
        """Count from here on, and ask at the komi of a game; an evaluator that failed gets another chance."""
        self._asked = at_komi_of(self._evaluator, game)
        self._report = PriorReport()

    @property
    def knows_outcomes(self) -> bool:
        """Whether leads and owners come with the priors."""
        return isinstance(self._evaluator, OutcomeEvaluator)

    def evaluate_waiting(self, tree: MctsTree, most: int) -> None:
        """Give priors to the nodes that have waited longest, so many at most."""
        self.evaluate(tree, tree.take_waiting(most))

    def evaluate(self, tree: MctsTree, nodes: Ints) -> None:
        """Give priors to nodes that count as sent."""
        if self.failed:
            tree.put_back(nodes)
        elif nodes.size:
            self._evaluate(tree, nodes)

    def _evaluate(self, tree: MctsTree, nodes: Ints) -> None:
        keys, born = tree.nodes["key"][nodes], tree.nodes["born"][nodes]
        start = time.perf_counter()
        with self._lock:
            self._report.sent += nodes.size
        try:
            evaluation, outcome = evaluate_outcomes(self._asked, tree.boards(nodes))
        except Exception as error:  # noqa: BLE001 (whatever goes wrong there must not end the game here)
            self._report.error = f"the evaluator failed, its priors are left out: {type(error).__name__}: {error}"
            _log.error(self._report.error)
            tree.put_back(nodes)
            return
        used = tree.set_priors(nodes, keys, evaluation, outcome)
        age = tree.nodes["visits"][tree.root] - born
        with self._lock:
            report = self._report
            report.returned += nodes.size
            report.used += used.size
            report.batches += 1
            report.lag_simulations += float(age.sum())
            report.lag_seconds += time.perf_counter() - start

    def report(self, tree: MctsTree) -> PriorReport:
        """How it stands now."""
        with self._lock:
            now = replace(self._report, coverage=tree.coverage)
        now.lag_simulations /= max(now.returned, 1)
        now.lag_seconds /= max(now.batches, 1)
        return now


class DelayedPriors:
    """A thread that feeds a tree with priors from ``start`` to ``stop``."""

    def __init__(self, source: PriorSource, batch: int) -> None:
        self._source = source
        self._batch = batch
        self._stopped = Event()
        self._thread: Thread | None = None
        _feeders.add(self)

    def start(self, tree: MctsTree) -> None:
        """Begin as soon as what was sent before is back: an evaluator is never asked from two threads."""
        self._stopped = Event()
        arguments = (tree, self._stopped, self._thread)
        self._thread = Thread(target=self._feed, args=arguments, name="delayed priors", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Send nothing more. What is at the evaluator still comes back; ``join`` waits for it."""
        self._stopped.set()

    def join(self, seconds: float | None = None) -> None:
        """Wait until everything that was sent is back, or for so long."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _feed(self, tree: MctsTree, stopped: Event, previous: Thread | None) -> None:
        if previous is not None:
            previous.join()
        before = tree.count_waiting()  # what waits at the start goes at once
        while not stopped.is_set() and not self._source.failed:
            waiting = tree.count_waiting()
            tree.expand_by_queue(waiting / self._batch)
            if waiting >= self._batch or (waiting and waiting == before):
                self._source.evaluate_waiting(tree, self._batch)
                before = 0
            else:
                before = waiting
                stopped.wait(_PRIOR_POLL_SECONDS)


_feeders: Final[WeakSet[DelayedPriors]] = WeakSet()


@atexit.register
def _await_evaluators() -> None:
    """Let no program end in the middle of an evaluation: onnxruntime would abort it."""
    for feeder in tuple(_feeders):
        feeder.stop()
    for feeder in tuple(_feeders):
        feeder.join(_PATIENCE)


# The threads that run simulations on one tree. None of them holds the interpreter while it does.
#
# A *round* lasts until its simulations are done, the tree is full, or it is asked to end; between rounds nothing runs,
# so that the tree can be pruned, read and replanted. ``control["stop"]`` is looked at before each simulation.

ENDLESS: Final = 1 << 62
_POLL_SECONDS: Final = 0.003
_NO_PARAMETERS: Final = (np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.float32))


class MctsWorkers:
    """So many threads with what each of them needs: boards, paths, a playout."""

    def __init__(
        self,
        threads: int,
        at_once: int,
        playouts: PlayoutSettings,
        compiled: CompiledEvaluator | None,
        evaluator: Evaluator | None = None,
        large: LargePatterns | None = None,
    ) -> None:
        """Leaves are valued by ``compiled``; playouts choose by the shapes of ``evaluator`` if set to.

        So many simulations of a thread may wait at once for their priors. ``large`` patterns are for default priors.
        """
        self._value: Any = kernels.no_value if compiled is None else compiled.kernel
        self._parameters: Any = _NO_PARAMETERS if compiled is None else compiled.parameters
        if hasattr(self._value, "compile"):  # not where the compiler is switched off
            self._value.compile(VALUE.signature)
        self._threads = threads
        self._states = [np.zeros(at_once, dtype=layout.WORKER) for _ in range(threads)]
        records = new_playouts(playouts, threads, seed=0, evaluator=evaluator, large=large)
        self._playouts = [records[i : i + 1] for i in range(threads)]
        self._stacks = [self._new_stack(at_once) for _ in range(threads)]

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._threads, thread_name_prefix="mcts")

    def _new_stack(self, at_once: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Boards to simulate on and, behind them, to read ladders on; and frames."""
        boards, frames = new_stack()
        return np.concatenate([np.repeat(boards[:1], at_once - 1), boards]), frames

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
        self, tree: MctsTree, simulations: int | None, should_stop: Callable[[], bool], serve: Callable[[Ints], object]
    ) -> None:
        """One round of so many simulations at most. ``serve`` is called with new nodes that are waited for."""
        tree.control["stop"] = 0
        tree.control["threads"] = len(self._states)
        self.hand_out(simulations)
        futures = [self._pool.submit(self._work, i, tree, serve) for i in range(len(self._states))]
        try:
            while wait(futures, timeout=_POLL_SECONDS).not_done:
                if should_stop():
                    tree.control["stop"] = 1
        finally:
            tree.control["stop"] = 1
            wait(futures)
        for future in futures:
            future.result()  # raises what went wrong there

    def hand_out(self, simulations: int | None) -> None:
        """Let each thread have its share of simulations; None is without end."""
        for i, state in enumerate(self._states):
            state["left"][0] = ENDLESS if simulations is None else (simulations + i) // len(self._states)

    def _work(self, index: int, tree: MctsTree, serve: Callable[[Ints], object]) -> None:
        try:
            while (awaited := self.step(tree, index)) is not None:
                serve(awaited)
        finally:
            tree.take_back(self._states[index])
            tree.control["stop"] |= tree.is_full

    def step(self, tree: MctsTree, index: int = 0) -> Ints | None:
        """Simulate until some nodes must be evaluated, which are returned; None if all is done or the tree is full."""
        state, (boards, frames) = self._states[index], self._stacks[index]
        nodes = tree.nodes, tree.edges, tree.children, tree.stones, tree.owners, tree.table, tree.history
        own = boards, frames, state, self._playouts[index]
        while True:
            why = kernels.run_simulations(tree.control, *nodes, tree.root_board, *own, self._value, self._parameters)
            if why == kernels.NEEDS_PRIOR:
                awaited: Ints = state["made"][state["is_waiting"]].astype(np.int64)
                return awaited
            if why == kernels.DONE or not tree.hand_out(state, len(state)):
                return None

    # What came of the simulations since ``begin``

    @property
    def simulations(self) -> int:
        return int(self._sum("done"))

    def _sum(self, field: str) -> Any:
        return sum(state[field].sum(axis=0) for state in self._states)

    def add_root(self, lead: float, ownership: Floats, weight: float) -> None:
        """Count what an evaluator says of the position beside what simulations find."""
        first = self._states[0]
        first["weight"][0] += weight
        first["black_lead"][0] += weight * lead
        first["ownership"][0, : ownership.size] += weight * ownership

    def black_lead(self) -> float | None:
        """Black's mean lead; None if nobody knows."""
        weight = float(self._sum("weight"))
        return float(self._sum("black_lead")) / weight if weight else None

    def move_leads(self, points: int) -> Doubles:
        """The same after each move of the root, [n²+1]; NaN where it is not known."""
        weight, lead = (self._sum(field)[: points + 1] for field in ("move_weight", "move_lead"))
        leads: Doubles = np.divide(lead, weight, out=np.full(points + 1, np.nan), where=weight > 0)
        return leads

    def ownership(self, points: int) -> Floats | None:
        """Who owned each point on average, [n²], +1 Black; None if nobody knows."""
        weight = float(self._sum("weight"))
        return (self._sum("ownership")[:points] / weight).astype(np.float32) if weight else None

    def criticality(self, points: int) -> Floats | None:
        """How far owning a point goes with winning, [n²] (Coulom 2009); None if there was no playout."""
        playouts = self._sum("playouts")
        if not playouts:
            return None
        winner = 2 * self._sum("black_wins") / playouts - 1
        together = self._sum("owned_by_winner")[:points] / playouts
        apart = winner * self._sum("owned")[:points] / playouts
        critical: Floats = ((together - apart) / 2).astype(np.float32)
        return critical


# The search

VARIATIONS: Final = 10  # so many of the best moves are followed further
_REPORT_SECONDS: Final = 0.1  # between the results of ``deepen``
_SECONDS_BEFORE_STOPPING_EARLY: Final = 0.05
_PREPARING_SIMULATIONS: Final = 200
# Standard deviations: of a playout, of an evaluator's value, and of moves that are considered from their position.
_PLAYOUT_NOISE: Final = 0.5
_VALUE_NOISE: Final = 0.25
_MOVE_SPREAD: Final = 0.05
_WORSE: Final = 0.01  # by which a move is so much worse that it counts 1/e of its visits for the position
_KERNEL_SETTINGS: Final = MctsSettings.model_fields.keys() & set(kernels.TREE.names or ())  # both have these


class MctsSearch:
    """The search, with an evaluator or with playouts alone."""

    def __init__(self, evaluator: Evaluator | None = None, settings: MctsSettings | None = None) -> None:
        self.settings = settings or MctsSettings()
        self.evaluator = evaluator
        self._td = None
        if self.settings.td_simulations:
            if evaluator is None:
                raise ValueError("td_simulations needs a model of local shapes up to 3×3")
            self._td = TdSearch(evaluator, TdSearchSettings(playouts=self.settings.playouts))
        steering = evaluator if self._td is None else self._td.memory
        compiled = steering if isinstance(steering, CompiledEvaluator) else None
        has_priors = self.settings.priors != "none"
        self._source = PriorSource(steering) if steering is not None and has_priors else None
        if self.settings.value_share and compiled is None and self._source is None:
            raise ValueError("value_share needs an evaluator that compiled code can call, or one that gives priors")
        self._feeder: DelayedPriors | None = None
        if self._source is not None and self.settings.priors == "delayed":
            self._feeder = DelayedPriors(self._source, self.settings.batch)
        if self.settings.playouts.shapes:
            window_values_of(evaluator)  # raises if playouts cannot choose by its shapes
        self._compiled = compiled
        self._tree: MctsTree | None = None

    @cached_property
    def _workers(self) -> MctsWorkers:
        """Made at the first search, because it compiles."""
        threads = self.settings.threads or usable_cores()
        at_once = 1 if self._source is None else self.settings.at_once
        large = load_large_patterns() if self.settings.large_patterns else None
        return MctsWorkers(threads, at_once, self.settings.playouts, self._compiled, self.evaluator, large)

    def search(self, game: Game, limit: Limit, rng: np.random.Generator, stop: Event | None = None) -> TreeResult:
        """The most visited move; ``visits`` are simulations, those of a tree that was kept included."""
        ending = _Ending(limit.seconds, stop, stops_early=self.settings.stops_early)
        tree = self._begin_evaluated(game, rng, ending)
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

        Bans are moves that are not looked at. Without ``stop`` there is one result: a pause would cut a batch short,
        and what is found would depend on the machine's speed.
        """
        ending = _Ending(limit.seconds, stop, stops_early=stops_early and self.settings.stops_early)
        tree = self._begin_evaluated(game, rng, ending, bans)
        for _ in self._grow(tree, self._quota(limit), ending, float("inf") if stop is None else _REPORT_SECONDS):
            yield self._result(tree, game)
        yield self._result(tree, game)

    def ponder(self, game: Game, rng: np.random.Generator, stop: Event) -> None:
        """Grow the tree of a game until ``stop`` is set; a search after the opponent's move continues from there."""
        ending = _Ending(None, stop)
        for _ in self._grow(self._begin_evaluated(game, rng, ending, goes_on=True), None, ending):
            pass

    def steps(self, game: Game, simulations: int, rng: np.random.Generator) -> Generator[Ints, None, MctsTree]:
        """A search for a caller who evaluates: yields nodes of ``tree`` whose priors it must set, the root first.

        So the nodes of many games can be evaluated together, by one thread. Returns the tree.
        """
        tree = self._begin(game, rng, _Ending(None))
        tree.control["stop"] = tree.control["stops_early"] = 0
        tree.control["threads"] = 1
        if (root := tree.take_root()).size:
            yield root
        tree.expect_lead()
        self._workers.hand_out(simulations)
        while (awaited := self._workers.step(tree)) is not None:
            yield awaited
        return tree

    @property
    def tree(self) -> MctsTree:
        """That of the last search."""
        assert self._tree is not None
        return self._tree

    def black_wins(self) -> float:
        """P(Black wins) at the root of the last search, by all of its simulations."""
        return self.tree.black_wins(self._workers.black_lead())

    def prepare(self, size: int) -> None:
        """Load and allocate what the first searches on a board of that size would wait for, and find nothing."""
        game, rng = Game(size), np.random.default_rng(0)
        if self.evaluator is not None:
            self.evaluator.evaluate([game.board])  # raises if it cannot evaluate such boards
        for _ in range(2):  # the second continues the tree of the first
            game.play(self.search(game, Limit(simulations=_PREPARING_SIMULATIONS), rng).move)
        if self._tree is not None:
            self._tree.prune()
            self._tree.forget()

    def finish_priors(self) -> PriorReport:
        """Wait for what is still at the evaluator, and report what became of the priors of the last search."""
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

    def _begin_evaluated(
        self,
        game: Game,
        rng: np.random.Generator,
        ending: _Ending,
        bans: Collection[Ban] = (),
        *,
        goes_on: bool = False,
    ) -> MctsTree:
        """The tree for a game, its root with the evaluator's prior."""
        tree = self._begin(game, rng, ending, bans, goes_on=goes_on)
        if self._source is not None and tree.control["waits_left"][0]:
            self._source.evaluate(tree, tree.take_root())
        tree.expect_lead()
        if tree.evaluation is not None and tree.control["knows_outcomes"][0]:
            lead = float(tree.nodes["black_lead"][tree.root])
            self._workers.add_root(lead, tree.ownership(), self.settings.value_share)
        return tree

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
        settings = self.settings
        asks_kernel = settings.playouts.shapes or (self._compiled is not None and settings.value_share)
        if self.evaluator is not None and asks_kernel:
            self.evaluator.evaluate([game.board])  # raises if it cannot evaluate such boards; its kernel would not
        if self._td is not None:  # it may take half of the time
            seconds = None if ending.seconds is None else ending.seconds / 2
            self._td.adapt(game, Limit(simulations=settings.td_simulations, seconds=seconds), rng, ending.stop)
        if self._tree is None or self._tree.size != game.size:
            self._tree = MctsTree(game.size, settings.megabytes, settings.shares_positions)
        tree, control = self._tree, self._tree.control
        for name in _KERNEL_SETTINGS:
            control[name] = getattr(settings, name)
        control["values_come_with_priors"] = self._compiled is None
        control["wants_priors"] = self._source is not None
        control["waits_left"] = 0
        control["decided"] = 0
        self._workers.begin(rng)
        tree.begin(game, self._workers.playouts, settings.reuse, bans, goes_on=goes_on)
        if self._source is not None:
            self._source.begin(game)
            control["knows_outcomes"] = self._source.knows_outcomes
            control["waits_left"] = settings.waits_for if self._feeder else ENDLESS
        if is_won(game):
            tree.favor_pass()
        return tree

    def _serve(self, nodes: Ints) -> None:
        """Let nodes that are waited for have their priors now."""
        if self._source is not None and self._tree is not None:
            self._source.evaluate(self._tree, nodes)

    def _quota(self, limit: Limit) -> int | None:
        if limit.simulations is None and limit.seconds is None:
            return self.settings.simulations
        return limit.simulations

    def _result(self, tree: MctsTree, game: Game) -> TreeResult:
        visits, move = tree.visits(tree.root), tree.best_move()
        order = sorted(moves_of(visits > 0), key=lambda other: -visits[other])[:VARIATIONS]
        lines = {other: tree.line(other) for other in order}
        variations = {other: playable(game, line) for other, (line, _) in lines.items()}
        priors = PriorReport() if self._source is None else self._source.report(tree)
        leads = self._workers.move_leads(tree.points)
        values = tree.values(leads)
        share = self.settings.value_share
        doubt = ((1 - share) ** 2 * _PLAYOUT_NOISE**2 + share**2 * _VALUE_NOISE**2) / _MOVE_SPREAD**2
        root = _root_values(tree, values.astype(np.float64), leads, visits, doubt)
        return TreeResult(
            move=move,
            black_wins=float(values[move]) if visits[move] else 0.5,
            visits=visits,
            variation=variations.get(move, (move,)),
            sweep=values.astype(np.float64),
            priors=tree.priors(),
            variations=variations,
            variation_visits={other: tuple(counts[: len(variations[other])]) for other, (_, counts) in lines.items()},
            black_lead=root.black_lead,
            leads=leads,
            root_wins=root.black_wins,
            error=root.error * (1 - share),
            doubt=doubt,
            ownership=self._workers.ownership(tree.points),
            criticality=self._workers.criticality(tree.points),
            simulations=self._workers.simulations,
            coverage=priors.coverage,
            lag_simulations=priors.lag_simulations,
            lag_seconds=priors.lag_seconds,
            warning=priors.error,
        )


def _root_values(tree: MctsTree, values: Doubles, leads: Doubles, visits: Ints, doubt: float) -> _RootValues:
    """P(Black wins) and Black's lead in the position: means over the simulations, in which worse moves count less.

    A player chooses the best: a move that wins ``_WORSE`` less often than another counts 1/e of its visits. Values
    are drawn to the plain means by ``doubt`` before. The evaluator's values of the position count as a visit.
    """
    tried = np.flatnonzero(visits)
    counts, wins, points = visits[tried].astype(np.float64), values[tried], leads[tried]
    if tree.evaluation is not None:
        own = float(tree.nodes["black_lead"][tree.root]) if tree.control["knows_outcomes"][0] else np.nan
        counts, wins, points = np.append(counts, 1), np.append(wins, tree.evaluation), np.append(points, own)
    if not counts.size:
        return _RootValues(None, None, 0.0)
    trust = counts / (counts + doubt)
    wins, points = (mean + trust * (found - mean) for found in (wins, points) for mean in [_mean(found, counts)])
    worse = np.abs(wins - (wins.max() if tree.nodes["to_play"][tree.root] == BLACK else wins.min()))
    weights = counts * np.exp(-worse / _WORSE)
    black_wins, lead = _mean(wins, weights), _mean(points, weights)
    error = math.sqrt(max(0.0, black_wins * (1 - black_wins)) / counts.sum())
    return _RootValues(black_wins, None if np.isnan(lead) else lead, error)


def _mean(values: Doubles, weights: Doubles) -> float:
    known = ~np.isnan(values)
    return float(np.average(values[known], weights=weights[known])) if known.any() else np.nan


class _RootValues(NamedTuple):
    black_wins: float | None
    black_lead: float | None
    error: float  # the standard error of black_wins, if all of it came from playouts


@dataclass(slots=True)
class _Ending:
    """Whether a search is to end before its simulations are done. One is always done. Time counts from its making."""

    seconds: float | None
    stop: Event | None = None
    stops_early: bool = False
    started: float = field(default_factory=time.monotonic)

    def has_come(self, tree: MctsTree, workers: MctsWorkers, pause: float = float("inf")) -> bool:
        """Because it was asked to, the time is up, nothing can change any more, or it is time for a pause."""
        if not workers.simulations:
            return False
        now = time.monotonic()
        if now >= pause or (self.stop is not None and self.stop.is_set()):
            return True
        if self.seconds is not None and now >= self.started + self.seconds:
            return True
        return self.stops_early and (self._is_decided(tree, workers, now) or np.count_nonzero(tree.priors()) == 1)

    def _is_decided(self, tree: MctsTree, workers: MctsWorkers, now: float) -> bool:
        """Whether the most visited move would stay so at the present speed; the simulations decide it themselves."""
        if tree.control["decided"][0]:
            return True
        elapsed = now - self.started
        if self.seconds is None or elapsed < _SECONDS_BEFORE_STOPPING_EARLY:
            return False
        left = (self.seconds - elapsed) * workers.simulations / elapsed
        second, best = np.partition(tree.visits(tree.root), -2)[-2:]
        return bool(best - second > left)


def warmup() -> None:
    """Compile the tree search."""
    tree, root = MctsTree(5, megabytes=1), np.zeros(1, dtype=np.int64)
    tree.boards(root)
    nothing = np.zeros((1, 5 * 5 + 1), dtype=np.float32)
    tree.set_priors(root, np.zeros(1, dtype=np.uint64), Evaluation(nothing[:, 0], nothing))
    search = MctsSearch(None, MctsSettings(megabytes=1, expand_after=0, shares_positions=True))
    game = Game(5)
    for _ in range(2):  # the second continues with the tree of the first
        game.play(search.search(game, Limit(simulations=50), np.random.default_rng(0)).move)
    kernels.no_value(game.board.record, _NO_PARAMETERS)
