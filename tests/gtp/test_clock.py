from __future__ import annotations

import math
import re

import pytest

from katachi.go.points import BLACK, WHITE
from katachi.gtp.clock import Clock, TimeControl, TimeLeft
from katachi.gtp.engine import GtpEngine
from katachi.interfaces import Limit

CONTROLS = [
    TimeControl("absolute", main=60),
    TimeControl("canadian", main=30, period=10, stones=5),
    TimeControl("canadian", period=10, stones=5),
    TimeControl("byoyomi", main=30, period=5, stones=3),
    TimeControl("byoyomi", period=1, stones=1),
    TimeControl("fischer", main=10, increment=2),
    TimeControl("absolute", main=0.5),
]


def lose_on_time(control: TimeControl, clock: Clock, color: int, seconds: float) -> bool:
    """The controller's judgement of a move that took so long, made apart from the clock under test."""
    left = clock.left(color)
    rest = left.seconds - seconds
    if control.kind == "byoyomi":
        periods = left.stones - 1 if left.stones else control.stones
        return rest <= -periods * control.period
    if control.kind == "canadian" and not left.stones:
        return rest <= -control.period
    return rest <= 0


@pytest.mark.parametrize("control", CONTROLS, ids=str)
@pytest.mark.parametrize("size", [9, 19])
def test_a_game_is_never_lost_on_time(control, size):
    clock = Clock(control)
    for move in range(400):
        seconds = clock.seconds_for_move(BLACK, max(0, size * size - 2 * move))
        assert seconds > 0
        if clock.left(BLACK).seconds > 0.02:
            assert not lose_on_time(control, clock, BLACK, seconds), f"move {move}: {clock.left(BLACK)}"
        clock.spend(BLACK, seconds)
    assert clock.left(WHITE) == Clock(control).left(WHITE)


def test_time_is_used():
    """A clock that never loses because it hardly thinks would be no clock."""
    clock = Clock(TimeControl("absolute", main=600))
    for move in range(120):
        clock.spend(BLACK, clock.seconds_for_move(BLACK, 361 - 2 * move))
    assert clock.left(BLACK).seconds < 300
    assert Clock(TimeControl("byoyomi", period=30, stones=5)).seconds_for_move(BLACK, 300) > 20
    assert Clock(TimeControl("canadian", period=300, stones=25)).seconds_for_move(BLACK, 300) > 10
    assert Clock(TimeControl("fischer", main=0.1, increment=5)).seconds_for_move(BLACK, 300) < 0.1


def test_periods_run_out():
    clock = Clock(TimeControl("byoyomi", main=10, period=5, stones=3))
    clock.spend(BLACK, 4)
    assert clock.left(BLACK) == TimeLeft(6)
    clock.spend(BLACK, 8)
    assert clock.left(BLACK) == TimeLeft(5, 3)
    clock.spend(BLACK, 5)
    assert clock.left(BLACK) == TimeLeft(5, 2)
    clock = Clock(TimeControl("canadian", main=10, period=20, stones=2))
    clock.spend(BLACK, 15)
    assert clock.left(BLACK) == TimeLeft(15, 1)
    clock.spend(BLACK, 15)
    assert clock.left(BLACK) == TimeLeft(20, 2)
    clock = Clock(TimeControl("fischer", main=10, increment=3))
    clock.spend(WHITE, 4)
    assert clock.left(WHITE) == TimeLeft(9)


def test_no_control_sets_no_limit():
    clock = Clock()
    clock.spend(BLACK, 1000)
    clock.set_left(BLACK, 1)
    assert clock.seconds_for_move(BLACK, 81) is None


@pytest.mark.parametrize("seconds", [-1, math.nan, math.inf, 1e12])
def test_impossible_times(seconds):
    with pytest.raises(ValueError, match=re.escape(f"{seconds:g} is no time")):
        TimeControl("absolute", main=seconds)
    with pytest.raises(ValueError, match="is no time"):
        Clock().set_left(BLACK, seconds)


def test_unknown_kind():
    with pytest.raises(ValueError, match="'hourglass' is no time control"):
        TimeControl("hourglass", main=10)


def test_the_player_is_given_what_the_clock_allows(limit_player):
    engine = GtpEngine(limit_player, size=9, limit=Limit(simulations=100, seconds=2.0))

    def seconds(*lines: str) -> float | None:
        assert all(engine.answer(line).startswith(b"=") for line in (*lines, "reg_genmove b"))
        return limit_player.limits[-1].seconds

    assert seconds() == 2.0
    assert seconds("time_settings 0 10 10") < 1.0
    assert seconds("time_settings 0 10 1") == 2.0, "the session's own limit is less"
    assert seconds("time_left b 1 1") < 1.0
    assert seconds("time_left w 100 1") < 1.0, "the other clock, and a question that is no move, change nothing"
    assert seconds("clear_board") == 2.0, "a new game begins with full clocks"
    assert seconds("time_settings 0 1 0") == 2.0
    assert seconds("kata-time_settings fischer 0.5 0.1") < 0.5
    assert all(limit.simulations == 100 for limit in limit_player.limits)
