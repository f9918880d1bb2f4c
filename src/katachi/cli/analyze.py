"""``katachi analyze`` and ``katachi show``: analyse the games of many files, and draw what a model has learned."""

from __future__ import annotations

import json
import shlex
import tempfile
import webbrowser
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from katachi.cli import _commands as common
from katachi.core.execution import Backend, use_cluster

if TYPE_CHECKING:
    from katachi.analysis.batches import JudgeSettings
    from katachi.go.game import Game


def analyze(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES…", help="SGF files, collections, gzip, zip, or folders.")
    ],
    player: Annotated[str | None, typer.Option(metavar="PLAYER", help=f"Who looks ahead: {common.PLAYER}.")] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", "--evaluator", metavar="MODEL", help="A model that evaluates, too; may be repeated."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for everything that is written.")] = Path(
        "analysis"
    ),
    simulations: common.Simulations = None,
    seconds: common.Seconds = None,
    evenly: Annotated[bool, typer.Option("--evenly", help="Search all positions as long, quiet ones too.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Resume what is in the folder.")] = False,
    strip: Annotated[bool, typer.Option("--strip", help="Only take analyses out of the files.")] = False,
    html: Annotated[bool, typer.Option(help="Write all games as one page.")] = True,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write the positions as a Parquet table, too.")] = False,
    jobs: common.Jobs = 1,
    backend: common.OnBackend = Backend.LOCAL,
    cluster: common.OnCluster = None,
    seed: common.Seed = 0,
    allow_commands: common.AllowCommands = False,
    as_json: common.AsJson = False,
) -> None:
    """Analyse every position of many games: who wins, by how much, what was better, and why.

    Into the folder go the games as SGF with comments, labels, variations and win rates, analysis.jsonl with everything,
    and report.html with graphs and the biggest mistakes. Without a player and a model, level-10 looks ahead by
    200 simulations, and the model of local shapes for the size of the board explains. Analyses that a file carries
    already are replaced.

    First a network values the whole game, within seconds; that is written at once, to be replaced. Then every position
    is searched: in full where a mistake is possible, by an eighth of that elsewhere, unless --evenly.

    --resume continues an interrupted analysis, to the same result; only with --seconds do the numbers differ each time.

    Examples:
      katachi analyze game.sgf
      katachi analyze games/ --player level-10 --model shapes-9 --jobs 2 --out analysed
      katachi analyze games/ --player level-10 --model shapes-9 --jobs 2 --out analysed --resume
      katachi analyze analysed/game.sgf --strip --out plain
    """
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    from katachi.analysis.batches import JudgeSettings, Outputs

    if strip:
        _strip_files(files, out)
        return
    common.check_programs(allow_commands, player)
    settings = JudgeSettings(
        player=player, models=tuple(model or ()), simulations=simulations, seconds=seconds, seed=seed, evenly=evenly
    )
    outputs = Outputs(out, html=html, parquet=parquet)
    turns = _count_turns(files, settings)
    columns = (TextColumn("positions"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    kept = common.interruptible(lambda: f"the positions so far are kept in {out}", "--resume")
    shown = common.show_progress(*columns, transient=False)
    with kept, shown as progress, use_cluster(backend, cluster, jobs) as count:
        bar = progress.add_task("", total=turns)
        watch = partial(progress.advance, bar)
        games = outputs.write(files, settings, resume=resume, jobs=count, watch=watch)
    if as_json:
        typer.echo(json.dumps({"games": games, "positions": turns, "out": str(out)}))
        return
    typer.echo(f"{_count(games, 'game')}, {_count(turns, 'position')}: written to {out}")
    if games == 1:
        typer.echo("\n".join(_summary(out)))
    common.name_next_step(
        f"open {out / 'report.html'} in a browser" if html else f"open a game in {out} with an SGF editor"
    )


def _summary(out: Path) -> list[str]:
    """What is said of the only game of an analysis."""
    from katachi.analysis.batches import LINES, read_lines
    from katachi.analysis.records import GameRecord, PositionRecord
    from katachi.analysis.words import describe_game

    lines = list(read_lines(out / LINES))
    positions = [line for line in lines if isinstance(line, PositionRecord)]
    return [text for line in lines if isinstance(line, GameRecord) for text in describe_game(line, positions)]


def _count_turns(files: list[Path], settings: JudgeSettings) -> int:
    """How many positions there are to analyse; what cannot be analysed is named on standard error."""
    from katachi.analysis.batches import find_games

    turns = 0
    for _, game, problem in find_games(files, settings):
        if game is None:
            typer.echo(f"katachi: left out: {problem}", err=True)
        else:
            turns += game.positions
    return turns


def _strip_files(files: list[Path], out: Path) -> None:
    from katachi.analysis.batches import find_records
    from katachi.analysis.report import content_of, read_original
    from katachi.core.disk import write_atomically
    from katachi.sgf import SgfGame, save_sgf

    out.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, _, record, problem in find_records(files):
        if problem:
            typer.echo(f"katachi: left out: {problem}", err=True)
            continue
        path, original = out / f"{name}.sgf", read_original(record)
        if original is None:
            save_sgf(path, SgfGame(content_of(record)))
        else:
            write_atomically(path, original)
        count += 1
    typer.echo(f"{_count(count, 'game')} without analyses: written to {out}")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


# ``katachi show``: draw what a model has learned.


def show(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL", help="A bundled name, the folder of a run or a model, or a player that has one."
        ),
    ],
    per_set: Annotated[int, common.number(1, 10_000, "How many shapes of each set, or kernels.")] = 10,
    only: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME", help='One set, such as "LI 2x2"; may be repeated.')
    ] = None,
    beside: Annotated[
        list[str] | None, typer.Option(metavar="MODEL", help="Another CRBM to draw at its side; may be repeated.")
    ] = None,
    sgf: Annotated[Path | None, typer.Option(help="Show what it would play in this game.")] = None,
    move: Annotated[
        int | None, common.number(1, common.MANY, "In the game, the move that it is about to play.")
    ] = None,
    size: Annotated[
        int | None, common.number(2, 19, "The size of the empty board, for models of all sizes; without it, 19.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="Write a picture.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page.")] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Show the page in the browser.")] = False,
    as_json: common.AsJson = False,
) -> None:
    """Draw what a model has learned, and say how it was trained.

    Of a model of shapes these are the largest weights of each set: the mover's stones are black, or X, and a weight
    above 0 is good for the mover. Of a CRBM these are its kernels, those that are on most often first. Of a network,
    and of every model with --sgf, it is what it would play: on the empty board, at the end of the game or before a move
    of it; of a territory network it is whose each point will be. Without --svg, --html and --open it is drawn in the
    terminal.

    Examples:
      katachi show shapes-9
      katachi show shapes-9 --set "LI 3x3" --per-set 20
      katachi show shapes-9 --sgf game.sgf --move 20
      katachi show territory-19 --sgf game.sgf --move 80 --svg territory.svg
      katachi show runs/five --html shapes.html --open
      katachi show runs/multinomial --beside runs/real --svg kernels.svg
    """
    from rich.console import Console

    from katachi.core.disk import write_atomically
    from katachi.core.drawing import DrawRequest, draw_model, show_card
    from katachi.core.models import describe_card, model_to_json, open_model
    from katachi.go.points import MAX_SIZE
    from katachi.players.specs import find_model_of

    saved = open_model(find_model_of(model))
    if size and saved.card.board_size not in (None, size):
        raise typer.BadParameter(f"{model} is for boards of size {saved.card.board_size} alone", param_hint="--size")
    drawing = draw_model(
        saved,
        DrawRequest(
            Path(model).name,
            per_set=per_set,
            only=tuple(only or ()),
            beside=tuple(beside or ()),
            game=_read_game(sgf, move),
            board_size=size or MAX_SIZE,
        ),
    )
    card = describe_card(saved.card)
    if open_page and html is None:
        html = Path(tempfile.mkdtemp(prefix="katachi-")) / "shown.html"
    if svg is not None:
        write_atomically(svg, drawing.svg)
    if html is not None:
        write_atomically(html, drawing.format_page(card))
    if as_json:
        typer.echo(json.dumps(model_to_json(saved.path), ensure_ascii=False))
        return
    for path in filter(None, (svg, html)):
        typer.echo(f"written to {path}")
    if open_page and html is not None:
        webbrowser.open(html.absolute().as_uri())
    if svg is None and html is None:
        Console().print(show_card(card), drawing.text)
    common.name_next_step(f"katachi play {shlex.quote(model)}")


def _read_game(sgf: Path | None, move: int | None) -> Game | None:
    """The first game of a file, to its end or before a move; None without a file."""
    from katachi.sgf import load_sgf

    if sgf is not None:
        return load_sgf(sgf)[0].replay(before_move=move)
    if move is not None:
        raise typer.BadParameter("a move of which game? Name it by --sgf", param_hint="--move")
    return None
