"""Asking any player what it thinks: one that can analyze, one that can be watched, one that only decides.

Also which moves an answer is to be about. Whoever asks may leave moves out (``avoid``) or name the only ones
(``allow``): both are bans. A player that can do without banned moves does; of what another says they are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Event

import numpy as np

from katachi.core.contracts import (
    Analysis,
    AnalyzingPlayer,
    Ban,
    Candidate,
    Decision,
    EvaluatingPlayer,
    Evaluator,
    Floats,
    Limit,
    Player,
    SelectivePlayer,
    ThinkingPlayer,
)
from katachi.core.evaluators import moves_of
from katachi.go.game import Game
from katachi.go.points import PASS


def watch_decisions(
    player: Player, game: Game, limit: Limit, stop: Event, bans: Collection[Ban] = ()
) -> Iterator[Decision]:
    """Ever better decisions, or the one there is; the last is the player's."""
    player = _without(player, bans)
    if isinstance(player, ThinkingPlayer):
        return player.think(game, limit, stop)
    return iter([player.decide(game, limit)])


def watch_analyses(
    player: Player, game: Game, limit: Limit, stop: Event, bans: Collection[Ban] = ()
) -> Iterator[Analysis]:
    """Ever better analyses, or what there is to say about a decision."""
    player = _without(player, bans)
    if isinstance(player, AnalyzingPlayer):
        return player.analyze(game, limit, stop)
    return iter([explain(player.decide(game, limit))])


def _without(player: Player, bans: Collection[Ban]) -> Player:
    return player.without(bans) if bans and isinstance(player, SelectivePlayer) else player


def explain(decision: Decision) -> Analysis:
    """What a decision says of itself: of one without an analysis, the move alone."""
    return decision.analysis or Analysis((Candidate(decision.move),))


def find_evaluator(player: Player) -> Evaluator | None:
    """What a player evaluates with, if it can be asked."""
    return player.evaluator if isinstance(player, EvaluatingPlayer) else None


def describe_models(player: Player) -> list[dict[str, object]]:
    """What a player evaluates with under KataGo's keys for its networks: nothing, or one."""
    evaluator = find_evaluator(player)
    if evaluator is None:
        return []
    return [{"name": player.name, "internalName": type(evaluator).__name__, "usesHumanSLProfile": False}]


@dataclass(slots=True)
class Selection:
    """Which moves an answer is about: those that are not banned, and how many of them."""

    bans: list[Ban] = field(default_factory=list)
    fewest: int = 0
    most: int | None = None

    def banned(self, color: int) -> set[int]:
        """The moves that a color is not to consider in the position."""
        return {ban.move for ban in self.bans if ban.color == color}

    def choose(self, candidates: Sequence[Candidate], game: Game) -> tuple[Candidate, ...]:
        """These of the candidates; if too few of them were considered, other legal moves follow."""
        banned = self.banned(game.to_play)
        chosen = [candidate for candidate in candidates if candidate.move not in banned]
        if len(chosen) < self.fewest:
            known = banned | {candidate.move for candidate in chosen}
            others = [move for move in moves_of(game.legal_moves()) if move not in known]
            chosen += [Candidate(move) for move in others[: self.fewest - len(chosen)]]
        return tuple(chosen[: self.most])


def ban_others(color: int, allowed: Collection[int], depth: int, size: int) -> list[Ban]:
    """Bans on everything that is not among the moves allowed."""
    return [Ban(color, move, depth) for move in (*range(size * size), PASS) if move not in allowed]


def count_visits(candidates: Sequence[Candidate]) -> list[int]:
    """The visits of each candidate; one each if nobody counted, because front ends divide by the most."""
    visits = [candidate.visits for candidate in candidates]
    return visits if any(visits) else [1] * len(visits)


def spread_of(ownership: Floats) -> Floats:
    """The standard deviation of who will own each point, as if each were somebody's in the end."""
    spread: Floats = np.sqrt(np.maximum(0, 1 - np.square(ownership)))
    return spread
