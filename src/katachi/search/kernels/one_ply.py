"""The compiled part of ``search/one_ply.py``: which moves a search considers."""

from __future__ import annotations

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import captures, is_sensible


@kernel
def fill_sensible(boards, sensible):
    """Set ``sensible[point]`` for the player to move."""
    b = boards[0]
    for p in range(np.uint16(b.lines * b.lines)):
        sensible[p] = is_sensible(b, p, b.to_play)


@kernel
def fill_captures(boards, taking):
    """Clear ``taking[point]`` wherever a stone of the player to move would take nothing."""
    b = boards[0]
    for p in range(np.uint16(b.lines * b.lines)):
        taking[p] = taking[p] and captures(b, p, b.to_play)
