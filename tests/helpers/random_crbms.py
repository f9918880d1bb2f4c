"""Convolutional RBMs with random weights, one of every kind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katachi.crbm.config import CrbmConfig

KINDS = {
    "binary": CrbmConfig(size=5, kernels=6),
    "real": CrbmConfig(size=5, kernels=6, visible="real"),
    "oriented": CrbmConfig(size=5, kernels=3, units="oriented"),
    "oriented-or-off": CrbmConfig(size=5, kernels=3, units="oriented-or-off", edges=True),
    "liberties": CrbmConfig(size=5, kernels=6, kernel_size=2, liberties=True, edges=True),
    "stacked": CrbmConfig(size=5, kernels=4, kernel_size=2, units="oriented", second_kernels=5, second_size=3),
    "stacked on pooled": CrbmConfig(size=5, kernels=4, units="oriented-or-off", second_kernels=5, second_size=2),
    "whole board": CrbmConfig(size=5, kernels=3, kernel_size=5),
}


def random_weights(config: CrbmConfig, seed: int = 0, scale: float = 0.7) -> dict[str, NDArray[np.float32]]:
    rng = np.random.default_rng(seed)
    shapes = config.weight_shapes().items()
    return {name: rng.normal(scale=scale, size=shape).astype(np.float32) for name, shape in shapes}
