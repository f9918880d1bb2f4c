"""Live analysis: ``lz-analyze``, ``kata-analyze``, Sabaki's ``analyze``, and the forms that end with a move.

``analyze`` sends ``=`` at once, a report whenever the interval has passed, and ends at any input. ``genmove_analyze``
sends ``=``, reports while the player thinks, and ``play X``; input does not end it. ``kata-search_analyze`` is the same
but the move is not played, and the cancellable forms end at any input with ``play cancelled``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from string import ascii_lowercase, ascii_uppercase, digits
from threading import Event
from typing import Any, Final, TypeVar

import numpy as np

from katachi.core.contracts import Analysis, AnalyzingPlayer, Ban, Candidate, Decision, Limit
from katachi.go.game import Game
from katachi.go.points import format_vertex
from katachi.gtp.commands.play import check_own_move, play_own_move
from katachi.gtp.protocol import GtpError
from katachi.gtp.serving import CommandTable
from katachi.gtp.session import (
    Dialect,
    ReportStyle,
    Session,
    format_report,
    lead_of,
    read_bool,
    read_color,
    read_int,
    read_move,
    total_visits,
    win_rate,
)
from katachi.players.asking import Selection, ban_others, count_visits, find_evaluator, find_owners, watch_analyses

table = CommandTable[Session]()

T = TypeVar("T")

_DEFAULT_INTERVAL: Final = 0.5
_CANCELLED: Final = "cancelled"
_OWNERSHIP_LETTERS: Final = ascii_uppercase + ascii_lowercase + digits + "+/"  # of CGOS, from theirs to ours
_MOST_OWNED: Final = 62
_STYLES: Final = {
    "rootinfo": "root",
    "ownership": "ownership",
    "ownershipstdev": "ownership_spread",
    "pvvisits": "variation_visits",
    "movesownership": "moves_ownership",
}
# Asked of KataGo for more fields, which a reader must be able to miss: accepted, and left out.
_UNFILLED: Final = ("pvedgevisits", "movesownershipstdev", "noresultvalue")


@dataclass(slots=True)
class Request:
    """What an analysis command asks for."""

    dialect: Dialect
    color: int
    interval: float = _DEFAULT_INTERVAL  # seconds; 0 reports everything
    selection: Selection = field(default_factory=Selection)
    extras: dict[str, bool] = field(default_factory=dict)

    def read(self, words: list[str], size: int) -> None:
        """Take the next option off ``words``; raises GtpError if there is none such."""
        key = words.pop(0).lower()
        try:
            if key in ("avoid", "allow"):
                self._restrict(key, read_color(words.pop(0)), words.pop(0), read_int(words.pop(0)), size)
            elif key == "interval":
                self.interval = _read_natural(words.pop(0)) / 100
            elif key == "minmoves":
                self.selection.fewest = _read_natural(words.pop(0))
            elif key == "maxmoves":
                self.selection.most = _read_natural(words.pop(0))
            elif key in _STYLES:
                self.extras[_STYLES[key]] = read_bool(words.pop(0))
            elif key in _UNFILLED:
                read_bool(words.pop(0))
            else:
                raise GtpError(f"syntax error: {key!r} is not an option of an analysis")
        except IndexError:
            raise GtpError(f"syntax error: {key} needs a value") from None

    def _restrict(self, key: str, color: int, vertices: str, depth: int, size: int) -> None:
        moves = {read_move(vertex, size) for vertex in vertices.split(",")}
        if depth < 1:
            raise GtpError("syntax error: the depth of a restriction is 1 or more")
        is_avoided = key == "avoid"
        bans = [Ban(color, move, depth) for move in moves] if is_avoided else ban_others(color, moves, depth, size)
        self.selection.bans += bans


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


# The commands


def analyze(dialect: Dialect, session: Session, *arguments: str) -> Iterator[str]:
    """Report until there is input; raises GtpError if the player has nothing to say."""
    request = parse_request(session, dialect, arguments)
    return _reports_until_input(session, request, _analyses(session, request))


def genmove_analyze(dialect: Dialect, session: Session, *arguments: str) -> Iterator[str]:
    """Play a move and say what the player thinks of it meanwhile."""
    request = parse_request(session, dialect, arguments)
    return _reports_and_move(session, request, partial(play_own_move, session, request.color))


def search_analyze(cancellable: bool, session: Session, *arguments: str) -> Iterator[str]:
    """The same, but the move is not played."""
    request = parse_request(session, Dialect.KATAGO, arguments)
    announce = partial(_announce, session, request.color)
    return _reports_and_move(session, request, announce, cancellable=cancellable)


def search(cancellable: bool, session: Session, color: str) -> str:
    """The move that genmove would play. If the search is cancellable and there is input, it is given up."""
    stop = session.input_waiting if cancellable else session.interrupted
    player_color = read_color(color)
    *_, decision = session.think(player_color, stop)
    if cancellable and stop.is_set():
        return _CANCELLED
    return "resign" if decision.resign else _announce(session, player_color, decision.move)


def cgos_genmove_analyze(session: Session, color: str) -> Iterator[str]:
    """Play a move; before it comes a line of JSON for the viewers of CGOS, all values the player's own."""
    player_color = read_color(color)
    return _describe_and_move(session, player_color)


def _describe_and_move(session: Session, color: int) -> Iterator[str]:
    *_, decision = session.think(color, session.interrupted)
    if decision.analysis is not None:
        yield json.dumps(_describe_for_cgos(decision.analysis, session.game.size, color), separators=(",", ":"))
    yield f"play {'resign' if decision.resign else play_own_move(session, color, decision.move)}"


def _describe_for_cgos(analysis: Analysis, size: int, color: int) -> dict[str, Any]:
    moves = []
    for candidate, visits in zip(analysis.candidates, count_visits(analysis.candidates), strict=True):
        described: dict[str, Any] = {"move": format_vertex(candidate.move, size), "visits": visits}
        described |= _known_values(analysis, candidate, color)
        described["pv"] = " ".join(format_vertex(move, size) for move in candidate.variation[1:])
        moves.append(described)
    answer = {"visits": max(1, total_visits(analysis)), **_known_values(analysis, None, color), "moves": moves}
    if analysis.ownership is not None:
        steps = np.rint((1 + color * analysis.ownership.astype(np.float64)) / 2 * _MOST_OWNED).astype(int)
        answer["ownership"] = "".join(_OWNERSHIP_LETTERS[step] for step in np.clip(steps, 0, _MOST_OWNED).tolist())
    return answer


def _known_values(analysis: Analysis, candidate: Candidate | None, color: int) -> dict[str, float]:
    lead = lead_of(analysis, candidate, color)
    values = {"winrate": round(win_rate(analysis, candidate, color), 4)}
    values |= {} if lead is None else {"score": round(lead, 2)}
    return values if candidate is None or candidate.prior is None else values | {"prior": round(candidate.prior, 6)}


def ask_analysis(session: Session, color: int) -> Analysis:
    """What a player says about its decision; raises GtpError if that is nothing."""
    analysis = session.ready_player().decide(session.game_for(color), session.limit).analysis
    if analysis is None or not analysis.candidates:
        raise GtpError(f"{session.player.name} offers neither values nor priors, so there is nothing to analyze")
    return analysis


def _analyses(session: Session, request: Request) -> Iterator[Analysis]:
    if not isinstance(session.player, AnalyzingPlayer):
        return iter([ask_analysis(session, request.color)])
    game, bans = session.game_for(request.color), request.selection.bans
    stop = None if session.input_waiting.is_set() else session.input_waiting  # who asks ahead gets a first report
    return _watch(session, game, bans, stop)


def _watch(session: Session, game: Game, bans: Collection[Ban], stop: Event | None) -> Iterator[Analysis]:
    """Analyses when the player is ready; none if it is to stop before."""
    if session.preparation.wait(stop):
        yield from watch_analyses(session.player, game, Limit(), session.input_waiting, bans)


# The lines


def _reports_until_input(session: Session, request: Request, analyses: Iterable[Analysis]) -> Iterator[str]:
    for analysis in pick_due(analyses, request.interval, session.input_waiting):
        yield from _report(session, request, analysis)
    session.input_waiting.wait()


def _reports_and_move(
    session: Session, request: Request, make_move: Callable[[int], str], *, cancellable: bool = False
) -> Iterator[str]:
    stop, decision = session.input_waiting if cancellable else session.interrupted, Decision()
    for decision in pick_due(session.think(request.color, stop, request.selection.bans), request.interval):
        if decision.analysis is not None:
            yield from _report(session, request, decision.analysis)
    if cancellable and stop.is_set():
        yield f"play {_CANCELLED}"
    elif decision.resign:
        yield "play resign"
    else:
        yield f"play {make_move(_choose(request, decision))}"


def pick_due(items: Iterable[T], interval: float, stop: Event | None = None) -> Iterator[T]:
    """The first, then one whenever the interval has passed, and the last; none are asked for once ``stop`` is set."""
    due = 0.0
    waiting: list[T] = []
    for item in items:
        waiting = [item]
        if time.monotonic() >= due:
            yield waiting.pop()
            due = time.monotonic() + interval
        if stop is not None and stop.is_set():
            break
    yield from waiting


def _choose(request: Request, decision: Decision) -> int:
    """The decided move, or the best one that is allowed."""
    candidates = decision.analysis.candidates if decision.analysis else ()
    banned = request.selection.banned(request.color)
    for move in (decision.move, *(candidate.move for candidate in candidates)):
        if move not in banned:
            return move
    raise GtpError("the player has considered none of the moves that are allowed")


def _announce(session: Session, color: int, move: int) -> str:
    check_own_move(session, color, move)
    return format_vertex(move, session.game.size)


def _report(session: Session, request: Request, analysis: Analysis) -> Iterator[str]:
    """A line, or none if nothing is left to report."""
    game = session.game_for(request.color)
    style = ReportStyle(request.dialect, **request.extras)
    candidates = request.selection.choose(analysis.candidates, game)
    owners = find_owners(find_evaluator(session.player), game, candidates) if style.moves_ownership else None
    line = format_report(analysis, candidates, style, size=game.size, color=request.color, owners=owners)
    if line:
        yield line


for _name, _dialect in (("analyze", Dialect.LEELA), ("lz-analyze", Dialect.LEELA), ("kata-analyze", Dialect.KATAGO)):
    table.command(_name)(partial(analyze, _dialect))
    _genmove_name = f"{_name.removesuffix('analyze')}genmove_analyze"
    table.command(_genmove_name)(partial(genmove_analyze, _dialect))
table.command("cgos-genmove_analyze")(cgos_genmove_analyze)
for _suffix, _cancellable in (("", False), ("_cancellable", True)):
    table.command(f"kata-search{_suffix}")(partial(search, _cancellable))
    table.command(f"kata-search_analyze{_suffix}")(partial(search_analyze, _cancellable))
