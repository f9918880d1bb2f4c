"""An engine as a controller sees it: ``katachi gtp`` over pipes, with other processes that keep the cores busy.

Times are taken on the controller's side, so they include the way through the pipes and whatever the system does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final

import numpy as np

from katachi.bench.report import Row
from katachi.bench.twins import BenchmarkError

SIZE: Final = 9
_MOST_MOVES: Final = 200  # of a game
_PLAYER: Final = 'kind = "search"\nresign_below = 0.05\n[search]\nkind = "mcts"\n'
# Computes as long as whoever started it is there.
_SPIN: Final = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(10**6))"


class PipedEngine:
    """A GTP engine in a process of its own. Answers are timed from the writing of the command to the empty line."""

    def __init__(self, player: str) -> None:
        command = [sys.executable, "-m", "katachi", "gtp", player, "--seed", "1"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pid = self._process.pid

    def ask(self, command: str) -> tuple[str, float]:
        """The answer and the seconds that it took; raises BenchmarkError if the engine refuses or has gone."""
        begun = time.monotonic()
        self.send(command)
        text = self.receive()
        return text, time.monotonic() - begun

    def send(self, command: str) -> None:
        """Write a command without waiting for its answer."""
        stdin = _stream(self._process.stdin)
        stdin.write(command.encode() + b"\n")
        stdin.flush()

    def receive(self) -> str:
        """Wait for the end of the next answer; raises BenchmarkError if it is a refusal or does not come."""
        lines = self.receive_rest()
        if not lines or not lines[0].startswith("="):
            raise BenchmarkError(f"the engine answers {' '.join(lines)!r}")
        return "\n".join(lines)[1:].strip()

    def receive_rest(self) -> list[str]:
        """The lines that are left of an answer."""
        lines: list[str] = []
        while line := self.receive_line():
            lines.append(line)
        return lines

    def receive_line(self) -> str:
        """Wait for a line; it is empty at the end of an answer."""
        line = _stream(self._process.stdout).readline()
        if not line:
            raise BenchmarkError("the engine has ended")
        return line.decode().rstrip()

    def close(self) -> None:
        _end(self._process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


@contextmanager
def running_engine(player: str | None, busy: int) -> Iterator[PipedEngine]:
    """An engine on an empty board of ``SIZE``, beside so many processes that do nothing but compute.

    The player is by default tree search on all cores with default settings.
    """
    with ExitStack() as stack:
        file = Path(stack.enter_context(TemporaryDirectory())) / "player.toml"
        file.write_text(_PLAYER, encoding="utf-8")
        for _ in range(busy):
            stack.callback(_end, subprocess.Popen([sys.executable, "-c", _SPIN]))
        engine = PipedEngine(str(file) if player is None else player)
        stack.callback(engine.close)
        engine.ask(f"boardsize {SIZE}")
        yield engine


def play_game(engine: PipedEngine, before_move: str = "") -> Iterator[float]:
    """Let an engine play a game against itself, and yield the seconds that it takes for each move.

    ``before_move`` is a command for which ``{color}`` is filled in.
    """
    engine.ask("clear_board")
    passes = 0
    for number in range(_MOST_MOVES):
        color = "bw"[number % 2]
        if before_move:
            engine.ask(before_move.format(color=color))
        move, seconds = engine.ask(f"genmove {color}")
        yield seconds
        passes = passes + 1 if move == "pass" else 0
        if passes == 2 or move == "resign":
            return


def row(name: str, unit: str, value: float) -> Row:
    """A row about an engine that uses all cores."""
    return Row(name, SIZE, os.cpu_count() or 1, unit, value)


def describe_times(seconds: list[float], name: str) -> list[Row]:
    """The median, the 99th centile and the longest of some times."""
    found = {"median": np.median(seconds), "p99": np.quantile(seconds, 0.99), "longest": max(seconds)}
    return [row(f"{name}, {what}", "ms", 1000 * float(value)) for what, value in found.items()]


def note_busy(busy: int) -> str:
    return f"beside {busy} processes that compute all the time, on {os.cpu_count()} cores"
