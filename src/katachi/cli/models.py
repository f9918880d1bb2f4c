"""``katachi models``: what ships, and how it is made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Final

import typer

app: Final = typer.Typer(add_completion=False, invoke_without_command=True)


@app.callback(invoke_without_command=True)
def models(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the models that ship: how large they are, how they were trained, and how well they do.

    Examples:
      katachi models
      katachi models make shapes-5
      katachi show shapes-9
    """
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console

    from katachi.drawing.cards import list_models, tell_model
    from katachi.models.saving import shipped_models

    shipped = shipped_models()
    if as_json:
        typer.echo(json.dumps({"models": [tell_model(path) for path in shipped]}, ensure_ascii=False))
        return
    console = Console()
    (console if console.is_terminal else Console(width=200)).print(list_models(shipped))


@app.command()
def make(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of a recipe.")],
    run: Annotated[Path | None, typer.Option(help="The folder of the training run; the same one goes on.")] = None,
    trained: Annotated[str | None, typer.Option(help="A run that has trained this recipe already.")] = None,
    results: Annotated[
        list[Path] | None, typer.Option("--result", help="What katachi match --json printed; may be repeated.")
    ] = None,
    games: Annotated[int, typer.Option(min=2, help="Games against alp that are measured.")] = 1100,
    jobs: Annotated[int, typer.Option(min=1, help="Games that are played at the same time.")] = 1,
    into: Annotated[Path | None, typer.Option(help="A folder for the model, instead of those that ship.")] = None,
) -> None:
    """Train a model by its recipe, measure it against the average liberty player, and let it ship.

    Examples:
      katachi models make shapes-9
      katachi models make shapes-9 --trained runs/best --result gnugo.json
    """
    from katachi.cli._shipping import make_model

    path = make_model(name, run=run, trained=trained, results=results or [], games=games, jobs=jobs, into=into)
    typer.echo(f"{name} is in {path}")
