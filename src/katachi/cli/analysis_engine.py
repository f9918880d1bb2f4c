"""``katachi analysis-engine``: a player behind KataGo's analysis protocol on standard input and output."""

from __future__ import annotations

from contextlib import ExitStack
from enum import StrEnum
from typing import Annotated

import typer

from katachi.cli.gtp import close_player, own_streams


class View(StrEnum):
    """Whose win rates are reported."""

    BLACK = "black"
    WHITE = "white"
    SIDE_TO_MOVE = "sidetomove"


def analysis_engine(
    player: Annotated[str, typer.Argument(metavar="PLAYER", help="A shipped name, a TOML file, or gtp:COMMAND.")],
    visits: Annotated[int, typer.Option(help="Simulations for a position, where a query does not say.", min=1)] = 500,
    seconds: Annotated[float | None, typer.Option(help="Seconds for a position, where a query does not say.")] = None,
    report_as: Annotated[
        View, typer.Option(help="Whose win rates are reported, where a query does not say.")
    ] = View.BLACK,
    quit_without_waiting: Annotated[bool, typer.Option(help="Drop what waits when the input ends.")] = False,
    seed: Annotated[int | None, typer.Option(help="Makes the player repeatable.", min=0)] = None,
) -> None:
    """Answer the JSON queries of KataGo's analysis protocol on standard input and output.

    KaTrain and other tools that start "katago analysis" can start this instead.

    Examples:
      katachi analysis-engine alp
      katachi analysis-engine my_player.toml --visits 2000 --seed 1
      echo '{"id":"a","moves":[],"rules":"chinese","boardXSize":9,"boardYSize":9}' | katachi analysis-engine influence
    """
    from katachi.core.contracts import Limit
    from katachi.gtp.analysis_engine import AnalysisEngine
    from katachi.gtp.analysis_queries import Defaults, Perspective
    from katachi.players.specs import load_player

    if seconds is not None and not seconds > 0:
        raise typer.BadParameter(f"{seconds} is not above 0", param_hint="--seconds")
    defaults = Defaults(Limit(simulations=visits, seconds=seconds), Perspective(report_as.value.upper()))
    loaded = load_player(player, seed=seed)
    with ExitStack() as stack:
        stack.callback(close_player, loaded)
        stdin, stdout = own_streams(stack)
        AnalysisEngine(loaded, defaults).serve(stdin, stdout, waits=not quit_without_waiting)
