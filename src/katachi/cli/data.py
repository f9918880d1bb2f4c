"""``katachi data``: look at game records, and make sets to learn from of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from katachi.cli._options import AsJson
from katachi.cli._reading import Advance, show_reading, sizes_on_disk, useful_processes
from katachi.cli.data_import import import_records
from katachi.cli.data_label import label
from katachi.cli.data_selfplay import selfplay
from katachi.core.processes import end_with_parent

if TYPE_CHECKING:
    from katachi.sgf.files import Piece
    from katachi.sgf.summary import Summary

_BATCH_BYTES: Final = 1 << 19  # of records that one process counts at a time
_MOST_ROWS: Final = 12

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def data() -> None:
    """Look at game records, and make sets to learn from of them.

    Examples:
      katachi data info game.sgf
      katachi data info games/ more.zip collection.sgf.gz --json
      katachi data import games/ --out my-games
      katachi data label my-games
      katachi data selfplay alp influence --games 200 --out games.sgf
    """


app.command("import")(import_records)
app.command()(label)
app.command()(selfplay)


@app.command()
def info(
    files: Annotated[
        list[Path], typer.Argument(help="SGF files, collections, .gz or .zip of them, and folders.", exists=True)
    ],
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Processes; 0 takes what is worth it.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Replay every game to its end, and count games by size, rank and result.

    Files that are not clean SGF are repaired where the intent is plain, and every repair is counted. What cannot be
    read is counted as an error and does not stop the rest.

    Examples:
      katachi data info game.sgf
      katachi data info games/ more.zip
      katachi data info collection.sgf.gz --jobs 1 --json
    """
    sizes = sizes_on_disk(files)
    processes = jobs or useful_processes(sum(sizes.values()))
    start = perf_counter()
    with show_reading(sizes) as advance:
        summary = _count(files, processes, advance)
    report = summary.to_json() | _speed(summary.games, perf_counter() - start, processes)
    if as_json:
        typer.echo(json.dumps(report))
    else:
        _show(report)
    if summary.errors and not summary.games:
        raise typer.Exit(1)


def _count(paths: list[Path], processes: int, advance: Advance) -> Summary:
    """Count in this process, or hand batches to others; a game is parsed and replayed where it is counted."""
    from joblib import Parallel, delayed

    from katachi.sgf.files import iter_pieces
    from katachi.sgf.summary import Summary, summarize

    total = Summary()
    batches = _batches(iter_pieces(paths), advance)
    counts: Iterable[Summary]
    if processes == 1:
        counts = map(summarize, batches)
    else:
        run = Parallel(n_jobs=processes, return_as="generator_unordered")
        counts = run(delayed(_summarize)(batch, os.getpid()) for batch in batches)
    for count in counts:
        total.merge(count)
    return total


def _summarize(batch: list[Piece], parent: int) -> Summary:
    from katachi.sgf.summary import summarize

    end_with_parent(parent)
    return summarize(batch)


def _batches(pieces: Iterable[Piece], advance: Advance) -> Iterator[list[Piece]]:
    from katachi.sgf.files import batch_pieces

    for batch in batch_pieces(pieces, _BATCH_BYTES):
        yield batch
        advance(batch[-1].file, batch[-1].read)


def _speed(games: int, seconds: float, processes: int) -> dict[str, Any]:
    return {
        "seconds": round(seconds, 3),
        "processes": processes,
        "games_per_minute_and_process": round(games / seconds / processes * 60),
    }


def _show(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(f"games {report['games']:,}, moves {report['moves']:,}, errors {report['errors']:,}", style="bold")
    for title, key in (("size", "by_size"), ("rank", "by_rank"), ("result", "by_result"), ("repairs", "repairs")):
        table = Table(title, "count", box=None, padding=(0, 2, 0, 0))
        table.columns[1].justify = "right"
        for name, count in _first_rows(report[key]):
            table.add_row(name, f"{count:,}")
        if report[key]:
            console.print(table)
    for message in report["error_examples"]:
        console.print(message, style="red", markup=False)
    console.print(
        f"{report['seconds']:.1f} s, processes {report['processes']}, "
        f"games a minute in each {report['games_per_minute_and_process']:,}"
    )


def _first_rows(counts: dict[str, int]) -> list[tuple[str, int]]:
    rows = list(counts.items())
    if len(rows) <= _MOST_ROWS:
        return rows
    return [*rows[:_MOST_ROWS], (f"{len(rows) - _MOST_ROWS} others", sum(count for _, count in rows[_MOST_ROWS:]))]
