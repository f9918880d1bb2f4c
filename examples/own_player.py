"""A player of your own in a match: anything with a name and ``decide(game, limit)``.

The example checks a player against the contract, lets it meet a bundled one, and shows a game and its record.

Run it with: python examples/own_player.py [GAMES]       (a few seconds)
"""

from __future__ import annotations

import sys

import numpy as np

from katachi import BLACK, PASS, Decision, Game, Limit, game_to_sgf, play_match, run_playouts
from katachi.core.conformance import check_player, sample_games


class PlayoutPlayer:
    """Plays the point with the best results in random games, by all moves as first (AMAF)."""

    name = "playouts"

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def decide(self, game: Game, limit: Limit) -> Decision:  # a player holds no game: each call passes one
        playouts = run_playouts(
            game.board, limit.simulations or 500, int(self._rng.integers(1 << 32)), game.komi, first_plays=True
        )
        side = 0 if game.to_play == BLACK else 1
        wins = game.to_play * playouts.first_play_wins[side]
        wins[~game.legal_moves()[:-1] | (playouts.first_plays[side] == 0)] = -np.inf
        best = int(np.argmax(wins))
        return Decision(best if np.isfinite(wins[best]) and not game.board.is_own_eye(best, game.to_play) else PASS)


def main(games: int) -> None:
    check_player(PlayoutPlayer(seed=1), PlayoutPlayer(seed=1), games=sample_games(sizes=(3, 5, 9)))
    print("it keeps the contract")
    match = play_match(PlayoutPlayer(seed=1), "alp", games=games, size=7, limit=Limit(simulations=500))
    print(match)
    last, result = match.games[-1].game, match.results[-1]
    print(f"the last game, {result} after {len(last.moves)} moves:")
    print(last.board)
    print(game_to_sgf(last, black=match.second, white=match.first, result=result))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
