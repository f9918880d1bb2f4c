"""Records on disk. Only regular files in the session's folder can be named (see ``confinement.py``)."""

from __future__ import annotations

from katachi.go.game import Game
from katachi.gtp.confinement import Refused, read_confined, write_confined
from katachi.gtp.protocol import GtpError
from katachi.gtp.serving import CommandTable
from katachi.gtp.session import SIZES, Session, read_int
from katachi.sgf import SgfError, game_to_sgf, parse_sgf

table = CommandTable[Session]()


@table.command("loadsgf")
def loadsgf(session: Session, filename: str, move_number: str = "") -> str:
    """The first game of a file, to its end or to the position before a move. The game stays as it was if that fails.

    Komi is the record's, if it tells one; the other rules stay those of the session.
    """
    number = read_int(move_number) if move_number else None
    if number is not None and number < 1:
        raise GtpError("syntax error: the first move has the number 1")
    try:
        game = _load(session, filename, number)
    except (OSError, Refused, SgfError) as error:
        raise GtpError(f"cannot load file: {_say(error)}") from None
    session.new_game()
    session.game = game
    return ""


@table.command("printsgf")
def printsgf(session: Session, filename: str = "") -> str:
    """Print the record of the game, or write it into a file, which may replace a regular one and nothing else."""
    text = game_to_sgf(session.game)
    if not filename:
        return text
    try:
        write_confined(session.directory, filename, text.encode())
    except (OSError, Refused) as error:
        raise GtpError(f"cannot write file: {_say(error)}") from None
    return ""


def _load(session: Session, filename: str, before_move: int | None) -> Game:
    record = parse_sgf(read_confined(session.directory, filename))[0]
    if record.size not in SIZES:
        raise SgfError(f"the board is {record.size}×{record.size}")
    komi = session.game.komi if record.komi is None else record.komi
    return record.replay(before_move=before_move, rules=session.game.rules.with_komi(komi))


def _say(error: Exception) -> str:
    """The system's word for what is wrong with a file, without the path where the folder lies."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
