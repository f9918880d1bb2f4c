"""What the commands share: how they are found and imported, and options that mean the same.

Commands are imported when they run, so that ``katachi --help`` need not load numpy and numba.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from katachi.core.execution import Backend

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from katachi.arena.settings import TournamentSettings


_SECONDS_BETWEEN_LINES: Final = 30  # where standard error is not a terminal


class LazyCommand(NamedTuple):
    """Where a command is (``module:function`` or ``module:typer_app``), and one line about it for the list."""

    target: str
    help: str


class LazyGroup(TyperGroup):
    """A group that knows its commands by name and imports the one that is asked for."""

    lazy_commands: ClassVar[dict[str, LazyCommand]]

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(self.lazy_commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """A stand-in with name and help; ``resolve_command`` gives the command itself."""
        lazy = self.lazy_commands.get(cmd_name)
        return lazy and TyperCommand(cmd_name, help=lazy.help, rich_markup_mode=None)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        self.commands = {name: self.get_command(ctx, name) for name in self.lazy_commands}  # for its suggestions
        name, stand_in, rest = super().resolve_command(ctx, args)
        if name is None or stand_in is None:
            return name, stand_in, rest
        return name, load_command(name, self.lazy_commands[name].target), rest


def load_command(name: str, target: str) -> Any:
    """Import a command and make it ready to run."""
    module, attribute = target.split(":")
    loaded = getattr(import_module(module), attribute)
    app = loaded
    if not isinstance(loaded, typer.Typer):
        app = typer.Typer(add_completion=False)
        app.command(help=inspect.getdoc(loaded))(loaded)
    app.rich_markup_mode = None  # plain help: quick, and right on every terminal
    command = typer.main.get_command(app)
    command.name = name
    for each in (command, *getattr(command, "commands", {}).values()):
        each.help = keep_layout(each.help)
    return command


def keep_layout(text: str | None) -> str | None:
    """Mark the paragraphs that have indented lines, such as examples, so that help does not wrap them."""
    if text is None:
        return None
    paragraphs = re.split(r"\n\s*\n", inspect.cleandoc(text.replace("\b\n", "")))
    return "\n\n".join("\b\n" + p if re.search(r"^[ \t]", p, re.MULTILINE) else p for p in paragraphs)


def given_command(option: str = "", value: str | Path = "") -> str:
    """The command line as a shell takes it, with an option unless it has that one or ``--resume``."""
    words = ["katachi", *sys.argv[1:]]
    there = {word.partition("=")[0] for word in words}
    more = [option, str(value)] if option and there.isdisjoint({option, "--resume"}) else []
    return shlex.join(words + [word for word in more if word])


@contextmanager
def interruptible(
    kept: Callable[[], str], option: str = "", value: str | Path = "", *, then: str = "resume"
) -> Iterator[None]:
    """Say on Ctrl-C what is kept, and the command that resumes: the given one, with an option if it lacks that."""
    warnings.filterwarnings("ignore", module="joblib")  # which counts the tasks that are lost
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"katachi: stopped: {kept()}", err=True)
        typer.echo(f"katachi: to {then}: {given_command(option, value)}", err=True)
        raise


def format_seconds(seconds: float) -> str:
    """``95 s``, ``12 min`` or ``2.5 h``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


class NowAndThen:
    """Lines on standard error where that is not a terminal: not more often than every 30 seconds, unless asked to."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def say(self, text: Callable[[], str], *, at_once: bool = False) -> None:
        if at_once or time.monotonic() > self._last + _SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            typer.echo(f"katachi: {text()}", err=True)


def show_progress(*columns: Any, transient: bool = True) -> Progress:
    """Bars on standard error; nothing where that is not a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=transient, disable=not console.is_terminal)


def wide_console(width: int) -> Console:
    """Standard output, as wide as tables need where that is not a terminal."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=width)


def data_folder() -> Path:
    """Where this user's programs keep their data."""
    if os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return base / "katachi"


def check_programs(allowed: bool, *players: str | None) -> None:
    """Let files run no programs unless that is ``allowed``; one that the command line itself names may run."""
    from katachi.players.specs import find_spec, player_file

    for text in () if allowed else filter(None, players):
        if not text.startswith("gtp:") and (program := find_spec(text).program):
            _ask_for(program, player_file(text))


def check_tournament(allowed: bool, file: Path, settings: TournamentSettings) -> None:
    """The same for all programs that a tournament file names."""
    players = settings.players.values()
    for text in () if allowed else (*players, settings.referee, settings.check_referee or ""):
        if text.startswith("gtp:"):
            _ask_for(text.removeprefix("gtp:"), file)
    check_programs(allowed, *players)


def _ask_for(program: str, file: Path) -> None:
    from katachi.players.specs import SpecError

    own = data_folder() / "players"
    if file.resolve().is_relative_to(own.resolve()):
        return
    would = f"{file} would run the program {program!r:.200}"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise SpecError(f"{would}: say --allow-commands if you trust it, or keep the file in {own}")
    typer.confirm(f"{would} with your rights. Do you trust it?", abort=True, err=True)


def name_next_step(command: str) -> None:
    """Say on standard error what a user may want next; not where JSON is printed."""
    typer.echo(f"katachi: next: {command}", err=True)


def count_jobs(jobs: int) -> int:
    """How many jobs are meant: 0 are as many as there are processors for this process."""
    from katachi.core.disk import usable_cores

    return jobs or usable_cores()


def number(low: float, high: float, help: str, *names: str) -> Any:  # noqa: A002
    """An option whose number, or each of whose numbers, is in a range; nan is in none."""

    def check(value: Any) -> Any:
        for each in value if isinstance(value, tuple) else (value,):
            if each is not None and not low <= each <= high:
                raise typer.BadParameter(f"{each} is not between {low:,} and {high:,}")
        return value

    bounds = f" From {low:,} to {high:,}." if high <= 100 else ""
    return typer.Option(*names, help=help + bounds, callback=check)


# Options of many commands

PLAYER: Final = "a bundled name, a TOML file, the folder of a run or a model, or gtp:COMMAND"
PLAYER_HELP: Final = f"{PLAYER[0].upper()}{PLAYER[1:]}."
MANY: Final = 1_000_000_000

AllowCommands = Annotated[
    bool, typer.Option("--allow-commands", help="Run the programs that files of others name.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Jobs = Annotated[
    int, number(0, 10_000, "How many at the same time; 0: as many as there are cores for.", "--jobs", "-j")
]
OnBackend = Annotated[
    Backend, typer.Option("--backend", help="Who works: processes of this machine, or a cluster of Ray or Dask.")
]
OnCluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="Of the cluster; without it, one is started on this machine."),
]
RunFolder = Annotated[
    Path | None, typer.Option(help="The folder for what is made; the same one resumes. Without it, one in runs/.")
]
Seed = Annotated[int, number(0, 2**63 - 1, "Random seed: the same repeats everything.")]
AnySeed = Annotated[
    int | None, number(0, 2**63 - 1, "Random seed: the same repeats everything; else a new one.", "--seed")
]
DataFolder = Annotated[Path | None, typer.Option(metavar="SET", help="A dataset, made by katachi data import.")]
Seconds = Annotated[float | None, number(0.001, 1_000_000, "Seconds that a move may take.")]
Simulations = Annotated[int | None, number(1, MANY, "Simulations that a move may take.")]

# Options of games

BoardSize = Annotated[int | None, number(2, 19, "The board size; without it, one that all players can play, or 9.")]
GameCount = Annotated[int, number(1, MANY, "How many games to play.")]
Komi = Annotated[float | None, number(-1000, 1000, "Points that White receives; without it, those of the rules.")]
MostMoves = Annotated[int | None, number(1, MANY, "Count a game as it stands after so many moves.")]
RandomPlies = Annotated[int, number(0, 100, "Random moves that begin each game, or pair of games.")]
FromLine = Annotated[int, number(1, 9, "The line from the edge below which no random move lies: 3 is balanced.")]
Referee = Annotated[str, typer.Option(help="Who counts: estimate, count or gtp:COMMAND.")]
RulesName = Annotated[str, typer.Option(help="The rules, by name (chinese, japanese …) or as KataGo's JSON.")]

# Options of trainings

Changes = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change any setting; may be repeated.")
]
Resume = Annotated[
    Path | None, typer.Option(metavar="RUN", help="Resume a run, with the settings it was started with.")
]
Threads = Annotated[int, typer.Option(help="Threads that learn.", min=1, max=1024)]
WithTensorBoard = Annotated[bool, typer.Option("--tensorboard", help="Write the metrics for TensorBoard too.")]
Workers = Annotated[
    int, typer.Option(help="Threads that prepare batches; 0: the one that learns does.", min=0, max=1024)
]
