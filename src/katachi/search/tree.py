"""What iterative deepening asks of a tree, compiled or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from katachi.core.contracts import Ints

ShouldStop = Callable[[], bool]


class Tree(Protocol):
    """The tree below one position. Each ``run`` goes deeper and profits from the runs before it."""

    @property
    def nodes(self) -> int:
        """How many nodes have been looked at, in all runs."""
        ...

    def run(self, depth: int, node_limit: int | None, should_stop: ShouldStop) -> bool:
        """Search to a depth; returns whether that was completed before a limit ended it."""
        ...

    @property
    def line(self) -> list[int]:
        """The best line that the last run found, even an incomplete one; empty if it found none."""
        ...

    @property
    def black_wins(self) -> float:
        """The value of that line."""
        ...

    @property
    def visits(self) -> Ints:
        """How many nodes lay behind each move of the root, [n²+1], in all runs."""
        ...
