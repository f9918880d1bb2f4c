"""Games that are the same game: equal moves, up to turning and mirroring the board.

Deterministic players repeat themselves, and a hundred copies of one game say as much as one. A game is a duplicate if
the same two players, with the same colors, have played it before in the order of the schedule.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from katachi.arena.records import GameRecord
from katachi.go.game import Play, Step
from katachi.go.points import PASS, Symmetry


def fingerprint(steps: Sequence[Step], size: int) -> str:
    """A text that is equal for equal games, turned and mirrored ones included."""
    tables = (symmetry.points(size).tolist() for symmetry in Symmetry)
    forms = (";".join(_step_text(step, table) for step in steps) for table in tables)
    return hashlib.sha256(f"{size};{min(forms)}".encode()).hexdigest()[:32]


def _step_text(step: Step, table: Sequence[int]) -> str:
    if isinstance(step, Play):
        return f"{step.color} {step.move if step.move == PASS else table[step.move]}"
    stones = (sorted(table[point] for point in points) for points in (step.black, step.white, step.empty))
    return " ".join(map(str, [*stones, step.to_play]))


def find_duplicates(records: Iterable[GameRecord]) -> set[str]:
    """The ids of the games that repeat an earlier one."""
    seen: set[tuple[str, str, str]] = set()
    duplicates: set[str] = set()
    for record in sorted(records, key=lambda record: (record.pairing, record.number)):
        key = (record.black.name, record.white.name, record.fingerprint)
        if key in seen:
            duplicates.add(record.id)
        seen.add(key)
    return duplicates
