"""Simulations a second from the empty board, beside plain playouts in the same run.

A simulation is a descent, a playout and a backup, so the time that the tree costs is what a simulation takes beyond a
playout of the same kind. ``katachi`` has uniform playouts and even priors, ``katachi-informed`` those that play well.
Each round grows a tree anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Final

import numpy as np

from katachi.bench.report import Bar, Contestant, Report, Row, measure
from katachi.core.contracts import Limit
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.playouts import run_playouts
from katachi.search.mcts import MctsSearch
from katachi.search.playouts import UNIFORM
from katachi.search.settings import MctsSettings, PlayoutSettings

SIZES: Final = (9, 19)
UNIT: Final = "simulations/s"
_GUESSED_RATE: Final = {9: 80_000, 19: 16_000}  # how much work makes a round; it need not be right
_INFORMED_WEIGHT: Final = 0.3  # they are slower, and their rounds are to last no longer


def run(seconds: float = 0.4, rounds: int = 15) -> Report:
    """Measure all contestants; a round of one of them lasts about ``seconds``."""
    rows: list[Row] = []
    for size in SIZES:
        found = measure(_contestants(size), size, UNIT, max(10, round(_GUESSED_RATE[size] * seconds)), rounds)
        rows += [row._replace(unit="playouts/s") if row.name == "playouts" else row for row in found]
    return Report("mcts", rows, list(_bars(rows)), [])


def _contestants(size: int) -> list[Contestant]:
    contestants = []
    for threads in (1, 2):
        for name, is_informed, weight in (("katachi", False, 1.0), ("katachi-informed", True, _INFORMED_WEIGHT)):
            run = partial(_simulate, threads=threads, is_informed=is_informed)
            run(size, 10, seed=0)  # compiles, and wakes the threads
            contestants.append(Contestant(name, threads, run, weight))
        contestants.append(Contestant("playouts", threads, partial(_play_out, threads=threads)))
    return contestants


def _simulate(size: int, count: int, seed: int, threads: int, is_informed: bool) -> None:
    _search(threads, is_informed).search(Game(size), Limit(simulations=count), np.random.default_rng(seed))


@cache
def _search(threads: int, is_informed: bool) -> MctsSearch:
    playouts = PlayoutSettings() if is_informed else UNIFORM
    settings = MctsSettings(
        threads=threads, playouts=playouts, pattern_priors=is_informed, reuse=False, stops_early=False
    )
    return MctsSearch(None, settings)


def _play_out(size: int, count: int, seed: int, threads: int) -> None:
    run_playouts(Board(size), count, seed, threads=threads)


def _bars(rows: list[Row]) -> Iterator[Bar]:
    rates = {(row.name, row.threads, row.size): row.rate for row in rows}
    wanted = (
        ("simulations / playouts", ("katachi", 1), ("playouts", 1), 0.8),
        ("two threads / one", ("katachi", 2), ("katachi", 1), 1.7),
        ("two threads / one, informed", ("katachi-informed", 2), ("katachi-informed", 1), 1.7),
    )
    for text, ours, other, at_least in wanted:
        for size in SIZES:
            yield Bar(text, size, rates[*ours, size] / rates[*other, size], at_least)
