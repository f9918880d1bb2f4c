"""Which positions of a record are judged, and what move led to each."""

from __future__ import annotations

import pytest

from katachi.analysis.judges import count_turns, last_turn, turns_of
from katachi.go.game import Game, Play
from katachi.go.points import BLACK, PASS, WHITE
from katachi.sgf import SgfError, parse_sgf


def turns(text: str) -> list[tuple[int, int, Play | None]]:
    record = parse_sgf(text)[0]
    found = [(turn.node, turn.number, turn.play) for turn in turns_of(record)]
    assert count_turns(record) == len(found)
    return found


def test_the_beginning_and_every_move():
    assert turns("(;SZ[5];B[aa];W[bb](;B[])(;B[cc]))") == [
        (0, 0, None),
        (1, 1, Play(BLACK, 0)),
        (2, 2, Play(WHITE, 6)),
        (3, 3, Play(BLACK, PASS)),
    ]


def test_a_node_that_changes_nothing_is_no_turn():
    assert [node for node, *_ in turns("(;SZ[5];C[hello];B[aa];C[there];W[bb])")] == [0, 2, 4]


def test_set_ups_are_turns_without_a_move():
    found = turns("(;SZ[5]AB[cc]PL[W];W[aa];AW[ee];B[bb])")
    assert found == [(0, 0, None), (1, 1, Play(WHITE, 0)), (2, 1, None), (3, 2, Play(BLACK, 6))]


def test_what_the_rules_forbid_has_no_explanation():
    assert turns("(;SZ[5];B[aa];W[aa];B[bb])")[2] == (2, 1, None)


def test_the_board_before_a_move_has_its_player_to_move():
    record = parse_sgf("(;SZ[5];B[aa];B[bb])")[0]
    *_, last = turns_of(record)
    assert (last.play, last.before.to_play, last.before[6]) == (Play(BLACK, 6), BLACK, 0)
    assert last.game.board[6] == BLACK


def test_an_unplayable_record_is_refused():
    with pytest.raises(SgfError):
        count_turns(parse_sgf("(;GM[2]SZ[5])")[0])


def test_the_last_turn_of_a_game():
    game = Game(5)
    assert last_turn(game).play is None
    game.play(12)
    game.play(3)
    game.resign()
    turn = last_turn(game)
    assert (turn.number, turn.play, turn.before[3], turn.before[12]) == (2, Play(WHITE, 3), 0, BLACK)
    assert len(game.moves) == 2
