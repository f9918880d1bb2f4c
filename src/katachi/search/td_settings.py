"""The settings of TD search. They compile nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

from katachi.features.windows import TABLE_SIZES
from katachi.search.settings import PlayoutSettings


@dataclass(frozen=True, slots=True)
class TdSearchSettings:
    """How to simulate, and how to learn from it."""

    step_size: float = 0.1  # α, over all weights that are in use on a board
    epsilon: float = 0.1
    guided_plies: int = 6  # of each simulation by what was learned; the rest is a playout
    learned_plies: int = 1_000  # of each simulation that are learned from: all of them, unless it is very long
    sizes: str = "1x1 2x2 3x3"  # of the windows that have weights
    reuse: bool = True  # of what was learned, when the game goes on
    simulations: int = 1_000  # where the limit has neither simulations nor seconds
    playouts: PlayoutSettings = field(default_factory=PlayoutSettings)

    def __post_init__(self) -> None:
        for name, lowest, highest in (
            ("step_size", 0, 100),
            ("epsilon", 0, 1),
            ("guided_plies", 1, 1000),
            ("learned_plies", 1, 1000),
            ("simulations", 1, 1e12),
        ):
            if not lowest <= getattr(self, name) <= highest:
                raise ValueError(f"{name} {getattr(self, name)} is not between {lowest:g} and {highest:g}")
        if not self.window_sizes:
            raise ValueError("there must be at least one size of windows")

    @property
    def window_sizes(self) -> tuple[tuple[int, int], ...]:
        """Width and height of each; raises ValueError for a size that there is not."""
        known = {f"{width}x{height}": (width, height) for width, height in TABLE_SIZES}
        words = self.sizes.split()
        for word in words:
            if word not in known:
                raise ValueError(f"there are no windows of the size {word!r}; known are {', '.join(known)}")
        return tuple(known[word] for word in words)
