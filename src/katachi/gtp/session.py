"""What a GTP session holds: the player, the game, the clocks, the folder for files. Players hold none of it.

Also what commands share: the reading of arguments, and the text of boards and analyses. Their errors begin as GTP has
it: ``syntax error``.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import (
    Analysis,
    Ban,
    Candidate,
    Decision,
    Floats,
    InterruptiblePlayer,
    Limit,
    Player,
    PonderingPlayer,
)
from katachi.core.disk import NotAFile, read_regular, write_atomically
from katachi.go.board import Illegality
from katachi.go.game import Game, Step
from katachi.go.points import BLACK, PASS, WHITE, format_vertex, parse_color, parse_vertex
from katachi.go.rules import KoRule, Rules
from katachi.gtp.protocol import GtpError
from katachi.players.asking import Preparation, count_visits, lower_bound, spread_of, watch_decisions
from katachi.search.clock import Clock, TimeControl

# Boards of numbers, labels and colors as text, in the forms that GoGui draws over the stones.


def format_numbers(values: NDArray[np.floating], size: int, digits: int = 3) -> str:
    """A row of the board a line (GoGui's ``dboard``)."""
    return _rows([f"{float(value) + 0.0:.{digits}f}" for value in values], size)


def format_labels(labels: Mapping[int, str], size: int) -> str:
    """A row of the board a line, with an empty label where there is none (GoGui's ``sboard``)."""
    return _rows([f'"{labels.get(point, "")}"' for point in range(size * size)], size)


def gfx_labels(labels: Mapping[int, str], size: int) -> Iterable[str]:
    """A line of GoGui's ``gfx``, or none if there are no labels."""
    pairs = [f"{format_vertex(point, size)} {label}" for point, label in labels.items()]
    return [f"LABEL {' '.join(pairs)}"] if pairs else []


def gfx_colors(colors: Mapping[int, str], size: int) -> Iterable[str]:
    """A line of GoGui's ``gfx`` for each color: its name, or #rrggbb, and its points."""
    for color in dict.fromkeys(colors.values()):
        points = [format_vertex(point, size) for point, other in colors.items() if other == color]
        yield f"COLOR {color} {' '.join(points)}"


def blend(share: float) -> str:
    """A color from red for 0 over yellow to green for 1, as #rrggbb."""
    red, green = min(1.0, 2 - 2 * share), min(1.0, 2 * share)
    return f"#{round(255 * red):02x}{round(255 * green):02x}00"


def _rows(cells: list[str], size: int) -> str:
    return "\n".join(" ".join(cells[row * size : (row + 1) * size]) for row in range(size))


# Files that a controller may name: regular ones inside one folder, and no others.
#
# A name is refused if it leads out of the folder, by ``..``, as an absolute path or through a symbolic link, and if
# what it names is a device, a pipe or a folder. The controller may be on the other end of a network.

MAX_FILE_BYTES: Final = 16 << 20
_NO_LINKS: Final = getattr(os, "O_NOFOLLOW", 0)


class Refused(ValueError):
    """A file that may not be touched, and why."""


def confine(directory: Path, name: str) -> Path:
    """The path of a file in ``directory``; raises Refused if ``name`` leads elsewhere."""
    try:
        root = directory.resolve(strict=True)
        path = (root / name).resolve()
    except (OSError, RuntimeError, ValueError):  # too long a name, a loop of links, a NUL
        raise Refused("no file can have this name") from None
    if not path.is_relative_to(root):
        raise Refused("only files inside the working directory may be used")
    return path


def read_confined(directory: Path, name: str) -> bytes:
    """The content of a regular file in ``directory``; raises Refused, or OSError if it cannot be read."""
    try:
        return read_regular(confine(directory, name), MAX_FILE_BYTES, _NO_LINKS)
    except NotAFile as error:
        raise Refused(error.strerror) from None


def write_confined(directory: Path, name: str, content: bytes) -> None:
    """Write a file in ``directory``, whole or not at all; only a regular file may be replaced."""
    path = confine(directory, name)
    if path.exists() and not path.is_file():
        raise Refused("it is not a regular file")
    write_atomically(path, content)


# Analyses as the lines that Leela Zero, KataGo and Sabaki write and read: ``info move D4 visits 12 winrate 5123 …``.
#
# All values on these lines are from the view of the player to move. Leela Zero's dialect, which Sabaki shares, has
# integers from 0 to 10000; KataGo's has floats. What a player does not know is left out, but for two things that
# readers cannot do without: visits, which are 1, and the win rate, which is that of the position, or even.


class Dialect(Enum):
    LEELA = "lz"
    KATAGO = "kata"


@dataclass(frozen=True, slots=True)
class ReportStyle:
    """How a line is written, and what stands on it beside the moves."""

    dialect: Dialect
    root: bool = False
    variation_visits: bool = False
    ownership: bool = False
    ownership_spread: bool = False
    moves_ownership: bool = False

    def share(self, share: float) -> str:
        """A share of 1."""
        return f"{share:.6f}" if self.dialect is Dialect.KATAGO else str(round(10000 * share))


def format_report(
    analysis: Analysis,
    candidates: Sequence[Candidate],
    style: ReportStyle,
    *,
    size: int,
    color: int,
    owners: Floats | None = None,
) -> str:
    """One line on the candidates that were chosen, best first, and on the whole board if asked for; it may be empty.

    ``owners`` are those of the board after each candidate.
    """
    words: list[str] = []
    for order, (candidate, visits) in enumerate(zip(candidates, count_visits(candidates), strict=True)):
        words += ["info", "move", format_vertex(candidate.move, size), "visits", str(visits)]
        words += _values(analysis, candidate, style, color)
        words += ["order", str(order), "pv"]
        words += [format_vertex(move, size) for move in candidate.variation or (candidate.move,)]
        if style.variation_visits and candidate.variation_visits:
            words += ["pvVisits", *map(str, candidate.variation_visits)]
        if owners is not None:
            words += ["movesOwnership", *_numbers(color * owners[order])]
    if style.root:
        visits = max(1, total_visits(analysis))
        words += ["rootInfo", "visits", str(visits), *_values(analysis, None, style, color)]
    if analysis.ownership is not None:
        words += ["ownership", *_numbers(color * analysis.ownership)] if style.ownership else []
        words += ["ownershipStdev", *_numbers(spread_of(analysis.ownership))] if style.ownership_spread else []
    return " ".join(words)


def _values(analysis: Analysis, candidate: Candidate | None, style: ReportStyle, color: int) -> Iterator[str]:
    """The pairs of names and values that a candidate, or with None the position, has."""
    in_full = style.dialect is Dialect.KATAGO
    wins = win_rate(analysis, candidate, color)
    if in_full:
        yield from ("utility", style.share(2 * wins - 1))
    yield from ("winrate", style.share(wins))
    lead = lead_of(analysis, candidate, color)
    if lead is not None:
        yield from ("scoreMean", f"{lead:.6g}") if in_full else ()
        yield from ("scoreLead", f"{lead:.6g}")
    if candidate is not None and candidate.prior is not None:
        yield from ("prior", style.share(candidate.prior))
    yield from ("lcb", style.share(bound_of(analysis, candidate, color)))


def total_visits(analysis: Analysis) -> int:
    """The visits of all candidates together; 0 if nobody counted."""
    return sum(candidate.visits for candidate in analysis.candidates)


def win_rate(analysis: Analysis, candidate: Candidate | None, color: int) -> float:
    """The candidate's value for ``color``; that of the position, or even chances, where nothing better is known."""
    black_wins = analysis.black_wins
    if candidate is not None and candidate.black_wins is not None:
        black_wins = candidate.black_wins
    if black_wins is None:
        return 0.5
    return black_wins if color == BLACK else 1 - black_wins


def lead_of(analysis: Analysis, candidate: Candidate | None, color: int) -> float | None:
    """By how much ``color`` leads after the candidate, or as far as is known in the position; None if it is not."""
    black_lead = analysis.black_lead
    if candidate is not None and candidate.black_lead is not None:
        black_lead = candidate.black_lead
    return None if black_lead is None else color * black_lead + 0.0  # White must not see a lead of -0


def bound_of(analysis: Analysis, candidate: Candidate | None, color: int) -> float:
    """The lower bound of a win rate."""
    visits = total_visits(analysis) if candidate is None else candidate.visits
    return max(0.0, lower_bound(win_rate(analysis, candidate, color), visits))


def _numbers(values: Iterable[float]) -> Iterator[str]:
    return (f"{float(value) + 0.0:.6g}" for value in values)


# The session itself.

SIZES: Final = range(2, 20)
_PATIENCE: Final = 1.0  # seconds that a controller waits for time settings, rather than for the first move

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Session:
    """The state behind the commands. Whoever has ``player`` think asks for ``ready_player``.

    ``input_waiting`` is set when the controller has said something new, ``interrupted`` when it wants a move now.

    ``asked`` is the time since when the controller waits for the answer that is being given; None is now. ``name`` is
    what the engine calls itself, if not by its own name.
    """

    player: Player
    game: Game
    directory: Path
    limit: Limit = field(default_factory=Limit)
    clock: Clock = field(default_factory=Clock)
    input_waiting: Event = field(default_factory=Event)
    has_quit: bool = False
    interrupted: Event = field(default_factory=Event)
    asked: float | None = None
    ponders: bool = False
    name: str = ""
    _steps_to_ponder: list[Step] | None = None
    preparation: Preparation = field(init=False)

    def __post_init__(self) -> None:
        self.preparation = Preparation(self.player)

    def new_game(self, size: int | None = None) -> None:
        """Begin again with the same rules and komi and the full time."""
        self.game = Game(self.game.size if size is None else size, self.game.rules)
        self.clock.restart()
        self._prepare()

    def _prepare(self) -> None:
        """Have the player get ready for the board, beside everything else; where a clock is used, begin before it."""
        self.preparation.begin(self.game.size)
        if self.clock.control.kind != "none":
            self.preparation.wait_briefly(_PATIENCE)

    def ready_player(self) -> Player:
        """The player, when it is prepared; our clock does not run until then."""
        start = time.monotonic()
        self.preparation.wait()
        if self.asked is not None:
            self.asked += time.monotonic() - start
        return self.player

    def set_rules(self, rules: Rules) -> None:
        """Play by these rules from now on; the komi stays."""
        self.game.rules = rules.with_komi(self.game.komi)

    def set_time(self, control: TimeControl) -> None:
        """Play by this time control, with full clocks."""
        self.clock = Clock(control, self.clock.lag)
        self._prepare()

    def decide(self, color: int) -> Decision:
        """Ask the player for a move of the game and charge its clock."""
        player = self.ready_player()
        with self._charging(color) as limit:
            if isinstance(player, InterruptiblePlayer):
                return player.decide_until(self.game_for(color), limit, self.interrupted)
            return player.decide(self.game_for(color), limit)

    def think(self, color: int, stop: Event, bans: Collection[Ban] = ()) -> Iterator[Decision]:
        """The same, watched: ever better decisions until the last, which comes soon after ``stop`` is set."""
        player = self.ready_player()
        with self._charging(color) as limit:
            yield from watch_decisions(player, self.game_for(color), limit, stop, bans)

    @contextmanager
    def _charging(self, color: int) -> Iterator[Limit]:
        """Give the limit of a move, and charge the clock with what it took; not if it has failed."""
        start, limit = time.monotonic(), self.move_limit(color)
        yield limit
        now = time.monotonic()
        asked = start if self.asked is None else self.asked
        overrun = 0.0 if limit.seconds is None else now - start - limit.seconds
        self.clock.spend(color, now - asked, overrun)

    def play_own(self, color: int, move: int) -> None:
        """Play a move of the player's; what the opponent may answer can be pondered."""
        self.game.play(move, color)
        self._steps_to_ponder = self.game.steps

    def ponder(self) -> None:
        """Let a player that ponders think until there is input, if it has just moved in a game that is not over."""
        is_due = self.ponders and self.game.steps == self._steps_to_ponder and not self.game.is_over
        if not is_due or not isinstance(self.player, PonderingPlayer):
            return
        try:
            self.player.ponder(self.game.copy(), self.input_waiting)
        except Exception as error:  # noqa: BLE001 - what nobody has asked for must not end the session
            self.ponders = False
            _log.warning("%s ponders no more: %s: %s", self.player.name, type(error).__name__, error)

    @property
    def was_ended(self) -> bool:
        """Whether both have passed in turn at some time, though play may have gone on."""
        moves = [play.move for play in self.game.moves]
        return any(first == second == PASS for first, second in pairwise(moves))

    def game_for(self, color: int) -> Game:
        """A copy with that color to play, so that a player cannot spoil the game that is ours."""
        game = self.game.copy()
        game.to_play = color
        return game

    def move_limit(self, color: int) -> Limit:
        """The session's limit, or less if the clock says so."""
        board = self.game.board
        placed = int(np.count_nonzero(board.stones)) + board.captured(BLACK) + board.captured(WHITE)
        moves = max(placed, len(self.game.moves)) // 2
        late = 0.0 if self.asked is None else time.monotonic() - self.asked
        seconds = self.clock.seconds_for_move(color, size=self.game.size, moves=moves, late=late)
        if seconds is None:
            return self.limit
        given = self.limit.seconds
        return replace(self.limit, seconds=seconds if given is None else min(given, seconds))


def play_tolerantly(game: Game, move: int, color: int, tolerated: Collection[Illegality]) -> None:
    """Play what any rules allow, if ours forbid it for one of these reasons."""
    if game.why_illegal(move, color) not in tolerated:
        game.play(move, color)
        return
    rules = game.rules
    game.rules = replace(rules, ko=KoRule.SIMPLE, suicide=True)
    try:
        game.play(move, color)
    finally:
        game.rules = rules


def _read(parse: Callable[[], T], message: str = "") -> T:
    try:
        return parse()
    except (ValueError, OverflowError) as error:
        raise GtpError(f"syntax error: {message or error}") from None


def read_color(text: str) -> int:
    return _read(lambda: parse_color(text))


def read_move(text: str, size: int) -> int:
    """A vertex or pass."""
    return _read(lambda: parse_vertex(text, size))


def read_point(text: str, size: int) -> int:
    """A vertex that is not pass."""
    point = read_move(text, size)
    if point < 0:
        raise GtpError("syntax error: pass is not a point")
    return point


def read_int(text: str) -> int:
    """An integer of at most nine digits: nothing in GTP needs more."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
        raise GtpError(f"syntax error: {text[:40]!r} is not an integer")
    return int(text)


def read_float(text: str) -> float:
    """A number in decimal notation; nan and infinity are read too, and left to whoever knows the range."""
    if len(text) > 40 or not text.isascii() or "_" in text:
        raise GtpError(f"syntax error: {text[:40]!r} is not a number")
    return _read(lambda: float(text), f"{text!r} is not a number")


def read_bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise GtpError(f"syntax error: {text!r} is neither true nor false")
    return text.lower() == "true"
