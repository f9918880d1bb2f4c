"""The weights of a convolutional RBM as arrays: whether they fit, turned kernels, and the distance to the edge."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Floats
from katachi.crbm.crbm_config import EDGE_DISTANCES, CrbmConfig, LayerShape
from katachi.go.points import Symmetry

Weights = dict[str, Floats]


def check_weights(config: CrbmConfig, weights: Mapping[str, NDArray[np.float32]]) -> None:
    """Raise ValueError if there are no such weights, or they are no numbers."""
    shapes = {name: tuple(array.shape) for name, array in weights.items()}
    if shapes != config.weight_shapes():
        different = sorted(dict(shapes.items() ^ config.weight_shapes().items()))
        raise ValueError(f"its weights are not those of this CRBM: {', '.join(different[:3])}")
    for name, array in weights.items():
        if not np.isfinite(array).all():
            raise ValueError(f"some of its {name} are no numbers")


def orient(kernels: Floats, shape: LayerShape) -> Floats:
    """All kernels in all their orientations, [kernels · orientations, channels, k, k]."""
    if shape.orientations == 1:
        return kernels
    turned = np.stack([symmetry.transform(kernels) for symmetry in Symmetry], axis=1)
    return turned.reshape(-1, *kernels.shape[1:])


def edge_planes(size: int) -> Floats:
    """How far the nearest edge is from every point, as planes of zeros and ones, [EDGE_DISTANCES, n, n]."""
    line = np.minimum(np.arange(size), np.arange(size)[::-1])
    distance = np.minimum(np.minimum.outer(line, line), EDGE_DISTANCES - 1)
    planes: Floats = (distance == np.arange(EDGE_DISTANCES)[:, None, None]).astype(np.float32)
    return planes
