"""The types of what an evaluator hands to a compiled search: one compilation of a search serves all evaluators."""

from __future__ import annotations

from typing import Final

from numba import from_dtype, types

from katachi.go.kernels.board import BOARD

RECORDS: Final = types.Array(from_dtype(BOARD), 1, "C")
PARAMETERS: Final = types.Tuple((types.int32[::1], types.float32[::1]))
VALUE: Final = types.FunctionType(types.float64(RECORDS, PARAMETERS))
SWEEP: Final = types.FunctionType(types.void(RECORDS, PARAMETERS, types.float64[::1]))
