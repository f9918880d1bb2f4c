"""Errors and limits of the SGF layer, and what had to be repaired while a record was read: nothing in silence.

A reader calls ``report(kind, where, what)``; ``RepairLog`` is the usual receiver, ``ignore`` the other one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

# What the SGF layer raises, and the limits beyond which it refuses a file.


class SgfError(ValueError):
    """A record that cannot be read, replayed or written, and why."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a reader accepts before it takes a file for hostile. Nothing here is recursive, whatever the depth."""

    size: int = 16 << 20  # bytes of one record, or of a file that is loaded whole; a longer collection is streamed
    nodes: int = 1_000_000  # in one record or small collection
    depth: int = 250_000  # nested variations
    ratio: int = 100  # decompressed : compressed; real records reach 3 to 20
    entries: int = 50_000  # in one zip archive


DEFAULT_LIMITS: Final = Limits()


# What was repaired.

MOST_REPAIRS: Final = 200  # kept for one game; a hostile file could ask for millions


class RepairKind(Enum):
    """What was wrong."""

    ENCODING = "encoding"  # a missing or wrong CA, a byte order mark
    JUNK = "junk"  # text that belongs to no game
    STRUCTURE = "structure"  # brackets and semicolons
    NAME = "name"  # a property name that FF4 would write otherwise
    VALUE = "value"  # an unclosed value, a "]" that was not escaped
    DUPLICATE = "duplicate"  # a property twice in one node
    INFORMATION = "information"  # a size, komi, handicap or rule set that cannot be what it says
    HANDICAP = "handicap"  # stones that the record only counts
    POINT = "point"  # a move or a stone off the board
    SETUP = "setup"  # stones that cannot stand, or that two properties claim
    ILLEGAL_MOVE = "illegal move"  # kept as a set-up of what it leads to


class Repair(NamedTuple):
    """One repair: what kind, where (a line and column, a move, or the root) and what was done."""

    kind: RepairKind
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


Report = Callable[[RepairKind, str, str], None]


def ignore(kind: RepairKind, where: str, what: str) -> None:
    """Report to nobody."""


class RepairLog:
    """Collects the repairs of one game, the first of them in full and the rest as a number."""

    def __init__(self) -> None:
        self._listed: list[Repair] = []
        self._unlisted = 0

    def __call__(self, kind: RepairKind, where: str, what: str) -> None:
        if len(self._listed) < MOST_REPAIRS:
            self._listed.append(Repair(kind, where, what))
        else:
            self._unlisted += 1

    @property
    def repairs(self) -> list[Repair]:
        if not self._unlisted:
            return self._listed.copy()
        last = self._listed[-1]
        return [*self._listed, Repair(last.kind, last.where, f"and {self._unlisted} more repairs after this one")]


class LineFinder:
    """Says where in a text a position is; quick as long as it is asked about ever later positions."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._line = 1
        self._line_start = 0

    def where(self, position: int) -> str:
        if position < self._position:
            self._position, self._line, self._line_start = 0, 1, 0
        self._line += self._text.count("\n", self._position, position)
        newline = self._text.rfind("\n", self._position, position)
        if newline >= 0:
            self._line_start = newline + 1
        self._position = position
        return f"line {self._line}, column {position - self._line_start + 1}"


def shorten(text: str, length: int = 30) -> str:
    """A piece of a foreign text, quoted, fit for a message."""
    return repr(text if len(text) <= length else text[: length - 1] + "…")
