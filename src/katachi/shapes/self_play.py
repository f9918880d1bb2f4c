"""Games of shapes: self-play that learns, and how well they play against the average liberty player.

Self-play is an object: the arrays that the kernels work on, and what of them must be kept.

``FastSelfPlay`` chooses moves with fused tables and learns after each game; ``OnlineSelfPlay`` is the paper's update
after every move. Both learn local shapes, alone or with liberty shapes, and hold a ``run`` record with settings and
progress (``shapes/kernels/run.py``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from katachi.features.windows import TABLE_SIZES
from katachi.go.kernels.board import OFF, SIMPLE_EYES, SINGLE_POINT_EYES, new_boards
from katachi.shapes.features import LocalShapes
from katachi.shapes.kernels.games import ALP, count_online_wins, count_table_wins, train_online, train_tables
from katachi.shapes.kernels.online_td import GAME
from katachi.shapes.kernels.online_td import Shapes as OnlineShapes
from katachi.shapes.kernels.player import LIBERTY_TABLE, TABLE, fuse, fuse_liberties, new_player
from katachi.shapes.kernels.run import PLIES_PER_POINT
from katachi.shapes.kernels.table_td import LEARNER, TableShapes
from katachi.shapes.liberty import (
    NO_LIBERTY_WINDOWS,
    CombinedShapes,
    LibertyShapes,
    Shapes,
    build_liberty_windows,
    can_fuse_liberties,
)
from katachi.shapes.model import build_fused_tables, levels_of
from katachi.shapes.sets import ShapeSet, inverse_codes

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


# The two forms of self-play

Weights = NDArray[np.float64]  # [agents, features.size]

EyeRule = Literal["simple", "single-point"]
EYE_RULES: Final[Mapping[EyeRule, int]] = {"simple": SIMPLE_EYES, "single-point": SINGLE_POINT_EYES}

_PROGRESS: Final = ("games", "batch_games", "batch_left", "averaged_games", "plies", "updates")
_TOTALS: Final = ("black_wins", "squared_errors")


class SelfPlay(ABC):
    """Plays against itself and learns; ``averages`` are sums, to be divided by the games that they are over."""

    def __init__(self, run: NDArray[Any], weights: Weights, game: NDArray[Any], seed: np.uint64, size: int) -> None:
        self.run = run
        self.weights = weights
        self.averages = np.zeros_like(weights)
        self.game = game
        self.game["random"], self.game["eye_rule"] = seed, run["eye_rule"]
        self._boards = new_boards(2, size)

    @abstractmethod
    def train(self, games: int) -> None: ...

    @property
    def moves(self) -> NDArray[np.uint16]:
        """The moves of the last game; MAX_POINTS is a pass."""
        return self._played("moves")

    @property
    def explored(self) -> NDArray[np.bool_]:
        """Which moves of the last game were explored at random."""
        return self._played("explored").astype(np.bool_)

    def _played(self, field: str) -> NDArray[Any]:
        """A field that has an entry for each ply, as far as the last game went."""
        entries: NDArray[Any] = self.game[field][0, : self.game["plies"][0]].copy()
        return entries

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next game depends on, and the weights."""
        return {
            "weights": self.weights.copy(),
            "averages": self.averages.copy(),
            "progress": np.array([self.run[name][0] for name in _PROGRESS], dtype=np.int64),
            "totals": np.array([self.run[name][0] for name in _TOTALS], dtype=np.float64),
            "random": self.game["random"].copy(),
            **{name: tables.copy() for name, tables in self._tables_in_use().items()},
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        self.weights[:] = state["weights"]
        self.averages[:] = state["averages"]
        for names, values in ((_PROGRESS, state["progress"]), (_TOTALS, state["totals"])):
            for name, value in zip(names, values, strict=True):
                self.run[name] = value
        self.game["random"] = state["random"]
        for name, tables in self._tables_in_use().items():
            tables[:] = state[name]

    def _tables_in_use(self) -> dict[str, NDArray[Any]]:
        """What moves are chosen with, where it is older than the weights."""
        return {}


class FastSelfPlay(SelfPlay):
    """Learns after each game; moves are chosen with tables that are fused again after every batch of games.

    Liberty shapes are those up to 2×2 that have a weight each.
    """

    def __init__(
        self, features: LocalShapes | CombinedShapes, run: NDArray[Any], weights: Weights, seed: np.uint64
    ) -> None:
        basic = basic_shapes(features)
        inverse = inverse_weights(basic)
        basic, weights = untie(basic, weights)
        self.tables = basic.tables
        self.fused = build_fused_tables(basic)
        self.levels = levels_of(self.fused)
        self.learner = new_learner(basic, len(features.sets))
        player = new_player(basic.board_size, self.fused.cells, self.fused.classes)
        windows, steps = NO_LIBERTY_WINDOWS, np.empty((0, 0))
        if isinstance(features, CombinedShapes):
            windows = build_liberty_windows(features.liberty)
            steps = windows.share / (len(features.sets) * features.liberty.active_counts[windows.part_set])
            player["has_liberties"] = True
            self.learner["liberties"]["lines"] = basic.board_size
            self.learner["liberties"]["windows"] = (basic.board_size - 1) ** 2
        shapes = TableShapes(self.learner, self.tables.record, self.tables.canonical, inverse, windows, steps)
        self._tables = (), (shapes, weights), (basic.size, windows, *self.levels)
        super().__init__(run, weights, player, seed, basic.board_size)

    def train(self, games: int) -> None:
        train_tables(self.run, self.game, self._tables, self.weights, self.averages, self._boards, games)

    def _tables_in_use(self) -> dict[str, NDArray[Any]]:
        """The tables of local and of liberty shapes, [agents, classes · CODES]."""
        agents, windows = len(self.weights), self._tables[2][1]
        tables = {"fused": self.game["fused"][0].reshape(2, TABLE)[:agents, : self.levels[2].table.size]}
        if self.game["has_liberties"][0]:
            fused = self.game["liberties"]["fused"][0].reshape(2, LIBERTY_TABLE)
            tables["liberty_fused"] = fused[:agents, : len(windows.weight)]
        return tables


def basic_shapes(features: LocalShapes | CombinedShapes) -> LocalShapes:
    """The local shapes among some shapes."""
    return features.basic if isinstance(features, CombinedShapes) else features


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


class OnlineSelfPlay(SelfPlay):
    """Learns after every move, as the paper says; slower by far, and the measure of the fast form."""

    def __init__(
        self,
        features: LocalShapes | CombinedShapes,
        run: NDArray[Any],
        weights: Weights,
        seed: np.uint64,
        *,
        cascade: bool,
    ) -> None:
        inverse = inverse_weights(basic_shapes(features))
        if isinstance(features, LocalShapes):
            features, weights = untie(features, weights)
        self.shapes = new_shapes(features, int(run["move_cap"][0]), inverse)
        self._tables = (self.shapes, weights), (self.shapes, weights), ()
        super().__init__(run, weights, new_game(features, cascade=cascade), seed, features.board_size)

    def train(self, games: int) -> None:
        train_online(self.run, self.game, self._tables, self.weights, self.averages, self._boards, games)


def new_shapes(
    features: LocalShapes | CombinedShapes, move_cap: int, inverse: NDArray[np.uint32] = NO_INVERSES
) -> OnlineShapes:
    """What the online kernels take besides the game, with room for the afterstates of so many plies."""
    tables, tracker = basic_shapes(features).tables, basic_shapes(features).tracker()
    afterstates, placements = move_cap // 2 + 1, int(features.active_counts.sum())
    active = np.zeros((2, afterstates, placements), dtype=np.uint32)
    gradients = np.zeros((2, afterstates, len(features.sets)))
    return OnlineShapes(tables.record, tracker.record, tracker.keys, tables.canonical, inverse, active, gradients)


def new_game(features: LocalShapes | CombinedShapes, *, cascade: bool) -> NDArray[Any]:
    """What the online kernels know of the shapes, and room for a game, [1] record.

    The placements of liberty shapes come behind those of local shapes. In the cascade a set of local shapes is as
    general as one of liberty shapes if it is as general by size and location; never the other way round.
    """
    basic, sets = basic_shapes(features), features.sets
    local = len(basic.sets)
    owners = np.concatenate([basic.tables.placement_set, basic.tables.keyed_set])
    around = _placements_around(basic)
    game = np.zeros(1, dtype=GAME)
    record = game[0]
    if isinstance(features, CombinedShapes):
        owners = np.concatenate([owners, local + _owners(features.liberty)])
        record["liberty"], record["liberty_first"] = features.liberty.record[0], basic.size
    record["points"], record["sets"], record["placements"] = basic.board_size**2, len(sets), owners.size
    record["set_of"][: owners.size] = owners
    record["starts"][: len(around) + 1] = np.cumsum([0, *map(len, around)])
    record["around"][: record["starts"][len(around)]] = [placement for row in around for placement in row]
    record["step"][: len(sets)] = 1 / (len(sets) * features.active_counts)
    record["general"][: len(sets), : len(sets)] = [
        [not cascade or ((j < local or i >= local) and sets[j].is_as_general_as(sets[i])) for i in range(len(sets))]
        for j in range(len(sets))
    ]
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


def _owners(liberty: LibertyShapes) -> NDArray[np.int64]:
    """The set of every placement, in the order in which they are listed."""
    record = liberty.record[0]
    numbers = {(s.width, s.height, int(s.is_dependent)): j for j, s in enumerate(liberty.sets)}
    sizes = [TABLE_SIZES[i] for i in record["shape"][: record["windows"]].tolist()]
    found = [numbers.get((*size, slot)) for size in sizes for slot in (0, 1)]
    return np.array([j for j in found if j is not None])


def longest_game(size: int) -> int:
    """The most plies that a game may have."""
    return PLIES_PER_POINT * size * size


# How well shapes play: games against the average liberty player, by the thousand.


def play_against_alp(
    features: Shapes,
    weights: NDArray[Any],
    games: int,
    seed: int,
    komi: float = 7.5,
    *,
    random_plies: int = 0,
    eye_rule: EyeRule = "simple",
) -> float:
    """How many games the greedy one-ply player with these weights wins, [features.size]; a draw counts half.

    Colors alternate, Black first. Neither side passes while it has a sensible move. The first ``random_plies`` moves
    of each game are random ones. Both sides keep their eyes by ``eye_rule``.
    """
    wins = play_by_color(features, weights, games, seed, komi, random_plies=random_plies, eye_rule=eye_rule)
    return float(sum(wins))


def play_by_color(
    features: Shapes,
    weights: NDArray[Any],
    games: int,
    seed: int,
    komi: float = 7.5,
    *,
    random_plies: int = 0,
    eye_rule: EyeRule = "simple",
) -> tuple[float, float]:
    """The same games counted apart: how many it wins as Black, and how many as White."""
    if games < 0 or weights.shape != (features.size,):
        raise ValueError(f"{games} games with weights of the shape {list(weights.shape)}, not [{features.size}]")
    # An xorshift generator must not begin at 0.
    own_seed, alp_seed = np.random.SeedSequence(seed).generate_state(2, np.uint64) | np.uint64(1)
    alp = np.zeros(1, dtype=ALP)
    alp["random"], alp["eye_rule"] = alp_seed, EYE_RULES[eye_rule]
    boards = new_boards(3, features.board_size)
    own, weights = _with_local_shapes(features, weights.astype(np.float64))
    game = _new_table_player(own, weights) if _can_fuse(own) else new_game(own, cascade=False)
    game["random"], game["eye_rule"] = own_seed, EYE_RULES[eye_rule]
    rest = (alp, boards, games, random_plies, komi)
    if _can_fuse(own):
        wins = count_table_wins(game, (), *rest)
    else:
        wins = count_online_wins(game, (new_shapes(own, 1), weights[None]), *rest)
    return float(wins[0]), float(wins[1])


def _with_local_shapes(
    features: Shapes, weights: NDArray[np.float64]
) -> tuple[LocalShapes | CombinedShapes, NDArray[np.float64]]:
    """Shapes with a weight each, and liberty shapes alone as if there were local shapes too, all worth nothing."""
    if isinstance(features, LocalShapes):
        return untie(features, weights)
    if isinstance(features, CombinedShapes):
        return features, weights
    basic = LocalShapes(features.board_size, [ShapeSet.parse("LI 1x1")])
    return CombinedShapes(basic, features), np.concatenate([np.zeros(basic.size), weights])


def _can_fuse(features: LocalShapes | CombinedShapes) -> bool:
    """Whether there are fused tables of these shapes."""
    if any(shape_set.is_hashed for shape_set in basic_shapes(features).sets):
        return False
    return isinstance(features, LocalShapes) or can_fuse_liberties(features.liberty)


def _new_table_player(features: LocalShapes | CombinedShapes, weights: NDArray[np.float64]) -> NDArray[Any]:
    basic = basic_shapes(features)
    tables = build_fused_tables(basic)
    player = new_player(features.board_size, tables.cells, tables.classes)
    fuse(weights, *levels_of(tables), player["fused"][0, : tables.large.table.size])
    if isinstance(features, CombinedShapes):
        player["has_liberties"] = True
        windows = build_liberty_windows(features.liberty)
        fuse_liberties(weights[basic.size :], windows, player["liberties"]["fused"][0])
    return player
