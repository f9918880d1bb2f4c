"""``katachi models``: what ships, and how it is made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Final

import typer

from katachi.cli._options import AsJson

app: Final = typer.Typer(add_completion=False, invoke_without_command=True)


@app.callback(invoke_without_command=True)
def models(
    context: typer.Context,
    as_json: AsJson = False,
) -> None:
    """List the models that ship: how large they are, how they were trained, and how well they do.

    Examples:
      katachi models
      katachi models make shapes-5
      katachi models make policy-9 --data runs/games
      katachi show shapes-9
    """
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console

    from katachi.core.models import list_models, model_to_json, pretrained_models

    shipped = pretrained_models()
    if as_json:
        typer.echo(json.dumps({"models": [model_to_json(path) for path in shipped]}, ensure_ascii=False))
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
    games: Annotated[int, typer.Option(min=2, help="Games against simple players that are measured.")] = 1100,
    data: Annotated[
        Path | None, typer.Option(metavar="SET", help="Games that a network learns from, and is measured with.")
    ] = None,
    positions: Annotated[int, typer.Option(min=1, help="Positions of test games that are measured.")] = 20_000,
    int8: Annotated[bool, typer.Option("--int8", help="Let the network ship in eight bits, too.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Games at the same time, or threads of a network.")] = 1,
    into: Annotated[Path | None, typer.Option(help="A folder for the model, instead of those that ship.")] = None,
) -> None:
    """Train a model by its recipe, measure it, and let it ship.

    Shapes and CRBMs are measured against simple players, networks by how often they foretell moves of test games, or
    who owned their points. A network ships with a player that plays by it without search.

    Examples:
      katachi models make shapes-9
      katachi models make shapes-9 --trained runs/best --result gnugo.json
      katachi models make policy-19 --data runs/games --trained runs/policy-19 --jobs 2
      katachi models make territory-9 --data runs/labeled
      katachi models make crbm-9 --data runs/games
    """
    from katachi.cli._release import find_recipe, make_shapes

    found = results or []
    kind = find_recipe(name).parent.name
    if kind == "territory":
        from katachi.cli._territory_release import make_territory

        path = make_territory(
            name, positions=positions, threads=jobs, data=data, run=run, trained=trained, results=found, into=into
        )
    elif kind == "crbm":
        from katachi.cli._training import require_torch

        require_torch()
        from katachi.cli._crbm_release import make_crbm

        path = make_crbm(name, games=games, jobs=jobs, data=data, run=run, trained=trained, results=found, into=into)
    elif kind == "cnn":
        from katachi.cli._training import require_torch

        require_torch()
        from katachi.cli._policy_release import Measuring, make_network

        measuring = Measuring(positions, jobs, int8)
        path = make_network(name, measuring, data=data, run=run, trained=trained, results=found, into=into)
    else:
        path = make_shapes(name, run=run, trained=trained, results=found, games=games, jobs=jobs, into=into)
    typer.echo(f"{name} is in {path}")
