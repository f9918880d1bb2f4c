"""Learning the weights of moves from game records, by minorisation–maximisation (Coulom 2007).

Every move of a game is a competition which the move played has won against all other sensible ones. A pass over all
choices gives the gammas of one group, the others fixed, and never lowers the likelihood; a virtual win and loss
against a move of strength 1 keep rare features near it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.go.board import Board
from katachi.go.game import Game, Play
from katachi.search.kernels import pattern_learning as kernels
from katachi.search.move_weights import MoveWeights, group_sizes
from katachi.search.patterns import number_patterns
from katachi.sgf.errors import SgfError
from katachi.sgf.record import SgfGame

ITERATIONS: Final = 12
_VIRTUAL: Final = 1.0  # wins, and as many losses


class Choices(NamedTuple):
    """Choices one after another: features [candidates, 4], the chosen move first, and where each choice starts."""

    features: NDArray[np.uint16]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return self.starts.size - 1


class Fit(NamedTuple):
    """How well weights foretell choices."""

    log_likelihood: float  # mean over choices, natural logarithm
    top_1: float


def list_choices(record: SgfGame, step: int, first: int) -> Choices:
    """Every ``step``-th choice of a game from ply ``first`` on; none if the game cannot be replayed."""
    try:
        board, moves = _split(record.replay())
    except SgfError:
        return join_choices([])
    plies = np.array([play.move for play in moves], dtype=np.int64)
    colors = np.array([play.color for play in moves], dtype=np.int8)
    most = len(moves) // step + 1
    features = np.empty((most * board.size**2, kernels.GROUPS), dtype=np.uint16)
    counts = np.zeros(most, dtype=np.int64)
    kernels.write_choices(board.record, plies, colors, first, step, number_patterns(), features, counts)
    starts = np.concatenate([[0], np.cumsum(counts[counts > 0])])
    return Choices(features[: starts[-1]].copy(), starts)


def join_choices(parts: Sequence[Choices]) -> Choices:
    """The choices of many games as one list."""
    features = np.concatenate([np.zeros((0, kernels.GROUPS), np.uint16), *(part.features for part in parts)])
    lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(part.starts) for part in parts)])
    return Choices(features, np.concatenate([[0], np.cumsum(lengths)]))


def _split(game: Game) -> tuple[Board, list[Play]]:
    """The board before the first move, and the moves up to the next set-up."""
    board, moves = Board(game.size), []
    for step in game.steps:
        if isinstance(step, Play):
            moves.append(step)
        elif moves:
            break
        else:
            board.place(step.black, step.white, step.empty)
    return board, moves


def judge(weights: MoveWeights, choices: Choices) -> Fit:
    """How well weights foretell these choices."""
    gammas, offsets = _flatten(weights)
    return Fit(*kernels.judge(choices.features, choices.starts, gammas, offsets))


def uniform_weights() -> MoveWeights:
    """All moves alike."""
    return MoveWeights(*(np.ones(size, dtype=np.float32) for size in group_sizes()))


def learn_weights(
    choices: Choices, iterations: int = ITERATIONS, watch: Callable[[float], None] = lambda _: None
) -> MoveWeights:
    """The weights that make these choices most probable, nearly; ``watch`` hears what share is done."""
    gammas, offsets = _flatten(uniform_weights())
    wins = [np.zeros(size) for size in group_sizes()]
    for group, counts in enumerate(wins):
        kernels.count_wins(choices.features, choices.starts, group, counts)
    for iteration in range(iterations):
        for group, counts in enumerate(wins):
            own = slice(offsets[group], offsets[group] + counts.size)
            shares = np.zeros(counts.size)
            kernels.add_shares(choices.features, choices.starts, gammas, offsets, group, shares)
            gammas[own] = (counts + _VIRTUAL) / (shares + 2 * _VIRTUAL / (gammas[own] + 1))
        watch((iteration + 1) / iterations)
    return MoveWeights(*(part.astype(np.float32) for part in np.split(gammas, offsets[1:])))


def _flatten(weights: MoveWeights) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    offsets = np.concatenate([[0], np.cumsum(group_sizes()[:-1])]).astype(np.int64)
    return np.concatenate(weights).astype(np.float64), offsets
