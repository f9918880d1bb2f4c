"""Time settings in the words of GTP, of KGS and of KataGo. New settings put the full time on both clocks."""

# ruff: noqa: ARG001 - a command takes the session and all arguments, whether or not it looks at them

from __future__ import annotations

from collections.abc import Sequence

from katachi.gtp.protocol import GtpError
from katachi.gtp.serving import CommandTable
from katachi.gtp.session import Session, read_color, read_float, read_int
from katachi.search.clock import KINDS, TimeControl

table = CommandTable[Session]()

_FORMS: dict[str, tuple[str, ...]] = {  # what follows the kind; all but stones are seconds
    "none": (),
    "absolute": ("main",),
    "byoyomi": ("main", "period", "stones"),
    "canadian": ("main", "period", "stones"),
    "fischer": ("main", "increment"),
    "fischer-capped": ("main", "increment", "most", "most_per_move"),
}
_KGS_KINDS = ("none", "absolute", "byoyomi", "canadian")


@table.command("time_settings")
def time_settings(session: Session, main_time: str, byo_yomi_time: str, byo_yomi_stones: str) -> str:
    """A period without stones means no limit at all (GTP 2, section 4.2)."""
    main, period, stones = read_float(main_time), read_float(byo_yomi_time), read_int(byo_yomi_stones)
    control = _control("canadian" if period and stones else "absolute", main=main, period=period, stones=stones)
    unlimited = stones == 0 if period else main == 0
    session.set_time(TimeControl() if unlimited else control)
    return ""


@table.command("time_left")
def time_left(session: Session, color: str, time: str, stones: str) -> str:
    try:
        session.clock.set_left(read_color(color), read_float(time), read_int(stones))
    except GtpError:
        raise
    except ValueError as error:
        raise GtpError(f"syntax error: {error}") from None
    return ""


@table.command("kgs-time_settings")
def kgs_time_settings(session: Session, kind: str, *numbers: str) -> str:
    if kind in KINDS and kind not in _KGS_KINDS:
        raise GtpError(f"unknown time control: KGS has {', '.join(_KGS_KINDS)}")
    return _set_control(session, "kgs-time_settings", kind, numbers)


@table.command("kata-time_settings")
def kata_time_settings(session: Session, kind: str, *numbers: str) -> str:
    return _set_control(session, "kata-time_settings", kind, numbers)


@table.command("kata-list_time_settings")
def list_time_settings(session: Session) -> str:
    return " ".join(KINDS)


def _set_control(session: Session, command: str, kind: str, numbers: Sequence[str]) -> str:
    kind = kind.lower().replace("byo-yomi", "byoyomi")
    if kind not in _FORMS:
        raise GtpError(f"unknown time control: known are {', '.join(KINDS)}")
    form = _FORMS[kind]
    if len(numbers) != len(form):
        raise GtpError(f"syntax error: usage is {' '.join((command, kind, *form))}")
    pairs = zip(form, numbers, strict=True)
    values = {name: read_int(text) if name == "stones" else read_float(text) for name, text in pairs}
    unused = [name for name in ("most", "most_per_move") if values.get(name, 0) < 0]  # as KataGo says it
    session.set_time(_control(kind, **{name: value for name, value in values.items() if name not in unused}))
    return ""


def _control(kind: str, **values: float) -> TimeControl:
    stones = int(values.pop("stones", 0))
    try:
        return TimeControl(kind, stones=stones, **values)
    except ValueError as error:
        raise GtpError(f"syntax error: {error}") from None
