"""Parameters that can be read and set: two bounds of the session, the lag that its clock allows for, the player's
own.

``maxVisits`` and ``maxTime`` bound every move, whatever the player's own limits are; ``lagBuffer`` are the seconds that
a move may cost beyond the thinking. These three have KataGo's names; those of the player are the keys of its TOML file.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TypeVar

from katachi.core.contracts import Parameter, TunablePlayer
from katachi.gtp.protocol import GtpError
from katachi.gtp.serving import CommandTable
from katachi.gtp.session import Session, read_float, read_int
from katachi.search.clock import check_seconds

table = CommandTable[Session]()

Number = TypeVar("Number", int, float)


def parameters(session: Session) -> dict[str, Parameter]:
    """All parameters by name; None is no bound."""
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
def set_param(session: Session, name: str, value: str) -> str:
    """Change a parameter; ``none`` takes a bound away."""
    _find(session, name)
    try:
        _set(session, name, value)
    except GtpError:
        raise
    except ValueError as error:
        raise GtpError(f"unacceptable value: {error}") from None
    return ""


@table.command("kata-get-params")
def get_params(session: Session) -> str:
    return json.dumps(parameters(session), separators=(",", ":"))


@table.command("kata-set-params")
def set_params(session: Session, *values: str) -> str:
    """Change the parameters that a JSON object names, one after the other."""
    try:
        changes = json.loads(" ".join(values))
    except (ValueError, RecursionError):
        raise GtpError("syntax error: say the parameters as a JSON object") from None
    if not isinstance(changes, dict):
        raise GtpError("syntax error: say the parameters as a JSON object")
    for name in changes:
        _find(session, name)
    for name, value in changes.items():
        set_param(session, name, _show(value))
    return ""


@table.command("katachi-param")
def param(session: Session, name: str = "", value: str = "") -> str:
    """As GoGui's dialog asks: all of them, a line each, or change one."""
    if not name:
        return "\n".join(_line(key, current) for key, current in parameters(session).items())
    if not value:
        raise GtpError(f"syntax error: {name} needs a value")
    return set_param(session, name, value)


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
        session.player.set_parameter(name, text)


def _above_zero(number: Number) -> Number:
    if not number > 0:
        raise ValueError(f"{number:g} is not above 0")
    return number


def _show(value: Parameter) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)
