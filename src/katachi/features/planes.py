"""What a set of planes is: a position as a stack of boards of zeros and ones, one for each thing that a network sees.

The sets themselves belong to the systems that learn from them, such as ``policy.planes``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from katachi.go.board import Board, stack_records

HIGHEST_RANK: Final = 9
_LAYOUT: Final = 1  # raise it when a plane changes its meaning but not its name

Planes: TypeAlias = NDArray[np.uint8]
Ranks: TypeAlias = NDArray[np.int8]


@dataclass(frozen=True)
class PlaneKind:
    """Planes that tell one thing: a single one, or one for each of its ``bins``."""

    title: str
    meaning: str  # of a one
    bins: tuple[str, ...] = ("",)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"{self.title}: {bin_}" if bin_ else self.title for bin_ in self.bins)


@dataclass(frozen=True)
class PlaneSet:
    """Planes in their order, and the compiled function that fills them."""

    name: str
    kinds: tuple[PlaneKind, ...]
    kernel: Callable[[NDArray[Any], Ranks, Planes], None]  # of boards [B], ranks [B] and planes [B, count, n²]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of every plane, such as ``liberties after: 3``."""
        return tuple(name for kind in self.kinds for name in kind.names)

    @property
    def count(self) -> int:
        """How many planes there are."""
        return len(self.names)

    @property
    def digest(self) -> str:
        """A short text that changes with anything that fixes the meaning of a plane."""
        return hashlib.sha256(repr((_LAYOUT, self.name, self.names)).encode()).hexdigest()[:16]

    def describe(self, plane: int) -> str:
        """A plane in words: its name, and what a one in it means."""
        if not 0 <= plane < self.count:
            raise ValueError(f"{plane} is not a plane of {self.name}: there are {self.count}")
        kind = [kind for kind in self.kinds for _ in kind.bins][plane]
        return f"{self.names[plane]} ({kind.meaning})"

    def fill(self, records: NDArray[Any], ranks: Ranks, out: Planes) -> None:
        """Write the planes of boards [B] to ``out`` [B, count, n, n]; ``ranks`` [B] are 1…9 dan, 0 where unknown."""
        lines = out.shape[-1]
        if out.shape != (records.size, self.count, lines, lines) or not out.flags.c_contiguous:
            raise ValueError(f"{records.size} boards need contiguous planes [{records.size}, {self.count}, n, n]")
        if ranks.shape != records.shape or ((ranks < 0) | (ranks > HIGHEST_RANK)).any():
            raise ValueError(f"every board needs a rank from 0, which is unknown, to {HIGHEST_RANK}")
        if (records["lines"] != lines).any():
            raise ValueError(f"not all of these boards are {lines}×{lines}")
        self.kernel(records, ranks, out.reshape(records.size, self.count, lines * lines))

    def encode(self, boards: Sequence[Board], ranks: int | Sequence[int] = HIGHEST_RANK) -> Planes:
        """The planes of boards of one size, [B, count, n, n]; one rank for all of them, or one for each."""
        if not boards:
            raise ValueError("there are no boards to encode")
        records = stack_records(boards)
        size = int(records["lines"][0])
        out = np.empty((len(boards), self.count, size, size), dtype=np.uint8)
        self.fill(records, np.broadcast_to(np.asarray(ranks, dtype=np.int8), len(boards)).copy(), out)
        return out
