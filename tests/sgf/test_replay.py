from __future__ import annotations

import numpy as np
import pytest

from katachi.go.board import Board
from katachi.go.game import Play, Setup
from katachi.go.points import BLACK, PASS, WHITE, parse_sgf_point, parse_vertex
from katachi.go.rules import KoRule, Rules, Scoring
from katachi.sgf import RepairKind, SgfError, SgfGame, parse_sgf
from katachi.sgf.record import MOST_STEPS

K = RepairKind


def _record(text: str) -> SgfGame:
    (record,) = parse_sgf(text)
    return record


def _diagram(text: str) -> np.ndarray:
    return Board.parse(text).stones


def _kinds(record: SgfGame) -> list[RepairKind]:
    return [repair.kind for repair in record.repairs]


def _assert_ends_as(record: SgfGame, diagram: str) -> None:
    """Both ways of replaying end in the position of a diagram."""
    assert np.array_equal(record.replay().board.stones, _diagram(diagram))
    assert np.array_equal(record.replay_to_end().board.stones, _diagram(diagram))


def test_moves_captures_and_passes() -> None:
    record = _record("(;SZ[3]KM[0];B[ba];W[aa];B[ab];W[];B[tt];W[bb])")
    _assert_ends_as(record, ". X .\nX O .\n. . .")
    game = record.replay()
    assert [play.move for play in game.moves] == [1, 0, 3, PASS, PASS, 4]
    assert game.board.captured(WHITE) == 1
    assert record.replay_to_end().moves == 6
    assert record.repairs == []


def test_the_game_can_be_undone_to_the_empty_board() -> None:
    record = _record("(;SZ[9]HA[2]AB[cg][gc];W[ee];AW[aa]AE[ee];B[ee])")
    game = record.replay()
    assert game.steps == [
        Setup((56, 24), (), (), WHITE),
        Play(WHITE, 40),
        Setup((), (0,), (40,), None),
        Play(BLACK, 40),
    ]
    for _ in range(4):
        game.undo()
    assert not game.board.stones.any()


def test_set_up_in_any_node_and_who_is_to_play() -> None:
    record = _record("(;SZ[3]AB[aa]AW[bb]PL[W];W[cc];AE[bb]AB[ca];PL[B];B[ac])")
    _assert_ends_as(record, "X . X\n. . .\nX . O")
    assert record.replay(before_move=1).to_play == WHITE
    assert record.replay(before_move=2).to_play == BLACK
    assert record.replay().to_play == WHITE
    assert record.repairs == []


@pytest.mark.parametrize(
    ("text", "color"), [("black", BLACK), ("W", WHITE), ("White", WHITE), ("1", BLACK), ("2", WHITE)]
)
def test_every_way_to_say_who_is_to_play(text: str, color: int) -> None:
    assert _record(f"(;SZ[9]PL[{text}])").replay().to_play == color


def test_a_player_that_is_none_is_ignored_and_told() -> None:
    record = _record("(;SZ[9]PL[x])")
    assert record.replay().to_play == BLACK
    assert _kinds(record) == [K.SETUP]


def test_rectangles_of_stones() -> None:
    record = _record("(;SZ[4]AB[aa:bb][dd]AW[cc:cc]AE[bb:aa])")
    _assert_ends_as(record, ". . . .\n. . . .\n. . O .\n. . . X")
    assert _kinds(record) == [K.SETUP]


def test_before_move_stops_with_the_stones_set_up_there() -> None:
    record = _record("(;SZ[3]AB[aa];W[bb];AB[cc];B[ab];W[ba])")
    assert [len(record.replay(before_move=n).moves) for n in (1, 2, 3, 4, 100)] == [0, 1, 2, 3, 3]
    assert record.replay(before_move=1).board[0] == BLACK
    assert record.replay(before_move=2).board[8] == BLACK
    with pytest.raises(ValueError, match="no move 0"):
        record.replay(before_move=0)


def test_before_move_one_when_the_root_has_a_move() -> None:
    game = _record("(;SZ[3]AB[aa]W[bb];B[cc])").replay(before_move=1)
    assert game.board.stones.tolist() == [BLACK] + [0] * 8


def test_a_variation_is_replayed_up_to_its_node() -> None:
    record = _record("(;SZ[3];B[aa](;W[bb];B[cc])(;W[ca];B[ac]))")
    node = record.root.children[0].children[1]
    assert record.replay(node).moves == [Play(BLACK, 0), Play(WHITE, 2)]
    assert record.replay(node.children[0], before_move=2).moves == [Play(BLACK, 0)]
    assert record.replay(record.root).moves == []


# Handicap


def test_handicap_stones_that_are_set_up() -> None:
    game = _record("(;SZ[9]HA[2]AB[gc][cg];W[ee])").replay(before_move=1)
    assert (game.handicap, game.to_play) == (2, WHITE)


def test_handicap_stones_that_are_only_counted_go_on_their_fixed_places() -> None:
    record = _record("(;SZ[9]HA[2];W[ee];B[dd])")
    game = record.replay(before_move=1)
    assert np.flatnonzero(game.board.stones).tolist() == [parse_vertex("G7", 9), parse_vertex("C3", 9)]
    assert (game.handicap, game.to_play) == (2, WHITE)
    assert _kinds(record) == [K.HANDICAP]
    assert "customary places" in record.repairs[0].what


@pytest.mark.parametrize(
    ("moves", "stones"),
    [
        (";W[qc]", "D4 D10 D16 Q4 Q10 Q16"),
        (";W[jp];B[jd]", "D4 D10 D16 Q4 Q10 Q16"),
        (";W[pj];B[dj]", "D4 D16 K4 K16 Q4 Q16"),
        (";W[pj];B[jd]", ""),
    ],
)
def test_six_stones_stand_where_the_moves_leave_room(moves: str, stones: str) -> None:
    record = _record(f"(;SZ[19]HA[6]{moves})")
    board = record.replay(before_move=1).board
    assert sorted(np.flatnonzero(board.stones).tolist()) == sorted(parse_vertex(word, 19) for word in stones.split())
    assert _kinds(record) == [K.HANDICAP]
    assert ("left out" in record.repairs[0].what) == (not stones)
    assert record.replay_to_end().board == record.replay().board


def test_handicap_stones_in_the_node_after_the_root() -> None:
    """As the Fox server writes them."""
    record = _record("(;GM[1]SZ[19]KM[0]HA[2]RU[Chinese]AP[foxwq];AB[pd][cc];W[dc];B[ce];)")
    game = record.replay(before_move=1)
    assert np.flatnonzero(game.board.stones).tolist() == [40, 72]
    assert (game.handicap, game.to_play) == (2, WHITE)
    assert record.replay_to_end().board == record.replay().board
    assert record.repairs == []


def test_handicap_stones_that_black_plays_are_not_added() -> None:
    record = _record("(;SZ[9]HA[2];B[gc];B[cg];W[ee])")
    assert len(np.flatnonzero(record.replay().board.stones)) == 3
    assert record.repairs == []


def test_handicap_stones_without_fixed_places_are_left_out() -> None:
    record = _record("(;SZ[9]HA[20];W[ee])")
    assert np.flatnonzero(record.replay().board.stones).tolist() == [40]
    assert _kinds(record) == [K.HANDICAP]


def test_stones_and_first_move_without_a_handicap_say_who_is_to_play() -> None:
    assert _record("(;SZ[9]AB[gc][cg];W[ee])").replay(before_move=1).to_play == WHITE
    assert _record("(;SZ[9]AB[gc]AW[cg];B[ee])").replay(before_move=1).to_play == BLACK


# Illegal moves


def test_a_move_on_a_stone_is_kept_as_a_set_up() -> None:
    record = _record("(;SZ[3];B[bb];W[bb];B[aa])")
    _assert_ends_as(record, "X . .\n. O .\n. . .")
    game = record.replay()
    assert isinstance(game.steps[1], Setup)
    assert record.repairs == [(K.ILLEGAL_MOVE, "move 2", "B2: occupied; kept as set-up stones")]


def test_a_move_on_an_own_stone_passes_the_turn() -> None:
    record = _record("(;SZ[3];B[bb];W[aa];B[bb])")
    assert record.replay().to_play == WHITE
    assert _kinds(record) == [K.ILLEGAL_MOVE]


def test_an_occupying_move_captures_what_it_leaves_without_liberties() -> None:
    """Black replaces the stone at B3 and takes the corner."""
    record = _record("(;SZ[3]AB[ab]AW[aa][ba];B[ba])")
    _assert_ends_as(record, ". X .\nX . .\n. . .")


KO = "(;SZ[4]AB[ba][ab][bc][cb]AW[ca][db][cc];W[bb];B[cb];W[dd])"


def test_an_illegal_ko_is_kept_and_told() -> None:
    record = _record(KO)
    _assert_ends_as(record, ". X O .\nX . X O\n. X O .\n. . . O")
    assert record.repairs == [(K.ILLEGAL_MOVE, "move 2", "C3: ko; kept as set-up stones")]


def test_superko_binds_only_where_the_record_says_so() -> None:
    """White takes the ko, both play elsewhere and come back, Black takes it back: the first position is there again."""
    moves = KO.replace(";W[dd]", "").replace("W[bb];B[cb]", "W[bb];B[];W[];B[cb]")
    for rules, kinds in (("", []), ("RU[Japanese]", []), ("RU[Chinese-KGS]", [K.ILLEGAL_MOVE])):
        record = _record(moves.replace("SZ[4]", f"SZ[4]{rules}"))
        assert np.array_equal(record.replay().board.stones, _diagram(". X O .\nX . X O\n. X O .\n. . . ."))
        assert _kinds(record) == kinds


def test_suicide_takes_the_stones_off() -> None:
    text = "(;SZ[3]AB[ba][bb][ab]AW[ca];W[cb];B[];W[aa])"
    record = _record(text)
    _assert_ends_as(record, ". X O\nX X O\n. . .")
    assert record.repairs == [(K.ILLEGAL_MOVE, "move 3", "A3: suicide; kept as set-up stones")]


def test_suicide_of_several_stones_is_legal_by_new_zealand_rules() -> None:
    text = "(;SZ[3]{}AB[ca][bb][ac][ab]AW[aa];W[ba])"
    legal = _record(text.format("RU[NZ]"))
    _assert_ends_as(legal, ". . X\nX X .\nX . .")
    assert legal.repairs == []
    illegal = _record(text.format(""))
    _assert_ends_as(illegal, ". . X\nX X .\nX . .")
    assert _kinds(illegal) == [K.ILLEGAL_MOVE]


def test_set_up_stones_without_liberties_are_left_out() -> None:
    record = _record("(;SZ[3]AB[ba][ab]AW[aa][cc];B[bb])")
    _assert_ends_as(record, ". X .\nX X .\n. . O")
    assert record.repairs == [(K.SETUP, "root", "1 stones without liberties left out")]


def test_set_ups_say_after_which_move_they_are() -> None:
    record = _record("(;SZ[3];AB[zz];B[aa];AB[zy])")
    record.replay()
    assert [repair.where for repair in record.repairs] == ["after move 0", "after move 1"]


def test_more_passes_than_two_and_moves_after_them() -> None:
    record = _record("(;SZ[3];B[];W[];B[];W[bb];B[aa]TB[aa]TW[bb])")
    assert len(record.replay().moves) == 5
    assert record.repairs == []


# Odd moves


@pytest.mark.parametrize(
    ("value", "point"),
    [("EE", "ee"), (" ee", "ee"), ("e\\\ne", "ee"), ("E5", "ee"), ("a9", "aa"), ("pass", None), ("PASS", None)],
)
def test_moves_in_other_writings(value: str, point: str | None) -> None:
    record = _record(f"(;SZ[9];B[{value}])")
    assert record.replay().moves[0].move == (PASS if point is None else parse_sgf_point(point, 9))
    assert _kinds(record) == [K.POINT]


@pytest.mark.parametrize("value", ["jj", "e", "eee", "zz", "J10", "!!", "e:e", "dd:ee"])
def test_moves_off_the_board_are_left_out_and_told(value: str) -> None:
    record = _record(f"(;SZ[9];B[aa];W[{value}];B[bb])")
    assert record.replay().moves == [Play(BLACK, 0), Play(BLACK, 10)]
    assert [(repair.kind, repair.where) for repair in record.repairs] == [(K.POINT, "move 2")]


def test_stones_off_the_board_are_left_out_and_told() -> None:
    record = _record("(;SZ[9]AB[aa][zz][][aa:zz])")
    assert np.flatnonzero(record.replay().board.stones).tolist() == [0]
    assert set(_kinds(record)) == {K.POINT}


def test_several_moves_in_a_node_are_played_in_turn() -> None:
    record = _record("(;SZ[9];B[aa]W[bb];W[cc]B[dd];B[ee][ff])")
    assert [(play.color, play.move) for play in record.replay().moves] == [
        (BLACK, 0), (WHITE, 10), (WHITE, 20), (BLACK, 30), (BLACK, 40), (BLACK, 50),
    ]  # fmt: skip
    assert np.array_equal(record.replay_to_end().board.stones, record.replay().board.stones)
    assert _kinds(record) == [K.STRUCTURE] * 3


def test_repairs_are_told_once_however_often_a_record_is_replayed() -> None:
    record = _record("(;SZ[9];B[aa];W[aa])")
    for _ in range(3):
        record.replay()
        record.replay_to_end()
    assert len(record.repairs) == 1


# What cannot be replayed


@pytest.mark.parametrize(
    ("root", "reason"),
    [
        ("SZ[9:13]", "square"),
        ("SZ[25]", "up to 19"),
        ("SZ[0]", "up to 19"),
        ("GM[2]", "not Go"),
    ],
)
def test_other_boards_and_games_are_refused(root: str, reason: str) -> None:
    record = _record(f"(;{root};B[aa])")
    with pytest.raises(SgfError, match=reason):
        record.replay()
    with pytest.raises(SgfError, match=reason):
        record.replay_to_end()


def test_an_endless_game_is_refused_before_it_fills_the_memory() -> None:
    record = _record("(;SZ[9]" + ";B[]" * (MOST_STEPS + 1) + ")")
    with pytest.raises(SgfError, match="more than"):
        record.replay()
    assert record.replay_to_end().moves == MOST_STEPS + 1


# What the root says


def test_information() -> None:
    record = _record("(;SZ[19]KM[-3.5]HA[4]PB[A\\]b]PW[ C ]BR[9 dan]WR[3级]RE[W+12.5]RU[japanese])")
    assert (record.size, record.komi, record.handicap) == (19, -3.5, 4)
    assert (record.black, record.white, record.black_rank, record.white_rank) == ("A]b", "C", "9d", "3k")
    assert str(record.result) == "W+12.5"
    assert (record.rules.scoring, record.rules.komi) == (Scoring.TERRITORY, -3.5)


def test_what_the_root_does_not_say() -> None:
    record = _record("(;)")
    assert (record.size, record.komi, record.handicap, record.black, record.result) == (19, None, 0, "", None)
    assert record.black_rank is None
    assert record.rules == Rules(ko=KoRule.SIMPLE)


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        ("3k", "3k"),
        ("6 Dan", "6d"),
        ("P5段", "5p"),
        ("9p", "9p"),
        ("10级", "10k"),
        ("3급?", "3k"),
        ("NR", None),
        ("", None),
    ],
)
def test_ranks(text: str, rank: str | None) -> None:
    assert _record(f"(;BR[{text}])").black_rank == rank


@pytest.mark.parametrize(
    ("text", "komi"),
    [("6.5", 6.5), ("6,5", 6.5), ("6½", 6.5), ("5.5 points", 5.5), ("375", 7.5), ("650", 6.5), ("+0.5", 0.5),
     ("nan", None), ("inf", None), ("9999", None), ("", None), ("1e5", 1.0)],
)  # fmt: skip
def test_komi(text: str, komi: float | None) -> None:
    assert _record(f"(;KM[{text}])").komi == komi


def test_unknown_rules_are_told_and_given_ones_win() -> None:
    record = _record("(;SZ[9]RU[GOE]KM[8];B[aa])")
    assert record.replay().rules == Rules(ko=KoRule.SIMPLE, komi=8)
    assert _kinds(record) == [K.INFORMATION]
    other = Rules(suicide=True, komi=1.5)
    assert _record("(;SZ[9]RU[GOE];B[aa])").replay(rules=other).rules == other
