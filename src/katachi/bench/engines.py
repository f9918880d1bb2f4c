"""An engine as a controller sees it: ``katachi gtp`` over pipes, with other processes that keep the cores busy.

Times are taken on the controller's side, so they include the way through the pipes and whatever the system does.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final

import numpy as np

from katachi.bench import BenchmarkError, Report, Row, Target
from katachi.core.disk import usable_cores

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
        started = time.monotonic()
        self.send(command)
        text = self.receive()
        return text, time.monotonic() - started

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
    return Row(name, SIZE, usable_cores(), unit, value)


def describe_times(seconds: list[float], name: str) -> list[Row]:
    """The median, the 99th centile and the longest of some times."""
    found = {"median": np.median(seconds), "p99": np.quantile(seconds, 0.99), "longest": max(seconds)}
    return [row(f"{name}, {what}", "ms", 1000 * float(value)) for what, value in found.items()]


def note_busy(busy: int) -> str:
    return f"beside {busy} processes that compute all the time, on {usable_cores()} cores"


# Whether an engine keeps its time on a busy machine: games at so many seconds per move, by the controller's clock.
#
# The control is a byo-yomi of one period and no main time, so that one move that takes longer loses the game.

CLOCK_BUSY: Final = 2


def run_clock(seconds: float = 1.0, rounds: int = 10, *, player: str | None = None, busy: int = CLOCK_BUSY) -> Report:
    """Let the engine play ``rounds`` games against itself, at ``seconds`` per move."""
    games: list[list[float]] = []
    with running_engine(player, busy) as engine:
        engine.ask(f"kgs-time_settings byoyomi 0 {seconds} 1")
        for _ in range(rounds):
            games.append(list(play_game(engine, f"time_left {{color}} {seconds} 1")))
    used = [time for game in games for time in game]
    lost = sum(max(game) > seconds for game in games)
    rows = [row("games", "games", rounds), row("games lost on time", "games", lost), row("moves", "moves", len(used))]
    targets = [Target("time for a move / longest move", rows[0].size, seconds / max(used), 1.0)]
    return Report("clock", rows + describe_times(used, "time for a move"), targets, [note_busy(busy)])


# How soon an analysis ends when the controller says something else, on a busy machine.
#
# The time is that from the writing of another command to the end of its answer, which comes after that of the analysis.

LATENCY_BUSY: Final = 2
WANTED: Final = 0.1  # seconds, at the 99th centile
COMMANDS: Final = ("lz-analyze 10", "kata-analyze b 10 ownership true", "kata-search_analyze_cancellable b 10")


def run_latency(
    seconds: float = 0.4, rounds: int = 15, *, player: str | None = None, busy: int = LATENCY_BUSY
) -> Report:
    """Stop each kind of analysis ``rounds`` times, after up to ``seconds``."""
    rows: list[Row] = []
    targets: list[Target] = []
    waits = np.random.default_rng(0).uniform(0, seconds, (len(COMMANDS), rounds))
    with running_engine(player, busy) as engine:
        for command, its_waits in zip(COMMANDS, waits.tolist(), strict=True):
            found = [_interrupt(engine, command, wait) for wait in its_waits]
            name = command.split()[0]
            rows += describe_times(found, name)
            targets.append(
                Target(f"{WANTED:g} s / p99 of {name}", rows[-1].size, WANTED / float(np.quantile(found, 0.99)), 1.0)
            )
    return Report("latency", [row("interruptions of each", "times", rounds), *rows], targets, [note_busy(busy)])


def _interrupt(engine: PipedEngine, command: str, wait: float) -> float:
    """The seconds until an analysis that has reported and gone on for a while gives way to another command."""
    engine.send(command)
    for _ in range(2):  # the beginning of the answer, and a report
        engine.receive_line()
    time.sleep(wait)
    started = time.monotonic()
    engine.send("name")
    engine.receive_rest()
    engine.receive()
    return time.monotonic() - started


# Whether an engine's memory stays as it is, game after game.

MEMORY_BUSY: Final = 0
SIMULATIONS: Final = 200  # for a move
_SHOWN: Final = 10  # rows
_FLAT: Final = 0.98  # of the memory at the end must have been there after a fifth of the moves


def run_memory(seconds: float = 0.4, rounds: int = 15, *, player: str | None = None, busy: int = MEMORY_BUSY) -> Report:
    """Let the engine play ``rounds`` games against itself, at few simulations or ``seconds`` per move."""
    moves, found = 0, {}
    with running_engine(player, busy) as engine:
        engine.ask(f"kata-set-param maxVisits {SIMULATIONS}")
        engine.ask(f"kata-set-param maxTime {seconds}")
        for _ in range(rounds):
            moves += len(list(play_game(engine)))
            found[moves] = _megabytes(engine.pid)
    early = next(used for count, used in found.items() if count >= moves / 5)
    shown = [*list(found)[:: max(1, rounds // _SHOWN)], moves]
    rows = [row(f"after {count} moves", "MB", found[count]) for count in dict.fromkeys(shown)]
    targets = [Target("memory after a fifth of the moves / at the end", rows[0].size, early / found[moves], _FLAT)]
    return Report("memory", rows, targets, [note_busy(busy)] if busy else [])


def _megabytes(pid: int) -> float:
    """The memory of a process that is in use."""
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], check=True, capture_output=True, text=True)
    return int(shown.stdout) / 1000
