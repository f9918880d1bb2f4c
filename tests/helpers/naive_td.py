"""TD learning by the book, in plain Python: one game that was played is learned from once more, slowly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from helpers import naive
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, MAX_POINTS, PASS, WHITE
from katachi.go.rules import KoRule, Rules
from katachi.shapes.features import LocalShapes
from katachi.shapes.learner import TdSettings


class Afterstate(NamedTuple):
    side: int  # 0 Black, 1 White
    features: dict[int, float]
    explored: bool


def replay(size, moves, komi=7.5):
    """The game of these moves; raises IllegalMove if one is illegal."""
    game = Game(size, Rules(KoRule.SIMPLE, komi=komi))
    for move in moves.tolist():
        game.play(PASS if move == MAX_POINTS else move)
    return game


def afterstates(features: LocalShapes, moves, explored) -> list[Afterstate]:
    game = Game(features.board_size, Rules(KoRule.SIMPLE))
    found = []
    for ply, move in enumerate(moves.tolist()):
        game.play(PASS if move == MAX_POINTS else move)
        indices, occurrences = features.active(game.board)
        found.append(
            Afterstate(ply % 2, dict(zip(indices.tolist(), occurrences.tolist(), strict=True)), bool(explored[ply]))
        )
    return found


def is_kept_eye(board: Board, point: int, color: int, eye_rule: str) -> bool:
    """Whether a color may not fill a point by one of the eye rules."""
    if eye_rule == "simple":
        return board.is_own_eye(point, color)
    return all(board.stones[near] == color for near in naive.neighbors(board.size, point))


def reward(game: Game, side: int) -> float:
    lead = game.score() * (BLACK if side == 0 else WHITE)
    return 1.0 if lead > 0 else 0.5 if lead == 0 else 0.0


class Learning:
    """The equations, for the weights of one or two agents; ``agent_of`` says whose each side's are."""

    def __init__(self, settings: TdSettings, weights, agent_of, step_size=None):
        self.settings = settings
        self.features = settings.features
        self.weights = weights.astype(np.float64)
        self.agent_of = agent_of
        self.step_size = settings.step_size if step_size is None else step_size
        self.sets = self.features.sets

    def set_of(self, index):
        return int(np.searchsorted(self.features.offsets, index, side="right")) - 1

    def value(self, state: Afterstate, i: int) -> float:
        """V_i: over the sets that are as general as set i, or over all of them without cascade."""
        theta = self.weights[self.agent_of[state.side]]
        logit = 0.0
        for index, occurrence in state.features.items():
            if not self.settings.cascade or self.sets[self.set_of(index)].is_as_general_as(self.sets[i]):
                logit += occurrence * theta[index]
        return 1 / (1 + np.exp(-logit))

    def values(self, state):
        return np.array([self.value(state, i) for i in range(len(self.sets))])

    def gradients(self, state):
        values = self.values(state)
        return np.ones_like(values) if self.settings.gradient == "logistic" else values * (1 - values)

    def change(self, state, errors, gradients):
        """Equation 3 for one afterstate, as a change of the weights."""
        change = np.zeros_like(self.weights)
        for index, occurrence in state.features.items():
            j = self.set_of(index)
            step = self.step_size / (len(self.sets) * self.features.active_counts[j])
            change[self.agent_of[state.side], index] = step * errors[j] * occurrence * gradients[j]
        return change

    def learn_online(self, states, rewards):
        """Every update at once, in the order of play."""
        chains = ([], [])
        for state in states:
            chain = chains[state.side]
            if chain and state.explored and not self.settings.update_after_exploring:
                chain.clear()
            elif chain:
                self._update(chain, self.values(state))
            chain.append([state, None])
        for side in (0, 1):
            if chains[side]:
                self._update(chains[side], np.full(len(self.sets), rewards[side]))

    def _update(self, chain, targets):
        state = chain[-1][0]
        errors = targets - self.values(state)
        chain[-1][1] = self.gradients(state)
        for age, (earlier, gradients) in enumerate(reversed(chain)):
            self.weights += self.settings.trace_decay**age * self.change(earlier, errors, gradients)

    def learn_after_game(self, states, rewards):
        """The same updates, all of them with the weights from before the game."""
        total = np.zeros_like(self.weights)
        for side in (0, 1):
            own = [state for state in states if state.side == side]
            for t, state in enumerate(own):
                for later in range(t, len(own)):
                    if any(own[k].explored for k in range(t + 1, later + 2) if k < len(own)) and (
                        not self.settings.update_after_exploring
                    ):
                        break
                    target = self.values(own[later + 1]) if later + 1 < len(own) else rewards[side]
                    errors = target - self.values(own[later])
                    total += self.settings.trace_decay ** (later - t) * self.change(
                        state, errors, self.gradients(state)
                    )
        self.weights += total
