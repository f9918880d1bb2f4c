"""Log-odds to probabilities, for the kernels of all values that are sums of features."""

from __future__ import annotations

import math
from typing import Final

from numba import from_dtype, types

from katachi.go.kernels import kernel
from katachi.go.kernels.board import BOARD


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


# The types of what an evaluator hands to a compiled search: one compilation of a search serves all evaluators.

RECORDS: Final = types.Array(from_dtype(BOARD), 1, "C")
PARAMETERS: Final = types.Tuple((types.int32[::1], types.float32[::1]))
VALUE: Final = types.FunctionType(types.float64(RECORDS, PARAMETERS))
SWEEP: Final = types.FunctionType(types.void(RECORDS, PARAMETERS, types.float64[::1]))
