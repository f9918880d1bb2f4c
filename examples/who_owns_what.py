"""Who will own each point of a position, by random playouts, and which stones are dead.

A territory model says the same of 9×9 and 19×19 boards: ``load_model("territory-9").ownership([board])``.

Run it with: python examples/who_owns_what.py       (a second or two)
"""

from __future__ import annotations

from katachi import Board, format_vertex, run_playouts
from katachi.go.scoring import area_score, estimate_status

POSITION = """
. X . X O . O
X . X X O O .
. X X O O . O
X X X X O O O
. O . X O . X
. . X X O . .
X X . X O O .
"""


def main() -> None:
    board = Board.parse(POSITION)
    playouts = run_playouts(board, 2000, seed=1, komi=0.5)
    print(f"Black wins {playouts.black_wins:.0%} of random games, by {playouts.black_lead:+.1f} points on average")
    for row in playouts.ownership.reshape(board.size, board.size):
        print(" ".join(f"{100 * share:+4.0f}" for share in row))
    dead = estimate_status(board).dead_stones
    print("dead:", " ".join(format_vertex(point, board.size) for point in dead))
    print("area score without them:", area_score(board, dead))


if __name__ == "__main__":
    main()
