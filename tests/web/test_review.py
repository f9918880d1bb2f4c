"""A review: what is claimed, in which order it is made, and that it outlives what interrupts it."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from threading import Event

import pytest

from katachi.analysis.records import CandidateRecord, MoveRecord, PositionRecord
from katachi.sgf import parse_sgf
from katachi.web.engines import DEEP_SIMULATIONS, GLANCE, REVIEW_SIMULATIONS, EnginePool, Reviewed, ReviewJob
from katachi.web.review import Lost, Review, describe_progress, line_of
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

    @property
    def turns(self) -> list[Reviewed]:
        return [one for report in self.all for one in report.turns]


def position(turn: int, wins: float, move: str | None = None) -> PositionRecord:
    color = "black" if turn % 2 else "white"
    played = None if move is None else MoveRecord(number=turn, color=color, move=move)
    candidate = CandidateRecord(move="E5", black_wins=wins, visits=50)
    to_play = "white" if turn % 2 else "black"
    found = {"black_wins": wins, "candidates": (candidate,), "move": played}
    return PositionRecord(game="", turn=turn, node=turn, to_play=to_play, **found)


def test_a_game_is_looked_at_quickly_then_thoroughly_then_where_it_matters():
    reports = Reports()
    ReviewJob("level-10", RECORD).run(reports, Event())
    found = reports.turns
    assert [(one.position.turn, one.simulations) for one in found[:5]] == [(turn, GLANCE) for turn in range(5)]
    second = [one.position.turn for one in found if one.simulations == REVIEW_SIMULATIONS]
    assert sorted(second) == list(range(5))
    wins = [one.position.black_wins for one in found[:5]]
    drops = [abs(now - before) for before, now in pairwise(wins)]
    most = drops.index(max(drops))
    assert second[0] in (most, most + 1)
    deep = {one.position.turn for one in found if one.simulations == DEEP_SIMULATIONS}
    assert {2, 3} <= deep, "before and after the stone in the corner"
    assert reports.all[-1].seconds_left == 0


def test_what_is_known_is_not_analysed_again():
    reports = Reports()
    known = tuple(Reviewed(DEEP_SIMULATIONS, position(turn, 0.5)) for turn in range(5))
    ReviewJob("level-10", RECORD, known).run(reports, Event())
    assert reports.turns == []


def test_a_loss_is_claimed_between_thorough_looks_alone():
    review = Review("level-10", ("", "Bee", "Wge"), 3)
    review.take([Reviewed(REVIEW_SIMULATIONS, position(0, 0.6))])
    review.take([Reviewed(GLANCE, position(1, 0.2, "A1"))])
    assert review.positions[1].move.loss is None
    assert review.mistakes() == []
    assert describe_progress(review).startswith("A first look: 2 of 3")
    review.take([Reviewed(REVIEW_SIMULATIONS, position(1, 0.2, "A1"))])
    assert review.positions[1].move.loss == pytest.approx(0.4)
    assert review.mistakes() == [1]
    review.take([Reviewed(GLANCE, position(2, 0.2, "G5"))])
    review.seconds_left = 200.0
    assert describe_progress(review) == "A closer look: 2 of 3 positions, about 3 min left"


def test_a_review_is_kept_as_long_as_its_moves_are():
    record = parse_sgf(RECORD)[0]
    review = Review("level-10", line_of(record), 5)
    review.take(Reviewed(REVIEW_SIMULATIONS, position(turn, 0.5)) for turn in range(2))
    back = Review.of_json(review.to_json(), record)
    assert (back.analyst, back.found) == ("level-10", review.found)
    longer = parse_sgf(RECORD.removesuffix(")") + ";B[cc])")[0]
    assert Review.of_json(review.to_json(), longer) is not None
    assert Review.of_json(review.to_json(), parse_sgf("(;SZ[9]KM[7];B[ee];W[cc])")[0]) is None
    assert Review.of_json("{}", record) is None


def test_what_is_lost_is_said_in_whole_points_or_percent():
    assert (Lost(6.2, True).text, Lost(6.2, True).words) == ("−6", "6 points")
    assert (Lost(14.4, False).text, Lost(14.4, False).words) == ("−14%", "14 %")
    assert Lost(0.7, True).text == "", "that is within the error"
    assert len({Lost(amount, True).color for amount in (0, 2, 4, 8)}) == 4


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
    assert review.thorough == review.turns == 5
    assert review.game.player == "level-10"


def test_who_cannot_value_positions_reviews_nothing():
    assert [name for name in ("random", "alp", "influence", "level-1", "policy-9") if can_judge(name, 9)] == []
    assert all(can_judge(name, 9) for name in ("level-8", "level-10", "strong-9", "shapes-9", "territory-9"))
    assert can_judge("level-10", 19)
