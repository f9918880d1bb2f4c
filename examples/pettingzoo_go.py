"""katachi's rules as a PettingZoo environment (AEC), with the spaces of PettingZoo's classic Go.

Observations are [n, n, 17] planes from the view of the agent: its stones and the opponent's now and up to seven moves
ago, then whether it plays Black. The action n² is the pass, and ``action_mask`` says what is legal.

Run it with: python examples/pettingzoo_go.py [GAMES]       (a few seconds; needs pip install pettingzoo)
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from katachi import BLACK, PASS, WHITE, Game, Limit, load_player

COLORS = {"black_0": BLACK, "white_0": WHITE}
HISTORY = 8


class GoEnv(AECEnv):
    """A game of Go; two passes end it, and all stones count as alive."""

    def __init__(self, size: int = 9) -> None:
        super().__init__()
        self.size, self.render_mode = size, "ansi"
        self.metadata = {"name": "katachi_go", "render_modes": ["ansi"], "is_parallelizable": False}
        self.possible_agents = list(COLORS)
        planes = spaces.Box(0, 1, (size, size, 2 * HISTORY + 1), np.bool_)
        mask = spaces.Box(0, 1, (size * size + 1,), np.int8)
        self.observation_spaces = dict.fromkeys(COLORS, spaces.Dict({"observation": planes, "action_mask": mask}))
        self.action_spaces = {agent: spaces.Discrete(size * size + 1) for agent in COLORS}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        self.game = Game(self.size)
        self.boards = [np.asarray(self.game.board)]
        self.agents = list(COLORS)
        self.agent_selection = "black_0"
        self.rewards, self._cumulative_rewards = dict.fromkeys(COLORS, 0.0), dict.fromkeys(COLORS, 0.0)
        self.terminations, self.truncations = dict.fromkeys(COLORS, False), dict.fromkeys(COLORS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in COLORS}

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        color, planes = COLORS[agent], np.zeros((self.size, self.size, 2 * HISTORY + 1), dtype=np.bool_)
        for ago, board in enumerate(self.boards[: -HISTORY - 1 : -1]):
            planes[..., 2 * ago], planes[..., 2 * ago + 1] = board == color, board == -color
        planes[..., -1] = color == BLACK
        is_on_turn = agent == self.agent_selection and not self.game.is_over
        mask = self.game.legal_moves() if is_on_turn else np.zeros(self.size**2 + 1)
        return {"observation": planes, "action_mask": mask.astype(np.int8)}

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        assert action is not None
        self._cumulative_rewards[agent] = 0.0
        self.game.play(PASS if action == self.size**2 else int(action))  # raises IllegalMove
        self.boards.append(np.asarray(self.game.board))
        if self.game.is_over:
            self.terminations = dict.fromkeys(COLORS, True)
            self.rewards = {agent: float(np.sign(color * self.game.score())) for agent, color in COLORS.items()}
        self.agent_selection = "white_0" if agent == "black_0" else "black_0"
        self._accumulate_rewards()

    def render(self) -> str:
        return str(self.game)

    def close(self) -> None:
        """Nothing is held."""


def main(games: int) -> None:
    """A player of katachi, as Black, against random legal actions."""
    env, player, wins = GoEnv(5), load_player("alp", seed=1), 0.0
    for seed in range(games):
        env.reset()
        env.action_space("white_0").seed(seed)
        for agent in env.agent_iter():
            observation, reward, termination, truncation, _ = env.last()
            wins += agent == "black_0" and reward > 0
            if termination or truncation:
                action = None
            elif agent == "black_0":
                move = player.decide(env.game, Limit()).move
                action = env.size**2 if move == PASS else move
            else:
                action = env.action_space(agent).sample(observation["action_mask"])
            env.step(action)
    print(f"{env.render()}\nalp won {wins:.0f} of {games} games as black_0 against random actions")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
