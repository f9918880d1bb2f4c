"""Clocks: the arithmetic of each control, and that no game is lost on time while lags stay below the reserve."""

from __future__ import annotations

import math
import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from katachi.go.points import BLACK, WHITE
from katachi.search.clock import Clock, TimeControl, TimeLeft


class Referee:
    """A controller's clock of one player, made apart from the one under test: a plain count of what is left."""

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self.main = control.main
        self.in_period = 0.0
        self.played_in_period = 0
        self.periods = control.stones

    def move(self, seconds: float) -> bool:
        """Whether a move that took so long was in time."""
        control = self.control
        if seconds > control.most_per_move:
            return False
        overtime = max(0.0, seconds - self.main)
        self.main = max(0.0, self.main - seconds)
        if control.kind in ("absolute", "fischer", "fischer-capped"):
            self.main = min(control.most, self.main + control.increment)
            return overtime == 0
        if control.kind == "byoyomi":
            self.periods -= int(overtime // control.period)
            return self.periods > 0
        if not overtime and self.main:
            return True
        self.in_period += overtime
        self.played_in_period += 1
        if self.in_period > control.period:
            return False
        if self.played_in_period == control.stones:
            self.in_period, self.played_in_period = 0.0, 0
        return True

    def report(self) -> tuple[float, int]:
        """The arguments of ``time_left``."""
        if self.main or not self.control.period:
            return self.main, 0
        if self.control.kind == "byoyomi":
            return self.control.period, self.periods
        return self.control.period - self.in_period, self.control.stones - self.played_in_period


def test_overruns_are_allowed_for_and_slowly_forgotten():
    clock = Clock(TimeControl("byoyomi", period=10, stones=1), lag=0.5)

    def given_after(overrun: float) -> float:
        clock.spend(BLACK, 1.0, overrun)
        return round(clock.seconds_for_move(BLACK, size=9, moves=0), 6)

    assert given_after(-8.5) == 9.5
    assert given_after(0.2) == 9.3
    assert given_after(0.1) == 9.5 - 0.18
    assert given_after(0.0) == 9.5 - 0.162
    assert given_after(20.0) < 0.01, "a first guess is always due"


def test_what_has_run_is_taken_off():
    clock = Clock(TimeControl("byoyomi", period=10, stones=1), lag=0.5)
    assert clock.seconds_for_move(BLACK, size=9, moves=0, late=2.0) == 7.5
    assert 0 < clock.seconds_for_move(BLACK, size=9, moves=0, late=20.0) < 0.01


sizes = st.sampled_from([2, 5, 9, 13, 19])
lags = st.sampled_from([0.001, 0.02, 0.1, 1.0])
factors = st.floats(1.0, 50.0)


@st.composite
def games(draw):
    """A board size, a lag, and a control that can pay the lag of every move of a game."""
    size, lag, factor = draw(sizes), draw(lags), draw(factors)
    least = lag + 0.006  # of a move: the shortest thought, and a little for the rounding of floats
    main = draw(st.sampled_from([0.0, 0.5, 30.0, 1800.0]))
    whole_game = least * (0.75 * size * size + 2)
    stones = draw(st.integers(1, 25))
    control = draw(
        st.sampled_from(
            [
                TimeControl("absolute", main=factor * whole_game),
                TimeControl("canadian", main=main, period=factor * least * stones, stones=stones),
                TimeControl("byoyomi", main=main, period=factor * least, stones=stones),
                TimeControl("fischer", main=factor * whole_game, increment=0.01),
                TimeControl("fischer", main=2 * least, increment=factor * least),
                TimeControl("fischer-capped", main=9 * least, increment=factor * least, most=10 * factor * least),
                TimeControl(
                    "fischer-capped", main=whole_game, increment=least, most=whole_game, most_per_move=factor * least
                ),
            ]
        )
    )
    return size, lag, control


@settings(max_examples=300, deadline=None)
@given(games(), st.integers(0, 1000), st.sampled_from(["always", "never", "whole seconds"]))
def test_no_game_is_lost_on_time(game, seed, reports):
    """Whole games, each move late by a random lag, whether or not the controller says what is left."""
    random = Random(seed)
    size, lag, control = game
    clock, referee = Clock(control, lag), Referee(control)
    for number in range(round(0.75 * size * size)):
        seconds = clock.seconds_for_move(BLACK, size=size, moves=number)
        assert seconds > 0
        assert referee.move(seconds + random.uniform(0, 0.999) * lag), f"move {number}: {clock.left(BLACK)}"
        clock.spend(BLACK, seconds)
        left, stones = referee.report()
        if reports != "never":
            clock.set_left(BLACK, math.floor(left) if reports == "whole seconds" and left > 1 else left, stones)
    assert clock.left(WHITE) == Clock(control).left(WHITE), "the other clock stands"


def test_one_second_a_move_is_nearly_used():
    assert Clock(TimeControl("byoyomi", period=1, stones=5)).seconds_for_move(BLACK, size=9, moves=0) == 0.9


@pytest.mark.parametrize(
    ("control", "least", "most"),
    [
        (TimeControl("absolute", main=600), 2.5, 4.5),
        (TimeControl("byoyomi", main=600, period=30, stones=5), 30, 36),
        (TimeControl("byoyomi", period=30, stones=5), 29, 30),
        (TimeControl("canadian", period=300, stones=25), 11, 12),
        (TimeControl("fischer", main=600, increment=5), 8, 10),
        (TimeControl("fischer-capped", main=600, increment=5, most=600, most_per_move=3), 2.8, 3),
    ],
    ids=lambda value: value.kind if isinstance(value, TimeControl) else "",
)
def test_time_is_used(control, least, most):
    """A clock that never loses because it hardly thinks would be no clock."""
    assert least < Clock(control).seconds_for_move(BLACK, size=19, moves=0) < most


def test_most_of_the_time_is_used_by_the_end():
    clock = Clock(TimeControl("absolute", main=600))
    for number in range(130):
        clock.spend(BLACK, clock.seconds_for_move(BLACK, size=19, moves=number))
    assert clock.left(BLACK).seconds < 150


@pytest.mark.parametrize(
    ("control", "size", "lag", "least"),
    [
        (TimeControl("absolute", main=40), 9, 1.0, 0.1),  # less than the lag of all moves that a game may have
        (TimeControl("absolute", main=62), 9, 1.0, 0.1),
        (TimeControl("absolute", main=300), 9, 1.0, 5.0),  # CGOS
        (TimeControl("absolute", main=900), 19, 1.0, 3.5),
        (TimeControl("canadian", main=300, period=300, stones=25), 19, 1.0, 11.0),  # KGS
        (TimeControl("byoyomi", main=60, period=10, stones=5), 9, 1.0, 9.0),
        (TimeControl("byoyomi", period=5, stones=1), 9, 1.0, 3.9),
        (TimeControl("fischer", main=120, increment=10), 9, 1.0, 10.0),  # OGS
        (TimeControl("fischer-capped", main=20, increment=2, most=40), 19, 1.0, 1.0),
    ],
)
def test_a_generous_lag_leaves_time_to_think(control, size, lag, least):
    assert least < Clock(control, lag).seconds_for_move(BLACK, size=size, moves=0) <= control.main + control.period


@pytest.mark.parametrize(("true_lag", "least"), [(0.02, 20.0), (0.3, 8.0), (0.99, 3.0)])
def test_a_controller_shows_how_long_its_lag_is(true_lag, least):
    """Forty seconds and ``--lag 1``: what the reports show need not be put aside; what they do show, must."""
    control = TimeControl("absolute", main=40)
    clock, referee = Clock(control, lag=1.0), Referee(control)
    for number in range(30):
        clock.set_left(BLACK, *referee.report())
        seconds = clock.seconds_for_move(BLACK, size=9, moves=number)
        assert seconds > 0.05 or true_lag > 0.9
        assert referee.move(seconds + true_lag), number
        clock.spend(BLACK, seconds)
    used = clock.used(BLACK)
    assert used.moves == 30
    assert least < used.seconds < 40
    assert used.longest < 8
    clock.restart()
    assert clock.used(BLACK).moves == 0


def test_periods_run_out():
    clock = Clock(TimeControl("byoyomi", main=10, period=5, stones=3), lag=0)
    clock.spend(BLACK, 4)
    assert clock.left(BLACK) == TimeLeft(6)
    clock.spend(BLACK, 8)
    assert clock.left(BLACK) == TimeLeft(5, 3)
    clock.spend(BLACK, 5)
    assert clock.left(BLACK) == TimeLeft(5, 2)
    clock = Clock(TimeControl("byoyomi", period=5, stones=5), lag=0)
    clock.spend(BLACK, 12)
    assert clock.left(BLACK) == TimeLeft(5, 3), "two periods are over at once"
    clock = Clock(TimeControl("canadian", main=10, period=20, stones=2), lag=0)
    clock.spend(BLACK, 15)
    assert clock.left(BLACK) == TimeLeft(15, 1)
    clock.spend(BLACK, 15)
    assert clock.left(BLACK) == TimeLeft(20, 2)
    clock = Clock(TimeControl("fischer-capped", main=10, increment=3, most=11), lag=0.5)
    clock.spend(WHITE, 0.5)
    assert clock.left(WHITE) == TimeLeft(11)
    clock.spend(WHITE, 4)
    assert clock.left(WHITE) == TimeLeft(9.5), "the lag counts as spent"


def test_no_control_sets_no_limit():
    clock = Clock()
    clock.spend(BLACK, 1000)
    clock.set_left(BLACK, 1)
    assert clock.seconds_for_move(BLACK, size=9, moves=0) is None


@pytest.mark.parametrize("seconds", [-1, math.nan, math.inf, 1e12])
def test_impossible_times(seconds):
    with pytest.raises(ValueError, match=re.escape(f"{seconds:g} is not a time")):
        TimeControl("absolute", main=seconds)
    with pytest.raises(ValueError, match="is not a time"):
        Clock().set_left(BLACK, seconds)


def test_impossible_controls():
    with pytest.raises(ValueError, match="'hourglass' is not a time control"):
        TimeControl("hourglass", main=10)
    with pytest.raises(ValueError, match="a cap must not be less"):
        TimeControl("fischer-capped", main=10, increment=1, most=9)
