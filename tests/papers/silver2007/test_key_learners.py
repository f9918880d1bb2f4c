"""Figure 4's key learners, learning after each move and after each game."""

from __future__ import annotations

import pytest

from katachi.papers.experiment import Budget, ExperimentError, Scope, Workers
from katachi.papers.silver2007.extras import KeyLearners, _difference

TABLE = KeyLearners()


def scope(tmp_path, *models: str) -> Scope:
    return Scope(tmp_path, Budget.SMOKE, lambda progress: None, None, Workers(), models=models)


def test_both_ways_start_alike_and_are_compared(tmp_path):
    results = TABLE.measure(scope(tmp_path, "LI 2x2 alone"))
    (modes,) = results["learners"].values()
    assert list(modes) == ["online", "fast"]
    assert all(len(found["final"]) == results["runs"] == 2 for found in modes.values())
    rows = {row.id: row for row in TABLE.rows(results)}
    assert rows["key-learners/LI-2x2-alone/fast/final"].published == "over 80"
    assert rows["key-learners/LI-2x2-alone/online/final"].n == 2
    text = TABLE.section(results)
    assert "| LI 2×2 alone | after each move |" in text
    assert "| LI 2×2 alone | the second less the first |" in text
    kept = {path.stem.replace("-", " ") for path in tmp_path.rglob("*.json")}
    assert kept == {f"LI 2x2 alone {mode} 0{number}" for mode in ("online", "fast") for number in (0, 1)}


def test_a_difference_has_an_interval_from_three_runs_on():
    assert _difference([1.0, 2.0], [1.0, 1.0]) == "+0.5"
    assert _difference([3.0, 4.0, 5.0], [1.0, 2.0, 3.0]) == "+2.0 ± 1.6"


def test_learners_have_names(tmp_path):
    with pytest.raises(ExperimentError, match="there is no learner LI 9x9"):
        TABLE.measure(scope(tmp_path, "LI 9x9"))
