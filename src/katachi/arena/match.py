"""One game between two players: who counts it, where it begins, and what may go wrong.

Our game is the truth, and each player is handed a copy of it. A player who answers with an illegal move, fails or
raises loses by forfeit, with the reason kept. A game that is not over after ``max_moves`` decisions is stopped and
scored as it stands. Time is measured around every decision; what happens to a player who takes longer than its limit
and the grace is a condition of the game.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from katachi.arena.settings import GTP_PREFIX, OpeningError
from katachi.core.contracts import Limit, Player
from katachi.core.disk import read_regular
from katachi.go.board import Board, IllegalMove
from katachi.go.game import Game, Play, Step
from katachi.go.points import BLACK, PASS, WHITE, GameResult, Reason, format_color, format_vertex, inner_points
from katachi.go.rules import Rules
from katachi.go.scoring import estimate_status
from katachi.gtp import GtpError, GtpPlayer
from katachi.sgf import SgfError, SgfGame, parse_sgf
from katachi.sgf.repairs import DEFAULT_LIMITS

# Who counts a finished game: our own estimate of the dead stones, plain counting, or a GTP program.
#
# ``estimate`` takes off the stones that playouts hold for dead, as people do by agreement. ``count`` takes every stone
# for alive, which is right for players who play everything out, and is what Tromp and Taylor's rules say.


class Verdict(NamedTuple):
    """The result of a count, and the stones that were taken for dead (None: the referee does not say)."""

    result: GameResult
    dead: tuple[int, ...] | None = ()


class Referee(Protocol):
    """Counts games; ``close`` lets go of what it holds."""

    @property
    def name(self) -> str: ...

    def count(self, game: Game) -> Verdict: ...

    def close(self) -> None: ...


class CountReferee:
    """Takes every stone for alive."""

    name = "count"

    def count(self, game: Game) -> Verdict:
        return Verdict(GameResult.by_score(game.score()))

    def close(self) -> None:
        """Nothing is held."""


class EstimateReferee(CountReferee):
    """Takes off the stones that playouts hold for dead; the same board always gives the same verdict."""

    name = "estimate"

    def count(self, game: Game) -> Verdict:
        if is_settled(game.board):
            return super().count(game)
        fate = estimate_status(game.board)
        result = GameResult.by_score(game.score(fate.dead_stones, fate.seki_stones))
        return Verdict(result, tuple(fate.dead_stones))


class GtpReferee:
    """Asks a GTP program; raises GtpError if it cannot say."""

    def __init__(self, command: str) -> None:
        self._player = GtpPlayer(command)

    @property
    def name(self) -> str:
        return self._player.name

    def count(self, game: Game) -> Verdict:
        result = self._player.final_score(game)
        try:
            return Verdict(result, tuple(sorted(self._player.final_status_list(game, "dead"))))
        except GtpError:
            return Verdict(result, None)

    def close(self) -> None:
        self._player.close()


def load_referee(text: str) -> Referee:
    """The referee that ``estimate``, ``count`` or ``gtp:COMMAND`` stands for."""
    if text.startswith(GTP_PREFIX):
        return GtpReferee(text.removeprefix(GTP_PREFIX))
    return CountReferee() if text == "count" else EstimateReferee()


def is_settled(board: Board) -> bool:
    """Whether neither side has a legal move outside its own eyes: playouts would end at once, all stones standing."""
    return all(
        board.is_own_eye(point, color)
        for color in (BLACK, WHITE)
        for point in np.flatnonzero(board.legal_moves(color)[:-1]).tolist()
    )


def explain_difference(game: Game, ours: Verdict, theirs: Verdict) -> str:
    """What two verdicts on one game differ in: the stones that only one of them holds for dead, and what that makes."""
    if theirs.dead is None or ours.dead is None:
        return "the dead stones are not known"
    if set(ours.dead) == set(theirs.dead):
        return "both hold the same stones for dead"
    only_ours, only_theirs = set(ours.dead) - set(theirs.dead), set(theirs.dead) - set(ours.dead)
    dead = f"dead only here: {_vertices(only_ours, game.size)}; dead only there: {_vertices(only_theirs, game.size)}"
    recount = GameResult.by_score(game.score(theirs.dead))
    explained = "which explains it" if recount == theirs.result else f"which alone would make it {recount}"
    in_atari = {point for point in only_ours | only_theirs if game.board.liberty_count(point) == 1}
    left = f"; the players left {_vertices(in_atari, game.size)} in atari" if in_atari else ""
    return f"{dead}; {explained}{left}"


def _vertices(points: set[int], size: int) -> str:
    return " ".join(format_vertex(point, size) for point in sorted(points)) or "none"


# One game.


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
        if self.is_counted:
            return Reason.SCORE
        return {Ending.RESIGNATION: Reason.RESIGNATION, Ending.TIME: Reason.TIME}.get(self, Reason.FORFEIT)


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
    error: Exception | None = None  # that the loser raised
    time_use: dict[int, TimeUse] = field(default_factory=lambda: {BLACK: TimeUse(), WHITE: TimeUse()})

    def lose(self, color: int, ending: Ending, detail: str = "") -> bool:
        """Note that a color has lost by what it did; True, since that ends the game."""
        self.loser, self.ending, self.detail = color, ending, detail
        return True

    def verdict(self, referee: Referee) -> Verdict:
        """The verdict of the referee, or what the loser did."""
        if self.loser is None:
            return referee.count(self.game)
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
        text = " ".join(str(error).split())
        detail = f"{player.name}: {type(error).__name__}" + (f": {text}" if text else "")
        played.error = error
        return played.lose(color, Ending.FAILURE, detail)
    if played.time_use[color].add(time.perf_counter() - begin, conditions) and conditions.lose_on_time:
        seconds = played.time_use[color].longest
        return played.lose(color, Ending.TIME, f"{player.name} took {seconds:.2f} s for a move")
    if resigns:
        game.resign(color)
        return played.lose(color, Ending.RESIGNATION)
    try:
        game.play(move)
    except IllegalMove as error:
        which = f"move {len(game.moves) + 1} by {format_color(color)}"
        return played.lose(color, Ending.ILLEGAL_MOVE, f"{player.name} answered {error} ({which})")
    return False


# Where games begin. Every opening is played twice, with the colors exchanged, so that a lopsided one favors neither.
#
# Openings are numbered; the number and the tournament's seed alone decide what is played, whatever was played before.
# All pairs of players meet the same openings.

_STREAM = 1  # keeps the random numbers of the openings apart from those of the players


@dataclass(frozen=True, slots=True)
class Opening:
    """The steps that lead to a starting position."""

    name: str = "empty board"
    steps: tuple[Step, ...] = ()

    def start(self, size: int, rules: Rules) -> Game:
        """A new game in the starting position; raises IllegalMove if the rules forbid a step."""
        return Game.of_steps(size, rules, self.steps)


@dataclass(frozen=True, slots=True)
class RandomOpenings:
    """Openings of some random legal moves that fill no eyes of their own; no plies is the empty board.

    A move on the first two lines is as good as a pass: ``from_line`` 3 has none of them, so that openings are balanced.
    """

    size: int
    rules: Rules
    plies: int
    seed: int
    from_line: int = 1

    def opening(self, number: int) -> Opening:
        if self.plies == 0:
            return Opening()
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(_STREAM, number)))
        game, inner = Game(self.size, self.rules), inner_points(self.size, self.from_line)
        for _ in range(self.plies):
            points = rng.permutation(np.flatnonzero(game.legal_moves()[:-1] & inner)).tolist()
            game.play(next((point for point in points if not game.board.is_own_eye(point, game.to_play)), PASS))
        # A small board can be full before the plies are over; then the players begin before the passes.
        return Opening(f"random {number + 1}", _without_passes(game.steps))


def _without_passes(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Steps up to the passes that end them: a game must not begin when it is over."""
    count = len(steps)
    while count and isinstance(last := steps[count - 1], Play) and last.move == PASS:
        count -= 1
    return tuple(steps[:count])


@dataclass(frozen=True, slots=True)
class OpeningBook:
    """Openings of a book in turn, from the first again when it is through."""

    openings: tuple[Opening, ...]

    def opening(self, number: int) -> Opening:
        return self.openings[number % len(self.openings)]


Openings = RandomOpenings | OpeningBook  # a numbered supply


def read_opening_book(path: Path, size: int, rules: Rules, plies: int | None = None) -> OpeningBook:
    """Every line of the game records of one board size in a file, variations included, up to ``plies`` moves.

    Raises OpeningError if the file cannot be read or has no game on a board of this size.
    """
    try:
        records = [record for record in parse_sgf(read_regular(path, DEFAULT_LIMITS.size)) if _has_size(record, size)]
        ends = [(record, node) for record in records for node in record.root.walk() if not node.children]
        lines = [_shortened(record.replay(node, rules=rules).steps, plies) for record, node in ends]
    except OSError as error:
        raise OpeningError(f"cannot read the opening book {path}: {error.strerror}") from None
    except SgfError as error:
        raise OpeningError(f"cannot read the opening book {path}: {error}") from None
    if not lines:
        raise OpeningError(f"the opening book {path} has no game on a {size}×{size} board")
    return OpeningBook(tuple(Opening(f"book {i + 1}", steps) for i, steps in enumerate(dict.fromkeys(lines))))


def _has_size(record: SgfGame, size: int) -> bool:
    try:
        return record.size == size
    except SgfError:  # a board that katachi does not have
        return False


def _shortened(steps: Sequence[Step], plies: int | None) -> tuple[Step, ...]:
    moves = accumulate(isinstance(step, Play) for step in steps)
    return _without_passes([step for step, count in zip(steps, moves, strict=True) if plies is None or count <= plies])
