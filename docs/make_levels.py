"""Writes docs/levels.md: the first moves of games of every level against itself (``python docs/make_levels.py``).

Games come from fixed seeds. A digit is a move, from 1 to 9 and then 0, so that odd ones are Black's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from katachi import Game, Limit, load_player
from katachi.core.disk import write_atomically
from katachi.go.points import PASS
from katachi.papers.search.strength import LEVELS

PAGE: Final = Path(__file__).parent / "levels.md"
MOVES: Final = 10
GAMES: Final = {9: 10, 13: 4, 19: 3}  # by board size
_COLUMNS: Final = {9: 5, 13: 4, 19: 3}  # of diagrams
_HEAD: Final = """# The levels

`level-1` to `level-10` are opponents to climb, on boards of all sizes. Their ratings, and the ranks that they are like,
are measured by `katachi reproduce search --table ladder` (`ladder-13`, `ladder-19`); [search](search.md) has those of
boards that are measured, and `katachi players` shows them.

- **Levels 1 to 5** play what a network expects of people, and overlook moves (`search.overlooks`): each move is unseen
  with a probability, be it good or bad, so that a level answers elsewhere, misses a capture or saves the wrong stone.
  On larger boards, where a game has more moves to overlook, they overlook fewer.
- **Levels 6 and 7** overlook nothing. They choose more and more sharply among the moves that people play
  (`search.temperature`).
- **Levels 8 to 10** search a little with a network. Their first moves are drawn from it, so that games differ. On 9×9
  this network learned from its own games and is so much stronger than people's moves that levels 8 and 9 draw from it
  alone.

Above them stand `strong-9`, `strong-13` and `strong-19`, which search for seconds on all cores.

On 13×13 the network is that of 19×19 (`katachi models resize`). On boards of other sizes than these three the moves are
those of a territory network, which works on all of them.
All levels pass when nothing is left to play for, and resign when the game is lost.

These are the first ten moves of games of each level against itself: odd digits are Black's, and 0 is the tenth.
`python docs/make_levels.py` writes this page.
"""


def play_opening(level: str, size: int, seed: int) -> Game:
    """The first moves of a level against itself."""
    game, player = Game(size), load_player(level, seed=seed)
    for _ in range(MOVES):
        game.play(player.decide(game, Limit()).move)
    return game


def draw(game: Game) -> list[str]:
    """The lines of a diagram in which every move is its number."""
    points = ["."] * game.size**2
    for number, move in enumerate(game.moves, start=1):
        if move.move != PASS:
            points[move.move] = str(number % 10)
    return [" ".join(points[start : start + game.size]) for start in range(0, len(points), game.size)]


def write_section(level: str) -> str:
    """The games of a level on all boards."""
    parts = [f"## {level.capitalize().replace('-', ' ')}"]
    for size, games in GAMES.items():
        drawn = [draw(play_opening(level, size, seed)) for seed in range(games)]
        rows = [drawn[start : start + _COLUMNS[size]] for start in range(0, games, _COLUMNS[size])]
        diagrams = "\n\n".join("\n".join(map("   ".join, zip(*row, strict=True))) for row in rows)
        parts.append(f"{size}×{size}:\n\n```text\n{diagrams}\n```")
    return "\n\n".join(parts)


def main() -> None:
    """Write the page."""
    write_atomically(PAGE, "\n\n".join([_HEAD.rstrip(), *map(write_section, LEVELS)]) + "\n")


if __name__ == "__main__":
    main()
