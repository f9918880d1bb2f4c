"""``katachi train``: learn a player."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def train() -> None:
    """Learn a player.

    Examples:
      katachi train shapes
      katachi train shapes --help
    """


@app.command()
def shapes(
    file: Annotated[Path | None, typer.Argument(help="Settings as TOML; without it, our own recipe.")] = None,
    size: Annotated[int | None, typer.Option(help="The board size.")] = None,
    games: Annotated[int | None, typer.Option(help="How many games to play.")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed ends in the same bytes.")] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change any setting; may be repeated.")
    ] = None,
    run: Annotated[Path | None, typer.Option(help="The folder of the run; the same one goes on.")] = None,
) -> None:
    """Learn local shapes by self-play, one ply deep (Silver, Sutton and Müller 2007).

    A run that was interrupted goes on when the same command is given again. When it is through, its folder holds the
    model and a player that katachi play, gtp and match take.

    Examples:
      katachi train shapes
      katachi train shapes --size 5 --games 100000 --run runs/five
      katachi train shapes --set step_size=0.1 --set agents=2 --set 'sets=["LI 2x2"]'
      katachi play runs/five/player.toml --size 5
    """
    from katachi.cli._training import TrainingProgress, read_training, training_folder
    from katachi.learning.shape_training import train_shapes

    options: dict[str, Any] = {"size": size, "games": games, "seed": seed}
    settings = read_training(file, {key: value for key, value in options.items() if value is not None}, change or [])
    folder = run or training_folder(settings)
    typer.echo(f"katachi: the run is in {folder}", err=True)
    command = " ".join(["katachi", *sys.argv[1:]])
    with TrainingProgress(settings) as progress:
        train_shapes(settings, folder, progress.add, command)
    typer.echo(progress.summary())
    players = sorted(folder.glob("player*.toml"))
    typer.echo(f"play against it: katachi play {players[0]} --size {settings.size}")
