"""GNU Go, the reference: short games, and a transcript that both sides must frame and answer alike."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import numpy as np
import pytest

from katachi.core.contracts import Limit
from katachi.go.game import Game
from katachi.go.points import EMPTY, PASS, WHITE, parse_vertex
from katachi.go.rules import parse_rules
from katachi.gtp.client import EngineFailure, GtpPlayer

MOST_MOVES = 250
NO_LIMIT = Limit()


@pytest.fixture
def program(gnugo) -> Iterator[GtpPlayer]:
    player = GtpPlayer([gnugo, "--mode", "gtp", "--level", "0", "--chinese-rules", "--never-resign", "--seed", "1"])
    yield player
    player.close()


def play_game(game: Game, *players) -> None:
    while not game.is_over and len(game.moves) < MOST_MOVES:
        decision = players[len(game.moves) % 2].decide(game, NO_LIMIT)
        if decision.resign:
            game.resign()
        else:
            game.play(decision.move)


@pytest.mark.parametrize("size", [5, 9])
def test_a_game_against_itself_keeps_us_together(program, size):
    game = Game(size, parse_rules("chinese"))
    play_game(game, program, program)
    assert game.is_over
    assert len(game.moves) > size
    np.testing.assert_array_equal(program.stones(game), game.board.stones)
    dead = program.final_status_list(game, "dead")
    assert program.final_score(game) == game.result(dead)


def test_a_game_against_a_player_of_ours(program, players):
    game = Game(7, parse_rules("chinese"))
    play_game(game, players["silent"](), program)
    assert game.is_over
    np.testing.assert_array_equal(program.stones(game), game.board.stones)


def test_together_through_undo_setup_and_another_game(program):
    game = Game(9, parse_rules("chinese"))
    for vertex in ("C3", "G7", "C7", "G3", "E5"):
        game.play(parse_vertex(vertex, 9))
    games = [game.copy()]
    game.undo()
    game.undo()
    games.append(game.copy())
    game.setup(black=[0, 1], white=[80], to_play=WHITE)
    games.append(game.copy())
    game.setup(empty=[0])
    games.append(game.copy())
    other = Game(13, parse_rules("chinese"))
    other.place_handicap([42, 120])
    games += [other, games[0], Game(9)]
    for each in games:
        np.testing.assert_array_equal(program.stones(each), each.board.stones)


def test_captures_keep_us_together(program):
    game = Game(5)
    for vertex in ("B5", "A5", "A4", "C3", "E1"):
        game.play(parse_vertex(vertex, 5))
    assert game.board[0] == EMPTY
    np.testing.assert_array_equal(program.stones(game), game.board.stones)


def test_handicap_compensation_agrees(program):
    game = Game(5, parse_rules("chinese"))
    game.komi = 0.5
    game.place_handicap([2, 7, 12, 17, 22])
    for white in (3, 8, 13, 18, 23):
        game.play(white)
        game.play(PASS)
    game.play(PASS)
    assert str(program.final_score(game)) == str(game.result()) == "W+0.5"


def test_time_settings_are_taken(program):
    decision = program.decide(Game(9), Limit(seconds=1.0))
    assert Game(9).is_legal(decision.move)


def test_a_wrong_option_is_told(gnugo):
    with pytest.raises(EngineFailure, match=r"died at 'list_commands'.*exit status.*no-such-option"):
        GtpPlayer([gnugo, "--mode", "gtp", "--no-such-option"]).decide(Game(9), NO_LIMIT)


COMMON = """
1 protocol_version
2 boardsize 9
3 clear_board
4 komi 5.5
5 get_komi
6 play b C3
7 play w C3
8 play w pass
9 last_move
10 move_history
11 list_stones black
12 list_stones white
13 is_legal b C3
14 is_legal b D4
15 countlib C3
16 captures black
17 undo
18 undo
19 undo
20 known_command genmove
21 known_command no_such_command
22 no_such_command
23 boardsize 100
24 play b Z99
25 genmove
26 fixed_handicap 2
27 fixed_handicap 2
28 list_stones black
29 clear_board
30 set_free_handicap C3 C7
31 final_status_list no_such_status
# a comment

\t32\tlist_stones\tb\t# tabs and a comment
33 all_legal w
34 quit
"""


def test_both_sides_frame_and_answer_alike(gnugo, make_engine):
    """The same lines: equal signs and ids everywhere, equal answers where they are no prose."""
    theirs = subprocess.run(
        [gnugo, "--mode", "gtp", "--level", "0"], input=COMMON, capture_output=True, text=True, check=True, timeout=60
    ).stdout
    engine = make_engine()
    ours = "".join(engine.answer(line).decode() for line in COMMON.splitlines())
    their_answers, our_answers = theirs.split("\n\n")[:-1], ours.split("\n\n")[:-1]
    assert len(our_answers) == len(their_answers) == 34
    for our_answer, their_answer in zip(our_answers, their_answers, strict=True):
        head = our_answer.split(" ")[0]
        assert head == their_answer.split(" ")[0]
        if head.startswith("="):
            assert sorted(our_answer.split()) == sorted(their_answer.split()), "the order of vertices is free"
