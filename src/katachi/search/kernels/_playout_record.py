"""The record of informed playouts: random numbers, the last playout, switches, tables and work space in one."""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.features.windows import CODES, MAX_CLASSES, SIDE
from katachi.go.kernels.board import record_dtype
from katachi.go.kernels.playouts import LARGEST_NAKADE, PLIES_PER_POINT
from katachi.go.points import MAX_POINTS, MAX_SIZE
from katachi.search.kernels._move_features import DISTANCES, TACTICS
from katachi.search.kernels.patterns import PATTERN_CODES

MAX_WINDOWS: Final = (MAX_SIZE - SIDE + 1) ** 2

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
        ("shapes", np.uint8),  # how many random moves their value chooses among
        # the gammas of search/move_weights.py, patterns by their codes
        ("gamma", np.float32, PATTERN_CODES),
        ("tactic_gamma", np.float32, TACTICS),
        ("last_gamma", np.float32, DISTANCES),
        ("before_gamma", np.float32, DISTANCES),
        ("reply", np.uint16, (2, MAX_POINTS)),  # Black's, White's last good reply to a move there, or OFF
        # what search/kernels/_shape_policy.py needs
        ("holders", np.uint8, MAX_POINTS),  # how many windows hold a point …
        ("holder", np.uint16, (MAX_POINTS, 9)),  # … which …
        ("power", np.uint16, (MAX_POINTS, 9)),  # … and the power of three at which it counts there
        ("first_entry", np.int32, MAX_WINDOWS),
        ("shape_value", np.int16, MAX_CLASSES * CODES),  # in a unit that makes them fit
        # work space
        ("seen", np.uint16, MAX_POINTS + 1),  # the views of search/kernels/patterns.py
        ("region", np.uint16, LARGEST_NAKADE),
        ("sums", np.float64, 8),
        ("entry", np.int32, (2, MAX_WINDOWS)),
    ]
)
