"""What priors from a slow evaluator cost the search: simulations per second, beside those without one.

The evaluator is a double that waits. It finds all moves equally good, and so does the default prior here, so that the
trees are alike and only the traffic is measured. In each round all delays take turns; ratios are taken within a
round, so that whatever else the machine does disturbs both sides alike.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

import numpy as np

from katachi.core.contracts import Evaluation, Limit
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.papers.documents import Estimate, estimate, format_rounded, format_value, table
from katachi.papers.experiment import Budget, Json, Row, Run, Scope, Table, Workers, do_runs, seed_of
from katachi.search.mcts import MctsSearch
from katachi.search.settings import MctsSettings

# An evaluator that takes a given time, like a network on another device, and has no opinion.


class SlowEvaluator:
    """Finds all legal moves equally good, after so many seconds a batch in which it uses no processor."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def evaluate(self, boards: Sequence[Board]) -> Evaluation:
        """Wait, then answer."""
        time.sleep(self._seconds)
        legal = np.stack([board.legal_moves() for board in boards]).astype(np.float32)
        even = np.full(len(boards), 0.5, dtype=np.float32)
        return Evaluation(even, legal / legal.sum(axis=1, keepdims=True))


SIZE: Final = 9
DELAYS: Final = (0, 50, 150)  # milliseconds a batch
THREADS: Final = (1, 2)
LEAST_RATIO: Final = 90  # percent of the search without an evaluator
ROUNDS: Final = {Budget.SMOKE: 2, Budget.HOUR: 20, Budget.FULL: 60}
_SECONDS: Final = {Budget.SMOKE: 0.2, Budget.HOUR: 2.0, Budget.FULL: 2.0}  # a search


def search_round(size: int, seconds: float, seed: int) -> Json:
    """One search of each kind, in random order: what it did, by threads and delay (−1: without an evaluator)."""
    kinds = [(threads, delay) for threads in THREADS for delay in (-1, *DELAYS)]
    np.random.default_rng(seed).shuffle(kinds)
    return {_key(threads, delay): _search(threads, delay, size, seconds, seed) for threads, delay in kinds}


def _key(threads: int, delay: int) -> str:
    return f"{threads}/{delay}"


def _search(threads: int, delay: int, size: int, seconds: float, seed: int) -> Json:
    settings = MctsSettings(threads=threads, pattern_priors=False, stops_early=False)
    search = MctsSearch(None if delay < 0 else SlowEvaluator(delay / 1000), settings)
    rng = np.random.default_rng(seed)
    search.search(Game(size), Limit(simulations=100), rng)  # wakes the threads
    search.finish_priors()
    begin = time.perf_counter()
    result = search.search(Game(size), Limit(seconds=seconds), rng)
    elapsed = time.perf_counter() - begin
    priors = search.finish_priors()
    return {
        "rate": result.simulations / elapsed,
        "sent": priors.sent,
        "dropped": priors.sent - priors.returned,
        "coverage": result.coverage,
        "lag simulations": priors.lag_simulations,
        "lag seconds": priors.lag_seconds,
    }


def ratio(results: Json, threads: int, delay: int) -> Estimate:
    """The median over rounds of the rate with an evaluator, in percent of that without."""
    plain = np.array(results["kinds"][_key(threads, -1)]["rate"])
    return estimate(100 * np.array(results["kinds"][_key(threads, delay)]["rate"]) / plain, np.median)


class LatePriors(Table):
    name = "async"
    title = "Priors that come late"

    def measure(self, scope: Scope) -> Json:
        """Search in rounds, one at a time, whatever ``--jobs`` says; ``--runs`` is the number of rounds."""
        arguments = {"size": SIZE, "seconds": _SECONDS[scope.budget]}
        runs = [
            Run(f"round {number:02d}", search_round, {**arguments, "seed": seed_of(self.name, number)}, games=1)
            for number in range(scope.runs or ROUNDS[scope.budget])
        ]
        done = do_runs(runs, scope.folder, Workers(), scope.watch)
        kinds = {
            kind: {what: [found[kind][what] for found in done] for what in done[0][kind]} for kind in sorted(done[0])
        }
        return {"seconds": arguments["seconds"], "batch": MctsSettings().batch, "kinds": kinds}

    def rows(self, results: Json) -> Iterator[Row]:
        """The rate beside that without an evaluator, and what was dropped."""
        for threads, delay in product(THREADS, DELAYS):
            where, found = f"{self.name}/{threads}/{delay}", ratio(results, threads, delay)
            what = f"priors after {delay} ms, {threads} thread{'s' if threads > 1 else ''}"
            dropped = sum(results["kinds"][_key(threads, delay)]["dropped"])
            share = f"{what}: simulations/s, % of those without"
            yield Row.measured(f"{where}/rate", share, f"≥ {LEAST_RATIO}", found)
            yield Row(f"{where}/dropped", f"{what}: evaluations dropped", 0, dropped, None)

    def section(self, results: Json) -> str:
        """How it was measured, and the medians."""
        rounds = len(results["kinds"][_key(THREADS[0], -1)]["rate"])
        return f"""
An evaluator that waits so many milliseconds a batch of up to {results["batch"]} nodes, and the search beside it, from
the empty {SIZE}×{SIZE} board with even priors, {results["seconds"]:g} s a search. Medians over {rounds} rounds in which
all took turns. *Covered* is the share of visited nodes that have the evaluator's prior when the search ends; the lag is
that from the making of a node to its prior.

{self._table(results)}
"""

    def _table(self, results: Json) -> str:
        header = (
            "delay, ms",
            "threads",
            "simulations/s",
            "% of those without",
            "evaluations",
            "dropped",
            "covered, %",
            "lag, simulations",
            "lag of a batch, ms",
        )
        kinds = ((threads, delay) for threads in THREADS for delay in (-1, *DELAYS))
        return table(header, (self._line(results, *kind) for kind in kinds))

    def _line(self, results: Json, threads: int, delay: int) -> tuple[str, ...]:
        found = results["kinds"][_key(threads, delay)]
        rate = format_value(round(np.median(found["rate"])))
        if delay < 0:
            return ("no evaluator", str(threads), rate, *[""] * 6)
        return (
            str(delay),
            str(threads),
            rate,
            format_rounded(ratio(results, threads, delay)),
            format_value(sum(found["sent"])),
            str(sum(found["dropped"])),
            f"{100 * np.median(found['coverage']):.0f}",
            format_value(round(np.median(found["lag simulations"]))),
            f"{1000 * np.median(found['lag seconds']):.0f}",
        )
