from __future__ import annotations

from katachi.arena.ratings import Anchor
from katachi.arena.settings import TournamentSettings
from katachi.papers import tournaments
from katachi.papers.experiment import Budget, Scope, Workers
from katachi.papers.tournaments import describe_games, play_rounds, play_tournaments, rate_games, rounds

TEMPLATE = TournamentSettings(players={"a": "random", "b": "random", "c": "random"}, scheme="gauntlet", size=3)


def plan(games: dict[str, int], games_a_round: int = 10) -> list[tuple[tuple[str, ...], int, int]]:
    found = rounds(TEMPLATE, games, games_a_round).values()
    return [(tuple(settings.players), settings.games, settings.seed) for settings in found]


def test_whoever_has_played_his_games_is_left_out():
    assert plan({"b": 14, "c": 30}) == [
        (("a", "b", "c"), 10, 1),
        (("a", "b", "c"), 4, 2),
        (("a", "c"), 10, 3),
        (("a", "c"), 6, 4),
    ]
    assert plan({"b": 0, "c": 2}) == [(("a", "c"), 2, 1)]


def test_more_games_later_go_on_with_those_that_there_are():
    few, many = rounds(TEMPLATE, {"b": 20, "c": 20}), rounds(TEMPLATE, {"b": 40, "c": 50})
    assert list(few) == list(many)[:2]
    assert len(many) == 5
    other = TEMPLATE.model_copy(update={"size": 5})
    assert not set(rounds(other, {"b": 20, "c": 20})) & set(few)


def test_games_are_counted_now_and_then_and_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(tournaments, "_SECONDS_BETWEEN_COUNTS", 0.0)
    kept, seen = [], []
    scope = Scope(tmp_path, Budget.SMOKE, seen.append, None, Workers(), kept.append)
    results = play_rounds(rounds(TEMPLATE, {"b": 2, "c": 2}, 1), scope, describe_games)
    assert results["games"] == 4
    assert set(results["seconds"]) == {"a", "b", "c"}
    assert [found["games"] for found in kept] == [1, 2, 3, 4]
    assert [(progress.games, progress.all_games) for progress in seen] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    kept.clear()
    assert play_rounds(rounds(TEMPLATE, {"b": 2, "c": 2}, 1), scope, describe_games) == results
    assert kept == []


def test_rounds_that_are_through_count_before_others_are_played(tmp_path, monkeypatch):
    monkeypatch.setattr(tournaments, "_SECONDS_BETWEEN_COUNTS", 0.0)
    kept = []
    scope = Scope(tmp_path, Budget.SMOKE, lambda progress: None, None, Workers(), kept.append)
    (first, second) = rounds(TEMPLATE, {"b": 2, "c": 2}, 1).items()
    play_rounds(dict([second]), scope, describe_games)
    kept.clear()
    assert play_rounds(dict([first, second]), scope, describe_games)["games"] == 4
    assert [found["games"] for found in kept] == [3, 4]


def test_nobody_is_rated_before_the_anchor_has_played(tmp_path):
    (settings,) = rounds(TEMPLATE, {"b": 2, "c": 2}).values()
    scope = Scope(tmp_path, Budget.SMOKE, lambda progress: None, None, Workers(), lambda results: None)
    first = settings.model_copy(update={"players": {"a": "random", "b": "random"}})

    def count(records):
        return rate_games(["a", "b", "c"], records, Anchor("c"))

    found = play_rounds({"first": first}, scope, count)
    assert (found["ratings"], len(found["pairs"])) == ({}, 1)
    assert set(play_rounds({"first": first, "all": settings}, scope, count)["ratings"]) == {"a", "b", "c"}


def test_the_same_game_twice_is_one_game(tmp_path):
    (record, *_) = play_tournaments({"x": TEMPLATE.model_copy(update={"games": 1})}, tmp_path, lambda progress: None)
    again = record.model_copy(update={"id": "another"})
    found = describe_games([record, again])
    assert (found["games"], found["distinct"]) == (2, 1)
