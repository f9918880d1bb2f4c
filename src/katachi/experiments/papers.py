"""What a reproduction is made of: a paper, its tables and figures, and how much of them is to be measured.

A *table* is one of the paper's tables or figures. Measuring it does its runs, or those that are missing, and gives
*results*: a JSON object that is small enough to be kept, and from which rows, pictures and text can be made again
without measuring. Nothing here knows what is measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Final

from katachi import experiments
from katachi.disk import write_atomically
from katachi.experiments.errors import ExperimentError
from katachi.experiments.rows import Row
from katachi.experiments.runs import Json, Watcher, Workers
from katachi.provenance import provenance

RESULTS: Final = "results.json"


class Budget(StrEnum):
    """How much is measured: to see that it works, what two cores do in an hour, or as much as the paper did."""

    SMOKE = "smoke"
    HOUR = "hour"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Scope:
    """How much of a table to measure, where to keep it, and who does it; ``runs`` overrides the budget's number."""

    folder: Path
    budget: Budget
    watch: Watcher
    runs: int | None
    workers: Workers


@dataclass(frozen=True, slots=True)
class Table:
    """One table or figure of a paper."""

    name: str
    title: str
    measure: Callable[[Scope], Json]
    rows: Callable[[Json], list[Row]]
    section: Callable[[Json, Path], str]  # Markdown; pictures are drawn into the folder


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper, and its document: what stands before the tables, given the results of all that were measured."""

    name: str
    title: str
    tables: tuple[Table, ...]
    head: Callable[[Mapping[str, Json]], str]

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


def paper_names() -> list[str]:
    """The papers that can be reproduced: the packages beside this file."""
    return sorted(module.name for module in iter_modules(experiments.__path__) if module.ispkg)


def load_paper(name: str) -> Paper:
    """A paper by its name; raises ExperimentError."""
    if name not in paper_names():
        raise ExperimentError(f"there is no paper {name}: there are {', '.join(paper_names())}")
    paper: Paper = import_module(f"{experiments.__name__}.{name}.paper").PAPER
    return paper


def measure(paper: Paper, name: str, scope: Scope) -> dict[str, Json]:
    """Measure one table or all, each in a folder of its own, and keep the results beside those of earlier times."""
    measured = {}
    for table in paper.find(name):
        within = Scope(scope.folder / table.name, scope.budget, scope.watch, scope.runs, scope.workers)
        measured[table.name] = table.measure(within) | {"budget": scope.budget.value, "program": provenance()}
        keep_results(scope.folder, read_results(scope.folder) | measured)
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
