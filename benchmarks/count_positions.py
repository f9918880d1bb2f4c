"""Counts the legal positions of a small board through katachi's own captures.

    python benchmarks/count_positions.py 4        # 24,318,165, in about ten seconds

Every coloring is built point by point with ``play_stone``, the kernel that plays all moves; one whose chains all have a
liberty is built without a capture, any other is not. So a branch ends where a stone is taken off the board, and the
colorings that remain are the legal positions. 1×1 to 4×4 must be 1, 57, 12,675 and 24,318,165 (Tromp and Farnebäck).
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from katachi.go.kernels.board import new_boards, play_stone

KNOWN = {1: 1, 2: 57, 3: 12_675, 4: 24_318_165}


@njit(cache=True, nogil=True)
def _count(boards: NDArray[Any]) -> int:
    """Walk through all colorings; ``boards[i]`` has the first i points colored."""
    points = len(boards) - 1
    next_color = np.full(points, -1, dtype=np.int8)  # White, then empty, then Black
    stones = np.zeros(points + 1, dtype=np.int64)
    depth = 0
    legal = 0
    while depth >= 0:
        if depth == points:
            legal += 1
            depth -= 1
        elif next_color[depth] > 1:
            next_color[depth] = -1
            depth -= 1
        else:
            color = next_color[depth]
            next_color[depth] += 1
            boards[depth + 1] = boards[depth]
            stones[depth + 1] = stones[depth] + abs(color)
            if color:
                play_stone(boards[depth + 1], np.uint16(depth), color)
            if boards[depth + 1].empty_count == points - stones[depth + 1]:
                depth += 1
    return legal


def count_positions(size: int) -> int:
    return int(_count(new_boards(size * size + 1, size)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("size", type=int, nargs="*", choices=range(1, 5), default=[4], help="boards to count on")
    wrong = 0
    for size in parser.parse_args().size:
        start = time.perf_counter()
        legal = count_positions(size)
        seconds = time.perf_counter() - start
        verdict = "right" if legal == KNOWN[size] else f"WRONG, it is {KNOWN[size]:,}"
        wrong += legal != KNOWN[size]
        print(
            f"{size}×{size}: {legal:,} legal positions of {3 ** (size * size):,} colorings, {verdict} ({seconds:.1f} s)"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
