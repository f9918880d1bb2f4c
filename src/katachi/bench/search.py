"""Playouts a second from the empty board: katachi, uniform and informed, its C++ twin, and OpenSpiel.

The twin (``benchmarks/playouts.cpp`` of the repository) is compiled with ``g++ -O3 -march=native`` and must play the
same games: same seed, same total score, or the benchmark refuses to go on. ``cpp-padded`` is the twin with another
coding of the points, which is measured so that the choice of coding stays an open question that numbers answer.

OpenSpiel's rollouts are its own: uniform over all legal moves, own eyes included. They run inside its C++ MCTS, ten
simulations with many rollouts each, so that its tree costs next to nothing.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np

from katachi.bench.report import Bar, BenchmarkError, Contestant, Report, Row, load_twin, measure
from katachi.go.board import Board
from katachi.go.playouts import run_playouts
from katachi.search.playouts import run_informed_playouts
from katachi.search.settings import PlayoutSettings

SIZES: Final = (9, 19)
UNIT: Final = "playouts/s"
KOMI: Final = 7.5

_GUESSED_RATE: Final = {9: 100_000, 19: 20_000}  # how much work makes a round; it need not be right
_OPENSPIEL_WEIGHT: Final = {9: 1 / 15, 19: 1 / 50}  # it is slower, and its rounds are to last no longer
_OPENSPIEL_SIMULATIONS: Final = 10


def run(seconds: float = 0.4, rounds: int = 15) -> Report:
    """Measure all contestants that are there; a round of one of them lasts about ``seconds``."""
    notes: list[str] = []
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        twin = load_playouts_twin(Path(folder), notes)
        has_openspiel = find_spec("pyspiel") is not None
        if not has_openspiel:
            notes.append("openspiel is left out: pip install 'katachi[bench]' brings it")
        for size in SIZES:
            contestants = _contestants(size, twin, has_openspiel)
            rows += measure(contestants, size, UNIT, max(10, round(_GUESSED_RATE[size] * seconds)), rounds)
    return Report("playouts", rows, list(_bars(rows)), notes)


def _contestants(size: int, twin: ctypes.CDLL | None, has_openspiel: bool) -> list[Contestant]:
    contestants = []
    for threads in (1, 2):
        contestants.append(Contestant("katachi", threads, partial(_katachi, threads=threads)))
        contestants.append(Contestant("katachi-informed", threads, partial(_informed, threads=threads), 1 / 3))
    for run_few in (_katachi, _informed):  # compiles, and wakes the threads
        run_few(size, 10, seed=0, threads=2)
    if twin is not None:
        _check_same_games(twin, size)
        contestants.append(Contestant("cpp", 1, twin.katachi_playouts))
        contestants.append(Contestant("cpp-padded", 1, twin.katachi_playouts_padded))
    if has_openspiel:
        contestants.append(Contestant("openspiel", 1, _openspiel, _OPENSPIEL_WEIGHT[size]))
    return contestants


def _katachi(size: int, count: int, seed: int, threads: int) -> int:
    """The sum over all playouts of Black's area less White's."""
    statistics = run_playouts(Board(size), count, seed, KOMI, threads=threads)
    return round((statistics.black_lead + KOMI) * count)


def _informed(size: int, count: int, seed: int, threads: int) -> None:
    run_informed_playouts(Board(size), PlayoutSettings(), count, seed, KOMI, threads)


def _openspiel(size: int, count: int, seed: int) -> None:
    import pyspiel

    game = pyspiel.load_game("go", {"board_size": size, "komi": KOMI})
    rollouts = pyspiel.RandomRolloutEvaluator(max(1, count // _OPENSPIEL_SIMULATIONS), seed)
    uct_c, megabytes, solve, verbose = 1.4, 1000, False, False
    bot = pyspiel.MCTSBot(game, rollouts, uct_c, _OPENSPIEL_SIMULATIONS, megabytes, solve, seed, verbose)
    bot.step(game.new_initial_state())


def load_playouts_twin(folder: Path, notes: list[str]) -> ctypes.CDLL | None:
    """The C++ twin with the types of its functions."""
    twin = load_twin("playouts", folder, notes)
    if twin is not None:
        for function in (twin.katachi_playouts, twin.katachi_playouts_padded):
            function.restype = ctypes.c_int64
            function.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_uint64]
    return twin


def _check_same_games(twin: ctypes.CDLL, size: int, count: int = 200, seed: int = 1) -> None:
    kernel_seed = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
    ours = _katachi(size, count, seed, threads=1)
    for function in (twin.katachi_playouts, twin.katachi_playouts_padded):
        theirs = function(size, count, kernel_seed)
        if ours != theirs:
            raise BenchmarkError(f"{size}×{size}: katachi's playouts sum to {ours}, the C++ twin's to {theirs}")


def _bars(rows: list[Row]) -> Iterator[Bar]:
    rates = {(row.name, row.threads, row.size): row.rate for row in rows}
    wanted = (
        ("katachi / cpp", ("katachi", 1), ("cpp", 1), 0.9),
        ("katachi / openspiel", ("katachi", 1), ("openspiel", 1), 10.0),
        ("two threads / one", ("katachi", 2), ("katachi", 1), 1.8),
        ("informed / uniform", ("katachi-informed", 1), ("katachi", 1), 0.25),
    )
    for text, ours, other, at_least in wanted:
        for size in SIZES:
            if (*ours, size) in rates and (*other, size) in rates:
                yield Bar(text, size, rates[*ours, size] / rates[*other, size], at_least)
