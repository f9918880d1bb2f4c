from __future__ import annotations

import shutil

import numpy as np
import pytest

from katachi import bench as twins
from katachi.bench import Row
from katachi.bench import shapes as td


@pytest.mark.usefixtures("compiler")
def test_the_twin_learns_the_same_weights(tmp_path):
    library = td.load_td_twin(tmp_path, [])
    assert library is not None
    for size in (3, 5, 9):
        td.check_same_weights(library, size, games=150)
    twin = td.Twin(library, 5)
    twin.train(40)
    learner = td.new_learner(5, seed=2)
    learner.train(40)
    assert not np.array_equal(twin.weights, learner.self_play.weights)


def test_other_weights_are_noticed(monkeypatch):
    class Cheat:
        def __init__(self, library: None, size: int) -> None:
            self.weights = np.zeros((1, td.new_learner(size).features.size))

        def train(self, games: int) -> None:
            pass

    monkeypatch.setattr(td, "Twin", Cheat)
    with pytest.raises(twins.BenchmarkError, match="5×5: katachi's weights sum to"):
        td.check_same_weights(None, 5, games=5)


def test_without_compiler_or_source(monkeypatch, tmp_path):
    notes: list[str] = []
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert td.load_td_twin(tmp_path, notes) is None
    monkeypatch.setattr(twins, "find_source", lambda _: None)
    assert td.load_td_twin(tmp_path, notes) is None
    assert notes == ["cpp is left out: there is no g++", "cpp is left out: its source is in the repository alone"]


def test_bars_compare_what_is_there():
    rows = [Row("katachi", size, 1, "", 100.0 * size) for size in (5, 9)]
    rows += [Row("katachi-online", 9, 1, "", 90.0), Row("cpp", 5, 1, "", 1000.0)]
    targets = [(bar.text, bar.size, bar.ratio, bar.at_least) for bar in td._td_targets(rows)]
    assert targets == [("katachi / cpp", 5, 0.5, 0.9), ("katachi / katachi-online", 9, 10.0, 5.0)]


def test_report():
    report = td.run_td(seconds=0.001, rounds=1)
    assert report.bench == "td"
    rows = {(row.name, row.size) for row in report.rows}
    assert {(name, size) for name in ("katachi", "katachi-online") for size in (5, 9)} <= rows
    assert all(row.rate > 0 and row.unit == "games/s" for row in report.rows)
