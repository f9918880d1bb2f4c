"""``katachi analyze``: files in, a folder out; and out again with --strip."""

from __future__ import annotations

import re

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
    assert ran.code == 0
    assert ran.out.startswith("1 game, 4 positions: written to analysis\nAnalysed by ")
    assert re.search(r"\nBlack: \d mistakes? in 2 moves, .+ % and .+ points lost by a move on average\.\n", ran.out)
    assert ran.err == "katachi: next: open analysis/report.html in a browser\n"
    names = {path.name for path in (tmp_path / "analysis").iterdir()} - {".lock"}
    assert names == {"run.json", "analysis.jsonl", "game.sgf", "report.html"}
    (game,) = load_sgf("analysis/game.sgf")
    assert "Analysed by strong-13 (up to 4 simulations a position) with shapes-5." in game.root.text("C")


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
    assert game.root.is_same_tree(original.root)


NAME = "小林光一"
ODD = [
    b"(;GM[1]SZ[3];B[aa];W[bb])",
    b"(;GM[1]SZ[3]\r\nC[a\r\nb\\\r\nc]\r\n;B[aa]\r\n;W[bb])\r\n\r\n",
    b"\xef\xbb\xbf(;SZ[3]CA[UTF-8];B[aa])\n",
    f"(;SZ[3]CA[Shift_JIS]PB[{NAME}];B[aa]C[{NAME}])".encode("cp932"),
    f"(;SZ[3]PB[{NAME}]C[{NAME * 10}];B[aa])".encode("gb18030"),
    f"(;SZ[3]PB[{NAME}];B[aa])".encode("utf-16"),
    b"(;SZ[3]CA[ISO-8859-1]PB[J\xe9r\xf4me];B[aa]CA[x])",
    b"junk before\n( ;  SiZe[3]CoPyright[x] ;Black[aa] ; White[bb]C[ ] ) and behind",
    b"(;SZ[3];B[aa](;W[bb]C[];B[cc])(;W[cc]LB[aa:x]TB[aa]))",
    b"(;SZ[3];B[aa];W[bb]",
    b"(;SZ[3]SBKV[50]C[=== not ours ===];B[aa]V[1]DO[])",
]


@pytest.mark.parametrize("data", ODD, ids=range(len(ODD)))
def test_strip_gives_back_the_bytes(analyze, run_katachi, tmp_path, data):
    (tmp_path / "odd.sgf").write_bytes(data)
    for file in ("odd.sgf", "analysis/odd.sgf"):  # an analysis of an analysis keeps them, too
        assert analyze(file, "--out", "analysis" if file == "odd.sgf" else "again").code == 0
    assert (tmp_path / "again" / "odd.sgf").read_bytes() == (tmp_path / "analysis" / "odd.sgf").read_bytes()
    assert (tmp_path / "again" / "odd.sgf").read_bytes() != data
    for folder in (".", "analysis", "again"):
        run_katachi("analyze", f"{folder}/odd.sgf", "--strip", "--out", "plain")
        assert (tmp_path / "plain" / "odd.sgf").read_bytes() == data


def test_what_was_changed_since_is_not_lost(analyze, run_katachi, tmp_path):
    (tmp_path / "game.sgf").write_bytes(ODD[1])
    analyze("game.sgf")
    path = tmp_path / "analysis" / "game.sgf"
    path.write_text(path.read_text().replace(";W[bb]", ";W[cc]"))
    run_katachi("analyze", "analysis/game.sgf", "--strip", "--out", "plain")
    text = (tmp_path / "plain" / "game.sgf").read_text()
    assert ";W[cc]" in text
    assert "KTC" not in text


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
