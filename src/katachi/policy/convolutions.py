"""3×3 convolutions by Winograd's method F(4×4, 3×3), about twice as fast in training as torch's own on a CPU.

Of the products of a convolution a quarter remains, as 36 matrix products; the rest are sums. Boards are transformed a
few at a time, so that what lies between the transforms stays in the cache (Lavin and Gray 2016).

The matrix products may be of bfloat16: then what is transformed is rounded to it, with a relative RMS error of 2 to 3
% of what a layer returns, while boards, filters and the sums of their gradients stay float32.
"""

from __future__ import annotations

from pathlib import Path
from threading import local
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import pad

from katachi.features.kernels.simd import LANES
from katachi.policy.config import EPSILON, Products
from katachi.policy.kernels.convolutions import (
    TILE,
    WINDOW,
    scale_and_rectify,
    spread_gradients,
    sum_gradients,
    sum_squares,
    transform_input_gradients,
    transform_inputs,
    transform_output_gradients,
    transform_outputs,
)

# Batch normalization with ReLU and the sum of a residual block, in two passes over memory (Ioffe and Szegedy 2015).
#
# y = max(0, gain · (x − mean) / √(variance + ε) + shift + added), for every channel with the mean and variance of the
# whole batch: where several processes share one, that of all of them.

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
        """The gain / deviation · (g − mean(g) − z · mean(gz)); g: gradients before ReLU, z = (x − mean) / deviation."""
        boards, result, gain, mean, deviation = context.saved_tensors
        outer, results, flat = flatten(gradients[0]), flatten(result), flatten(boards)
        own = np.zeros(2 * gain.numel())
        sum_gradients(outer, results, flat, gain.numel(), own)
        totals = own.copy()
        _sum_over_processes(totals, 0)
        # Gradients of weights are of this process's share: whoever trains sums them, like all others.
        own_gradient, own_product = _center(own, mean, deviation)
        gradient, product = (total / context.count for total in _center(totals, mean, deviation))
        scale = gain / deviation
        table = torch.cat([scale, -scale * product / deviation, scale * (product * mean / deviation - gradient)])
        out = torch.empty_like(_rows(boards))
        added = torch.empty_like(out) if context.needs_input_grad[3] else None
        to_added = _NOTHING if added is None else added.view(-1).numpy()
        spread_gradients(outer, results, flat, table.float().numpy(), out.view(-1).numpy(), to_added)
        back = None if added is None else added.permute(0, 3, 1, 2)
        return out.permute(0, 3, 1, 2), own_product.float(), own_gradient.float(), back


def _center(totals: NDArray[np.float64], mean: Tensor, deviation: Tensor) -> tuple[Tensor, Tensor]:
    """From the sums of g and g · x to those of g and g · z."""
    gradient, product = torch.from_numpy(totals).view(2, -1)
    return gradient, (product - mean * gradient) / deviation


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


# Winograd

_BOARDS: Final = 8  # at a time: their transforms are 2 MB for 64 channels
_FILTER_TRANSFORM: Final = (
    torch.tensor([[6.0, 0, 0], [-4, -4, -4], [-4, 4, -4], [1, 2, 4], [1, -2, 4], [0, 0, 24]]) / 24
)  # G of Lavin and Gray, section 4.3


_CPU_INFO: Final = Path("/proc/cpuinfo")
_BFLOAT16_FLAGS: Final = {"avx512_bf16", "amx_bf16"}


def products_type(products: Products) -> torch.dtype:
    """The type of the factors; "auto" is bfloat16 where the CPU multiplies it, which elsewhere is ten times slower."""
    if products == "auto":
        return torch.bfloat16 if _BFLOAT16_FLAGS & _cpu_flags() else torch.float32
    return torch.bfloat16 if products == "bfloat16" else torch.float32


def _cpu_flags() -> set[str]:
    """What Linux says that the first core can do; nothing elsewhere."""
    try:
        lines = _CPU_INFO.read_text(encoding="utf-8").splitlines()
    except OSError:
        return set()
    return next((set(line.partition(":")[2].split()) for line in lines if line.startswith("flags")), set())


def convolve(boards: Tensor, filters: Tensor, products: torch.dtype = torch.float32) -> Tensor:
    """What ``conv2d(boards, filters, padding=1)`` is, for filters [outputs, inputs, 3, 3]; channels last in memory.

    ``products`` is the type of what is multiplied, float32 or bfloat16; boards, filters and the result are float32.
    """
    outputs, inputs = filters.shape[:2]
    more_inputs, more_outputs = -inputs % LANES, -outputs % LANES
    if more_inputs:
        boards = pad(boards, (0, 0, 0, 0, 0, more_inputs))
    if more_inputs or more_outputs:
        filters = pad(filters, (0, 0, 0, 0, 0, more_inputs, 0, more_outputs))
    result: Tensor = _Convolution.apply(boards, filters, products)  # type: ignore[no-untyped-call]
    return result[:, :outputs] if more_outputs else result


class _Tiles:
    """Room for a few transformed boards of one size and number of channels."""

    def __init__(self, size: int, channels: int, kind: torch.dtype) -> None:
        self.per_board = (-(-size // TILE)) ** 2
        tiles = _BOARDS * self.per_board + 1  # an odd number keeps the 36 matrices apart in the cache; the last stays 0
        self._tiles = torch.zeros(WINDOW * WINDOW, tiles, channels, dtype=kind)
        self.stride = self._tiles.stride(0)
        flat = self._tiles.view(-1)  # numpy has no bfloat16: kernels take uint16 for it
        self.flat: NDArray[Any] = (flat.view(torch.uint16) if kind == torch.bfloat16 else flat).numpy()
        frame = (TILE * -(-size // TILE) + 2) ** 2 * channels
        self.scratch = np.zeros(frame + 2 * WINDOW * WINDOW * LANES, dtype=np.float32)

    def of(self, boards: int) -> Tensor:
        """Those of the first boards, [36, tiles, channels]; all in one piece is faster, and the last tile harmless."""
        return self._tiles if boards == _BOARDS else self._tiles[:, : boards * self.per_board]


class _Rooms(local):
    """The tiles of a thread, which all its layers use in turn."""

    def __init__(self) -> None:
        self.tiles: dict[tuple[int, int, torch.dtype, int], _Tiles] = {}


_ROOMS: Final = _Rooms()


def _tiles(size: int, channels: int, kind: torch.dtype, place: int) -> _Tiles:
    """Room for tiles; each kind of transform has a place of its own, because it leaves other margins in the scratch."""
    key = (size, channels, kind, place)
    if key not in _ROOMS.tiles:
        _ROOMS.tiles[key] = _Tiles(size, channels, kind)
    return _ROOMS.tiles[key]


class _FilterGradients:
    """Those of transformed filters [36, inputs, outputs], summed in float32."""

    def __init__(self, filters: Tensor) -> None:
        self.sums = torch.zeros(filters.shape)
        self._part = None if filters.dtype == torch.float32 else torch.empty_like(filters)

    def add(self, before: Tensor, after: Tensor) -> None:
        """Add those of some tiles, [36, tiles, inputs] and [36, tiles, outputs]."""
        if self._part is None:
            self.sums.baddbmm_(before.transpose(1, 2), after)
        else:
            self.sums += torch.bmm(before.transpose(1, 2), after, out=self._part)


class _Convolution(torch.autograd.Function):
    """The convolution and its gradients; the transforms of the boards are made again for the filters' gradient."""

    @staticmethod
    def forward(context: Any, boards: Tensor, filters: Tensor, products: torch.dtype) -> Tensor:
        count, inputs, size, _ = boards.shape
        outputs = filters.shape[0]
        transformed_filters = torch.einsum("ai,kcij,bj->abck", _FILTER_TRANSFORM, filters, _FILTER_TRANSFORM)
        transformed_filters = transformed_filters.reshape(-1, inputs, outputs).to(products).contiguous()
        context.save_for_backward(boards, transformed_filters)
        source = flatten(boards)
        result = torch.empty(count, size, size, outputs)
        target = result.view(-1).numpy()
        before, after = _tiles(size, inputs, products, 0), _tiles(size, outputs, products, 1)
        for first in range(0, count, _BOARDS):
            some = min(_BOARDS, count - first)
            transform_inputs(source, first, some, size, inputs, before.flat, before.stride, before.scratch)
            torch.bmm(before.of(some), transformed_filters, out=after.of(some))
            transform_outputs(after.flat, after.stride, target, first, some, size, outputs, after.scratch)
        return result.permute(0, 3, 1, 2)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor, None]:
        boards, filters = context.saved_tensors
        count, inputs, size, _ = boards.shape
        outputs = filters.shape[2]
        source, output_gradients = flatten(boards), flatten(gradients[0])
        board_gradients = torch.empty(count, size, size, inputs) if context.needs_input_grad[0] else None
        filter_gradients = _FilterGradients(filters)
        transposed = filters.transpose(1, 2)
        if filters.dtype == torch.bfloat16:
            transposed = transposed.contiguous()  # which oneDNN would make of it again for every product
        places = {0: inputs, 2: outputs, 3: inputs}
        before, after, back = (_tiles(size, channels, filters.dtype, place) for place, channels in places.items())
        for first in range(0, count, _BOARDS):
            some = min(_BOARDS, count - first)
            transform_inputs(source, first, some, size, inputs, before.flat, before.stride, before.scratch)
            transform_output_gradients(
                output_gradients, first, some, size, outputs, after.flat, after.stride, after.scratch
            )
            filter_gradients.add(before.of(some), after.of(some))
            if board_gradients is not None:
                torch.bmm(after.of(some), transposed, out=back.of(some))
                target = board_gradients.view(-1).numpy()
                transform_input_gradients(back.flat, back.stride, target, first, some, size, inputs, back.scratch)
        squares = filter_gradients.sums.view(WINDOW, WINDOW, inputs, outputs)
        plain = torch.einsum("ai,abck,bj->kcij", _FILTER_TRANSFORM, squares, _FILTER_TRANSFORM)
        return None if board_gradients is None else board_gradients.permute(0, 3, 1, 2), plain, None
