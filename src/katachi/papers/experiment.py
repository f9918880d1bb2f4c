"""What an experiment is made of: tables and figures, what ours stand beside, and how much of them is to be measured.

An experiment remakes a paper, or asks what a part of katachi is worth. Measuring one of its *tables* (or figures)
does its runs, or those that are missing, and gives *results*: a JSON object that is small enough to be kept, and from
which rows, pictures and text can be made again without measuring. Nothing here knows what is measured.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, ClassVar, Final, Self

from katachi import papers
from katachi.core.cards import provenance
from katachi.core.disk import DirectoryLock, write_atomically
from katachi.core.execution import at_home, hand_out
from katachi.core.registry import require


class ExperimentError(ValueError):
    """An experiment that cannot be started or resumed, and why."""


# Rows of a report: what a paper published, or what we set out to reach, beside what we measured.

Value = float | str | None
Bounds = Sequence[float | None]  # two; None is an end that is not known

_TENTH: Final = 0.1  # of a published value: what an interval may reach to the worse side
_PUBLISHED: Final = re.compile(r"(over|under|[≥>≤<])?\s*(−?[\d,]*\.?\d+)( million)?")


class Better(StrEnum):
    """Which side of a published value is the better one."""

    HIGHER = "higher"
    LOWER = "lower"
    SAME = "same"


class Verdict(StrEnum):
    """How ours compare with what was published."""

    REACHED = "reached"
    BEATEN = "beaten"
    MISSED = "missed"
    UNCLEAR = "unclear"
    IN_WORDS = "in words"
    NOT_MEASURED = "not measured"


VERDICTS: Final = (
    "*Beaten*: the whole interval (95 %) is better than the published value. *Reached*: it holds that value and "
    "nothing more than a tenth of it worse; it lies within a limit such as *over 80*; counts round to the same. "
    "*Missed*: it is worse throughout. *Unclear*: too few games or runs to say. *In words*: the paper has no number. n "
    "counts runs where these differ, else games, moves or positions."
)


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: ``what`` names its unit, ``run`` the folder below the run directory that it was measured in.

    What is counted rather than sampled has neither interval nor n.
    """

    id: str
    what: str
    published: Value  # or wanted; None where there is no such figure
    ours: Value  # None where it could not be measured, or only a bound
    interval: Bounds | None
    run: str = ""  # PAPER/TABLE, which ``Experiment.rows`` fills in
    n: int | None = None  # the runs, games or positions that ours rests on
    planned: int | None = None  # what n would have been, had nobody stopped it
    better: Better = Better.HIGHER
    holds: bool | None = None  # whether what was published in words is true of ours
    source: str = ""  # of the published value, if that is not the paper
    note: str = ""  # why there is no interval

    @classmethod
    def measured(cls, name: str, what: str, published: Value, found: Sequence[Any] | None, **more: Any) -> Self:
        """A row of an estimate, rounded to one digit; None if there is none."""
        if found is None:
            return cls(name, what, published, None, None, **more)
        mean, interval, *n = found
        return cls(name, what, published, round(mean, 1), interval, **{"n": n[0] if n else None, **more})

    def to_json(self) -> Json:
        """Plain values, and the verdict."""
        return asdict(self) | {"verdict": self.verdict}

    @property
    def verdict(self) -> Verdict | None:
        """What follows from the interval and the published value; None where the paper has none. See ``VERDICTS``."""
        if self.published is None or self.source:
            return None
        low, high = self.interval or (None, None)
        if self.ours is None and low is None and high is None:
            return Verdict.NOT_MEASURED
        if self.holds is not None or (self.ours == self.published and self.n is None):
            return Verdict.MISSED if self.holds is False else Verdict.REACHED
        found = _PUBLISHED.fullmatch(str(self.published).replace("-", "−"))
        if found is None or isinstance(self.ours, str):
            return Verdict.IN_WORDS if self.n is None else Verdict.UNCLEAR
        wanted = float(found[2].replace("−", "-").replace(",", "")) * (1e6 if found[3] else 1)
        if self.interval is None and self.n is None and self.ours is not None:
            if _rounds_to(self.ours, wanted):
                return Verdict.REACHED
            low = high = self.ours
        if self.better is Better.LOWER:
            low, high, wanted = (None if x is None else -x for x in (high, low, wanted))  # type: ignore[assignment]
        return _compare(low, high, wanted, is_limit=found[1] is not None, is_same=self.better is Better.SAME)


def _compare(low: float | None, high: float | None, wanted: float, *, is_limit: bool, is_same: bool) -> Verdict:
    """The verdict on an interval of which the higher end is the better one; None is an end that is not known."""
    worst, best = -math.inf if low is None else low, math.inf if high is None else high
    leeway = 0.0 if is_limit else _TENTH * abs(wanted)
    if is_same and worst == best:
        return Verdict.REACHED if abs(worst - wanted) <= leeway else Verdict.MISSED
    if best < wanted or (is_same and worst > wanted):
        return Verdict.MISSED
    if worst > wanted and not is_limit:
        return Verdict.BEATEN
    if worst < wanted - leeway or (is_same and best > wanted + leeway):
        return Verdict.UNCLEAR
    return Verdict.REACHED


def _rounds_to(ours: float, published: float) -> bool:
    """Whether a count is the published one, to the digits that were published.

    >>> _rounds_to(2_294_738, 2_300_000), _rounds_to(51.2, 62)
    (True, False)
    """
    digits = len(f"{published:g}".partition("e")[0].replace(".", "").lstrip("-0").rstrip("0")) or 1
    return float(f"{ours:.{digits - 1}e}") == published


# Many runs side by side, each kept on disk as soon as it is through, so that an interrupted experiment resumes.
#
# A run is a function of JSON arguments that returns a JSON object. Its file holds both: a file with other arguments is
# refused. This process alone writes; the runs go to processes of this machine or to a cluster (``core/execution.py``),
# with the files that their arguments name.

Json = dict[str, Any]

_LONGEST_PATH: Final = 4096  # characters: a longer text is none


@dataclass(frozen=True, slots=True)
class Run:
    """One run: ``work(**arguments)`` is its result. ``name`` is its file; ``games`` says how much work it is."""

    name: str
    work: Callable[..., Json]
    arguments: Json
    games: int


@dataclass(frozen=True, slots=True)
class Workers:
    """Who does the runs: so many at a time, here or wherever there is a worker; what writes files stays here."""

    jobs: int = 1
    anywhere: bool = False


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

    Raises ExperimentError if a file belongs to other arguments.
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
    calls = ((number, run.work, run.arguments) for number, run in enumerate(runs))
    with nullcontext() if workers.anywhere else at_home():
        for number, result in hand_out(_work, calls, workers.jobs, reads=set(chain(*map(_files_of, runs)))):
            yield runs[number], result


def _work(number: int, work: Callable[..., Json], arguments: Json) -> tuple[int, Json]:
    return number, work(**arguments)


def _files_of(run: Run) -> Iterator[str]:
    """The files and folders that the arguments of a run name by a path."""
    values: list[Any] = [run.arguments, *(run.work.keywords.values() if isinstance(run.work, partial) else ())]
    while values:
        value = values.pop()
        if isinstance(value, Mapping):
            values += value.values()
        elif isinstance(value, list | tuple):
            values += value
        elif isinstance(value, Path | str) and os.sep in str(value) and len(str(value)) < _LONGEST_PATH:
            yield from [str(value)] if Path(value).exists() else ()


# Experiments: their tables, what is to be measured of them, and their results on disk.

RESULTS: Final = "results.json"
ALL_OPEN: Final = 1_000  # figures of a table that was never measured
_SLACK: Final = 1.05  # what is said to take an hour may be started when nearly one is left


class Budget(StrEnum):
    """How much is measured: to see that it works, what two cores do in an hour, or as much as the paper did."""

    SMOKE = "smoke"
    HOUR = "hour"
    FULL = "full"


class Amount(StrEnum):
    """A budget of every table, or for all tables together a time: there ``hour`` is one too."""

    SMOKE = "smoke"
    HOUR = "hour"
    FULL = "full"
    DAY = "day"
    WEEK = "week"

    @property
    def budget(self) -> Budget:
        """How much is measured of a table."""
        return Budget.FULL if self in (Amount.DAY, Amount.WEEK) else Budget(self.value)

    @property
    def hours(self) -> float:
        """The time for all tables together."""
        return {Amount.HOUR: 1.0, Amount.DAY: 24.0, Amount.WEEK: 168.0}.get(self, math.inf)


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
    hours: ClassVar[Mapping[Budget, float]] = {}  # that budgets take on two cores, where that is known

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


@dataclass(frozen=True, slots=True, eq=False)
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
    """Measure one table or all, each in a folder of its own, and keep the results beside those of earlier times.

    Results say how they were measured and how long it took, in hours; those of an interrupted one are ``under way``.
    """
    measured: dict[str, Json] = {}
    for table in experiment.find(name):
        start, earlier = time.monotonic(), read_results(scope.folder).get(table.name, {})
        spent = earlier.get("took", 0.0) if _is_under_way(earlier, scope) else 0.0

        def keep(
            results: Json, *, is_through: bool, name: str = table.name, spent: float = spent - start / 3600
        ) -> None:
            took = {"budget": scope.budget.value, "took": round(spent + time.monotonic() / 3600, 4)}
            asked = {"asked": scope.runs} if scope.runs else {}
            state = {} if is_through else {"under way": True}
            measured[name] = results | took | asked | state | {"program": provenance()}
            keep_results(scope.folder, read_results(scope.folder) | measured)

        within = replace(scope, folder=scope.folder / table.name, keep=partial(keep, is_through=False))
        keep(table.measure(within), is_through=True)
    return measured


def _is_under_way(results: Json, scope: Scope) -> bool:
    """Whether these are results so far of the measurement that is to be resumed."""
    return bool(results.get("under way")) and (results["budget"], results.get("asked")) == (scope.budget, scope.runs)


# Where experiments stand, and what to measure next of all of them.


class TimeIsUp(Exception):
    """What was measured is kept."""


def scaled(games: Mapping[Budget, int]) -> dict[Budget, float]:
    """The hours of the full budget, by what it measures more than the one of an hour."""
    return {Budget.FULL: games[Budget.FULL] / games[Budget.HOUR]}


def planned(results: Json, games: Mapping[Budget, int]) -> int | None:
    """How many runs or games a budget meant, or somebody asked for; None if results do not say what."""
    if "budget" not in results:
        return None
    asked: int | None = results.get("asked")
    return asked or games.get(Budget(results["budget"]))


def hours_of(table: Table, budget: Budget, results: Json | None) -> float | None:
    """What measuring a table takes: what it took, or what it says, or what the budget is by its name; else None."""
    if results and results["budget"] == budget and "took" in results and not results.get("under way"):
        took: float = results["took"]
        return took
    return table.hours.get(budget, 1.0 if budget is Budget.HOUR else None)


def is_done(table: Table, budget: Budget, results: Json | None) -> bool:
    """Whether nothing is left to measure by this budget."""
    order = list(Budget)
    if not results or results.get("under way") or order.index(Budget(results["budget"])) < order.index(budget):
        return False
    return all(row.n is None or row.planned is None or row.n >= row.planned for row in table.rows(results))


@dataclass(frozen=True, slots=True)
class Step:
    """A table in a plan: how many of its published figures are open, what it takes, and whether that fits the time."""

    experiment: Experiment
    table: Table
    wanting: int
    hours: float | None
    is_done: bool
    fits: bool = False

    def to_json(self) -> Json:
        """Plain values."""
        values = {"wanting": self.wanting, "hours": self.hours, "done": self.is_done, "fits": self.fits}
        return {"paper": self.experiment.name, "table": self.table.name} | values


def plan_all(known: Mapping[Experiment, Mapping[str, Json]], amount: Amount) -> list[Step]:
    """All tables of experiments with known results, those with the most open figures first.

    A figure is open if it was not measured, or is unclear; all figures of a table without results are. Tables that
    take nobody knows how long come after the others, and are measured as far as the time goes.
    """
    found = []
    for experiment, measured in known.items():
        for table in experiment.find("all"):
            results = measured.get(table.name)
            verdicts = [row.verdict for row in table.rows(results)] if results else []
            wanting = sum(verdict in (Verdict.NOT_MEASURED, Verdict.UNCLEAR) for verdict in verdicts)
            hours, done = hours_of(table, amount.budget, results), is_done(table, amount.budget, results)
            found.append(Step(experiment, table, wanting if results else ALL_OPEN, hours, done))
    left, steps = amount.hours, []
    for step in sorted(found, key=lambda step: (step.is_done, step.hours is None, -step.wanting)):
        hours = step.hours or 0.0
        fits = not step.is_done and left > 0 and hours <= left
        left -= hours if fits else 0.0
        steps.append(replace(step, fits=fits))
    return steps


def measure_all(steps: Iterable[Step], scopes: Mapping[str, Scope], hours: float) -> Iterator[tuple[Step, str]]:
    """Measure steps one after another until the time is up; yields each with why it was not measured, or nothing.

    A step that takes longer than what is left is passed over, one that cannot be measured here costs nothing.
    """
    end = time.monotonic() + 3600 * hours

    def until_then(watch: Watcher) -> Watcher:
        def tick(progress: Progress) -> None:
            watch(progress)
            if time.monotonic() > end:
                raise TimeIsUp

        return tick

    for step in (step for step in steps if not step.is_done):
        if step.hours is not None and step.hours > hours * _SLACK:
            yield step, f"takes {step.hours:g} hours"
            continue
        scope = scopes[step.experiment.name]
        try:
            require(*step.table.needs)
            measure(step.experiment, step.table.name, replace(scope, watch=until_then(scope.watch)))
        except TimeIsUp:
            yield step, "the time is up; the same command resumes"
            return
        except (ValueError, ImportError) as error:
            yield step, str(error)
        else:
            yield step, ""
        hours = (end - time.monotonic()) / 3600


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
