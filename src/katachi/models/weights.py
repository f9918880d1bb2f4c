"""Weights on disk: safetensors, never a pickle. What comes from a file is bounded before it is believed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from katachi.interfaces import Floats
from katachi.models.cards import ModelError

MAX_BYTES: Final = 1 << 30
MAX_HEADER_BYTES: Final = 1 << 16
MAX_TENSORS: Final = 64
_LENGTH_BYTES: Final = 8


def format_weights(tensors: Mapping[str, Floats]) -> bytes:
    """The bytes of a safetensors file; raises ModelError if a weight is no number."""
    for name, tensor in tensors.items():
        _check_numbers(name, tensor)
    content: bytes = save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})
    return content


def parse_weights(content: bytes, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Floats]:
    """The tensors of a file, which must have exactly these names and shapes and be float32; raises ModelError."""
    _check_header(content)
    try:
        tensors = load(content)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"its weights are damaged: {error}") from None
    if set(tensors) != set(shapes):
        raise ModelError(f"its weights are {_names(tensors)}, but {_names(shapes)} are needed")
    for name, tensor in tensors.items():
        if tensor.shape != shapes[name] or tensor.dtype != np.float32:
            found = f"{list(tensor.shape)} {tensor.dtype}"
            raise ModelError(f"its weights {name} are {found}, but {list(shapes[name])} float32 are needed")
        _check_numbers(name, tensor)
    return tensors


def _check_header(content: bytes) -> None:
    """Refuse a header that is long, that has many tensors, or that is no JSON object."""
    length = int.from_bytes(content[:_LENGTH_BYTES], "little")
    if len(content) < _LENGTH_BYTES or length > min(MAX_HEADER_BYTES, len(content) - _LENGTH_BYTES):
        raise ModelError("its weights are damaged: the header is cut off or too long")
    try:
        header = json.loads(content[_LENGTH_BYTES : _LENGTH_BYTES + length])
    except (ValueError, RecursionError):
        raise ModelError("its weights are damaged: the header is no JSON") from None
    if not isinstance(header, dict) or len(header) > MAX_TENSORS:
        raise ModelError(f"its weights are damaged: the header does not list {MAX_TENSORS} tensors at most")


def _check_numbers(name: str, tensor: Floats) -> None:
    if not np.isfinite(tensor).all():
        raise ModelError(f"some of its weights {name} are no numbers")


def _names(tensors: Mapping[str, object]) -> str:
    return ", ".join(sorted(tensors)) or "none"
