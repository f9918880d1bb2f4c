"""A logistic-linear value over any feature set: P(the player who has just moved wins) = σ(Σ occurrences · weights).

Over local shapes up to 3×3, alone or with tabled liberty shapes up to 2×2, the model is *fused*
(``shapes/models_fused.py``) and compiled: it values a board by one look-up a window and an afterstate by those
windows that change. Features that can sum themselves over all afterstates (``SweepingFeatures``) are asked to; over
others it goes through ``active``. The policy is a softmax over the afterstates.

Silver, Sutton and Müller 2007, section 3: the value is the chance of the player who has just moved, who sees his own
stones as black; ``black_wins`` turns that around where it was White.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np

from katachi.core.contracts import Doubles, Evaluation, FeatureSet, Floats
from katachi.core.evaluators import (
    DEFAULT_TEMPERATURE,
    WrongBoardSize,
    after,
    check_temperature,
    moves_of,
    softmax_policy,
)
from katachi.features.kernels.logistic import logistic, make_shares
from katachi.go.board import Board
from katachi.shapes.features import LocalShapes
from katachi.shapes.kernels import liberty_model as _linear_liberty
from katachi.shapes.kernels import model as _linear
from katachi.shapes.liberty import CombinedShapes
from katachi.shapes.models_fused import Parameters, can_fuse, fuse

_WEIGHTS_SHOWN: Final = 10


@runtime_checkable
class SweepingFeatures(FeatureSet, Protocol):
    """Features that know what a move changes in them."""

    def sum_afterstates(self, board: Board, weights: Floats) -> Doubles:
        """Σ occurrences · weights after each move that is legal under simple ko, [n²+1]; NaN elsewhere."""
        ...


class LinearModel:
    """A weight for each feature. Meets ``LogOddsEvaluator``; like ``pathlib.Path`` it makes the fast kind it can."""

    def __new__(cls, features: FeatureSet, weights: Floats, temperature: float = DEFAULT_TEMPERATURE) -> LinearModel:  # noqa: ARG004
        """A ``FusedLinearModel`` where the features allow it."""
        return super().__new__(FusedLinearModel if cls is LinearModel and can_fuse(features) else cls)

    def __init__(self, features: FeatureSet, weights: Floats, temperature: float = DEFAULT_TEMPERATURE) -> None:
        weights = np.asarray(weights, dtype=np.float32)
        if weights.shape != (features.size,):
            raise ValueError(f"{features.name}: {features.size} weights are needed, not {list(weights.shape)}")
        if not np.isfinite(weights).all():
            raise ValueError(f"{features.name}: some of the weights are no numbers")
        self.features = features
        self.weights = weights
        self.temperature = check_temperature(temperature)
        self._sweeping = features if isinstance(features, SweepingFeatures) else None

    def logit(self, board: Board) -> float:
        """The logit of the player who has just moved."""
        self._check_board(board)
        return self._logit(board)

    def evaluate(self, boards: Sequence[Board]) -> Evaluation:
        """The value of each board, and the values of its afterstates as a policy."""
        wins = [logistic(-board.to_play * self.logit(board)) for board in boards]
        policies = [
            softmax_policy(self.evaluate_afterstates(board), board.to_play, self.temperature) for board in boards
        ]
        return Evaluation(np.array(wins, dtype=np.float32), np.stack(policies))

    def evaluate_afterstates(self, board: Board) -> Doubles:
        """P(Black wins) after each move that is legal under simple ko, [n²+1]; NaN elsewhere."""
        values = self.afterstate_log_odds(board)
        make_shares(values, values.size)
        return values

    def afterstate_log_odds(self, board: Board) -> Doubles:
        """The log-odds of Black after each such move, [n²+1]; NaN elsewhere."""
        self._check_board(board)
        if self._sweeping is not None:
            return board.to_play * self._sweeping.sum_afterstates(board, self.weights)
        legal = board.legal_moves()
        values = np.full(legal.size, np.nan)
        for move in moves_of(legal):
            values[move] = board.to_play * self._logit(after(board, move))
        return values

    def _logit(self, board: Board) -> float:
        indices, occurrences = self.features.active(board)
        return float(self.weights[indices].astype(np.float64) @ occurrences)

    def _repr_html_(self) -> str:
        """The largest weights, for notebooks."""
        largest = np.argsort(-np.abs(self.weights), kind="stable")[:_WEIGHTS_SHOWN].tolist()
        cells = [(f"{self.weights[index]:+.3f}", self.features.describe(index)) for index in largest]
        rows = "".join(f"<tr><td>{weight}</td><td><pre>{escape(words)}</pre></td></tr>" for weight, words in cells)
        count = int(np.count_nonzero(self.weights))
        return f"<p>{escape(self.features.name)}: {count:,} weights, the largest of them</p><table>{rows}</table>"

    def _check_board(self, board: Board) -> None:
        size = getattr(self.features, "board_size", board.size)  # feature sets of any size have none
        if board.size != size:
            raise WrongBoardSize(f"this model judges {size}×{size} boards, not {board.size}×{board.size}")


class FusedLinearModel(LinearModel):
    """The model over shapes that can be fused, compiled. Meets ``CompiledEvaluator`` too; its sweep is compiled."""

    def __init__(self, features: FeatureSet, weights: Floats, temperature: float = DEFAULT_TEMPERATURE) -> None:
        super().__init__(features, weights, temperature)
        if not (isinstance(features, LocalShapes | CombinedShapes) and can_fuse(features)):
            raise ValueError(f"{features.name} do not all fit into 3×3 windows, or 2×2 windows with liberties")
        self._parameters = fuse(features, self.weights)
        self._kernels = _linear if isinstance(features, LocalShapes) else _linear_liberty

    @property
    def kernel(self) -> Any:
        """``kernel(records, parameters)``: P(Black wins) on ``records[0]``."""
        return self._kernels.value

    @property
    def sweep_kernel(self) -> Any:
        """``sweep_kernel(records, parameters, values)``: the same after each move, NaN where it is illegal."""
        return self._kernels.sweep

    @property
    def parameters(self) -> Parameters:
        """The fused tables; boards handed to the kernels must have their size."""
        return self._parameters

    def _logit(self, board: Board) -> float:
        return float(self._kernels.board_logit(board.record, self._parameters))

    def evaluate_afterstates(self, board: Board) -> Doubles:
        """P(Black wins) after each move that is legal under simple ko, [n²+1]; NaN elsewhere."""
        return self._run(self._kernels.sweep, board)

    def afterstate_log_odds(self, board: Board) -> Doubles:
        """The log-odds of Black after each such move, [n²+1]; NaN elsewhere."""
        return self._run(self._kernels.sweep_log_odds, board)

    def _run(self, sweep: Any, board: Board) -> Doubles:
        self._check_board(board)
        values = np.empty(board.size**2 + 1)
        sweep(board.record, self._parameters, values)
        return values
