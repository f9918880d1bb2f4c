"""How a record says that its game was counted: what the margin was, by which rules, and whose territory is where."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.go.points import BLACK, WHITE
from katachi.go.results import Reason
from katachi.go.rules import Rules
from katachi.sgf.information import read_rules
from katachi.sgf.record import SgfGame
from katachi.sgf.repairs import RepairLog
from katachi.sgf.tree import Node
from katachi.sgf.vertices import read_points


class RecordedEnding(NamedTuple):
    """What a record tells of the end of its game."""

    margin: float | None  # None if the board did not decide
    rules: Rules | None  # None if it names none that we know
    points: NDArray[np.int64]  # marked as territory in the last node
    owners: NDArray[np.int8]  # of these points


def read_ending(record: SgfGame, size: int) -> RecordedEnding:
    """Read the result, the rules, and TB and TW of the last node; a point that both have is nobody's."""
    result = record.result
    margin = result.margin if result is not None and result.reason is Reason.SCORE else None
    *_, last = record.main_line()
    black, white = (set(read_points(last.properties.get(name, ()), size)) for name in ("TB", "TW"))
    points = np.array(sorted(black ^ white), dtype=np.int64)
    owners = np.array([BLACK if point in black else WHITE for point in points.tolist()], dtype=np.int8)
    return RecordedEnding(margin, _told_rules(record.root), points, owners)


def _told_rules(root: Node) -> Rules | None:
    if not root.simple_text("RU"):
        return None
    log = RepairLog()
    rules = read_rules(root, log)
    return None if log.repairs else rules
