"""How well liberty shapes play, alone or with local shapes: games against the average liberty player."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from katachi.shapes.combined_shapes import CombinedShapes
from katachi.shapes.fused import build_fused_tables, levels_of
from katachi.shapes.kernels._fusing import fuse
from katachi.shapes.kernels.liberty_alp import count_fused_liberty_wins, count_unfused_liberty_wins
from katachi.shapes.kernels.liberty_player import LIBERTIES, fuse_liberties
from katachi.shapes.kernels.liberty_windows import POSITION
from katachi.shapes.kernels.player import new_player
from katachi.shapes.liberty import LibertyShapes
from katachi.shapes.liberty_self_play import new_liberty_game, new_liberty_shapes, new_room
from katachi.shapes.liberty_windows import build_liberty_windows, can_fuse_liberties
from katachi.shapes.local_shapes import LocalShapes
from katachi.shapes.sets import ShapeSet


def count_liberty_wins(
    features: LibertyShapes | CombinedShapes,
    weights: NDArray[Any],
    seed: np.uint64,
    eye_rule: int,
    rest: tuple[Any, ...],
) -> NDArray[np.float64]:
    """The wins as Black and as White, [2]; ``rest`` are the enemy, three boards, games, random plies and komi."""
    features, weights = _with_local_shapes(features, weights.astype(np.float64))
    if any(s.is_hashed for s in features.basic.sets) or not can_fuse_liberties(features.liberty):
        game = new_liberty_game(features, cascade=False)
        game["random"], game["eye_rule"] = seed, eye_rule
        unfused = (new_liberty_shapes(features, 1), new_room(features), weights, game)
        found: NDArray[np.float64] = count_unfused_liberty_wins(*unfused, *rest)
        return found
    player, liberties = _fused_player(features, weights)
    player["random"], player["eye_rule"] = seed, eye_rule
    wins: NDArray[np.float64] = count_fused_liberty_wins(player, liberties, np.zeros(1, dtype=POSITION), *rest)
    return wins


def _with_local_shapes(
    features: LibertyShapes | CombinedShapes, weights: NDArray[np.float64]
) -> tuple[CombinedShapes, NDArray[np.float64]]:
    """Liberty shapes alone as if there were local shapes too, all worth nothing."""
    if isinstance(features, CombinedShapes):
        return features, weights
    basic = LocalShapes(features.board_size, [ShapeSet.parse("LI 1x1")])
    return CombinedShapes(basic, features), np.concatenate([np.zeros(basic.size), weights])


def _fused_player(features: CombinedShapes, weights: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
    tables, windows = build_fused_tables(features.basic), build_liberty_windows(features.liberty)
    player = new_player(features.board_size, tables.cells, tables.classes)
    fuse(weights, *levels_of(tables), player["fused"][0, : tables.large.table.size])
    liberties = np.zeros(1, dtype=LIBERTIES)
    fuse_liberties(weights[features.basic.size :], windows, liberties["fused"][0])
    return player, liberties
