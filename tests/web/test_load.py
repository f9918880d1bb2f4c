from __future__ import annotations

from katachi.bench import web


def test_many_people_play_and_begin_again_on_a_full_board(monkeypatch):
    monkeypatch.setattr(web, "SIZE", 3)
    report = web.run(0.01, 12, people=2)
    assert {row.name: row.rate for row in report.rows if not row.unit} == {"people": 2, "stones": 24, "errors": 0}
