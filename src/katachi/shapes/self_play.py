"""Self-play that learns, as objects: the arrays that the kernels work on, and what of them must be kept.

``FastSelfPlay`` chooses moves with fused tables and learns after each game; ``OnlineSelfPlay`` is the paper's update
after every move. Both hold a ``run`` record with settings and progress (``shapes/kernels/self_play.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from katachi.features.windows import TABLE_SIZES
from katachi.go.kernels.board import OFF, SIMPLE_EYES, SINGLE_POINT_EYES, new_boards
from katachi.shapes.features import LocalShapes
from katachi.shapes.fused import build_fused_tables, levels_of
from katachi.shapes.kernels.liberty import READING
from katachi.shapes.kernels.liberty_online_td import LibertyWorkspace, train_liberties_online
from katachi.shapes.kernels.liberty_player import LIBERTIES, LIBERTY_TABLE
from katachi.shapes.kernels.liberty_table_td import LIBERTY_LEARNER, train_with_liberties
from katachi.shapes.kernels.liberty_windows import POSITION
from katachi.shapes.kernels.online_td import GAME, Shapes, train_online
from katachi.shapes.kernels.player import PLIES_PER_POINT, TABLE, new_player
from katachi.shapes.kernels.table_td import LEARNER, train_fast
from katachi.shapes.liberty import CombinedShapes, LibertyShapes, build_liberty_windows
from katachi.shapes.sets import inverse_codes

# Tied inverses: learning where a shape and its color inverse share one weight with opposite signs.
#
# Kernels know nothing of signs. While it is learned a tied weight is kept twice, and whatever is added to the one is
# taken from the other, so that they stay opposite to the last bit and a shape that is its own inverse stays at 0.

NO_INVERSES: Final = np.empty(0, dtype=np.uint32)


def check_tying(features: LocalShapes | CombinedShapes) -> None:
    """Raise ValueError where weights cannot be tied: in bins, and of liberty shapes."""
    large = [shape_set.name for shape_set in features.sets if shape_set.is_hashed]
    if isinstance(features, CombinedShapes):
        raise ValueError("tied inverses are for basic shapes alone: leave out liberty_sets or tied")
    if large:
        raise ValueError(f"only shapes up to 3x3 can be tied: {', '.join(large)} cannot")


def untie(features: LocalShapes, weights: NDArray[Any]) -> tuple[LocalShapes, NDArray[Any]]:
    """The same shapes with a weight each, and tied weights spread over them, [..., size]; untied ones as they are.

    Raises ValueError where weights cannot be tied.
    """
    if not features.tied:
        return features, weights
    check_tying(features)
    untied = LocalShapes(features.board_size, features.sets, bins=features.bins)
    spread = weights[..., features.tables.canonical] * features.tables.signs
    return untied, np.where(untied.tables.canonical == np.arange(features.size), spread, 0.0)


def tie(features: LocalShapes, weights: NDArray[Any]) -> NDArray[Any]:
    """The tied weights out of those that were spread; untied ones as they are."""
    if not features.tied:
        return weights
    return np.where(features.tables.canonical == np.arange(features.size), weights, 0.0)


def inverse_weights(features: LocalShapes) -> NDArray[np.uint32]:
    """For every weight the one that untied shapes use for the inverse shape, [size]; none unless inverses are tied."""
    if not features.tied:
        return NO_INVERSES
    untied = LocalShapes(features.board_size, features.sets, bins=features.bins)
    canonical = untied.tables.canonical
    inverse = [
        canonical[start:stop].reshape(-1, 3**shape_set.area)[:, inverse_codes(shape_set.area)].ravel()
        for shape_set, start, stop in zip(untied.sets, untied.offsets[:-1], untied.offsets[1:], strict=True)
    ]
    return np.concatenate(inverse)


# Self play

Weights = NDArray[np.float64]  # [agents, features.size]

EyeRule = Literal["simple", "single-point"]
EYE_RULES: Final[Mapping[EyeRule, int]] = {"simple": SIMPLE_EYES, "single-point": SINGLE_POINT_EYES}

_PROGRESS: Final = ("games", "batch_games", "batch_left", "averaged_games", "plies", "updates")
_TOTALS: Final = ("black_wins", "squared_errors")


class SelfPlay(Protocol):
    """Plays against itself and learns."""

    run: NDArray[Any]
    weights: Weights
    averages: Weights  # sums, to be divided by the games that they are over

    @property
    def moves(self) -> NDArray[np.uint16]:
        """The moves of the last game; MAX_POINTS is a pass."""
        ...

    @property
    def explored(self) -> NDArray[np.bool_]:
        """Which moves of the last game were explored at random."""
        ...

    def train(self, games: int) -> None: ...

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next game depends on, and the weights."""
        ...

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None: ...


class FastSelfPlay:
    """Learns after each game; moves are chosen with tables that are fused again after every batch of games."""

    def __init__(self, features: LocalShapes, run: NDArray[Any], weights: Weights, seed: np.uint64) -> None:
        self._inverse = inverse_weights(features)
        features, weights = untie(features, weights)
        self.run = run
        self.weights = weights
        self.averages = np.zeros_like(weights)
        self.tables = features.tables
        self.fused = build_fused_tables(features)
        self.levels = levels_of(self.fused)
        self.learner = new_learner(features, len(features.sets))
        self.player = new_player(features.board_size, self.fused.cells, self.fused.classes)
        self.player["eye_rule"] = run["eye_rule"]
        self.player["random"] = seed
        self._boards = new_boards(2, features.board_size)

    @property
    def moves(self) -> NDArray[np.uint16]:
        return _played(self.player, "moves")

    @property
    def explored(self) -> NDArray[np.bool_]:
        return _played(self.player, "explored").astype(np.bool_)

    def train(self, games: int) -> None:
        tables = (self.tables.record, self.tables.canonical, self._inverse)
        workspace = (self.learner, self.player, self._boards)
        train_fast(self.run, *workspace, tables, self.weights, self.averages, *self.levels, games)

    def state(self) -> dict[str, NDArray[Any]]:
        return {**_common_state(self), "random": self.player["random"].copy(), "fused": self._tables_in_use().copy()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        _restore_common(self, state)
        self.player["random"] = state["random"]
        self._tables_in_use()[:] = state["fused"]

    def _tables_in_use(self) -> NDArray[np.int32]:
        """The tables in use, [agents, classes · CODES]: they are older than the weights."""
        agents, entries = len(self.weights), self.levels[2].table.size
        fused: NDArray[np.int32] = self.player["fused"][0].reshape(2, TABLE)[:agents, :entries]
        return fused


def new_learner(features: LocalShapes, sets: int) -> NDArray[Any]:
    """The sets that see each window, where their weights for it begin, and its step if there are so many sets."""
    tables = features.tables
    learner = np.zeros(1, dtype=LEARNER)
    record = learner[0]
    record["windows"] = len(tables.cells)
    for placement, window in enumerate(tables.placement_window.tolist()):
        j = tables.placement_set[placement]
        record["base"][window, record["sets"][window]] = tables.placement_base[placement]
        record["sets"][window] += 1
        record["step"][window] = 1 / (sets * features.active_counts[j])
    return learner


class OnlineSelfPlay:
    """Learns after every move, as the paper says; slower by far, and the measure of the fast form."""

    def __init__(
        self, features: LocalShapes, run: NDArray[Any], weights: Weights, seed: np.uint64, *, cascade: bool
    ) -> None:
        inverse = inverse_weights(features)
        features, weights = untie(features, weights)
        self.run = run
        self.weights = weights
        self.averages = np.zeros_like(weights)
        self.shapes = new_shapes(features, int(run["move_cap"][0]), inverse)
        self.game = new_game(features, cascade=cascade)
        self.game["eye_rule"] = run["eye_rule"]
        self.game["random"] = seed
        self._boards = new_boards(2, features.board_size)

    @property
    def moves(self) -> NDArray[np.uint16]:
        return _played(self.game, "moves")

    @property
    def explored(self) -> NDArray[np.bool_]:
        return _played(self.game, "explored").astype(np.bool_)

    def train(self, games: int) -> None:
        workspace = (self.game, self._boards)
        train_online(self.run, self.shapes, self.weights, self.averages, *workspace, games)

    def state(self) -> dict[str, NDArray[Any]]:
        return {**_common_state(self), "random": self.game["random"].copy()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        _restore_common(self, state)
        self.game["random"] = state["random"]


def new_shapes(features: LocalShapes, move_cap: int, inverse: NDArray[np.uint32] = NO_INVERSES) -> Shapes:
    """What the online kernels take besides the game, with room for the afterstates of so many plies."""
    tables, tracker = features.tables, features.tracker()
    afterstates, placements = move_cap // 2 + 1, tables.placement_set.size + tables.keyed_set.size
    active = np.zeros((2, afterstates, placements), dtype=np.uint32)
    gradients = np.zeros((2, afterstates, len(features.sets)))
    return Shapes(tables.record, tracker.record, tracker.keys, tables.canonical, inverse, active, gradients)


def new_game(features: LocalShapes, *, cascade: bool) -> NDArray[Any]:
    """What the online kernels know of the shapes, and room for a game, [1] record."""
    sets = features.sets
    owners = np.concatenate([features.tables.placement_set, features.tables.keyed_set])
    around = _placements_around(features)
    game = np.zeros(1, dtype=GAME)
    record = game[0]
    record["points"], record["sets"], record["placements"] = features.board_size**2, len(sets), owners.size
    record["set_of"][: owners.size] = owners
    record["starts"][: len(around) + 1] = np.cumsum([0, *map(len, around)])
    record["around"][: record["starts"][len(around)]] = [placement for row in around for placement in row]
    record["step"][: len(sets)] = 1 / (len(sets) * features.active_counts)
    record["general"][: len(sets), : len(sets)] = [[not cascade or j.is_as_general_as(i) for i in sets] for j in sets]
    return game


def _placements_around(features: LocalShapes) -> list[list[int]]:
    """The placements around each point: those of the table sets, then the keyed ones."""
    tables = features.tables
    cells = [*tables.cells[tables.placement_window].tolist(), *tables.keyed_cells[tables.keyed_window].tolist()]
    around: list[list[int]] = [[] for _ in range(features.board_size**2)]
    for placement, points in enumerate(cells):
        for point in points:
            if point != OFF:
                around[point].append(placement)
    return around


def _played(game: NDArray[Any], field: str) -> NDArray[Any]:
    """A field that has an entry for each ply, as far as the last game went."""
    entries: NDArray[Any] = game[field][0, : game["plies"][0]].copy()
    return entries


def _common_state(self_play: SelfPlay) -> dict[str, NDArray[Any]]:
    return {
        "weights": self_play.weights.copy(),
        "averages": self_play.averages.copy(),
        "progress": np.array([self_play.run[name][0] for name in _PROGRESS], dtype=np.int64),
        "totals": np.array([self_play.run[name][0] for name in _TOTALS], dtype=np.float64),
    }


def _restore_common(self_play: SelfPlay, state: Mapping[str, NDArray[Any]]) -> None:
    self_play.weights[:] = state["weights"]
    self_play.averages[:] = state["averages"]
    for names, values in ((_PROGRESS, state["progress"]), (_TOTALS, state["totals"])):
        for name, value in zip(names, values, strict=True):
            self_play.run[name] = value


def longest_game(size: int) -> int:
    """The most plies that a game may have."""
    return PLIES_PER_POINT * size * size


# Self-play that learns local shapes and liberty shapes together, as objects (see ``shapes/self_play.py``).
#
# ``FastLibertySelfPlay`` chooses moves with fused tables of both kinds and learns after each game;
# ``OnlineLibertySelfPlay`` is the paper's update after every move, for liberty shapes of all sizes.


class FastLibertySelfPlay(FastSelfPlay):
    """Learns after each game; liberty shapes are those up to 2×2 that have a weight each."""

    def __init__(self, features: CombinedShapes, run: NDArray[Any], weights: Weights, seed: np.uint64) -> None:
        super().__init__(features.basic, run, weights, seed)
        size, sets = features.board_size, len(features.sets)
        self.learner = new_learner(features.basic, sets)
        self.windows = build_liberty_windows(features.liberty)
        self.steps = self.windows.share / (sets * features.liberty.active_counts[self.windows.part_set])
        self.liberties = np.zeros(1, dtype=LIBERTIES)
        self._follower = np.zeros(1, dtype=LIBERTY_LEARNER)
        self._follower["lines"], self._follower["windows"] = size, (size - 1) ** 2
        self._positions = np.zeros(1, dtype=POSITION)
        self._boards = new_boards(3, size)

    def train(self, games: int) -> None:
        shapes = (self.tables.record, self.tables.canonical, self.levels, self.windows, self.steps)
        workspace = (self.learner, self._follower, self.player, self.liberties, self._positions, self._boards)
        train_with_liberties(self.run, *workspace, shapes, self.weights, self.averages, games)

    def state(self) -> dict[str, NDArray[Any]]:
        return {**super().state(), "liberty_fused": self._liberty_tables_in_use().copy()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        super().restore(state)
        self._liberty_tables_in_use()[:] = state["liberty_fused"]

    def _liberty_tables_in_use(self) -> NDArray[np.int32]:
        """The tables of liberty shapes in use, [agents, classes · CODES]."""
        fused: NDArray[np.int32] = self.liberties["fused"][0].reshape(2, LIBERTY_TABLE)
        return fused[: len(self.weights), : len(self.windows.weight)]


class OnlineLibertySelfPlay(OnlineSelfPlay):
    """Learns after every move; slow, and the measure of the fast form."""

    def __init__(
        self, features: CombinedShapes, run: NDArray[Any], weights: Weights, seed: np.uint64, *, cascade: bool
    ) -> None:
        super().__init__(features.basic, run, weights, seed, cascade=cascade)
        self.shapes = new_liberty_shapes(features, int(run["move_cap"][0]))
        self.game = new_liberty_game(features, cascade=cascade)
        self.game["random"], self.game["eye_rule"] = seed, run["eye_rule"]
        self._workspace = new_workspace(features)
        self._boards = new_boards(3, features.board_size)

    def train(self, games: int) -> None:
        workspace = (self.game, self._boards)
        train_liberties_online(self.run, self.shapes, self._workspace, self.weights, self.averages, *workspace, games)


def new_liberty_shapes(features: CombinedShapes, move_cap: int) -> Shapes:
    """``new_shapes`` with room for both kinds."""
    afterstates = move_cap // 2 + 1
    active = np.zeros((2, afterstates, int(features.active_counts.sum())), dtype=np.uint32)
    gradients = np.zeros((2, afterstates, len(features.sets)))
    return new_shapes(features.basic, 1)._replace(active=active, gradients=gradients)


def new_workspace(features: CombinedShapes) -> LibertyWorkspace:
    """The liberty shapes, and room to read them."""
    liberty = features.liberty
    entries = np.zeros(int(liberty.active_counts.sum()), dtype=np.int64)
    return LibertyWorkspace(liberty.record, np.zeros(1, dtype=READING), entries, features.basic.size)


def new_liberty_game(features: CombinedShapes, *, cascade: bool) -> NDArray[Any]:
    """``new_game`` for both kinds: the placements of liberty shapes come behind those of local shapes.

    In the cascade a set of local shapes is as general as one of liberty shapes if it is as general by size and
    location; never the other way round.
    """
    basic, sets = len(features.basic.sets), features.sets
    owners = basic + _owners(features.liberty)
    game = new_game(features.basic, cascade=cascade)
    record = game[0]
    count = int(record["placements"])
    record["sets"], record["placements"] = len(sets), count + owners.size
    record["set_of"][count : count + owners.size] = owners
    record["step"][: len(sets)] = 1 / (len(sets) * features.active_counts)
    record["general"][: len(sets), : len(sets)] = [
        [not cascade or ((j < basic or i >= basic) and sets[j].is_as_general_as(sets[i])) for i in range(len(sets))]
        for j in range(len(sets))
    ]
    return game


def _owners(liberty: LibertyShapes) -> NDArray[np.int64]:
    """The set of every placement, in the order in which they are listed."""
    record = liberty.record[0]
    numbers = {(s.width, s.height, int(s.is_dependent)): j for j, s in enumerate(liberty.sets)}
    sizes = [TABLE_SIZES[i] for i in record["shape"][: record["windows"]].tolist()]
    found = [numbers.get((*size, slot)) for size in sizes for slot in (0, 1)]
    return np.array([j for j in found if j is not None])
