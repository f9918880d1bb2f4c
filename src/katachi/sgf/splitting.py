"""A long collection as a stream of pieces, each a game or a few, so that no more than a game need be in memory.

Works on bytes, before the encoding is known. In Shift-JIS and its like a byte of a character may look like a bracket,
so a piece may hold two games, or have text before its game; the parser takes both.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from katachi.sgf.errors import Limits, SgfError

WHOLE: Final = 1 << 20  # what is not longer is one piece: a file has one encoding and few games

# One match leads from a bracket of a tree to the next, over values and all.
_NEXT_BRACKET: Final = re.compile(
    rb"[^()\[]*+(?:\[[^\]\\]*+(?:\\.[^\]\\]*+)*+\][^()\[]*+)*+([()])",
    re.DOTALL,
)
_GAME_START: Final = re.compile(rb"\(\s{0,99}+(?:;|[A-Z]{1,2}+\s{0,9}+\[)")
_NEXT_GAME: Final = re.compile(rb"\(\s{0,99}+;\s{0,99}+(?:FF|GM)\s{0,9}+\[")
_LOOK_AHEAD: Final = 256  # more than these two can match


class Reader(Protocol):
    """What bytes come from."""

    def read(self, size: int, /) -> bytes: ...


def split_games(reader: Reader, limits: Limits) -> Iterator[bytes]:
    """The pieces of a stream; raises SgfError when a single record passes the limit of size."""
    chunk = read_up_to(reader, WHOLE + 1)
    if len(chunk) <= WHOLE:
        yield chunk
        return
    recode = _recoder(chunk)
    splitter = _Splitter()
    while chunk:
        yield from splitter.feed(recode(chunk))
        if splitter.waiting > limits.size:
            raise SgfError(f"a record is larger than {limits.size} bytes")
        # As much again as is waiting, so that a long record is not searched many times over; never far past the limit.
        chunk = read_up_to(reader, max(WHOLE, min(splitter.waiting, limits.size + 1 - splitter.waiting)))
    yield from splitter.finish()


def cut_games(data: bytes) -> list[bytes]:
    """The games of a small collection, each with its own bytes, as far as brackets tell where one ends."""
    splitter = _Splitter()
    pieces = [*splitter.feed(data), *splitter.finish()]
    return [piece.strip() for piece in pieces]


def read_up_to(reader: Reader, size: int) -> bytes:
    """Exactly so many bytes, or what there is before the end."""
    parts: list[bytes] = []
    while size and (part := reader.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _recoder(start: bytes) -> Callable[[bytes], bytes]:
    """What makes UTF-8 of a stream in UTF-16, whose brackets are two bytes wide, and leaves any other as it is."""
    if not start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return lambda chunk: chunk
    decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
    return lambda chunk: decoder.decode(chunk).encode("utf-8", errors="replace")


class _Splitter:
    """Counts brackets; a game ends where they balance.

    Where they do not for very long, although another game seems to begin on the way, brackets are no longer trusted,
    and from there on a game also ends where the next one plainly begins.
    """

    def __init__(self) -> None:
        self._buffer = b""
        self._start = 0  # of the piece that is being collected
        self._position = 0
        self._depth = 0
        self._trusts_brackets = True
        self._saw_next_game = False

    @property
    def waiting(self) -> int:
        """How many bytes belong to no piece yet."""
        return len(self._buffer) - self._start

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        self._buffer = self._buffer[self._start :] + chunk
        self._position -= self._start
        self._start = 0
        yield from self._pieces(len(self._buffer) - _LOOK_AHEAD)
        if self._saw_next_game and self.waiting > WHOLE:
            self._distrust_brackets()
            yield from self._pieces(len(self._buffer) - _LOOK_AHEAD)

    def finish(self) -> Iterator[bytes]:
        yield from self._pieces(len(self._buffer))
        if self._saw_next_game:
            self._distrust_brackets()
            yield from self._pieces(len(self._buffer))
        rest = self._buffer[self._start :]
        if rest.strip(b" \t\r\n\0\x1a"):
            yield rest

    def _distrust_brackets(self) -> None:
        """Begin the piece that is being collected once more."""
        self._trusts_brackets = False
        self._saw_next_game = False
        self._position = self._start
        self._depth = 0

    def _pieces(self, stop: int) -> Iterator[bytes]:
        buffer = self._buffer
        while (found := _NEXT_BRACKET.match(buffer, self._position)) and found.end() <= stop:
            bracket = found.start(1)
            self._position = found.end()
            if found[1] == b")":
                if self._depth == 1:
                    yield self._cut(self._position)
                self._depth = max(self._depth - 1, 0)
            elif not self._depth:
                self._depth = int(_GAME_START.match(buffer, bracket) is not None)
            elif not _NEXT_GAME.match(buffer, bracket):
                self._depth += 1
            elif self._trusts_brackets:
                self._depth += 1
                self._saw_next_game = True
            else:
                self._depth = 1
                yield self._cut(bracket)

    def _cut(self, end: int) -> bytes:
        piece = self._buffer[self._start : end]
        self._start = end
        self._saw_next_game = False
        return piece
