"""What GoGui draws over the stones: values, territory, variations, liberties; and the list by which it finds them."""

# ruff: noqa: ARG001 - a command takes the session and all arguments, whether or not it looks at them

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.points import EMPTY, PASS, format_vertex
from katachi.go.scoring import estimate_status
from katachi.gtp.analysis import ask_analysis
from katachi.gtp.protocol import GtpError
from katachi.gtp.serving import CommandTable
from katachi.gtp.session import (
    Session,
    blend,
    format_labels,
    format_numbers,
    gfx_colors,
    gfx_labels,
    read_color,
    win_rate,
)

table = CommandTable[Session]()

_ANALYZE_COMMANDS: Final = (
    "gfx/Win Rates/katachi-win_rates %c",
    "varc/Principal Variation/katachi-variation %c",
    "dboard/Value of Moves/katachi-values %c",
    "sboard/Prior of Moves/katachi-priors %c",
    "dboard/Ownership/katachi-ownership %c",
    "dboard/Territory/katachi-territory",
    "gfx/Liberties/katachi-liberties",
    "sboard/Policy of the Evaluator/katachi-policy %c",
    "dboard/Value of Stones to the Evaluator/katachi-stone_values",
    "hstring/Shapes on the Board/katachi-shapes",
    "plist/Legal Moves/all_legal %c",
    "plist/Dead Stones/final_status_list dead",
    "plist/Stones in Seki/final_status_list seki",
    "plist/Stones/list_stones %c",
    "string/Liberties of a Chain/countlib %p",
    "string/Final Score/final_score",
    "string/Rules/kata-get-rules",
    "string/Processor Time/cputime",
    "param/Parameters/katachi-param",
)
_FEW_LIBERTIES: Final = {1: "red", 2: "yellow"}


@table.command("gogui-analyze_commands")
def analyze_commands(session: Session) -> str:
    return "\n".join(_ANALYZE_COMMANDS)


@table.command("katachi-territory")
def territory(session: Session) -> str:
    """Who will own each point, from -1 for White to 1 for Black, by playouts."""
    size = session.game.size
    return format_numbers(estimate_status(session.game.board).ownership[: size * size], size, digits=2)


@table.command("katachi-ownership")
def ownership(session: Session, color: str) -> str:
    """The same as the player sees it when that color is to play; raises GtpError if it does not say."""
    owners = ask_analysis(session, read_color(color)).ownership
    if owners is None:
        raise GtpError(f"{session.player.name} does not say who will own the points")
    return format_numbers(owners, session.game.size, digits=2)


@table.command("katachi-values")
def values(session: Session, color: str) -> str:
    """The win rate of each candidate for its player as -1 to 1, 0 elsewhere."""
    board = np.zeros(session.game.size**2)
    for point, wins in _win_rates(session, read_color(color)).items():
        board[point] = 2 * wins - 1
    return format_numbers(board, session.game.size)


@table.command("katachi-win_rates")
def win_rates(session: Session, color: str) -> str:
    """The win rate of each candidate in percent on a color from red to green, relative to the worst and the best."""
    rates = _win_rates(session, read_color(color))
    worst, best = min(rates.values(), default=0.0), max(rates.values(), default=1.0)
    shares = {point: (wins - worst) / (best - worst) if best > worst else 1.0 for point, wins in rates.items()}
    lines = [*gfx_labels({point: f"{100 * wins:.0f}" for point, wins in rates.items()}, session.game.size)]
    lines += gfx_colors({point: blend(share) for point, share in shares.items()}, session.game.size)
    return "\n".join([*lines, f"TEXT {len(rates)} moves were considered, the best wins {100 * best:.1f} %"])


@table.command("katachi-priors")
def priors(session: Session, color: str) -> str:
    """The prior of each candidate in percent."""
    candidates = ask_analysis(session, read_color(color)).candidates
    labels = {
        candidate.move: f"{100 * candidate.prior:.0f}"
        for candidate in candidates
        if candidate.move != PASS and candidate.prior is not None
    }
    return format_labels(labels, session.game.size)


@table.command("katachi-variation")
def variation(session: Session, color: str) -> str:
    """The moves that the player expects, its own first."""
    best = ask_analysis(session, read_color(color)).candidates[0]
    return " ".join(format_vertex(move, session.game.size) for move in best.variation or (best.move,))


@table.command("katachi-liberties")
def liberties(session: Session) -> str:
    """How many liberties the chain of every stone has; chains in atari and with two liberties in color."""
    board = session.game.board
    counts = {point: board.liberty_count(point) for point in np.flatnonzero(board.stones != EMPTY).tolist()}
    colors = {point: _FEW_LIBERTIES[count] for point, count in counts.items() if count in _FEW_LIBERTIES}
    labels = {point: str(count) for point, count in counts.items()}
    return "\n".join([*gfx_labels(labels, board.size), *gfx_colors(colors, board.size)])


def _win_rates(session: Session, color: int) -> dict[int, float]:
    """The win rate of each candidate that is a point, best first."""
    analysis = ask_analysis(session, color)
    candidates = [candidate for candidate in analysis.candidates if candidate.move != PASS]
    return {candidate.move: win_rate(analysis, candidate, color) for candidate in candidates}
