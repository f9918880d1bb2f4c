"""Playouts: many random games from a position, and what they say about it.

>>> from katachi.go.board import Board
>>> statistics = run_playouts(Board(9), 1000, seed=1)
>>> statistics.playouts, 0.3 < statistics.black_wins < 0.6
(1000, True)
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.go.board import Board
from katachi.go.kernels.playouts import PLAYOUT, STATISTICS, add_playouts, random_state
from katachi.go.rules import DEFAULT_KOMI


class PlayoutStatistics(NamedTuple):
    """What a number of playouts from one position came to.

    The last two are the *all-moves-as-first* statistics: over the playouts in which a color was the first to play on
    a point, the share that Black won, and how many they were; row 0 is Black's, row 1 White's.
    """

    playouts: int
    black_wins: float  # the share that Black won; a draw counts half
    black_lead: float  # Black's mean area less White's, less komi
    ownership: NDArray[np.float32]  # [n²] from −1 (always White's) to +1 (always Black's)
    first_play_wins: NDArray[np.float32]  # [2, n²], NaN where there were none
    first_plays: NDArray[np.int64]  # [2, n²]


def run_playouts(
    board: Board, count: int, seed: int, komi: float = DEFAULT_KOMI, *, first_plays: bool = False, threads: int = 1
) -> PlayoutStatistics:
    """Play a board to its end ``count`` times; the same seed and threads give the same answer.

    Simple ko only: random games that repeat a position are cut off by their length. All-moves-as-first statistics
    are gathered if ``first_plays`` asks for them.
    """
    if count < 1 or threads < 1:
        raise ValueError(f"{count} playouts on {threads} threads: both must be at least 1")
    shares = [count // threads + (i < count % threads) for i in range(threads)]
    seeds = np.random.SeedSequence(seed).generate_state(threads, np.uint64)

    def run(share: int, kernel_seed: np.uint64) -> NDArray[Any]:
        playouts = np.zeros(1, dtype=PLAYOUT)
        playouts["random"] = random_state(kernel_seed)
        statistics = np.zeros(1, dtype=STATISTICS)
        add_playouts(board.record, board.record.copy(), playouts, statistics, share, komi, first_plays)
        return statistics

    if threads == 1:
        parts = [run(count, seeds[0])]
    else:
        with ThreadPoolExecutor(threads) as pool:
            parts = list(pool.map(run, shares, seeds))
    return summarize(np.concatenate(parts), board.size, komi)


def summarize(parts: NDArray[Any], size: int, komi: float) -> PlayoutStatistics:
    """What STATISTICS records, one for each thread, say together."""
    points = size * size
    total = int(parts["playouts"].sum())
    plays = parts["first_plays"].sum(axis=0, dtype=np.int64)[:, :points]
    wins = parts["first_play_wins"].sum(axis=0)[:, :points]
    shares = np.divide(wins, plays, out=np.full(wins.shape, np.nan), where=plays > 0)
    return PlayoutStatistics(
        playouts=total,
        black_wins=float(parts["black_wins"].sum()) / total,
        black_lead=float(parts["score"].sum()) / total - komi,
        ownership=(parts["ownership"].sum(axis=0)[:points] / total).astype(np.float32),
        first_play_wins=shares.astype(np.float32),
        first_plays=plays,
    )


def warmup() -> None:
    """Compile uniform playouts."""
    run_playouts(Board(5), 1, seed=0, first_plays=True)
