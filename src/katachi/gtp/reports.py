"""Analyses as the lines that Leela Zero, KataGo and Sabaki write and read: ``info move D4 visits 12 winrate 5123 …``.

All values on these lines are from the view of the player to move. Leela Zero's dialect, which Sabaki shares, has
integers from 0 to 10000; KataGo's has floats. What a player does not know is left out, but for two things that
readers cannot do without: visits, which are 1, and the win rate, which is that of the position, or even.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from katachi.core.contracts import Analysis, Candidate
from katachi.go.points import BLACK, format_vertex
from katachi.players.asking import count_visits, spread_of

_CONFIDENCE: Final = 1.96  # standard errors between a win rate and its lower bound


class Dialect(Enum):
    LEELA = "lz"
    KATAGO = "kata"


@dataclass(frozen=True, slots=True)
class ReportStyle:
    """How a line is written, and what stands on it beside the moves."""

    dialect: Dialect
    root: bool = False
    variation_visits: bool = False
    ownership: bool = False
    ownership_spread: bool = False

    def share(self, share: float) -> str:
        """A share of 1."""
        return f"{share:.6f}" if self.dialect is Dialect.KATAGO else str(round(10000 * share))


def format_report(
    analysis: Analysis, candidates: Sequence[Candidate], style: ReportStyle, *, size: int, color: int
) -> str:
    """One line on the candidates that were chosen, best first, and on the whole board if asked for; it may be empty."""
    words: list[str] = []
    for order, (candidate, visits) in enumerate(zip(candidates, count_visits(candidates), strict=True)):
        words += ["info", "move", format_vertex(candidate.move, size), "visits", str(visits)]
        words += _values(analysis, candidate, style, color)
        words += ["order", str(order), "pv"]
        words += [format_vertex(move, size) for move in candidate.variation or (candidate.move,)]
        if style.variation_visits and candidate.variation_visits:
            words += ["pvVisits", *map(str, candidate.variation_visits)]
    if style.root:
        visits = max(1, total_visits(analysis))
        words += ["rootInfo", "visits", str(visits), *_values(analysis, None, style, color)]
    if analysis.ownership is not None:
        words += ["ownership", *_numbers(color * analysis.ownership)] if style.ownership else []
        words += ["ownershipStdev", *_numbers(spread_of(analysis.ownership))] if style.ownership_spread else []
    return " ".join(words)


def _values(analysis: Analysis, candidate: Candidate | None, style: ReportStyle, color: int) -> Iterator[str]:
    """The pairs of names and values that a candidate, or with None the position, has."""
    in_full = style.dialect is Dialect.KATAGO
    wins = win_rate(analysis, candidate, color)
    if in_full:
        yield from ("utility", style.share(2 * wins - 1))
    yield from ("winrate", style.share(wins))
    lead = lead_of(analysis, candidate, color)
    if lead is not None:
        yield from ("scoreMean", f"{lead:.6g}") if in_full else ()
        yield from ("scoreLead", f"{lead:.6g}")
    if candidate is not None and candidate.prior is not None:
        yield from ("prior", style.share(candidate.prior))
    yield from ("lcb", style.share(lower_bound(analysis, candidate, color)))


def total_visits(analysis: Analysis) -> int:
    """The visits of all candidates together; 0 if nobody counted."""
    return sum(candidate.visits for candidate in analysis.candidates)


def win_rate(analysis: Analysis, candidate: Candidate | None, color: int) -> float:
    """The candidate's value for ``color``; that of the position, or even chances, where nothing better is known."""
    black_wins = analysis.black_wins
    if candidate is not None and candidate.black_wins is not None:
        black_wins = candidate.black_wins
    if black_wins is None:
        return 0.5
    return black_wins if color == BLACK else 1 - black_wins


def lead_of(analysis: Analysis, candidate: Candidate | None, color: int) -> float | None:
    """By how much ``color`` leads after the candidate, or as far as is known in the position; None if it is not."""
    black_lead = analysis.black_lead
    if candidate is not None and candidate.black_lead is not None:
        black_lead = candidate.black_lead
    return None if black_lead is None else color * black_lead + 0.0  # White must not see a lead of -0


def lower_bound(analysis: Analysis, candidate: Candidate | None, color: int) -> float:
    """The win rate less what chance may have added, were every visit a game won or lost."""
    wins = win_rate(analysis, candidate, color)
    visits = total_visits(analysis) if candidate is None else candidate.visits
    spread = math.sqrt(max(0.0, wins * (1 - wins)) / visits) if visits else 0.0
    return max(0.0, wins - _CONFIDENCE * spread)


def _numbers(values: Iterable[float]) -> Iterator[str]:
    return (f"{float(value) + 0.0:.6g}" for value in values)
