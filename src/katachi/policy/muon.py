"""Muon: momentum whose matrices are made nearly orthogonal before every step (Jordan et al. 2024).

All directions of a matrix of filters then move alike, not only those with the largest gradients. A step is scaled so
that its RMS is that of AdamW, whose learning rate and weight decay it can share (Liu et al. 2025, section 2.2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Final

import torch
from torch import Tensor

_MOMENTUM: Final = 0.95
_NEWTON_SCHULZ: Final = (3.4445, -4.7750, 2.0315)  # of x, x³ and x⁵: steep at 0, between 0.7 and 1.2 after five steps
_STEPS: Final = 5
_ADAMW_RMS: Final = 0.2
_TINY: Final = 1e-7


class Muon(torch.optim.Optimizer):
    """Muon for filters [outputs, inputs, height, width], each taken as a matrix with a row per output."""

    def __init__(self, filters: Iterable[Tensor], lr: float, weight_decay: float) -> None:
        super().__init__(filters, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Move all filters that have gradients; takes no closure."""
        assert closure is None
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self._move(weight, weight.grad, group["lr"], group["weight_decay"])

    def _move(self, weight: Tensor, gradient: Tensor, lr: float, weight_decay: float) -> None:
        memory = self.state[weight]
        if not memory:
            memory["momentum"] = torch.zeros_like(weight)
        momentum = memory["momentum"].lerp_(gradient, 1 - _MOMENTUM)
        ahead = gradient.lerp(momentum, _MOMENTUM)  # Nesterov's form
        direction = orthogonalize(ahead.flatten(1))
        weight.mul_(1 - lr * weight_decay)
        scale = _ADAMW_RMS * math.sqrt(max(direction.shape))
        weight.add_(direction.view_as(weight), alpha=-lr * scale)


def orthogonalize(matrix: Tensor) -> Tensor:
    """A matrix with the same singular vectors, and singular values near 1 where they were not near 0.

    Newton–Schulz iterations in place of a decomposition: five steps of a polynomial of the fifth degree.
    """
    a, b, c = _NEWTON_SCHULZ
    wide: Tensor = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    wide = wide / (wide.norm() + _TINY)
    for _ in range(_STEPS):
        square = wide @ wide.T
        wide = a * wide + (b * square + c * (square @ square)) @ wide
    return wide if matrix.shape[0] <= matrix.shape[1] else wide.T
