"""``katachi data label``: who owns each point at the end of the games of a set."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from katachi.cli._options import AsJson
from katachi.data.label_answers import Source

if TYPE_CHECKING:
    from katachi.data.label_sources import LabelSource
    from katachi.data.labeling import Watcher


def label(
    dataset: Annotated[Path, typer.Argument(help="A set that katachi data import made.", metavar="SET")],
    by: Annotated[
        list[Source] | None,
        typer.Option("--by", help="Whom to ask, in the order of asking; all without it.", show_default=False),
    ] = None,
    games: Annotated[int | None, typer.Option(min=1, help="So many games at most, drawn at random.")] = None,
    engine: Annotated[
        str | None, typer.Option(help="A GTP program that says what is dead, instead of GNU Go.", metavar="COMMAND")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="The most that the program may take for an answer.")] = 30.0,
    playouts: Annotated[int, typer.Option(min=1, help="Playouts for each game.")] = 400,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=0, help="Games at a time; 0 takes all cores.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Find out who owns each point at the end of every game that was counted.

    The territory that a record marks is taken first, then what GNU Go holds for dead, then what our own playouts do. A
    game gets a label from the first of them by whom its count is that of the record. Interrupted, the same command goes
    on; with other sources it asks them about the games that still have no label.

    Examples:
      katachi data label my-games
      katachi data label my-games --by marks --by playouts --json
      katachi data label my-games --by gnugo --games 500 --seconds 10 --jobs 4
    """
    from joblib import cpu_count

    from katachi.data.dataset import Dataset
    from katachi.data.labeling import count_labels, label_games

    opened = Dataset.open(dataset)
    with _sources(by, engine, seconds, playouts) as sources, _show_progress() as watch:
        labels = label_games(opened, sources, jobs=jobs or cpu_count(), most=games, watch=watch)
    report = count_labels(opened, labels)
    if as_json:
        typer.echo(json.dumps(report))
    else:
        _show(report)


@contextmanager
def _sources(by: list[Source] | None, engine: str | None, seconds: float, playouts: int) -> Iterator[list[LabelSource]]:
    """Those who are asked; GNU Go may be missing as long as nobody named it."""
    from katachi.data.label_sources import DEFAULT_ENGINE, Engines, Marks, Playouts
    from katachi.gtp import EngineFailure

    engines = Engines(engine or DEFAULT_ENGINE, seconds)
    everybody: tuple[LabelSource, ...] = (Marks(), engines, Playouts(playouts))
    known = {source.source: source for source in everybody}
    wanted = list(dict.fromkeys(by or Source))
    try:
        if Source.GNUGO in wanted:
            try:
                engines.check()
            except EngineFailure as error:
                if by or engine:
                    raise
                typer.echo(f"katachi: {error}; marks and playouts alone are asked", err=True)
                wanted.remove(Source.GNUGO)
        yield [known[source] for source in wanted]
    finally:
        engines.close()


@contextmanager
def _show_progress() -> Iterator[Watcher]:
    """A bar on standard error over the games, with the share that has a label; nothing where nobody watches."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (MofNCompleteColumn(), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, found: bar.update(
            task, completed=done, total=total, description=f"labeled {found / done:.1%}"
        )


def _show(report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    share = f" ({report['share']:.1%})" if report["looked_at"] else ""
    console.print(
        f"games {report['games']:,}, counted {report['counted']:,}, looked at {report['looked_at']:,}, "
        f"labeled {report['labeled']:,}{share}, seconds {report['seconds']:.1f}",
        style="bold",
    )
    table = Table("source", "agrees", "disagrees", "failed", "agreement", box=None, padding=(0, 2, 0, 0))
    for name, counts in report["by_source"].items():
        if (agreement := counts["agreement"]) is not None or counts["failed"]:
            rate = "" if agreement is None else f"{agreement:.1%}"
            table.add_row(name, *(f"{counts[answer]:,}" for answer in ("agrees", "disagrees", "failed")), rate)
    for column in table.columns[1:]:
        column.justify = "right"
    console.print(table)
    console.print("for " + ", ".join(f"{split} {count:,}" for split, count in report["by_split"].items()))
