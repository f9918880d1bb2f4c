"""``katachi data import``: a set to learn from, of game records."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from katachi.cli._options import AsJson
from katachi.cli._reading import show_reading, sizes_on_disk, useful_processes


def import_records(
    files: Annotated[
        list[Path], typer.Argument(help="SGF files, collections, .gz or .zip of them, and folders.", exists=True)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for the set.", file_okay=False)],
    unique: Annotated[bool, typer.Option("--unique", help="Keep games that come more than once only once.")] = False,
    splits_of: Annotated[
        list[Path] | None,
        typer.Option(help="A set: games that are in it, too, are of the same split here. May be said again."),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Processes; 0 takes what is worth it.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Make a compact set of games to learn from: moves, ranks and results, divided into training and test games.

    What cannot be played is left out or cut short, and counted. Boards of all sizes may be in one set. Interrupted,
    the same command goes on where it stopped; once the set is there, it only tells what is in it.

    Examples:
      katachi data import games/ --out my-games
      katachi data import humans.sgf.gz more.zip --out my-games --unique --json
      katachi data import same-games-with-territory.sgf.gz --out territory --splits-of my-games
    """
    from katachi.data.dataset_counts import count_games
    from katachi.data.dataset_import import import_games

    sizes = sizes_on_disk(files)
    processes = jobs or useful_processes(sum(sizes.values()))
    start = perf_counter()
    with show_reading(sizes) as advance:
        dataset = import_games(files, out, unique=unique, splits_of=splits_of or (), jobs=processes, watch=advance)
    report = count_games(dataset) | {"seconds": round(perf_counter() - start, 3), "processes": processes}
    if as_json:
        typer.echo(json.dumps(report))
    else:
        _show(report)


def _show(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(
        f"games {report['games']:,}, moves {report['moves']:,}, bytes a move {report['bytes_per_move']:.2f}, "
        f"seconds {report['seconds']:.1f}",
        style="bold",
    )
    for key, counts in report.items():
        if not isinstance(counts, dict) or not counts:
            continue
        table = Table(key.replace("_", " "), "count", box=None, padding=(0, 2, 0, 0))
        table.columns[1].justify = "right"
        for name, count in counts.items():
            table.add_row(name, f"{count:,}")
        console.print(table)
    if report["repeated"]:
        fate = "left out" if report["unique"] else "kept"
        console.print(f"games that came again {report['repeated']:,}, {fate}")
    if report["splits_of"]:
        console.print(f"games whose split is that of {', '.join(report['splits_of'])} {report['split_elsewhere']:,}")
    for message in report["examples"]:
        console.print(message, style="red", markup=False)
