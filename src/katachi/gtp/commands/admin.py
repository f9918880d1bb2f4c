"""About the engine itself: who it is, what it can do, its parameters, records on disk, and the end."""

# ruff: noqa: ARG001 - a command takes the session and all arguments, whether or not it looks at them

from __future__ import annotations

import json
import time
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from typing import Final, TypeVar

from katachi.core.contracts import Parameter, TunablePlayer
from katachi.core.disk import parse_json
from katachi.go.game import Game
from katachi.go.points import BLACK, WHITE, format_color
from katachi.gtp.protocol import GtpError, refusing
from katachi.gtp.serving import CommandTable
from katachi.gtp.session import SIZES, Refused, Session, read_confined, read_float, read_int, write_confined
from katachi.search.clock import check_seconds
from katachi.sgf import SgfError, game_to_sgf, parse_sgf

table = CommandTable[Session]()

_ANALYSIS_VERSION: Final = "0.17"  # the first with lz-genmove_analyze


@table.command("protocol_version")
def protocol_version(session: Session) -> str:
    return "2"


@table.command("name")
def name(session: Session) -> str:
    return session.name or f"katachi {session.player.name}"


@table.command("version")
def version(session: Session) -> str:
    """First the version of Leela Zero whose analysis commands are spoken, which Lizzie wants to be 0.15 or more."""
    return f"{_ANALYSIS_VERSION} katachi {engine_version()}"


def engine_version() -> str:
    try:
        return version_of("katachi")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "unknown"


@table.command("quit")
def quit_session(session: Session) -> None:
    session.has_quit = True


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
def stop(session: Session) -> None:
    """Any line stops an analysis; this one does nothing else."""


@table.command("clear_cache")
def clear_cache(session: Session) -> None:
    """A player that keeps something between moves keeps it by position, so there is nothing that could be stale."""


@table.command("gogui-interrupt")
def interrupt(session: Session) -> None:
    """Says that a line ``# interrupt`` hurries a move; it does nothing itself."""


@table.command("kgs-game_over")
def game_over(session: Session) -> None:
    """KGS says that the game has ended; there is nothing to put away."""


@table.command("cgos-gameover", "cgos-opponent_name", "cgos-opponent_rating")
def hear_cgos(session: Session, *said: str) -> None:
    """CGOS says who the opponent is, and how the game ended. Everybody is played alike."""
    if not said:
        raise GtpError("syntax error: CGOS has something to say here")


@table.command("katachi-clock")
def show_clocks(session: Session) -> str:
    """What stands on the clocks, and how much of the time the player's own moves have used."""
    clock = session.clock
    if clock.control.kind == "none":
        return "there is no time limit"
    lines = []
    for color in (BLACK, WHITE):
        left, used = clock.left(color), clock.used(color)
        line = f"{format_color(color)}: {left.seconds:.1f} s left" + f" for {left.stones}" * (left.stones > 0)
        if used.moves:
            line += f"; {used.moves} own moves took {used.seconds:.1f} s, the longest {used.longest:.1f} s"
        lines.append(line)
    return "\n".join(lines)


@table.command("kgs-chat")
def chat(session: Session, kind: str, user: str, *words: str) -> str:
    """Somebody talks to us on KGS; the answer is said to them."""
    return f"I am {session.player.name}, a program that plays Go with katachi. I do not chat."


# Records on disk. Only regular files in the session's folder can be named (see ``session``).


@table.command("loadsgf")
def loadsgf(session: Session, filename: str, move_number: str = "") -> None:
    """The first game of a file, to its end or to the position before a move. The game stays as it was if that fails.

    Komi is the record's, if it has one; the other rules stay those of the session.
    """
    number = read_int(move_number) if move_number else None
    if number is not None and number < 1:
        raise GtpError("syntax error: the first move has the number 1")
    try:
        game = _load(session, filename, number)
    except (OSError, Refused, SgfError) as error:
        raise GtpError(f"cannot load file: {_say(error)}") from None
    session.new_game()
    session.game = game


@table.command("printsgf")
def printsgf(session: Session, filename: str = "") -> str:
    """Print the record of the game, or write it into a file, which may replace a regular one and nothing else."""
    text = game_to_sgf(session.game)
    if not filename:
        return text
    try:
        write_confined(session.directory, filename, text.encode())
    except (OSError, Refused) as error:
        raise GtpError(f"cannot write file: {_say(error)}") from None
    return ""


def _load(session: Session, filename: str, before_move: int | None) -> Game:
    record = parse_sgf(read_confined(session.directory, filename))[0]
    if record.size not in SIZES:
        raise SgfError(f"the board is {record.size}×{record.size}")
    komi = session.game.komi if record.komi is None else record.komi
    return record.replay(before_move=before_move, rules=session.game.rules.with_komi(komi))


def _say(error: Exception) -> str:
    """The system's word for what is wrong with a file, without the path where the folder lies."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


# Parameters that can be read and set: two bounds of the session, the lag that its clock allows for, the player's own.
#
# ``maxVisits`` and ``maxTime`` bound every move, whatever the player's own limits are; ``lagBuffer`` are the seconds
# that a move may cost beyond the thinking. These three have KataGo's names; those of the player are the keys of its
# TOML file.

Number = TypeVar("Number", int, float)


def parameters(session: Session) -> dict[str, Parameter]:
    """All parameters by name; a bound that is None does not bind."""
    limit = session.limit
    ours: dict[str, Parameter] = {
        "maxVisits": limit.simulations, "maxTime": limit.seconds, "lagBuffer": session.clock.lag,
    }  # fmt: skip
    return {**ours, **(session.player.parameters if isinstance(session.player, TunablePlayer) else {})}


@table.command("kata-list-params")
def list_params(session: Session) -> str:
    return " ".join(parameters(session))


@table.command("kata-get-param")
def get_param(session: Session, name: str) -> str:
    return _show(_find(session, name))


@table.command("kata-set-param")
def set_param(session: Session, name: str, value: str) -> None:
    """Change a parameter; ``none`` takes a bound away."""
    _find(session, name)
    with refusing("unacceptable value", ValueError):
        _set(session, name, value)


@table.command("kata-get-params")
def get_params(session: Session) -> str:
    return json.dumps(parameters(session), separators=(",", ":"))


@table.command("kata-set-params")
def set_params(session: Session, *values: str) -> None:
    """Change the parameters that a JSON object names, one after the other."""
    try:
        changes = parse_json(" ".join(values))
    except ValueError:
        raise GtpError("syntax error: say the parameters as a JSON object") from None
    if not isinstance(changes, dict):
        raise GtpError("syntax error: say the parameters as a JSON object")
    for name in changes:
        _find(session, name)
    for name, value in changes.items():
        set_param(session, name, _show(value))


@table.command("katachi-param")
def param(session: Session, name: str = "", value: str = "") -> str | None:
    """As GoGui's dialog asks: all of them, a line each, or change one."""
    if not name:
        return "\n".join(_line(key, current) for key, current in parameters(session).items())
    if not value:
        raise GtpError(f"syntax error: {name} needs a value")
    set_param(session, name, value)
    return None


def _line(name: str, value: Parameter) -> str:
    """With a type, so that GoGui knows whether to show a box to tick."""
    return f"[bool] {name} {int(value)}" if isinstance(value, bool) else f"[string] {name} {_show(value)}"


def _find(session: Session, name: str) -> Parameter:
    known = parameters(session)
    if name not in known:
        raise GtpError(f"unknown parameter: known are {', '.join(known)}")
    return known[name]


def _set(session: Session, name: str, text: str) -> None:
    if name == "maxVisits":
        session.limit = replace(session.limit, simulations=None if text == "none" else _above_zero(read_int(text)))
    elif name == "maxTime":
        seconds = None if text == "none" else _above_zero(check_seconds(read_float(text)))
        session.limit = replace(session.limit, seconds=seconds)
    elif name == "lagBuffer":
        session.clock.lag = check_seconds(read_float(text))
    elif isinstance(session.player, TunablePlayer):
        session.preparation.wait()  # with the settings that it has
        session.player.set_parameter(name, text)


def _above_zero(number: Number) -> Number:
    if not number > 0:
        raise ValueError(f"{number:g} is not above 0")
    return number


def _show(value: Parameter) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)
