"""What both forms of TD learning share: settings and progress in one record, schedules, and the average of
weights.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import record_dtype

MOST_BATCH_GAMES: Final = 100
STEP_SCHEDULES: Final = ("geometric", "linear", "harmonic")
GEOMETRIC, LINEAR, HARMONIC = range(3)
_BATCH_SHARE: Final = 16  # a batch is at most 1/16 of the games before it: the first games teach most

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
def black_agent(run):
    """Which agent is Black in the next game: a pair exchanges colors after every game."""
    return run.games & 1 if run.agents == 2 else 0


@kernel
def begin_batch(run, weights, averages):
    """Add the weights to their average, if it has begun, and set the length of the next batch of games."""
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
