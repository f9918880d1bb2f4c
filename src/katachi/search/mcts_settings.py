"""The settings of Monte-Carlo tree search. They compile nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from katachi.search.playouts import PlayoutSettings


@dataclass(frozen=True, slots=True)
class MctsSettings:
    """How to search. ``_mcts.py`` has the formula in which the first three stand."""

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
