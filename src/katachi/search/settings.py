"""The settings of Monte-Carlo tree search. They compile nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from katachi.features.windows import TABLE_SIZES

MAX_DEPTH: Final = 40
MAX_QUIESCENCE: Final = 20


@dataclass(frozen=True, slots=True)
class AlphaBetaSettings:
    """How to search; how long is the limit's affair, but without one the search ends at ``depth``."""

    depth: int = 2  # where the limit has neither depth nor seconds
    quiescence: int = 0  # plies of captures below the last depth
    table_bits: int = 18  # the transposition table has 2^table_bits entries of 24 bytes

    def __post_init__(self) -> None:
        for name, lowest, highest in (
            ("depth", 1, MAX_DEPTH),
            ("quiescence", 0, MAX_QUIESCENCE),
            ("table_bits", 1, 26),
        ):
            if not lowest <= getattr(self, name) <= highest:
                raise ValueError(f"{name} {getattr(self, name)} is not between {lowest} and {highest}")


@dataclass(frozen=True, slots=True)
class GreedySettings:
    """How often to explore, and how sharply to choose; 0 and 0 is plain greed."""

    epsilon: float = 0.0
    temperature: float = 0.0
    fills_eyes: bool = False
    may_pass: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= 1:
            raise ValueError(f"epsilon {self.epsilon} is not between 0 and 1")
        if not 0 <= self.temperature < np.inf:
            raise ValueError(f"a temperature of {self.temperature} is negative or no number")


class PlayoutSettings(BaseModel):
    """The parts of the playout policy; with all of them off playouts are uniformly random."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    replies: bool = False  # what was a good reply the last time; whoever plays must call ``learn_replies``
    nakade: bool = True
    captures: bool = True
    escapes: bool = True
    self_atari: bool = True  # is avoided
    patterns: bool = True
    # how many random moves the value of shapes chooses among where there is no answer to the last move; 0 is without
    shapes: int = Field(default=0, ge=0, le=100)


# Mcts settings


@dataclass(frozen=True, slots=True)
class MctsSettings:
    """How to search. ``search/kernels/mcts.py`` has the formula in which the first three stand."""

    exploration: float = 0.6
    rave: float = 200.0  # K, the visits at which the move's own value counts half; 0 is without
    first_play_reduction: float = 0.1
    expand_after: int = 2  # visits of a move, before it gets a node
    value_share: float = 0.0  # of the evaluator in the value of a leaf; it comes with the priors if it is not compiled
    score_share: float = 0.05  # of the score in the value of a playout; the rest is who won
    pattern_priors: bool = (
        True  # by the 3×3 patterns and tactics of the playouts, until an evaluator gives better; else even
    )
    ladder_priors: bool = True  # with these: moves that catch in a ladder count more, those that run in vain less
    priors: Literal["none", "delayed", "synchronous"] = "delayed"  # how the evaluator gives them, if there is one
    td_simulations: int = 0  # of TD search, which first adapt the evaluator, a model of local shapes, to the root
    batch: int = 128  # nodes that go to the evaluator together, if delayed
    shares_positions: bool = False  # one node for a position, however it came about
    reuse: bool = True  # of the tree, when the game goes on
    stops_early: bool = True  # when the best move can no longer change
    threads: int = 0  # 0: one for each core
    megabytes: float = 256.0
    simulations: int = 10_000  # where the limit has neither simulations nor seconds
    playouts: PlayoutSettings = field(default_factory=PlayoutSettings)

    def __post_init__(self) -> None:
        for name, lowest, highest in (
            ("exploration", 0, 100),
            ("rave", 0, 1e6),
            ("first_play_reduction", -1, 1),
            ("expand_after", 0, 1e6),
            ("value_share", 0, 1),
            ("score_share", 0, 1),
            ("td_simulations", 0, 1e9),
            ("batch", 1, 1e5),
            ("threads", 0, 256),
            ("megabytes", 1, 1e6),
            ("simulations", 1, 1e12),
        ):
            if not lowest <= getattr(self, name) <= highest:
                raise ValueError(f"{name} {getattr(self, name)} is not between {lowest:g} and {highest:g}")


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """How sharply to choose: 0 is the best move, at random among equals, 1 draws from the policy as it is."""

    temperature: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < np.inf:
            raise ValueError(f"a temperature of {self.temperature} is negative or no number")


# The settings of TD search. They compile nothing.


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
