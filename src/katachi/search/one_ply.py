"""One ply: value the board after each sensible move and take the best, or nearly.

With probability ``epsilon`` the move is uniformly random; else, at a ``temperature`` above 0, it is drawn in
proportion to e^(share of wins / temperature) (Gibbs); else it is the best, at random among equals. In a game that is
won for certain the best is found by its log-odds. Superko is respected. ``fills_eyes`` lets it consider what is not
sensible, too, and ``may_pass`` the pass where there are other moves.
"""

from __future__ import annotations

import numpy as np

from katachi.core.contracts import Doubles, Evaluator, Limit, LogOddsEvaluator
from katachi.core.evaluators import softmax_policy, sweep_afterstates
from katachi.features.kernels.logistic import make_shares
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import PASS
from katachi.search.moves import legal_root_moves, root_moves
from katachi.search.results import SweepResult
from katachi.search.settings import GreedySettings


class GreedySearch:
    """One ply over any evaluator. One that sweeps its afterstates answers fastest. No limit changes anything."""

    def __init__(self, evaluator: Evaluator, settings: GreedySettings | None = None) -> None:
        self._evaluator = evaluator
        self._log_odds = evaluator.afterstate_log_odds if isinstance(evaluator, LogOddsEvaluator) else None
        self._settings = settings or GreedySettings()

    @property
    def evaluator(self) -> Evaluator:
        return self._evaluator

    @property
    def settings(self) -> GreedySettings:
        return self._settings

    def with_settings(self, settings: GreedySettings) -> GreedySearch:
        """The same search with other settings."""
        return GreedySearch(self._evaluator, settings)

    def search(self, game: Game, limit: Limit, rng: np.random.Generator) -> SweepResult:  # noqa: ARG002 (one ply needs none)
        """Choose a move; each one considered counts as one visit."""
        considered = legal_root_moves(game) if self._settings.fills_eyes else root_moves(game)
        considered[-1] |= self._settings.may_pass
        sweep, order = self._sweep(game.board)
        sweep = np.where(considered, sweep, np.nan)
        index = self._choose(game.to_play, sweep, order, rng)
        move = PASS if index == sweep.size - 1 else index
        return SweepResult(move, float(sweep[index]), considered.astype(np.int64), (move,), sweep)

    def _sweep(self, board: Board) -> tuple[Doubles, Doubles]:
        """P(Black wins) after each move, and what tells moves apart: the same, or log-odds if they are known."""
        if self._log_odds is None:
            sweep = sweep_afterstates(self._evaluator, board)
            return sweep, sweep
        log_odds = self._log_odds(board)
        shares = log_odds.copy()
        make_shares(shares, shares.size)
        return shares, log_odds

    def _choose(self, to_play: int, sweep: Doubles, order: Doubles, rng: np.random.Generator) -> int:
        considered = np.flatnonzero(~np.isnan(sweep))
        if self._settings.epsilon and rng.random() < self._settings.epsilon:
            return int(rng.choice(considered))
        if self._settings.temperature:
            policy = softmax_policy(sweep, to_play, self._settings.temperature).astype(np.float64)
            return int(rng.choice(sweep.size, p=policy / policy.sum()))
        values = to_play * order[considered]
        return int(rng.choice(considered[values == values.max()]))
