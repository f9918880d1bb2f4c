"""What a GTP session holds: the player, the game, the clocks, the folder for files. Players hold none of it.

Also the reading of arguments that commands share. Their errors begin as GTP has it: ``syntax error``.
"""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Final, TypeVar

import numpy as np

from katachi.core.contracts import Ban, Decision, Limit, Player, PonderingPlayer, PreparingPlayer
from katachi.go.game import Game, Step
from katachi.go.points import BLACK, WHITE, parse_color, parse_vertex
from katachi.go.rules import Rules
from katachi.gtp.protocol import GtpError
from katachi.players.asking import watch_decisions
from katachi.search.clock import Clock, TimeControl

SIZES: Final = range(2, 20)

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Session:
    """The state behind the commands. ``input_waiting`` is set when the controller has said something new.

    ``asked`` is the time since when the controller waits for the answer that is being given; None is now.
    """

    player: Player
    game: Game
    directory: Path
    limit: Limit = field(default_factory=Limit)
    clock: Clock = field(default_factory=Clock)
    input_waiting: Event = field(default_factory=Event)
    has_quit: bool = False
    asked: float | None = None
    ponders: bool = False
    _steps_to_ponder: list[Step] | None = None
    _prepared: set[int] = field(default_factory=set)  # sizes

    def new_game(self, size: int | None = None) -> None:
        """Begin again with the same rules and komi and the full time."""
        self.game = Game(self.game.size if size is None else size, self.game.rules)
        self.clock.restart()
        self._prepare()

    def _prepare(self) -> None:
        """Have the player load what it needs before its clock runs, and keep the garbage collector off all that.

        Compiled code comes with so many objects that to walk over them takes longer than the lag of a fast game.
        """
        size = self.game.size
        if isinstance(self.player, PreparingPlayer) and size not in self._prepared:
            self._prepared.add(size)
            with suppress(Exception):  # whatever is wrong, the first decision will say so
                self.player.prepare(size)
            gc.collect()
            gc.freeze()

    def set_rules(self, rules: Rules) -> None:
        """Play by these rules from now on; the komi stays."""
        self.game.rules = rules.with_komi(self.game.komi)

    def set_time(self, control: TimeControl) -> None:
        """Play by this time control, with full clocks."""
        self.clock = Clock(control, self.clock.lag)
        self._prepare()

    def decide(self, color: int) -> Decision:
        """Ask the player for a move of the game and charge its clock."""
        with self._charging(color) as limit:
            return self.player.decide(self.game_for(color), limit)

    def think(self, color: int, stop: Event, bans: Collection[Ban] = ()) -> Iterator[Decision]:
        """The same, watched: ever better decisions until the last, which comes soon after ``stop`` is set."""
        with self._charging(color) as limit:
            yield from watch_decisions(self.player, self.game_for(color), limit, stop, bans)

    @contextmanager
    def _charging(self, color: int) -> Iterator[Limit]:
        """Give the limit of a move, and charge the clock with what it took; not if it has failed."""
        begun, limit = time.monotonic(), self.move_limit(color)
        yield limit
        now = time.monotonic()
        asked = begun if self.asked is None else self.asked
        overrun = 0.0 if limit.seconds is None else now - begun - limit.seconds
        self.clock.spend(color, now - asked, overrun)

    def play_own(self, color: int, move: int) -> None:
        """Play a move of the player's; what the opponent may answer can be pondered."""
        self.game.play(move, color)
        self._steps_to_ponder = self.game.steps

    def ponder(self) -> None:
        """Let the player think until there is input, if it is told to, and has just moved in a game that goes on."""
        is_due = self.ponders and self.game.steps == self._steps_to_ponder and not self.game.is_over
        if not is_due or not isinstance(self.player, PonderingPlayer):
            return
        try:
            self.player.ponder(self.game.copy(), self.input_waiting)
        except Exception as error:  # noqa: BLE001 - what nobody has asked for must not end the session
            self.ponders = False
            _log.warning("%s ponders no more: %s: %s", self.player.name, type(error).__name__, error)

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
        raise GtpError("syntax error: pass is no point")
    return point


def read_int(text: str) -> int:
    """An integer of at most nine digits: nothing in GTP needs more."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
        raise GtpError(f"syntax error: {text[:40]!r} is no integer")
    return int(text)


def read_float(text: str) -> float:
    """A number in decimal notation; nan and infinity are read too, and left to whoever knows the range."""
    if len(text) > 40 or not text.isascii() or "_" in text:
        raise GtpError(f"syntax error: {text[:40]!r} is no number")
    return _read(lambda: float(text), f"{text!r} is no number")


def read_bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise GtpError(f"syntax error: {text!r} is neither true nor false")
    return text.lower() == "true"
