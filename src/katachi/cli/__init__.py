"""The command line: one file per family of commands, imported when one of them runs.

What goes wrong is one line on standard error: exit code 2 if the input is at fault, 1 if something failed, 130 after
Ctrl-C. ``KATACHI_DEBUG=1`` shows the traceback instead.
"""

from __future__ import annotations

import io
import os
import re
import sys
from typing import Annotated, Any, Final

import typer

from katachi.cli._commands import LazyCommand, LazyGroup, keep_layout

COMMANDS: Final = {
    "play": LazyCommand("katachi.cli.play:play", "Play against a player in the terminal."),
    "serve": LazyCommand("katachi.cli.servers:serve", "Play and look at games in the browser."),
    "gtp": LazyCommand("katachi.cli.servers:gtp", "Be a GTP engine on standard input and output."),
    "analysis-engine": LazyCommand("katachi.cli.servers:analysis_engine", "Answer KataGo's JSON analysis queries."),
    "analyze": LazyCommand("katachi.cli.analyze:analyze", "Analyse the games of many files, and say why."),
    "match": LazyCommand("katachi.cli.arena:match", "Let two players play a match."),
    "train": LazyCommand("katachi.cli.train:app", "Learn a player."),
    "tournament": LazyCommand("katachi.cli.arena:tournament", "Let many players play, and rate them."),
    "data": LazyCommand("katachi.cli.data:app", "Look through game records, and import them."),
    "show": LazyCommand("katachi.cli.analyze:show", "Draw what a model has learned."),
    "models": LazyCommand("katachi.cli.models:app", "List the bundled models."),
    "players": LazyCommand("katachi.cli.models:players_app", "List the bundled players."),
    "reproduce": LazyCommand("katachi.cli.reproduce:reproduce", "Measure papers' results, and our own."),
    "bench": LazyCommand("katachi.cli.bench:bench", "Measure speed, beside peers."),
    "doctor": LazyCommand("katachi.cli.setup:doctor", "Check the set-up."),
    "cluster": LazyCommand("katachi.cli.setup:cluster_app", "Check the nodes of a Ray or Dask cluster."),
    "warmup": LazyCommand("katachi.cli.setup:warmup", "Compile everything now."),
}


class KatachiGroup(LazyGroup):
    lazy_commands = COMMANDS


app: Final = typer.Typer(cls=KatachiGroup, rich_markup_mode=None, no_args_is_help=True)

_HELP: Final = """Play Go, run engines and matches, and look after game records.

PLAYER is always a bundled name (see: katachi players), a TOML file, the folder of a training run or of a model, or
gtp:COMMAND for any GTP program.

Examples:
  katachi play alp --size 9
  katachi match alp "gtp:gnugo --mode gtp" --games 20 --size 9
  katachi COMMAND --help
"""


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"katachi {version('katachi')}")
        raise typer.Exit


@app.callback(help=keep_layout(_HELP))
def _katachi(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Run a command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without × and ō is not a reason to fail
    try:
        sys.exit(typer.main.get_command(app).main(args=arguments, prog_name="katachi", standalone_mode=False))
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except Exception as error:
        if hasattr(error, "format_message"):  # typer's, about the words of the command line
            typer.echo(describe_usage(error), err=True)
            sys.exit(2)
        if os.environ.get("KATACHI_DEBUG", "") not in ("", "0"):
            raise
        typer.echo(f"katachi: {describe_error(error)}", err=True)
        sys.exit(2 if _is_bad_input(error) else 1)


def describe_usage(error: Any) -> str:
    """One line about options and arguments that are not right, and where to read which are; or the help itself."""
    from katachi.core.registry import suggest

    context, message = error.ctx, error.format_message()
    if message == context.get_help():  # no arguments at all
        return str(message)
    if option := getattr(error, "option_name", None) if message.startswith("No such option") else None:
        known = [each for parameter in context.command.params for each in parameter.opts if each.startswith("--")]
        message = f"there is no option {option}; {suggest(option, known)}"
    elif command := re.match("No such command '(.*?)'", message):
        message = f"there is no command {command[1]}; {suggest(command[1], context.command.list_commands(context))}"
    else:
        message = re.sub(r"^Invalid value for '?(\S+?)'?( / '\S+')?: (Value error, )?", r"\1: ", message)
        message = re.sub(r"Input should be a valid (\w+).*", r"this should be a valid \1", message)
    return f"katachi: {message.rstrip('.')} (see: {context.command_path} --help)".replace("\n", " ")


def describe_error(error: Exception) -> str:
    """One line for a user; what is not meant for users says how to see more."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if _is_ours(error):
        return str(error)
    if isinstance(error, ModuleNotFoundError) and (extra := _extra_of(error)):
        return extra
    return f"{type(error).__name__}: {error} (KATACHI_DEBUG=1 shows where)".replace("\n", " ")


def _extra_of(error: ModuleNotFoundError) -> str:
    """What brings a module that was not found; nothing if it is of no extra."""
    from katachi.core.registry import EXTRAS

    return str(EXTRAS.get(str(error.name).partition(".")[0], ""))


def _is_ours(error: Exception) -> bool:
    return type(error).__module__.split(".")[0] == "katachi"


def _is_bad_input(error: Exception) -> bool:
    names_a_file = isinstance(error, FileNotFoundError | IsADirectoryError | NotADirectoryError | PermissionError)
    return names_a_file or (_is_ours(error) and isinstance(error, ValueError))
