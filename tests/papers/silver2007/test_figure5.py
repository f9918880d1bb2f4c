from __future__ import annotations

import shutil

import pytest

from katachi.papers.documents import format_section
from katachi.papers.experiment import Budget, Progress, Scope, Workers
from katachi.papers.silver2007 import figures as figure5
from katachi.papers.silver2007.figures import BRIDGE, CONTESTANTS, GROUPS, Contestant, Figure5
from katachi.players.specs import find_spec

TABLE = Figure5()


@pytest.fixture
def simple_players(monkeypatch):
    """Random players in the place of those that take long; no GNU Go."""
    for name in ("Linear-B", "Linear-L", "Linear-S", *BRIDGE):
        monkeypatch.setitem(CONTESTANTS, name, Contestant("random", CONTESTANTS[name].published))
    monkeypatch.setattr(shutil, "which", lambda program, path: None)
    monkeypatch.setattr(figure5, "SIZE", 3)


def scope(folder, watch=lambda progress: None) -> Scope:
    return Scope(folder, Budget.SMOKE, watch, None, Workers())


def test_all_play_and_are_rated_on_one_scale(tmp_path, simple_players):
    seen: list[Progress] = []
    results = TABLE.measure(scope(tmp_path, seen.append))
    assert results["games"] == len(seen) == 2 * (10 + 7 + 1)  # a round robin of five, a ladder of five, alpha-beta
    assert results["ratings"]["ALP"] == [850, 850, 850]
    by_id = {row.id: row for row in TABLE.rows(results)}
    assert by_id["figure5/Linear-B"].published == 1070
    assert set(BRIDGE) < set(results["ratings"])
    assert by_id["figure5/GNU-Go-level-0"].ours is None
    met = {(pair["first"], pair["second"]): pair for pair in results["pairs"]}
    assert ("Linear-B", "Linear-S") in met
    assert ("random", "Linear-S") not in met
    assert all(pair["games"] == 2 for pair in met.values())


def test_finished_games_are_not_played_again(tmp_path, simple_players):
    first = TABLE.measure(scope(tmp_path))
    seen: list[Progress] = []
    assert TABLE.measure(scope(tmp_path, seen.append)) == first
    assert {progress.games_now for progress in seen} == {0}


def test_the_text_comes_from_the_results(tmp_path):
    pair = {"first": "Linear-B", "second": "ALP", "games": 50, "wins": 44, "draws": 2}
    ratings = {"GNU Go level 0": [None, 1300, None], "Linear-B": [1111, 1000, 1222], "ALP": [850, 850, 850]}
    results = {"games": 1234, "ratings": ratings, "pairs": [pair]}
    text = format_section(TABLE, results, tmp_path)
    assert "1,234 games" in text
    assert "| Linear-B | 1,070 | 1,111 (1,000 … 1,222) |" in text
    assert "| GNU Go level 0 | – | ≥ 1,300 |" in text
    assert "| Linear-B – ALP | 50 | 90.0 | 79 … 96 |" in text


def test_players_between_the_ends_of_the_scale_meet_their_neighbors():
    group = GROUPS["bridge"]
    assert (group.players[0], group.players[-1], group.scheme) == ("ALP", "Linear-B", "ladder")
    assert group.games[Budget.FULL] == 200
    shares = [find_spec(CONTESTANTS[name].spec).search.epsilon for name in group.players[1:-1]]
    assert shares == [0.3, 0.2, 0.1]


def test_every_group_names_players_that_there_are():
    for group in GROUPS.values():
        assert set(group.players) <= set(CONTESTANTS)
        assert set(group.games) == set(Budget)
        assert all(games % 2 == 0 for games in group.games.values())  # both colors
