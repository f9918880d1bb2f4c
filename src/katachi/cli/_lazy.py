"""Commands that are imported when they run, so that ``katachi --help`` need not load numpy and numba."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup


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
    app = loaded if isinstance(loaded, typer.Typer) else _app_of(loaded)
    app.rich_markup_mode = None  # plain help: quick, and right on every terminal
    command = typer.main.get_command(app)
    command.name = name
    for each in (command, *getattr(command, "commands", {}).values()):
        each.help = keep_layout(each.help)
    return command


def _app_of(function: Callable[..., Any]) -> typer.Typer:
    app = typer.Typer(add_completion=False)
    app.command(help=inspect.getdoc(function))(function)
    return app


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
