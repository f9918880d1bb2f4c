"""Playouts, simulations and planes per second.

Playouts are from the empty board: katachi, uniform and informed, its C++ twin, and OpenSpiel.

The twin (``benchmarks/playouts.cpp`` of the repository) is compiled with ``g++ -O3 -march=native`` and must play the
same games: same seed, same total score, or the benchmark refuses to continue. ``cpp-padded`` is the twin with another
coding of the points, which is measured so that the choice of coding stays an open question that numbers answer.

OpenSpiel's rollouts are its own: uniform over all legal moves, own eyes included. They run inside its C++ MCTS, ten
simulations with many rollouts each, so that its tree costs next to nothing.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.bench import BenchmarkError, Contestant, Report, Row, Target, load_twin, measure
from katachi.bench.shapes import random_positions
from katachi.core.contracts import Limit
from katachi.core.models import load_model
from katachi.core.registry import EXTRAS, is_installed
from katachi.features.planes import PlaneSet
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.playouts import run_playouts
from katachi.policy.planes import PLANES
from katachi.search.mcts import MctsSearch
from katachi.search.playouts import UNIFORM, run_informed_playouts
from katachi.search.settings import MctsSettings, PlayoutSettings

# Simulations per second from the empty board, beside plain playouts in the same run.
#
# A simulation is a descent, a playout and a backup, so the time that the tree costs is what a simulation takes beyond a
# playout of the same kind. ``katachi`` has uniform playouts and even priors, ``katachi-informed`` those that play well.
# ``network`` values every leaf by the bundled network in eight bits, ``network-singly`` the same one leaf at a time.
# Each round grows a tree anew.

SIZES: Final = (9, 19)
MCTS_UNIT: Final = "simulations/s"
_MCTS_GUESSED_RATE: Final = {9: 80_000, 19: 16_000}  # how much work makes a round; it need not be right
_INFORMED_WEIGHT: Final = 0.3  # they are slower, and their rounds are to last no longer
_NETWORKS: Final = {9: "policy-9", 19: "policy-19"}
_NETWORK_WEIGHT: Final = 0.04
_AT_ONCE: Final = {"network": 8, "network-singly": 1}


def run_mcts(seconds: float = 0.4, rounds: int = 15) -> Report:
    """Measure all contestants; a round of one of them lasts about ``seconds``."""
    rows: list[Row] = []
    for size in SIZES:
        found = measure(
            _mcts_contestants(size), size, MCTS_UNIT, max(10, round(_MCTS_GUESSED_RATE[size] * seconds)), rounds
        )
        rows += [row._replace(unit="playouts/s") if row.name == "playouts" else row for row in found]
    return Report("mcts", rows, list(_mcts_targets(rows)), [])


def _mcts_contestants(size: int) -> list[Contestant]:
    contestants = []
    for threads in (1, 2):
        for name, is_informed, weight in (("katachi", False, 1.0), ("katachi-informed", True, _INFORMED_WEIGHT)):
            run_mcts = partial(_simulate, threads=threads, is_informed=is_informed)
            run_mcts(size, 10, seed=0)  # compiles, and wakes the threads
            contestants.append(Contestant(name, threads, run_mcts, weight))
        contestants.append(Contestant("playouts", threads, partial(_play_out, threads=threads)))
        for name, at_once in _AT_ONCE.items():
            ask = partial(_ask_network, threads=threads, at_once=at_once)
            ask(size, 10, seed=0)
            contestants.append(Contestant(name, threads, ask, _NETWORK_WEIGHT))
    return contestants


def _ask_network(size: int, count: int, seed: int, threads: int, at_once: int) -> None:
    search = _search_with_network(size, threads, at_once)
    search.search(Game(size), Limit(simulations=count), np.random.default_rng(seed))


@cache
def _search_with_network(size: int, threads: int, at_once: int) -> MctsSearch:
    evaluator = load_model(_NETWORKS[size], {"precision": "int8"})
    return MctsSearch(
        evaluator,
        MctsSettings(
            threads=threads,
            at_once=at_once,
            priors="synchronous",
            expand_after=0,
            rave=0.0,
            value_share=1.0,
            reuse=False,
            stops_early=False,
        ),
    )


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


def _mcts_targets(rows: list[Row]) -> Iterator[Target]:
    rates = {(row.name, row.threads, row.size): row.rate for row in rows}
    wanted = (
        ("simulations / playouts", ("katachi", 1), ("playouts", 1), 0.8),
        ("two threads / one", ("katachi", 2), ("katachi", 1), 1.7),
        ("two threads / one, informed", ("katachi-informed", 2), ("katachi-informed", 1), 1.7),
        ("with network, together / singly", ("network", 1), ("network-singly", 1), 1.1),
    )
    for text, ours, other, at_least in wanted:
        for size in SIZES:
            yield Target(text, size, rates[*ours, size] / rates[*other, size], at_least)


# Positions per second that become planes, one core: ``katachi`` is all 36 of the paper, ``katachi-mover`` our own set.
#
# The positions are those of random games, which have more captures and ladders than games of people; they are encoded
# in batches, as a network takes them.

PLANES_UNIT: Final = "positions/s"
WANTED: Final = 10_000  # of 19×19 positions per second, so that training never waits

_ROWS: Final = {"katachi": "maddison-36", "katachi-mover": "mover", "katachi-reduced": "maddison-9"}
_BATCH: Final = 128
_RANK: Final = 5
_PLANES_GUESSED_RATE: Final = {9: 100_000, 19: 20_000}  # how much work makes a round; it need not be right


def run_planes(seconds: float = 0.4, rounds: int = 15) -> Report:
    """Measure all sets; a round of one of them lasts about ``seconds``."""
    rows: list[Row] = []
    for size in SIZES:
        records = random_positions(size)
        contestants = [Contestant(row, 1, _encoder(PLANES[name], records)) for row, name in _ROWS.items()]
        rows += measure(contestants, size, PLANES_UNIT, max(10, round(_PLANES_GUESSED_RATE[size] * seconds)), rounds)
    (rate,) = (row.rate for row in rows if (row.name, row.size) == ("katachi", SIZES[-1]))
    return Report("planes", rows, [Target(f"katachi / {WANTED:,} {PLANES_UNIT}", SIZES[-1], rate / WANTED, 1.0)], [])


def _encoder(planes: PlaneSet, records: NDArray[Any]) -> Callable[[int, int, int], None]:
    """A function that encodes so many positions, batch after batch; it is compiled here."""
    size = int(records["lines"][0])
    ranks = np.full(_BATCH, _RANK, dtype=np.int8)
    out = np.empty((_BATCH, planes.count, size, size), dtype=np.uint8)

    def encode(_: int, count: int, seed: int) -> None:
        start = seed * _BATCH
        for done in range(0, count, _BATCH):
            batch = min(_BATCH, count - done)
            first = (start + done) % (records.size - _BATCH)
            planes.fill(records[first : first + batch], ranks[:batch], out[:batch])

    encode(size, 1, 0)
    return encode


# Playouts per second.

PLAYOUTS_UNIT: Final = "playouts/s"
KOMI: Final = 7.5

_PLAYOUTS_GUESSED_RATE: Final = {9: 100_000, 19: 20_000}  # how much work makes a round; it need not be right
_OPENSPIEL_WEIGHT: Final = {9: 1 / 15, 19: 1 / 50}  # it is slower, and its rounds are to last no longer
_OPENSPIEL_SIMULATIONS: Final = 10


def run_playouts_bench(seconds: float = 0.4, rounds: int = 15) -> Report:
    """Measure all contestants that are there; a round of one of them lasts about ``seconds``."""
    notes: list[str] = []
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        twin = load_playouts_twin(Path(folder), notes)
        has_openspiel = is_installed("pyspiel")
        if not has_openspiel:
            notes.append(f"openspiel is left out: {EXTRAS['pyspiel'].command} brings it")
        for size in SIZES:
            contestants = _playouts_contestants(size, twin, has_openspiel)
            rows += measure(
                contestants, size, PLAYOUTS_UNIT, max(10, round(_PLAYOUTS_GUESSED_RATE[size] * seconds)), rounds
            )
    return Report("playouts", rows, list(_playouts_targets(rows)), notes)


def _playouts_contestants(size: int, twin: ctypes.CDLL | None, has_openspiel: bool) -> list[Contestant]:
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


def _playouts_targets(rows: list[Row]) -> Iterator[Target]:
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
                yield Target(text, size, rates[*ours, size] / rates[*other, size], at_least)
