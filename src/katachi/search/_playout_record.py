"""The record of informed playouts: random numbers, the last playout, switches, tables and work space in one."""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.features._patterns import PATTERN_CODES
from katachi.go._kernels import record_dtype
from katachi.go._nakade import LARGEST_NAKADE
from katachi.go._playouts import PLIES_PER_POINT
from katachi.go.points import MAX_POINTS
from katachi.search._move_features import DISTANCES, TACTICS

PLAYOUT: Final = record_dtype(
    [
        ("random", np.uint64),  # the state of the xorshift generator, never 0
        # what came before the board that is played out: the last move and the one before; OFF is a pass or not known
        ("last", np.uint16),
        ("before", np.uint16),
        # the last playout
        ("plies", np.uint32),
        ("first_color", np.int8),  # who played the first of them
        ("moves", np.uint16, PLIES_PER_POINT * MAX_POINTS),  # MAX_POINTS is a pass
        ("owner", np.int8, MAX_POINTS),  # of each point at the end: +1 Black, −1 White, 0 neither
        # which parts of the policy are on
        ("informed", np.uint8),  # any of them
        ("replies", np.uint8),
        ("nakade", np.uint8),
        ("captures", np.uint8),
        ("escapes", np.uint8),
        ("self_atari", np.uint8),  # avoids it
        ("patterns", np.uint8),
        # the gammas of move_weights.py, patterns by their codes
        ("gamma", np.float32, PATTERN_CODES),
        ("tactic_gamma", np.float32, TACTICS),
        ("last_gamma", np.float32, DISTANCES),
        ("before_gamma", np.float32, DISTANCES),
        ("reply", np.uint16, (2, MAX_POINTS)),  # Black's, White's last good reply to a move there, or OFF
        # work space
        ("seen", np.uint16, MAX_POINTS + 1),  # the views of features/_patterns.py
        ("region", np.uint16, LARGEST_NAKADE),
        ("sums", np.float64, 8),
    ]
)
