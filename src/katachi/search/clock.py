"""How long to think: time controls, what stands on the clocks, and a share of it for the next move that never loses.

Six controls: none, absolute, canadian (``stones`` moves in every ``period``), byoyomi (so many periods of ``period``
seconds for one move each), fischer (``increment`` after every move), fischer-capped (the same, but there are never
more than ``most`` on the clock, and no move may take longer than ``most_per_move``). All times are seconds.

Every move costs a little more than we think: the way to the controller, a busy machine. As long as that is less than
``lag``, no game is lost on time, if its time can pay the lag of all its moves at all: each share is taken from what
is left after the lag of the moves to come is put aside. If that would leave next to nothing, a small part of the time
is thought all the same; and once a controller has reported its clock some times, its moves to come are expected to cost
what the last ones did, rather than all of ``lag``. What moves took beyond their share, on a machine that is busy
with other things, is put aside besides, and forgotten slowly.

>>> clock = Clock(TimeControl("byoyomi", main=60, period=10, stones=3), lag=0.5)
>>> clock.seconds_for_move(1, size=5, moves=0)  # a tenth of the main time and a period, less the lag
15.5
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

KINDS: Final = ("none", "absolute", "byoyomi", "canadian", "fischer", "fischer-capped")
MAX_SECONDS: Final = float(2**31)
DEFAULT_LAG: Final = 0.1

# Moves of one player in a game, as parts of the points of the board: how many it takes, and how many it may take.
_USUAL_MOVES: Final = 0.4
_MOST_MOVES: Final = 0.75
_SHORTEST: Final = 0.005  # seconds, when there are none to spare: enough for a first guess
_OVERRUN_KEPT: Final = 0.9  # of the overrun that is allowed for, after a move that had a lesser one; of a lag, too
_LEAST_PART: Final = 0.125  # of an equal share of what is left, however much the lag of the moves to come takes
_LAGS_BELIEVED: Final = 4  # so many must be seen, and then at least so much of ``lag`` is still put aside for a move
_LEAST_LAG: Final = 0.25


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The time control of a game, the same for both players."""

    kind: str = "none"
    main: float = 0.0
    period: float = 0.0
    stones: int = 0  # of a canadian period, or the number of byoyomi periods
    increment: float = 0.0
    most: float = math.inf
    most_per_move: float = math.inf

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is not a time control; known are {', '.join(KINDS)}")
        for seconds in (self.main, self.period, self.increment):
            check_seconds(seconds)
        if self.stones < 0:
            raise ValueError(f"{self.stones} is not a number of stones or periods")
        if self.kind in ("canadian", "byoyomi") and (self.stones == 0 or self.period == 0):
            raise ValueError(f"{self.kind} needs a period longer than 0 and at least one stone or period")
        if not (self.main <= self.most and self.most_per_move > 0):
            raise ValueError("a cap must not be less than the main time, nor a limit for each move 0")


def check_seconds(seconds: float) -> float:
    """Return a time that a clock can show, else raise ValueError (negative, nan, infinite, absurd)."""
    if not 0 <= seconds <= MAX_SECONDS:
        raise ValueError(f"{seconds:g} is not a time: say seconds from 0 to {MAX_SECONDS:.0f}")
    return seconds


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """What stands on one player's clock. ``stones`` is 0 in main time, else stones or periods left."""

    seconds: float
    stones: int = 0


@dataclass(slots=True)
class TimeUsed:
    """What the moves of a player took in a game."""

    moves: int = 0
    seconds: float = 0.0
    longest: float = 0.0


@dataclass(slots=True)
class Clock:
    """The clocks of both players. A controller may set them; between its reports they run by what was spent."""

    control: TimeControl = field(default_factory=TimeControl)
    lag: float = DEFAULT_LAG
    _left: dict[int, TimeLeft] = field(default_factory=dict)
    _overrun: float = 0.0
    _used: dict[int, TimeUsed] = field(default_factory=dict)
    _reports: dict[int, list[float]] = field(default_factory=dict)  # what the last said, and what moves took since
    _lags_seen: int = 0
    _lag_seen: float = 0.0

    def restart(self) -> None:
        """Put the full time on both clocks."""
        self._left.clear()
        self._used.clear()
        self._reports.clear()

    def used(self, color: int) -> TimeUsed:
        """What the moves of one player have taken, lag not included."""
        return self._used.setdefault(color, TimeUsed())

    def set_left(self, color: int, seconds: float, stones: int = 0) -> None:
        """Believe the controller."""
        if stones < 0:
            raise ValueError(f"{stones} is not a number of stones")
        self._left[color] = TimeLeft(check_seconds(seconds), stones)
        report = self._reports.pop(color, [])
        if stones:
            return
        if len(report) == 2:
            before, took = report
            self._lag_seen = max(before + self.control.increment - seconds - took, self._lag_seen * _OVERRUN_KEPT)
            self._lags_seen += 1
        self._reports[color] = [seconds]

    def left(self, color: int) -> TimeLeft:
        """The time of one player."""
        return self._left.get(color) or time_at_start(self.control)

    def spend(self, color: int, seconds: float, overrun: float = 0.0) -> None:
        """Take off what a move has cost, lag included; it was so much more than ``seconds_for_move`` had said."""
        self._overrun = max(overrun, self._overrun * _OVERRUN_KEPT)
        self._reports.get(color, []).append(seconds)
        used = self.used(color)
        used.moves += 1
        used.seconds += seconds
        used.longest = max(used.longest, seconds)
        if self.control.kind != "none":
            self._left[color] = time_after_move(self.control, self.left(color), seconds + self.lag)

    def seconds_for_move(self, color: int, *, size: int, moves: int, late: float = 0.0) -> float | None:
        """How long the next move may take, after so many of that player on a board of that size; None if no limit.

        ``late`` are the seconds that the clock has already run.
        """
        if self.control.kind == "none":
            return None
        lag = self.lag + self._overrun
        share = _share(self.control, self.left(color), lag, self._lag_to_come + self._overrun, size * size, moves)
        return max(_SHORTEST, min(share, self.control.most_per_move - lag) - late)

    @property
    def _lag_to_come(self) -> float:
        """What a move to come may cost beyond the thinking, as far as reports of the controller tell."""
        if self._lags_seen < _LAGS_BELIEVED:
            return self.lag
        return min(self.lag, max(_LEAST_LAG * self.lag, 2 * self._lag_seen))


def time_at_start(control: TimeControl) -> TimeLeft:
    """What stands on a clock before the first move."""
    if control.main or not control.period:
        return TimeLeft(control.main)
    return TimeLeft(control.period, control.stones)


def time_after_move(control: TimeControl, left: TimeLeft, seconds: float) -> TimeLeft:
    """What stands on a clock after a move that cost so much; a clock that has run out shows 0."""
    rest = left.seconds - seconds
    if not left.stones:
        if rest > 0 or not control.period:
            return TimeLeft(min(control.most, max(0.0, rest) + control.increment))
        left, rest = TimeLeft(control.period, control.stones), control.period + rest
    if control.kind == "byoyomi":
        used = 0 if rest > 0 else 1 + math.floor(-rest / control.period)
        return TimeLeft(control.period, max(1, left.stones - used))
    return TimeLeft(max(0.0, rest), left.stones - 1) if left.stones > 1 else TimeLeft(control.period, control.stones)


def _share(control: TimeControl, left: TimeLeft, lag: float, later_lag: float, points: int, moves: int) -> float:
    """The seconds that may be thought; not above 0 if there are none to spare. The moves to come have their own lag."""
    regular = control.period / control.stones if control.kind == "canadian" else control.period or math.inf
    if left.stones:
        # Nothing is saved up for later moves: without its reports, the controller may count another stone than we do.
        stones = 1 if control.kind == "byoyomi" else left.stones
        return min(regular, left.seconds / stones) - lag
    usual, most = (max(1.0, points / 10, part * points - moves) for part in (_USUAL_MOVES, _MOST_MOVES))
    if control.period:  # main time is a gift on top of what every move gets for ever after
        return left.seconds / usual + regular - lag
    least = lag + _SHORTEST  # that a move costs
    spare = left.seconds - least - max(0.0, later_lag + _SHORTEST - control.increment) * most
    share = min(spare, spare / usual + max(0.0, control.increment - least))
    return max(share, min(left.seconds - least, _LEAST_PART * left.seconds / usual))
