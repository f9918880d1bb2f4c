"""The average liberty player, compiled for many games: values moves by what they change.

Silver et al. 2007: the mean number of liberties of one's own chains less that of the opponent's; one ply, random ties.
It plays as ``players/simple.py`` does, but a stone that captures nothing and joins at most one chain is valued
without being played, and a game ends only when nobody has a sensible move left.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import (
    LEGAL,
    NEIGHBORS,
    count_liberties,
    illegality,
    is_atari,
    is_kept_eye,
    play_stone,
    record_dtype,
)
from katachi.go.kernels.playouts import next_random, random_below
from katachi.go.points import BLACK, EMPTY, MAX_POINTS
from katachi.shapes.kernels.online_td import choose_move, go_to_start, play_move
from katachi.shapes.kernels.player import PASS_MOVE, PLIES_PER_POINT, begin_game, choose, final_win, play

ALP: Final = record_dtype(
    [
        ("random", np.uint64),
        ("eye_rule", np.uint8),
        ("own_chains", np.int32),
        ("own_liberties", np.int32),
        ("opponent_chains", np.int32),
        ("opponent_liberties", np.int32),
        ("moves", np.uint16, MAX_POINTS),  # the best so far
    ]
)


@kernel
def _balance(own_chains, own_liberties, opponent_chains, opponent_liberties):
    return own_liberties / max(own_chains, 1) - opponent_liberties / max(opponent_chains, 1)


@kernel
def _count(alp, b, color):
    """Count the chains and liberties of both sides as ``color`` sees them."""
    alp.own_chains = alp.own_liberties = alp.opponent_chains = alp.opponent_liberties = 0
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] == EMPTY or b.head[p] != p:
            continue
        if b.stone[p] == color:
            alp.own_chains += 1
            alp.own_liberties += count_liberties(b, p)
        else:
            alp.opponent_chains += 1
            alp.opponent_liberties += count_liberties(b, p)


@kernel
def _touches(b, p, head):
    """Whether an empty point is a liberty of a chain."""
    near = NEIGHBORS[b.lines]
    for k in range(4):
        q = near[p, k]
        if b.stone[q] == b.stone[head] and b.head[q] == head:
            return True
    return False


@kernel
def _is_simple(b, p, color):
    """Whether a move captures nothing and joins at most one chain."""
    near = NEIGHBORS[b.lines]
    joined = PASS_MOVE
    for k in range(4):
        q = near[p, k]
        if b.stone[q] == -color:
            if is_atari(b.liberties[b.head[q]]):
                return False
        elif b.stone[q] == color:
            if joined != PASS_MOVE and joined != b.head[q]:
                return False
            joined = b.head[q]
    return True


@kernel
def _value_simple(alp, b, p, color):
    """The balance after a simple move: opponent chains around lose a liberty each, the own one gains what is new."""
    near = NEIGHBORS[b.lines]
    joined = PASS_MOVE
    lost = 0
    for k in range(4):
        q = near[p, k]
        if b.stone[q] == color:
            joined = b.head[q]
        elif b.stone[q] == -color:
            first = True
            for earlier in range(k):
                e = near[p, earlier]
                first &= b.stone[e] != -color or b.head[e] != b.head[q]
            lost += first
    gained = 0 if joined == PASS_MOVE else -1
    for k in range(4):
        q = near[p, k]
        if b.stone[q] == EMPTY:
            gained += joined == PASS_MOVE or not _touches(b, q, joined)
    chains = alp.own_chains + (1 if joined == PASS_MOVE else 0)
    return _balance(chains, alp.own_liberties + gained, alp.opponent_chains, alp.opponent_liberties - lost)


@kernel
def choose_by_liberties(alp, boards, spare, color):
    """The move of the average liberty player on ``boards[0]``, or PASS_MOVE; ``spare`` is a record to play on."""
    b = boards[0]
    best = -np.inf
    count = np.uint16(0)
    _count(alp, b, color)
    counts = (alp.own_chains, alp.own_liberties, alp.opponent_chains, alp.opponent_liberties)
    for i in range(b.empty_count):
        p = b.empties[i]
        if illegality(b, p, color, False) != LEGAL or is_kept_eye(b, p, color, alp.eye_rule):
            continue
        if _is_simple(b, p, color):
            value = _value_simple(alp, b, p, color)
        else:
            spare[0] = b
            play_stone(spare[0], p, color)
            _count(alp, spare[0], color)
            value = _balance(alp.own_chains, alp.own_liberties, alp.opponent_chains, alp.opponent_liberties)
            alp.own_chains, alp.own_liberties, alp.opponent_chains, alp.opponent_liberties = counts
        if value > best:
            best = value
            count = np.uint16(0)
        if value == best:
            alp.moves[count] = p
            count += np.uint16(1)
    if count == 0:
        return PASS_MOVE
    alp.random = next_random(alp.random)
    return alp.moves[random_below(alp.random, count)]


# Compiled games between a shape player and the average liberty player.
#
# Shapes up to 3×3 play with fused tables; sets with larger ones play as online learning does.

ALWAYS: Final = np.uint64(1) << np.uint64(32)
NEVER: Final = np.uint64(0)


@kernel
def color_of(game):
    """The shape player's color: Black and White in turn."""
    return np.int8(BLACK if game % 2 == 0 else -BLACK)


@kernel
def _play_fused(r, alp, boards, spare, own, random_plies, komi):
    """One game from ``boards[0]``; returns what Black gets."""
    b = boards[0]
    begin_game(r)
    color = np.int8(BLACK)
    passes = 0
    while passes < 2 and r.plies < r.points * PLIES_PER_POINT:
        if r.plies < random_plies or color == own:
            move = choose(r, b, color, ALWAYS if r.plies < random_plies else NEVER)
        else:
            move = choose_by_liberties(alp, boards, spare, color)
        play(r, b, move, color)
        passes = passes + 1 if move == PASS_MOVE else 0
        color = np.int8(-color)
    return final_win(r, b, passes, komi)


@kernel
def _play_unfused(shapes, weights, game, alp, boards, spare, own, random_plies, komi):
    """The same without fused tables."""
    b = boards[0]
    go_to_start(shapes, game)
    color = np.int8(BLACK)
    passes = 0
    while passes < 2 and game.plies < game.points * PLIES_PER_POINT:
        if game.plies < random_plies or color == own:
            move = choose_move(shapes, weights, game, b, color, ALWAYS if game.plies < random_plies else NEVER)
        else:
            move = choose_by_liberties(alp, boards, spare, color)
        play_move(shapes, game, b, move, color)
        passes = passes + 1 if move == PASS_MOVE else 0
        color = np.int8(-color)
    return final_win(game, b, passes, komi)


@kernel
def count_fused_wins(players, alps, boards, games, random_plies, komi):
    """How many of ``games`` the shape player wins as Black and as White, [2].

    ``boards`` are an empty one, one to play on and a spare one.
    """
    wins = np.zeros(2)
    for game in range(games):
        boards[1] = boards[0]
        own = color_of(game)
        black_wins = _play_fused(players[0], alps[0], boards[1:2], boards[2:], own, random_plies, komi)
        wins[game % 2] += black_wins if own == BLACK else 1.0 - black_wins
    return wins


@kernel
def count_unfused_wins(shapes, weights, games_played, alps, boards, games, random_plies, komi):
    """The same without fused tables."""
    wins = np.zeros(2)
    for game in range(games):
        boards[1] = boards[0]
        own = color_of(game)
        workspace = (alps[0], boards[1:2], boards[2:])
        black_wins = _play_unfused(shapes, weights, games_played[0], *workspace, own, random_plies, komi)
        wins[game % 2] += black_wins if own == BLACK else 1.0 - black_wins
    return wins
