"""Means over independent runs, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

CONFIDENCE: Final = 0.95
_SAMPLES: Final = 10_000


class Estimate(NamedTuple):
    """A mean (or median) over runs; there is no interval if there was but one run."""

    mean: float
    interval: tuple[float, float] | None


def estimate(values: Sequence[float], middle: Callable[..., Any] = np.mean) -> Estimate:
    """The mean of one value a run and its interval, from drawing runs with replacement; the same values, the same one.

    ``middle`` can be ``np.median`` instead, where something else may have disturbed a run.

    >>> estimate([3.0, 4.0, 5.0])
    Estimate(mean=4.0, interval=(3.0, 5.0))
    >>> estimate([3.0])
    Estimate(mean=3.0, interval=None)
    """
    found = np.asarray(values, dtype=np.float64)
    if len(found) < 2:
        return Estimate(float(middle(found)), None)
    drawn = np.random.default_rng(len(found)).integers(len(found), size=(_SAMPLES, len(found)))
    low, high = np.quantile(middle(found[drawn], axis=1), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(float(middle(found)), (float(low), float(high)))
