"""Whether an engine's memory stays as it is, game after game."""

from __future__ import annotations

import subprocess
from typing import Final

from katachi.bench.engines import note_busy, play_game, row, running_engine
from katachi.bench.report import Bar, Report

BUSY: Final = 0
SIMULATIONS: Final = 200  # for a move
_SHOWN: Final = 10  # rows
_FLAT: Final = 0.98  # of the memory at the end must have been there after a fifth of the moves


def run(seconds: float = 0.4, rounds: int = 15, *, player: str | None = None, busy: int = BUSY) -> Report:
    """Let the engine play ``rounds`` games against itself, at few simulations or ``seconds`` a move."""
    moves, found = 0, {}
    with running_engine(player, busy) as engine:
        engine.ask(f"kata-set-param maxVisits {SIMULATIONS}")
        engine.ask(f"kata-set-param maxTime {seconds}")
        for _ in range(rounds):
            moves += len(list(play_game(engine)))
            found[moves] = _megabytes(engine.pid)
    early = next(used for count, used in found.items() if count >= moves / 5)
    shown = [*list(found)[:: max(1, rounds // _SHOWN)], moves]
    rows = [row(f"after {count} moves", "MB", found[count]) for count in dict.fromkeys(shown)]
    bars = [Bar("memory after a fifth of the moves / at the end", rows[0].size, early / found[moves], _FLAT)]
    return Report("memory", rows, bars, [note_busy(busy)] if busy else [])


def _megabytes(pid: int) -> float:
    """The memory of a process that is in use."""
    shown = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], check=True, capture_output=True, text=True)
    return int(shown.stdout) / 1000
