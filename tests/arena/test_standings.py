from __future__ import annotations

from collections.abc import Callable

import pytest

from katachi.arena.ratings import Score, count_standings
from katachi.arena.records import CheckRecord, GameRecord
from katachi.arena.settings import TournamentSettings

MakeRecord = Callable[..., GameRecord]
MakeSettings = Callable[..., TournamentSettings]


@pytest.fixture
def games(make_record: MakeRecord) -> list[GameRecord]:
    """Five games of a against b: a wins twice with Black, draws once and loses once with White; one is repeated."""
    return [
        make_record("a", "b", "B+1.5", number=0, fingerprint="x", moves=10),
        make_record("b", "a", "0", number=1, moves=30),
        make_record("a", "b", "B+R", number=2, fingerprint="x", moves=10),
        make_record("b", "a", "B+T", number=3, ending="time", overruns=1, moves=30),
        make_record("a", "c", "W+F", pairing=1, number=0, ending="illegal move", moves=5),
    ]


def test_pairs_are_counted_by_color(make_settings: MakeSettings, games: list[GameRecord]) -> None:
    standings = count_standings(make_settings("a", "b", "c", games=4), games)
    pair = standings.pairs[0]
    assert (pair.first, pair.second, pair.score) == ("a", "b", Score(2, 1, 1))
    assert (pair.with_black, pair.with_white) == (Score(2, 0, 0), Score(0, 1, 1))
    assert (pair.played, pair.duplicates, pair.mean_moves, pair.black_wins) == (4, 1, 20.0, 3)
    assert pair.score.rate == 0.625
    assert (standings.games, standings.scheduled, standings.duplicates) == (5, 12, 1)


def test_duplicates_can_be_left_out_of_the_score(make_settings: MakeSettings, games: list[GameRecord]) -> None:
    settings = make_settings("a", "b", "c", report={"exclude_duplicates": True})
    pair = count_standings(settings, games).pairs[0]
    assert (pair.score, pair.played, pair.duplicates) == (Score(1, 1, 1), 4, 1)


def test_scores_are_seen_from_both_sides(make_settings: MakeSettings, games: list[GameRecord]) -> None:
    standings = count_standings(make_settings("a", "b", "c"), games)
    assert standings.pair("b", "a") == Score(1, 1, 2)
    assert standings.total("a") == Score(2, 1, 2)
    assert standings.total("c") == Score(1, 0, 0)
    gauntlet = count_standings(make_settings("a", "b", "c", scheme="gauntlet"), games)
    assert gauntlet.pair("b", "c") is None


def test_swapping_the_colors_swaps_the_score(make_settings: MakeSettings, make_record: MakeRecord) -> None:
    black = [make_record("a", "b", "B+R", number=n) for n in range(3)]
    white = [make_record("b", "a", "W+R", number=n) for n in range(3)]
    one, other = (count_standings(make_settings("a", "b"), games) for games in (black, white))
    assert one.pairs[0].score == other.pairs[0].score == Score(3, 0, 0)
    assert one.ratings == other.ratings


def test_the_order_of_the_games_changes_nothing(make_settings: MakeSettings, games: list[GameRecord]) -> None:
    settings = make_settings("a", "b", "c")
    assert count_standings(settings, games[::-1]).to_json() == count_standings(settings, games).to_json()


def test_incidents_are_the_losers(make_settings: MakeSettings, games: list[GameRecord]) -> None:
    incidents = count_standings(make_settings("a", "b", "c"), games).incidents
    assert (incidents["a"].illegal_moves, incidents["a"].time_losses, incidents["a"].overruns) == (1, 1, 1)
    assert (incidents["b"].illegal_moves, incidents["b"].time_losses, incidents["b"].overruns) == (0, 0, 1)
    assert not incidents["c"]


def test_disagreements_are_listed(
    make_settings: MakeSettings, make_record: MakeRecord, disagreement: CheckRecord
) -> None:
    agreed = CheckRecord(referee="gnugo", result="B+1.5", agrees=True)
    games = [
        make_record("a", "b", "B+1.5", number=0, check=agreed),
        make_record("a", "b", "B+1.5", number=1, check=disagreement),
        make_record("a", "b", "B+1.5", number=2),
    ]
    checks = count_standings(make_settings("a", "b"), games).checks
    assert checks.games == 2
    assert checks.disagreements == (("01-0002", "B+1.5 here; gnugo says W+3.5"),)


def test_nothing_played_is_no_error(make_settings: MakeSettings) -> None:
    standings = count_standings(make_settings("a", "b"), [])
    assert standings.pairs[0].score.rate is None
    assert [(rating.rating, rating.low) for rating in standings.ratings.ratings] == [(0, 0), (None, None)]


def test_the_anchor_sets_the_scale(make_settings: MakeSettings, games: list[GameRecord]) -> None:
    settings = make_settings("a", "b", "c", report={"anchor": "b", "anchor_rating": 1800.0})
    ratings = {rating.player: rating.rating for rating in count_standings(settings, games).ratings.ratings}
    assert ratings["b"] == 1800
    assert ratings["a"] > 1800
