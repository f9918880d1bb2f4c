from __future__ import annotations

from katachi.papers.documents import format_section
from katachi.papers.experiment import Budget, Scope, Workers
from katachi.papers.silver2007 import extras as cascade
from katachi.papers.silver2007.figure4 import Protocol


def test_both_ways_learn_from_the_same_seeds(tmp_path, monkeypatch):
    plan = Protocol(games=40, test_every=20, test_games=4, final_games=4)
    monkeypatch.setitem(cascade.PROTOCOLS, Budget.SMOKE, plan)
    seen = []
    scope = Scope(tmp_path, Budget.SMOKE, seen.append, 1, Workers())
    results = cascade.Cascade().measure(scope)
    assert seen[-1].runs == seen[-1].all_runs == 2
    assert set(results["cascade"]) == {"off", "on"}
    runs = [cascade._cascade_run(way, 0, plan).arguments for way in ("off", "on")]
    assert runs[0] | {"cascade": True} == runs[1]
    rows = list(cascade.Cascade().rows(results))
    assert {row.id for row in rows} >= {"cascade/off/final", "cascade/on/final"}
    text = format_section(cascade.Cascade(), results, tmp_path)
    assert f"| on | {results['cascade']['on']['final'][0]:.1f} |" in text
