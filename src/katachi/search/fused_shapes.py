"""What a model of local shapes says of every 3×3 window, for searches that look at windows themselves.

A search knows no models; but it knows features, and a ``LinearEvaluator`` shows its features and weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Evaluator, LinearEvaluator
from katachi.shapes.window_parts import has_parts, part_windows, sum_parts


class FusedShapes(NamedTuple):
    """The 3×3 windows of a board, and what each adds to the logit of the player who has just moved."""

    board_size: int
    cells: NDArray[np.uint16]  # [W, 9] cell i counts 3^i: 0 empty, 1 the mover's, 2 the enemy's
    class_of: NDArray[np.int64]  # [W]
    values: NDArray[np.float64]  # [classes, 3^9] by code


def fuse_shapes(evaluator: Evaluator | None) -> FusedShapes:
    """The windows of a model; raises ValueError if it is no model of local shapes up to 3×3."""
    if not (isinstance(evaluator, LinearEvaluator) and has_parts(evaluator.features)):
        raise ValueError("this search needs a model of local shapes up to 3×3")
    windows = part_windows(evaluator.features, evaluator.weights)
    return FusedShapes(evaluator.features.board_size, windows.cells, windows.class_of, sum_parts(windows))
