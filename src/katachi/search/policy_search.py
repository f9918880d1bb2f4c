"""No search at all: play what an evaluator's policy likes best, or draw from it.

Moves that fill an eye of one's own are never played, and superko is respected. It passes where nothing else is left,
or where the opponent has passed and counting now would win (Maddison et al. 2014 play their network so).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Doubles, Evaluator, Limit
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import PASS
from katachi.search.moves import is_won_without_dead_stones, opponent_has_passed, root_moves
from katachi.search.results import PolicyResult
from katachi.search.settings import PolicySettings


class PolicySearch:
    """Play by the policy of any evaluator. No limit changes anything."""

    def __init__(self, evaluator: Evaluator, settings: PolicySettings | None = None) -> None:
        self._evaluator = evaluator
        self._settings = settings or PolicySettings()

    @property
    def evaluator(self) -> Evaluator:
        return self._evaluator

    @property
    def settings(self) -> PolicySettings:
        return self._settings

    def with_settings(self, settings: PolicySettings) -> PolicySearch:
        """The same search with other settings."""
        return PolicySearch(self._evaluator, settings)

    def prepare(self, size: int) -> None:
        """Load what the first move on a board of that size would wait for; raises if it cannot judge such boards."""
        self._evaluator.evaluate([Board(size)])

    def search(self, game: Game, limit: Limit, rng: np.random.Generator) -> PolicyResult:  # noqa: ARG002 (it needs none)
        """Choose a move; each one considered counts as one visit."""
        black_wins, policy = self._evaluator.evaluate([game.board])
        considered = _considered(game)
        shares = np.where(considered, policy[0].astype(np.float64), 0)
        shares = shares if shares.any() else considered.astype(np.float64)
        priors = shares / shares.sum()
        index = int(rng.choice(priors.size, p=self._sharpen(priors)))
        move = PASS if index == priors.size - 1 else index
        return PolicyResult(move, float(black_wins[0]), considered.astype(np.int64), (move,), priors.astype(np.float32))

    def _sharpen(self, priors: Doubles) -> Doubles:
        """The probabilities by which to choose: priors to the power of 1 / temperature."""
        if self._settings.temperature == 0:
            weights = (priors == priors.max()).astype(np.float64)
        else:
            weights = (priors / priors.max()) ** (1 / self._settings.temperature)
        sharpened: Doubles = weights / weights.sum()
        return sharpened


def _considered(game: Game) -> NDArray[np.bool_]:
    """The moves to choose from, [n²+1]: the pass alone where it wins."""
    moves = root_moves(game)
    if opponent_has_passed(game) and is_won_without_dead_stones(game):
        moves[:-1], moves[-1] = False, True
    return moves
