"""Positions a second that become planes, one core: ``katachi`` is all 36 of the paper, ``katachi-mover`` our own set.

The positions are those of random games, which have more captures and ladders than games of people; they are encoded
in batches, as a network takes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.bench.report import Bar, Contestant, Report, Row, measure
from katachi.bench.shapes import random_positions
from katachi.features.planes import PlaneSet
from katachi.policy.planes import PLANES

SIZES: Final = (9, 19)
UNIT: Final = "positions/s"
WANTED: Final = 10_000  # of 19×19 positions a second, so that training never waits

_ROWS: Final = {"katachi": "maddison-36", "katachi-mover": "mover", "katachi-reduced": "maddison-9"}
_BATCH: Final = 128
_RANK: Final = 5
_GUESSED_RATE: Final = {9: 100_000, 19: 20_000}  # how much work makes a round; it need not be right


def run(seconds: float = 0.4, rounds: int = 15) -> Report:
    """Measure all sets; a round of one of them lasts about ``seconds``."""
    rows: list[Row] = []
    for size in SIZES:
        records = random_positions(size)
        contestants = [Contestant(row, 1, _encoder(PLANES[name], records)) for row, name in _ROWS.items()]
        rows += measure(contestants, size, UNIT, max(10, round(_GUESSED_RATE[size] * seconds)), rounds)
    (rate,) = (row.rate for row in rows if (row.name, row.size) == ("katachi", SIZES[-1]))
    return Report("planes", rows, [Bar(f"katachi / {WANTED:,} {UNIT}", SIZES[-1], rate / WANTED, 1.0)], [])


def _encoder(planes: PlaneSet, records: NDArray[Any]) -> Callable[[int, int, int], None]:
    """A function that encodes so many positions, batch after batch; it is compiled here."""
    size = int(records["lines"][0])
    ranks = np.full(_BATCH, _RANK, dtype=np.int8)
    out = np.empty((_BATCH, planes.count, size, size), dtype=np.uint8)

    def encode(_: int, count: int, seed: int) -> None:
        start = seed * _BATCH
        for done in range(0, count, _BATCH):
            batch = min(_BATCH, count - done)
            first = (start + done) % (records.size - _BATCH)
            planes.fill(records[first : first + batch], ranks[:batch], out[:batch])

    encode(size, 1, 0)
    return encode
