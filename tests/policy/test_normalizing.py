from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn.functional import batch_norm

from katachi.policy.config import EPSILON
from katachi.policy.convolutions import Statistics, normalize, normalize_batch


def naive(boards: Tensor, gain: Tensor, shift: Tensor, added: Tensor | None) -> Tensor:
    result = batch_norm(boards, None, None, gain, shift, training=True, eps=EPSILON)
    return torch.relu(result if added is None else result + added)


@pytest.mark.parametrize(("count", "channels", "size"), [(3, 8, 3), (5, 24, 9)])
@pytest.mark.parametrize("is_block", [False, True])
def test_it_is_torchs_normalization_and_so_are_its_gradients(
    count: int, channels: int, size: int, is_block: bool
) -> None:
    random = torch.Generator().manual_seed(1)
    boards = torch.randn(count, channels, size, size, generator=random) * 3 + 5
    gain, shift = torch.randn(2, channels, generator=random)
    added = torch.randn(count, channels, size, size, generator=random) if is_block else None
    gradients = torch.randn(count, channels, size, size, generator=random)
    inputs = [tensor.requires_grad_() for tensor in (boards, gain, shift, added) if tensor is not None]
    right = naive(boards, gain, shift, added)
    wanted = [right, *torch.autograd.grad(right, inputs, gradients)]
    result, found_statistics = normalize_batch(boards, gain, shift, added)
    for found, right in zip([result, *torch.autograd.grad(result, inputs, gradients)], wanted, strict=True):
        assert (found - right).abs().max() < 1e-4 * max(1, right.abs().max())
    assert torch.allclose(found_statistics.mean, boards.mean((0, 2, 3)), rtol=1e-5)
    assert torch.allclose(found_statistics.variance, boards.var((0, 2, 3), correction=0), rtol=1e-4)


def test_given_statistics_are_used_as_they_are() -> None:
    boards = torch.tensor([3.0, -1.0]).view(2, 1, 1, 1).expand(2, 8, 1, 1)
    statistics = Statistics(torch.full((8,), 1.0), torch.full((8,), 4.0 - EPSILON))
    result = normalize(boards, torch.full((8,), 10.0), torch.full((8,), 5.0), torch.ones(2, 8, 1, 1), statistics)
    assert result[:, 3, 0, 0].tolist() == pytest.approx([16, 0])
