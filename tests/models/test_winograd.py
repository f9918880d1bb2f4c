from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import conv2d

from katachi.models.winograd import convolve


def slopes_of(convolution: object, boards: Tensor, filters: Tensor, slopes: Tensor) -> list[Tensor]:
    result = convolution(boards, filters)  # type: ignore[operator]
    return [result.detach(), *torch.autograd.grad(result, (boards, filters), slopes)]


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
    slopes = torch.randn(count, outputs, size, size, generator=random)
    wanted = slopes_of(lambda boards, filters: conv2d(boards, filters, padding=1), boards, filters, slopes)
    for found, right in zip(slopes_of(convolve, boards, filters, slopes), wanted, strict=True):
        assert found.shape == right.shape
        assert (found - right).abs().max() < 1e-4 * right.abs().max()


def test_boards_that_need_no_gradient_get_none() -> None:
    filters = torch.ones(8, 8, 3, 3, requires_grad=True)
    convolve(torch.ones(1, 8, 4, 4), filters).sum().backward()
    assert filters.grad is not None
    assert filters.grad[0, 0].numpy() == pytest.approx(np.array([[9, 12, 9], [12, 16, 12], [9, 12, 9]]), rel=1e-5)
