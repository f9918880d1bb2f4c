"""``katachi serve``: the board in the browser."""

from __future__ import annotations

import os
import webbrowser
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from katachi.web.security import Address


def serve(
    player: Annotated[
        str | None, typer.Argument(metavar="PLAYER", help="Play at once: a shipped name, a TOML file or gtp:COMMAND.")
    ] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Where to listen; 0 is any free port.")] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen at; another one lets other machines in.")
    ] = "127.0.0.1",
    data: Annotated[Path | None, typer.Option(help="Where games are kept; else your data folder.")] = None,
    runs: Annotated[Path, typer.Option(help="The folder whose trainings and matches can be watched.")] = Path("runs"),
    should_open: Annotated[bool, typer.Option("--open/--no-open", help="Open the browser.")] = True,
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
    try:
        import nicegui  # noqa: F401
    except ImportError:
        typer.echo("katachi: the board in the browser needs NiceGUI: pip install 'katachi[web]'", err=True)
        raise typer.Exit(1) from None
    from katachi.web.server import ServerSettings
    from katachi.web.server import serve as run

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


def data_folder() -> Path:
    """Where this user's programs keep their data."""
    if os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "katachi"
