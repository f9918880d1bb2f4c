from __future__ import annotations

import pytest

from katachi.data.importing import Cut, read_moves
from katachi.go.points import BLACK, PASS, WHITE
from katachi.sgf import SgfError, parse_sgf


def read(text: str):
    return read_moves(parse_sgf(text)[0])


def test_moves_colors_and_passes() -> None:
    line = read("(;SZ[3];B[aa];W[];B[bb];B[cc])")
    assert line.moves.tolist() == [0, PASS, 4, 8]
    assert line.colors.tolist() == [BLACK, WHITE, BLACK, BLACK]
    assert line.cut is None


def test_stones_before_the_first_move_are_the_start() -> None:
    line = read("(;SZ[3]AB[aa][bb];AW[ca];W[cc])")
    assert line.start.stones.tolist() == [1, 0, -1, 0, 1, 0, 0, 0, 0]
    assert line.start.to_play == WHITE
    assert line.moves.tolist() == [8]


@pytest.mark.parametrize(
    ("moves", "kept", "cut"),
    [
        (";B[aa];AW[bb];W[cc]", 1, Cut.SETUP),
        (";B[aa];W[zz];B[cc]", 1, Cut.UNREADABLE),
        (";B[aa];W[aa];B[cc]", 1, Cut.ILLEGAL),
        (";B[ba];W[cc];B[ab];W[aa];B[bb]", 3, Cut.ILLEGAL),  # suicide in the corner
        (";B[aa];W[bb];PL[W]", 2, None),
    ],
)
def test_cut_where_it_cannot_go_on(moves: str, kept: int, cut: Cut | None) -> None:
    line = read(f"(;SZ[3]{moves})")
    assert (line.moves.size, line.colors.size, line.cut) == (kept, kept, cut)


def test_other_games_are_refused() -> None:
    with pytest.raises(SgfError, match="not Go"):
        read("(;GM[2]SZ[9];B[aa])")
