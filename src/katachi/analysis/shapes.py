"""What a move changes for an evaluator that is a sum of features: which of them came, which went, what each added.

A linear value is that of the player who has just moved. So a move changes two things: the stones, and whose turn it
is. The *turn* is what a pass would have changed, the same for all moves; everything else are features that appeared
or disappeared, all of them seen by the mover. Together they are the change of his logit, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Doubles, FeatureSet, Floats, Ints, LinearEvaluator
from katachi.core.drawing import DrawingError
from katachi.core.evaluators import after
from katachi.go.board import Board
from katachi.go.kernels.board import OFF
from katachi.go.points import BLACK, EMPTY, PASS, WHITE
from katachi.shapes.drawing import shape_of
from katachi.shapes.features import LocalShapes
from katachi.shapes.liberty import CombinedShapes, LibertyShapes

# Where the shapes of a board lie: every occurrence of a feature with the points that it looks at.
#
# A feature set says how often a shape is on a board, not where. Local shapes and liberty shapes have places; of other
# features none are known.


class PlacedShapes(NamedTuple):
    """Every shape on a board, as the player who has just moved sees it."""

    indices: Ints  # [P] of the features
    signs: NDArray[np.int8]  # [P] −1 where a shape counts for its color inverse
    cells: Ints  # [P, k] points, OFF behind the last

    def spread(self, weights: Floats, size: int) -> Doubles:
        """What the shapes add to the logit of the mover, each in equal parts over its points, [n²]."""
        inside = self.cells != OFF
        shares = weights[self.indices].astype(np.float64) * self.signs / inside.sum(axis=1)
        spread: Doubles = np.zeros(size * size)
        np.add.at(spread, self.cells[inside], np.broadcast_to(shares[:, None], inside.shape)[inside])
        return spread

    def places_of(self, index: int) -> list[tuple[int, ...]]:
        """The points of every occurrence of a feature."""
        rows = self.cells[self.indices == index]
        return [tuple(sorted(row[row != OFF].tolist())) for row in rows]


def place_shapes(features: FeatureSet, board: Board) -> PlacedShapes | None:
    """The shapes on a board and where they are; None if the features have no places."""
    if isinstance(features, CombinedShapes):
        return _join(_place_local(features.basic, board), _place_liberty(features.liberty, board), features.basic.size)
    if isinstance(features, LocalShapes):
        return _place_local(features, board)
    return _place_liberty(features, board) if isinstance(features, LibertyShapes) else None


def _place_local(features: LocalShapes, board: Board) -> PlacedShapes:
    tracker, tables = features.tracker(), features.tables
    tracker.follow(board)
    indices, signs = tracker.placements(-board.to_play)
    small, large = tables.cells[tables.placement_window], tables.keyed_cells[tables.keyed_window]
    return PlacedShapes(indices, signs, _stack(small, large))


def _place_liberty(features: LibertyShapes, board: Board) -> PlacedShapes:
    indices = features.placements(board)
    count = int(features.record["windows"][0])
    cells = features.record["cell"][0, :count].astype(np.int64)
    areas = features.record["area"][0][features.record["shape"][0, :count]]
    cells[np.arange(cells.shape[1]) >= areas[:, None]] = OFF
    windows = np.nonzero(features.record["mask"][0, :count])[0]  # a window is there once for each set that has it
    return PlacedShapes(indices, np.ones(indices.size, dtype=np.int8), cells[windows])


def _join(first: PlacedShapes, second: PlacedShapes, offset: int) -> PlacedShapes:
    return PlacedShapes(
        np.concatenate([first.indices, second.indices + offset]),
        np.concatenate([first.signs, second.signs]),
        _stack(first.cells, second.cells),
    )


def _stack(first: NDArray[np.integer], second: NDArray[np.integer]) -> Ints:
    """Rows of cells below each other, the narrower ones with OFF behind them."""
    width = max(first.shape[1], second.shape[1])
    padded = [
        np.pad(rows.astype(np.int64), ((0, 0), (0, width - rows.shape[1])), constant_values=int(OFF))
        for rows in (first, second)
    ]
    return np.concatenate(padded)


# Shape changes

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
    logit_before = -fsum(_added(evaluator, board).values())  # it is the opponent who had just moved
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
