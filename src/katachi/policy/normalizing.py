"""Batch normalization with ReLU and the sum of a residual block, in two passes over memory (Ioffe and Szegedy 2015).

y = max(0, gain · (x − mean) / √(variance + ε) + shift + added), for every channel with the mean and variance of the
whole batch: where several processes share one, that of all of them.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from katachi.policy.config import EPSILON
from katachi.policy.kernels._normalizing import scale_and_rectify, spread_slopes, sum_slopes, sum_squares

_NOTHING: Final = np.empty(0, dtype=np.float32)


class Statistics(NamedTuple):
    """The mean and the variance of every channel."""

    mean: Tensor
    variance: Tensor


def normalize_batch(boards: Tensor, gain: Tensor, shift: Tensor, added: Tensor | None) -> tuple[Tensor, Statistics]:
    """Normalize by the batch's own statistics, which are given back; channels last in memory, a multiple of eight."""
    result, mean, variance = _Normalization.apply(boards, gain, shift, added)  # type: ignore[no-untyped-call]
    return result, Statistics(mean, variance)


def normalize(boards: Tensor, gain: Tensor, shift: Tensor, added: Tensor | None, statistics: Statistics) -> Tensor:
    """Normalize by given statistics; without gradients."""
    scale = gain.detach() / torch.sqrt(statistics.variance + EPSILON)
    return _rectify(boards, scale, shift.detach() - scale * statistics.mean, added)


class _Normalization(torch.autograd.Function):
    @staticmethod
    def forward(
        context: Any, boards: Tensor, gain: Tensor, shift: Tensor, added: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        flat = flatten(boards)
        totals = np.zeros(2 * gain.numel())
        sum_squares(flat, gain.numel(), totals)
        count = _sum_over_processes(totals, flat.size // gain.numel())
        mean, squares = torch.from_numpy(totals / count).view(2, -1)
        variance = torch.clamp(squares - mean * mean, min=0)
        deviation = torch.sqrt(variance + EPSILON)
        scale = gain / deviation
        result = _rectify(boards, scale.float(), (shift - scale * mean).float(), added)
        context.save_for_backward(boards, result, gain, mean, deviation)
        context.count = count
        statistics = (mean.float(), variance.float())
        context.mark_non_differentiable(*statistics)
        return result, *statistics

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
        """Slopes: gain / deviation · (g − mean(g) − z · mean(gz)), g those before ReLU, z = (x − mean) / deviation."""
        boards, result, gain, mean, deviation = context.saved_tensors
        slopes, results, flat = flatten(gradients[0]), flatten(result), flatten(boards)
        own = np.zeros(2 * gain.numel())
        sum_slopes(slopes, results, flat, gain.numel(), own)
        totals = own.copy()
        _sum_over_processes(totals, 0)
        # Gradients of weights are of this process's share: whoever trains sums them, like all others.
        own_slope, own_product = _center(own, mean, deviation)
        slope, product = (total / context.count for total in _center(totals, mean, deviation))
        scale = gain / deviation
        table = torch.cat([scale, -scale * product / deviation, scale * (product * mean / deviation - slope)])
        out = torch.empty_like(_rows(boards))
        added = torch.empty_like(out) if context.needs_input_grad[3] else None
        to_added = _NOTHING if added is None else added.view(-1).numpy()
        spread_slopes(slopes, results, flat, table.float().numpy(), out.view(-1).numpy(), to_added)
        back = None if added is None else added.permute(0, 3, 1, 2)
        return out.permute(0, 3, 1, 2), own_product.float(), own_slope.float(), back


def _center(totals: NDArray[np.float64], mean: Tensor, deviation: Tensor) -> tuple[Tensor, Tensor]:
    """From the sums of g and g · x to those of g and g · z."""
    slope, product = torch.from_numpy(totals).view(2, -1)
    return slope, (product - mean * slope) / deviation


def _sum_over_processes(totals: NDArray[np.float64], count: int) -> int:
    """Sum the totals, in place, and the counts of all processes that share the batch."""
    from torch import distributed

    if not (distributed.is_available() and distributed.is_initialized()):
        return count
    every = torch.tensor([*totals, count], dtype=torch.float64)
    distributed.all_reduce(every)
    totals[:] = every[:-1].numpy()
    return int(every[-1])


def _rectify(boards: Tensor, scale: Tensor, offset: Tensor, added: Tensor | None) -> Tensor:
    rows = _rows(boards)
    out = torch.empty_like(rows)
    more = _NOTHING if added is None else flatten(added)
    scale_and_rectify(rows.view(-1).numpy(), torch.cat([scale, offset]).numpy(), more, out.view(-1).numpy())
    return out.permute(0, 3, 1, 2)


def _rows(boards: Tensor) -> Tensor:
    return boards.detach().permute(0, 2, 3, 1).contiguous()


def flatten(boards: Tensor) -> NDArray[np.float32]:
    """Boards as kernels want them: [board, row, column, channel] in one row, without a copy where they lie so."""
    flat: NDArray[np.float32] = _rows(boards).view(-1).numpy()
    return flat
