"""One game between two players, with us as referee: our game is the truth, and each player is handed a copy of it.

A player who answers with an illegal move, fails or raises loses by forfeit, with the reason kept. A game that is not
over after ``max_moves`` decisions is stopped and scored as it stands. Time is measured around every decision; what
happens to a player who takes longer than its limit and the grace is a condition of the game.
"""

from __future__ import annotations

import operator
import time
from dataclasses import dataclass, field
from enum import Enum

from katachi.arena.referee import Referee, Verdict
from katachi.core.contracts import Limit, Player
from katachi.go.board import IllegalMove
from katachi.go.game import Game
from katachi.go.points import BLACK, WHITE, format_color
from katachi.go.results import GameResult, Reason


class Ending(Enum):
    """What ended a game."""

    PASSES = "passes"
    MOVE_LIMIT = "move limit"
    RESIGNATION = "resignation"
    ILLEGAL_MOVE = "illegal move"
    FAILURE = "failure"
    TIME = "time"

    @property
    def is_counted(self) -> bool:
        """Whether the board decides, and not what a player did."""
        return self in (Ending.PASSES, Ending.MOVE_LIMIT)

    @property
    def reason(self) -> Reason:
        return _REASONS[self]


_REASONS = {
    Ending.PASSES: Reason.SCORE,
    Ending.MOVE_LIMIT: Reason.SCORE,
    Ending.RESIGNATION: Reason.RESIGNATION,
    Ending.ILLEGAL_MOVE: Reason.FORFEIT,
    Ending.FAILURE: Reason.FORFEIT,
    Ending.TIME: Reason.TIME,
}


@dataclass(frozen=True, slots=True)
class Conditions:
    """What both players must keep to; the rules are the game's."""

    limit: Limit = field(default_factory=Limit)
    max_moves: int = 1000
    grace: float = 0.5  # seconds over the limit that are not counted as an overrun
    lose_on_time: bool = False


@dataclass(slots=True)
class TimeUse:
    """The time that a player took, in seconds, and how often it took more than it had."""

    moves: int = 0
    total: float = 0.0
    longest: float = 0.0
    overruns: int = 0

    def add(self, seconds: float, conditions: Conditions) -> bool:
        """Count one decision; returns whether it took too long."""
        limit = conditions.limit.seconds
        too_long = limit is not None and seconds > limit + conditions.grace
        self.moves += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)
        self.overruns += too_long
        return too_long


@dataclass(slots=True)
class PlayedGame:
    """A game that has ended, but that may still have to be counted."""

    game: Game
    ending: Ending = Ending.PASSES
    loser: int | None = None  # the color that lost by what it did; None if the board decides
    detail: str = ""  # what the loser did
    time_use: dict[int, TimeUse] = field(default_factory=lambda: {BLACK: TimeUse(), WHITE: TimeUse()})

    def lost_by(self, color: int, ending: Ending, detail: str = "") -> PlayedGame:
        self.loser, self.ending, self.detail = color, ending, detail
        return self

    def judged_by(self, referee: Referee) -> Verdict:
        """The verdict of the referee, or what the loser did."""
        if self.loser is None:
            return referee.judge(self.game)
        return Verdict(GameResult(-self.loser, None, self.ending.reason))


def play_game(black: Player, white: Player, game: Game, conditions: Conditions) -> PlayedGame:
    """Let two players finish a game, which is changed; never raises because of what a player does."""
    players = {BLACK: black, WHITE: white}
    played = PlayedGame(game)
    for _ in range(conditions.max_moves):
        if game.is_over:
            return played
        if _ended_by_move(played, players[game.to_play], conditions):
            return played
    if not game.is_over:
        played.ending = Ending.MOVE_LIMIT
    return played


def _ended_by_move(played: PlayedGame, player: Player, conditions: Conditions) -> bool:
    """Let a player make one move; returns whether it ended the game at once."""
    game, color = played.game, played.game.to_play
    begin = time.perf_counter()
    try:
        decision = player.decide(game.copy(), conditions.limit)
        resigns, move = decision.resign, operator.index(decision.move)
    except Exception as error:  # noqa: BLE001  # whatever a player raises is its own fault and costs it the game
        played.lost_by(color, Ending.FAILURE, _failure(player, error))
        return True
    if played.time_use[color].add(time.perf_counter() - begin, conditions) and conditions.lose_on_time:
        played.lost_by(color, Ending.TIME, f"{player.name} took {played.time_use[color].longest:.2f} s for a move")
        return True
    if resigns:
        game.resign(color)
        played.lost_by(color, Ending.RESIGNATION)
        return True
    return _is_illegal(played, player, move)


def _is_illegal(played: PlayedGame, player: Player, move: int) -> bool:
    """Play a move, if the rules allow it; it costs the game if they do not."""
    game, color = played.game, played.game.to_play
    try:
        game.play(move)
    except IllegalMove as error:
        which = f"move {len(game.moves) + 1} by {format_color(color)}"
        played.lost_by(color, Ending.ILLEGAL_MOVE, f"{player.name} answered {error} ({which})")
        return True
    return False


def _failure(player: Player, error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{player.name}: {type(error).__name__}" + (f": {text}" if text else "")
