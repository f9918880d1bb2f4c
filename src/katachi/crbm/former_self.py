"""Games of a learner against its frozen former self, the way to get better once records have taught what they can.

The learner explores less and less; its former self explores as it did, and is the same in all games, or renewed after
every so many. Both chains of afterstates teach. A game that reaches ``move_cap`` has no winner: it teaches what its
boards tell of each other, and no result. Games of good players take about a hundred moves on 9×9, as nobody passes
before he has to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from pydantic import Field

from katachi.core.contracts import Evaluator, Limit
from katachi.crbm.linear_td import LinearTdSettings
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, WHITE
from katachi.go.rules import MAX_KOMI, Rules
from katachi.search.one_ply import GreedySearch
from katachi.search.settings import GreedySettings


class FormerSelfSettings(LinearTdSettings):
    """How a learner plays against its former self."""

    self_play: int = Field(default=0, ge=0)  # games
    renewed_every: int | None = Field(default=None, ge=1)  # games, after which the learner of then is the former self
    epsilon: float = Field(default=0.1, ge=0, le=1)  # of the former self, and of the learner at first
    final_epsilon: float = Field(default=0.01, ge=0, le=1)  # of the learner in the last game
    average_from: float = Field(default=1.0, ge=0, le=1)  # the share of these games after which weights are averaged
    fills_eyes: bool = False
    move_cap: int = Field(default=200, ge=1)
    komi: float = Field(default=5.5, ge=-MAX_KOMI, le=MAX_KOMI)

    def epsilon_at(self, game: int) -> float:
        """How often the learner explores in a game from 0 on: linearly less."""
        done = game / max(1, self.self_play - 1)
        return self.epsilon + done * (self.final_epsilon - self.epsilon)


class PlayedGame(NamedTuple):
    """A game to learn from."""

    afterstates: list[Board]
    winner: int | None  # None if it reached the cap
    learner_color: int

    @property
    def learner_won(self) -> bool:
        return self.winner == self.learner_color


def play_former_self(
    learner: Evaluator, former: Evaluator, settings: FormerSelfSettings, size: int, number: int, seed: int
) -> PlayedGame:
    """Game ``number`` of the two, one ply deep; the learner is Black in even ones."""
    rng = np.random.default_rng((seed, number))
    learner_color = BLACK if number % 2 == 0 else WHITE
    searches = {
        learner_color: _new_search(learner, settings.epsilon_at(number), settings),
        -learner_color: _new_search(former, settings.epsilon, settings),
    }
    game = Game(size, Rules(komi=settings.komi))
    afterstates: list[Board] = []
    while not game.is_over and len(afterstates) < settings.move_cap:
        game.play(searches[game.to_play].search(game, Limit(), rng).move)
        afterstates.append(_snapshot(game.board))
    return PlayedGame(afterstates, int(np.sign(game.score())) if game.is_over else None, learner_color)


def _new_search(evaluator: Evaluator, epsilon: float, settings: FormerSelfSettings) -> GreedySearch:
    return GreedySearch(evaluator, GreedySettings(epsilon=epsilon, fills_eyes=settings.fills_eyes))


def _snapshot(board: Board) -> Board:
    """The board as it is now; nobody will undo it."""
    twin = Board(board.size)
    twin.record = board.record.copy()
    return twin
