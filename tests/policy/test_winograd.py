from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from numba import njit
from torch import Tensor
from torch.nn.functional import conv2d

from katachi.features.kernels.simd import LANES, load, store
from katachi.policy import convolutions as winograd
from katachi.policy.convolutions import convolve, products_type


def gradients_of(convolution: object, boards: Tensor, filters: Tensor, gradients: Tensor) -> list[Tensor]:
    result = convolution(boards, filters)  # type: ignore[operator]
    return [result.detach(), *torch.autograd.grad(result, (boards, filters), gradients)]


@pytest.mark.parametrize(
    ("count", "inputs", "outputs", "size"),
    [(1, 8, 8, 2), (3, 20, 12, 5), (8, 16, 24, 9), (9, 8, 16, 13), (2, 64, 64, 19)],
)
@pytest.mark.parametrize("layout", [torch.channels_last, torch.contiguous_format])
def test_it_is_torchs_convolution_and_so_are_its_gradients(
    count: int, inputs: int, outputs: int, size: int, layout: torch.memory_format
) -> None:
    random = torch.Generator().manual_seed(size)
    boards = torch.randn(count, inputs, size, size, generator=random).to(memory_format=layout).requires_grad_()
    filters = torch.randn(outputs, inputs, 3, 3, generator=random).requires_grad_()
    gradients = torch.randn(count, outputs, size, size, generator=random)
    wanted = gradients_of(lambda boards, filters: conv2d(boards, filters, padding=1), boards, filters, gradients)
    for found, right in zip(gradients_of(convolve, boards, filters, gradients), wanted, strict=True):
        assert found.shape == right.shape
        assert (found - right).abs().max() < 1e-4 * right.abs().max()


def test_boards_that_need_no_gradient_get_none() -> None:
    filters = torch.ones(8, 8, 3, 3, requires_grad=True)
    convolve(torch.ones(1, 8, 4, 4), filters).sum().backward()
    assert filters.grad is not None
    assert filters.grad[0, 0].numpy() == pytest.approx(np.array([[9, 12, 9], [12, 16, 12], [9, 12, 9]]), rel=1e-5)


@pytest.mark.parametrize(("count", "inputs", "outputs", "size"), [(1, 8, 8, 2), (3, 20, 12, 5), (9, 32, 16, 9)])
def test_products_of_bfloat16_are_near_those_of_float32(count: int, inputs: int, outputs: int, size: int) -> None:
    random = torch.Generator().manual_seed(size)
    boards = torch.randn(count, inputs, size, size, generator=random).requires_grad_()
    filters = torch.randn(outputs, inputs, 3, 3, generator=random).requires_grad_()
    gradients = torch.randn(count, outputs, size, size, generator=random)
    rough = gradients_of(partial(convolve, products=torch.bfloat16), boards, filters, gradients)
    for found, right in zip(rough, gradients_of(convolve, boards, filters, gradients), strict=True):
        assert found.dtype == torch.float32
        assert 0 < (found - right).square().mean() < 0.04**2 * right.square().mean()


def test_gradients_of_filters_are_summed_in_float32() -> None:
    filters = torch.zeros(8, 8, 3, 3, requires_grad=True)
    for count in (8, 8 * 600):  # a sum of equal parts in bfloat16 would stop growing at 256 of them
        boards = torch.ones(count, 8, 4, 4)
        (gradient,) = torch.autograd.grad(convolve(boards, filters, torch.bfloat16).sum(), filters)
        wanted = count * np.array([[9, 12, 9], [12, 16, 12], [9, 12, 9]])
        assert gradient[0, 0].numpy() == pytest.approx(wanted, rel=0.02)


@njit
def _copy(source, target):  # type: ignore[no-untyped-def]
    for place in range(0, source.size, LANES):
        store(target, place, load(source, place))


def test_storing_rounds_as_torch_does_and_loading_is_exact() -> None:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**32, 80_000, dtype=np.uint32)
    ties = (bits[:20_000] & np.uint32(0xFFFF0000)) | np.uint32(0x8000)
    awkward = np.array([0, 0x80000000, 1, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x00008000, 0x00018000], dtype=np.uint32)
    floats = np.concatenate([bits, ties, awkward]).view(np.float32)
    floats = np.where(np.isnan(floats), np.float32(1), floats)
    halves = np.zeros(floats.size, dtype=np.uint16)
    _copy(floats, halves)
    wanted = torch.from_numpy(floats).to(torch.bfloat16)
    assert (halves == wanted.view(torch.uint16).numpy()).all()
    back = np.zeros_like(floats)
    _copy(halves, back)
    assert (back.view(np.uint32) == wanted.float().numpy().view(np.uint32)).all()


def test_nan_stays_nan() -> None:
    missing = np.array([np.nan, -np.nan] * 4, dtype=np.float32)
    halves, back = np.zeros(8, dtype=np.uint16), np.zeros(8, dtype=np.float32)
    _copy(missing, halves)
    _copy(halves, back)
    assert np.isnan(back).all()


@pytest.mark.parametrize(
    ("flags", "wanted"),
    [
        ("fpu avx2 avx512f", torch.float32),
        ("fpu avx512f avx512_bf16", torch.bfloat16),
        ("amx_bf16 amx_tile", torch.bfloat16),
        (None, torch.float32),
    ],
)
def test_auto_is_bfloat16_only_where_the_cpu_has_it(
    flags: str | None, wanted: torch.dtype, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "cpuinfo"
    monkeypatch.setattr(winograd, "_CPU_INFO", file)
    if flags is not None:
        file.write_text(f"processor\t: 0\nmodel name\t: some\nflags\t\t: {flags}\n\n")
    assert products_type("auto") == wanted
    assert products_type("bfloat16") == torch.bfloat16
    assert products_type("float32") == torch.float32
