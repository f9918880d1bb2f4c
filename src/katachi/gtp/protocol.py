r"""The lines of the Go Text Protocol, version 2 (Farnebäck, draft 2, October 2002). This module knows no Go.

A controller sends lines ``[id] command [arguments]``, an engine answers ``=[id] result`` or ``?[id] message``, ended
by an empty line. What a reader must know:

- bytes come in and go out; between them text is UTF-8 with ``surrogateescape``, so bytes that are not UTF-8 survive;
- an id stays text, because it may be larger than any machine integer and must come back as it was sent;
- ``LineSplitter`` is the only place that knows where a line ends, and how long it may be.

>>> parse_command(b"7 play\tb  C3 # a comment\r\n")
Command(id='7', name='play', arguments=('b', 'C3'))
>>> format_response("C3", "7")
b'=7 C3\n\n'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

MAX_LINE: Final = 1 << 16  # bytes; a full 19×19 game as one gogui-play_sequence takes less than a tenth of this

_CONTROLS: Final = dict.fromkeys((*range(32), 127)) | {ord("\t"): " "}
_RESPONSE_CONTROLS: Final = {code: None for code in (*range(32), 127) if chr(code) not in "\t\n"}
_RESPONSE_HEAD: Final = re.compile(r"([=?])([0-9]*)(?:[ \t]+|$)")


class GtpError(ValueError):
    """A command that cannot be obeyed; its text is what the controller reads behind the ``?``."""


@contextmanager
def refusing(what: str, *kinds: type[Exception]) -> Iterator[None]:
    """Let errors of these kinds be answers that begin with ``what``; an answer that is one already stays as it is."""
    try:
        yield
    except GtpError:
        raise
    except kinds as error:
        raise GtpError(f"{what}: {error}") from None


class Command(NamedTuple):
    """What one line asks for. Either of ``id`` and ``name`` is empty when the line has none, but not both."""

    id: str
    name: str
    arguments: tuple[str, ...]


class Line(NamedTuple):
    """A line without its newline; ``too_long`` says that only its beginning was kept."""

    content: bytes
    too_long: bool = False


def parse_command(line: bytes) -> Command | None:
    """Read one line; None when nothing is left of it after control characters and the comment are gone."""
    text = line.decode("utf-8", "surrogateescape").translate(_CONTROLS)
    words = [word for word in text.partition("#")[0].split(" ") if word]
    if not words:
        return None
    has_id = words[0].isascii() and words[0].isdigit()
    command_id, words = (words[0], words[1:]) if has_id else ("", words)
    return Command(command_id, words[0] if words else "", tuple(words[1:]))


def format_response(text: str, command_id: str = "", *, ok: bool = True) -> bytes:
    """The whole answer to a command. An empty line inside ``text`` would end it, so it gets a space."""
    lines = clean_text(text).split("\n")
    head = f"{'=' if ok else '?'}{command_id} {lines[0]}"
    return encode_text("\n".join([head, *(line or " " for line in lines[1:])]) + "\n\n")


def format_stream_line(text: str) -> bytes:
    """One line of an answer that is sent piece by piece; never empty."""
    return encode_text((clean_text(text).replace("\n", " ") or " ") + "\n")


def clean_text(text: str) -> str:
    """The text without the control characters that a response may not hold, and without trailing white space."""
    return text.translate(_RESPONSE_CONTROLS).rstrip()


def encode_text(text: str) -> bytes:
    """Bytes of a text that came from here; a lone surrogate that is not an escaped byte becomes a question mark."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def parse_response_head(line: str) -> tuple[bool, str, str] | None:
    """Success, id and the text that follows on the same line; None when no response begins like this."""
    match = _RESPONSE_HEAD.match(line)
    return (match[1] == "=", match[2], line[match.end() :]) if match else None


class LineSplitter:
    """Cuts a stream of bytes into lines. Of a line longer than ``limit`` only the beginning is kept."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._too_long = False

    def feed(self, chunk: bytes) -> Iterator[Line]:
        """Take the next bytes and give the lines that they complete."""
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            self._keep(part)
            yield self._take()
        self._keep(rest)

    def finish(self) -> Iterator[Line]:
        """Give what stands behind the last newline, when the stream has ended."""
        if self._kept:
            yield self._take()

    def _keep(self, part: bytes) -> None:
        workspace = self._limit - len(self._kept)
        self._too_long |= len(part) > workspace
        self._kept += part[:workspace]

    def _take(self) -> Line:
        line = Line(bytes(self._kept), self._too_long)
        self._kept.clear()
        self._too_long = False
        return line
