r"""Any player as a GTP engine.

The engine holds the game and hands it to the player at every move, so undo, loadsgf, handicap and set-up stones work
for every player. All commands are in ``commands/`` and ``gtp/analysis.py``, each a function of a ``Session``; here
they are put together and served.

>>> from katachi.core.contracts import Decision
>>> class Passer:
...     name = "passer"
...     def decide(self, game, limit):
...         return Decision()
>>> GtpEngine(Passer()).answer("1 genmove black")
b'=1 pass\n\n'
"""

# ruff: noqa: ARG001 - a command takes the session, whether or not it looks at it

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from katachi.core.contracts import Limit, Player
from katachi.go.game import Game
from katachi.go.rules import Rules
from katachi.gtp import analysis
from katachi.gtp.commands import admin, inspect, play
from katachi.gtp.protocol import GtpError, Line, encode_text
from katachi.gtp.serving import CommandTable, InputReader, answer, serve_lines
from katachi.gtp.session import Session
from katachi.players.asking import Preparation
from katachi.search.clock import DEFAULT_LAG, Clock

commands = CommandTable[Session]()
for _module in (admin, analysis, inspect, play):
    commands.include(_module.table)


@commands.command("known_command")
def known_command(session: Session, name: str) -> str:
    return "true" if name in commands.names else "false"


@commands.command("list_commands")
def list_commands(session: Session) -> str:
    return "\n".join(commands.names)


@commands.command("help")
def help_on(session: Session, name: str = "") -> str:
    """How commands are called: one of them, or all."""
    if name and name not in commands.names:
        raise GtpError("unknown command")
    return "\n".join(commands.usage(known) for known in ([name] if name else commands.names))


class GtpEngine:
    """A session of a player: answers lines one by one, or serves two streams until the controller quits.

    Files named by the controller must lie in ``directory``, by default the working directory. ``lag`` are the seconds
    that a move may cost on the controller's clock beyond the thinking. A player that ``ponders`` thinks while the
    opponent does, until the next line comes. ``name`` is for controllers that do more for a certain one.
    """

    def __init__(
        self,
        player: Player,
        *,
        size: int = 19,
        rules: Rules | None = None,
        limit: Limit | None = None,
        directory: Path | None = None,
        lag: float = DEFAULT_LAG,
        ponders: bool = False,
        name: str = "",
    ) -> None:
        folder, game, clock = Path.cwd() if directory is None else directory, Game(size, rules), Clock(lag=lag)
        self._session = Session(player, game, folder, limit or Limit(), clock, ponders=ponders, name=name)
        # Without a stream to read from, nobody could ever stop an analysis: it ends after its first report.
        self._session.input_waiting.set()

    @property
    def preparation(self) -> Preparation:
        """Of the player, which begins at the latest with a board or a clock."""
        return self._session.preparation

    @property
    def game(self) -> Game:
        """The game as it stands."""
        return self._session.game

    def answer(self, line: str | bytes) -> bytes:
        """The whole answer to one line; empty for a line that holds no command."""
        content = encode_text(line) if isinstance(line, str) else line
        return b"".join(self._answer_line(Line(content)))

    def serve(self, stdin: BinaryIO, stdout: BinaryIO, *, log: BinaryIO | None = None) -> None:
        """Answer until quit, the end of the input or Ctrl-C. Both streams stay open; ``log`` gets the dialogue.

        ``stdin`` may be left with a thread that still waits on it, so standard input should be given unbuffered:
        the interpreter cannot end while somebody holds the lock of a buffer.
        """
        reader, session = InputReader(stdin), self._session
        session.input_waiting, session.interrupted = reader.waiting, reader.interrupted

        def answer_line(line: Line) -> Iterator[bytes]:
            session.asked = reader.asked
            return self._answer_line(line)

        serve_lines(reader, answer_line, stdout, has_quit=lambda: session.has_quit, idle=session.ponder, log=log)

    def _answer_line(self, line: Line) -> Iterator[bytes]:
        return answer(commands, self._session, line)
