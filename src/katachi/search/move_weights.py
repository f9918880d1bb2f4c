"""Weights of moves: how much stronger a feature makes a move, learned from game records.

A move's strength is the product of the *gammas* of its features, one from each of four groups: the 3×3 pattern around
it, its tactics, its distances to the last two moves. Its probability is its share of the strength of all moves
(generalised Bradley–Terry, Coulom 2007).
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from katachi.core.contracts import Floats
from katachi.core.disk import write_atomically
from katachi.search.kernels.playouts import DISTANCES, TACTICS
from katachi.search.patterns import NO_CLASS, count_patterns, number_patterns

SHIPPED: Final = "patterns"
WEIGHTS: Final = "weights.safetensors"


class MoveWeightsError(ValueError):
    """Weights of moves that cannot be read, with the reason in one sentence."""


class MoveWeights(NamedTuple):
    """The gammas of each group; 1 is neutral."""

    pattern: Floats  # [classes]
    tactic: Floats  # [TACTICS]
    last: Floats  # [DISTANCES]
    before: Floats  # [DISTANCES]

    def expand_patterns(self) -> NDArray[np.float32]:
        """The gamma of every pattern code, [2²⁰]; 1 for those that no board shows."""
        classes = number_patterns()
        return np.where(classes == NO_CLASS, np.float32(1), self.pattern[classes])


def group_sizes() -> tuple[int, ...]:
    """How many features there are in each group."""
    return count_patterns(), TACTICS, DISTANCES, DISTANCES


def save_move_weights(folder: Path, weights: MoveWeights) -> None:
    """Write the weights into a folder, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / WEIGHTS, save(weights._asdict()))


def load_move_weights(folder: Path | None = None) -> MoveWeights:
    """Read weights, without a folder those that ship; raises MoveWeightsError."""
    folder = folder or Path(str(resources.files("katachi"))) / "pretrained" / SHIPPED
    try:
        tensors = load((folder / WEIGHTS).read_bytes())
    except (OSError, SafetensorError, ValueError) as error:
        raise MoveWeightsError(f"{folder}: the weights of moves cannot be read: {error}") from None
    for name, size in zip(MoveWeights._fields, group_sizes(), strict=True):
        tensor = tensors.get(name)
        if tensor is None or tensor.shape != (size,) or tensor.dtype != np.float32:
            raise MoveWeightsError(f"{folder}: {name} should be {size} numbers of 32 bits")
        if not (np.isfinite(tensor) & (tensor > 0)).all():
            raise MoveWeightsError(f"{folder}: some of {name} are not positive numbers")
    return MoveWeights(**{name: tensors[name] for name in MoveWeights._fields})
