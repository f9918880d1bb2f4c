"""Engines and sessions: who thinks, what happens when a process dies, and that nothing is lost."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable

import pytest

from katachi.core.contracts import Limit
from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, PASS
from katachi.web.engines import DecideJob, EngineError, EnginePool, Position
from katachi.web.sessions import House, Session
from katachi.web.store import Shelf
from katachi.web.table import Offer, Phase, Seats, TableError, TableSettings, list_offers

ANNA, BOB = "a" * 32, "b" * 32
SLEEPER = """
import sys, time
for line in sys.stdin:
    if "genmove" in line: time.sleep(60)
    answer = "genmove\\nboardsize\\nclear_board\\nplay\\nkomi" if "list_commands" in line else ""
    print(f"={line.split()[0]} {answer}\\n", flush=True)
"""


@pytest.fixture
def offers(tmp_path) -> dict[str, Offer]:
    """A quick player, one that thinks for a minute, and one that there is not."""
    script = tmp_path / "sleeper.py"
    script.write_text(SLEEPER, encoding="utf-8")
    return {
        "alp": Offer("alp", "alp", ""),
        "sleeper": Offer("sleeper", f"gtp:{sys.executable} {script}", ""),
        "nobody": Offer("nobody", "nobody", ""),
        "nine": Offer("nine", "shapes-9", "", size=9),
    }


def run(offers: dict[str, Offer], folder, scene: Callable) -> None:
    """Play a scene in a house of its own."""

    async def play():
        house = House(Shelf(folder), offers, EnginePool(1))
        try:
            await asyncio.wait_for(scene(house), 60)
        finally:
            await house.close()

    asyncio.run(play())


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.02)


def begin(house: House, player: str = "alp", visitor: str = ANNA) -> Session:
    return house.begin(visitor, TableSettings(player=player, seats=Seats.BLACK, size=5))


def stones(session: Session) -> int:
    return int((session.table.opened.game.board.stones != EMPTY).sum())


def test_a_player_answers_and_the_game_outlives_its_server(offers, tmp_path):
    names = []

    async def first(house):
        session = begin(house)
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

    async def second(house):
        with pytest.raises(TableError, match="no such game"):
            house.find(BOB, names[0])
        session = house.find(ANNA, names[0])
        assert stones(session) == 2
        assert house.find(ANNA, names[0]) is session
        house.delete(ANNA, names[0])
        with pytest.raises(TableError, match="no such game"):
            house.find(ANNA, names[0])

    run(offers, tmp_path, first)
    run(offers, tmp_path, second)


def test_a_killed_engine_loses_no_game_and_is_told(offers, tmp_path):
    async def scene(house):
        session = begin(house, "sleeper")
        session.click(12)
        await until(lambda: house.engines.pids)
        await asyncio.sleep(0.5)
        (killed,) = house.engines.pids
        os.kill(killed, signal.SIGKILL)
        await until(lambda: session.notice)
        assert "SIGKILL" in session.notice
        assert "Your game is as it was" in session.notice
        assert stones(session) == 1
        assert session.table.is_players_turn
        session.act(lambda table: table.undo())
        assert (stones(session), session.notice) == (0, "")
        other = begin(house, visitor=BOB)  # another worker takes the next job
        other.click(12)
        await until(lambda: stones(other) == 2)
        assert killed not in house.engines.pids

    run(offers, tmp_path, scene)


def test_undo_while_the_player_thinks(offers, tmp_path, monkeypatch):
    monkeypatch.setattr("katachi.web.engines._PATIENCE", 0.2)

    async def scene(house):
        session = begin(house, "sleeper")
        session.click(12)
        await until(lambda: house.engines.pids)
        session.act(lambda table: table.undo())
        assert stones(session) == 0
        assert not session.is_thinking
        await until(lambda: not house.engines.pids)  # one that does not stop is ended

    run(offers, tmp_path, scene)


def test_a_player_that_cannot_is_a_sentence(offers, tmp_path):
    async def scene(house):
        with pytest.raises(TableError, match="9×9 alone"):
            begin(house, "nine")
        with pytest.raises(TableError, match="not on offer"):
            begin(house, "alp; rm -rf /")
        session = begin(house, "nobody")
        session.click(12)
        await until(lambda: session.notice)
        assert "no player is called 'nobody'" in session.notice
        with pytest.raises(EngineError, match="judges 9×9"):
            await house.engines.run(DecideJob("shapes-9", Position.of(Game(5)), Limit()))

    run(offers, tmp_path, scene)


def test_two_passes_are_counted_with_an_estimate(offers, tmp_path):
    async def scene(house):
        session = house.begin(ANNA, TableSettings(size=5))
        session.click(12)
        session.pass_turn()
        session.pass_turn()
        assert session.table.phase is Phase.COUNTING
        await until(lambda: session.table.is_estimated)
        session.click(12)
        assert session.table.dead == {12}

    run(offers, tmp_path, scene)


def test_time_runs_out_by_itself(offers, tmp_path):
    async def scene(house):
        time = {"kind": "absolute", "minutes": 0.005}
        session = house.begin(ANNA, TableSettings(size=5, time=time))
        session.click(12)
        await until(lambda: session.table.phase is Phase.FINISHED)
        assert str(session.table.result) == "B+T"

    run(offers, tmp_path, scene)


def test_a_position_travels_whole():
    game = Game(5)
    game.setup(black=[0, 1], white=[2], to_play=-BLACK)
    game.play(12)
    game.play(PASS)
    there = Position.of(game).replay()
    assert there.steps == game.steps
    assert there.board == game.board


def test_shipped_players_are_on_offer_where_they_can_play():
    offers = list_offers()
    assert offers["shapes-9"].size == 9
    assert offers["alp"].plays(19)
    assert not offers["shapes-9"].plays(19)
    assert offers["level-1"].rating is not None
    assert next(iter(list_offers("gtp:gnugo --mode gtp"))) == "gnugo"
