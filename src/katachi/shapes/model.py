"""Local shapes *fused*: the linear model, compiled (``core/linear.py`` says what that is), and tables to learn with.

All local shapes up to 3×3 become one table for each class of 3×3 windows, tabled liberty shapes up to 2×2 one for each
class of 2×2 windows: a board is valued by one look-up a window and an afterstate by those windows that change.
``shapes/features.py`` says which shapes lie in a window. Tables are in fixed point, each part rounded before it is
added: equal shapes get equal numbers whatever the order of adding.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import FeatureSet, Floats, WindowValues
from katachi.core.evaluators import DEFAULT_TEMPERATURE, CompiledValue
from katachi.core.linear import LinearModel
from katachi.features.windows import CODES, find_windows
from katachi.go.board import Board
from katachi.go.kernels.board import OFF
from katachi.shapes.features import LocalShapes, Part, has_parts, part_windows, sum_parts
from katachi.shapes.kernels import model as kernels
from katachi.shapes.kernels.player import Level
from katachi.shapes.liberty import CombinedShapes, LibertyShapes, build_liberty_windows, can_fuse_liberties
from katachi.shapes.sets import ShapeSet

Parameters = tuple[NDArray[np.int32], NDArray[np.float32]]

_TABLE_BITS: Final = 30  # of the 31 that an int32 has; rounding may add a little
_UNIT_BITS: Final = 120  # no unit is finer than 2^-120 or coarser than 2^120: a float32 holds them all


def can_fuse(features: object) -> bool:
    """Whether these are local shapes that all lie in 3×3 windows, perhaps with liberty shapes in 2×2 windows."""
    if isinstance(features, CombinedShapes):
        return can_fuse(features.basic) and can_fuse_liberties(features.liberty)
    return has_parts(features)


def fuse(features: LocalShapes | CombinedShapes, weights: Floats) -> Parameters:
    """What the kernels take: integers, and the unit that the tables among them count."""
    basic = features.basic if isinstance(features, CombinedShapes) else features
    windows = part_windows(basic, weights)
    shares = _liberty_shares(features, weights)
    unit = _unit([*(_largest(parts) for parts in windows.parts), float(np.abs(shares).sum(axis=1).max(initial=0.0))])
    tables = np.stack([_table(parts, unit) for parts in windows.parts])
    liberties = np.rint(shares / unit).astype(np.int64).sum(axis=1)
    ints = _lay_out(basic.board_size, windows.cells, windows.class_of, tables, liberties)
    return ints, np.array([unit], dtype=np.float32)


def _liberty_shares(features: LocalShapes | CombinedShapes, weights: Floats) -> NDArray[np.float64]:
    """What each liberty shape in a 2×2 window gives to it, [classes · codes, parts]; of no windows if there is none."""
    if not isinstance(features, CombinedShapes):
        return np.empty((0, 1))
    windows = build_liberty_windows(features.liberty)
    found = weights[features.basic.size :].astype(np.float64)[windows.weight]
    codes = len(windows.weight) // len(windows.share)
    return found * np.repeat(windows.share, codes, axis=0)


def _largest(parts: list[Part]) -> float:
    """The largest entry that the sum of some parts could have."""
    return sum(float(np.abs(part.weights).max()) for part in parts)


def _unit(largest: list[float]) -> float:
    """The power of two that lets the largest entry that could occur fit."""
    most = max(largest)
    exponent = math.frexp(most)[1] - _TABLE_BITS if most > 0 else 0
    return 2.0 ** max(-_UNIT_BITS, min(exponent, _UNIT_BITS))


def _table(parts: list[Part], unit: float) -> NDArray[np.int64]:
    """The sum of the parts for every code of a window, [3^9]."""
    table = np.zeros(CODES, dtype=np.int64)
    for part in parts:
        table += np.rint(part.weights / unit).astype(np.int64)[part.codes()]
    return table


def _lay_out(
    size: int,
    cells: NDArray[np.uint16],
    class_of: NDArray[np.int64],
    tables: NDArray[np.int64],
    liberties: NDArray[np.int64],
) -> NDArray[np.int32]:
    """One array of header, cells (each window's last cell first), bases, contacts of every point, and both tables."""
    window, cell = np.nonzero(cells < OFF)
    point = cells[window, cell].astype(np.int64)
    order = np.argsort(point, kind="stable")
    starts = np.searchsorted(point[order], np.arange(size**2 + 1))
    contacts = np.stack([window[order], 3 ** cell[order]], axis=1)
    sections: list[NDArray[Any]] = [cells[:, ::-1], class_of, starts, contacts, tables, liberties]
    begins = kernels.HEADER + np.cumsum([0, *(section.size for section in sections)])
    header = np.array([len(cells), *begins[:4], begins[5]])
    sections[1] = begins[4] + class_of * CODES
    return np.concatenate([header, *(section.ravel() for section in sections)]).astype(np.int32)


class FusedLinearModel(CompiledValue, LinearModel):
    """The model over shapes that can be fused, compiled. Meets ``CompiledEvaluator`` too; its sweep is compiled."""

    compiled = kernels

    def __init__(self, features: FeatureSet, weights: Floats, temperature: float = DEFAULT_TEMPERATURE) -> None:
        super().__init__(features, weights, temperature)
        if not (isinstance(features, LocalShapes | CombinedShapes) and can_fuse(features)):
            raise ValueError(f"{features.name} do not all fit into 3×3 windows, or 2×2 windows with liberties")
        self.parameters = fuse(features, self.weights)  # boards handed to the kernels must have the size of the tables

    def window_values(self) -> WindowValues:
        """The values of 3×3 windows; raises ValueError if there are liberty shapes besides."""
        if not has_parts(self.features):
            raise ValueError("a model of local shapes up to 3×3 is needed, without liberty shapes")
        windows = part_windows(self.features, self.weights)
        return WindowValues(self.features.board_size, windows.cells, windows.class_of, sum_parts(windows))

    def _logit(self, board: Board) -> float:
        return float(kernels.board_logit(board.record, self.parameters))


def warmup() -> None:
    """Compile features, models, and the searches that take a compiled value."""
    from katachi.core.contracts import Limit
    from katachi.go.game import Game
    from katachi.search.alphabeta import AlphaBetaSearch
    from katachi.search.one_ply import GreedySearch, sensible_captures
    from katachi.search.settings import AlphaBetaSettings, GreedySettings
    from katachi.search.td import TdSearch

    board, few = Board(5), [ShapeSet.parse(name) for name in ("LI 1x1", "LD 3x3")]
    LocalShapes(5, [*few, ShapeSet.parse("LD 4x4")]).active(board)
    LibertyShapes(5, few).active(board)
    sets = [ShapeSet.parse("LI 2x2")]
    both = CombinedShapes(LocalShapes(5, sets), LibertyShapes(5, sets, tabled=True))
    basic, fused = (FusedLinearModel(each, np.zeros(each.size, dtype=np.float32)) for each in (both.basic, both))
    for model in (basic, fused):
        model.evaluate([board])
        model.afterstate_log_odds(board)
        model.kernel(board.record, model.parameters)
    rng, td = np.random.default_rng(0), TdSearch(basic)
    for search in (GreedySearch(basic, GreedySettings()), AlphaBetaSearch(basic, AlphaBetaSettings(quiescence=1))):
        search.search(Game(5), Limit(depth=2), rng)
    td.search(Game(5), Limit(simulations=2), rng)
    td.memory.evaluate([board])
    sensible_captures(board)


# Tables for learning, which are fused every few games: the windows of a board, their classes, and who shares in whom.
#
# ``shapes/kernels/player.py`` says what these tables are and holds the compiled part.

_LEVELS: Final = (  # the sizes of windows, and of the shapes that go straight into them
    ((2, 2), ((1, 1), (2, 1), (2, 2))),
    ((3, 2), ((3, 2),)),
    ((3, 3), ((3, 3),)),
)
MIN_SIZE: Final = 3


class FusedTables(NamedTuple):
    """The 3×3 windows of a board, and the levels by which weights come into their tables."""

    cells: NDArray[np.int64]  # [windows, 9]; cell i counts 3^i
    classes: NDArray[np.int64]  # [windows]
    small: Level
    middle: Level
    large: Level


class _Windows(NamedTuple):
    """Windows or placements in which a level above shares: their cells, and the first entry of each."""

    cells: NDArray[np.int64]  # [windows, area]
    bases: NDArray[np.int64]  # [windows]
    classes: NDArray[np.int64]  # [windows]


def levels_of(tables: FusedTables) -> tuple[Level, Level, Level]:
    """The levels with room of their own, so that several threads may fuse at once."""
    small, middle, large = (
        level._replace(table=np.zeros_like(level.table)) for level in (tables.small, tables.middle, tables.large)
    )
    return small, middle, large


def build_fused_tables(features: LocalShapes) -> FusedTables:
    """The tables for these features; raises ValueError where shapes are larger than 3×3 or the board is smaller."""
    if features.board_size < MIN_SIZE:
        raise ValueError(f"fused tables need a board of at least 3×3, not {features.board_size}×{features.board_size}")
    if any(shape_set.is_hashed for shape_set in features.sets):
        raise ValueError("fused tables hold shapes up to 3×3 alone")
    if features.tied:
        raise ValueError("fused tables have no signs: they do not hold shapes with tied inverses")
    return _build(features.board_size, features.sets)


@lru_cache(maxsize=8)
def _build(board_size: int, sets: tuple[ShapeSet, ...]) -> FusedTables:
    features = LocalShapes(board_size, sets)
    levels = []
    below = _Windows(np.empty((0, 0), dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    for size, shapes in _LEVELS:
        windows = _find_windows(board_size, size)
        levels.append(_build_level(features, windows, below, shapes))
        below = windows
    return FusedTables(windows.cells, windows.classes, *levels)


def _find_windows(board_size: int, size: tuple[int, int]) -> _Windows:
    windows = find_windows(board_size, *size)
    places = windows.y * board_size + windows.x
    classes = np.unique(places, return_inverse=True)[1]
    cells = windows.cells.astype(np.int64)
    return _Windows(cells, classes * 3 ** cells.shape[1], classes)


def _build_level(
    features: LocalShapes, windows: _Windows, below: _Windows, shapes: tuple[tuple[int, int], ...]
) -> Level:
    codes = 3 ** windows.cells.shape[1]
    child, child_share = _parts(windows, below)
    weight = [np.empty((len(child), 0, codes), dtype=np.uint32)]
    weight_share = [np.empty((len(child), 0))]
    for j, shape_set in enumerate(features.sets):
        if (shape_set.width, shape_set.height) in shapes:
            entries, shares = _parts(windows, _placements(features, j))
            weight.append(features.tables.canonical[entries].astype(np.uint32))
            weight_share.append(shares)
    table = np.zeros(len(child) * codes)
    weights = np.concatenate(weight, axis=1)
    return Level(child, child_share, weights, np.concatenate(weight_share, axis=1), table)


def _placements(features: LocalShapes, j: int) -> _Windows:
    """The placements of one set; an entry is a weight, not yet the one in use."""
    tables = features.tables
    mine = tables.placement_set == j
    area = features.sets[j].area
    cells = tables.cells[tables.placement_window[mine], :area].astype(np.int64)
    return _Windows(cells, tables.placement_base[mine].astype(np.int64), tables.placement_class[mine].astype(np.int64))


def _parts(windows: _Windows, parts: _Windows) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """The entries of the parts that lie in one window of each class, by code, and their shares of 1."""
    area = windows.cells.shape[1]
    digits = np.arange(3**area)[:, None] // 3 ** np.arange(area) % 3
    inside = [set(cells) for cells in windows.cells.tolist()]
    holders = [[w for w, cells in enumerate(inside) if cells.issuperset(part)] for part in parts.cells.tolist()]
    entries: list[list[NDArray[np.int64]]] = []
    shares: list[list[float]] = []
    for window in np.unique(windows.classes, return_index=True)[1].tolist():
        mine = [i for i, windows_around in enumerate(holders) if window in windows_around]
        place = {cell: k for k, cell in enumerate(windows.cells[window].tolist())}
        order = [[place[cell] for cell in parts.cells[i].tolist()] for i in mine]
        codes = [digits[:, cells] @ 3 ** np.arange(len(cells)) for cells in order]
        entries.append([parts.bases[i] + code for i, code in zip(mine, codes, strict=True)])
        shares.append([1 / len(holders[i]) for i in mine])
    shape = (len(entries), len(entries[0]), 3**area)
    return np.array(entries, dtype=np.uint32).reshape(shape), np.array(shares, dtype=np.float64).reshape(shape[:2])
