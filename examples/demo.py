"""A first look: the average liberty player against a random one, on the board, and then twenty games of it.

Run it with ``make demo``.
"""

from __future__ import annotations

import time

from rich.console import Console
from rich.live import Live
from rich.text import Text

from katachi import Game, GameResult, Limit, load_player
from katachi.go.diagrams import format_diagram
from katachi.go.points import BLACK, WHITE, format_vertex
from katachi.interfaces import Player

SIZE = 9
GAMES = 20


def play(black: Player, white: Player, show: Live | None = None) -> GameResult | None:
    """Play one game to two passes; draw each move if there is something to draw on."""
    game = Game(SIZE)
    players = {BLACK: black, WHITE: white}
    while not game.is_over and len(game.moves) < 3 * SIZE * SIZE:
        player = players[game.to_play]
        decision = player.decide(game, Limit())
        game.play(decision.move)
        if show:
            caption = f"move {len(game.moves)}: {player.name} plays {format_vertex(decision.move, SIZE)}"
            show.update(Text(f"{format_diagram(game.board.diagram, game.last_move)}\n{caption}"))
            time.sleep(0.03)
    return game.result()


def main() -> None:
    """Show one game as it is played, then say how often ALP wins."""
    console = Console()
    alp, random = load_player("alp", seed=1), load_player("random", seed=2)
    console.rule("alp (X) against random (O)")
    with Live(console=console, refresh_per_second=30) as live:
        result = play(alp, random, live if console.is_terminal else None)
    console.print(f"{result}\n")
    results = [play(alp, random) if game % 2 else play(random, alp) for game in range(GAMES)]
    wins = sum(r is not None and r.winner == (BLACK if game % 2 else WHITE) for game, r in enumerate(results))
    console.print(f"alp won {wins} of {GAMES} games, with colors changing")
    console.print("now try: .venv/bin/katachi play alp --size 9")


if __name__ == "__main__":
    main()
