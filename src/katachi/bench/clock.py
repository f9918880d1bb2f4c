"""Whether an engine keeps its time on a busy machine: games at so many seconds a move, by the controller's clock.

The control is a byo-yomi of one period and no main time, so that one move that takes longer loses the game.
"""

from __future__ import annotations

from typing import Final

from katachi.bench.engines import describe_times, note_busy, play_game, row, running_engine
from katachi.bench.report import Bar, Report

BUSY: Final = 2


def run(seconds: float = 1.0, rounds: int = 10, *, player: str | None = None, busy: int = BUSY) -> Report:
    """Let the engine play ``rounds`` games against itself, at ``seconds`` a move."""
    games: list[list[float]] = []
    with running_engine(player, busy) as engine:
        engine.ask(f"kgs-time_settings byoyomi 0 {seconds} 1")
        for _ in range(rounds):
            games.append(list(play_game(engine, f"time_left {{color}} {seconds} 1")))
    used = [time for game in games for time in game]
    lost = sum(max(game) > seconds for game in games)
    rows = [row("games", "games", rounds), row("games lost on time", "games", lost), row("moves", "moves", len(used))]
    bars = [Bar("time for a move / longest move", rows[0].size, seconds / max(used), 1.0)]
    return Report("clock", rows + describe_times(used, "time for a move"), bars, [note_busy(busy)])
