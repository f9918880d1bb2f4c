"""Let two bundled players play a game, and show the result.

Run it with: python examples/two_players.py
"""

from __future__ import annotations

from katachi.core.contracts import Limit
from katachi.go.game import Game
from katachi.go.points import BLACK, format_vertex
from katachi.players.specs import load_player
from katachi.sgf import game_to_sgf


def main() -> None:
    black, white = load_player("alp", seed=1), load_player("influence", seed=2)
    game = Game(size=9)
    while not game.is_over:
        player = black if game.to_play == BLACK else white
        decision = player.decide(game, Limit())  # a player holds no game: each call passes one
        game.play(decision.move)
    print(game.board)
    moves = " ".join(format_vertex(play.move, game.size) for play in game.moves[:10])
    print(f"{black.name} against {white.name}: {game.result()} after {len(game.moves)} moves, starting with {moves}")
    record = game_to_sgf(game, black=black.name, white=white.name, result=game.result())
    print(f"The record has {len(record)} characters")


if __name__ == "__main__":
    main()
