"""About the engine itself: who it is, what it can do, how much processor time it took, and the end."""

# ruff: noqa: ARG001 - a command takes the session and all arguments, whether or not it looks at them

from __future__ import annotations

import time
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of

from katachi.gtp.serving import CommandTable
from katachi.gtp.session import Session

table = CommandTable[Session]()


@table.command("protocol_version")
def protocol_version(session: Session) -> str:
    return "2"


@table.command("name")
def name(session: Session) -> str:
    return session.player.name


@table.command("version")
def version(session: Session) -> str:
    return engine_version()


def engine_version() -> str:
    try:
        return version_of("katachi")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "unknown"


@table.command("quit")
def quit_session(session: Session) -> str:
    session.has_quit = True
    return ""


@table.command("echo")
def echo(session: Session, *words: str) -> str:
    return " ".join(words)


@table.command("cputime", "gomill-cpu_time")
def cputime(session: Session) -> str:
    """Processor seconds of the whole process, all threads together."""
    return f"{time.process_time():.3f}"


@table.command("gomill-describe_engine")
def describe_engine(session: Session) -> str:
    return f"{session.player.name}\nkatachi {engine_version()}\nrules: {session.game.rules.name}"


@table.command("stop")
def stop(session: Session) -> str:
    """Any line stops an analysis; this one does nothing else."""
    return ""


@table.command("clear_cache")
def clear_cache(session: Session) -> str:
    """A player that keeps something between moves keeps it by position, so there is nothing that could be stale."""
    return ""


@table.command("kgs-game_over")
def game_over(session: Session) -> str:
    """KGS says that the game has ended; there is nothing to put away."""
    return ""


@table.command("kgs-chat")
def chat(session: Session, kind: str, user: str, *words: str) -> str:
    """Somebody talks to us on KGS; the answer is said to them."""
    return f"I am {session.player.name}, a program that plays Go with katachi. I do not chat."
