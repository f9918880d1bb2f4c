from __future__ import annotations

import json

import numpy as np
import pytest

from helpers.small_sets import label_small_set, make_small_set
from katachi.data.dataset import RESULTS, Dataset
from katachi.go.points import Reason
from katachi.papers.documents import format_section
from katachi.papers.experiment import ExperimentError
from katachi.papers.search import parts as playouts
from katachi.papers.search.parts import PlayoutMatches, PlayoutQuality, brier, log_loss, policies
from katachi.search.playouts import UNIFORM
from katachi.search.settings import PlayoutSettings
from katachi.sgf.files import Split

TABLE = PlayoutQuality()


@pytest.fixture
def games(tmp_path):
    return make_small_set(tmp_path, validation=40)


def test_every_policy_plays_from_the_same_late_positions_of_counted_validation_games(make_scope, games, tmp_path):
    label_small_set(games)
    results = TABLE.measure(make_scope(data=games, runs=4))
    assert set(results["policies"]) == set(policies()) >= {"default", "uniform", "+ guards", "all"}
    assert (results["positions"], results["labeled"]) == (4, 4)
    dataset = Dataset.open(games)
    (kept,) = (tmp_path / "run").glob("*-000.json")
    run = json.loads(kept.read_text())
    for found in run["result"].values():
        assert len(found["wins"]) == len(found["owners"]) == 4
        assert all(0 <= share <= 1 for share in found["wins"])
        assert all(0 <= right <= 100 for right in found["owners"])
    for game, ply in run["arguments"]["chosen"]:
        row = dataset.games[game]
        assert game in dataset.select(split=Split.VALIDATION)
        assert RESULTS[row["result"]] is Reason.SCORE
        assert 2 * int(row["moves"]) // 3 <= ply < row["moves"]
    rows = {row.id: row.ours for row in TABLE.rows(results)}
    assert rows["playouts/default/Brier-score,-×1000,-less-the-default's"] == 0
    assert rows["playouts/default/playouts/s,-%-of-the-default's"] == 100
    assert "| + two_liberties |" in format_section(TABLE, results, tmp_path)


def test_without_labels_there_is_no_accuracy_of_owners(make_scope, games, tmp_path):
    results = TABLE.measure(make_scope(data=games, runs=2))
    assert {row.ours for row in TABLE.rows(results) if "ownership" in row.id} == {None}
    assert "Owners are known of 0 games" in " ".join(format_section(TABLE, results, tmp_path).split())


def test_a_set_must_be_given_and_have_counted_games(make_scope, tmp_path):
    with pytest.raises(ExperimentError, match="give --data SET"):
        TABLE.measure(make_scope())


def test_parts_are_turned_and_scores_are_what_their_names_say():
    assert policies()["+ guards"] == PlayoutSettings(guards=True)
    assert policies()["uniform"] == UNIFORM
    wins, won = np.array([0.75, 1.0]), np.array([True, False])
    np.testing.assert_allclose(brier(wins, won), [0.0625, 1.0])
    np.testing.assert_allclose(log_loss(wins, won), -np.log([151 / 202, 1 / 202]))


def test_the_search_plays_itself_with_each_part(make_scope, monkeypatch, tmp_path):
    monkeypatch.setattr(playouts, "SIZE", 5)
    matches = PlayoutMatches()
    results = matches.measure(make_scope())
    assert {(pair["first"], pair["second"], pair["games"]) for pair in results["pairs"]} == {
        ("guards", "default", 2),
        ("two_liberties", "default", 2),
        ("large_patterns", "default", 2),
        ("criticality-4", "default", 2),
        ("criticality-16", "default", 2),
    }
    assert all(0 <= row.ours <= 100 for row in matches.rows(results))
    text = format_section(matches, results, tmp_path)
    assert "| + guards | 2 |" in text
    assert "| + criticality-16 | 2 |" in text
