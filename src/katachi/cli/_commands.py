"""What the commands share: how they are found and imported, options that mean the same, and the kernels they need.

Commands are imported when they run, so that ``katachi --help`` need not load numpy and numba.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

import katachi

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


class LazyCommand(NamedTuple):
    """Where a command is (``module:function`` or ``module:typer_app``), and one line about it for the list."""

    target: str
    help: str
    compiles: bool = True  # whether it runs kernels, which the first run must compile


class LazyGroup(TyperGroup):
    """A group that knows its commands by name and imports the one that is asked for."""

    lazy_commands: ClassVar[dict[str, LazyCommand]]
    before_compiling: ClassVar[Callable[[], None]]

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
        lazy = self.lazy_commands[name]
        command = load_command(name, lazy.target)
        if lazy.compiles:
            _call_before(command, type(self).before_compiling)
        return name, command, rest


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


def _call_before(command: Any, action: Callable[[], None]) -> None:
    """Do something when a command runs, but not when its help is shown."""
    invoke = command.invoke

    def announced(ctx: typer.Context) -> Any:
        action()
        return invoke(ctx)

    command.invoke = announced


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


# Options of many commands

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

# Options of games between two players

BoardSize = Annotated[int, typer.Option(help="The board size.")]
GameCount = Annotated[int, typer.Option(help="How many games to play.")]
Komi = Annotated[float | None, typer.Option(help="The komi; without it, that of the rules.")]
MostMoves = Annotated[int | None, typer.Option(help="Count a game as it stands after so many moves.")]
Referee = Annotated[str, typer.Option(help="Who counts: estimate, count or gtp:COMMAND.")]
RulesName = Annotated[str, typer.Option(help="The rules, by name or as KataGo's JSON.")]
Seconds = Annotated[float | None, typer.Option(help="Seconds that a move may take.")]
Simulations = Annotated[int | None, typer.Option(help="Simulations that a move may take.")]

# Options of trainings

Changes = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change any setting; may be repeated.")
]
Resume = Annotated[
    Path | None, typer.Option(metavar="RUN", help="Resume a run, with the settings it was started with.")
]
RunFolder = Annotated[Path | None, typer.Option(help="The folder of the run; the same one resumes.")]
Threads = Annotated[int, typer.Option(help="Threads that learn.", min=1)]
WithTensorBoard = Annotated[bool, typer.Option("--tensorboard", help="Write the metrics for TensorBoard too.")]
Workers = Annotated[int, typer.Option(help="Threads that prepare batches; 0: the one that learns does.")]


# What the first run compiles, and whether that has happened.
#
# numba keeps what it compiled (``.nbi``, ``.nbc``) for every kernel, and compiles again when the kernel's own file has
# changed. It does not see that a function inlined from another file has changed; so here all of it is stale, and
# forgotten, as soon as one source of kernels is younger.

FIRST_KERNELS: Final = "katachi.go.kernels.board"  # which every command needs
MINUTES_TO_COMPILE: Final = 4  # all of it, measured on one core of a small server; most commands need a part


def kernel_modules() -> list[ModuleType]:
    """All modules ``katachi.*.kernels.*``, the one that every command needs first."""
    packages = (f"katachi.{package.name}.kernels" for package in iter_modules(katachi.__path__) if package.ispkg)
    folders = {name: import_module(name).__path__ for name in packages if find_spec(name)}
    found = [f"{name}.{module.name}" for name, path in folders.items() for module in iter_modules(path)]
    return [import_module(name) for name in sorted(found, key=lambda name: name != FIRST_KERNELS)]


def kernels() -> Iterator[Any]:
    """All compiled functions that are kept on disk."""
    for module in kernel_modules():
        for value in vars(module).values():
            if getattr(value, "__module__", None) == module.__name__ and hasattr(value, "py_func"):
                yield value


def cache_folder() -> Path:
    """Where numba keeps what every command needs."""
    return Path(next(kernels()).stats.cache_path)


def forget_stale_kernels() -> None:
    """Delete compiled kernels that are older than any source of kernels."""
    newest = max(Path(str(module.__file__)).stat().st_mtime for module in kernel_modules())
    for folder in {Path(kernel.stats.cache_path) for kernel in kernels()}:
        for compiled in folder.glob("*.nb?"):
            if compiled.stat().st_mtime < newest:
                compiled.unlink(missing_ok=True)


def is_compiled() -> bool:
    """Whether the module that every command needs has been compiled here since it was written."""
    source = Path(str(kernel_modules()[0].__file__))
    indexes = cache_folder().glob(f"{source.stem}.*.nbi")
    return any(index.stat().st_mtime >= source.stat().st_mtime for index in indexes)


def prepare_kernels() -> None:
    """Forget what is stale, and say on standard error if this run takes longer because it compiles."""
    forget_stale_kernels()
    if not is_compiled():
        print(f"katachi: compiling kernels, once: up to {MINUTES_TO_COMPILE} min", file=sys.stderr, flush=True)  # noqa: T201
