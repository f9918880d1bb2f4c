"""What an experiment is made of: tables and figures, what ours stand beside, and how much of them is to be measured.

An experiment remakes a paper, or asks what a part of katachi is worth. Measuring one of its *tables* (or figures)
does its runs, or those that are missing, and gives *results*: a JSON object that is small enough to be kept, and from
which rows, pictures and text can be made again without measuring. Nothing here knows what is measured.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module
from itertools import islice
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, ClassVar, Final, Self

from katachi import papers
from katachi.core.cards import provenance
from katachi.core.disk import DirectoryLock, in_processes, write_atomically


class ExperimentError(ValueError):
    """An experiment that cannot be started or resumed, and why."""


# Rows of a report: what a paper published, or what we set out to reach, beside what we measured.

Value = float | str | None
Bounds = Sequence[float | None]  # two; None is an end that is not known


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: ``what`` names its unit, ``run`` the folder below the run directory that it was measured in."""

    id: str
    what: str
    published: Value  # or wanted; None where there is no such figure
    ours: Value  # None where it could not be measured
    interval: Bounds | None
    run: str = ""  # PAPER/TABLE, which ``Experiment.rows`` fills in

    @classmethod
    def measured(
        cls, name: str, what: str, published: Value, found: tuple[float, tuple[float, float] | None] | None
    ) -> Self:
        """A row of an estimate, rounded to one digit; None if there is none."""
        return cls(name, what, published, *((None, None) if found is None else (round(found[0], 1), found[1])))


# Many runs side by side, each kept on disk as soon as it is through, so that an interrupted experiment resumes.
#
# A run is a function of JSON arguments that returns a JSON object. Its file holds both: a file with other arguments is
# refused. This process alone writes; the runs go through joblib, to processes of this machine (loky) or to a cluster
# (Ray, which must be installed).

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


def position_watcher(name: str, total: int, scope: Scope) -> Callable[[int, Any], None]:
    """Report how far a training is; the clock starts with the first batch that is learned from now."""
    started: list[tuple[int, float]] = []

    def tick(positions: int, losses: Any) -> None:  # noqa: ARG001 — the run keeps what was measured
        started[:] = started or [(positions, time.monotonic())]
        now, seconds = positions - started[0][0], time.monotonic() - started[0][1]
        scope.watch(Progress(name, positions, total, positions, total, now, seconds, unit="positions"))

    return tick


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
    if _portable(kept["arguments"], folder) != _portable(run.arguments, folder):
        raise ExperimentError(f"{path} was measured with other settings: give another --run folder")
    result: Json = kept["result"]
    return result


def _portable(value: Any, folder: Path) -> Any:
    """Arguments in which paths beside the folder of a table start with ``./``, so that all of them can be moved."""
    if isinstance(value, dict):
        return {key: _portable(each, folder) for key, each in value.items()}
    if isinstance(value, list):
        return [_portable(each, folder) for each in value]
    root = f"{folder.resolve().parent}{os.sep}"
    return f"./{value.removeprefix(root)}" if isinstance(value, str) and value.startswith(root) else value


def _keep(run: Run, result: Json, folder: Path) -> None:
    content = {"arguments": _portable(run.arguments, folder), "program": provenance(), "result": result}
    write_atomically(_path(run, folder), json.dumps(content, ensure_ascii=False) + "\n")


def _do(runs: Sequence[Run], workers: Workers) -> Iterator[tuple[Run, Json]]:
    """Do runs in their order and yield each as it is through."""
    if workers.backend is Backend.RAY:
        return _do_on_ray(runs, workers.jobs)
    return in_processes(_work, ((run,) for run in runs), workers.jobs)


def _work(run: Run) -> tuple[Run, Json]:
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


# Experiments: their tables, what is to be measured of them, and their results on disk.

RESULTS: Final = "results.json"


class Budget(StrEnum):
    """How much is measured: to see that it works, what two cores do in an hour, or as much as the paper did."""

    SMOKE = "smoke"
    HOUR = "hour"
    FULL = "full"


def _forget(results: Json) -> None:
    """Results so far that nobody asks for."""


@dataclass(frozen=True, slots=True)
class Scope:
    """How much of a table to measure, where to keep it, and who does it; ``runs`` overrides the budget's number."""

    folder: Path
    budget: Budget
    watch: Watcher
    runs: int | None
    workers: Workers
    keep: Callable[[Json], None] = _forget  # results so far, for a document of what is not through yet
    data: Path | None = None  # a dataset, for tables that learn from one
    more_data: tuple[Path, ...] = ()  # others, for tables that ask about several
    models: tuple[str, ...] = ()  # to ask instead of the bundled ones, for tables that ask any

    @property
    def sets(self) -> tuple[Path, ...]:
        """All datasets that were given."""
        return self.more_data if self.data is None else (self.data, *self.more_data)


class Table(ABC):
    """One table or figure of an experiment."""

    name: ClassVar[str]
    title: ClassVar[str]
    own_differences: ClassVar[Sequence[str]] = ()  # from the paper, in this table
    needs: ClassVar[tuple[str, ...]] = ()  # modules of extras
    only_by_name: ClassVar[bool] = False  # not one of all: it needs data that others do not

    @abstractmethod
    def measure(self, scope: Scope) -> Json:
        """Do the runs, or those that are missing."""

    @abstractmethod
    def rows(self, results: Json) -> Iterable[Row]:
        """What was measured, beside what was published."""

    @abstractmethod
    def section(self, results: Json) -> str:
        """What a document says of it, as Markdown."""

    def draw(self, results: Json, pictures: Path) -> None:  # noqa: B027 — most have no pictures
        """Draw the pictures of the section into a folder."""

    def differences(self, results: Json) -> Sequence[str]:  # noqa: ARG002 — some depend on the data
        """What was done differently from the paper."""
        return self.own_differences


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment, and what stands before the tables in its document."""

    name: str
    title: str
    tables: tuple[Table, ...]
    head: str  # ``{measured}`` stands for the names of the tables that were measured
    baseline: str = "paper"  # where the figures come from that ours stand beside
    write_cards: Callable[[Mapping[str, Json], Path], list[str]] | None = None  # into files of whom it is about

    def find(self, name: str) -> Iterable[Table]:
        """The table of this name, or all but those that are measured only by name; raises ExperimentError."""
        if name == "all":
            return [table for table in self.tables if not table.only_by_name]
        found = [table for table in self.tables if table.name == name]
        if not found:
            known = ", ".join(table.name for table in self.tables)
            raise ExperimentError(f"{self.name} has no table {name}: there are {known} and all")
        return found

    def rows(self, results: Mapping[str, Json]) -> list[Row]:
        """The rows of all tables that were measured."""
        return [
            replace(row, run=f"{self.name}/{table.name}")
            for table in self.tables
            if table.name in results
            for row in table.rows(results[table.name])
        ]


def experiment_names() -> list[str]:
    """The experiments that can be made: the packages beside this file."""
    return sorted(module.name for module in iter_modules(papers.__path__) if module.ispkg)


def load_experiment(name: str) -> Experiment:
    """An experiment by its name; raises ExperimentError."""
    if name not in experiment_names():
        raise ExperimentError(f"there is no experiment {name}: there are {', '.join(experiment_names())}")
    experiment: Experiment = import_module(f"{papers.__name__}.{name}").EXPERIMENT
    return experiment


def measure(experiment: Experiment, name: str, scope: Scope) -> dict[str, Json]:
    """Measure one table or all, each in a folder of its own, and keep the results beside those of earlier times."""
    measured: dict[str, Json] = {}
    for table in experiment.find(name):

        def keep(results: Json, name: str = table.name) -> None:
            measured[name] = results | {"budget": scope.budget.value, "program": provenance()}
            keep_results(scope.folder, read_results(scope.folder) | measured)

        keep(table.measure(replace(scope, folder=scope.folder / table.name, keep=keep)))
    return measured


def read_results(folder: Path) -> dict[str, Json]:
    """The results that a folder holds, by table."""
    try:
        results: dict[str, Json] = json.loads((folder / RESULTS).read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError:
        raise ExperimentError(f"{folder / RESULTS} is damaged: delete it and measure again") from None
    return results


def keep_results(folder: Path, results: Mapping[str, Json]) -> None:
    """Keep results: one line a table, so that a change is easy to see."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"{json.dumps(name)}: {json.dumps(result, ensure_ascii=False)}" for name, result in results.items()]
    write_atomically(folder / RESULTS, "{\n" + ",\n".join(lines) + "\n}\n")
