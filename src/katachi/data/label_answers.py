"""Whom to ask who owns what at the end of a game, and what can come of it."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final


class Source(StrEnum):
    """Who says which stones are dead, or who owns what."""

    MARKS = "marks"  # both players, by what the last node of the record marks
    GNUGO = "gnugo"  # or another GTP program
    PLAYOUTS = "playouts"


SOURCES: Final = tuple(Source)


class Answer(IntEnum):
    """What became of asking a source about a game."""

    NOT_ASKED = 0
    NOTHING = 1  # it had nothing to say
    FAILED = 2  # it hung, died or talked nonsense
    DISAGREES = 3  # counted like this, the game ends otherwise than its record says
    AGREES = 4
