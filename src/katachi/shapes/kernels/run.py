"""What both forms of TD learning share: settings and progress in one record, schedules, the average of weights, and
what a game is to them.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import NEIGHBORS, is_atari, record_dtype
from katachi.go.kernels.playouts import count_area, next_random
from katachi.go.kernels.scoring import fill_owner
from katachi.go.points import MAX_POINTS

MOST_BATCH_GAMES: Final = 100
STEP_SCHEDULES: Final = ("geometric", "linear", "harmonic")
GEOMETRIC, LINEAR, HARMONIC = range(3)
_BATCH_SHARE: Final = 16  # a batch is at most 1/16 of the games before it: the first games teach most

PLIES_PER_POINT: Final = 4
MAX_PLIES: Final = PLIES_PER_POINT * MAX_POINTS
PASS_MOVE: Final = np.uint16(MAX_POINTS)

RUN: Final = record_dtype(
    [
        ("agents", np.uint8),
        ("logistic", np.uint8),
        ("update_after_exploring", np.uint8),
        ("eye_rule", np.uint8),
        ("komi", np.float64),
        ("move_cap", np.uint32),
        ("explore", np.uint64),  # epsilon · 2³²
        ("trace_decay", np.float64),
        ("step_size", np.float64),
        ("step_schedule", np.uint8),
        ("step_decay", np.float64),  # for each game
        ("average_from", np.int64),  # the game after which weights are averaged
        ("games", np.int64),
        ("batch_games", np.int64),  # in the batch that is being played
        ("batch_left", np.int64),  # games of it still to play
        ("averaged_games", np.int64),
        ("plies", np.int64),  # over all games, as what follows
        ("updates", np.int64),
        ("black_wins", np.float64),
        ("squared_errors", np.float64),
    ]
)


def step_decay(schedule: int, first: float, last: float, games: int) -> float:
    """What leads from the first step size to the last one in so many games."""
    if schedule == GEOMETRIC:
        return math.log(last / first) / games
    return (last / first - 1) / games if schedule == LINEAR else (first / last - 1) / games


@kernel
def step_size_at(run):
    """The step size for the next game."""
    if run.step_schedule == LINEAR:
        return run.step_size * (1.0 + run.step_decay * run.games)
    if run.step_schedule == HARMONIC:
        return run.step_size / (1.0 + run.step_decay * run.games)
    return run.step_size * math.exp(run.step_decay * run.games)


@kernel
def agent_of(run, side):
    """Which agent plays a side in the next game: a pair exchanges colors after every game."""
    return (run.games + side) & 1 if run.agents == 2 else 0


@kernel
def begin_batch(run, weights, averages):
    """Add the weights to their average, if it has started, and set the length of the next batch of games."""
    if run.games - run.batch_games >= run.average_from:
        run.averaged_games += run.batch_games
        for agent in range(weights.shape[0]):
            for i in range(weights.shape[1]):
                averages[agent, i] += weights[agent, i] * run.batch_games
    run.batch_games = min(max(run.games // _BATCH_SHARE, 1), MOST_BATCH_GAMES)
    run.batch_left = run.batch_games


@kernel
def end_game(run, plies, black_wins):
    """Count a game that was played and learned from."""
    run.games += 1
    run.batch_left -= 1
    run.plies += plies
    run.black_wins += black_wins


# A game, in the record of a form: it has ``plies``, ``points``, ``random``, ``explored``, ``taken`` and ``ownership``


@kernel
def draw_exploring(game, explore):
    """Whether the next move is any at random, with the chance ``explore`` / 2³²; written down."""
    game.random = next_random(game.random)
    exploring = (game.random >> np.uint64(32)) < explore
    game.explored[game.plies] = exploring
    return exploring


@kernel
def list_taken(game, b, p, color):
    """Write the stones that a move would capture to ``game.taken``; returns how many."""
    near = NEIGHBORS[b.lines]
    count = np.uint16(0)
    for k in range(4):
        q = near[p, k]
        if b.stone[q] != -color or not is_atari(b.liberties[b.head[q]]):
            continue
        seen = False
        for earlier in range(k):
            e = near[p, earlier]
            seen |= b.stone[e] == -color and b.head[e] == b.head[q]
        if seen:
            continue
        stone = q
        while True:
            game.taken[count] = stone
            count += np.uint16(1)
            stone = b.link[stone]
            if stone == q:
                break
    return count


@kernel
def final_win(game, b, passes, komi):
    """What Black gets for the board as it stands: 1, 0, or 0.5 for a draw."""
    score = 0
    if passes == 2:
        score = count_area(b, game.ownership)
    else:  # a game that was cut off has regions that are not eyes
        nobody = np.zeros(MAX_POINTS, dtype=np.bool_)
        owner = np.zeros(MAX_POINTS, dtype=np.int8)
        fill_owner(b.stone, b.lines, nobody, owner)
        for p in range(game.points):
            score += owner[p]
    return 1.0 if score > komi else 0.5 if score == komi else 0.0
