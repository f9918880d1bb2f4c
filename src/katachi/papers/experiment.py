"""What an experiment is made of: tables and figures, what ours stand beside, and how much of them is to be measured.

An experiment remakes a paper, or asks what a part of katachi is worth. Measuring one of its *tables* (or figures)
does its runs, or those that are missing, and gives *results*: a JSON object that is small enough to be kept, and from
which rows, pictures and text can be made again without measuring. Nothing here knows what is measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Final

from katachi import papers as experiments
from katachi.core.cards import provenance
from katachi.core.disk import write_atomically
from katachi.papers.errors import ExperimentError
from katachi.papers.rows import Row
from katachi.papers.runs import Json, Watcher, Workers

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
    data: Path | None = None  # a set of games, for tables that learn from one
    more_data: tuple[Path, ...] = ()  # others, for tables that ask about several

    @property
    def sets(self) -> tuple[Path, ...]:
        """All sets of games that were given."""
        return self.more_data if self.data is None else (self.data, *self.more_data)


@dataclass(frozen=True, slots=True)
class Table:
    """One table or figure of an experiment."""

    name: str
    title: str
    measure: Callable[[Scope], Json]
    rows: Callable[[Json], list[Row]]
    section: Callable[[Json, Path], str]  # Markdown; pictures are drawn into the folder


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment, and its document: what stands before the tables, given the results of all that were measured."""

    name: str
    title: str
    tables: tuple[Table, ...]
    head: Callable[[Mapping[str, Json]], str]
    yardstick: str = "paper"  # where the figures come from that ours stand beside
    write_cards: Callable[[Mapping[str, Json], Path], list[str]] | None = None  # into files of whom it is about

    def find(self, name: str) -> Iterable[Table]:
        """The table of this name, or all of them; raises ExperimentError."""
        if name == "all":
            return self.tables
        found = [table for table in self.tables if table.name == name]
        if not found:
            known = ", ".join(table.name for table in self.tables)
            raise ExperimentError(f"{self.name} has no table {name}: there are {known} and all")
        return found

    def rows(self, results: Mapping[str, Json]) -> list[Row]:
        """The rows of all tables that were measured."""
        return [row for table in self.tables if table.name in results for row in table.rows(results[table.name])]


def experiment_names() -> list[str]:
    """The experiments that can be made: the packages beside this file."""
    return sorted(module.name for module in iter_modules(experiments.__path__) if module.ispkg)


def load_experiment(name: str) -> Experiment:
    """An experiment by its name; raises ExperimentError."""
    if name not in experiment_names():
        raise ExperimentError(f"there is no experiment {name}: there are {', '.join(experiment_names())}")
    experiment: Experiment = import_module(f"{experiments.__name__}.{name}.experiment").EXPERIMENT
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
