from __future__ import annotations

from katachi.bench import web


def test_many_people_play_and_begin_again_on_a_full_board(monkeypatch):
    monkeypatch.setattr(web, "SIZE", 3)
    report = web.run(0.01, 12, people=2)
    assert {row.name: row.rate for row in report.rows if not row.unit} == {"people": 2, "stones": 24, "errors": 0}


def test_reviews_are_made_meanwhile_and_tables_are_left(monkeypatch):
    for name, value in (("SIZE", 3), ("MOVES", 4), ("_STRONG", "level-10")):
        monkeypatch.setattr(web, name, value)
    report = web.run(0.01, 2, people=1, reviews=1, abandoned=2)
    rates = {row.name: row.rate for row in report.rows}
    assert (rates["stones"], rates["errors"]) == (2, 0)
    assert 0 < rates["review 1, graph"] <= rates["review 1, all"]
    assert rates["memory, server"] > 0
    assert "delay of an answer by 2 tables that were left" in rates
