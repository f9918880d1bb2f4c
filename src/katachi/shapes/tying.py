"""Tied inverses: learning where a shape and its color inverse share one weight with opposite signs.

Kernels know nothing of signs. While it is learned a tied weight is kept twice, and whatever is added to the one is
taken from the other, so that they stay opposite to the last bit and a shape that is its own inverse stays at 0.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.shapes.features import LocalShapes
from katachi.shapes.liberty import CombinedShapes
from katachi.shapes.shape_sharing import inverse_codes

NO_INVERSES: Final = np.empty(0, dtype=np.uint32)


def check_tying(features: LocalShapes | CombinedShapes) -> None:
    """Raise ValueError where weights cannot be tied: in bins, and of liberty shapes."""
    large = [shape_set.name for shape_set in features.sets if shape_set.is_hashed]
    if isinstance(features, CombinedShapes):
        raise ValueError("tied inverses are for basic shapes alone: leave out liberty_sets or tied")
    if large:
        raise ValueError(f"only shapes up to 3x3 can be tied: {', '.join(large)} cannot")


def untie(features: LocalShapes, weights: NDArray[Any]) -> tuple[LocalShapes, NDArray[Any]]:
    """The same shapes with a weight each, and tied weights spread over them, [..., size]; untied ones as they are.

    Raises ValueError where weights cannot be tied.
    """
    if not features.tied:
        return features, weights
    check_tying(features)
    untied = LocalShapes(features.board_size, features.sets, bins=features.bins)
    spread = weights[..., features.tables.canonical] * features.tables.signs
    return untied, np.where(untied.tables.canonical == np.arange(features.size), spread, 0.0)


def tie(features: LocalShapes, weights: NDArray[Any]) -> NDArray[Any]:
    """The tied weights out of those that were spread; untied ones as they are."""
    if not features.tied:
        return weights
    return np.where(features.tables.canonical == np.arange(features.size), weights, 0.0)


def inverse_weights(features: LocalShapes) -> NDArray[np.uint32]:
    """For every weight the one that untied shapes use for the inverse shape, [size]; none unless inverses are tied."""
    if not features.tied:
        return NO_INVERSES
    untied = LocalShapes(features.board_size, features.sets, bins=features.bins)
    canonical = untied.tables.canonical
    inverse = [
        canonical[start:stop].reshape(-1, 3**shape_set.area)[:, inverse_codes(shape_set.area)].ravel()
        for shape_set, start, stop in zip(untied.sets, untied.offsets[:-1], untied.offsets[1:], strict=True)
    ]
    return np.concatenate(inverse)
