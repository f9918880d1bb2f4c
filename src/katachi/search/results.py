"""What searches report beyond the contract."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from katachi.interfaces import Floats, SearchResult


@dataclass(frozen=True, slots=True)
class SweepResult(SearchResult):
    """The result of a search that valued every move it considered: P(Black wins) after each, [n²+1], NaN elsewhere."""

    sweep: Floats = field(default_factory=lambda: np.empty(0, dtype=np.float32))
