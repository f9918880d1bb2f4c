"""Self-play that learns local shapes and liberty shapes together, as objects (see ``shapes/self_play.py``).

``FastLibertySelfPlay`` chooses moves with fused tables of both kinds and learns after each game;
``OnlineLibertySelfPlay`` is the paper's update after every move, for liberty shapes of all sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katachi.features.windows import TABLE_SIZES
from katachi.go.kernels.board import new_boards
from katachi.shapes.kernels.liberty import READING
from katachi.shapes.kernels.liberty_online_td import LibertyRoom, train_liberties_online
from katachi.shapes.kernels.liberty_player import LIBERTIES, LIBERTY_TABLE
from katachi.shapes.kernels.liberty_table_td import LIBERTY_LEARNER, train_with_liberties
from katachi.shapes.kernels.liberty_windows import POSITION
from katachi.shapes.kernels.online_td import Shapes
from katachi.shapes.liberty import CombinedShapes, LibertyShapes, build_liberty_windows
from katachi.shapes.self_play import FastSelfPlay, OnlineSelfPlay, Weights, new_game, new_learner, new_shapes


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
        room = (self.learner, self._follower, self.player, self.liberties, self._positions, self._boards)
        train_with_liberties(self.run, *room, shapes, self.weights, self.averages, games)

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
        self._room = new_room(features)
        self._boards = new_boards(3, features.board_size)

    def train(self, games: int) -> None:
        room = (self.game, self._boards)
        train_liberties_online(self.run, self.shapes, self._room, self.weights, self.averages, *room, games)


def new_liberty_shapes(features: CombinedShapes, move_cap: int) -> Shapes:
    """``new_shapes`` with room for both kinds."""
    afterstates = move_cap // 2 + 1
    active = np.zeros((2, afterstates, int(features.active_counts.sum())), dtype=np.uint32)
    slopes = np.zeros((2, afterstates, len(features.sets)))
    return new_shapes(features.basic, 1)._replace(active=active, slopes=slopes)


def new_room(features: CombinedShapes) -> LibertyRoom:
    """The liberty shapes, and room to read them."""
    liberty = features.liberty
    entries = np.zeros(int(liberty.active_counts.sum()), dtype=np.int64)
    return LibertyRoom(liberty.record, np.zeros(1, dtype=READING), entries, features.basic.size)


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
