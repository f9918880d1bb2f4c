from __future__ import annotations

import json
import sys
from dataclasses import replace

import pytest

from katachi.papers import experiment
from katachi.papers.experiment import load_experiment
from katachi.papers.silver2007.figures import Figure3, Figure6


def test_json_is_all_that_is_printed(run_katachi, tmp_path):
    ran = run_katachi("reproduce", "silver2007", "--table", "figure3", "--run", str(tmp_path), "--json")
    assert ran.code == 0
    printed = json.loads(ran.out)
    assert list(printed) == ["paper", "rows"]
    assert printed["paper"] == "silver2007"
    assert all(
        {"id", "what", "published", "ours", "interval", "run", "n", "verdict"} <= set(row) for row in printed["rows"]
    )
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
        ((), "name one of largman2010, maddison2014, search, silver2007, wu2006, or give --all"),
        (("silver2007", "--budget", "week"), "--budget week is a time for --all: give smoke, hour or full"),
        (("silver2007", "--table", "figure7"), "silver2007 has no table figure7"),
        (("silver2007", "--table", "cascade", "--backend", "ray"), "pip install 'katachi[ray]'"),
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


def test_status_says_what_was_reached_and_what_it_takes(run_katachi, tmp_path):
    run_katachi("reproduce", "silver2007", "--table", "figure3", "--run", str(tmp_path))
    ran = run_katachi("reproduce", "silver2007", "--status", "--run", str(tmp_path))
    assert ran.code == 0
    assert "verdict" in ran.out
    (line,) = (line for line in ran.out.splitlines() if "LD 3×3: weights N" in line)
    assert "reached" in line
    printed = json.loads(run_katachi("reproduce", "silver2007", "--status", "--run", str(tmp_path), "--json").out)
    rows = {row["id"]: row for row in printed["rows"]}
    assert rows["figure3/LD-3x3/N"]["verdict"] == "reached"
    assert rows["figure3/LD-3x3/N"]["hours"] is not None
    assert rows["figure5/Linear-B"]["n"] > 0
    assert rows["figure4/LI-2x2-alone/final"]["n"] == 10
    assert rows["figure4/LI-2x2-alone/final"]["verdict"] is None
    assert printed["not_measured"] == []


@pytest.fixture
def toy(monkeypatch):
    """An experiment of counts alone in the place of all others."""
    monkeypatch.setattr(experiment, "experiment_names", lambda: ["silver2007"])
    silver = load_experiment("silver2007")
    counted = replace(silver, name="toy", tables=(Figure3(), Figure6()))
    monkeypatch.setattr(experiment, "load_experiment", lambda name: counted)


def test_all_papers_are_planned_and_measured(run_katachi, tmp_path, toy):
    where = ("--all", "--budget", "day", "--run", str(tmp_path))
    planned = json.loads(run_katachi("reproduce", *where, "--plan", "--json").out)
    assert planned["hours"] == 24
    assert [(step["table"], step["done"], step["fits"]) for step in planned["steps"]] == [
        ("figure3", False, True),
        ("figure6", False, True),
    ]
    assert not list(tmp_path.iterdir())
    ran = run_katachi("reproduce", *where)
    assert ran.code == 0
    assert f"toy/figure6: kept in {tmp_path / 'toy'}" in ran.err
    assert run_katachi("reproduce", *where, "--plan").out.count("done") == 2


def test_what_is_planned_can_be_one_paper(run_katachi, tmp_path):
    ran = run_katachi("reproduce", "silver2007", "--plan", "--budget", "week", "--run", str(tmp_path), "--json")
    steps = json.loads(ran.out)["steps"]
    assert {step["paper"] for step in steps} == {"silver2007"}
    assert {step["table"]: step["done"] for step in steps}["figure5"] is False  # players between have not played


def test_all_papers_resume_after_an_interruption(run_katachi, tmp_path, toy, monkeypatch):
    where = ("--all", "--budget", "week", "--run", str(tmp_path))

    def interrupt(table, scope):
        raise KeyboardInterrupt

    with monkeypatch.context() as while_interrupted:
        while_interrupted.setattr(Figure6, "measure", interrupt)
        ran = run_katachi("reproduce", *where)
    assert ran.code == 130
    assert "katachi: stopped: what was measured is kept" in ran.err
    states = [line for line in run_katachi("reproduce", *where, "--plan").out.splitlines() if "toy/" in line]
    assert ["done" in line for line in states] == [False, True]
    again = run_katachi("reproduce", *where)
    assert "toy/figure6: kept" in again.err
    assert "toy/figure3" not in again.err
