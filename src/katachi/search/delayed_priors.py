"""Priors from an evaluator that is slower than the search: it works beside it, and what it says is put in later.

Maddison et al. 2014, section 6: a new node starts with the default prior and waits in a queue, first in, first out.
When a minibatch is full, or the queue has stopped growing, it goes to the evaluator, in a thread of its own, while
the search goes on. On return the prior of each node is replaced; its statistics stay. *Synchronous* priors are the
alternative: a thread that has made a node waits for its prior. With the prior comes the evaluator's value of the
node, for searches that want it.

An evaluator that fails is not asked again; the search goes on with default priors, and says so.
"""

from __future__ import annotations

import atexit
import logging
import time
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import Final
from weakref import WeakSet

from katachi.core.contracts import Evaluator, Ints
from katachi.search.mcts_tree import MctsTree

_POLL_SECONDS: Final = 0.01  # a queue that has not grown for so long has stopped growing
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
        self._lock = Lock()
        self._report = PriorReport()
        self._lag_simulations = 0.0
        self._lag_seconds = 0.0

    @property
    def failed(self) -> bool:
        return bool(self._report.error)

    def begin(self) -> None:
        """Count from here on; an evaluator that failed gets another chance."""
        self._report = PriorReport()
        self._lag_simulations = self._lag_seconds = 0.0

    def evaluate(self, tree: MctsTree, most: int) -> int:
        """Give priors to the nodes that have waited longest, so many at most; returns how many were sent."""
        if self.failed:
            return 0
        nodes = tree.take_waiting(most)
        if nodes.size:
            self._evaluate(tree, nodes)
        return int(nodes.size)

    def _evaluate(self, tree: MctsTree, nodes: Ints) -> None:
        keys, born = tree.nodes["key"][nodes], tree.nodes["born"][nodes]
        start = time.perf_counter()
        self._count(sent=nodes.size)
        try:
            evaluation = self._evaluator.evaluate(tree.boards(nodes))
        except Exception as error:  # noqa: BLE001 (whatever goes wrong there must not end the game here)
            self._report.error = f"the evaluator failed, its priors are left out: {type(error).__name__}: {error}"
            _log.error(self._report.error)
            tree.put_back(nodes)
            return
        used = tree.set_priors(nodes, keys, evaluation)
        age = tree.nodes["visits"][tree.root] - born
        self._count(returned=nodes.size, used=used.size, lag=float(age.sum()), seconds=time.perf_counter() - start)

    def _count(self, sent: int = 0, returned: int = 0, used: int = 0, lag: float = 0.0, seconds: float = 0.0) -> None:
        with self._lock:
            self._report.sent += sent
            self._report.returned += returned
            self._report.used += used
            self._report.batches += bool(returned)
            self._lag_simulations += lag
            self._lag_seconds += seconds

    def report(self, tree: MctsTree) -> PriorReport:
        """How it stands now."""
        with self._lock:
            now = PriorReport(**{name: getattr(self._report, name) for name in PriorReport.__slots__})
        now.lag_simulations = self._lag_simulations / max(now.returned, 1)
        now.lag_seconds = self._lag_seconds / max(now.batches, 1)
        now.coverage = tree.coverage
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
        before = tree.count_waiting()  # what waits at the start, such as the root, goes at once
        while not stopped.is_set() and not self._source.failed:
            waiting = tree.count_waiting()
            if waiting >= self._batch or (waiting and waiting == before):
                self._source.evaluate(tree, self._batch)
                before = 0
            else:
                before = waiting
                stopped.wait(_POLL_SECONDS)


_feeders: Final[WeakSet[DelayedPriors]] = WeakSet()


@atexit.register
def _await_evaluators() -> None:
    """Let no program end in the middle of an evaluation: onnxruntime would abort it."""
    for feeder in tuple(_feeders):
        feeder.stop()
    for feeder in tuple(_feeders):
        feeder.join(_PATIENCE)
