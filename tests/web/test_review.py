"""A review: what is claimed, in which order it is made, and that it outlives what interrupts it."""

from __future__ import annotations

import asyncio
from itertools import accumulate
from threading import Event

import pytest

from katachi.analysis.batches import JudgeSettings, review_game
from katachi.analysis.explaining import link_turns
from katachi.analysis.records import LEAST_MISTAKE, CandidateRecord, MoveRecord, PositionRecord
from katachi.sgf import parse_sgf
from katachi.web.engines import REVIEW_SIMULATIONS, EnginePool, ReviewJob
from katachi.web.review import Lost, Review, describe_progress, describe_turn, line_of
from katachi.web.sessions import App, GameStore
from katachi.web.table import can_judge, list_opponents

RECORD = "(;SZ[9]KM[7];B[ee];W[ge];B[ai];W[gc])"
USER = "a" * 32


class Reports:
    """All that a job reports."""

    is_due = True

    def __init__(self) -> None:
        self.all = []

    def __call__(self, content) -> None:
        self.all.append(content)


def position(turn: int, wins: float, move: str | None = None, *, is_first: bool = False) -> PositionRecord:
    color = "black" if turn % 2 else "white"
    played = None if move is None else MoveRecord(number=turn, color=color, move=move)
    candidate = CandidateRecord(move="E5", black_wins=wins, visits=50)
    to_play = "white" if turn % 2 else "black"
    found = {"black_wins": wins, "candidates": (candidate,), "move": played}
    looked = {"is_first_look": is_first, "in_full": not is_first}
    return PositionRecord(game="", turn=turn, node=turn, to_play=to_play, **found, **looked)


def verdict(found: PositionRecord) -> tuple:
    """What does not depend on what the player is called."""
    loss = found.move and found.move.sure_loss
    return found.turn, found.black_wins, found.black_lead, found.candidates, found.in_full, loss


def test_a_game_is_looked_at_quickly_then_searched():
    reports = Reports()
    ReviewJob("level-10", RECORD).run(reports, Event())
    first, *others = reports.all
    assert [(one.turn, one.is_first_look) for one in first.changed] == [(turn, True) for turn in range(5)]
    searched = {one.turn: one for step in others for one in step.changed}
    assert sum(one.visits for one in searched[2].candidates) >= REVIEW_SIMULATIONS // 2
    assert searched[3].move.sure_loss >= LEAST_MISTAKE, "the stone in the corner"
    assert (others[-1].done, others[-1].seconds_left) == (5, 0)
    by_command = {one.turn: one for step in review_game(parse_sgf(RECORD)[0], JudgeSettings()) for one in step.changed}
    assert set(map(verdict, searched.values())) == set(map(verdict, by_command.values())), "by katachi analyze"


def test_what_is_known_is_not_analysed_again():
    reports = Reports()
    ReviewJob("level-10", RECORD, tuple(position(turn, 0.5) for turn in range(5))).run(reports, Event())
    assert [(step.done, len(step.changed)) for step in reports.all] == [(5, 5)]


def test_nothing_is_claimed_after_a_first_look():
    review = Review("level-10", ("", "Bee", "Wge"), 3)
    assert describe_progress(review) == "A first look …"
    look = [
        position(0, 0.6, is_first=True),
        position(1, 0.2, "A1", is_first=True),
        position(2, 0.2, "G5", is_first=True),
    ]
    review.take(accumulate(look, link_turns))
    assert review.positions[1].move.loss == pytest.approx(0.4)
    assert review.mistakes() == []
    assert describe_turn(review, 1).startswith("Nothing can be said")
    review.take([position(0, 0.6)])
    assert describe_turn(review, 1).startswith("Nothing can be said")
    review.take([link_turns(position(0, 0.6), position(1, 0.2, "A1"))])
    assert review.mistakes() == [1]
    review.seconds_left = 200.0
    assert describe_progress(review) == "A closer look: 2 of 3 positions, about 3 min left"


def test_a_review_is_kept_as_long_as_its_moves_are():
    record = parse_sgf(RECORD)[0]
    review = Review("level-10", line_of(record), 5)
    review.take(position(turn, 0.5) for turn in range(2))
    back = Review.of_json(review.to_json(), record)
    assert (back.analyst, back.positions) == ("level-10", review.positions)
    longer = parse_sgf(RECORD.removesuffix(")") + ";B[cc])")[0]
    assert Review.of_json(review.to_json(), longer) is not None
    assert Review.of_json(review.to_json(), parse_sgf("(;SZ[9]KM[7];B[ee];W[cc])")[0]) is None
    assert Review.of_json("{}", record) is None


def test_what_is_lost_is_said_in_whole_points_or_percent():
    assert (Lost(6.2, True).text, Lost(6.2, True).words) == ("−6", "6 points")
    assert (Lost(14.4, False).text, Lost(14.4, False).words) == ("−14%", "14 %")
    assert [Lost(1.4, True).text, Lost(1.9, False).text] == ["", ""], "that is within the error"
    assert len({Lost(amount, True).color for amount in (0, 2, 4, 8)}) == 4


def test_a_review_is_kept_though_its_game_is_still_being_written(tmp_path, monkeypatch):
    may_write = Event()
    save = GameStore.save
    monkeypatch.setattr(GameStore, "save", lambda *arguments: may_write.wait(60) and save(*arguments))

    async def review() -> str:
        application = App(GameStore(tmp_path), list_opponents(), EnginePool(1))
        session = application.open_record(USER, parse_sgf(RECORD)[0])
        session.reviewing.begin(application.opponents["level-10"])
        await asyncio.sleep(0.2)
        may_write.set()
        while not (application.store.unfinished_reviews() or session.reviewing.notice):
            await asyncio.sleep(0.01)
        await application.close()
        return session.reviewing.notice

    assert asyncio.run(asyncio.wait_for(review(), 120)) == ""


def test_an_interrupted_review_is_resumed_when_the_server_starts(tmp_path):
    async def first() -> str:
        application = App(GameStore(tmp_path), list_opponents(), EnginePool(1))
        session = application.open_record(USER, parse_sgf(RECORD)[0])
        session.reviewing.begin(application.opponents["level-10"])
        while not application.store.unfinished_reviews():
            await asyncio.sleep(0.05)
        await application.close()
        return session.name

    async def second(name: str) -> Review:
        application = App(GameStore(tmp_path), list_opponents(), EnginePool(1))
        application.resume_reviews()
        reviewing = application.find(USER, name).reviewing
        assert reviewing.is_running
        while reviewing.is_running:
            await asyncio.sleep(0.05)
        assert application.store.unfinished_reviews() == []
        await application.close()
        return reviewing.review

    name = asyncio.run(asyncio.wait_for(first(), 120))
    review = asyncio.run(asyncio.wait_for(second(name), 120))
    assert review.searched == review.turns == 5
    assert review.game.player == "level-10"


def test_who_cannot_value_positions_reviews_nothing():
    assert [
        name for name in ("random", "alp", "influence", "level-1", "level-9", "policy-9") if can_judge(name, 9)
    ] == []
    assert all(can_judge(name, 9) for name in ("level-10", "strong-9", "shapes-9", "territory-9"))
    assert can_judge("level-10", 19)
