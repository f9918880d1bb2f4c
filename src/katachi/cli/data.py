"""``katachi data``: look at game records, and make datasets of them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from katachi.cli import _commands as common
from katachi.cli.arena import count_kept, name_players, play_and_watch, print_json
from katachi.core.execution import Backend, use_cluster
from katachi.data.dataset import AnswerSource

if TYPE_CHECKING:
    from rich.table import Table

    from katachi.data.labeling import LabelSource, Watcher


_MOST_ROWS: Final = 12

Advance = Callable[[Path, int], None]  # hears how many bytes of a file are done with

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def data() -> None:
    """Look at game records, and make datasets of them.

    Examples:
      katachi data info game.sgf
      katachi data info games/ more.zip collection.sgf.gz --json
      katachi data import games/ --out my-games
      katachi data label my-games
      katachi data selfplay alp influence --games 200 --out games.sgf
    """


@contextmanager
def show_reading(sizes: dict[Path, int]) -> Iterator[Advance]:
    """A bar on standard error over the bytes of the files; nothing where nobody watches."""
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    starts: dict[Path, int] = {}
    before = 0
    for path, size in sizes.items():
        starts[path] = before
        before += size
    with common.show_progress(*columns) as bar:
        task = bar.add_task("reading", total=before)
        yield lambda path, read: bar.update(task, completed=starts.get(path, 0) + read, description=path.name)


@app.command("import")
def import_records(
    files: Annotated[
        list[Path], typer.Argument(help="SGF files, collections, .gz or .zip of them, and folders.", exists=True)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for the dataset.", file_okay=False)],
    unique: Annotated[bool, typer.Option("--unique", help="Keep games that come more than once only once.")] = False,
    splits_of: Annotated[
        list[Path] | None,
        typer.Option(help="A dataset: games that are in it, too, are of the same split here. May be repeated."),
    ] = None,
    jobs: common.Jobs = 0,
    backend: common.OnBackend = Backend.LOCAL,
    cluster: common.OnCluster = None,
    as_json: common.AsJson = False,
) -> None:
    """Make a compact dataset: moves, ranks and results, divided into training and test games.

    What cannot be played is left out or cut short, and counted. Boards of all sizes may be in one dataset.
    The same command resumes after an interruption; once the dataset is there, it only reports what is in it.

    Examples:
      katachi data import games/ --out my-games
      katachi data import humans.sgf.gz more.zip --out my-games --unique --json
      katachi data import same-games-with-territory.sgf.gz --out territory --splits-of my-games
    """
    from katachi.data.dataset import count_games
    from katachi.data.importing import import_games
    from katachi.sgf.files import sizes_on_disk, useful_processes

    sizes = sizes_on_disk(files)
    if backend is Backend.LOCAL:
        jobs = jobs or useful_processes(sum(sizes.values()))
    start = perf_counter()
    kept = common.interruptible(lambda: f"the parts that are read are kept in {out}")
    with kept, show_reading(sizes) as advance, use_cluster(backend, cluster, jobs) as processes:
        dataset = import_games(files, out, unique=unique, splits_of=splits_of or (), jobs=processes, watch=advance)
    report = count_games(dataset) | {"seconds": round(perf_counter() - start, 3), "processes": processes}
    if as_json:
        typer.echo(json.dumps(report))
    else:
        _show_import(report)
        common.name_next_step(f"katachi train policy --data {shlex.quote(str(out))}")


def _show_import(report: dict[str, Any]) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(
        f"games {report['games']:,}, moves {report['moves']:,}, bytes per move {report['bytes_per_move']:.2f}, "
        f"seconds {report['seconds']:.1f}",
        style="bold",
    )
    for key, counts in report.items():
        if isinstance(counts, dict) and counts:
            console.print(_count_table(key.replace("_", " "), counts))
    if report["repeated"]:
        fate = "left out" if report["unique"] else "kept"
        console.print(f"games that came again {report['repeated']:,}, {fate}")
    if report["splits_of"]:
        console.print(f"games whose split is that of {', '.join(report['splits_of'])} {report['split_elsewhere']:,}")
    for message in report["examples"]:
        console.print(message, style="red", markup=False)


def _count_table(title: str, counts: dict[str, int]) -> Table:
    from rich.table import Table

    table = Table(title, "count", box=None, padding=(0, 2, 0, 0))
    table.columns[1].justify = "right"
    for name, count in counts.items():
        table.add_row(name, f"{count:,}")
    return table


@app.command()
def label(
    dataset: Annotated[Path, typer.Argument(help="A dataset that katachi data import made.", metavar="SET")],
    by: Annotated[
        list[AnswerSource] | None,
        typer.Option("--by", help="Whom to ask, in the order of asking; all without it.", show_default=False),
    ] = None,
    games: Annotated[int | None, common.number(1, common.MANY, "So many games at most, drawn at random.")] = None,
    other: Annotated[
        Path | None,
        typer.Option("--from", help="Ask nobody: take the labels that equal games have in this set.", metavar="SET"),
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="A GTP program that says what is dead, instead of GNU Go.", metavar="COMMAND")
    ] = None,
    seconds: Annotated[
        float, common.number(0.1, 1_000_000, "The most that the program may take for an answer.")
    ] = 30.0,
    playouts: Annotated[int, common.number(1, common.MANY, "Playouts for each game.")] = 400,
    jobs: common.Jobs = 0,
    backend: common.OnBackend = Backend.LOCAL,
    cluster: common.OnCluster = None,
    as_json: common.AsJson = False,
) -> None:
    """Find out who owns each point at the end of every game that was counted.

    The territory that a record marks is taken first, then what GNU Go holds for dead, then what our own playouts do. A
    game gets a label from the first of them by whom its count is that of the record. The same command resumes
    after an interruption; with other sources it asks them about the games that still have no label.

    Examples:
      katachi data label my-games
      katachi data label my-games --by marks --by playouts --json
      katachi data label my-games --by gnugo --games 500 --seconds 10 --jobs 4
      katachi data label all-games --from marked-games
    """
    from katachi.data.dataset import Dataset
    from katachi.data.labeling import copy_labels, count_labels, label_games

    opened = Dataset.open(dataset)
    kept = f"the labels so far are kept in {dataset}"
    if other is not None:
        labels = copy_labels(opened, Dataset.open(other))
    else:
        with (
            common.interruptible(lambda: kept),
            _sources(by, engine, seconds, playouts) as sources,
            _show_progress() as watch,
            use_cluster(backend, cluster, jobs) as count,
        ):
            labels = label_games(opened, sources, jobs=count, most=games, watch=watch)
    report = count_labels(opened, labels)
    if as_json:
        typer.echo(json.dumps(report))
    else:
        _show_labels(report)
        common.name_next_step(f"katachi train territory --data {shlex.quote(str(dataset))}")


@contextmanager
def _sources(
    by: list[AnswerSource] | None, engine: str | None, seconds: float, playouts: int
) -> Iterator[list[LabelSource]]:
    """Those who are asked; GNU Go may be missing as long as nobody named it."""
    from katachi.data.labeling import Marks, Playouts
    from katachi.gtp import EngineFailure
    from katachi.gtp.client import DEFAULT_ENGINE, Engines

    engines = Engines(engine or DEFAULT_ENGINE, seconds)
    everybody: tuple[LabelSource, ...] = (Marks(), engines, Playouts(playouts))
    known = {source.source: source for source in everybody}
    wanted = list(dict.fromkeys(by or AnswerSource))
    try:
        if AnswerSource.GNUGO in wanted:
            try:
                engines.check()
            except EngineFailure as error:
                if by or engine:
                    raise
                typer.echo(f"katachi: {error}; marks and playouts alone are asked", err=True)
                wanted.remove(AnswerSource.GNUGO)
        yield [known[source] for source in wanted]
    finally:
        engines.close()


@contextmanager
def _show_progress() -> Iterator[Watcher]:
    """A bar on standard error over the games, with the share that has a label; nothing where nobody watches."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    columns = (MofNCompleteColumn(), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with common.show_progress(*columns) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, found: bar.update(
            task, completed=done, total=total, description=f"labeled {found / done:.1%}"
        )


def _show_labels(report: dict[str, Any]) -> None:
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


@app.command()
def selfplay(
    a: Annotated[str, typer.Argument(help=f"A player: {common.PLAYER}.", metavar="A", show_default=False)],
    b: Annotated[str, typer.Argument(help="Its opponent, which may be the same.", metavar="B", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The SGF file for the games.", dir_okay=False)],
    games: common.GameCount = 100,
    size: common.BoardSize = None,
    komi: common.Komi = None,
    rules: common.RulesName = "katachi",
    seconds: common.Seconds = None,
    simulations: common.Simulations = None,
    seed: common.Seed = 0,
    random_plies: common.RandomPlies = 2,
    max_moves: common.MostMoves = None,
    jobs: common.Jobs = 1,
    backend: common.OnBackend = Backend.LOCAL,
    cluster: common.OnCluster = None,
    referee: common.Referee = "estimate",
    allow_commands: common.AllowCommands = False,
    as_json: common.AsJson = False,
) -> None:
    """Let two players play games to learn from, and write them as one collection.

    Colors alternate, and every game begins otherwise. Games are kept in a folder beside the file, with the times and
    the score; the file comes when all are played. The same command resumes after an interruption.

    Examples:
      katachi data selfplay alp influence --games 200 --out games.sgf
      katachi data selfplay alp "gtp:gnugo --mode gtp --level 0 --seed {seed}" --games 1000 --jobs 2 --out games.sgf
    """
    from katachi.arena.records import write_collection
    from katachi.arena.settings import RunError, parse_settings
    from katachi.players.specs import choose_size

    run = out.with_name(f"{out.name}.run")
    if out.exists() and not run.exists():
        raise RunError(f"{out} exists already: give another name")
    common.check_programs(allow_commands, a, b)
    first, second = name_players(a, b)
    values = {
        "players": {first: a, second: b},
        "games": games,
        "size": choose_size((a, b), size),
        "komi": komi,
        "rules": rules,
        "seed": seed,
        "max_moves": max_moves,
        "referee": referee,
        "limit": {"seconds": seconds, "simulations": simulations},
        "openings": {"random_plies": random_plies, "paired": False},
    }
    with common.interruptible(partial(count_kept, run)):
        standings = play_and_watch(parse_settings(values), run, jobs, backend, cluster)
    written = write_collection(run, out)
    pair = standings.pairs[0]
    wins = {first: pair.score.wins, second: pair.score.losses}
    if as_json:
        report = {"file": str(out), "games": written, "wins": wins, "draws": pair.score.draws}
        incidents = standings.to_json()["incidents"]
        print_json(report | {"duplicates": pair.duplicates, "incidents": incidents, "run": str(run)})
    else:
        won = ", ".join(f"{name} won {count}" for name, count in wins.items())
        typer.echo(f"{out}: games {written}, {won}, duplicates {pair.duplicates}")
        for name, incidents_of_one in standings.incidents.items():
            if incidents_of_one:
                typer.echo(f"katachi: not all games of {name} ended well: {incidents_of_one}", err=True)
        common.name_next_step(shlex.join(["katachi", "data", "import", str(out), "--out", str(out.with_suffix(""))]))


@app.command()
def info(
    files: Annotated[
        list[Path], typer.Argument(help="SGF files, collections, .gz or .zip of them, and folders.", exists=True)
    ],
    jobs: common.Jobs = 0,
    as_json: common.AsJson = False,
) -> None:
    """Replay every game to its end, and count games by size, rank and result.

    Files that are not clean SGF are repaired where the intent is plain, and every repair is counted. What cannot be
    read is counted as an error and does not stop the rest.

    Examples:
      katachi data info game.sgf
      katachi data info games/ more.zip
      katachi data info collection.sgf.gz --jobs 1 --json
    """
    from katachi.sgf.files import sizes_on_disk, summarize_files, useful_processes

    sizes = sizes_on_disk(files)
    processes = jobs or useful_processes(sum(sizes.values()))
    start = perf_counter()
    with show_reading(sizes) as advance:
        summary = summarize_files(files, processes, advance)
    seconds = perf_counter() - start
    report = summary.to_json() | {
        "seconds": round(seconds, 3),
        "processes": processes,
        "games_per_minute_and_process": round(summary.games / seconds / processes * 60),
    }
    if as_json:
        typer.echo(json.dumps(report))
    else:
        _show(report)
    if summary.errors and not summary.games:
        raise typer.Exit(1)
    if not as_json:
        few = shlex.join(map(str, files)) if len(files) <= 3 else "FILES"
        common.name_next_step(f"katachi data import {few} --out runs/games")


def _show(report: dict[str, Any]) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(f"games {report['games']:,}, moves {report['moves']:,}, errors {report['errors']:,}", style="bold")
    for title, key in (("size", "by_size"), ("rank", "by_rank"), ("result", "by_result"), ("repairs", "repairs")):
        if report[key]:
            console.print(_count_table(title, _first_rows(report[key])))
    for message in report["error_examples"]:
        console.print(message, style="red", markup=False)
    console.print(
        f"{report['seconds']:.1f} s, processes {report['processes']}, "
        f"games per minute in each {report['games_per_minute_and_process']:,}"
    )


def _first_rows(counts: dict[str, int]) -> dict[str, int]:
    first, others = list(counts.items())[:_MOST_ROWS], list(counts.values())[_MOST_ROWS:]
    return dict(first) | ({f"{len(others)} others": sum(others)} if others else {})
