"""Thinking on the opponent's time: when it begins, that any line ends it, and that it cannot harm."""

from __future__ import annotations

import io
import queue
from threading import Event

import pytest

from gtp.conftest import FirstPlayer
from gtp.test_serving import Dialogue
from katachi.go.game import Game
from katachi.gtp.engine import GtpEngine


class PonderingPlayer(FirstPlayer):
    """Tells what it ponders, and does so until it is stopped."""

    def __init__(self) -> None:
        self.pondered: queue.Queue[str] = queue.Queue()
        self.ended = Event()

    def ponder(self, game: Game, stop: Event) -> None:
        self.pondered.put(" ".join(str(play.move) for play in game.moves))
        assert stop.wait(60)
        self.ended.set()


def test_from_its_own_move_to_the_next_line():
    player = PonderingPlayer()
    dialogue = Dialogue(GtpEngine(player, size=3, ponders=True))
    dialogue.input.write(b"genmove b\n")
    assert dialogue.answer() == ["= A3"]
    assert player.pondered.get(timeout=60) == "0"
    assert not player.ended.is_set()
    dialogue.input.write(b"time_left w 10 0\n")  # says nothing of the game: it goes on
    assert dialogue.answer() == ["="]
    assert player.ended.is_set()
    assert player.pondered.get(timeout=60) == "0"
    dialogue.input.write(b"play w B3\n")
    assert dialogue.answer() == ["="]
    dialogue.input.write(b"lz-genmove_analyze b\n")
    assert dialogue.answer()[-1] == "play C3"
    assert player.pondered.get(timeout=60) == "0 1 2"
    dialogue.end()
    assert player.pondered.empty()


@pytest.mark.parametrize("command", ["play b A3", "reg_genmove b", "name"])
def test_not_without_a_move_of_its_own(command):
    player = PonderingPlayer()
    dialogue = Dialogue(GtpEngine(player, size=3, ponders=True))
    for line in (command, "name", "name"):
        dialogue.input.write(line.encode() + b"\n")
        dialogue.answer()
    dialogue.end()
    assert player.pondered.empty()


def test_not_unless_it_is_told_to():
    player = PonderingPlayer()
    GtpEngine(player, size=3).serve(io.BytesIO(b"genmove b\nname\n"), io.BytesIO())
    assert player.pondered.empty()


def test_what_fails_is_told_once_and_ends_nothing(caplog):
    has_pondered = Event()

    class Failing(FirstPlayer):
        def ponder(self, game: Game, stop: Event) -> None:
            has_pondered.set()
            raise RuntimeError("out of ideas")

    dialogue = Dialogue(GtpEngine(Failing(), size=3, ponders=True))
    for expected in ("= A3", "= B3", "= C3"):
        dialogue.input.write(b"genmove b\n")
        assert dialogue.answer() == [expected]
        assert has_pondered.wait(60)  # else the next line may come before there was time to ponder
    dialogue.end()
    assert caplog.text.count("first ponders no more: RuntimeError: out of ideas") == 1
