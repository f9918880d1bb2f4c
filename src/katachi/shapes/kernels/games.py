"""Whole compiled games: self-play that learns, and games against the average liberty player.

A game ends when nobody has a sensible move left, or at a cap on moves.
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
from katachi.shapes.kernels import online_td, table_td
from katachi.shapes.kernels.features import touches
from katachi.shapes.kernels.run import PASS_MOVE, PLIES_PER_POINT, agent_of, begin_batch, end_game, final_win

# The average liberty player (Silver et al. 2007) values a move by the mean number of liberties of its own chains less
# that of the opponent's; one ply, random ties. It plays as ``players/simple.py`` does, but a stone that captures
# nothing and joins at most one chain is valued without being played.

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
            gained += joined == PASS_MOVE or not touches(b, q, joined)
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


# Games: what a *form* is, how moves are chosen and learned from, is a module with these functions:
#
#     renew(game, weights, *per_batch)                             before a batch of games
#     begin(game, black, white, *per_move)                         with the agents of Black and White
#     choose(game, b, color, explore, *per_move)                   a move, or PASS_MOVE
#     play(game, b, move, color, *per_move)
#     learn_from_move(run, game, b, color, *per_move)
#     learn_from_game(run, game, b, black_wins, *per_game)
#
# ``game`` is the form's own record, and the tuples are what it takes besides. The loops are compiled for each form: a
# function that closes over a module is kept on disk, while one that closes over compiled functions is not.

_ALWAYS: Final = np.uint64(1) << np.uint64(32)
_NEVER: Final = np.uint64(0)


def _compile_loops(form):
    @kernel
    def train(runs, records, tables, weights, averages, boards, games):
        """Play and learn from ``games`` games; ``boards`` is an empty board and one to play on.

        ``tables`` are what the form takes per move, per game and per batch.
        """
        per_move, per_game, per_batch = tables
        run, game, b = runs[0], records[0], boards[1]
        for _ in range(games):
            if run.batch_left == 0:
                begin_batch(run, weights, averages)
                form.renew(game, weights, *per_batch)
            boards[1] = boards[0]
            form.begin(game, agent_of(run, 0), agent_of(run, 1), *per_move)
            color = np.int8(BLACK)
            passes = 0
            while passes < 2 and game.plies < run.move_cap:
                move = form.choose(game, b, color, run.explore, *per_move)
                form.play(game, b, move, color, *per_move)
                form.learn_from_move(run, game, b, color, *per_move)
                passes = passes + 1 if move == PASS_MOVE else 0
                color = np.int8(-color)
            black_wins = final_win(game, b, passes, run.komi)
            form.learn_from_game(run, game, b, black_wins, *per_game)
            end_game(run, game.plies, black_wins)

    @kernel
    def count_wins(records, per_move, alps, boards, games, random_plies, komi):
        """How many of ``games`` against the average liberty player the form wins as Black and as White, [2].

        They are Black in turn. ``boards`` are an empty one, one to play on and a spare one.
        """
        wins = np.zeros(2)
        game, b = records[0], boards[1]
        for number in range(games):
            boards[1] = boards[0]
            form.begin(game, 0, 0, *per_move)
            own = np.int8(BLACK if number % 2 == 0 else -BLACK)
            color = np.int8(BLACK)
            passes = 0
            while passes < 2 and game.plies < game.points * PLIES_PER_POINT:
                is_random = game.plies < random_plies
                if is_random or color == own:
                    move = form.choose(game, b, color, _ALWAYS if is_random else _NEVER, *per_move)
                else:
                    move = choose_by_liberties(alps[0], boards[1:2], boards[2:], color)
                form.play(game, b, move, color, *per_move)
                passes = passes + 1 if move == PASS_MOVE else 0
                color = np.int8(-color)
            black_wins = final_win(game, b, passes, komi)
            wins[number % 2] += black_wins if own == BLACK else 1.0 - black_wins
        return wins

    return train, count_wins


train_tables, count_table_wins = _compile_loops(table_td)
train_online, count_online_wins = _compile_loops(online_td)
