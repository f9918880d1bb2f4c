"""A tiny convolutional RBM from its definition: the energy of all visible and hidden states, in plain loops."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from katachi.crbm.config import CrbmConfig
from katachi.go.points import Symmetry

Arrays = Mapping[str, NDArray[np.float64]]


def all_boards(config: CrbmConfig) -> NDArray[np.float64]:
    """Every board of one state a point, as planes [B, states, n, n]."""
    states = config.planes.count
    points = np.array(list(product(range(states), repeat=config.size**2)))
    planes = (points[:, None, :] == np.arange(states)[None, :, None]).astype(np.float64)
    return planes.reshape(len(points), states, config.size, config.size)


def inputs(config: CrbmConfig, weights: Arrays, board: NDArray[np.float64]) -> NDArray[np.float64]:
    """What reaches the hidden units, [kernels, orientations, places, places]: cell by cell."""
    kernels, side = weights["first.kernels"], config.kernel_size
    symmetries = [Symmetry.IDENTITY] if config.units == "binary" else list(Symmetry)
    places = config.size - side + 1
    found = np.zeros((config.kernels, len(symmetries), places, places))
    for k, (g, symmetry), i, j in product(range(config.kernels), enumerate(symmetries), range(places), range(places)):
        turned = symmetry.transform(kernels[k])
        found[k, g, i, j] = weights["first.hidden_bias"][k]
        for c, u, v in product(range(len(board)), range(side), range(side)):
            found[k, g, i, j] += turned[c, u, v] * board[c, i + u, j + v]
    return found


def hidden_states(config: CrbmConfig) -> list[NDArray[np.float64]]:
    """What one kernel can be at one place: which of its orientations is on."""
    if config.units == "binary":
        return [np.zeros(1), np.ones(1)]
    off = [np.zeros(8)] if config.units == "oriented-or-off" else []
    return [*off, *np.eye(8)]


def free_energy(config: CrbmConfig, weights: Arrays, board: NDArray[np.float64]) -> float:
    """−log Σ_h e^(−E(v, h)), with a term for every h."""
    reach = inputs(config, weights, board)
    places = reach.shape[-1]
    energies = []
    for choice in product(hidden_states(config), repeat=config.kernels * places**2):
        hidden = np.array(choice).reshape(config.kernels, places, places, -1).transpose(0, 3, 1, 2)
        energies.append(-(hidden * reach).sum())
    bias = weights["first.visible_bias"][:, None, None]
    visible = ((board - bias) ** 2).sum() / 2 if config.visible == "real" else -(board * bias).sum()
    return float(visible - np.logaddexp.reduce(-np.array(energies)))


def log_probabilities(config: CrbmConfig, weights: Arrays) -> NDArray[np.float64]:
    """Of all boards."""
    energies = np.array([free_energy(config, weights, board) for board in all_boards(config)])
    return -energies - np.logaddexp.reduce(-energies)


def likelihood_gradients(
    config: CrbmConfig, weights: Arrays, shares: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """How the mean log probability of boards, which come in these shares, changes with each weight: by differences."""
    gradients = {name: np.zeros_like(array) for name, array in weights.items()}
    for name, array in weights.items():
        for place in np.ndindex(array.shape):
            ends = []
            for step in (1e-4, -1e-4):
                moved = {**weights, name: array.copy()}
                moved[name][place] += step
                ends.append(shares @ log_probabilities(config, moved))
            gradients[name][place] = (ends[0] - ends[1]) / 2e-4
    return gradients
