from __future__ import annotations

import json

from katachi import bench
from katachi.bench import Row
from katachi.bench import networks as territory


def test_territory(run_katachi, monkeypatch):
    monkeypatch.setattr(territory, "SIZES", (9,))
    monkeypatch.setattr(territory, "_TERRITORY_BATCH", {9: 2})
    ran = run_katachi("bench", "territory", "--seconds", "0.001", "--rounds", "1", "--json")
    assert ran.code == 0, ran.err
    rows = json.loads(ran.out)["rows"]
    works = [f"{who} {what}" for who in ("katachi", "katachi-strong", "torch") for what in ("learning", "evaluating")]
    assert [row["name"] for row in rows] == ["inputs", *works]
    assert all(row["rate"] > 0 and row["threads"] == 1 for row in rows)


def test_the_target_is_the_ratio_to_torch():
    rates = {"katachi learning": 3.0, "torch learning": 2.0, "katachi evaluating": 9.0}
    (target,) = territory._territory_targets([Row(name, 9, 1, "positions/s", rate) for name, rate in rates.items()])
    assert (target.ratio, target.at_least) == (1.5, 1.4)


def test_without_its_source_torch_is_left_out(monkeypatch):
    monkeypatch.setattr(bench, "find_source", lambda _: None)
    monkeypatch.setattr(territory, "SIZES", ())
    assert territory.run_territory().notes == ["torch is left out: its source is in the repository alone"]
