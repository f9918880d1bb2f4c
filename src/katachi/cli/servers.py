"""``katachi gtp``, ``analysis-engine`` and ``serve``: a player for controllers, for tools, and in the browser."""

from __future__ import annotations

import os
import webbrowser
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from katachi.cli._commands import (
    MANY,
    PLAYER,
    PLAYER_HELP,
    AllowCommands,
    AnySeed,
    RulesName,
    check_programs,
    data_folder,
    number,
)
from katachi.core.registry import require

if TYPE_CHECKING:
    from katachi.core.contracts import Player
    from katachi.web.security import Address


def gtp(
    player: Annotated[str, typer.Argument(metavar="PLAYER", help=PLAYER_HELP)] = "alp",
    seed: AnySeed = None,
    rules: RulesName = "katachi",
    directory: Annotated[
        Path, typer.Option(help="Where loadsgf and printsgf may read and write.", exists=True, file_okay=False)
    ] = Path(),
    log: Annotated[Path | None, typer.Option(help="Append the dialogue to this file.", dir_okay=False)] = None,
    lag: Annotated[float, number(0, 60, "Seconds that a move may cost on the clock beyond the thinking.")] = 0.1,
    ponder: Annotated[bool, typer.Option("--ponder", help="Think while the opponent does.")] = False,
    name: Annotated[str, typer.Option(help="What to answer to the command name, where a program wants one.")] = "",
    allow_commands: AllowCommands = False,
) -> None:
    """Be a GTP engine on standard input and output.

    Examples:
      katachi gtp alp
      katachi gtp my_player.toml --seed 1 --log dialogue.txt
      katachi gtp my_player.toml --lag 0.5 --ponder
      katachi gtp level-10 --name "KataGo protocol"
      echo "genmove black" | katachi gtp random --rules chinese
    """
    from katachi.core.disk import open_log
    from katachi.go.rules import parse_rules
    from katachi.gtp.engine import GtpEngine
    from katachi.players.asking import leave
    from katachi.players.specs import find_spec

    check_programs(allow_commands, player)
    engine_rules, spec = parse_rules(rules), find_spec(player)
    loaded = spec.build(seed)
    with ExitStack() as stack:
        stack.callback(close_player, loaded)
        stdin, stdout = own_streams(stack)
        dialogue = stack.enter_context(open_log(log)) if log else None
        size = spec.board_size or 19
        called = " ".join(name.split())  # one line
        engine = GtpEngine(
            loaded, size=size, rules=engine_rules, directory=directory, lag=lag, ponders=ponder, name=called
        )
        engine.preparation.begin(size)
        engine.serve(stdin, stdout, log=dialogue)
    leave(engine.preparation)


def own_streams(stack: ExitStack) -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for the protocol alone.

    What a library prints goes to standard error from here on: one stray line would break the dialogue. Neither stream
    has a buffer, so that nothing is left in one when the other side has gone.
    """
    stdin = os.fdopen(os.dup(0), "rb", buffering=0)
    stdout = stack.enter_context(os.fdopen(os.dup(1), "wb", buffering=0))
    os.dup2(2, 1)
    return stdin, stdout


def close_player(player: Player) -> None:
    from katachi.core.contracts import ClosingPlayer

    if isinstance(player, ClosingPlayer):
        player.close()


# ``katachi analysis-engine``: a player behind KataGo's analysis protocol on standard input and output.


class View(StrEnum):
    """Whose win rates are reported."""

    BLACK = "black"
    WHITE = "white"
    SIDE_TO_MOVE = "sidetomove"


def analysis_engine(
    player: Annotated[str, typer.Argument(metavar="PLAYER", help=PLAYER_HELP)],
    visits: Annotated[int, number(1, MANY, "Simulations for a position, where a query does not say.")] = 500,
    seconds: Annotated[
        float | None, number(0.001, 1_000_000, "Seconds for a position, where a query does not say.")
    ] = None,
    report_as: Annotated[
        View, typer.Option(help="Whose win rates are reported, where a query does not say.")
    ] = View.BLACK,
    quit_without_waiting: Annotated[bool, typer.Option(help="Drop what waits when the input ends.")] = False,
    seed: AnySeed = None,
    allow_commands: AllowCommands = False,
) -> None:
    """Answer the JSON queries of KataGo's analysis protocol on standard input and output.

    KaTrain and other tools that start "katago analysis" can start this instead.

    Examples:
      katachi analysis-engine alp
      katachi analysis-engine my_player.toml --visits 2000 --seed 1
      echo '{"id":"a","moves":[],"rules":"chinese","boardXSize":9,"boardYSize":9}' | katachi analysis-engine influence
    """
    from katachi.core.contracts import Limit
    from katachi.go.points import MAX_SIZE
    from katachi.gtp.analysis_engine import AnalysisEngine, Defaults, Perspective
    from katachi.players.asking import leave
    from katachi.players.specs import find_spec

    defaults = Defaults(Limit(simulations=visits, seconds=seconds), Perspective(report_as.value.upper()))
    check_programs(allow_commands, player)
    spec = find_spec(player)
    loaded = spec.build(seed)
    with ExitStack() as stack:
        stack.callback(close_player, loaded)
        stdin, stdout = own_streams(stack)
        engine = AnalysisEngine(loaded, defaults)
        engine.preparation.begin(spec.board_size or MAX_SIZE)
        engine.serve(stdin, stdout, waits=not quit_without_waiting)
    leave(engine.preparation)


def serve(
    player: Annotated[str | None, typer.Argument(metavar="PLAYER", help=f"Play at once: {PLAYER}.")] = None,
    port: Annotated[int | None, number(0, 65535, "Where to listen; 0 is any free port.")] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen at; another one lets other machines in.")
    ] = "127.0.0.1",
    data: Annotated[Path | None, typer.Option(help="Where games are kept; else your data folder.")] = None,
    runs: Annotated[Path, typer.Option(help="The folder whose trainings and matches can be watched.")] = Path("runs"),
    should_open: Annotated[bool, typer.Option("--open/--no-open", help="Open the browser.")] = True,
    allow_commands: AllowCommands = False,
) -> None:
    """Open the board in the browser: play, look at records, see what the players think.

    Games are kept after every move, and are there again when the server is. Only this machine can reach it, and only
    with the token in the address that is printed. With --host, everybody who can reach that address and knows the token
    can play here, and nothing that goes over the network is encrypted: use it where you trust the network.

    Examples:
      katachi serve
      katachi serve level-5
      katachi serve my_player.toml --port 8000 --no-open
      katachi serve --host 0.0.0.0
    """
    require("nicegui")
    from katachi.web.server import ServerSettings
    from katachi.web.server import serve as run

    check_programs(allow_commands, player)

    def announce(address: Address, url: str) -> None:
        typer.echo(f"The board is at {url}")
        if not address.is_local:
            typer.echo(
                f"katachi: whoever reaches {address.host} and knows the token can use it; nothing is encrypted",
                err=True,
            )
        if should_open:
            Thread(target=webbrowser.open, args=(url,), daemon=True).start()  # some of them return when they are closed

    run(ServerSettings(host, port, player, data or data_folder(), runs), announce)
