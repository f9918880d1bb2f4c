"""What parts of a search with a network are worth, and the curve of expert iteration."""

from __future__ import annotations

import json

import pytest

from katachi.core.disk import format_toml
from katachi.papers.documents import format_section
from katachi.papers.experiment import ExperimentError
from katachi.papers.search import learned
from katachi.papers.search.learned import Generations, NetworkParts, part_players, promise_of_doubling
from katachi.players.specs import parse_spec

TABLE = Generations()
LINE = {"best": 0, "score": 0.6, "match_games": 40, "wrong_to_resign": 1, "checked_to_resign": 9, "positions": 10}
LINES = [
    {**LINE, "generation": 1, "games": 100, "is_better": True, "seconds": 3600.0},
    {**LINE, "generation": 2, "games": 200, "is_better": False, "seconds": 7200.0},
    {**LINE, "generation": 3, "games": 300, "is_better": True, "seconds": 10800.0},
]


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "expert"
    folder.mkdir()
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    (folder / "config.toml").write_text(format_toml({"size": 3, "first_rank": "1d"}))
    return folder


def test_the_networks_that_were_better_play_each_other(run, make_scope, monkeypatch):
    monkeypatch.setattr(Generations, "_player", lambda *_: {"kind": "random"})
    results = TABLE.measure(make_scope(models=(str(run),)))
    assert sorted(results["ratings"]) == ["generation 0", "generation 1", "generation 3"]
    assert results["ratings"]["generation 0"] == [0, 0, 0]
    assert results["hours"]["generation 3"] == 3.0


def test_players_are_the_networks_of_the_run(run):
    first, third = (TABLE._player(run, number, {"first_rank": "1d"}) for number in (0, 3))
    assert first["evaluator"] == {"model": str(run / "generation-000/model"), "rank": "1d"}
    assert third["evaluator"] == {"model": str(run / "generation-003/learning/model")}
    assert third["search"] == {"kind": "policy"}


def test_the_text_comes_from_the_results(tmp_path):
    ratings = {"generation 3": [90, 60, 120], "generation 1": [40, 10, 70], "generation 0": [0, 0, 0]}
    hours = {"generation 0": 0.0, "generation 1": 1.0, "generation 3": 3.0}
    results = {"ratings": ratings, "hours": hours, "lines": LINES, "games": 12, "distinct": 11, "size": 9, "pairs": []}
    text = format_section(TABLE, results, tmp_path)
    assert "| generation 3 | 3.00 | 90 (60 … 120) | 60 of 40 |" in text
    assert "Of 27 games that one side would have given up" in " ".join(text.split())
    assert "3 generations, 300 games" in " ".join(text.split())
    assert (tmp_path / "generations.svg").exists()


def test_a_run_must_be_given(make_scope, tmp_path):
    with pytest.raises(ExperimentError, match="give it by --model"):
        TABLE.measure(make_scope())
    with pytest.raises(ExperimentError, match="not a run of katachi train expert"):
        TABLE.measure(make_scope(models=(str(tmp_path),)))


def test_a_model_remembers_the_matches_of_all_runs(make_scope, monkeypatch, tmp_path):
    run = {"match_games": 50, "score": 0.6, "wrong_to_resign": 0, "checked_to_resign": 1}
    lines = [
        {"positions": 10, "seconds": 3600.0},
        {
            "generation": 1,
            "games": 5,
            "seconds": 7200.0,
            "elo": 40.0,
            "elo_low": 0.0,
            "elo_high": 80.0,
            "is_better": True,
        },
        {
            "generation": 2,
            "games": 9,
            "seconds": 7900.0,
            "elo": 30.0,
            "elo_low": 0.0,
            "elo_high": 70.0,
            "is_better": False,
        },
        {
            "generation": 1,
            "games": 5,
            "seconds": 9000.0,
            "elo": 10.0,
            "elo_low": -9.0,
            "elo_high": 30.0,
            "is_better": True,
        },
    ]
    folder = tmp_path / "expert-3"
    folder.mkdir()
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line | run) + "\n" for line in lines))
    (folder / "model.json").write_text('{"config": {"size": 3}}')
    monkeypatch.setattr(learned, "find_model", lambda name: tmp_path / name)
    results = TABLE.measure(make_scope(models=("expert-3",)))
    assert results["ratings"] == {
        "generation 0": [0.0, 0.0, 0.0],
        "generation 1": [40.0, 0.0, 80.0],
        "generation 3": [50.0, 31.0, 70.0],
    }
    assert results["hours"]["generation 3"] == pytest.approx(1.5)
    assert [line["games"] for line in results["lines"]] == [5, 9, 14]
    text = format_section(TABLE, results, tmp_path)
    assert "3 generations, 14 games and 1.5 hours in all." in " ".join(text.split())
    assert "| generation 3 | 1.50 | 50 (31 … 70) | 60 of 50 |" in text


def test_what_doubling_promises():
    hours = [0, 0.5, 1, 2, 4, 8, 16]
    assert promise_of_doubling(hours, [0, 90, 80, 50, 100, 150, 200]) == pytest.approx(50)
    assert promise_of_doubling([0, 1], [0, 1]) is None


def test_players_differ_by_their_parts():
    players = part_players("25 simulations")
    assert len(players) == len(learned.PARTS) + 1
    for values in players.values():
        spec = parse_spec(format_toml(values))
        assert spec.limit.simulations == 25
        assert getattr(spec.search, "threads", 1) == 1
    full = players["strong-9, 25 simulations"]
    assert full["evaluator"]["model"] == "expert-9"
    assert "evaluator" not in players["without the network: patterns and playouts, 25 simulations"]
    assert players["with RAVE, 25 simulations"]["search"] == {**full["search"], "rave": 200.0}


def test_parts_are_measured_and_reported(make_scope, monkeypatch, tmp_path):
    monkeypatch.setattr(learned, "PARTS", {"with RAVE": {}, "without the score": {}})
    monkeypatch.setattr(learned, "SIZE", 3)
    names = ("strong-9", "with RAVE", "without the score")
    monkeypatch.setattr(
        learned, "part_players", lambda limit: {f"{name}, {limit}": {"kind": "random"} for name in names}
    )
    table = NetworkParts()
    results = table.measure(make_scope(runs=4))
    assert results["games"] == 8
    assert {row.id for row in table.rows(results)} == {"network/0/0", "network/1/0"}
    text = format_section(table, results, tmp_path)
    assert "| changed | 25 simulations |" in text
    assert " of 4 |" in text
