"""Who judges: a player that looks ahead, evaluators that do not, or both.

A player says most: candidates with visits and variations, the score, who will own what. Where it is silent, or where
there is none, the evaluators are asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Final

import numpy as np

from katachi.core.contracts import (
    AfterstateEvaluator,
    Analysis,
    Candidate,
    Evaluator,
    Limit,
    OwnershipEvaluator,
    Player,
    TunablePlayer,
)
from katachi.core.evaluators import moves_of
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import PASS
from katachi.players.asking import find_evaluator, watch_analyses
from katachi.policy.evaluator import CnnEvaluator

CANDIDATES: Final = 10


@dataclass(frozen=True, slots=True)
class Judges:
    """A player with a limit, and evaluators by name; without a limit the player's own holds."""

    player: Player | None = None
    limit: Limit = field(default_factory=Limit)
    evaluators: Mapping[str, Evaluator] = field(default_factory=dict)

    @property
    def all_evaluators(self) -> dict[str, Evaluator]:
        """The evaluators, and the player's own if it is not among them."""
        own = None if self.player is None else find_evaluator(self.player)
        if self.player is None or own is None or any(evaluator is own for evaluator in self.evaluators.values()):
            return dict(self.evaluators)
        return {**self.evaluators, self.player.name: own}

    def check(self, size: int) -> None:
        """Raise WrongBoardSize if one of the evaluators judges boards of another size."""
        for evaluator in self.all_evaluators.values():
            evaluator.evaluate([Board(size)])

    def analyze(self, game: Game) -> Analysis:
        """What is known of a position; the game stays as it is."""
        evaluators = self.all_evaluators
        if self.player is None:
            first = next(iter(evaluators.values()), None)
            analysis = Analysis(()) if first is None else analyze_by(first, game)
        else:
            *_, analysis = watch_analyses(self.player, game.copy(), self.limit_in_force, Event())
            analysis = replace(analysis, black_wins=_mean_value(analysis))
        for evaluator in evaluators.values():
            analysis = _complete(analysis, evaluator, game)
        return analysis

    @property
    def limit_in_force(self) -> Limit:
        """When the player stops: the limit given, or else its own."""
        if self.limit != Limit() or not isinstance(self.player, TunablePlayer):
            return self.limit
        names = ("simulations", "depth", "seconds")
        return Limit(**{name: self.player.parameters.get(f"limit.{name}") for name in names})  # type: ignore[arg-type]


def has_value(evaluator: Evaluator) -> bool:
    """Whether an evaluator knows how often Black wins; a network without a value head says one half of everything."""
    return not isinstance(evaluator, CnnEvaluator) or evaluator.config.value


def analyze_by(evaluator: Evaluator, game: Game) -> Analysis:
    """What an evaluator says of a position without looking ahead: the likeliest moves, and what they are worth."""
    black_wins, policies = evaluator.evaluate([game.board])
    policy = np.where(game.legal_moves(), policies[0], 0)
    moves = sorted(moves_of(policy > 0), key=lambda move: -policy[move])[:CANDIDATES] or [PASS]
    sweep = evaluator.evaluate_afterstates(game.board) if isinstance(evaluator, AfterstateEvaluator) else None
    candidates = [Candidate(move, None if sweep is None else float(sweep[move]), float(policy[move])) for move in moves]
    return Analysis(tuple(candidates), float(black_wins[0]) if has_value(evaluator) else None)


def _mean_value(analysis: Analysis) -> float | None:
    """What a tree found on average; the best of a few simulations would always promise more than the next tree keeps.

    Of a search that counts no visits it is what it says itself.
    """
    counted = [(c.visits, c.black_wins) for c in analysis.candidates if c.black_wins is not None]
    if max((visits for visits, _ in counted), default=0) <= 1:
        return analysis.black_wins
    return sum(visits * wins for visits, wins in counted) / sum(visits for visits, _ in counted)


def _complete(analysis: Analysis, evaluator: Evaluator, game: Game) -> Analysis:
    """The analysis with what it lacks and an evaluator knows."""
    if analysis.black_wins is None and has_value(evaluator):
        analysis = replace(analysis, black_wins=float(evaluator.evaluate([game.board]).black_wins[0]))
    if analysis.ownership is None and isinstance(evaluator, OwnershipEvaluator):
        analysis = replace(analysis, ownership=evaluator.ownership([game.board])[0])
    if analysis.black_lead is None and analysis.ownership is not None:
        lead = float(analysis.ownership.sum(dtype=np.float64)) - game.komi
        analysis = replace(analysis, black_lead=lead)
    return analysis
