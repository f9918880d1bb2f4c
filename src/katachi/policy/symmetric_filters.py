"""Filters and bias maps that look the same in all eight symmetries of the board (Maddison et al. 2014, section 3.2).

What is learned is free; what is used is its mean over the symmetries, so each gradient is averaged over them too.
"""

from __future__ import annotations

import torch
from torch import Tensor


def symmetrize(maps: Tensor) -> Tensor:
    """The mean of square maps [..., k, k] over the eight symmetries."""
    turned = [torch.rot90(maps, turns, (-2, -1)) for turns in range(4)]
    mean = sum(turned[1:], start=turned[0]) / len(turned)
    return (mean + mean.flip(-1)) / 2


def first_of_orbits(maps: Tensor) -> Tensor:
    """Square maps in which every point has the number of one of the points that symmetry makes equal to it.

    So that symmetric filters begin as widely spread as free ones; their mean would not.
    """
    width = maps.shape[-1]
    points = torch.arange(width * width).view(width, width)
    turned = [torch.rot90(points, turns) for turns in range(4)]
    least = torch.stack([*turned, *(each.flip(-1) for each in turned)]).amin(0)
    return maps.flatten(-2)[..., least.flatten()].reshape(maps.shape)
