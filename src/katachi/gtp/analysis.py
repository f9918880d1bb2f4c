"""Live analysis: ``lz-analyze``, ``kata-analyze``, Sabaki's ``analyze``, and their genmove forms.

``analyze`` sends ``=`` at once, a report whenever the interval has passed, and ends at any input. The genmove forms
send ``=``, one report of what the player thought, and ``play X``.

A player that can analyze is asked to; any other is asked for a decision once, and what it says about it is the report.
``avoid`` and ``allow`` choose among the moves at the root; deeper in its tree a search looks at what it likes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from katachi.gtp.commands.play import play_own_move
from katachi.gtp.protocol import GtpError
from katachi.gtp.reports import Dialect, format_report
from katachi.gtp.serving import CommandTable
from katachi.gtp.session import Session, read_color, read_int, read_move
from katachi.interfaces import Analysis, AnalyzingPlayer, Decision, Limit

table = CommandTable[Session]()

# Asked of KataGo for more fields, which a reader must be able to miss: accepted, and left out.
_UNFILLED: Final = ("pvvisits", "pvedgevisits", "rootinfo", "movesownership", "ownershipstdev", "movesownershipstdev")


@dataclass(slots=True)
class Request:
    """What an analysis command asks for."""

    dialect: Dialect
    color: int
    interval: float = 0.0  # seconds; 0 reports everything
    most_moves: int | None = None
    ownership: bool = False
    avoided: set[int] = field(default_factory=set)
    allowed: set[int] | None = None

    def select(self, analysis: Analysis) -> Analysis:
        """The analysis without candidates that were not asked for."""
        candidates = [candidate for candidate in analysis.candidates if self.accepts(candidate.move)]
        return replace(analysis, candidates=tuple(candidates[: self.most_moves]))

    def accepts(self, move: int) -> bool:
        return move not in self.avoided and (self.allowed is None or move in self.allowed)

    def read(self, words: list[str], size: int) -> None:
        """Take the next option off ``words``; raises GtpError if there is none such."""
        key = words.pop(0).lower()
        try:
            if key in ("avoid", "allow"):
                self._restrict(key, read_color(words.pop(0)), words.pop(0), read_int(words.pop(0)), size)
            elif key == "interval":
                self.interval = _read_natural(words.pop(0)) / 100
            elif key in ("minmoves", "maxmoves"):
                number = _read_natural(words.pop(0))
                self.most_moves = number if key == "maxmoves" else self.most_moves
            elif key == "ownership":
                self.ownership = _read_bool(words.pop(0))
            elif key in _UNFILLED:
                _read_bool(words.pop(0))
            else:
                raise GtpError(f"syntax error: {key!r} is no option of an analysis")
        except IndexError:
            raise GtpError(f"syntax error: {key} needs a value") from None

    def _restrict(self, key: str, color: int, vertices: str, until_depth: int, size: int) -> None:
        moves = {read_move(vertex, size) for vertex in vertices.split(",")}
        if until_depth < 1:
            raise GtpError("syntax error: the depth of a restriction is 1 or more")
        if color != self.color:
            return  # says nothing about the moves at the root
        if key == "avoid":
            self.avoided |= moves
        else:
            self.allowed = moves


def parse_request(session: Session, dialect: Dialect, arguments: Sequence[str]) -> Request:
    """Read ``[color] [interval] [key value …]``."""
    words = list(arguments)
    has_color = bool(words) and words[0].lower() in ("b", "w", "black", "white")
    request = Request(dialect, read_color(words.pop(0)) if has_color else session.game.to_play)
    if words and words[0].isascii() and words[0].isdigit():
        request.interval = _read_natural(words.pop(0)) / 100
    while words:
        request.read(words, session.game.size)
    return request


def _read_natural(text: str) -> int:
    number = read_int(text)
    if number < 0:
        raise GtpError(f"syntax error: {number} is less than 0")
    return number


def _read_bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise GtpError(f"syntax error: {text!r} is neither true nor false")
    return text.lower() == "true"


def analyze(dialect: Dialect, session: Session, *arguments: str) -> Iterator[str]:
    """Report until there is input; raises GtpError if the player has nothing to say."""
    request = parse_request(session, dialect, arguments)
    return _reports(session, request, _analyses(session, request.color))


def genmove_analyze(dialect: Dialect, session: Session, *arguments: str) -> Iterator[str]:
    """Play a move and say what the player thought of it."""
    return _genmove(session, parse_request(session, dialect, arguments))


def _analyses(session: Session, color: int) -> Iterator[Analysis]:
    if not isinstance(session.player, AnalyzingPlayer):
        return iter([ask_analysis(session, color)])
    return session.player.analyze(session.game_for(color), Limit(), session.input_waiting)


def ask_analysis(session: Session, color: int) -> Analysis:
    """What a player says about its decision; raises GtpError if that is nothing."""
    analysis = session.player.decide(session.game_for(color), session.limit).analysis
    if analysis is None or not analysis.candidates:
        raise GtpError(f"{session.player.name} offers neither values nor priors, so there is nothing to analyze")
    return analysis


def _reports(session: Session, request: Request, analyses: Iterator[Analysis]) -> Iterator[str]:
    due = 0.0
    unreported: Analysis | None = None
    for unreported in analyses:
        if time.monotonic() >= due:
            yield from _report(session, request, unreported)
            unreported, due = None, time.monotonic() + request.interval
        if session.input_waiting.is_set():
            break
    if unreported is not None:
        yield from _report(session, request, unreported)
    session.input_waiting.wait()


def _genmove(session: Session, request: Request) -> Iterator[str]:
    decision = session.decide(request.color)
    if decision.analysis is not None:
        yield from _report(session, request, decision.analysis)
    if decision.resign:
        yield "play resign"
    else:
        yield f"play {play_own_move(session, request.color, _choose(request, decision))}"


def _choose(request: Request, decision: Decision) -> int:
    """The decided move, or the best one that is allowed."""
    candidates = decision.analysis.candidates if decision.analysis else ()
    moves = [decision.move, *(candidate.move for candidate in candidates)]
    for move in moves:
        if request.accepts(move):
            return move
    raise GtpError("the player has considered none of the moves that are allowed")


def _report(session: Session, request: Request, analysis: Analysis) -> Iterator[str]:
    """A line, or none if nothing is left to tell."""
    line = format_report(
        request.select(analysis),
        dialect=request.dialect,
        size=session.game.size,
        color=request.color,
        with_ownership=request.ownership,
    )
    if line:
        yield line


for _name, _dialect in (("analyze", Dialect.LEELA), ("lz-analyze", Dialect.LEELA), ("kata-analyze", Dialect.KATAGO)):
    table.command(_name)(partial(analyze, _dialect))
    _genmove_name = f"{_name.removesuffix('analyze')}genmove_analyze"
    table.command(_genmove_name)(partial(genmove_analyze, _dialect))
