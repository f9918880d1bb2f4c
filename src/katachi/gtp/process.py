"""A GTP program as a process: questions and answers with time-outs, and an end that always comes.

The program gets a process group of its own, and the whole group is killed when it fails, when it is closed, when this
object is forgotten, when Python exits, and, by a watchman, when Python itself is killed. The watchman is a shell that
waits on a pipe which closes when we are gone; the signal that Linux offers for this would come when the *thread* ends
that started the program, and would miss the program's own children.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Sequence
from io import BufferedReader
from threading import Thread
from typing import IO, Final

from katachi.gtp.protocol import GtpError, LineSplitter, encode_text, parse_response_head

MAX_ANSWER_LINES: Final = 2_000  # more than this, or as much noise before an answer, is nonsense
_LINE_BYTES: Final = 1 << 14
_STDERR_LINES: Final = 20
_STDERR_LINE_BYTES: Final = 400
_CHUNK: Final = 1 << 16
_QUIT_SECONDS: Final = 1.0  # for a program that was told to quit
_GAMES_FOLDER: Final = "/usr/games"  # where Debian puts GNU Go; it is not on everybody's PATH


class EngineFailure(GtpError):
    """A program that died, hung or talked nonsense, with what it last said on its standard error."""


class EngineProcess:
    """A running GTP program. Use it from one thread."""

    def __init__(self, command: Sequence[str], name: str) -> None:
        self._name = name
        self._next_id = 1
        self._lines: queue.Queue[str | None] = queue.Queue(MAX_ANSWER_LINES)
        self._errors: queue.Queue[str | None] = queue.Queue(_STDERR_LINES)
        self._process = _start(command, name)
        self.end = weakref.finalize(self, _end, self._process, _start_watchman(self._process.pid))
        _drain(self._process.stdout, self._lines, _LINE_BYTES)
        _drain(self._process.stderr, self._errors, _STDERR_LINE_BYTES)

    @property
    def pid(self) -> int:
        """The process, which leads a group of the same number."""
        return self._process.pid

    def ask(self, command: str, seconds: float) -> str:
        """The answer to a command; raises GtpError if the program refuses it, EngineFailure if it fails."""
        deadline = time.monotonic() + seconds
        command_id = str(self._next_id)
        self._next_id += 1
        self._send(command_id, command)
        ok, text = self._receive(command, command_id, deadline)
        if not ok:
            raise GtpError(text)
        return text

    def quit(self) -> None:
        """Tell the program to quit, give it a moment, and end it in any case."""
        with contextlib.suppress(GtpError):
            self.ask("quit", _QUIT_SECONDS)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_QUIT_SECONDS)
        self.end()

    def failure(self, what: str) -> EngineFailure:
        """End the program and make the error that tells what happened."""
        status = self._process.poll()
        self.end()
        left = f" (exit status {status})" if status is not None else ""
        words = self._last_words()
        return EngineFailure(f"{self._name} {what}{left}" + (f"; its last words: {words}" if words else ""))

    def _last_words(self) -> str:
        """What stood on standard error last; empties the queue. The program has ended, so its end comes soon."""
        words: list[str] = []
        with contextlib.suppress(queue.Empty):
            while (line := self._errors.get(timeout=_QUIT_SECONDS)) is not None:
                words.append(line)
        return " / ".join(word for word in words if word.strip())

    def _send(self, command_id: str, command: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(encode_text(f"{command_id} {command}\n"))
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise self._died(command) from None

    def _receive(self, command: str, command_id: str, deadline: float) -> tuple[bool, str]:
        """Skip whatever is not the answer to this command, such as a banner. Some programs do not repeat ids."""
        for _ in range(MAX_ANSWER_LINES):
            head = parse_response_head(self._next_line(command, deadline))
            if head is not None and head[1] in ("", command_id):
                break
        else:
            raise self.failure(f"talks nonsense instead of answering {_short(command)!r}")
        lines = [head[2]]
        while len(lines) <= MAX_ANSWER_LINES:
            line = self._next_line(command, deadline)
            if not line.strip():
                return head[0], "\n".join(lines).strip()
            lines.append(line)
        raise self.failure(f"never comes to an end answering {_short(command)!r}")

    def _next_line(self, command: str, deadline: float) -> str:
        try:
            line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise self.failure(f"did not answer {_short(command)!r} in time") from None
        if line is None:
            self._lines.put(None)  # whoever asks next must learn it too
            raise self._died(command)
        return line

    def _died(self, command: str) -> EngineFailure:
        with contextlib.suppress(subprocess.TimeoutExpired):  # so that its exit status can be told
            self._process.wait(_QUIT_SECONDS)
        return self.failure(f"died at {_short(command)!r}")


def _short(command: str) -> str:
    return command.strip()[:60]


def _start(command: Sequence[str], name: str) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=os.environ | {"PATH": os.pathsep.join((os.environ.get("PATH", os.defpath), _GAMES_FOLDER))},
        )
    except (OSError, ValueError) as error:
        raise EngineFailure(f"{name} cannot be started: {error}") from None


def _start_watchman(group: int) -> subprocess.Popen[bytes] | None:
    try:
        return subprocess.Popen(
            ["/bin/sh", "-c", f"read line; kill -9 -{group} 2>/dev/null"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in the terminal must not reach it
        )
    except OSError:  # a system without a shell has to do without a watchman
        return None


def _end(process: subprocess.Popen[bytes], watchman: subprocess.Popen[bytes] | None) -> None:
    """Kill the whole group. The watchman goes first, because the number of a group that is gone may be used again."""
    if watchman is not None:
        watchman.kill()
        _let_go(watchman)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    _let_go(process)


def _let_go(process: subprocess.Popen[bytes]) -> None:
    """Wait for a killed process and close our end of what it reads; the threads that drain the rest close that."""
    process.wait()
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()


def _drain(stream: IO[bytes] | None, lines: queue.Queue[str | None], longest: int) -> None:
    """Read a pipe on a thread until it closes. It knows the queue and not its owner, who may be forgotten meanwhile."""

    def read_all(pipe: BufferedReader) -> None:
        splitter = LineSplitter(longest)
        with pipe:
            while chunk := pipe.read1(_CHUNK):
                for line in splitter.feed(chunk):
                    _put(lines, line.content.decode("utf-8", "surrogateescape").rstrip("\r"))
        for line in splitter.finish():
            _put(lines, line.content.decode("utf-8", "surrogateescape"))
        _put(lines, None)

    assert isinstance(stream, BufferedReader)
    Thread(target=read_all, args=(stream,), name="gtp-engine", daemon=True).start()


def _put(lines: queue.Queue[str | None], line: str | None) -> None:
    """Keep the latest: of a program that floods us while nobody listens, the oldest lines go."""
    with contextlib.suppress(queue.Empty):
        if lines.full():
            lines.get_nowait()
    lines.put_nowait(line)
