"""The clock of a session: what it gives the player."""

from __future__ import annotations

import pytest

from gtp.conftest import FirstPlayer
from katachi.core.contracts import Limit
from katachi.go.points import BLACK
from katachi.gtp import session
from katachi.gtp.engine import GtpEngine


def test_the_player_is_given_what_the_clock_allows(limit_player):
    engine = GtpEngine(limit_player, size=9, limit=Limit(simulations=100, seconds=2.0))

    def seconds(*lines: str) -> float | None:
        assert all(engine.answer(line).startswith(b"=") for line in (*lines, "reg_genmove b"))
        return limit_player.limits[-1].seconds

    assert seconds() == 2.0
    assert seconds("time_settings 0 10 10") == 0.9
    assert seconds("kata-set-param lagBuffer 0.5") == 0.5
    assert seconds("time_settings 0 10 10") == 0.5, "the lag stays when the control changes"
    assert seconds("kata-set-param lagBuffer 0.1", "time_settings 0 10 1") == 2.0, "the session's own limit is less"
    assert seconds("kata-set-param maxTime 1.5") == 1.5
    assert seconds("kata-set-param maxTime 2", "time_left b 1 1") == 0.9
    assert seconds("time_left w 100 1") == 0.9, "the other clock, and a question that is no move, change nothing"
    assert seconds("clear_board") == 2.0, "a new game begins with full clocks"
    assert seconds("time_settings 0 1 0") == 2.0
    assert seconds("kata-time_settings fischer 0.5 0.1") < 0.5
    assert all(limit.simulations == 100 for limit in limit_player.limits)


def test_what_the_clock_has_run_before_is_taken_off(limit_player, monkeypatch):
    engine = GtpEngine(limit_player, size=9)
    engine.answer("time_settings 0 10 10")
    monkeypatch.setattr(session.time, "monotonic", lambda: 100.25)
    engine._session.asked = 100.0
    engine.answer("genmove b")
    assert limit_player.limits[-1].seconds == pytest.approx(0.65)
    assert engine._session.clock.left(BLACK).seconds == pytest.approx(10 - 0.25 - 0.1), "with the lag"
    engine._session.asked = 90.0
    engine.answer("genmove w")
    assert 0 < limit_player.limits[-1].seconds < 0.01, "late, but a move is due"


def test_a_player_is_prepared_before_its_clock_runs():
    player = PreparingPlayer()
    engine = GtpEngine(player, size=9)
    assert player.prepared == []
    for line in ("time_settings 0 10 10", "boardsize 5", "clear_board", "boardsize 9", "kata-time_settings none"):
        assert engine.answer(line).startswith(b"="), "though preparing fails on 5×5"
    assert player.prepared == [9, 5]


class PreparingPlayer(FirstPlayer):
    def __init__(self) -> None:
        self.prepared: list[int] = []

    def prepare(self, size: int) -> None:
        self.prepared.append(size)
        if size == 5:
            raise RuntimeError("there is no model for this size")


def test_later_moves_of_a_game_get_a_larger_share_of_what_is_left(limit_player):
    engine = GtpEngine(limit_player, size=9)

    def seconds() -> float:
        assert all(engine.answer(line).startswith(b"=") for line in ("time_left b 100 0", "reg_genmove b"))
        return limit_player.limits[-1].seconds

    engine.answer("time_settings 100 0 0")
    at_first = seconds()
    engine.answer("set_position b A1 b B1 b C1 b D1 b E1 b F1 w A9 w B9 w C9 w D9 w E9 w F9")
    assert seconds() > at_first, "set-up stones count as moves"
