"""Boards of numbers that GoGui draws over the stones, and the list by which it finds them."""

# ruff: noqa: ARG001 - a command takes the session and all arguments, whether or not it looks at them

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from katachi.go.points import PASS
from katachi.go.status import estimate_status
from katachi.gtp.analysis import ask_analysis
from katachi.gtp.reports import win_rate
from katachi.gtp.serving import CommandTable
from katachi.gtp.session import Session, read_color

table = CommandTable[Session]()

_ANALYZE_COMMANDS = (
    "dboard/Territory/katachi-territory",
    "dboard/Value of Moves/katachi-values %c",
    "sboard/Prior of Moves/katachi-priors %c",
    "plist/Legal Moves/all_legal %c",
    "plist/Dead Stones/final_status_list dead",
    "plist/Stones in Seki/final_status_list seki",
    "plist/Stones/list_stones %c",
    "string/Liberties/countlib %p",
    "string/Final Score/final_score",
    "string/Rules/kata-get-rules",
    "string/Processor Time/cputime",
)


@table.command("gogui-analyze_commands")
def analyze_commands(session: Session) -> str:
    return "\n".join(_ANALYZE_COMMANDS)


@table.command("katachi-territory")
def territory(session: Session) -> str:
    """Who will own each point, from -1 for White to 1 for Black."""
    size = session.game.size
    ownership = estimate_status(session.game.board).ownership[: size * size].reshape(size, size)
    return _rows([[f"{value:.2f}" for value in row] for row in ownership.tolist()])


@table.command("katachi-values")
def values(session: Session, color: str) -> str:
    """The win rate of each candidate for its player as -1 to 1, 0 elsewhere."""
    player_color = read_color(color)
    analysis = ask_analysis(session, player_color)
    board = np.zeros(session.game.size**2)
    for candidate in analysis.candidates:
        if candidate.move != PASS:
            board[candidate.move] = 2 * win_rate(analysis, candidate, player_color) - 1
    return _rows([[f"{value:.3f}" for value in row] for row in _square(board, session).tolist()])


@table.command("katachi-priors")
def priors(session: Session, color: str) -> str:
    """The prior of each candidate in percent."""
    board = np.full(session.game.size**2, '""', dtype=object)
    for candidate in ask_analysis(session, read_color(color)).candidates:
        if candidate.move != PASS and candidate.prior is not None:
            board[candidate.move] = f'"{100 * candidate.prior:.0f}"'
    return _rows(_square(board, session).tolist())


def _square(board: NDArray[np.float64], session: Session) -> NDArray[np.float64]:
    return board.reshape(session.game.size, session.game.size)


def _rows(rows: list[list[str]]) -> str:
    return "\n".join(" ".join(row) for row in rows)
