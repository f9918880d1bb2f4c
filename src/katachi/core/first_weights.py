"""The weights in the state of a learner, which checkpoints keep, and those that another run begins with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from katachi.core.models import find_model
from katachi.core.training import CHECKPOINT, TrainingError

Arrays = Mapping[str, NDArray[Any]]

_WEIGHTS: Final = "weights/"  # how their names begin in a state


def name_weights(weights: Arrays) -> dict[str, NDArray[Any]]:
    """Weights as they are called in a state."""
    return {_WEIGHTS + name: array for name, array in weights.items()}


def weights_of(state: Arrays) -> dict[str, NDArray[Any]]:
    """The weights in a state."""
    return {name.removeprefix(_WEIGHTS): array for name, array in state.items() if name.startswith(_WEIGHTS)}


def load_first_weights(name: str | None, read_model: Callable[[Path], Arrays]) -> Arrays | None:
    """The weights of a run at its last checkpoint, or of a model; None without a name.

    Raises TrainingError or ModelError.
    """
    if name is None:
        return None
    checkpoint = Path(name) / CHECKPOINT
    if not checkpoint.exists():
        return read_model(find_model(name))
    try:
        return weights_of(load_file(checkpoint))
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"{checkpoint} has no weights to begin with: {error}") from None
