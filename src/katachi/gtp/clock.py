"""Time controls, and a safe share of the time left for the next move.

Five kinds: none, absolute, canadian (``stones`` moves in every ``period``), byoyomi (``periods`` of ``period`` seconds
for one move each), fischer (``increment`` after every move). All times are seconds.

The share is simple on purpose: what is left, divided by the moves that a game of this size still takes, less a margin
for the way to the controller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

KINDS: Final = ("none", "absolute", "byoyomi", "canadian", "fischer")
MAX_SECONDS: Final = float(2**31)

_LAG: Final = 0.1  # seconds between our answer and the controller's clock
_LAG_SHARE: Final = 0.1  # but never more than this part of what there is
_FEWEST_MOVES: Final = 12  # a game is never nearer to its end than this
_SHORTEST: Final = 0.005


@dataclass(frozen=True, slots=True)
class TimeControl:
    """The time control of a game, the same for both players."""

    kind: str = "none"
    main: float = 0.0
    period: float = 0.0
    stones: int = 0  # of a canadian period, or the number of byoyomi periods
    increment: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.kind!r} is no time control; known are {', '.join(KINDS)}")
        for seconds in (self.main, self.period, self.increment):
            check_seconds(seconds)
        if self.stones < 0:
            raise ValueError(f"{self.stones} is no number of stones or periods")
        if self.kind in ("canadian", "byoyomi") and (self.stones == 0 or self.period == 0):
            raise ValueError(f"{self.kind} needs a period longer than 0 and at least one stone or period")


def check_seconds(seconds: float) -> float:
    """Return a time that a clock can show, else raise ValueError (negative, nan, infinite, absurd)."""
    if not 0 <= seconds <= MAX_SECONDS:
        raise ValueError(f"{seconds:g} is no time: say seconds from 0 to {MAX_SECONDS:.0f}")
    return seconds


@dataclass(slots=True)
class TimeLeft:
    """What stands on one player's clock. ``stones`` is 0 in main time, else stones or periods left."""

    seconds: float
    stones: int = 0


@dataclass(slots=True)
class Clock:
    """The clocks of both players. A controller may set them; between its reports they run by what was spent."""

    control: TimeControl = field(default_factory=TimeControl)
    _left: dict[int, TimeLeft] = field(default_factory=dict)

    def restart(self) -> None:
        """Put the full time on both clocks."""
        self._left.clear()

    def set_left(self, color: int, seconds: float, stones: int = 0) -> None:
        """Believe the controller."""
        if stones < 0:
            raise ValueError(f"{stones} is no number of stones")
        self._left[color] = TimeLeft(check_seconds(seconds), stones)

    def left(self, color: int) -> TimeLeft:
        """The time of one player."""
        return self._left.get(color) or _begin(self.control)

    def spend(self, color: int, seconds: float) -> None:
        """Take off what a move has cost."""
        if self.control.kind != "none":
            self._left[color] = _after_move(self.control, self.left(color), seconds)

    def seconds_for_move(self, color: int, empty_points: int) -> float | None:
        """How long the next move may take; None if there is no limit."""
        if self.control.kind == "none":
            return None
        left, control = self.left(color), self.control
        moves = max(_FEWEST_MOVES, math.ceil(0.4 * empty_points))
        if left.stones:
            share = left.seconds if control.kind == "byoyomi" else left.seconds / left.stones
        else:
            share = left.seconds / moves + _regular(control)
        available = left.seconds if left.stones or not control.period else left.seconds + control.period
        lag = min(_LAG, _LAG_SHARE * share)
        return max(_SHORTEST, min(share, 0.9 * available) - lag)


def _begin(control: TimeControl) -> TimeLeft:
    if control.main or not control.period:
        return TimeLeft(control.main)
    return TimeLeft(control.period, control.stones)


def _regular(control: TimeControl) -> float:
    """What every move brings, whatever the main time."""
    if control.kind == "canadian":
        return control.period / control.stones
    return control.period if control.kind == "byoyomi" else control.increment


def _after_move(control: TimeControl, left: TimeLeft, seconds: float) -> TimeLeft:
    rest = left.seconds - seconds
    if not left.stones:
        if rest > 0 or not control.period:
            return TimeLeft(max(0.0, rest) + control.increment)
        left, rest = TimeLeft(control.period, control.stones), control.period + rest
    if control.kind == "byoyomi":
        return TimeLeft(control.period, left.stones if rest > 0 else max(1, left.stones - 1))
    return TimeLeft(max(0.0, rest), left.stones - 1) if left.stones > 1 else TimeLeft(control.period, control.stones)
