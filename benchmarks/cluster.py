"""What a cluster costs, and whether it loses anything: ``python benchmarks/cluster.py overhead`` and ``… kills``.

``overhead`` plays the same schedule with two jobs on this machine, on Ray and on Dask in turn, and prints how many
times as long games take as by local processes, from the first that ends to the last, and how long the start takes.
Games are held to a time for each move, so that they take as long on a busy machine.

``kills`` plays a tournament and games of expert iteration on two raylets, and on two workers of Dask, while one of them
is killed again and again; it ends with an error if a game is missing, comes twice, or is another than that of a process
that nobody disturbs.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import c_ulong
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event

from katachi.arena.settings import parse_settings
from katachi.arena.tournament import play_tournament
from katachi.core.execution import Backend, use_cluster
from katachi.core.training import Machine, Observer
from katachi.policy import expert
from katachi.policy.expert import ExpertRun, ExpertTraining

PLAYER = "level-8 limit.simulations=1000000"


def measure_overhead(games: int, rounds: int, seconds: float) -> None:
    values = {"players": {"a": PLAYER, "b": PLAYER}, "games": games, "size": 5, "limit": {"seconds": seconds}}
    settings = parse_settings({**values, "max_moves": 40})
    taken: dict[Backend, list[float]] = {backend: [] for backend in Backend}
    for number in range(rounds):
        for backend in Backend:
            with tempfile.TemporaryDirectory() as folder:
                began, ends, lengths = time.monotonic(), [], []

                def watch(record, ends=ends, lengths=lengths) -> None:
                    ends.append(time.monotonic())
                    lengths.append(record.black.seconds + record.white.seconds)

                with use_cluster(backend, None, 2) as jobs:
                    play_tournament(settings.model_copy(update={"jobs": jobs}), Path(folder), watch)
            steady = (ends[-1] - ends[0]) / (sum(lengths[1:]) / 2)  # over what two players at once think
            taken[backend].append(steady)
            print(
                f"round {number + 1}, {backend}: {len(ends)} games of {statistics.mean(lengths):.2f} s, the first "
                f"after {ends[0] - began:.1f} s, then {steady:.3f} s for each second of two games",
                flush=True,
            )
    for backend in list(Backend)[1:]:
        ratios = [there / here for there, here in zip(taken[backend], taken[Backend.LOCAL], strict=True)]
        print(f"{backend}: {statistics.median(ratios):.3f} of local ({min(ratios):.3f}–{max(ratios):.3f}, n={rounds})")


@contextmanager
def killed_nodes(backend: Backend, every: float) -> Iterator[tuple[str, Callable[[], int]]]:
    """A cluster of two nodes of which one is killed every so many seconds: its address, and the number of kills.

    It is of a process of its own, because Ray starts nodes in a main thread alone.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    kills, over = context.Value("L", 0), context.Event()
    process = context.Process(target=_disturb, args=(backend, every, theirs, kills, over))
    process.start()
    try:
        yield ours.recv(), lambda: kills.value
    finally:
        over.set()
        process.join()


def _disturb(backend: Backend, every: float, pipe: Connection, kills: c_ulong, over: Event) -> None:
    address, kill, close = _start_ray() if backend is Backend.RAY else _start_dask()
    pipe.send(address)
    while not over.wait(every):
        kills.value += kill()
    close()


def _start_ray() -> tuple[str, Callable[[], bool], Callable[[], None]]:
    from ray.cluster_utils import Cluster

    sizes = {"object_store_memory": 100 << 20, "include_dashboard": False, "num_cpus": 1}
    cluster = Cluster(initialize_head=True, head_node_args=sizes)
    nodes = [cluster.add_node(**sizes)]

    def kill() -> bool:
        cluster.remove_node(nodes.pop(), allow_graceful=False)
        nodes.append(cluster.add_node(**sizes))
        return True

    return cluster.address, kill, cluster.shutdown


def _start_dask() -> tuple[str, Callable[[], bool], Callable[[], None]]:
    import distributed

    options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50, "memory_limit": 0}
    cluster = distributed.LocalCluster(n_workers=2, **options)

    def kill() -> bool:
        running = [nanny.pid for nanny in cluster.workers.values() if nanny.pid is not None]
        if not running:  # they are just being started again
            return False
        os.kill(running[0], signal.SIGKILL)
        return True

    return cluster.scheduler_address, kill, cluster.close


def play_games(folder: Path, games: int, backend: Backend, address: str | None, seed: int) -> None:
    """A tournament; fails if a game of it is missing or doubled."""
    settings = parse_settings({"players": ["alp", "influence"], "games": games, "size": 9, "jobs": 2, "seed": seed})
    seen: list[str] = []
    with use_cluster(backend, address, 2):
        play_tournament(settings, folder, lambda record: seen.append(record.id))
    if len(seen) != len(set(seen)) or len(seen) != games:
        raise SystemExit(f"{games} games, {len(seen)} records, {len(set(seen))} different ones")


def count_lost(backend: Backend, kills: int, every: float) -> None:
    expert._TOGETHER = 4
    tiny = ExpertTraining(first_model="expert-9", games=32, visits=20, quick_visits=8, seed=1)
    games, tournaments, generations = 100, 0, 0
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        with killed_nodes(backend, every) as (address, killed):
            while killed() < kills or not tournaments:
                tournaments += 1
                play_games(folder / f"tournament-{tournaments}", games, backend, address, tournaments)
            during_games = killed()
            while killed() < during_games + kills or not generations:
                generations += 1
                run = folder / f"expert-{generations}"
                _play_generation(run, tiny.model_copy(update={"seed": generations}), backend, address)
            during_self_play = killed() - during_games
        wrong = 0
        play_games(folder / "alone", games, Backend.LOCAL, None, 1)
        for path in (folder / "alone" / "games").iterdir():
            wrong += (folder / "tournament-1" / "games" / path.name).read_bytes() != path.read_bytes()
        _play_generation(folder / "alone-expert", tiny.model_copy(update={"seed": 1}), Backend.LOCAL, None)
        for path in (folder / "alone-expert" / "generation-001" / "games").iterdir():
            wrong += (folder / "expert-1" / "generation-001" / "games" / path.name).read_bytes() != path.read_bytes()
    print(
        f"{backend}: {games * tournaments} games of tournaments through {during_games} kills, "
        f"{generations * tiny.games} of self-play through {during_self_play}: 0 lost, 0 doubled; of the first "
        f"tournament and the first games of self-play {wrong} files are other than undisturbed ones"
    )
    if wrong:
        raise SystemExit(1)


def _play_generation(folder: Path, settings: ExpertTraining, backend: Backend, address: str | None) -> None:
    folder.mkdir()
    run = ExpertRun(folder, settings, Machine(2))
    run.begin()
    with use_cluster(backend, address, 2):
        games = run.play(1, 0, Observer())
    if len(games) != settings.games:
        raise SystemExit(f"{len(games)} games of self-play instead of {settings.games}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["overhead", "kills"])
    parser.add_argument("--backend", type=Backend, action="append", choices=list(Backend)[1:], help="for kills")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.1, help="of a move")
    parser.add_argument("--kills", type=int, default=20, help="during games, and as many during self-play")
    parser.add_argument("--every", type=float, default=10.0, help="seconds between kills")
    given = parser.parse_args()
    if given.what == "overhead":
        measure_overhead(given.games, given.rounds, given.seconds)
        return
    for backend in given.backend or list(Backend)[1:]:
        count_lost(backend, given.kills, given.every)


if __name__ == "__main__":
    main()
