"""Random games as SGF, with what makes replaying hard: set-up stones, passes, captures, kos, two moves in a row."""

from __future__ import annotations

import numpy as np

from katachi.go.board import Board
from katachi.go.points import BLACK, PASS, WHITE, format_sgf_point

RANKS = ("", "7k", "1d", "6d", "9d", "3p")
RESULTS = ("", "B+R", "W+3.5", "0", "B+T")


def random_record(rng: np.random.Generator, size: int, moves: int) -> str:
    """A game of so many legal moves; now and then somebody passes, or moves twice."""
    board = Board(size)
    apart = [point for point in range(size * size) if sum(divmod(point, size)) % 2 == 0]  # no two of them touch
    stones = rng.permutation(apart)[: rng.integers(4)].tolist()
    board.place(black=stones[:-1], white=stones[-1:], to_play=WHITE if stones else BLACK)
    root = f"(;GM[1]FF[4]SZ[{size}]KM[6.5]" + "".join(
        f"{name}[{text}]" for name, text in zip(("BR", "WR", "RE"), _facts(rng), strict=True) if text
    )
    root += "".join(f"{name}[{format_sgf_point(stone, size)}]" for name, stone in _setup(stones))
    return root + "".join(_move(rng, board) for _ in range(moves)) + ")"


def _facts(rng: np.random.Generator) -> tuple[str, str, str]:
    return str(rng.choice(RANKS)), str(rng.choice(RANKS)), str(rng.choice(RESULTS))


def _setup(stones: list[int]) -> list[tuple[str, int]]:
    return [*(("AB", stone) for stone in stones[:-1]), *(("AW", stone) for stone in stones[-1:])]


def _move(rng: np.random.Generator, board: Board) -> str:
    color = board.to_play if rng.random() < 0.95 else -board.to_play
    points = np.flatnonzero(board.legal_moves(color)[:-1])
    move = PASS if not points.size or rng.random() < 0.05 else int(rng.choice(points))
    board.play(move, color)
    return f";{'B' if color == BLACK else 'W'}[{format_sgf_point(move, board.size)}]"
