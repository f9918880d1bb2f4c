"""``katachi analyze``: files in, a folder out; and out again with --strip."""

from __future__ import annotations

import pytest

from katachi.sgf import load_sgf, parse_sgf

GAME = "(;SZ[5]KM[0.5]C[mine];B[cc];W[bb](;B[bc])(;B[dd]))"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "game.sgf").write_text(GAME, encoding="utf-8")


@pytest.fixture
def analyze(run_katachi):
    def run(*arguments: str):
        return run_katachi("analyze", *arguments, "--player", "strong-13", "--model", "shapes-5", "--simulations", "4")

    return run


def test_a_game(analyze, tmp_path):
    ran = analyze("game.sgf")
    assert (ran.code, ran.out) == (0, "1 game, 4 positions: written to analysis\n")
    assert ran.err == "katachi: next: open analysis/report.html in a browser\n"
    names = {path.name for path in (tmp_path / "analysis").iterdir()} - {".lock"}
    assert names == {"run.json", "analysis.jsonl", "game.sgf", "report.html"}
    (game,) = load_sgf("analysis/game.sgf")
    assert "Analysed by strong-13 (4 simulations a position) with shapes-5." in game.root.text("C")


def test_resume_and_refusal(analyze, tmp_path):
    analyze("game.sgf")
    before = (tmp_path / "analysis" / "analysis.jsonl").read_bytes()
    refused = analyze("game.sgf")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "--resume" in refused.err
    assert analyze("game.sgf", "--resume").code == 0
    assert (tmp_path / "analysis" / "analysis.jsonl").read_bytes() == before


def test_strip_gives_back_what_was_there(analyze, run_katachi):
    analyze("game.sgf")
    ran = run_katachi("analyze", "analysis/game.sgf", "--strip", "--out", "plain")
    assert (ran.code, ran.out) == (0, "1 game without analyses: written to plain\n")
    (game,), (original,) = load_sgf("plain/game.sgf"), parse_sgf(GAME)
    del game.root.properties["CA"]
    assert game.root.is_same_tree(original.root)


def test_what_cannot_be_judged_is_named(analyze, tmp_path):
    (tmp_path / "chess.sgf").write_text("(;GM[3])", encoding="utf-8")
    ran = analyze("game.sgf", "chess.sgf", "missing.sgf")
    assert ran.code == 0
    assert [line.split(":")[0:3:2] for line in ran.err.splitlines()[:-1]] == [
        ["katachi", " chess.sgf"],
        ["katachi", " missing.sgf"],
    ]


def test_nothing_to_judge(analyze):
    ran = analyze("missing.sgf")
    assert (ran.code, ran.err.splitlines()[-1]) == (2, "katachi: there is no game that can be analysed")
    assert analyze("game.sgf").code == 0  # nothing is left behind that a corrected command would stumble over


def test_unknown_judges(run_katachi):
    ran = run_katachi("analyze", "game.sgf", "--player", "level-99")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "did you mean" in ran.err
