"""What people would play: a move predictor asked about players of several ranks."""

from __future__ import annotations

from typing import Final, NamedTuple

from katachi.core.contracts import Floats
from katachi.core.evaluators import moves_of
from katachi.features.planes import HIGHEST_RANK
from katachi.go.board import Board
from katachi.policy.evaluator import CnnEvaluator, knows_ranks

MOVES_TOLD: Final = 3


class Prediction(NamedTuple):
    """What players of a dan rank would play, [n²+1]; rank None where the network was not told of ranks."""

    rank: int | None
    policy: Floats

    def best(self, count: int = MOVES_TOLD) -> list[tuple[int, float]]:
        """The likeliest moves and their shares, likeliest first."""
        moves = sorted(moves_of(self.policy > 0), key=lambda move: -self.policy[move])[:count]
        return [(move, float(self.policy[move])) for move in moves]


def at_rank(evaluator: CnnEvaluator, rank: int) -> CnnEvaluator:
    """The same network asked about players of another dan rank; as it is if it knows no ranks."""
    if not knows_ranks(evaluator.config):
        return evaluator
    options = evaluator.options.model_copy(update={"rank": rank})
    return type(evaluator)(evaluator.config, evaluator.network, options)


def predict_people(evaluator: CnnEvaluator, board: Board) -> list[Prediction]:
    """What a first dan and a ninth dan would play, or people in general if the network knows no ranks."""
    ranks = (1, HIGHEST_RANK) if knows_ranks(evaluator.config) else (None,)
    asked = [(rank, evaluator if rank is None else at_rank(evaluator, rank)) for rank in ranks]
    return [Prediction(rank, network.evaluate([board]).policy[0]) for rank, network in asked]
