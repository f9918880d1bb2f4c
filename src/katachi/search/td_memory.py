"""The memory of TD search: a weight for everything that can stand in each small window of one board.

*Short-term memory* learns about one game, in which no corner is like another. So its weights are not shared: every
window has its own, for every way in which its points can be empty, the mover's or the enemy's. *Long-term memory* is
what a model of local shapes has learned from many games. It needs no table beside the other: short-term memory begins
with the value that the model gives to each 3×3 window (``search/playouts.py``), and from then on learns; the value of
a board is the sum of both all the time (Dyna-2: Silver, Sutton and Müller 2008).

The memory is an evaluator itself, compiled, so that other searches can be steered by what was learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Doubles, Evaluation, Floats, Ints
from katachi.core.evaluators import DEFAULT_TEMPERATURE, WrongBoardSize, softmax_policy
from katachi.features.windows import CODES, SIDE, TABLE_SIZES, find_windows
from katachi.go.board import Board
from katachi.search.kernels import td as kernels
from katachi.search.playouts import FusedShapes

Size = tuple[int, int]
_LARGEST: Final = (SIDE, SIDE)


class TdMemory:
    """The weights of the windows of some sizes on boards of one size."""

    def __init__(self, board_size: int, sizes: Sequence[Size], long_term: FusedShapes | None = None) -> None:
        if long_term is not None and long_term.board_size != board_size:
            size = long_term.board_size
            raise WrongBoardSize(f"this model judges {size}×{size} boards, not {board_size}×{board_size}")
        self.board_size = board_size
        learned = [size for size in TABLE_SIZES if size in sizes and max(size) <= board_size]
        if not learned:
            raise ValueError(f"no window that is to be learned fits on a {board_size}×{board_size} board")
        tabled = learned if long_term is None or _LARGEST in learned else [*learned, _LARGEST]
        windows = [cells for size in tabled for cells in find_windows(board_size, *size).cells.tolist()]
        self.most_contacts = sum(width * height * (1 + (width != height)) for width, height in learned)
        self.learned_windows = sum(len(find_windows(board_size, *size).cells) for size in learned)
        bases = np.cumsum([0, *(3 ** len(cells) for cells in windows)])
        self._ints = _lay_out(board_size, windows, bases[:-1])
        self._begin: Floats = np.zeros(int(bases[-1]), dtype=np.float32)
        if long_term is not None:  # the largest windows are the last
            self._begin[-len(long_term.cells) * CODES :] = long_term.values[long_term.class_of].ravel()
        self._weights = self._begin.copy()

    def forget(self) -> None:
        """Go back to long-term memory, or to nothing."""
        self._weights[:] = self._begin

    # As an evaluator

    @property
    def kernel(self) -> Any:
        """``kernel(records, parameters)``: P(Black wins) on ``records[0]``."""
        return kernels.value

    @property
    def sweep_kernel(self) -> Any:
        """``sweep_kernel(records, parameters, values)``: the same after each move, NaN where it is illegal."""
        return kernels.sweep

    @property
    def parameters(self) -> tuple[NDArray[np.int32], Floats]:
        """The windows, and the weights, which change when the memory learns."""
        return self._ints, self._weights

    def evaluate(self, boards: Sequence[Board]) -> Evaluation:
        """The value of each board, and the values of its afterstates as a policy."""
        sweeps = [self.evaluate_afterstates(board) for board in boards]
        wins = [kernels.value(board.record, self.parameters) for board in boards]
        policies = [
            softmax_policy(sweep, board.to_play, DEFAULT_TEMPERATURE)
            for board, sweep in zip(boards, sweeps, strict=True)
        ]
        return Evaluation(np.array(wins, dtype=np.float32), np.stack(policies))

    def evaluate_afterstates(self, board: Board) -> Doubles:
        """P(Black wins) after each move that is legal under simple ko, [n²+1]; NaN elsewhere."""
        return self._run(kernels.sweep, board)

    def afterstate_log_odds(self, board: Board) -> Doubles:
        """The log-odds of Black after each such move, [n²+1]; NaN elsewhere."""
        return self._run(kernels.sweep_log_odds, board)

    def _run(self, sweep: Any, board: Board) -> Doubles:
        if board.size != self.board_size:
            size = self.board_size
            raise WrongBoardSize(f"this memory is of {size}×{size} boards, not of {board.size}×{board.size}")
        values = np.empty(board.size**2 + 1)
        sweep(board.record, self.parameters, values)
        return values


def _lay_out(board_size: int, windows: list[list[int]], bases: Ints) -> NDArray[np.int32]:
    """One array of header, bases, where the contacts of each point begin, and contacts."""
    contacts: list[list[int]] = [[] for _ in range(board_size**2)]
    for window, cells in enumerate(windows):
        for cell, point in enumerate(cells):
            contacts[point] += [window, 3**cell]
    starts = np.cumsum([0, *(len(around) // 2 for around in contacts)])
    sections = [bases, starts, np.concatenate(contacts)]
    begins = kernels.HEADER + np.cumsum([0, *(section.size for section in sections)])
    return np.concatenate([[len(windows)], begins[:3], *sections]).astype(np.int32)
