"""Questions about the game that change nothing."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from katachi.go.game import Play
from katachi.go.points import BLACK, EMPTY, PASS, WHITE, format_color, format_vertex
from katachi.gtp.protocol import GtpError
from katachi.gtp.serving import CommandTable
from katachi.gtp.session import Session, read_color, read_move, read_point

table = CommandTable[Session]()


@table.command("showboard")
def showboard(session: Session) -> str:
    game = session.game
    black, white = game.board.captured(WHITE), game.board.captured(BLACK)
    return f"\n{game.board}\nBlack has captured {black}, White {white}; komi {game.komi:g}, rules {game.rules.name}"


@table.command("list_stones")
def list_stones(session: Session, color: str) -> str:
    return format_points(session, np.flatnonzero(session.game.board.stones == read_color(color)))


@table.command("is_legal")
def is_legal(session: Session, color: str, move: str) -> str:
    legal = session.game.is_legal(read_move(move, session.game.size), read_color(color))
    return "1" if legal else "0"


@table.command("all_legal")
def all_legal(session: Session, color: str) -> str:
    return format_points(session, np.flatnonzero(session.game.legal_moves(read_color(color))[:-1]))


@table.command("captures")
def captures(session: Session, color: str) -> str:
    """How many stones a color has captured."""
    return str(session.game.board.captured(-read_color(color)))


@table.command("countlib")
def countlib(session: Session, vertex: str) -> str:
    point = read_point(vertex, session.game.size)
    if session.game.board[point] == EMPTY:
        raise GtpError(f"{vertex} is empty")
    return str(session.game.board.liberty_count(point))


@table.command("last_move")
def last_move(session: Session) -> str:
    moves = session.game.moves
    if not moves:
        raise GtpError("no previous move known")
    return _format_play(session, moves[-1])


@table.command("move_history")
def move_history(session: Session) -> str:
    """All moves, the latest first."""
    return "\n".join(_format_play(session, play) for play in reversed(session.game.moves))


def _format_play(session: Session, play: Play) -> str:
    move = "PASS" if play.move == PASS else format_vertex(play.move, session.game.size)
    return f"{format_color(play.color)} {move}"


def format_points(session: Session, points: Iterable[int]) -> str:
    """Vertices on one line."""
    return " ".join(format_vertex(int(point), session.game.size) for point in points)
