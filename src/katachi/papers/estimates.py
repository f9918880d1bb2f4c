"""Means over independent runs, with bootstrap intervals, and shares, with Wilson's."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.core.statistics import CONFIDENCE, wilson_interval

_SAMPLES: Final = 10_000


class Estimate(NamedTuple):
    """A mean (or median, or percentage); there is no interval if there was but one run."""

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


def mean_of_many(values: Sequence[float] | NDArray[Any]) -> Estimate:
    """The mean of so many independent values that it is normally distributed, for which a bootstrap would be a waste.

    >>> mean_of_many([1.0, 3.0] * 50).interval  # doctest: +ELLIPSIS
    (1.804..., 2.195...)
    """
    found = np.asarray(values, dtype=np.float64)
    half = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * found.std() / math.sqrt(found.size)
    return Estimate(float(found.mean()), (float(found.mean() - half), float(found.mean() + half)))


def share(hits: float, count: int) -> Estimate:
    """So many out of so many in percent, with Wilson's interval.

    >>> share(8, 10).mean, [round(bound) for bound in share(8, 10).interval]
    (80.0, [49, 94])
    """
    low, high = wilson_interval(hits, count)
    return Estimate(100 * hits / count, (100 * low, 100 * high))
