from __future__ import annotations

import json
import sys

from katachi.papers.experiment import load_experiment


def test_json_is_all_that_is_printed(run_katachi, tmp_path):
    ran = run_katachi("reproduce", "silver2007", "--table", "figure3", "--run", str(tmp_path), "--json")
    assert ran.code == 0
    printed = json.loads(ran.out)
    assert list(printed) == ["paper", "rows"]
    assert printed["paper"] == "silver2007"
    assert {tuple(row) for row in printed["rows"]} == {("id", "what", "published", "ours", "interval", "run")}
    assert f"results are kept in {tmp_path}" in ran.err


def test_table(run_katachi, tmp_path):
    ran = run_katachi("reproduce", "silver2007", "--table", "figure3", "--run", str(tmp_path))
    assert any("LD 3×3: weights N" in line and line.count("78,732") == 2 for line in ran.out.splitlines())


def test_the_document_is_written_from_what_was_measured(run_katachi, tmp_path):
    run_katachi("reproduce", "silver2007", "--table", "figure3", "--run", str(tmp_path / "run"))
    ran = run_katachi("reproduce", "silver2007", "--run", str(tmp_path / "run"), "--write-docs", str(tmp_path / "docs"))
    assert (ran.code, ran.out) == (0, "")
    text = (tmp_path / "docs" / "silver2007.md").read_text(encoding="utf-8")
    assert load_experiment("silver2007").title in text
    assert "| LD 3×3 | 9 | 78,732 | 23,274 | 123,147 | 61,630 |" in text


def test_bad_input_gets_one_sentence(run_katachi, tmp_path, monkeypatch):
    where = ("--run", str(tmp_path))
    monkeypatch.setitem(sys.modules, "ray", None)
    for arguments, sentence in [
        (("silver2006",), "there is no experiment silver2006"),
        (("silver2007", "--table", "figure7"), "silver2007 has no table figure7"),
        (("silver2007", "--table", "cascade", "--backend", "ray"), "the backend ray needs Ray: pip install ray"),
        (("silver2007", "--write-cards", str(tmp_path)), "silver2007 rates no players"),
        (("search", "--write-cards", str(tmp_path)), "the table ladder has not been measured"),
        (("maddison2014", "--table", "table1"), "this table learns from games: give --data SET"),
        (("maddison2014", "--table", "table1", "--data", str(tmp_path / "none")), "none does not exist"),
        (("maddison2014", "--table", "sets"), "this table asks about test games: give --data SET"),
        (("maddison2014", "--table", "outcomes"), "this table asks about labeled test games: give --data SET"),
        (("silver2007", "--write-docs", str(tmp_path / "docs")), "there are no results of silver2007"),
    ]:
        ran = run_katachi("reproduce", *arguments, *where)
        assert ran.code == 2
        assert ran.out == ""
        assert sentence in ran.err.splitlines()[-1]
