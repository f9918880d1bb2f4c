"""Templates: every small rectangle of stones at every place of the board, each a feature of its own.

No weights are shared over symmetries or places, unlike with local shapes (``shapes/local_shapes.py``): this is the
baseline of Largman and Pham, all 2×2 templates at all places of a 9×9 board. Feature ``place · 3^cells + code``; the
digits of the code, the first cell's the lowest, are 0 for a free point, 1 for a stone of the player who has just
moved, 2 for an enemy's.

>>> Templates(9).size
5184
"""

from __future__ import annotations

import hashlib
from typing import Final

import numpy as np

from katachi.core.contracts import Floats, Ints
from katachi.features.windows import check_board_size
from katachi.go.board import Board
from katachi.go.points import check_size, format_vertex

MAX_SIDE: Final = 3
_STATES: Final = 3
_LETTERS: Final = ".XO"


class Templates:
    """All templates of one square size on boards of one size. Meets ``FeatureSet``."""

    def __init__(self, board_size: int, side: int = 2) -> None:
        if not 1 <= side <= min(MAX_SIDE, check_size(board_size)):
            raise ValueError(f"templates on {board_size}×{board_size} have 1 to {MAX_SIDE} points a side, not {side}")
        self.board_size = board_size
        self.side = side
        self._codes: int = _STATES ** (side * side)
        self._powers = (_STATES ** np.arange(side * side)).reshape(side, side)

    @property
    def name(self) -> str:
        return f"all {self.side}×{self.side} templates"

    @property
    def places(self) -> int:
        """How many places there are in one direction."""
        return self.board_size - self.side + 1

    @property
    def size(self) -> int:
        return self.places**2 * self._codes

    @property
    def digest(self) -> str:
        """A short text that changes with anything that fixes the meaning of a feature."""
        return hashlib.sha256(repr(("templates", self.board_size, self.side)).encode()).hexdigest()[:16]

    def active(self, board: Board) -> tuple[Ints, Floats]:
        """The template at each place."""
        check_board_size(board.size, self.board_size)
        digits = (-board.to_play * board.stones.astype(np.int64)) % _STATES  # −1, the enemy's, becomes 2
        grid = digits.reshape(board.size, board.size)
        windows = np.lib.stride_tricks.sliding_window_view(grid, (self.side, self.side))
        codes = np.tensordot(windows, self._powers, axes=2).ravel()
        return np.arange(codes.size) * self._codes + codes, np.ones(codes.size, dtype=np.float32)

    def describe(self, index: int) -> str:
        """A template in words and as a small diagram."""
        if not 0 <= index < self.size:
            raise ValueError(f"{index} is no template: there are {self.size}")
        place, code = divmod(index, self._codes)
        row, col = divmod(place, self.places)
        corner = format_vertex(row * self.board_size + col, self.board_size)
        digits = code // self._powers % _STATES
        rows = [" ".join(_LETTERS[digit] for digit in line) for line in digits.tolist()]
        return "\n".join([f"template, its upper left at {corner}", *rows])
