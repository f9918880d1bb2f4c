"""How a game ended, and its SGF text: ``B+3.5``, ``W+R``, ``B+T``, ``W+F``, ``B+`` or ``0``.

>>> GameResult.parse("w+resign")
GameResult(winner=-1, margin=None, reason=<Reason.RESIGNATION: 'R'>)
>>> str(GameResult.by_score(-0.5))
'W+0.5'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from katachi.go.points import BLACK, EMPTY, WHITE


class Reason(Enum):
    SCORE = "score"
    RESIGNATION = "R"
    TIME = "T"
    FORFEIT = "F"
    UNKNOWN = ""


_LETTERS = {BLACK: "B", WHITE: "W"}
_WON = re.compile(r"(b|black|w|white)\+(.*)", re.IGNORECASE | re.DOTALL)
_REASONS = {
    "r": Reason.RESIGNATION,
    "resign": Reason.RESIGNATION,
    "t": Reason.TIME,
    "time": Reason.TIME,
    "f": Reason.FORFEIT,
    "forfeit": Reason.FORFEIT,
    "": Reason.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class GameResult:
    """The winner (EMPTY for a draw), by how much if the board was counted, and the reason."""

    winner: int
    margin: float | None = None
    reason: Reason = Reason.UNKNOWN

    @classmethod
    def by_score(cls, black_lead: float) -> GameResult:
        """The result of a count; ``black_lead`` is Black's score less White's, komi included."""
        winner = BLACK if black_lead > 0 else WHITE if black_lead < 0 else EMPTY
        return cls(winner, abs(black_lead), Reason.SCORE)

    @classmethod
    def parse(cls, text: str) -> GameResult:
        """Read an SGF result; raises ValueError for one that tells no winner (``?``, ``Void``)."""
        word = text.strip().lower()
        if word in ("0", "draw", "jigo"):
            return cls.by_score(0.0)
        won = _WON.fullmatch(word)
        if not won:
            raise ValueError(f"{text!r} tells no result")
        winner = BLACK if won[1].startswith("b") else WHITE
        how = won[2].strip()
        if how in _REASONS:
            return cls(winner, None, _REASONS[how])
        if not re.fullmatch(r"\d{1,4}([.,]\d{0,3})?", how):
            raise ValueError(f"{text!r} tells no result")
        return cls(winner, float(how.replace(",", ".")), Reason.SCORE)

    def __str__(self) -> str:
        if self.winner == EMPTY:
            return "0"
        how = f"{self.margin:g}" if self.margin is not None else self.reason.value
        return f"{_LETTERS[self.winner]}+{how}"
