"""The running score of a tournament on standard error; nothing where that is no terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape as escape_markup
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from katachi.arena.ratings import Score
from katachi.arena.records import GameRecord, pairings
from katachi.arena.settings import TournamentSettings


class TournamentProgress(Progress):
    """A bar for every pair, with the score of its first player and the 95 % interval of its win rate."""

    def __init__(self, settings: TournamentSettings, console: Console | None = None) -> None:
        console = Console(stderr=True) if console is None else console
        self._pairings = pairings(settings)
        self._scores = [Score() for _ in self._pairings]
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[score]}"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._bars: list[TaskID] = [
            self.add_task(escape_markup(f"{pair.first} – {pair.second}"), total=settings.games, score="")
            for pair in self._pairings
        ]

    def add(self, record: GameRecord) -> None:
        """Count one more game."""
        score = self._scores[record.pairing]
        score.add(record.score_of(self._pairings[record.pairing].first))
        self.update(self._bars[record.pairing], advance=1, score=format_score(score))


def format_score(score: Score) -> str:
    """``12–7 with 1 draw, 62.5 % (41–80)``."""
    draws = f" with {score.draws} draw{'s' if score.draws > 1 else ''}" if score.draws else ""
    return f"{score.wins}–{score.losses}{draws}, {format_rate(score)}"


def format_rate(score: Score) -> str:
    """``62.5 % (41–80)``, a dash before the first game."""
    if score.rate is None:
        return "–"
    low, high = score.interval
    return f"{100 * score.rate:.1f} % ({100 * low:.0f}–{100 * high:.0f})"
