"""Log-odds to probabilities, for the kernels of all values that are sums of features."""

from __future__ import annotations

import math

from katachi.go.kernels import kernel


@kernel
def logistic(logit):
    """1 / (1 + e^−logit), without overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    power = math.exp(logit)
    return power / (1.0 + power)


@kernel
def make_shares(values, count):
    """Turn the first ``count`` log-odds into shares; NaN stays."""
    for i in range(count):
        values[i] = logistic(values[i])
