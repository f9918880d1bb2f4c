"""What a move changes for an evaluator that is a sum of features: which of them came, which went, what each added.

A linear value is that of the player who has just moved. So a move changes two things: the stones, and whose turn it
is. The *turn* is what a pass would have changed, the same for all moves; everything else are features that appeared
or disappeared, all of them seen by the mover. Together they are the change of his logit, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import Final, Literal

import numpy as np

from katachi.analysis.shape_places import PlacedShapes, place_shapes
from katachi.core.contracts import FeatureSet, LinearEvaluator
from katachi.core.drawing import DrawingError
from katachi.core.evaluators import after
from katachi.go.board import Board
from katachi.go.points import BLACK, EMPTY, PASS, WHITE
from katachi.shapes.drawing import shape_of

Whose = Literal["ours", "theirs", "both", "nobody's", "unknown"]

_WHOSE: Final[dict[frozenset[int], Whose]] = {
    frozenset(): "nobody's",
    frozenset((BLACK,)): "ours",
    frozenset((WHITE,)): "theirs",
    frozenset((BLACK, WHITE)): "both",
}


@dataclass(frozen=True, slots=True)
class FeatureChange:
    """A feature that occurs more or less often after a move; ``before`` and ``after`` are what it adds to the logit."""

    index: int
    before: float
    after: float
    places: tuple[tuple[int, ...], ...]  # the points where it came, or if nowhere, where it went; if that is known

    @property
    def change(self) -> float:
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class ShapeChanges:
    """The logit of the mover before and after his move, and what its change is made of, the largest part first."""

    logit_before: float
    logit_after: float
    turn: float
    changes: tuple[FeatureChange, ...]

    @property
    def total(self) -> float:
        """The sum of all parts: ``logit_after − logit_before``."""
        return fsum([self.turn, *(change.change for change in self.changes)])


def explain_change(evaluator: LinearEvaluator, board: Board, move: int) -> ShapeChanges:
    """What a move on a board changes for him who makes it; raises IllegalMove if simple ko or suicide forbids it."""
    passed, played = after(board, PASS), after(board, move)
    logit_before = -fsum(_added(evaluator, board).values())  # it is the enemy who had just moved
    before, now = _added(evaluator, passed), _added(evaluator, played)
    places = place_shapes(evaluator.features, passed), place_shapes(evaluator.features, played)
    changed = [index for index in before.keys() | now.keys() if before.get(index, 0.0) != now.get(index, 0.0)]
    changes = [FeatureChange(i, before.get(i, 0.0), now.get(i, 0.0), _find(i, *places)) for i in changed]
    changes.sort(key=lambda change: (-abs(change.change), change.index))
    return ShapeChanges(logit_before, fsum(now.values()), fsum(before.values()) - logit_before, tuple(changes))


def _added(evaluator: LinearEvaluator, board: Board) -> dict[int, float]:
    """What every feature on a board adds to the logit of him who has just moved."""
    indices, occurrences = evaluator.features.active(board)
    added = evaluator.weights[indices].astype(np.float64) * occurrences
    return dict(zip(indices.tolist(), added.tolist(), strict=True))


def _find(index: int, before: PlacedShapes | None, now: PlacedShapes | None) -> tuple[tuple[int, ...], ...]:
    if before is None or now is None:
        return ()
    there, here = (set(placed.places_of(index)) for placed in (before, now))
    return tuple(sorted(here - there or there - here))


def whose(features: FeatureSet, index: int) -> Whose:
    """Whose stones a shape is made of; ours are the mover's."""
    try:
        shape = shape_of(features, index)
    except DrawingError:
        return "unknown"
    return "unknown" if shape is None else _WHOSE[frozenset(cell.stone for cell in shape.cells) - {EMPTY}]


def sum_by_side(features: FeatureSet, changes: ShapeChanges) -> dict[Whose, float]:
    """What the shapes of each side changed together; without the turn."""
    parts: dict[Whose, list[float]] = {}
    for change in changes.changes:
        parts.setdefault(whose(features, change.index), []).append(change.change)
    return {side: fsum(values) for side, values in parts.items()}
