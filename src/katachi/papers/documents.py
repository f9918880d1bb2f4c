"""The document of an experiment: text, tables and pictures made from results; nobody types a number.

```
DOCS/EXPERIMENT.md             the document
DOCS/EXPERIMENT/results.json   what it is made from
DOCS/EXPERIMENT/*.svg          its pictures
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from katachi.core.cards import format_program
from katachi.core.disk import write_atomically
from katachi.papers.errors import ExperimentError
from katachi.papers.experiment import Experiment, Table, keep_results, read_results
from katachi.papers.markdown import row_table, wrap
from katachi.papers.rows import Row
from katachi.papers.runs import Json


def write_document(experiment: Experiment, run: Path | None, docs: Path) -> Path:
    """Make the document from the results that it was last made from, and from those of a run where it has some.

    Raises ExperimentError if there are no results at all.
    """
    folder = docs / experiment.name
    known = read_results(folder) | (read_results(run) if run else {})
    results = {table.name: known[table.name] for table in experiment.tables if table.name in known}
    if not results:
        raise ExperimentError(f"there are no results of {experiment.name} in {run or folder}: measure something first")
    keep_results(folder, results)
    path = docs / f"{experiment.name}.md"
    write_atomically(path, format_document(experiment, results, folder))
    return path


def format_document(experiment: Experiment, results: Mapping[str, Json], pictures: Path) -> str:
    """The document as Markdown; its pictures are drawn into a folder."""
    tables = [_section(table, results[table.name], pictures) for table in experiment.tables if table.name in results]
    parts = [
        f"# {experiment.title}",
        experiment.head(results),
        _comparison(experiment.rows(results), experiment.yardstick),
        *tables,
        f"*This page is made by `katachi reproduce {experiment.name} --write-docs docs`.*",
    ]
    return wrap("\n\n".join(part.strip() for part in parts)) + "\n"


def _comparison(rows: Sequence[Row], yardstick: str) -> str:
    """Every figure that the yardstick gives, but for those that are counted and come out the same."""
    published = [row for row in rows if row.published is not None]
    differing = [row for row in published if row.interval is not None or row.ours != row.published]
    same = len(published) - len(differing)
    note = f"Beside these, counts of the {yardstick} that are the same here: {same}." if same else ""
    return f"## {yardstick.capitalize()} and ours\n\n{row_table(differing, yardstick)}\n{note}"


def _section(table: Table, results: Json, pictures: Path) -> str:
    made_by = format_program(results["program"])
    note = f"*Measured with the budget `{results['budget']}` by {made_by}.*"
    return f"## {table.title}\n\n{table.section(results, pictures).strip()}\n\n{note}"
