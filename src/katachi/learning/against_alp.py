"""How well shapes play: games against the average liberty player, by the thousand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from katachi.features.local_shapes import LocalShapes
from katachi.go._kernels import new_boards
from katachi.learning._against_alp import count_fused_wins, count_unfused_wins
from katachi.learning._alp import ALP
from katachi.learning._fusing import fuse
from katachi.learning._shape_player import new_player
from katachi.learning.fused_tables import build_fused_tables, levels_of
from katachi.learning.self_play import new_game, new_shapes


def play_against_alp(
    features: LocalShapes, weights: NDArray[Any], games: int, seed: int, komi: float = 7.5, *, random_plies: int = 0
) -> float:
    """How many games the greedy one-ply player with these weights wins, [features.size]; a draw counts half.

    Colors alternate, Black first. Neither side passes while it has a sensible move. The first ``random_plies`` moves
    of each game are random ones.
    """
    if games < 0 or weights.shape != (features.size,):
        raise ValueError(f"{games} games with weights of the shape {list(weights.shape)}, not [{features.size}]")
    if features.tied:
        raise ValueError("shapes with tied inverses cannot be played by this player")
    # An xorshift generator must not begin at 0.
    own_seed, alp_seed = np.random.SeedSequence(seed).generate_state(2, np.uint64) | np.uint64(1)
    alp = np.zeros(1, dtype=ALP)
    alp["random"] = alp_seed
    rest = (alp, new_boards(3, features.board_size), games, random_plies, komi)
    if any(shape_set.is_hashed for shape_set in features.sets):
        game = new_game(features, cascade=False)
        game["random"] = own_seed
        return float(count_unfused_wins(new_shapes(features, 1), weights.astype(np.float64), game, *rest))
    player = _fused_player(features, weights.astype(np.float64))
    player["random"] = own_seed
    return float(count_fused_wins(player, *rest))


def _fused_player(features: LocalShapes, weights: NDArray[np.float64]) -> NDArray[Any]:
    tables = build_fused_tables(features)
    player = new_player(features.board_size, tables.cells, tables.classes)
    fuse(weights, *levels_of(tables), player["fused"][0, : tables.large.table.size])
    return player
