"""Who counts a finished game: our own estimate of the dead stones, plain counting, or a GTP program.

``estimate`` takes off the stones that playouts hold for dead, as people do by agreement. ``count`` takes every stone
for alive, which is right for players who play everything out, and is what Tromp and Taylor's rules say.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from katachi.arena.settings import GTP_PREFIX
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, WHITE, format_vertex
from katachi.go.results import GameResult
from katachi.go.status import estimate_status
from katachi.gtp import GtpError, GtpPlayer


class Verdict(NamedTuple):
    """The result of a count, and the stones that were taken for dead (None: the referee does not tell)."""

    result: GameResult
    dead: tuple[int, ...] | None = ()


class Referee(Protocol):
    """Counts games; ``close`` lets go of what it holds."""

    @property
    def name(self) -> str: ...

    def judge(self, game: Game) -> Verdict: ...

    def close(self) -> None: ...


class CountReferee:
    """Takes every stone for alive."""

    name = "count"

    def judge(self, game: Game) -> Verdict:
        return Verdict(GameResult.by_score(game.score()))

    def close(self) -> None:
        """Nothing is held."""


class EstimateReferee:
    """Takes off the stones that playouts hold for dead; the same board always gives the same verdict."""

    name = "estimate"

    def judge(self, game: Game) -> Verdict:
        if is_settled(game.board):
            return Verdict(GameResult.by_score(game.score()))
        fate = estimate_status(game.board)
        result = GameResult.by_score(game.score(fate.dead_stones, fate.seki_stones))
        return Verdict(result, tuple(fate.dead_stones))

    def close(self) -> None:
        """Nothing is held."""


class GtpReferee:
    """Asks a GTP program; raises GtpError if it cannot say."""

    def __init__(self, command: str) -> None:
        self._player = GtpPlayer(command)

    @property
    def name(self) -> str:
        return self._player.name

    def judge(self, game: Game) -> Verdict:
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
        return "the dead stones are not told"
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
