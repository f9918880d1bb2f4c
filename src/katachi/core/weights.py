"""Weights on disk: safetensors, never a pickle. What comes from a file is bounded before it is believed.

Networks have many arrays with names. A linear model has one: most shapes never occur, or symmetry gives them the weight
of another, so that their weights are 0 and are not stored. Its file has ``weights``, those that are not 0, and
``present``, a bit for every weight that says whether it is among them. Format 1 had all weights in full.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from katachi.core.cards import ModelError
from katachi.core.contracts import Floats

WEIGHTS: Final = "weights.safetensors"  # the name of the file
MAX_HEADER_BYTES: Final = 1 << 18
MAX_TENSORS: Final = 64
MAX_NETWORK_TENSORS: Final = 1000
_LENGTH_BYTES: Final = 8
_WEIGHTS: Final = "weights"
_PRESENT: Final = "present"


def format_weights(weights: Floats) -> bytes:
    """The bytes of a safetensors file; raises ModelError if a weight is not a number."""
    _check_numbers(weights)
    present = np.ascontiguousarray(weights).view(np.uint32) != 0  # by its bits: a weight of −0 comes back as it is
    content: bytes = save({_WEIGHTS: weights[present], _PRESENT: np.packbits(present)})
    return content


def parse_weights(content: bytes, size: int, format_number: int) -> Floats:
    """All weights of a file, [size]; raises ModelError if they are not what that format has."""
    if format_number == 1:
        return _parse(content, {_WEIGHTS: np.float32}, {_WEIGHTS: size})[_WEIGHTS]
    tensors = _parse(content, {_WEIGHTS: np.float32, _PRESENT: np.uint8}, {_PRESENT: -(-size // 8)})
    bits = np.unpackbits(tensors[_PRESENT])
    present = bits[:size].astype(np.bool_)
    if np.count_nonzero(bits) != tensors[_WEIGHTS].size or bits[size:].any():
        raise ModelError(f"its weights are damaged: {tensors[_WEIGHTS].size} of them, and other places for them")
    weights = np.zeros(size, dtype=np.float32)
    weights[present] = tensors[_WEIGHTS]
    return weights


def format_tensors(tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """The bytes of a file of arrays of float32, or of float16 to take half the room."""
    for name, tensor in tensors.items():
        _check_tensor(name, tensor)
    content: bytes = save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})
    return content


def parse_tensors(content: bytes) -> dict[str, Floats]:
    """All arrays of such a file, as float32; raises ModelError if it is damaged."""
    tensors = _load(content, MAX_NETWORK_TENSORS)
    for name, tensor in tensors.items():
        _check_tensor(name, tensor)
    return {name: tensor.astype(np.float32) for name, tensor in tensors.items()}


def _check_tensor(name: str, tensor: NDArray[Any]) -> None:
    if tensor.dtype not in (np.float32, np.float16):
        raise ModelError(f"its {name} is {tensor.dtype}, but float32 or float16 is needed")
    _check_numbers(tensor)


def _load(content: bytes, most: int) -> dict[str, NDArray[Any]]:
    _check_header(content, most)
    try:
        tensors: dict[str, NDArray[Any]] = load(content)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"its weights are damaged: {error}") from None
    return tensors


def _parse(content: bytes, kinds: Mapping[str, type[Any]], lengths: Mapping[str, int]) -> dict[str, NDArray[Any]]:
    """The tensors of a file: rows of these names, kinds and, where they are known, lengths."""
    tensors = _load(content, MAX_TENSORS)
    if set(tensors) != set(kinds):
        raise ModelError(f"its weights are {_names(tensors)}, but {_names(kinds)} are needed")
    for name, tensor in tensors.items():
        needed = [lengths.get(name, tensor.size)]
        if list(tensor.shape) != needed or tensor.dtype != kinds[name]:
            found = f"{list(tensor.shape)} {tensor.dtype}"
            raise ModelError(f"its {name} are {found}, but {needed} {np.dtype(kinds[name])} are needed")
    _check_numbers(tensors[_WEIGHTS])
    return tensors


def _check_header(content: bytes, most: int) -> None:
    """Refuse a header that is long, that has many tensors, or that is not a JSON object."""
    length = int.from_bytes(content[:_LENGTH_BYTES], "little")
    if len(content) < _LENGTH_BYTES or length > min(MAX_HEADER_BYTES, len(content) - _LENGTH_BYTES):
        raise ModelError("its weights are damaged: the header is cut off or too long")
    try:
        header = json.loads(content[_LENGTH_BYTES : _LENGTH_BYTES + length])
    except (ValueError, RecursionError):
        raise ModelError("its weights are damaged: the header is not JSON") from None
    if not isinstance(header, dict) or len(header) > most:
        raise ModelError(f"its weights are damaged: the header does not list {most} tensors at most")


def _check_numbers(weights: NDArray[Any]) -> None:
    if not np.isfinite(weights).all():
        raise ModelError("some of its weights are not numbers")


def _names(tensors: Mapping[str, object]) -> str:
    return ", ".join(sorted(tensors)) or "none"
