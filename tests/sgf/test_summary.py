from __future__ import annotations

from pathlib import Path

from katachi.sgf.files import MOST_EXAMPLES, Piece, Summary, iter_pieces, summarize


def _piece(text: str) -> Piece:
    return Piece("test", text.encode(), None, Path("test"), 0)


def test_counts() -> None:
    summary = summarize(
        [
            _piece("(;GM[1]SZ[9]BR[3k]WR[4 dan]RE[B+R];B[aa];W[bb])(;SZ[9]RE[W+3.5];B[aa];W[aa])"),
            _piece("(;SZ[19]RE[0]KM[6,5])"),
            _piece("nothing"),
            _piece("(;SZ[9:13])(;SZ[13]RE[?])"),
        ]
    )
    assert summary.to_json() == {
        "games": 4,
        "moves": 4,
        "errors": 2,
        "by_size": {"9": 2, "13": 1, "19": 1},
        "by_rank": {"?": 6, "3k": 1, "4d": 1},
        "by_result": {"0": 1, "?": 1, "B+R": 1, "W+score": 1},
        "repairs": {"illegal move": 1, "information": 1},
        "repaired_games": 2,
        "error_examples": [
            "test: no game found: this is not SGF",
            "test: the board is 9×13: katachi plays on square boards only",
        ],
    }


def test_merging_is_counting_together() -> None:
    pieces = [_piece(f"(;SZ[{size}]RE[B+T]BR[{size}k];B[aa])") for size in range(1, 20)] + [_piece("x")] * 50
    merged = Summary()
    for start in range(0, len(pieces), 7):
        merged.merge(summarize(pieces[start : start + 7]))
    assert merged == summarize(pieces)
    assert merged.errors == 50
    assert len(merged.error_examples) == MOST_EXAMPLES


def test_files_that_cannot_be_opened_are_errors(tmp_path: Path) -> None:
    assert summarize(iter_pieces([tmp_path / "missing.sgf"])).errors == 1
