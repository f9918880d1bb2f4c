"""``katachi models`` and ``katachi players``: what is bundled, and how it is made."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from katachi.cli import _commands as common
from katachi.core.execution import Backend, use_cluster

if TYPE_CHECKING:
    from katachi.core.cards import Metric
    from katachi.core.models import SavedModel
    from katachi.core.training import Machine, Request, Tools, TrainingCommand
    from katachi.players.specs import RatingTable

app: Final = typer.Typer(add_completion=False, invoke_without_command=True)


@app.callback(invoke_without_command=True)
def models(context: typer.Context, as_json: common.AsJson = False) -> None:
    """List the pretrained models: how large they are, how they were trained, and what they are best known for.

    Examples:
      katachi models
      katachi models make shapes-5
      katachi models make policy-9 --data runs/games
      katachi models resize policy-19 --size 15 --out policy-15
      katachi show shapes-9
    """
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console

    from katachi.core.models import list_models, model_to_json, pretrained_models

    found = pretrained_models()
    if as_json:
        typer.echo(json.dumps({"models": [model_to_json(path) for path in found]}, ensure_ascii=False))
        return
    Console().print(list_models(found))
    common.name_next_step(f"katachi show {found[0].name} (all metrics), katachi play {found[0].name}")


@app.command()
def make(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of a recipe.")],
    run: common.RunFolder = None,
    trained: Annotated[str | None, typer.Option(help="A run that has trained this recipe already.")] = None,
    results: Annotated[
        list[Path] | None, typer.Option("--result", help="What katachi match --json printed; may be repeated.")
    ] = None,
    games: Annotated[int, common.number(2, common.MANY, "Games against simple players that are measured.")] = 1100,
    data: common.DataFolder = None,
    positions: Annotated[int, common.number(1, common.MANY, "Positions of test games that are measured.")] = 20_000,
    int8: Annotated[bool, typer.Option("--int8", help="Release the network in eight bits, too.")] = False,
    jobs: common.Jobs = 1,
    backend: common.OnBackend = Backend.LOCAL,
    cluster: common.OnCluster = None,
    into: Annotated[
        Path | None, typer.Option(help="A folder for the model, other than that of the pretrained.")
    ] = None,
) -> None:
    """Train a model by its recipe, measure it, and release it.

    Shapes and CRBMs are measured against simple players, networks by how often they predict moves of test games, or who
    owned their points. A network is released with a player that plays by it without search.

    Examples:
      katachi models make shapes-9
      katachi models make shapes-9 --trained runs/best --result gnugo.json
      katachi models make policy-19 --data runs/games --trained runs/policy-19 --jobs 2
      katachi models make territory-9 --data runs/labeled
      katachi models make crbm-9 --data runs/games
    """
    from katachi.core.training import RUNS, Request, make_model

    count = common.count_jobs(jobs if backend is Backend.LOCAL else 0)  # threads of this machine that learn
    request = Request(name, _tools(), data, run, trained, results or [], into, games, positions, count, int8)
    kept = common.interruptible(lambda: f"the training in {request.folder} and games in {RUNS} are kept")
    with kept, use_cluster(backend, cluster, jobs) as players:
        folder = make_model(request._replace(players=players))
    typer.echo(f"{name} is in {folder}")
    common.name_next_step(f"katachi play {folder}, katachi show {folder}")


@app.command()
def resize(
    name: Annotated[str, typer.Argument(metavar="MODEL", help="A pretrained network, or the folder of one.")],
    size: Annotated[int, common.number(2, 19, "The size of its new boards.")],
    out: Annotated[Path, typer.Option(help="The folder for the new model.")],
) -> None:
    """Give a network that knows the points of its board to boards of another size.

    A point is given the biases of the one that was as far from the edges; all other weights stay as they are. Nothing
    is learned: how well the network does there is to be measured.

    Examples:
      katachi models resize policy-19 --size 15 --out policy-15
    """
    from katachi.core.models import resize_model
    from katachi.core.registry import require

    require("onnx")
    resize_model(name, size, out)
    typer.echo(f"{name} for {size}×{size} is in {out}")
    common.name_next_step(f"katachi play {out}, katachi show {out}")


def _tools() -> Tools:
    """What the systems need to release a model, and cannot have: a display, and matches."""
    from katachi.cli._training import train_and_show
    from katachi.core.training import Tools

    def train(training: TrainingCommand, settings: Any, folder: Path, command: str, machine: Machine) -> None:
        train_and_show(training, {folder: settings}, command, machine)

    @contextmanager
    def bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
        with common.show_progress() as progress:
            task = progress.add_task(what, total=total)
            yield lambda done: progress.update(task, completed=done)

    return Tools(train, _play, bar, lambda text: typer.echo(f"katachi: {text}", err=True))


def _play(opponent: str, model: SavedModel[Any], komi: float, request: Request) -> Metric:
    """The share of distinct games from two random plies that it wins one ply deep; the games are kept in ``runs/``."""
    from katachi.arena.settings import parse_settings
    from katachi.cli.arena import RUNS, play_and_watch
    from katachi.core.cards import Metric
    from katachi.core.disk import write_atomically
    from katachi.core.models import WEIGHTS

    folder = RUNS / f"{request.name}-against-{opponent}-{model.card.files[WEIGHTS][:8]}"
    player = folder.with_suffix(".toml")
    RUNS.mkdir(exist_ok=True)
    write_atomically(player, f'kind = "search"\n[evaluator]\nmodel = {json.dumps(str(model.path.resolve()))}\n')
    values: dict[str, Any] = {
        "players": {request.name: str(player), opponent: opponent},
        "games": request.games,
        "size": model.card.board_size,
        "komi": komi,
        "openings": {"random_plies": 2},
        "report": {"exclude_duplicates": True},
    }
    score = play_and_watch(parse_settings(values), folder, request.players).pairs[0].score
    low, high = score.interval
    return Metric(value=score.points / score.games, low=low, high=high, games=score.games)


players_app: Final = typer.Typer(add_completion=False, invoke_without_command=True)


@players_app.callback(invoke_without_command=True)
def players(context: typer.Context, as_json: common.AsJson = False) -> None:
    """List the bundled players. Their names work wherever a PLAYER is asked for.

    Examples:
      katachi players
      katachi players show alp > mine.toml
    """
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from katachi.players.specs import bundled_players

    bundled = bundled_players()
    if as_json:
        values = [player._asdict() | {"ratings": _dump_ratings(player.ratings)} for player in bundled]
        typer.echo(json.dumps({"players": values}))
        return
    table = Table("name", "description", box=None, pad_edge=False, show_header=False)
    for player in bundled:
        table.add_row(player.name, Text(player.description + _format_ratings(player.ratings)))
    Console().print(table)
    ratings = [rating for player in bundled for rating in player.ratings.values()]
    scales = [f"Elo is {rating.scale}." for rating in ratings]
    evidence = [f"Ranks are {rating.evidence}." for rating in ratings if rating.rank]
    for sentence in dict.fromkeys(scales + evidence):
        typer.echo(textwrap.fill(sentence, 80, subsequent_indent="  "))
    common.name_next_step("katachi play NAME, katachi show NAME, katachi match NAME NAME")


def _dump_ratings(ratings: Mapping[str, RatingTable]) -> dict[str, Any]:
    return {size: rating.model_dump() for size, rating in ratings.items()}


def _format_ratings(ratings: Mapping[str, RatingTable]) -> str:
    """``; 9×9: Elo 1,234, about 20k``."""
    parts = []
    for size, rating in ratings.items():
        where = f"{size}×{size}: " if size.isdigit() else ""
        parts.append(f"; {where}Elo {rating.value:,}" + (f", about {rating.rank}" if rating.rank else ""))
    return "".join(parts)


@players_app.command()
def show(name: Annotated[str, typer.Argument(help="A bundled name.", metavar="NAME")]) -> None:
    """Print the TOML of a bundled player, to copy and change.

    Example:
      katachi players show alp
    """
    from katachi.players.specs import SpecError, bundled_players, read_spec

    if name not in {player.name for player in bundled_players()}:
        read_spec(name)  # says which name is near, unless it is a file
        raise SpecError(f"{name} is a file already")
    typer.echo(read_spec(name)[0], nl=False)
    common.name_next_step(f"katachi players show {name} > mine.toml, change it, katachi match mine.toml {name}")
