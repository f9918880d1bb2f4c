"""Analyses as the lines that Leela Zero, KataGo and Sabaki write and read: ``info move D4 visits 12 winrate 5123 …``.

All values on these lines are from the view of the player to move. Leela Zero's dialect, which Sabaki shares, has
integers from 0 to 10000; KataGo's has floats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import Enum
from typing import Final

from katachi.go.points import BLACK, format_vertex
from katachi.interfaces import Analysis, Candidate

_CONFIDENCE: Final = 1.96  # standard errors between a win rate and its lower bound


class Dialect(Enum):
    LEELA = "lz"
    KATAGO = "kata"


def format_report(analysis: Analysis, *, dialect: Dialect, size: int, color: int, with_ownership: bool = False) -> str:
    """One line on all candidates, best first; empty if there are none."""
    words = [
        word
        for order, candidate in enumerate(analysis.candidates)
        for word in _info(analysis, candidate, order=order, dialect=dialect, size=size, color=color)
    ]
    if with_ownership and analysis.ownership is not None:
        words += ["ownership", *(f"{_plain_zero(color * float(value)):.6g}" for value in analysis.ownership)]
    return " ".join(words)


def _info(
    analysis: Analysis, candidate: Candidate, *, order: int, dialect: Dialect, size: int, color: int
) -> Iterator[str]:
    show = _show_leela if dialect is Dialect.LEELA else _show_katago
    wins = win_rate(analysis, candidate, color)
    # A front end divides by the most visits, so a player that does not count them reports one.
    yield from ("info", "move", format_vertex(candidate.move, size), "visits", str(max(1, candidate.visits)))
    if dialect is Dialect.KATAGO:
        yield from ("utility", show(2 * wins - 1))
    yield from ("winrate", show(wins))
    if analysis.black_lead is not None:
        lead = f"{_plain_zero(color * analysis.black_lead):.6g}"
        yield from ("scoreMean", lead) if dialect is Dialect.KATAGO else ()
        yield from ("scoreLead", lead)
    if candidate.prior is not None:
        yield from ("prior", show(candidate.prior))
    yield from ("lcb", show(_lower_bound(wins, candidate.visits)), "order", str(order), "pv")
    yield from (format_vertex(move, size) for move in candidate.variation or (candidate.move,))


def win_rate(analysis: Analysis, candidate: Candidate, color: int) -> float:
    """The candidate's value for ``color``; that of the position, or even chances, where nothing better is known."""
    black_wins = candidate.black_wins if candidate.black_wins is not None else analysis.black_wins
    if black_wins is None:
        return 0.5
    return black_wins if color == BLACK else 1 - black_wins


def _lower_bound(wins: float, visits: int) -> float:
    """The win rate less what chance may have added, were every visit a game won or lost."""
    spread = math.sqrt(max(0.0, wins * (1 - wins)) / visits) if visits else 0.0
    return wins - _CONFIDENCE * spread


def _show_leela(share: float) -> str:
    return str(round(10000 * share))


def _show_katago(share: float) -> str:
    return f"{share:.6f}"


def _plain_zero(value: float) -> float:
    """The value, without the sign that zero gets when White looks at it."""
    return value + 0.0
