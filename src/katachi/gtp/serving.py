"""Commands by name, and the loop that answers them. This module knows no Go either.

A command is a function ``(session, *arguments) -> str``, or None for an empty answer; how many arguments it takes is
read from its signature. One that returns an iterator of lines *streams*: ``=`` is sent at once, then every line as it
comes.

Input is read on a thread of its own, so that a command at work can see that the controller has said something:
``InputReader.waiting`` is set as long as a line waits that nobody has taken, an empty one included, and after the end
of the input. That is how ``lz-analyze`` is stopped by any input. The thread also knows when a line came: a clock counts
from there, however late we find the time to look at it.
"""

from __future__ import annotations

import errno
import inspect
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator
from threading import Condition, Event, Thread
from typing import BinaryIO, Final, Generic, TypeVar

from katachi.gtp.protocol import (
    MAX_LINE,
    Command,
    GtpError,
    Line,
    LineSplitter,
    format_response,
    format_stream_line,
    parse_command,
)

_CHUNK: Final = 1 << 16
_MAX_WAITING_LINES: Final = 4096  # a controller further ahead than this is made to wait

_log = logging.getLogger(__name__)

SessionT = TypeVar("SessionT")
Answer = str | Iterator[str]
Handler = Callable[..., Answer | None]
HandlerT = TypeVar("HandlerT", bound=Handler)


class CommandTable(Generic[SessionT]):
    """Commands by their name."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}
        self._signatures: dict[str, inspect.Signature] = {}

    def command(self, *names: str) -> Callable[[HandlerT], HandlerT]:
        """Register a function under one name or several."""

        def register(handler: HandlerT) -> HandlerT:
            for name in names:
                if name in self._handlers:
                    raise AssertionError(f"{name} is registered twice")
                self._handlers[name] = handler
                self._signatures[name] = inspect.signature(handler)
            return handler

        return register

    def include(self, other: CommandTable[SessionT]) -> None:
        """Take over all commands of another table."""
        for name, handler in other._handlers.items():
            self.command(name)(handler)

    @property
    def names(self) -> list[str]:
        """All names in alphabetical order."""
        return sorted(self._handlers)

    def usage(self, name: str) -> str:
        """The name and the arguments of a command: ``loadsgf filename [move_number]``."""
        words = [name]
        for parameter in list(self._signatures[name].parameters.values())[1:]:
            if parameter.kind is parameter.VAR_POSITIONAL:
                words.append(f"[{parameter.name} ...]")
            else:
                words.append(parameter.name if parameter.default is parameter.empty else f"[{parameter.name}]")
        return " ".join(words)

    def call(self, session: SessionT, command: Command) -> Answer:
        """Run a command; raises GtpError for an unknown one and for a wrong number of arguments."""
        if not command.name:
            raise GtpError("syntax error: a command must follow the id")
        if command.name not in self._handlers:
            raise GtpError("unknown command")
        try:
            self._signatures[command.name].bind(session, *command.arguments)
        except TypeError:
            raise GtpError(f"syntax error: usage is {self.usage(command.name)}") from None
        return self._handlers[command.name](session, *command.arguments) or ""


def answer(table: CommandTable[SessionT], session: SessionT, line: Line) -> Iterator[bytes]:
    """Give the answer to a line piece by piece; nothing for a line that holds no command."""
    command = parse_command(line.content)
    if command is None:
        return
    try:
        if line.too_long:
            raise GtpError("syntax error: line too long")
        result = table.call(session, command)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong inside a command must not end the session
        yield format_response(describe_error(error), command.id, ok=False)
        return
    if isinstance(result, str):
        yield format_response(result, command.id)
    else:
        yield from _stream(result, command.id)


def _stream(lines: Iterator[str], command_id: str) -> Iterator[bytes]:
    """A response is under way once ``=`` is sent: an error after that can only be a line of it."""
    yield f"={command_id}\n".encode("ascii")
    try:
        for line in lines:
            yield format_stream_line(line)
    except Exception as error:  # noqa: BLE001 - as above
        yield format_stream_line(f"error: {describe_error(error)}")
    yield b"\n"


def describe_error(error: Exception) -> str:
    """What a command says is wrong with it; of any other error also its kind, because the fault is not the caller's."""
    if isinstance(error, GtpError):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def read_lines(stream: BinaryIO, limit: int = MAX_LINE) -> Iterator[Line]:
    """All lines of a stream, each as soon as it is there; of one longer than ``limit`` the beginning."""
    splitter = LineSplitter(limit)
    for chunk in _chunks(stream):
        yield from splitter.feed(chunk)
    yield from splitter.finish()


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    # A buffered stream's read(n) would wait for n bytes; read1 and a raw stream's read give what is there.
    read = getattr(stream, "read1", stream.read)
    try:
        while chunk := read(_CHUNK):
            yield chunk
    except (OSError, ValueError):  # a terminal that hung up, or a stream that was closed: the input has ended
        return


class InputReader:
    """Reads lines on a thread and keeps them until they are asked for."""

    def __init__(self, stream: BinaryIO) -> None:
        self.waiting = Event()
        self.interrupted = Event()  # a line ``# interrupt`` has come since the last line was taken
        self.asked = time.monotonic()  # when the last line was taken to be answered next: it had come, and we were free
        self._stream = stream
        self._lines: deque[tuple[Line, float]] = deque()  # with the time at which each came
        self._ended = False
        self._changed = Condition()
        Thread(target=self._read_all, name="gtp-input", daemon=True).start()

    def next_line(self, idle: Callable[[], object] | None = None) -> Line | None:
        """Wait for a line; None at the end of the input. ``idle`` is run first unless one waits already."""
        free = time.monotonic()
        if idle is not None and not self.waiting.is_set():
            idle()
        with self._changed:
            while not self._lines and not self._ended:
                self._changed.wait()
            line, came = self._lines.popleft() if self._lines else (None, free)
            self.asked = max(free, came)
            if not self._lines and not self._ended:
                self.waiting.clear()
            if not any(_is_interrupt(waiting) for waiting, _ in self._lines):
                self.interrupted.clear()
            self._changed.notify_all()
            return line

    def _read_all(self) -> None:
        for line in read_lines(self._stream):
            self._keep(line)
        with self._changed:
            self._ended = True
            self.waiting.set()
            self._changed.notify_all()

    def _keep(self, line: Line) -> None:
        came = time.monotonic()
        with self._changed:
            while len(self._lines) >= _MAX_WAITING_LINES:
                self._changed.wait()
            self._lines.append((line, came))
            self.waiting.set()
            if _is_interrupt(line):
                self.interrupted.set()
            self._changed.notify_all()


def _is_interrupt(line: Line) -> bool:
    """Whether the controller wants the answer that is being worked on now (GoGui)."""
    return line.content.strip() == b"# interrupt"


def serve_lines(
    reader: InputReader,
    answer_line: Callable[[Line], Iterator[bytes]],
    output: BinaryIO,
    *,
    has_quit: Callable[[], bool],
    idle: Callable[[], object] | None = None,
    log: BinaryIO | None = None,
) -> None:
    """Answer line after line until quit, the end of the input, Ctrl-C, or until nobody reads the answers.

    ``idle`` is run while there is nothing to answer; it must come back soon after ``reader.waiting`` is set. A log that
    cannot be written to any more is given up.
    """

    def keep(data: bytes) -> None:
        nonlocal log
        try:
            write_all(log, data)
        except OSError as error:
            _log.warning("katachi: the dialogue is not logged any more: %s", error.strerror)
            log = None

    try:
        while not has_quit() and (line := reader.next_line(idle)) is not None:
            keep(b"> " + line.content + b"\n")
            for piece in answer_line(line):
                write_all(output, piece)
                keep(piece)
    except (KeyboardInterrupt, BrokenPipeError):
        return


def write_all(stream: BinaryIO | None, data: bytes) -> None:
    """All of it, though a stream without a buffer may take a part at a time."""
    if stream is not None:
        while data:
            written = stream.write(data)
            if written is None:  # by a stream that does not wait
                raise BlockingIOError(errno.EAGAIN, "nobody reads it")
            data = data[written:]
        stream.flush()
