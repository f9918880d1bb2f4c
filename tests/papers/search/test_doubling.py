from __future__ import annotations

import pytest

from katachi.core.disk import format_toml
from katachi.papers.documents import format_section
from katachi.papers.experiment import Budget, ExperimentError
from katachi.papers.search import strength as doubling
from katachi.papers.search.strength import DOUBLING_GAMES as GAMES
from katachi.papers.search.strength import POINTS, TARGETS, Doubling
from katachi.players.specs import parse_spec

TABLE = Doubling()


@pytest.fixture
def tiny(monkeypatch, random_gnugo):
    monkeypatch.setattr(doubling, "SIZE", 3)
    monkeypatch.setattr(doubling, "DOUBLING_GAMES", {Budget.SMOKE: {2: 2, 4: 4}})


def test_all_points_play_from_the_empty_board_with_both_colors(make_scope, tiny):
    results = TABLE.measure(make_scope())
    assert results["games"] == 6
    assert [(pair["first"], pair["second"], pair["games"]) for pair in results["pairs"]] == [
        ("2 simulations", "GNU Go level 10", 2),
        ("4 simulations", "GNU Go level 10", 4),
    ]
    assert results["ratings"]["GNU Go level 10"] == [0, 0, 0]
    folders = sorted(path.name[:8] for path in make_scope().folder.iterdir() if path.name != "players")
    assert folders == ["round-01", "round-02"]  # the second without the point that has played its games
    assert 'player = "2 simulations"' not in (make_scope().folder / "players" / "2-simulations.toml").read_text()


def test_it_goes_on_where_it_was(make_scope, tiny):
    first = TABLE.measure(make_scope())
    seen = []
    assert TABLE.measure(make_scope(watch=seen.append)) == first
    assert {progress.games_now for progress in seen} == {0}


def test_rows_and_text_come_from_the_results(tmp_path):
    won = {"first": "10000 simulations", "second": "GNU Go level 10", "games": 200, "wins": 170, "draws": 0}
    lost = {"first": "500 simulations", "second": "GNU Go level 10", "games": 100, "wins": 40, "draws": 0}
    results = {
        "games": 300,
        "distinct": 299,
        "pairs": [lost, won],
        "ratings": {"10000 simulations": [301, 240, 375], "500 simulations": [-70, -140, -3]},
        "seconds": {"10000 simulations": 0.4321, "500 simulations": 0.02},
    }
    by_id = {row.id: row for row in TABLE.rows(results)}
    assert (by_id["doubling/10000/won"].published, by_id["doubling/10000/won"].ours) == ("≥ 80", 85.0)
    assert by_id["doubling/10000/won"].interval == pytest.approx((79.4, 89.3), abs=0.1)
    assert by_id["doubling/500/won"].published is None
    assert by_id["doubling/500/elo"].interval == (-140, -3)
    text = format_section(TABLE, results, tmp_path)
    assert "300 games on 9×9 from the empty board" in text
    assert "| 10,000 | 200 | 85 (79.4 … 89.3) | 301 (240 … 375) | 0.43 |" in text
    assert b"simulations per move" in (tmp_path / "doubling.svg").read_bytes()


def test_without_gnugo_there_is_one_clear_sentence(make_scope, no_gnugo):
    with pytest.raises(ExperimentError, match="against GNU Go, and it is not here"):
        TABLE.measure(make_scope())


def test_every_point_is_a_player_and_the_bar_is_well_measured():
    for simulations in POINTS:
        spec = parse_spec(format_toml(doubling.player(simulations)))
        assert spec.limit.simulations == simulations
        assert spec.search.threads == 1
    assert set(GAMES[Budget.FULL]) == set(GAMES[Budget.HOUR]) == set(POINTS)
    assert all(GAMES[Budget.FULL][point] >= 200 for point in TARGETS)
    assert all(games % 2 == 0 for plan in GAMES.values() for games in plan.values())
