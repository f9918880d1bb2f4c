from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from copy import deepcopy
from unittest.mock import MagicMock

import numpy as np
import pytest

from katachi.papers.documents import format_section
from katachi.papers.experiment import Budget, Scope, Workers
from katachi.papers.silver2007 import figure4
from katachi.papers.silver2007.figure4 import ALL_SETS, CUMULATIVE, LEARNERS, Figure4, Protocol, learning_time, sum_up

TABLE = Figure4()

PLAN = Protocol(games=2000, test_every=500, test_games=10, final_games=20)


def test_the_36_experiments():
    assert len({learner.name for learner in LEARNERS}) == 36
    assert Counter(learner.run(0, PLAN).arguments["mode"] for learner in LEARNERS) == {"fast": 20, "online": 16}
    together = [learner for learner in LEARNERS if learner.how == CUMULATIVE]
    # Spec of the partial order: the r-th size of LI has r sets, that of LD twice as many.
    assert [len(learner.sets) for learner in together] == [*range(1, 10), *range(2, 19, 2)]
    assert set(together[-1].sets) == set(ALL_SETS)


def test_the_first_runs_of_all_come_first():
    runs = list(figure4._runs(2, PLAN))
    assert len({run.name for run in runs}) == len(runs) == 72
    assert len({run.arguments["seed"] for run in runs}) == 72
    assert all(run.name.endswith("00") for run in runs[:36])
    assert runs[2].arguments["sets"] == ["LI 2x2"]
    assert figure4.PROTOCOLS[Budget.FULL] == Protocol(100_000, 500, 100, 1_000)


def test_measure_sums_up_each_experiment_apart(tmp_path, monkeypatch):
    results = {"LI 1x1": 1, "LD 2x2": 3}
    some = tuple(e for e in LEARNERS if e.name in {f"{name} alone" for name in results})
    monkeypatch.setattr(figure4, "LEARNERS", some)
    monkeypatch.setattr(figure4, "learn", lambda sets, seed, **_: result(results[sets[0]]))
    monkeypatch.setitem(figure4.PROTOCOLS, Budget.SMOKE, PLAN)
    scope = Scope(tmp_path, Budget.SMOKE, lambda progress: None, 3, Workers())
    found = TABLE.measure(scope)
    assert found["runs"] == 3
    assert found["experiments"]["LI 1x1 alone"]["final"] == [10.0] * 3
    assert found["experiments"]["LD 2x2 alone"]["final"] == [30.0] * 3


def result(wins: float) -> dict:
    """A run in which each agent wins so many of ten test games, always."""
    return {"curve": [[wins, wins]] * 4, "final": [[wins, wins]] * 2, "averaged": [[2 * wins, 0]] * 2}


def test_sum_up():
    found = sum_up([result(6), result(2)], PLAN)
    assert found["final"] == [60.0, 20.0]
    assert found["averaged"] == [60.0, 20.0]
    assert found["as Black"] == [60.0, 20.0]
    assert found["early"] == [60.0, 20.0]
    assert found["learned after"] == [500, None]
    assert found["curve"] == [40.0] * 4


@pytest.fixture(scope="module")
def results() -> dict:
    """Results of all learners: rates and times that depend on the learner's number."""
    learners = {}
    for number, learner in enumerate(LEARNERS):
        curve = [[0, 0]] * (number % 4) + [[6, 6]] * (4 - number % 4)
        runs = [{"curve": curve, "final": [[number % 10, 3]] * 2, "averaged": [[5, 6]] * 2} for _ in range(3)]
        learners[learner.name] = sum_up(runs, PLAN)
    return {"protocol": PLAN.arguments, "runs": 3, "experiments": learners}


def test_rows_compare_what_the_paper_says(results):
    by_id = {row.id: row for row in TABLE.rows(results)}
    assert len(by_id) == len(list(TABLE.rows(results)))
    assert by_id["figure4/LI-2x2-alone/early"].published == 25
    assert by_id["figure4/LI-2x2-alone/statement"].ours == by_id["figure4/LI-2x2-alone/final"].ours == 25.0
    assert by_id["figure4/best-alone"].ours == "LD 1×1"
    assert by_id["figure4/LI-faster"].ours == "4 of 5"  # 500, 1000, 1500, 2000, 500 against 1000, 1500, 2000, 500, 1000
    assert by_id["figure4/LI-1x1-alone/learned"].ours == 500


def test_runs_that_never_learn_count_as_all_their_games(results):
    changed = deepcopy(results)
    changed["experiments"]["LI 1x1 alone"]["learned after"] = [500, None, 500]
    assert learning_time(changed, LEARNERS[0]).mean == pytest.approx(1000)
    row = next(row for row in TABLE.rows(changed) if row.id == "figure4/LI-1x1-alone/learned")
    assert row.ours == 1000
    assert row.what.endswith("in 2 of 3 runs")
    changed["experiments"]["LI 1x1 alone"]["learned after"] = [None] * 3
    assert next(row for row in TABLE.rows(changed) if row.id == "figure4/LI-1x1-alone/learned").ours is None


@contextmanager
def no_plot(path, columns=1, height=1.0):
    """Axes that draw nothing."""
    yield [MagicMock() for _ in range(columns)]


def test_the_text_comes_from_the_results(results, tmp_path, monkeypatch):
    monkeypatch.setattr(figure4, "plot", no_plot)
    text = format_section(TABLE, results, tmp_path)
    assert "from 2,000 games" in text
    assert "| LD 1×1 alone | 60.0 ± 0.0 | 55.0 ± 0.0 | 60 | 90 | 30 | 3 of 3 | 1,000 | – |" in text
    changed = deepcopy(results)
    changed["experiments"]["LD 1x1 alone"]["final"] = [10.0, 20.0, 30.0]
    assert "| LD 1×1 alone | 20.0 ± " in format_section(TABLE, changed, tmp_path)


def test_all_pictures_of_the_text_are_drawn(results, tmp_path):
    text = format_section(TABLE, results, tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["figure4-cumulative.svg", "figure4-curves.svg", "figure4-sets.svg", "figure4.svg"]
    for name in names:
        assert f"(silver2007/{name})" in text
        assert b"<svg" in (tmp_path / name).read_bytes()


def test_a_line_is_recognized():
    learners = {}
    for learner in LEARNERS:
        summary = sum_up([result(6)], PLAN)
        summary["learned after"] = [100 * len(learner.sets)]
        learners[learner.name] = summary
    found = list(TABLE.rows({"protocol": PLAN.arguments, "runs": 1, "experiments": learners}))
    assert np.isclose(next(row.ours for row in found if row.id == "figure4/linear"), 1.0)
