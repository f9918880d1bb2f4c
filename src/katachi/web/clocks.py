"""The clocks of a table: they run while somebody thinks, and tell when his time is up."""

from __future__ import annotations

import time
from collections.abc import Mapping

from katachi.go.points import BLACK, WHITE
from katachi.search.clock import Clock, TimeControl, TimeLeft, time_after_move

_KEYS = {BLACK: "black", WHITE: "white"}


class TableClock:
    """Two clocks of which at most one runs. Nothing is added for lag: both players are at this table."""

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self._clock = Clock(control, lag=0.0)
        self._running: int | None = None
        self._since = 0.0

    @property
    def is_used(self) -> bool:
        return self.control.kind != "none"

    def start(self, color: int) -> None:
        """Let a color's clock run, if it does not already, and stop the other."""
        if self.is_used and self._running != color:
            self.stop()
            self._running, self._since = color, time.monotonic()

    def stop(self) -> None:
        """Take off what the running clock has run; nobody's runs then."""
        if self._running is not None:
            self._clock.spend(self._running, time.monotonic() - self._since)
            self._running = None

    def run_out(self, color: int) -> None:
        """Leave nothing on a clock."""
        self._clock.set_left(color, 0.0, 0)

    def seconds_for_move(self, color: int, *, size: int, moves: int) -> float | None:
        """How long a player should think; None is as long as it likes."""
        return self._clock.seconds_for_move(color, size=size, moves=moves)

    def left(self, color: int) -> TimeLeft:
        """What a clock shows now."""
        left = self._clock.left(color)
        if self._running != color:
            return left
        elapsed = time.monotonic() - self._since
        if elapsed < left.seconds:
            return TimeLeft(left.seconds - elapsed, left.stones)
        if not self.control.period:
            return TimeLeft(0.0)
        used = elapsed - left.seconds
        after = time_after_move(self.control, left, elapsed)
        return TimeLeft(self.control.period - used % self.control.period, after.stones)

    def seconds_to_loss(self) -> float | None:
        """How long whose clock runs may still think; None if none runs."""
        if self._running is None:
            return None
        left = self._clock.left(self._running)
        periods = (left.stones - 1 if left.stones else self.control.stones) * self.control.period
        return left.seconds + periods - (time.monotonic() - self._since)

    def to_json(self) -> dict[str, list[float]]:
        """What stood on the clocks when the present move began: who comes back gets its time again."""
        return {name: [*_pair(self._clock.left(color))] for color, name in _KEYS.items()}

    def restore(self, values: Mapping[str, list[float]]) -> None:
        """Set the clocks to what ``to_json`` has told."""
        for color, name in _KEYS.items():
            if name in values:
                seconds, stones = values[name]
                self._clock.set_left(color, seconds, int(stones))


def _pair(left: TimeLeft) -> tuple[float, int]:
    return left.seconds, left.stones


def format_left(left: TimeLeft) -> str:
    """A clock as people read it: ``9:58``, and periods or stones left in brackets.

    >>> format_left(TimeLeft(20.0, 3))
    '0:20 (3)'
    """
    minutes, seconds = divmod(int(left.seconds), 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    return f"{text} ({left.stones})" if left.stones else text
