"""``katachi players``: what ships, and its TOML."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

import typer

from katachi.cli._options import AsJson
from katachi.players.specs import BundledPlayer, RatingTable, SpecError, bundled_players, read_spec

app: Final = typer.Typer(add_completion=False, invoke_without_command=True)


@app.callback(invoke_without_command=True)
def players(
    context: typer.Context,
    as_json: AsJson = False,
) -> None:
    """List the players that ship. Their names work wherever a PLAYER is asked for.

    Examples:
      katachi players
      katachi players show alp > mine.toml
    """
    if context.invoked_subcommand is not None:
        return
    shipped = bundled_players()
    if as_json:
        typer.echo(json.dumps({"players": [_to_json(player) for player in shipped]}))
        return
    width = max(len(player.name) for player in shipped)
    for player in shipped:
        typer.echo(f"{player.name:{width}}  {player.description}{_format_rating(player.rating)}")


def _to_json(player: BundledPlayer) -> dict[str, Any]:
    return player._asdict() | {"rating": player.rating and player.rating.model_dump()}


def _format_rating(rating: RatingTable | None) -> str:
    """``; Elo 1,234 (1,200 to 1,268), where GNU Go level 10 is 1,800``."""
    if rating is None:
        return ""
    return f"; Elo {rating.value:,} ({rating.low:,} to {rating.high:,}), {rating.scale}"


@app.command()
def show(name: Annotated[str, typer.Argument(help="A shipped name.", metavar="NAME")]) -> None:
    """Print the TOML of a player that ships, to copy and change.

    Example:
      katachi players show alp
    """
    if name not in {player.name for player in bundled_players()}:
        read_spec(name)  # says which name is near, unless it is a file
        raise SpecError(f"{name} is a file already")
    typer.echo(read_spec(name)[0], nl=False)
