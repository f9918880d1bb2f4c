"""What searches report beyond the contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from katachi.core.contracts import Doubles, Floats, SearchResult


def _no_moves() -> Floats:
    return np.empty(0, dtype=np.float32)


def _no_sweep() -> Doubles:
    return np.empty(0)


@dataclass(frozen=True, slots=True)
class PolicyResult(SearchResult):
    """The result of playing by a policy: what it gives the moves considered, [n²+1]; 0 elsewhere."""

    priors: Floats = field(default_factory=_no_moves)


@dataclass(frozen=True, slots=True)
class SweepResult(SearchResult):
    """The result of a search that valued every move it considered: P(Black wins) after each, [n²+1], NaN elsewhere."""

    sweep: Doubles = field(default_factory=_no_sweep)


@dataclass(frozen=True, slots=True)
class PlayoutResult(SweepResult):
    """What playouts tell besides: by how much, and who owns the points [n²]."""

    variation_visits: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # how often each move of these
    black_lead: float | None = None  # the mean score of the playouts, komi included
    ownership: Floats | None = None  # +1 is Black's
    simulations: int = 0  # new ones; visits may count what was kept, too


@dataclass(frozen=True, slots=True)
class TreeResult(PlayoutResult):
    """What a Monte-Carlo tree knows besides: priors [n²+1], what follows each move, and how the priors came."""

    priors: Floats = field(default_factory=_no_moves)
    variations: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # what follows each of the best moves
    leads: Doubles = field(default_factory=_no_sweep)  # the mean score after each, [n²+1]; NaN where there was none
    criticality: Floats | None = None  # how far owning a point goes with winning
    coverage: float = 0.0  # the share of visited nodes that have the evaluator's prior
    lag_simulations: float = 0.0  # mean, from the making of a node to its prior
    lag_seconds: float = 0.0  # mean, of a batch from sending to return
    warning: str = ""  # what went wrong without ending the search
