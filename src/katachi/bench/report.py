"""What a benchmark measures and reports.

Contestants take turns in several rounds, so that a noisy machine disturbs all of them alike. The rate of each is that
of its best round: whatever else the machine does can only slow a round down.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Contestant(NamedTuple):
    """Something that does ``count`` units of work in ``run(size, count, seed)``. ``weight`` scales its count."""

    name: str
    threads: int
    run: Callable[[int, int, int], Any]
    weight: float = 1.0


class Row(NamedTuple):
    """The measured rate of one contestant on one board size, in units a second."""

    name: str
    size: int
    threads: int
    unit: str
    rate: float


class Bar(NamedTuple):
    """A ratio of two rates that we want to reach."""

    text: str
    size: int
    ratio: float
    at_least: float


class Report(NamedTuple):
    bench: str
    rows: list[Row]
    bars: list[Bar]
    notes: list[str]

    def to_json(self) -> dict[str, Any]:
        """The rows alone, as ``--json`` prints them."""
        return {"bench": self.bench, "rows": [row._asdict() for row in self.rows]}


def measure(contestants: Sequence[Contestant], size: int, unit: str, counts: int, rounds: int) -> list[Row]:
    """Let the contestants take turns; ``counts`` is what one of weight 1 does in a round."""
    rates: dict[tuple[str, int], list[float]] = {(c.name, c.threads): [] for c in contestants}
    for seed in range(rounds):
        for contestant in contestants:
            count = max(1, round(counts * contestant.weight)) * contestant.threads
            start = time.perf_counter()
            contestant.run(size, count, seed)
            rates[contestant.name, contestant.threads].append(count / (time.perf_counter() - start))
    return [Row(name, size, threads, unit, max(found)) for (name, threads), found in rates.items()]
