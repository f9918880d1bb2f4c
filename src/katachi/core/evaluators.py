"""Adapters that complete a partial model into an ``Evaluator``.

A learned thing often gives half of what an evaluator says: a value without a policy, a policy without a value, or who
will own each point. Each class here adds the other half in the plainest way. Boards know no komi: where a value
depends on it, the adapter is given it.

>>> flat = ValueEvaluator(lambda boards: np.full(len(boards), 0.5, dtype=np.float32))
>>> evaluation = flat.evaluate([Board(3)])
>>> float(evaluation.black_wins[0]), evaluation.policy.round(2).tolist()
(0.5, [[0.10..., ...]])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import (
    AfterstateEvaluator,
    Doubles,
    Evaluation,
    Evaluator,
    Floats,
    Ints,
    Outcome,
    OutcomeEvaluator,
)
from katachi.go.board import Board, legal_moves_of
from katachi.go.playouts import run_playouts
from katachi.go.points import BLACK, PASS
from katachi.go.rules import DEFAULT_KOMI

BoardValues = Callable[[Sequence[Board]], Floats]  # P(Black wins), [B]
BoardPolicies = Callable[[Sequence[Board]], Floats]  # not negative, [B, n²+1]; illegal moves need not be 0
BoardOwnership = Callable[[Sequence[Board]], Floats]  # [B, n²] in [−1, 1]

DEFAULT_TEMPERATURE: Final = 0.02  # a move that wins two percent less often is e times less likely


class WrongBoardSize(ValueError):
    """A board of a size that an evaluator cannot evaluate."""


def evaluate_outcomes(evaluator: Evaluator, boards: Sequence[Board]) -> tuple[Evaluation, Outcome | None]:
    """What an evaluator says of boards, with their outcomes if it knows them."""
    if isinstance(evaluator, OutcomeEvaluator):
        return evaluator.evaluate_outcomes(boards)
    return evaluator.evaluate(boards), None


def count_owners(ownership: NDArray[Any], owners: NDArray[np.int8]) -> tuple[Ints, Ints]:
    """On how many points of each board the more probable owner is the one in the end, and how many have one, [B] each.

    The first is ownership accuracy when it is divided by the second: points that nobody owned do not count.
    """
    return np.asarray((ownership * owners > 0).sum(axis=1)), np.asarray((owners != 0).sum(axis=1))


# Afterstates


def moves_of(legal: NDArray[np.bool_]) -> list[int]:
    """The moves that a mask [n²+1] allows; its last entry is the pass."""
    return [PASS if move == legal.size - 1 else move for move in np.flatnonzero(legal).tolist()]


def after(board: Board, move: int) -> Board:
    """The board after a move; the board itself stays as it was."""
    child = board.copy()
    child.play(move)
    return child


def sweep_afterstates(evaluator: Evaluator, board: Board) -> Doubles:
    """P(Black wins) after each legal move, [n²+1], NaN elsewhere: the evaluator's own sweep, or else move by move."""
    if isinstance(evaluator, AfterstateEvaluator):
        return evaluator.evaluate_afterstates(board)
    return _sweep(lambda boards: evaluator.evaluate(boards).black_wins, board)


def _sweep(values: BoardValues, board: Board) -> Doubles:
    legal = board.legal_moves()
    sweep = np.full(legal.size, np.nan)
    sweep[legal] = values([after(board, move) for move in moves_of(legal)])
    return sweep


def softmax_policy(sweep: Doubles, to_play: int, temperature: float) -> Floats:
    """A Gibbs policy over a sweep of afterstates: moves in proportion to e^(share of wins / temperature), [n²+1]."""
    wins = np.where(np.isnan(sweep), -np.inf, to_play * sweep)
    weights = np.exp((wins - wins.max()) / temperature)
    policy: Floats = (weights / weights.sum()).astype(np.float32)
    return policy


def check_temperature(temperature: float) -> float:
    """Return a temperature that a softmax can use, else raise ValueError."""
    if not 0 < temperature < np.inf:
        raise ValueError(f"a temperature of {temperature} is not above 0")
    return temperature


class CompiledValue:
    """A value in compiled code, with what searches ask of it; ``compiled`` is the module that has its kernels."""

    compiled: Any
    parameters: tuple[NDArray[np.int32], Floats]  # what the kernels take besides boards

    if TYPE_CHECKING:

        def _check_board(self, board: Board) -> None:
            """Raise WrongBoardSize where the kernels would read beyond the board."""

    @property
    def kernel(self) -> Any:
        """``kernel(records, parameters)``: P(Black wins) on ``records[0]``."""
        return self.compiled.value

    @property
    def sweep_kernel(self) -> Any:
        """``sweep_kernel(records, parameters, values)``: the same after each move, NaN where it is illegal."""
        return self.compiled.sweep

    def evaluate_afterstates(self, board: Board) -> Doubles:
        """P(Black wins) after each move that is legal under simple ko, [n²+1]; NaN elsewhere."""
        return self._run(self.compiled.sweep, board)

    def afterstate_log_odds(self, board: Board) -> Doubles:
        """The log-odds of Black after each such move, [n²+1]; NaN elsewhere."""
        return self._run(self.compiled.sweep_log_odds, board)

    def _run(self, sweep: Any, board: Board) -> Doubles:
        self._check_board(board)
        values = np.empty(board.size**2 + 1)
        sweep(board.record, self.parameters, values)
        return values


# The adapters


class ValueEvaluator:
    """A value alone: its policy is a softmax over the afterstates."""

    def __init__(self, values: BoardValues, temperature: float = DEFAULT_TEMPERATURE) -> None:
        self._values = values
        self._temperature = check_temperature(temperature)

    def evaluate(self, boards: Sequence[Board]) -> Evaluation:
        """The values of the boards, and of their afterstates as a policy."""
        policies = [
            softmax_policy(self.evaluate_afterstates(board), board.to_play, self._temperature) for board in boards
        ]
        return Evaluation(self._values(boards), np.stack(policies))

    def evaluate_afterstates(self, board: Board) -> Doubles:
        """P(Black wins) after each legal move, [n²+1]; NaN elsewhere."""
        return _sweep(self._values, board)


class PolicyEvaluator:
    """A policy alone: its value is one half, or what ``values`` says (``PlayoutValue``, a territory model …)."""

    def __init__(self, policies: BoardPolicies, values: BoardValues | None = None) -> None:
        self._policies = policies
        self._values = values or _one_half

    def evaluate(self, boards: Sequence[Board]) -> Evaluation:
        """The policy over legal moves alone; where it allows none of them, they are all alike."""
        legal = legal_moves_of(boards)
        policy = np.where(legal, self._policies(boards), 0.0)
        totals = policy.sum(axis=1, keepdims=True)
        policy = np.where(totals > 0, policy, legal) / np.where(totals > 0, totals, legal.sum(axis=1, keepdims=True))
        return Evaluation(self._values(boards), policy.astype(np.float32))


def _one_half(boards: Sequence[Board]) -> Floats:
    return np.full(len(boards), 0.5, dtype=np.float32)


class PlayoutValue:
    """The share of random playouts that Black wins. The same board and seed have the same value, in any batch."""

    def __init__(self, playouts: int = 100, komi: float = DEFAULT_KOMI, seed: int = 0) -> None:
        self._playouts = playouts
        self._komi = komi
        self._seed = seed

    def __call__(self, boards: Sequence[Board]) -> Floats:
        """P(Black wins), [B]."""
        return np.array([self._value(board) for board in boards], dtype=np.float32)

    def _value(self, board: Board) -> float:
        seed = (board.hash + 2 * self._seed + (board.to_play == BLACK)) % (1 << 63)
        return run_playouts(board, self._playouts, seed, self._komi).black_wins


class OwnershipValueEvaluator(ValueEvaluator):
    """Ownership alone: the value is a logistic of the expected score less komi, as sharp as ``points`` is small."""

    def __init__(
        self,
        owners: BoardOwnership,
        komi: float = DEFAULT_KOMI,
        points: float = 5.0,
        temperature: float = DEFAULT_TEMPERATURE,
    ) -> None:
        super().__init__(self._expected_wins, temperature)
        self._owners = owners
        self._komi = komi
        self._points = check_temperature(points)

    def ownership(self, boards: Sequence[Board]) -> Floats:
        """Who will own each point, [B, n²]; +1 is Black's."""
        return self._owners(boards)

    def _expected_wins(self, boards: Sequence[Board]) -> Floats:
        lead = self._owners(boards).sum(axis=1, dtype=np.float64) - self._komi
        wins: Floats = (1 / (1 + np.exp(-lead / self._points))).astype(np.float32)
        return wins
