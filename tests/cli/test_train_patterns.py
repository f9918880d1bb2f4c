from __future__ import annotations


def test_a_rank_that_is_none_is_one_sentence(run_katachi, tmp_path):
    (tmp_path / "game.sgf").write_text("(;SZ[5];B[aa];W[bb])")
    ran = run_katachi("train", "patterns", str(tmp_path), "--weakest", "strong")
    assert ran.code == 2
    assert ran.err == "katachi: strong is not a rank: say 5k, 1d or 9p\n"


def test_learning_from_a_folder_of_games(run_katachi, tmp_path):
    for i, moves in enumerate((";B[aa];W[bb];B[cc]", ";B[cc];W[bb];B[bc]", ";B[cd];W[dd];B[bc]")):
        (tmp_path / f"{i}.sgf").write_text(f"(;SZ[5]{moves})")
    ran = run_katachi("train", "patterns", str(tmp_path), "--step", "1", "--out", str(tmp_path / "out"))
    assert ran.code == 0
    assert ran.out.endswith(f"the weights are in {tmp_path / 'out'}\n")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"card.json", "weights.safetensors"}
