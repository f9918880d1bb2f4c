"""What ``katachi bench`` says of an engine: losses on time, how soon it stops, how much memory it holds."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager

import pytest

from katachi.bench import BenchmarkError, Row, engines
from katachi.bench import engines as clock
from katachi.bench import engines as latency
from katachi.bench import engines as memory


class ScriptedEngine:
    """Plays two moves and two passes in each game; every genmove takes the next of the given times."""

    pid = os.getpid()

    def __init__(self, seconds: list[float]) -> None:
        self.asked: list[str] = []
        self._seconds = iter(seconds)
        self._moves = iter(())

    def ask(self, command: str) -> tuple[str, float]:
        self.asked.append(command)
        if command == "clear_board":
            self._moves = iter(["C3", "D4", "pass", "pass"])
        return (next(self._moves), next(self._seconds)) if command.startswith("genmove") else ("", 0.0)


def scripted(monkeypatch, module, seconds: list[float]) -> ScriptedEngine:
    engine = ScriptedEngine(seconds)

    @contextmanager
    def running(player, busy):
        yield engine

    monkeypatch.setattr(module, "running_engine", running)
    return engine


def rates(report) -> dict[str, float]:
    return {row.name: row.rate for row in report.rows}


def test_a_move_that_is_too_late_loses_its_game(monkeypatch):
    engine = scripted(monkeypatch, clock, [0.5] * 4 + [0.9, 1.1, 1.2, 0.7] + [0.5] * 4)
    report = clock.run_clock(seconds=1.0, rounds=3)
    found = rates(report)
    assert (found["games"], found["games lost on time"], found["moves"]) == (3, 1, 12)
    assert found["time for a move, median"] == 500
    assert found["time for a move, longest"] == 1200
    assert [bar.ratio >= bar.at_least for bar in report.targets] == [False]
    game = [line for line in engine.asked if not line.startswith("time_left")]
    assert game[:5] == ["kgs-time_settings byoyomi 0 1.0 1", "clear_board", "genmove b", "genmove w", "genmove b"]
    assert engine.asked[2:4] == ["time_left b 1.0 1", "genmove b"]


@pytest.mark.parametrize(("at_end", "is_flat"), [(100.0, True), (110.0, False)])
def test_memory_that_grows_is_told(monkeypatch, at_end, is_flat):
    scripted(monkeypatch, memory, [0.1] * 40)
    sizes = iter([50.0] + [100.0] * 8 + [at_end])
    monkeypatch.setattr(memory, "_megabytes", lambda pid: next(sizes))
    report = memory.run_memory(seconds=0.1, rounds=10)
    assert rates(report)["after 4 moves"] == 50
    assert rates(report)["after 40 moves"] == at_end
    assert [bar.ratio >= bar.at_least for bar in report.targets] == [is_flat]


def test_a_process_has_memory():
    assert 1 < memory._megabytes(os.getpid()) < 1e6


def test_an_engine_over_pipes(run_katachi):
    """The real thing, once: a player that has something to say, beside a busy process."""
    options = ("--player", "influence", "--busy", "1", "--seconds", "0.01", "--rounds", "2", "--json")
    ran = run_katachi("bench", "latency", *options)
    assert ran.code == 0
    assert "beside 1 processes" in ran.err
    rows = [Row(**row) for row in json.loads(ran.out)["rows"]]
    assert all(row.rate > 0 for row in rows)
    assert {row.name.split(",")[0] for row in rows[1:]} == {command.split()[0] for command in latency.COMMANDS}


def test_an_engine_that_cannot_do_it():
    with pytest.raises(BenchmarkError, match="ended"), engines.running_engine("no-such-player", busy=0):
        pass


def test_options_of_engines_alone(run_katachi):
    ran = run_katachi("bench", "playouts", "--busy", "1")
    assert ran.code != 0
    assert "playouts has no such option" in ran.err
