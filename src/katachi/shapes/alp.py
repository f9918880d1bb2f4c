"""How well shapes play: games against the average liberty player, by the thousand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from katachi.go.kernels.board import new_boards
from katachi.shapes.features import LocalShapes
from katachi.shapes.fused import build_fused_tables, levels_of
from katachi.shapes.kernels.alp import ALP, count_fused_wins, count_unfused_wins
from katachi.shapes.kernels.liberty_alp import count_fused_liberty_wins, count_unfused_liberty_wins
from katachi.shapes.kernels.liberty_player import LIBERTIES, fuse_liberties
from katachi.shapes.kernels.liberty_windows import POSITION
from katachi.shapes.kernels.player import fuse, new_player
from katachi.shapes.liberty import CombinedShapes, LibertyShapes, Shapes, build_liberty_windows, can_fuse_liberties
from katachi.shapes.self_play import (
    EYE_RULES,
    EyeRule,
    new_game,
    new_liberty_game,
    new_liberty_shapes,
    new_shapes,
    new_workspace,
    untie,
)
from katachi.shapes.sets import ShapeSet

# How well liberty shapes play, alone or with local shapes: games against the average liberty player.


def count_liberty_wins(
    features: LibertyShapes | CombinedShapes,
    weights: NDArray[Any],
    seed: np.uint64,
    eye_rule: int,
    rest: tuple[Any, ...],
) -> NDArray[np.float64]:
    """The wins as Black and as White, [2]; ``rest`` are the opponent, three boards, games, random plies and komi."""
    features, weights = _with_local_shapes(features, weights.astype(np.float64))
    if any(s.is_hashed for s in features.basic.sets) or not can_fuse_liberties(features.liberty):
        game = new_liberty_game(features, cascade=False)
        game["random"], game["eye_rule"] = seed, eye_rule
        unfused = (new_liberty_shapes(features, 1), new_workspace(features), weights, game)
        found: NDArray[np.float64] = count_unfused_liberty_wins(*unfused, *rest)
        return found
    player, liberties = _fused_liberty_player(features, weights)
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


def _fused_liberty_player(features: CombinedShapes, weights: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
    tables, windows = build_fused_tables(features.basic), build_liberty_windows(features.liberty)
    player = new_player(features.board_size, tables.cells, tables.classes)
    fuse(weights, *levels_of(tables), player["fused"][0, : tables.large.table.size])
    liberties = np.zeros(1, dtype=LIBERTIES)
    fuse_liberties(weights[features.basic.size :], windows, liberties["fused"][0])
    return player, liberties


# Against alp


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
    rest = (alp, new_boards(3, features.board_size), games, random_plies, komi)
    if not isinstance(features, LocalShapes):
        wins = count_liberty_wins(features, weights, own_seed, EYE_RULES[eye_rule], rest)
        return float(wins[0]), float(wins[1])
    features, weights = untie(features, weights)
    if any(shape_set.is_hashed for shape_set in features.sets):
        game = new_game(features, cascade=False)
        game["random"], game["eye_rule"] = own_seed, EYE_RULES[eye_rule]
        wins = count_unfused_wins(new_shapes(features, 1), weights.astype(np.float64), game, *rest)
        return float(wins[0]), float(wins[1])
    player = _fused_player(features, weights.astype(np.float64))
    player["random"], player["eye_rule"] = own_seed, EYE_RULES[eye_rule]
    wins = count_fused_wins(player, *rest)
    return float(wins[0]), float(wins[1])


def _fused_player(features: LocalShapes, weights: NDArray[np.float64]) -> NDArray[Any]:
    tables = build_fused_tables(features)
    player = new_player(features.board_size, tables.cells, tables.classes)
    fuse(weights, *levels_of(tables), player["fused"][0, : tables.large.table.size])
    return player
