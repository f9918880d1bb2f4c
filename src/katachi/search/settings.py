"""The settings of every search: a setting stands here and in the record of its kernels, nowhere else.

The ``[search]`` table of a player file is one of these classes, chosen by ``kind``, and what GTP lists as parameters
are their fields. They compile nothing: a search is imported when it is built.

>>> find_settings({"kind": "policy"})(temperature=0.5)
PolicySettings(kind='policy', temperature=0.5, overlooks=0.0)

A new search is a subclass of ``SearchSettings`` in ``_OWN``, or in ``System.searches`` of another package.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from pydantic import Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from katachi.core.cards import Strict
from katachi.core.registry import Reference, references, resolve
from katachi.features.windows import TABLE_SIZES

if TYPE_CHECKING:
    from katachi.core.contracts import Evaluator, Search  # boards and their kernels

MAX_DEPTH: Final = 40
MAX_SIMULATIONS: Final = 1_000_000_000_000
MAX_TEMPERATURE: Final = 1000.0


class SearchSettings(Strict, ABC):
    """What every search has: a name for its kind, and the class that is built with its settings."""

    search_class: ClassVar[Reference]  # called with an evaluator and these settings
    needs_evaluator: ClassVar[bool] = True
    kind: str

    def build(self, evaluator: Evaluator | None) -> Search:
        """The search over an evaluator; raises ValueError if it cannot do without one, or with this one."""
        if evaluator is None and self.needs_evaluator:
            raise ValueError(f"the {self.kind} search needs an evaluator")
        search: Search = resolve(self.search_class)(evaluator, self)
        return search


class GreedySettings(SearchSettings):
    """How often to explore, and how sharply to choose; 0 and 0 is plain greed."""

    search_class = "katachi.search.one_ply:GreedySearch"
    kind: Literal["greedy"] = "greedy"
    epsilon: float = Field(default=0.0, ge=0, le=1)
    temperature: float = Field(default=0.0, ge=0, le=MAX_TEMPERATURE)
    fills_eyes: bool = False
    may_pass: bool = False


class PolicySettings(SearchSettings):
    """How sharply to choose: 0 is the best move, at random among equals, 1 draws from the policy as it is.

    ``overlooks`` is the chance of each move not to be seen at all: mistakes as people make them, who answer elsewhere.
    """

    search_class = "katachi.search.one_ply:PolicySearch"
    kind: Literal["policy"] = "policy"
    temperature: float = Field(default=0.0, ge=0, le=MAX_TEMPERATURE)
    overlooks: float = Field(default=0.0, ge=0, lt=1)


class AlphaBetaSettings(SearchSettings):
    """How to search; how long is the limit's affair, but without one the search ends at ``depth``."""

    search_class = "katachi.search.alphabeta:AlphaBetaSearch"
    kind: Literal["alphabeta"] = "alphabeta"
    depth: int = Field(default=2, ge=1, le=MAX_DEPTH)  # where the limit has neither depth nor seconds
    quiescence: int = Field(default=0, ge=0, le=20)  # plies of captures below the last depth
    table_bits: int = Field(default=18, ge=1, le=26)  # the transposition table has 2^table_bits entries of 24 bytes


class PlayoutSettings(Strict):
    """The parts of the playout policy; with all of them off playouts are uniformly random."""

    replies: bool = False  # what was a good reply the last time; whoever plays must call ``learn_replies``
    nakade: bool = True
    captures: bool = True
    escapes: bool = True
    self_atari: bool = True  # is avoided
    patterns: bool = True
    neighbors: bool = False  # chains beside a short one of ours that the last move touched are taken, and races won
    two_liberties: bool = False  # chains of two liberties at the last move flee, or are caught
    redirects: bool = False  # of a self-atari to the other liberty of the chain
    guards: bool = False  # against filling an eye of one chain, snapbacks, and giving up a seki with eyes
    # how many random moves the value of shapes chooses among where there is no answer to the last move; 0 is without
    shapes: int = Field(default=0, ge=0, le=100)


class MctsSettings(SearchSettings):
    """How to search. ``search/kernels/mcts.py`` has the formula in which the first three stand."""

    search_class = "katachi.search.mcts:MctsSearch"
    needs_evaluator = False
    kind: Literal["mcts"] = "mcts"
    exploration: float = Field(default=0.6, ge=0, le=100)
    rave: float = Field(default=200.0, ge=0, le=1e6)  # K, visits at which the move's own value counts half; 0: without
    first_play_reduction: float = Field(default=0.1, ge=-1, le=1)
    expand_after: int = Field(default=2, ge=0, le=1_000_000)  # visits of a move, before it gets a node
    # of the evaluator in the value of a leaf; it comes with the priors if it is not compiled
    value_share: float = Field(default=0.0, ge=0, le=1)
    score_share: float = Field(default=0.05, ge=0, le=1)  # of the lead in the value of a leaf; the rest is who wins
    # by the 3×3 patterns and tactics of the playouts, until an evaluator gives better; else even
    pattern_priors: bool = True
    large_patterns: bool = False  # with these: patterns larger than 3×3, too
    ladder_priors: bool = True  # with these: moves that catch in a ladder count more, those that run in vain less
    # weight in the priors of how much more than other points each goes with winning, by the playouts so far; 0: without
    criticality: float = Field(default=0.0, ge=0, le=1000)
    priors: Literal["none", "delayed", "synchronous"] = "delayed"  # how the evaluator gives them, if there is one
    # of TD search, which first adapt the evaluator, a model of local shapes, to the root
    td_simulations: int = Field(default=0, ge=0, le=1_000_000_000)
    batch: int = Field(default=128, ge=1, le=100_000)  # nodes that go to the evaluator together, if delayed
    waits_for: int = Field(default=32, ge=0, le=1_000_000)  # the first nodes of a search, the root too, if delayed
    at_once: int = Field(default=8, ge=1, le=64)  # simulations of a thread that wait for priors together
    shares_positions: bool = False  # one node for a position, however it came about
    reuse: bool = True  # of the tree, when the game continues
    stops_early: bool = True  # when the best move can no longer change
    threads: int = Field(default=0, ge=0, le=256)  # 0: one for each core
    megabytes: float = Field(default=256.0, ge=1, le=1e6)
    # where the limit has neither simulations nor seconds
    simulations: int = Field(default=10_000, ge=1, le=MAX_SIMULATIONS)
    playouts: PlayoutSettings = PlayoutSettings()


class TdSearchSettings(SearchSettings):
    """How to simulate, and how to learn from it."""

    search_class = "katachi.search.td:TdSearch"
    needs_evaluator = False
    kind: Literal["td"] = "td"
    step_size: float = Field(default=0.1, ge=0, le=100)  # α, over all weights that are in use on a board
    epsilon: float = Field(default=0.1, ge=0, le=1)
    guided_plies: int = Field(default=6, ge=1, le=1000)  # of each simulation by what was learned; then a playout
    # of each simulation that are learned from: all of them, unless it is very long
    learned_plies: int = Field(default=1_000, ge=1, le=1000)
    sizes: str = "1x1 2x2 3x3"  # of the windows that have weights
    reuse: bool = True  # of what was learned, when the game continues
    # where the limit has neither simulations nor seconds
    simulations: int = Field(default=1_000, ge=1, le=MAX_SIMULATIONS)
    playouts: PlayoutSettings = PlayoutSettings()

    @field_validator("sizes")
    @classmethod
    def _check_sizes(cls, sizes: str) -> str:
        known = [f"{width}x{height}" for width, height in TABLE_SIZES]
        for word in sizes.split():
            if word not in known:
                raise ValueError(f"there are no windows of the size {word!r}; known are {', '.join(known)}")
        if not sizes.split():
            raise ValueError("there must be at least one size of windows")
        return sizes

    @property
    def window_sizes(self) -> tuple[tuple[int, int], ...]:
        """Width and height of each."""
        known = {f"{width}x{height}": (width, height) for width, height in TABLE_SIZES}
        return tuple(known[word] for word in self.sizes.split())


_OWN: Final = (GreedySettings, PolicySettings, AlphaBetaSettings, MctsSettings, TdSearchSettings)
_DEFAULT_KIND: Final = "greedy"


def search_kinds() -> dict[str, type[SearchSettings]]:
    """The settings of all searches by their kind, those of other packages last."""
    own: dict[str, type[SearchSettings]] = {settings.model_fields["kind"].default: settings for settings in _OWN}
    return {**own, **{kind: resolve(settings) for kind, settings in references("searches").items()}}


def find_settings(table: Any) -> type[SearchSettings]:
    """The class of the settings that stand in a table, by its ``kind``; raises ValueError if there is no such kind."""
    kind = table.get("kind", _DEFAULT_KIND) if isinstance(table, Mapping) else _DEFAULT_KIND
    known = search_kinds()
    if not isinstance(kind, str) or kind not in known:
        reason = PydanticCustomError(
            "unknown_search", "there is no such search; known are {known}", {"known": ", ".join(known)}
        )
        raise ValidationError.from_exception_data("search", [{"type": reason, "loc": ("kind",), "input": kind}])
    return known[kind]
