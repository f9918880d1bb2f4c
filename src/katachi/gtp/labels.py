"""GTP programs that say which stones are dead at the end of a game: a source of labels for ``data.labeling``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Lock, local
from typing import Final

import numpy as np

from katachi.data.dataset import Answer, AnswerSource
from katachi.data.labeling import CheckedLabel, FinalGame, check_ownership, ownership_by_status
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, WHITE
from katachi.gtp.client import EngineFailure, GtpPlayer
from katachi.gtp.protocol import GtpError

DEFAULT_ENGINE: Final = "gnugo --mode gtp --level 1"  # a higher level takes longer and agrees no more often
DEFAULT_SECONDS: Final = 30.0


class Engines:
    """A GTP program that answers ``final_status_list``, one process for each thread that asks.

    ``seconds`` is the most that an answer may take. A process that hangs, dies or talks nonsense is ended; the next
    game that its thread asks about starts another.
    """

    source = AnswerSource.GNUGO

    def __init__(self, command: str = DEFAULT_ENGINE, seconds: float = DEFAULT_SECONDS) -> None:
        self._command = command
        self._seconds = seconds
        self._mine = local()
        self._all: list[GtpPlayer] = []
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[Engines], tuple[str, float]]:
        """Programs do not travel: where this arrives, it starts its own."""
        return Engines, (self._command, self._seconds)

    def check(self) -> None:
        """Raise EngineFailure if the program cannot be started, or cannot tell what is dead."""
        try:
            self._engine().final_status_list(Game(9), "dead")
        except EngineFailure:
            raise
        except GtpError as error:
            raise EngineFailure(f"{self._command} does not say which stones are dead: {error}") from None

    def label(self, final: FinalGame) -> CheckedLabel:
        engine = self._engine()
        game = _as_set_up(final.board)
        try:
            dead = engine.final_status_list(game, "dead")
            label = check_ownership(final, ownership_by_status(final, dead, ()))
            if label.answer is Answer.DISAGREES:
                seki = engine.final_status_list(game, "seki")
                label = check_ownership(final, ownership_by_status(final, dead, seki))
        except ValueError:  # a GtpError, or points where no stone is
            return CheckedLabel(Answer.FAILED)
        return label

    def describe(self) -> str:
        return f"{self._command}, at most {self._seconds:g} s for an answer"

    def close(self) -> None:
        """End all processes, at once."""
        with ThreadPoolExecutor(max(1, len(self._all))) as pool:
            list(pool.map(GtpPlayer.close, self._all))
        self._all.clear()

    def _engine(self) -> GtpPlayer:
        if not hasattr(self._mine, "engine"):
            self._mine.engine = GtpPlayer(self._command, timeout=self._seconds, move_timeout=self._seconds)
            with self._lock:
                self._all.append(self._mine.engine)
        engine: GtpPlayer = self._mine.engine
        return engine


def _as_set_up(board: Board) -> Game:
    """A game with the stones alone: what they are worth does not depend on how they came there."""
    game = Game(board.size)
    stones = board.stones
    black, white = (np.flatnonzero(stones == color).tolist() for color in (BLACK, WHITE))
    game.setup(black=black, white=white, to_play=BLACK)  # with White to play, black stones alone would be a handicap
    return game
