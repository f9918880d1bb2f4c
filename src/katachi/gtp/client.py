"""Any GTP program as a player.

A player holds no game, but a program does: at every decision the program is brought to the game that is handed in, by
the fewest commands. ``replay_commands`` writes a game as the commands that lead to it; the commands that
the program has already got are compared with these, and the difference is taken back and played, or all is played anew.

A program that dies, hangs, talks nonsense or plays an illegal move raises EngineFailure, and its processes are ended;
the next decision starts it again. After an illegal move the cause of the failure is an IllegalMove.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shlex
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import takewhile
from threading import Lock, Thread, local
from typing import IO, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from katachi.core.contracts import Decision, Limit, Player
from katachi.data.dataset import Answer, AnswerSource
from katachi.data.labeling import CheckedLabel, FinalGame, check_ownership, ownership_by_status
from katachi.go.board import Board, IllegalMove
from katachi.go.game import Game, Play
from katachi.go.points import BLACK, EMPTY, PASS, WHITE, GameResult, format_vertex, parse_vertex
from katachi.go.rules import Rules
from katachi.gtp.protocol import GtpError, LineSplitter, encode_text, parse_response_head
from katachi.players.specs import PlayerSpec

# A GTP program as a process: questions and answers with time-outs, and an end that always comes.
#
# The program gets a process group of its own, and the whole group is killed when it fails, when it is closed, when this
# object is forgotten, when Python exits, and, by a watchman, when Python itself is killed. The watchman is a shell that
# waits on a pipe which closes when we are gone; the signal that Linux offers for this would come when the *thread* ends
# that started the program, and would miss the program's own children.

MAX_ANSWER_LINES: Final = 2_000  # more than this, or as much noise before an answer, is nonsense
_LINE_BYTES: Final = 1 << 14
_STDERR_LINES: Final = 20
_STDERR_LINE_BYTES: Final = 400
_CHUNK: Final = 1 << 16
_QUIT_SECONDS: Final = 1.0  # for a program that was asked to quit
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
        """Ask the program to quit, give it a moment, and end it in any case."""
        with contextlib.suppress(GtpError):
            self.ask("quit", _QUIT_SECONDS)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_QUIT_SECONDS)
        self.end()

    def failure(self, what: str) -> EngineFailure:
        """End the program and make the error that says what happened."""
        status = self._process.poll()
        self.end()
        left = f" (exit status {status})" if status is not None else ""
        words: list[str] = []  # the last ones on standard error; the program has ended, so their end comes soon
        with contextlib.suppress(queue.Empty):
            while (line := self._errors.get(timeout=_QUIT_SECONDS)) is not None:
                words += [line] if line.strip() else []
        return EngineFailure(f"{self._name} {what}{left}" + (f"; its last words: {' / '.join(words)}" if words else ""))

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
        with contextlib.suppress(subprocess.TimeoutExpired):  # so that its exit status is known
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


# The program as a player.

_COLORS: Final = {BLACK: "black", WHITE: "white"}
_MOST_STONES: Final = 100  # of Canadian overtime
_LEAST_SHARE: Final = 0.95  # of the time for a move that is given
_KGS_RULES: Final = {
    "chinese": "chinese",
    "chinese-ogs": "chinese",  # the name of the set that chinese-kgs is too
    "japanese": "japanese",
    "aga": "aga",
    "new-zealand": "new_zealand",
}


@dataclass(slots=True)
class _EngineState:
    """What the program knows: commands that are taken back by undo, in order, and the settings."""

    size: int = 0
    komi: float | None = None
    rules: Rules | None = None  # komi aside
    period: tuple[int, int] | None = None  # seconds, and the moves that they are for
    replayed: list[str] = field(default_factory=list)


class GtpSpec(PlayerSpec):
    """A program that speaks GTP on its standard input and output. Its randomness is its own: a seed does nothing."""

    command: str = Field(min_length=1)

    @property
    def program(self) -> str:
        return self.command

    def build(self, seed: int | None) -> Player:  # noqa: ARG002
        return GtpPlayer(self.command, self.name or None)


class GtpPlayer:
    """A program, started when it is first needed. ``command`` is a list, or a line that is split as a shell would.

    ``timeout`` is the most seconds that an answer may take, ``move_timeout`` that a move may take when the limit says
    nothing of seconds; when it does, a move may take that and ``timeout`` more.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        name: str | None = None,
        *,
        timeout: float = 30.0,
        move_timeout: float = 600.0,
    ) -> None:
        self._command = _split(command) if isinstance(command, str) else list(command)
        if not self._command:
            raise EngineFailure("a GTP program needs a command")
        self._name = name or self._command[0].rpartition("/")[2]
        self._timeout = timeout
        self._move_timeout = move_timeout
        self._process: EngineProcess | None = None
        self._known: frozenset[str] = frozenset()
        self._state = _EngineState()

    @property
    def name(self) -> str:
        return self._name

    @property
    def pid(self) -> int | None:
        """The process, None when none runs."""
        return self._process.pid if self._process else None

    def decide(self, game: Game, limit: Limit) -> Decision:
        """The program's move; raises EngineFailure if it gives none that is legal."""
        self._synchronize(game)
        self._set_time(game.to_play, limit.seconds)
        seconds = self._move_timeout if limit.seconds is None else limit.seconds + self._timeout
        answer = self._ask(f"genmove {_COLORS[game.to_play]}", seconds)
        if answer.lower() == "resign":
            return Decision(resign=True)
        move = self._read_move(answer, game)
        self._state.replayed.append(_play_command(game.to_play, move, game.size))
        return Decision(move)

    def final_score(self, game: Game) -> GameResult:
        """How the program counts the game as it stands."""
        answer = self._ask_about(game, "final_score")
        try:
            return GameResult.parse(answer.split()[0] if answer else "")
        except ValueError:
            raise self._fail(f"says {answer[:60]!r} is the score") from None

    def final_status_list(self, game: Game, status: str) -> list[int]:
        """The points of the stones that the program holds for ``alive``, ``dead`` or ``seki``."""
        return self._read_points(self._ask_about(game, f"final_status_list {status}"), game)

    def stones(self, game: Game) -> NDArray[np.int8]:
        """The color of every point as the program has it, [n²]: it should be that of the game."""
        board = np.full(game.size**2, EMPTY, dtype=np.int8)
        for color, word in _COLORS.items():
            board[self._read_points(self._ask_about(game, f"list_stones {word}"), game)] = color
        return board

    def close(self) -> None:
        """Quit the program, if it runs, and end all its processes."""
        process, self._process = self._process, None
        if process is not None:
            process.quit()

    # The dialogue

    def _ask(self, command: str, seconds: float | None = None) -> str:
        """An answer that we cannot continue without: a refusal is a failure too."""
        try:
            return self._query(command, seconds)
        except EngineFailure:
            raise
        except GtpError as error:
            raise self._fail(f"refuses {command!r}: {error}") from None

    def _query(self, command: str, seconds: float | None = None) -> str:
        """An answer; raises GtpError if the program refuses, which leaves both sides where they were."""
        process = self._running()
        try:
            return process.ask(command, self._timeout if seconds is None else seconds)
        except EngineFailure:
            self._process = None
            raise

    def _ask_about(self, game: Game, command: str) -> str:
        self._synchronize(game)
        return self._query(command, self._move_timeout)

    def _running(self) -> EngineProcess:
        if self._process is None:
            self._state = _EngineState()
            self._process = EngineProcess(self._command, self._name)
            self._known = frozenset(self._ask("list_commands").split())
        return self._process

    def _fail(self, what: str) -> EngineFailure:
        process, self._process = self._process, None
        return process.failure(what) if process else EngineFailure(f"{self._name} {what}")

    def _read_move(self, answer: str, game: Game) -> int:
        try:
            move = parse_vertex(answer, game.size)
        except ValueError:
            raise self._fail(f"answers genmove with {answer[:60]!r}") from None
        reason = game.why_illegal(move)
        if reason is not None:
            error = IllegalMove(move, reason, game.size)
            raise self._fail(f"wants to play {error}") from error
        return move

    def _read_points(self, answer: str, game: Game) -> list[int]:
        try:
            points = [parse_vertex(vertex, game.size) for vertex in answer.split()]
        except ValueError:
            raise self._fail(f"says {answer[:60]!r} where points were asked for") from None
        if PASS in points:
            raise self._fail("says pass where points were asked for")
        return points

    # Bringing the program to the game

    def _synchronize(self, game: Game) -> None:
        self._running()
        if self._state.size != game.size:
            self._ask(f"boardsize {game.size}")
            self._state.size = game.size
            self._clear()
        self._set_rules(game)
        wanted = replay_commands(game, self._known)
        pairs = zip(self._state.replayed, wanted, strict=False)
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        if not self._take_back(common):
            self._clear()
            common = 0
        if self._state.komi != game.komi:
            self._ask(f"komi {game.komi:g}")
            self._state.komi = game.komi
        for command in wanted[common:]:
            self._ask(command)
            self._state.replayed.append(command)

    def _clear(self) -> None:
        self._ask("clear_board")
        self._state.replayed = []
        self._state.komi = None  # GTP says that it stays; some programs forget it

    def _take_back(self, common: int) -> bool:
        """Undo down to the commands in common; False if playing all of it again is less work, or the only way."""
        surplus = self._state.replayed[common:]
        can_undo = "undo" in self._known and all(command.startswith("play ") for command in surplus)
        if surplus and (not can_undo or len(surplus) > common + 1):
            return False
        for _ in surplus:
            self._ask("undo")
            self._state.replayed.pop()
        return True

    def _set_rules(self, game: Game) -> None:
        """In KataGo's words or KGS's. A program that knows neither needs options of its own."""
        rules = game.rules.with_komi(0)
        if self._state.rules == rules:
            return
        if "kata-set-rules" in self._known:
            self._ask(f"kata-set-rules {json.dumps(rules.to_json())}")
        elif "kgs-rules" in self._known and rules.name in _KGS_RULES:
            self._ask(f"kgs-rules {_KGS_RULES[rules.name]}")
        self._state.rules = rules

    def why_untimed(self, seconds: float) -> str:
        """Why the program cannot be held to so many seconds per move; empty if it takes them."""
        self._running()
        if split_seconds(seconds) is None:
            return f"GTP has no less than 1 s for {_MOST_STONES} moves"
        return self._set_period(seconds)

    def _set_time(self, color: int, seconds: float | None) -> None:
        """Put the time of a move on the clock, if the program has one."""
        if not self._set_period(seconds) and self._state.period is not None and "time_left" in self._known:
            left, stones = self._state.period
            self._ask(f"time_left {_COLORS[color]} {left} {stones}")

    def _set_period(self, seconds: float | None) -> str:
        """Set the clock, if it is set otherwise; returns why that is impossible."""
        period = None if seconds is None else split_seconds(seconds) or (1, _MOST_STONES)
        if period == self._state.period:
            return ""
        if "time_settings" not in self._known:
            return "it has no time_settings"
        try:
            self._query("time_settings 0 1 0" if period is None else f"time_settings 0 {period[0]} {period[1]}")
        except EngineFailure:
            raise
        except GtpError as error:
            return f"it refuses time_settings: {error}"
        self._state.period = period
        return ""


def split_seconds(seconds: float) -> tuple[int, int] | None:
    """A time for one move as whole seconds, which GTP's clocks count, for the fewest moves: not more, hardly less.

    None if it is too short for that. Half a second per move is Canadian overtime of one second for two moves.

    >>> split_seconds(3), split_seconds(0.5), split_seconds(2.7), split_seconds(0.001)
    ((3, 1), (1, 2), (8, 3), None)
    """
    for stones in range(1, _MOST_STONES + 1):
        period = int(seconds * stones + 1e-9)  # a tenth of ten is one
        if period and period >= _LEAST_SHARE * seconds * stones:
            return period, stones
    return None


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:  # a quotation that is not closed
        raise EngineFailure(f"{command!r} is not a command: {error}") from None


def replay_commands(game: Game, known: Collection[str] = ()) -> list[str]:
    """The commands that lead from an empty board to the game as it stands.

    Set-up stones are played one by one, which no rule can forbid: a chain that has a liberty in the end has one at
    every moment before. Where stones were taken off or changed their color, the past is left out instead.
    """
    commands: list[str] = []
    board = Board(game.size)
    for number, step in enumerate(game.steps):
        if isinstance(step, Play):
            board.play(step.move, step.color, suicide=True)
            commands.append(_play_command(step.color, step.move, game.size))
            continue
        added = list(dict.fromkeys([*step.black, *step.white]))
        keeps_past = not step.empty and all(board[point] == EMPTY for point in added)
        board.place(*step)
        if number == 0 and game.handicap and "set_free_handicap" in known:
            commands = [f"set_free_handicap {' '.join(format_vertex(point, game.size) for point in added)}"]
        elif keeps_past:
            commands += _stone_commands(board, added)
        else:
            commands = _stone_commands(board, np.flatnonzero(board.stones).tolist())
    return commands


def _stone_commands(board: Board, points: Sequence[int]) -> list[str]:
    return [_play_command(board[point], point, board.size) for point in points]


def _play_command(color: int, move: int, size: int) -> str:
    return f"play {_COLORS[color]} {format_vertex(move, size)}"


# GTP programs that say which stones are dead at the end of a game: a source of labels for ``data.labeling``.

DEFAULT_ENGINE: Final = "gnugo --mode gtp --level 1"  # a higher level takes longer and agrees no more often
DEFAULT_SECONDS: Final = 30.0


class Engines:
    """A GTP program that answers ``final_status_list``, one process for each thread that asks.

    ``seconds`` is the most that an answer may take. A process that hangs, dies or talks nonsense is ended; the next
    game that its thread asks about starts another.
    """

    source = AnswerSource.GNUGO

    def __init__(self, command: str = DEFAULT_ENGINE, seconds: float = DEFAULT_SECONDS) -> None:
        self._command = command
        self._seconds = seconds
        self._mine = local()
        self._all: list[GtpPlayer] = []
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[Engines], tuple[str, float]]:
        """Programs do not travel: where this arrives, it starts its own."""
        return Engines, (self._command, self._seconds)

    def check(self) -> None:
        """Raise EngineFailure if the program cannot be started, or cannot tell what is dead."""
        try:
            self._engine().final_status_list(Game(9), "dead")
        except EngineFailure:
            raise
        except GtpError as error:
            raise EngineFailure(f"{self._command} does not say which stones are dead: {error}") from None

    def label(self, final: FinalGame) -> CheckedLabel:
        engine = self._engine()
        game = _as_set_up(final.board)
        try:
            dead = engine.final_status_list(game, "dead")
            label = check_ownership(final, ownership_by_status(final, dead, ()))
            if label.answer is Answer.DISAGREES:
                seki = engine.final_status_list(game, "seki")
                label = check_ownership(final, ownership_by_status(final, dead, seki))
        except ValueError:  # a GtpError, or points where no stone is
            return CheckedLabel(Answer.FAILED)
        return label

    def describe(self) -> str:
        return f"{self._command}, at most {self._seconds:g} s for an answer"

    def close(self) -> None:
        """End all processes, at once."""
        with ThreadPoolExecutor(max(1, len(self._all))) as pool:
            list(pool.map(GtpPlayer.close, self._all))
        self._all.clear()

    def _engine(self) -> GtpPlayer:
        if not hasattr(self._mine, "engine"):
            self._mine.engine = GtpPlayer(self._command, timeout=self._seconds, move_timeout=self._seconds)
            with self._lock:
                self._all.append(self._mine.engine)
        engine: GtpPlayer = self._mine.engine
        return engine


def _as_set_up(board: Board) -> Game:
    """A game with the stones alone: what they are worth does not depend on how they came there."""
    game = Game(board.size)
    stones = board.stones
    black, white = (np.flatnonzero(stones == color).tolist() for color in (BLACK, WHITE))
    game.setup(black=black, white=white, to_play=BLACK)  # with White to play, black stones alone would be a handicap
    return game
