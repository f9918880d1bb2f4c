"""Figure 4: each set of shapes alone, and with all sets that are as or more general, on 5×5.

36 learners: nine sizes, location independent (LI) and dependent (LD), alone and cumulative; in each a number of
runs of two agents that learn for 100,000 games (``papers/silver2007/learning_run.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from katachi.features.windows import PAPER_SIZES
from katachi.papers.documents import Estimate, estimate
from katachi.papers.experiment import Budget, Json, Run, Scope, do_runs, seed_of
from katachi.papers.silver2007.learning_run import Protocol, games_until, learn, mean_curve, mean_rates, percent_won
from katachi.shapes.sets import Location, ShapeSet

NAME: Final = "figure4"
SIZE: Final = 5
KOMI: Final = 7.5
ALONE: Final = "alone"
CUMULATIVE: Final = "cumulative"
EARLY: Final = 1_000  # games after which the paper already saw the 2×2 shapes win 25 %
LEARNED: Final = 0.5  # the win rate that both agents must exceed
SMOOTHED: Final = 5  # tests in a row, in the second definition of learning time

PROTOCOLS: Final = {
    Budget.SMOKE: Protocol(games=200, test_every=100, test_games=20, final_games=20),
    Budget.HOUR: Protocol(),
    Budget.FULL: Protocol(),
}
RUNS: Final = {Budget.SMOKE: 2, Budget.HOUR: 5, Budget.FULL: 10}

ALL_SETS: Final = tuple(ShapeSet(*size, location) for location in Location for size in PAPER_SIZES)


@dataclass(frozen=True, slots=True)
class Learner:
    """One column of the figure: a set of shapes, alone or with all sets as or more general."""

    shape_set: ShapeSet
    how: str

    @property
    def name(self) -> str:
        return f"{self.shape_set.name} {self.how}"

    @property
    def sets(self) -> tuple[ShapeSet, ...]:
        if self.how == ALONE:
            return (self.shape_set,)
        return tuple(other for other in ALL_SETS if other.is_as_general_as(self.shape_set))

    @property
    def mode(self) -> str:
        """The fast form of learning where it can be had."""
        return "online" if self.shape_set.is_hashed else "fast"

    def run(self, number: int, protocol: Protocol) -> Run:
        arguments = {
            "sets": [shape_set.name for shape_set in self.sets],
            "size": SIZE,
            "komi": KOMI,
            "seed": seed_of(NAME, self.name, number),
            "protocol": protocol.arguments,
            "mode": self.mode,
        }
        return Run(f"{self.name} {number:02d}", learn, arguments, protocol.games)


LEARNERS: Final = tuple(Learner(shape_set, how) for how in (ALONE, CUMULATIVE) for shape_set in ALL_SETS)


def measure(scope: Scope) -> Json:
    """Do all runs, or what is missing, and sum them up by learner."""
    protocol, count = PROTOCOLS[scope.budget], scope.runs or RUNS[scope.budget]
    runs = list(_runs(count, protocol))
    results = do_runs(runs, scope.folder, scope.workers, scope.watch)
    # The runs of one learner are as far apart as there are learners.
    summaries = {
        learner.name: sum_up(results[first :: len(LEARNERS)], protocol) for first, learner in enumerate(LEARNERS)
    }
    return {"protocol": protocol.arguments, "runs": count, "experiments": summaries}


def _runs(count: int, protocol: Protocol) -> Iterator[Run]:
    """The first run of every learner comes before the second of any, so that a part of them is balanced."""
    for number in range(count):
        for learner in LEARNERS:
            yield learner.run(number, protocol)


def sum_up(results: Sequence[Json], protocol: Protocol) -> Json:
    """What is kept of the runs of one learner: figures of each run, rates in percent, and the mean curve."""
    curves = [result["curve"] for result in results]
    return {
        **_sum_up_final_tests(results, protocol.final_games),
        "early": [_early(curve, protocol) for curve in curves if EARLY in protocol.tests],
        **_sum_up_learning_times(curves, protocol),
        "curve": mean_curve(curves, protocol.test_games),
    }


def _sum_up_final_tests(results: Sequence[Json], games: int) -> Json:
    """The win rates at the end of every run, in percent."""
    return {
        "final": [percent_won(result["final"], games) for result in results],
        "averaged": [percent_won(result["averaged"], games) for result in results],
        "as Black": [percent_won(result["final"], games, color=0) for result in results],
        "as White": [percent_won(result["final"], games, color=1) for result in results],
        "better agent": [percent_won(result["final"], games, best=True) for result in results],
    }


def _sum_up_learning_times(curves: Sequence[list[list[float]]], protocol: Protocol) -> Json:
    """The games until both agents exceed 50 %, in one test and in the mean of several."""
    wins = LEARNED * protocol.test_games
    return {
        "learned after": [games_until(curve, protocol.tests, wins) for curve in curves],
        "learned after, smoothed": [games_until(c, protocol.tests, wins, in_a_row=SMOOTHED) for c in curves],
    }


def _early(curve: list[list[float]], protocol: Protocol) -> float:
    return 100 * float(mean_rates(curve, protocol.test_games)[protocol.tests.index(EARLY)])


# Looking at results


def of(results: Json, learner: Learner, key: str) -> list[Any]:
    """One figure of every run of a learner."""
    found: list[Any] = results["experiments"][learner.name][key]
    return found


def learning_time(results: Json, learner: Learner, key: str = "learned after") -> Estimate:
    """The mean number of games until both agents exceed 50 %; runs that never did count as all their games."""
    games = results["protocol"]["games"]
    return estimate([games if found is None else found for found in of(results, learner, key)])


def reached(results: Json, learner: Learner) -> int:
    """How many runs had both agents exceed 50 % in one test."""
    return sum(found is not None for found in of(results, learner, "learned after"))
