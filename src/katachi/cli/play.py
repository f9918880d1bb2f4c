"""``katachi play``: a person against a player, in the terminal."""

from __future__ import annotations

import io
import random
import sys
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from katachi.cli._terminal import TerminalGame
from katachi.core.contracts import ClosingPlayer, Limit
from katachi.go.game import Game
from katachi.go.handicap import fixed_handicap_points
from katachi.go.points import BLACK, WHITE
from katachi.go.rules import parse_rules
from katachi.players.specs import default_player, load_player


class Side(StrEnum):
    BLACK = "black"
    WHITE = "white"
    RANDOM = "random"


class PlayError(ValueError):
    """A game that cannot begin like that."""


def play(
    player: Annotated[
        str | None, typer.Argument(metavar="PLAYER", help="A shipped name, a TOML file or gtp:COMMAND.")
    ] = None,
    size: Annotated[int, typer.Option(min=2, max=19, help="Board size.")] = 9,
    color: Annotated[Side, typer.Option(help="Your color.")] = Side.BLACK,
    komi: Annotated[float | None, typer.Option(help="Points that White receives; the rules have a default.")] = None,
    handicap: Annotated[int, typer.Option(min=0, max=9, help="Black stones to begin with.")] = 0,
    rules: Annotated[str, typer.Option(help="A rule set, such as chinese, japanese or tromp-taylor.")] = "chinese-ogs",
    seconds: Annotated[float | None, typer.Option(min=0, help="Seconds the player may think a move.")] = None,
    simulations: Annotated[int | None, typer.Option(min=1, help="Simulations the player may use a move.")] = None,
    seed: Annotated[int | None, typer.Option(help="Makes the player's randomness repeat.")] = None,
    sgf: Annotated[Path | None, typer.Option(help="Where the record is kept; else a new file here.")] = None,
) -> None:
    """Play against a player in the terminal. The record is on disk after every move.

    Without a name it is the player that learned local shapes on boards of this size, or alp where none did.

    While you play: a vertex such as D4, pass, undo, resign, score, hint, layer NAME, save FILE, help, quit. A layer
    colors the board: wins, policy, visits, territory, influence or shapes.

    Examples:
      katachi play
      katachi play shapes-alphabeta-9 --seconds 2
      katachi play influence --size 13 --color white
      katachi play "gtp:gnugo --mode gtp --level 5" --size 19 --handicap 4 --komi 0.5
    """
    from rich.console import Console

    game = _new_game(size, rules, komi, handicap)
    record = _new_record() if sgf is None else _check_record(sgf)
    human = {Side.BLACK: BLACK, Side.WHITE: WHITE}.get(color) or random.Random(seed).choice((BLACK, WHITE))
    opponent = load_player(player or default_player(size), seed)
    limit = Limit(simulations=simulations, seconds=seconds)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # bytes that are no text are no vertex either
    try:
        TerminalGame(game, opponent, human, limit, record, Console(), _read_line).play()
    finally:
        if isinstance(opponent, ClosingPlayer):
            opponent.close()


def _new_game(size: int, rules: str, komi: float | None, handicap: int) -> Game:
    game = Game(size, parse_rules(rules, komi))
    if handicap:
        try:
            game.place_handicap(fixed_handicap_points(size, handicap))
        except ValueError as error:
            raise PlayError(str(error)) from None
    return game


def _read_line(prompt: str) -> str:
    """A line of input; what comes from a pipe is shown, so that the transcript can be read."""
    if sys.stdin.isatty():
        return input(prompt)
    line = sys.stdin.readline()
    typer.echo(prompt + line.rstrip("\n"))
    if not line:
        raise EOFError
    return line


def _new_record() -> Path:
    """A name that no file here has."""
    stem = f"katachi-{datetime.now():%Y%m%d-%H%M%S}"
    names = (Path(f"{stem}{suffix}.sgf") for suffix in ("", *(f"-{number}" for number in range(2, 1000))))
    return next(name for name in names if not name.exists())


def _check_record(path: Path) -> Path:
    """Refuse before the first move what could not be written after it."""
    if path.exists():
        raise PlayError(f"{path} is there already: records are not overwritten")
    if not path.absolute().parent.is_dir():
        raise PlayError(f"{path.absolute().parent} is no folder")
    return path
