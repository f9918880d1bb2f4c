"""How well shapes play: games against the average liberty player, by the thousand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from katachi.go.kernels.board import new_boards
from katachi.shapes.features import LocalShapes
from katachi.shapes.fused import build_fused_tables, levels_of
from katachi.shapes.kernels.games import ALP, count_online_wins, count_table_wins
from katachi.shapes.kernels.player import fuse, fuse_liberties, new_player
from katachi.shapes.liberty import CombinedShapes, Shapes, build_liberty_windows, can_fuse_liberties
from katachi.shapes.self_play import EYE_RULES, EyeRule, basic_shapes, new_game, new_shapes, untie
from katachi.shapes.sets import ShapeSet


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
