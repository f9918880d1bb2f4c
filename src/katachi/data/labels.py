"""Labels on disk: who owns each point at the end of the games of a set, and what was answered to find it out.

```
SET/labels.npy     [games, n²] of int8: +1 Black's, −1 White's, 0 neutral; a row of −128 where it is not known
SET/answers.npy    [games, sources] of uint8: what each source said of each game, as ``Answer`` numbers it
SET/labels.json    which set they belong to, and who was asked
```

Each file is written whole or not at all, the answers last; so a kill loses the last minute and leaves nothing that
does not fit. ``data/labeling.py`` finds labels.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from katachi.core.disk import write_atomically
from katachi.data.label_answers import SOURCES

LABELS: Final = "labels.npy"
ANSWERS: Final = "answers.npy"
CARD: Final = "labels.json"
NO_LABEL: Final = -128


class LabelError(ValueError):
    """Labels that cannot be read, or are not there, and why."""


class LabelCard(BaseModel):
    """What labels belong to, and how they were found."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    format: Literal[1] = 1
    dataset: str  # the digest of the set
    asked: list[str] = []  # everybody who was, in words
    seconds: float = 0.0


class Labels:
    """The labels of a set in the making, in memory; ``save`` writes them."""

    def __init__(self, path: Path, card: LabelCard, labels: NDArray[np.int8], answers: NDArray[np.uint8]) -> None:
        self.path = path
        self.card = card
        self.labels = labels
        self.answers = answers

    @classmethod
    def open(cls, path: Path, games: int, size: int, digest: str) -> Self:
        """The labels of a set so far, none in the beginning; raises LabelError if they are damaged, or of another."""
        if not (path / LABELS).exists():
            labels = np.full((games, size * size), NO_LABEL, dtype=np.int8)
            return cls(path, LabelCard(dataset=digest), labels, np.zeros((games, len(SOURCES)), dtype=np.uint8))
        labels = np.array(open_labels(path, games, size, digest))
        if (path / ANSWERS).exists():
            answers = np.array(_map(path / ANSWERS, np.uint8, (games, len(SOURCES))))
        else:  # a kill came between the first writing of the two
            answers = np.zeros((games, len(SOURCES)), dtype=np.uint8)
        return cls(path, _read_card(path), labels, answers)

    def save(self, card: LabelCard) -> None:
        """Write what is known now."""
        self.card = card
        write_atomically(self.path / CARD, card.model_dump_json(indent=2) + "\n")
        _write(self.path / LABELS, self.labels)
        _write(self.path / ANSWERS, self.answers)


def open_labels(path: Path, games: int, size: int, digest: str) -> NDArray[np.int8]:
    """The labels of a set, mapped from disk; raises LabelError if there are none, or they are not what they must be."""
    if not (path / LABELS).exists():
        raise LabelError(f"{path} has no labels: katachi data label {path} finds them")
    if _read_card(path).dataset != digest:
        raise LabelError(f"the labels in {path} are of another set: delete {LABELS}, {ANSWERS} and {CARD} there")
    labels = _map(path / LABELS, np.int8, (games, size * size))
    unknown = labels == NO_LABEL
    if np.any(unknown != unknown[:, :1]) or np.any((labels > 1) | ((labels < -1) & ~unknown)):
        raise LabelError(f"{path / LABELS} is damaged: it says of a point what cannot be; delete it and label again")
    return labels


def _read_card(path: Path) -> LabelCard:
    try:
        return LabelCard.model_validate_json((path / CARD).read_bytes())
    except (OSError, ValidationError):
        raise LabelError(f"{path / CARD} is missing or damaged: delete {LABELS}, {ANSWERS} and it") from None


def _map(path: Path, dtype: DTypeLike, shape: tuple[int, int]) -> NDArray[Any]:
    try:
        array = np.asarray(np.load(path, mmap_mode="r"))
    except (OSError, ValueError, EOFError) as error:
        raise LabelError(f"{path} cannot be read: {error}; delete it and label again") from None
    if (array.dtype, array.shape) != (np.dtype(dtype), shape):
        found = f"{array.dtype} {list(array.shape)} instead of {np.dtype(dtype)} {list(shape)}"
        raise LabelError(f"{path} does not fit its set, it is {found}: delete it and label again")
    return array


def _write(path: Path, array: NDArray[Any]) -> None:
    buffer = io.BytesIO()
    np.save(buffer, array)
    write_atomically(path, buffer.getvalue())
