"""How soon an analysis ends when the controller says something else, on a busy machine.

The time is that from the writing of another command to the end of its answer, which comes after that of the analysis.
"""

from __future__ import annotations

import time
from typing import Final

import numpy as np

from katachi.bench.engines import PipedEngine, describe_times, note_busy, row, running_engine
from katachi.bench.report import Bar, Report, Row

BUSY: Final = 2
WANTED: Final = 0.1  # seconds, at the 99th centile
COMMANDS: Final = ("lz-analyze 10", "kata-analyze b 10 ownership true", "kata-search_analyze_cancellable b 10")


def run(seconds: float = 0.4, rounds: int = 15, *, player: str | None = None, busy: int = BUSY) -> Report:
    """Stop each kind of analysis ``rounds`` times, after up to ``seconds``."""
    rows: list[Row] = []
    bars: list[Bar] = []
    waits = np.random.default_rng(0).uniform(0, seconds, (len(COMMANDS), rounds))
    with running_engine(player, busy) as engine:
        for command, its_waits in zip(COMMANDS, waits.tolist(), strict=True):
            found = [_interrupt(engine, command, wait) for wait in its_waits]
            name = command.split()[0]
            rows += describe_times(found, name)
            bars.append(
                Bar(f"{WANTED:g} s / p99 of {name}", rows[-1].size, WANTED / float(np.quantile(found, 0.99)), 1.0)
            )
    return Report("latency", [row("interruptions of each", "times", rounds), *rows], bars, [note_busy(busy)])


def _interrupt(engine: PipedEngine, command: str, wait: float) -> float:
    """The seconds until an analysis that has reported and gone on for a while gives way to another command."""
    engine.send(command)
    for _ in range(2):  # the beginning of the answer, and a report
        engine.receive_line()
    time.sleep(wait)
    begun = time.monotonic()
    engine.send("name")
    engine.receive_rest()
    engine.receive()
    return time.monotonic() - begun
