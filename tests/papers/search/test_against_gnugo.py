from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest

from katachi.core.contracts import Limit
from katachi.papers.documents import format_section
from katachi.papers.experiment import Budget, ExperimentError
from katachi.papers.search import strength as against_gnugo
from katachi.papers.search.strength import (
    MATCHES,
    MATCHES_ALONE,
    MATCHES_FORMER,
    AgainstFormer,
    AgainstGnugo,
    AgainstNetwork,
)
from katachi.players.specs import load_player

TABLE = AgainstGnugo()


@pytest.fixture
def tiny(monkeypatch, random_gnugo):
    """All matches on 3×3, a few games each, with a player that needs no time."""
    monkeypatch.setattr(
        against_gnugo, "player_values", lambda name, size: {"kind": "search", "search": {"kind": "mcts"}}
    )
    monkeypatch.setattr(against_gnugo, "_SMOKE_LIMIT", Limit(seconds=0.001))
    games = {Budget.SMOKE: 2}
    monkeypatch.setattr(against_gnugo, "MATCHES", [replace(match, size=3, games=games) for match in MATCHES])


def test_all_matches_are_played_side_by_side(make_scope, tiny):
    seen = []
    results = TABLE.measure(make_scope(watch=seen.append, runs=4))
    assert {name: found["games"] for name, found in results["matches"].items()} == {
        "strong-9-level-10": 4,
        "strong-9-1s-level-10": 4,
        "strong-9-1000-level-10": 4,
        "expert-9-level-10": 4,
        "strong-19-2000-level-0": 4,
        "strong-19-2000-level-10": 4,
        "strong-19-level-0": 4,
        "strong-19-level-10": 4,
    }
    folders = [path for path in make_scope().folder.iterdir() if path.name not in ("players", "scores")]
    assert len(folders) == 16  # rounds of two games
    assert len(seen) == 32
    assert "seconds = 0.001" in (make_scope().folder / "players" / "strong-9-level-10.toml").read_text()


def test_a_match_held_to_simulations_has_one_thread(make_scope, tiny, monkeypatch):
    monkeypatch.setattr(against_gnugo, "_SMOKE_LIMIT", Limit(simulations=10))
    TABLE.measure(make_scope(runs=2))
    player = (make_scope().folder / "players" / "strong-19-2000-level-0.toml").read_text()
    assert "threads = 1" in player
    assert "simulations = 10" in player


def test_a_match_for_a_time_may_have_one_thread(make_scope, tiny):
    TABLE.measure(make_scope(runs=2))
    on_one, on_all = (
        (make_scope().folder / "players" / f"{name}.toml").read_text()
        for name in ("strong-9-1s-level-10", "strong-9-level-10")
    )
    assert "threads = 1" in on_one
    assert "threads" not in on_all


def test_some_matches_alone_can_be_played(make_scope, tiny):
    results = TABLE.measure(make_scope(runs=2, models=("expert-9", "strong-9-1s-level-10")))
    assert set(results["matches"]) == {"expert-9-level-10", "strong-9-1s-level-10"}
    results = TABLE.measure(make_scope(runs=2, models=("strong-19-level-0",)))
    assert set(results["matches"]) == {"expert-9-level-10", "strong-9-1s-level-10", "strong-19-level-0"}


def test_a_match_that_is_not_there(make_scope, tiny):
    with pytest.raises(ExperimentError, match="names no match of gnugo: strong-9-level-10, strong-9-1s-level-10"):
        TABLE.measure(make_scope(models=("strong-7",)))


def test_a_network_alone_is_the_same_player_without_search(make_scope, monkeypatch):
    match = replace(MATCHES_ALONE[0], size=9, limit=Limit(simulations=4))
    monkeypatch.setattr(against_gnugo, "MATCHES_ALONE", (match,))
    monkeypatch.setattr(against_gnugo, "_SMOKE_LIMIT", match.limit)
    results = AgainstNetwork().measure(make_scope(runs=2))
    assert results["matches"][match.name]["games"] == 2
    alone = tomllib.loads((make_scope().folder / "players" / "strong-9-alone.toml").read_text())
    ours = tomllib.loads((make_scope().folder / "players" / f"{match.name}.toml").read_text())
    assert alone["search"] == {"kind": "policy"}
    assert alone["evaluator"] == ours["evaluator"]


def test_former_players_are_given(make_scope, monkeypatch):
    match = replace(MATCHES_FORMER[0], size=9, games={Budget.SMOKE: 2})
    monkeypatch.setattr(against_gnugo, "MATCHES_FORMER", (match,))
    with pytest.raises(ExperimentError, match="give opponents by --model"):
        AgainstFormer().measure(make_scope())
    results = AgainstFormer().measure(make_scope(models=("strong-9=random",)))
    assert results["matches"][match.name]["pairs"][0]["wins"] == 2
    assert "another program" in format_section(AgainstFormer(), results, make_scope().folder)


def test_rows_and_text_come_from_the_results(tmp_path):
    pair = {"first": "strong-9-level-10", "second": "GNU Go level 10", "games": 200, "wins": 184, "draws": 0}
    ratings = {"strong-9-level-10": [424, 350, 520], "GNU Go level 10": [0, 0, 0]}
    found = {"games": 200, "distinct": 200, "pairs": [pair], "ratings": ratings, "seconds": {"strong-9-level-10": 1.5}}
    results = {"matches": {"strong-9-level-10": found, "strong-19-level-0": {"games": 0}}}
    best, *others = TABLE.rows(results)
    assert (best.published, best.ours) == ("≥ 90", 92.0)
    assert [(row.published, row.ours, row.interval) for row in others] == [
        ("≥ 97", None, None),
        ("≥ 85", None, None),
        ("≥ 60", None, None),
        ("> 50", None, None),
        (None, None, None),
        ("> 50", None, None),
        (None, None, None),
    ]
    text = format_section(TABLE, results, tmp_path)
    assert (
        "| strong-9 – GNU Go level 10 | 9×9 | 2 s, all cores | 1.50 | 200 | 200 | 92 (87.4 … 95) | 424 (350 … 520) |"
        in text
    )
    assert "strong-19" not in text


@pytest.mark.parametrize("name", sorted({match.player for match in MATCHES}))
def test_the_players_ship(name):
    assert load_player(name).name


def test_the_bars_are_well_measured():
    first, *others = MATCHES
    assert first.games[Budget.FULL] >= 200
    assert all(match.games[Budget.FULL] >= 20 for match in others)
    assert len({match.name for match in MATCHES}) == len(MATCHES)
