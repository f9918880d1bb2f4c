"""How far a share that was counted, or a mean that was measured, can be from the true one.

Wilson, *Probable inference*, JASA 22 (1927).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

CONFIDENCE: Final = 0.95


def wilson_interval(hits: float, count: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The interval of a share, such as a win rate with draws as half a win; (0, 1) where nothing was counted.

    >>> [round(bound, 3) for bound in wilson_interval(8, 10)]
    [0.49, 0.943]
    """
    if count == 0:
        return 0.0, 1.0
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    share = hits / count
    center = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = math.sqrt(z2 * (share * (1 - share) / count + z2 / (4 * count * count))) / (1 + z2 / count)
    return max(0.0, center - half), min(1.0, center + half)


def mean_interval(values: Sequence[float] | NDArray[Any], confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """The mean of so many independent values that it is normally distributed, and its interval.

    >>> mean_interval([1.0, 3.0] * 50)  # doctest: +ELLIPSIS
    (2.0, 1.804..., 2.195...)
    """
    found = np.asarray(values, dtype=np.float64)
    mean = float(found.mean())
    half = float(NormalDist().inv_cdf((1 + confidence) / 2) * found.std() / math.sqrt(found.size))
    return mean, mean - half, mean + half
