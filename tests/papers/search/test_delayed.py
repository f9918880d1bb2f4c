from __future__ import annotations

import numpy as np
import pytest

from katachi.core.conformance import check_evaluator
from katachi.go.board import Board
from katachi.papers.documents import format_section
from katachi.papers.experiment import Budget
from katachi.papers.search import parts as delayed
from katachi.papers.search.parts import LatePriors, SlowEvaluator, ratio

TABLE = LatePriors()


def test_every_kind_of_search_is_measured_and_nothing_dropped(make_scope, monkeypatch, tmp_path):
    monkeypatch.setattr(delayed, "SIZE", 5)
    monkeypatch.setattr(delayed, "_SECONDS", {Budget.SMOKE: 0.02})
    monkeypatch.setattr(delayed, "DELAYS", (0, 5))
    results = TABLE.measure(make_scope())
    assert set(results["kinds"]) == {f"{threads}/{delay}" for threads in (1, 2) for delay in (-1, 0, 5)}
    assert all(len(found["rate"]) == 2 and min(found["rate"]) > 0 for found in results["kinds"].values())
    found = list(TABLE.rows(results))
    assert [row.ours for row in found if row.id.endswith("dropped")] == [0] * 4
    assert all(sum(results["kinds"][kind]["sent"]) > 0 for kind in ("1/0", "2/5"))
    assert results["kinds"]["1/-1"]["sent"] == [0, 0]
    assert "no evaluator" in format_section(TABLE, results, tmp_path)


def test_ratios_are_taken_within_a_round():
    kinds = {"1/-1": {"rate": [100.0, 1000.0, 500.0]}, "1/0": {"rate": [95.0, 950.0, 100.0]}}
    found = ratio({"kinds": kinds}, 1, 0)
    assert found.mean == pytest.approx(95)
    assert found.interval == pytest.approx((20, 95))


def test_the_slow_evaluator_keeps_the_contract():
    check_evaluator(SlowEvaluator(0.0))
    policy = SlowEvaluator(0.0).evaluate([Board(3)]).policy
    np.testing.assert_allclose(policy, 0.1)
