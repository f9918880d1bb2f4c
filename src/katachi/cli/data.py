"""``katachi data``: look at game records."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

if TYPE_CHECKING:
    from katachi.sgf.files import Piece
    from katachi.sgf.summary import Summary

_BATCH_BYTES: Final = 1 << 19  # of records that one process counts at a time
_WORTH_A_PROCESS: Final = 1 << 20  # bytes on disk; for less, starting another takes longer than the work
_MOST_ROWS: Final = 12

Advance = Callable[[Path, int], None]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def data() -> None:
    """Look at game records.

    Examples:
      katachi data info game.sgf
      katachi data info games/ more.zip collection.sgf.gz --json
    """


@app.command()
def info(
    files: Annotated[
        list[Path], typer.Argument(help="SGF files, collections, .gz or .zip of them, and folders.", exists=True)
    ],
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Processes; 0 takes what is worth it.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Replay every game to its end, and count games by size, rank and result.

    Files that are not clean SGF are repaired where the intent is plain, and every repair is counted. What cannot be
    read is counted as an error and does not stop the rest.

    Examples:
      katachi data info game.sgf
      katachi data info games/ more.zip
      katachi data info collection.sgf.gz --jobs 1 --json
    """
    sizes = _sizes_on_disk(files)
    processes = jobs or _useful_processes(sum(sizes.values()))
    start = perf_counter()
    with _progress(sizes) as advance:
        summary = _count(files, processes, advance)
    report = summary.to_json() | _speed(summary.games, perf_counter() - start, processes)
    if as_json:
        typer.echo(json.dumps(report))
    else:
        _show(report)
    if summary.errors and not summary.games:
        raise typer.Exit(1)


def _sizes_on_disk(paths: list[Path]) -> dict[Path, int]:
    from katachi.sgf.files import find_files

    return {path: path.stat().st_size for path in find_files(paths) if path.is_file()}


def _useful_processes(size: int) -> int:
    from joblib import cpu_count

    cores: int = cpu_count()
    return max(1, min(cores, size // _WORTH_A_PROCESS))


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
        counts = run(delayed(summarize)(batch) for batch in batches)
    for count in counts:
        total.merge(count)
    return total


def _batches(pieces: Iterable[Piece], advance: Advance) -> Iterator[list[Piece]]:
    batch: list[Piece] = []
    size = 0
    for piece in pieces:
        batch.append(piece)
        size += len(piece.data) + 1
        if size >= _BATCH_BYTES:
            yield batch
            advance(piece.file, piece.read)
            batch, size = [], 0
    yield batch


@contextmanager
def _progress(sizes: dict[Path, int]) -> Iterator[Advance]:
    """A bar on standard error over the bytes of the files; nothing where nobody watches."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    starts: dict[Path, int] = {}
    before = 0
    for path, size in sizes.items():
        starts[path] = before
        before += size
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("reading", total=before)
        yield lambda path, read: bar.update(task, completed=starts.get(path, 0) + read, description=path.name)


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
