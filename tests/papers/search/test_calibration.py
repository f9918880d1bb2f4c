"""Whether win rates are what they say: by hand, and by players that are asked about small games."""

from __future__ import annotations

import json

import numpy as np
import pytest

from helpers.small_sets import make_small_set
from katachi.data.dataset import Dataset
from katachi.go.points import EMPTY, PASS
from katachi.papers.documents import format_section
from katachi.papers.experiment import Budget, ExperimentError, Workers
from katachi.papers.search.positions import Calibration, choose_games, default_players, draw_position, summarize
from katachi.papers.tournaments import open_games
from katachi.sgf.files import Split

TABLE = Calibration()


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    return make_small_set(tmp_path_factory.mktemp("games"), training=1, validation=1, test=90)


@pytest.fixture
def searcher(tmp_path):
    path = tmp_path / "searcher.toml"
    path.write_text('kind = "search"\n[search]\nkind = "mcts"\nthreads = 1\n[limit]\nsimulations = 20\n')
    return str(path)


def test_measures_by_hand():
    found = summarize(np.array([0.25, 0.25, 0.25, 0.95]), np.array([0.0, 0.0, 1.0, 1.0]))
    assert found["brier"][0] == pytest.approx((2 * 0.0625 + 0.5625 + 0.0025) / 4)
    assert found["log loss"][0] == pytest.approx(-(2 * np.log(0.75) + np.log(0.25) + np.log(0.95)) / 4)
    assert found["error"][0] == pytest.approx(100 * (3 / 4 * (1 / 3 - 0.25) + 1 / 4 * 0.05))
    assert found["bins"] == [[3, 0.25, 1], [1, 0.95, 1]]


def test_certainty_that_is_wrong_costs_much_but_not_everything():
    found = summarize(np.array([0.0, 1.0]), np.array([1.0, 1.0]))
    assert found["log loss"][0] == pytest.approx(-(np.log(0.001) + np.log(0.999)) / 2)
    assert [count for count, *_ in found["bins"]] == [1, 1], "1 is in the last bin"


@pytest.mark.parametrize(("sharpened", "calibrated"), [(1.0, True), (3.0, False)])
def test_a_calibrated_predictor_is_as_far_off_as_chance(sharpened, calibrated):
    rng = np.random.default_rng(1)
    truth = rng.random(4000)
    odds = (truth / (1 - truth)) ** sharpened
    found = summarize(odds / (1 + odds), (rng.random(4000) < truth).astype(float))
    assert (found["error"][0] < 2 * found["chance"]) == calibrated
    assert found["error"][1] <= found["error"][0] <= found["error"][2]


def test_positions_are_of_finished_even_test_games(games):
    opened = open_games(games, [Split.TEST])
    chosen = choose_games(opened, 1000)
    test = set(Dataset.open(games).select(split=Split.TEST).tolist())
    assert 1 < len(set(chosen)) == len(chosen)
    assert set(chosen) <= test
    assert choose_games(opened, 3) == chosen[:3], "more positions continue with those that there are"
    for number in chosen:
        row, position = opened.dataset.games[number], draw_position(opened.dataset, number)
        assert row["winner"] != EMPTY
        assert len(position.moves) < max(1, row["moves"])
        assert position.last_move != PASS
        plies = len(position.moves)
        assert np.array_equal(position.board.stones, opened.dataset.position(number, plies).stones)


def test_players_are_asked_and_resume(make_scope, games, searcher, tmp_path):
    scope = make_scope(data=games, models=(searcher,), runs=4)
    results = TABLE.measure(scope)
    assert results["players"]["searcher"]["positions"] == 4
    files = {path: path.stat().st_mtime_ns for path in scope.folder.glob("*.json")}
    assert TABLE.measure(make_scope(data=games, models=(searcher,), runs=4, workers=Workers(2))) == results
    assert {path: path.stat().st_mtime_ns for path in scope.folder.glob("*.json")} == files, "nothing is asked again"
    rows = list(TABLE.rows(json.loads(json.dumps(results))))
    assert [row.id.rpartition("/")[2] for row in rows] == ["brier", "log-loss", "error"]
    assert all(row.interval[0] <= row.ours <= row.interval[1] for row in rows)
    assert "4 finished even test games" in format_section(TABLE, results, tmp_path).replace("\n", " ")
    assert (tmp_path / "calibration.svg").read_text(encoding="utf-8").count("as it should be") == 1


def test_who_cannot_be_asked(make_scope, games):
    with pytest.raises(ExperimentError, match="give --data SET"):
        TABLE.measure(make_scope())
    with pytest.raises(ExperimentError, match="is on 5×5: name players for it"):
        TABLE.measure(make_scope(data=games))
    with pytest.raises(ExperimentError, match="random does not say who wins"):
        TABLE.measure(make_scope(data=games, models=("random",), runs=1))


def test_the_usual_players_are_held_to_simulations_on_one_thread():
    players = default_players(Budget.FULL)
    limits = [values["limit"] for values in players.values() if "limit" in values]
    assert limits == [{"simulations": 500}, {"simulations": 5000}] * 2
    assert [values["search"].get("threads") for values in players.values()] == [1, 1, 1, 1, None, None]
