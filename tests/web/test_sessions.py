"""Engines and sessions: who thinks, what happens when a process dies, and that nothing is lost."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Callable

import pytest

from helpers.held_engine import GATE, HeldJob, HungJob, LookingJob
from katachi.core.contracts import Limit
from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, PASS
from katachi.web import engines, sessions
from katachi.web.engines import DecideJob, EngineError, EnginePool, EngineStopped, Position, Progress
from katachi.web.sessions import App, GameStore, Session
from katachi.web.table import Opponent, Phase, Seats, TableError, TableSettings, list_opponents

ANNA, BOB = "a" * 32, "b" * 32
SLEEPER = """
import sys, time
for line in sys.stdin:
    if "genmove" in line: time.sleep(60)
    answer = "genmove\\nboardsize\\nclear_board\\nplay\\nkomi" if "list_commands" in line else ""
    print(f"={line.split()[0]} {answer}\\n", flush=True)
"""


@pytest.fixture(autouse=True)
def clean_up():
    """Let what stopped engines leave behind be logged here, not in the middle of another test."""
    yield
    gc.collect()


@pytest.fixture
def opponents(tmp_path) -> dict[str, Opponent]:
    """A quick player, one that thinks for a minute, and one that there is not."""
    script = tmp_path / "sleeper.py"
    script.write_text(SLEEPER, encoding="utf-8")
    return {
        "alp": Opponent("alp", "alp", ""),
        "sleeper": Opponent("sleeper", f"gtp:{sys.executable} {script}", ""),
        "nobody": Opponent("nobody", "nobody", ""),
        "nine": Opponent("nine", "shapes-9", "", size=9),
    }


def run(opponents: dict[str, Opponent], folder, scene: Callable) -> None:
    """Play a scene in a house of its own."""

    async def play():
        application = App(GameStore(folder), opponents, EnginePool(1))
        try:
            await asyncio.wait_for(scene(application), 60)
        finally:
            await application.close()

    asyncio.run(play())


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.02)


def begin(application: App, player: str = "alp", user: str = ANNA) -> Session:
    return application.begin(user, TableSettings(player=player, seats=Seats.BLACK, size=5))


def stones(session: Session) -> int:
    return int((session.table.opened.game.board.stones != EMPTY).sum())


def test_a_player_answers_and_the_game_outlives_its_server(opponents, tmp_path):
    names = []

    async def first(application):
        session = begin(application)
        names.append(session.name)
        told = []
        session.watchers.append(lambda: told.append(session.is_thinking))
        session.click(12)
        with pytest.raises(TableError, match="not your turn"):
            session.click(0)
        await until(lambda: not session.table.is_players_turn)
        assert stones(session) == 2
        assert True in told
        assert told[-1] is False

    async def second(application):
        with pytest.raises(TableError, match="no such game"):
            application.find(BOB, names[0])
        session = application.find(ANNA, names[0])
        assert stones(session) == 2
        assert application.find(ANNA, names[0]) is session
        application.delete(ANNA, names[0])
        with pytest.raises(TableError, match="no such game"):
            application.find(ANNA, names[0])

    run(opponents, tmp_path, first)
    run(opponents, tmp_path, second)


def test_a_killed_engine_loses_no_game_and_is_told(opponents, tmp_path):
    async def scene(application):
        session = begin(application, "sleeper")
        session.click(12)
        await until(lambda: not session.is_preparing and application.engines._busy)
        (killed,) = application.engines.pids
        os.kill(killed, signal.SIGKILL)
        await until(lambda: session.notice)
        assert "SIGKILL" in session.notice
        assert "Your game is as it was" in session.notice
        assert stones(session) == 1
        assert session.table.is_players_turn
        session.act(lambda table: table.undo())
        assert (stones(session), session.notice) == (0, "")
        other = begin(application, user=BOB)  # another worker takes the next job
        other.click(12)
        await until(lambda: stones(other) == 2)
        assert killed not in application.engines.pids

    run(opponents, tmp_path, scene)


def test_a_worker_that_hangs_is_replaced(monkeypatch):
    monkeypatch.setattr(engines, "_SILENT_WHEN_WORKING", 10**9)

    async def scene():
        pool = EnginePool(1, look_seconds=0.5)
        with pytest.raises(EngineStopped, match="SIGKILL"):
            await pool.run(HungJob("alp", 5))
        pool.close()

    asyncio.run(asyncio.wait_for(scene(), 120))


@pytest.mark.parametrize("sent", [signal.SIGSTOP, signal.SIGKILL])
def test_a_worker_that_stands_still_is_replaced(sent, tmp_path, monkeypatch):
    gate = tmp_path / "gate"
    monkeypatch.setenv(GATE, str(gate))

    async def scene():
        engines = EnginePool(1, look_seconds=0.5)
        reports = []
        job = HeldJob("alp", 5)
        asking = asyncio.create_task(engines.run(job, reports.append))
        await until(lambda: reports)
        (busy,) = engines.pids
        os.kill(busy, sent)
        with pytest.raises(EngineStopped, match="SIGKILL"):
            await asking
        gate.touch()
        await engines.run(job)
        (idle,) = engines.pids
        assert idle != busy
        os.kill(idle, sent)
        await until(lambda: not engines.pids)
        await engines.run(job)
        engines.close()

    asyncio.run(asyncio.wait_for(scene(), 120))


def test_nobody_has_all_the_workers(tmp_path, monkeypatch):
    gate = tmp_path / "gate"
    monkeypatch.setenv(GATE, str(gate))

    async def scene():
        engines = EnginePool(3, most_per_user=1)
        began = []
        names = ("first", "second", "other")
        users = (ANNA, ANNA, BOB)
        job = HeldJob("alp", 5)
        asking = [
            asyncio.create_task(engines.run(job, lambda _, name=name: began.append(name), user=user))
            for name, user in zip(names, users, strict=True)
        ]
        await until(lambda: {"first", "other"} <= set(began))
        assert len(engines.pids) == 2, "one worker is free, and not for her"
        gate.touch()
        await asyncio.gather(*asking)
        engines.close()

    asyncio.run(asyncio.wait_for(scene(), 120))


def test_a_player_waits_with_its_thoughts_until_somebody_watches(opponents, tmp_path):
    names = []

    async def first(application):
        session = begin(application, "sleeper")
        session.watch(watcher := lambda: None)
        session.click(12)
        names.append(session.name)
        assert session.is_thinking
        session.leave(watcher)
        assert not session.is_thinking

    async def second(application):
        session = application.find(ANNA, names[0])
        assert session.table.is_players_turn
        assert not session.is_thinking, "to find a table changes nothing"
        session.watch(watcher := lambda: None)
        session.watch(watcher)
        assert session.is_thinking
        assert len(session.watchers) == 1

    run(opponents, tmp_path, first)
    run(opponents, tmp_path, second)


def test_undo_while_the_player_thinks(opponents, tmp_path, monkeypatch):
    monkeypatch.setattr("katachi.web.engines._PATIENCE", 0.2)

    async def scene(application):
        session = begin(application, "sleeper")
        session.click(12)
        await until(lambda: not session.is_preparing and application.engines._busy)
        session.act(lambda table: table.undo())
        assert stones(session) == 0
        assert not session.is_thinking
        await until(lambda: not application.engines.pids)  # one that does not stop is ended

    run(opponents, tmp_path, scene)


def test_tables_wait_for_an_engine_together_and_without_a_clock(opponents, tmp_path, monkeypatch):
    gate = tmp_path / "gate"
    monkeypatch.setenv(GATE, str(gate))
    monkeypatch.setattr(sessions, "PrepareJob", HeldJob)

    async def scene(application):
        time = {"kind": "absolute", "minutes": 10}
        settings = TableSettings(player="alp", seats=Seats.BLACK, size=5, time=time)
        first, second = (application.begin(user, settings) for user in (ANNA, BOB))
        await until(lambda: first.progress is not None and second.progress is not None)
        assert first.progress == Progress(0.25)
        assert len(application.engines.pids) == 1, "one worker for both"
        first.click(12)
        assert stones(first) == 1
        await asyncio.sleep(0.1)
        assert (first.is_preparing, first.table.is_players_turn) == (True, True)
        assert first.table.clock.seconds_to_loss() is None
        first.act(lambda table: table.undo())
        assert first.is_preparing, "for the next move"
        first.click(7)
        gate.touch()
        await until(lambda: stones(first) == 2)
        assert (first.is_preparing, second.is_preparing) == (False, False)
        assert first.progress is None
        third = application.begin(ANNA, settings)
        assert not third.is_preparing, "that was done once"

    run(opponents, tmp_path, scene)


def test_a_player_that_cannot_is_a_sentence(opponents, tmp_path):
    async def scene(application):
        with pytest.raises(TableError, match="9×9 alone"):
            begin(application, "nine")
        with pytest.raises(TableError, match="not available here"):
            begin(application, "alp; rm -rf /")
        session = begin(application, "nobody")
        session.click(12)
        await until(lambda: session.notice)
        assert "no player is called 'nobody'" in session.notice
        with pytest.raises(EngineError, match="evaluates 9×9"):
            await application.engines.run(DecideJob("shapes-9", Position.of(Game(5)), Limit()))

    run(opponents, tmp_path, scene)


def test_two_passes_are_counted_with_an_estimate(opponents, tmp_path):
    async def scene(application):
        session = application.begin(ANNA, TableSettings(size=5))
        session.click(12)
        session.pass_turn()
        session.pass_turn()
        assert session.table.phase is Phase.COUNTING
        await until(lambda: session.table.is_estimated)
        session.click(12)
        assert session.table.dead == {12}

    run(opponents, tmp_path, scene)


def test_time_runs_out_by_itself(opponents, tmp_path):
    async def scene(application):
        time = {"kind": "absolute", "minutes": 0.005}
        session = application.begin(ANNA, TableSettings(size=5, time=time))
        session.click(12)
        await until(lambda: session.table.phase is Phase.FINISHED)
        assert str(session.table.result) == "B+T"

    run(opponents, tmp_path, scene)


def test_a_position_travels_whole():
    game = Game(5)
    game.setup(black=[0, 1], white=[2], to_play=-BLACK)
    game.play(12)
    game.play(PASS)
    there = Position.of(game).replay()
    assert there.steps == game.steps
    assert there.board == game.board


def test_shipped_players_are_on_offer_where_they_can_play():
    opponents = list_opponents()
    assert opponents["shapes-9"].size == 9
    assert opponents["alp"].plays(19)
    assert not opponents["shapes-9"].plays(19)
    assert opponents["level-1"].plays(9)
    assert opponents["level-1"].plays(19)
    assert next(iter(list_opponents("gtp:gnugo --mode gtp"))) == "gnugo"


def test_one_engine_is_left_for_those_who_play():
    async def scene():
        engines = EnginePool(2)
        begun: list[str] = []
        lookers = [asyncio.create_task(engines.run(LookingJob(), begun.append)) for _ in range(3)]
        try:
            await until(lambda: begun)
            job = DecideJob("alp", Position.of(Game(5)), Limit())
            decided = await engines.run(job)
            assert decided.move >= 0
            assert begun == ["begun"], "the others wait for the first"
        finally:
            for looker in lookers:
                looker.cancel()
            await asyncio.gather(*lookers, return_exceptions=True)
            engines.close()

    asyncio.run(asyncio.wait_for(scene(), 120))
