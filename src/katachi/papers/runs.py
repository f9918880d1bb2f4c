"""Many runs side by side, each kept on disk as soon as it is through, so that an interrupted experiment goes on.

A run is a function of JSON arguments that returns a JSON object. Its file holds both: a file with other arguments is
refused. This process alone writes; the runs go through joblib, to processes of this machine (loky) or to a cluster
(Ray, which must be installed).
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any, Final

from katachi.core.cards import provenance
from katachi.core.disk import DirectoryLock, write_atomically
from katachi.core.processes import end_with_parent
from katachi.papers.errors import ExperimentError

Json = dict[str, Any]

_ROUND: Final = 4  # runs for each job that Ray gets at once: it hands over results only when all of them are through


@dataclass(frozen=True, slots=True)
class Run:
    """One run: ``work(**arguments)`` is its result. ``name`` is its file; ``games`` says how much work it is."""

    name: str
    work: Callable[..., Json]
    arguments: Json
    games: int


class Backend(StrEnum):
    """Where runs are done: in processes of this machine, or on a Ray cluster."""

    LOKY = "loky"
    RAY = "ray"


@dataclass(frozen=True, slots=True)
class Workers:
    """Who does the runs: so many at a time."""

    jobs: int = 1
    backend: Backend = Backend.LOKY


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an experiment is: runs and games, and how many of the games were played in so many seconds just now.

    What learns from positions counts these instead of games, and says so in ``unit``.
    """

    name: str
    runs: int
    all_runs: int
    games: int
    all_games: int
    games_now: int
    seconds: float
    unit: str = "games"

    @property
    def games_per_second(self) -> float:
        return self.games_now / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        rate = self.games_per_second
        return (self.all_games - self.games) / rate if rate else None


Watcher = Callable[[Progress], None]


def seed_of(*names: str | int) -> int:
    """A seed that belongs to these names, whatever else is run: 32 bits.

    >>> seed_of("LI 2x2", 0) == seed_of("LI 2x2", 0) != seed_of("LI 2x2", 1)
    True
    """
    return int.from_bytes(hashlib.sha256("/".join(map(str, names)).encode()).digest()[:4])


def do_runs(runs: Sequence[Run], folder: Path, workers: Workers, watch: Watcher) -> list[Json]:
    """The results of all runs, in their order; those with a file are not done again.

    Raises ExperimentError if a file belongs to other arguments, or Ray is wanted and missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = DirectoryLock(folder)
    try:
        results = {run.name: result for run in runs if (result := _kept(run, folder)) is not None}
        missing = [run for run in runs if run.name not in results]
        before, start = sum(run.games for run in runs if run.name in results), time.monotonic()
        games = 0

        def tell() -> None:
            seconds, total = time.monotonic() - start, sum(run.games for run in runs)
            watch(Progress(folder.name, len(results), len(runs), before + games, total, games, seconds))

        tell()
        for run, result in _do(missing, workers):
            _keep(run, result, folder)
            results[run.name] = result
            games += run.games
            tell()
        return [results[run.name] for run in runs]
    finally:
        lock.release()


def _path(run: Run, folder: Path) -> Path:
    return folder / f"{run.name.replace(' ', '-')}.json"


def _kept(run: Run, folder: Path) -> Json | None:
    path = _path(run, folder)
    try:
        kept = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError:
        raise ExperimentError(f"{path} is damaged: delete it, and its run is done again") from None
    if kept["arguments"] != run.arguments:
        raise ExperimentError(f"{path} was measured with other settings: give another --run folder")
    result: Json = kept["result"]
    return result


def _keep(run: Run, result: Json, folder: Path) -> None:
    content = {"arguments": run.arguments, "program": provenance(), "result": result}
    write_atomically(_path(run, folder), json.dumps(content, ensure_ascii=False) + "\n")


def _do(runs: Sequence[Run], workers: Workers) -> Iterator[tuple[Run, Json]]:
    """Do runs in their order and yield each as it is through."""
    if workers.backend is Backend.RAY:
        yield from _do_on_ray(runs, workers.jobs)
    elif workers.jobs == 1:
        yield from ((run, run.work(**run.arguments)) for run in runs)
    else:
        from joblib import Parallel, delayed

        parallel = Parallel(
            n_jobs=workers.jobs, batch_size=1, pre_dispatch=workers.jobs, return_as="generator_unordered"
        )
        yield from parallel(delayed(_do_in_worker)(run, os.getpid()) for run in runs)


def _do_in_worker(run: Run, parent: int) -> tuple[Run, Json]:
    end_with_parent(parent)
    return run, run.work(**run.arguments)


def _do_on_ray(runs: Iterable[Run], jobs: int) -> Iterator[tuple[Run, Json]]:
    try:
        from ray.util.joblib import register_ray
    except ImportError:
        raise ExperimentError("the backend ray needs Ray: pip install ray") from None
    from joblib import Parallel, delayed

    register_ray()
    waiting = iter(runs)
    while some := list(islice(waiting, _ROUND * jobs)):
        results = Parallel(n_jobs=jobs, backend="ray")(delayed(run.work)(**run.arguments) for run in some)
        yield from zip(some, results, strict=True)
