"""Write a player, check it against the contract, and test it against a random one.

Run it with: python examples/own_player.py
"""

from __future__ import annotations

import numpy as np

from katachi.core.conformance import check_player, sample_games
from katachi.core.contracts import Decision, Limit, Player
from katachi.go.game import Game
from katachi.go.playouts import run_playouts
from katachi.go.points import BLACK, PASS
from katachi.players.simple import RandomPlayer


class PlayoutPlayer:
    """Plays the point with the best results in random games, by all moves as first (AMAF)."""

    name = "playouts"

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def decide(self, game: Game, limit: Limit) -> Decision:
        playouts = run_playouts(
            game.board, limit.simulations or 500, int(self._rng.integers(1 << 32)), game.komi, first_plays=True
        )
        side = 0 if game.to_play == BLACK else 1
        wins = game.to_play * playouts.first_play_wins[side]
        wins[~game.legal_moves()[:-1] | (playouts.first_plays[side] == 0)] = -np.inf
        best = int(np.argmax(wins))
        return Decision(best if np.isfinite(wins[best]) and not game.board.is_own_eye(best, game.to_play) else PASS)


def play(black: Player, white: Player, limit: Limit) -> Game:
    game = Game(size=5)
    while not game.is_over and len(game.moves) < 100:
        game.play((black if game.to_play == BLACK else white).decide(game, limit).move)
    return game


def main() -> None:
    check_player(PlayoutPlayer(seed=1), PlayoutPlayer(seed=1), games=sample_games(sizes=(3, 5, 9)))
    wins = sum(
        play(PlayoutPlayer(seed), RandomPlayer(seed=seed), Limit(simulations=200)).score() > 0 for seed in range(10)
    )
    print(f"it keeps the contract, and won {wins} of 10 games as Black")


if __name__ == "__main__":
    main()
