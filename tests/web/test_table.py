"""A table: moves, undo, the count, what is kept of it; without a browser."""

from __future__ import annotations

import json

import pytest

from katachi.go.points import BLACK, EMPTY, PASS, WHITE, parse_vertex
from katachi.go.scoring import estimate_status
from katachi.sgf import format_sgf, parse_sgf
from katachi.web.table import Phase, Seats, Table, TableError, TableSettings, check_settings


def table(*vertices: str, size: int = 5, **settings) -> Table:
    made = Table(TableSettings(size=size, **settings))
    for vertex in vertices:
        made.play(parse_vertex(vertex, size))
    return made


def moves(made: Table) -> list[tuple[int, int]]:
    return [tuple(play) for play in made.opened.game.moves]


# A wall of each color; Black has a dead stone in White's area.
SETTLED = ["C5", "D5", "C4", "D4", "C3", "D3", "C2", "D2", "C1", "D1", "E3", "pass", "pass"]


def test_moves_go_into_the_record():
    made = table("C3", "C4")
    assert moves(made) == [(BLACK, 12), (WHITE, 7)]
    assert "B[cc];W[cb]" in format_sgf(made.opened.record).replace("\n", "")


def test_an_illegal_move_is_a_sentence_and_changes_nothing():
    made = table("C3")
    with pytest.raises(TableError, match="a stone already"):
        made.play(12)
    assert moves(made) == [(BLACK, 12)]


def test_two_passes_lead_to_the_count_which_clicks_correct():
    made = table(*SETTLED, komi=0.5)
    assert made.phase is Phase.COUNTING
    made.mark_dead(estimate_status(made.opened.game.board))
    dead = parse_vertex("E3", 5)
    assert made.dead == {dead}
    assert made.count_neutral() == 0
    # Fifteen points of Black's, ten of White's with the dead stone's own point.
    assert str(made.count()) == "B+4.5"
    made.toggle_dead(dead)
    assert made.dead == set()
    assert str(made.count()) == "B+10.5"  # neither owns the column where the living stone stands
    made.toggle_dead(dead)
    made.accept_count()
    assert made.phase is Phase.FINISHED
    assert str(made.result) == "B+4.5"
    assert len(made.opened.node.properties["TW"]) == 5
    assert len(made.opened.node.properties["TB"]) == 10


def test_rules_without_agreement_begin_with_nothing_dead():
    made = table(*SETTLED, rules="tromp-taylor")
    made.mark_dead(estimate_status(made.opened.game.board))
    assert made.dead == set()


def test_playing_on_takes_the_passes_back():
    made = table("C3", "pass", "pass")
    made.play_on()
    assert made.phase is Phase.PLAYING
    assert moves(made) == [(BLACK, 12)]


def test_while_it_is_counted_nobody_moves():
    made = table("C3", "pass", "pass")
    with pytest.raises(TableError, match="being counted"):
        made.play(0)


def test_undo_gives_the_person_his_turn_again():
    made = table("C3", "C4", "D3", "D4", player="alp", seats=Seats.BLACK)
    made.undo()
    assert moves(made) == [(BLACK, 12), (WHITE, 7)]
    made.undo()
    assert moves(made) == []
    with pytest.raises(TableError, match="nothing to take back"):
        made.undo()


def test_what_is_undone_comes_back():
    made = table("C3", "C4", "D3", "D4", player="alp", seats=Seats.BLACK)
    made.undo()
    made.redo()
    assert len(moves(made)) == 4
    with pytest.raises(TableError, match="nothing that was undone"):
        made.redo()


def test_another_move_after_an_undo_is_the_game_and_the_old_one_a_variation():
    made = table("C3", "C4", "D3", "D4", player="alp", seats=Seats.BLACK)
    made.undo()
    made.play(0)
    assert made.is_players_turn
    main = [made.opened.move_of(node) for node in made.opened.record.main_line()][1:]
    assert main == [12, 7, 0]
    assert len(made.opened.node.parent.children) == 2
    made.undo()
    made.play(parse_vertex("D3", 5))
    assert len(moves(made)) == 4, "it was answered before"


def test_a_record_keeps_its_main_line():
    made = Table(TableSettings(size=9), parse_sgf("(;SZ[9]RE[B+R];B[ee];W[cc])")[0])
    made.opened.step(1)
    made.play(0)
    assert [made.opened.move_of(node) for node in made.opened.record.main_line()][1:] == [40, 20]
    assert str(made.result) == "B+R"


def test_a_finished_game_is_walked_and_reopened_only_when_asked():
    made = table("C3", "C4", player="alp", seats=Seats.BLACK)
    made.resign()
    made.undo()
    assert (made.phase, str(made.result), len(moves(made))) == (Phase.FINISHED, "W+R", 1)
    made.redo()
    made.reopen()
    assert (made.phase, made.result) == (Phase.PLAYING, None)


@pytest.mark.parametrize("rules", ["chinese-ogs", "japanese"])
def test_a_tally_adds_up_to_the_count(rules):
    made = table(*SETTLED, komi=0.5, rules=rules)
    made.mark_dead(estimate_status(made.opened.game.board))
    parts = made.tally()
    assert parts[BLACK].total - parts[WHITE].total == made.opened.game.score(made.dead)
    assert (parts[BLACK].prisoners, parts[WHITE].prisoners) == ((0, 0) if rules == "chinese-ogs" else (0, 1))


def test_whose_turn_it_is():
    made = table("C3", player="alp", seats=Seats.BLACK)
    assert made.is_players_turn
    assert not table("C3").is_players_turn
    made.resign()
    assert not made.is_players_turn


def test_who_only_looks_is_not_answered():
    made = table("C3", "C4", "D3", "D4", player="alp", seats=Seats.BLACK)
    made.opened.step(-1)
    assert made.is_players_color
    assert not made.is_players_turn
    made.opened.step(-1)
    made.play(0)
    assert made.is_players_turn
    assert made.opened.place == [0, 0, 0], "what is played now is the game"


def test_a_table_comes_back_from_what_is_kept():
    made = table(*SETTLED, komi=0.5, time={"kind": "byoyomi", "minutes": 5.0})
    made.mark_dead(estimate_status(made.opened.game.board))
    state = json.loads(json.dumps(made.state()))
    back = Table.restore(state, parse_sgf(format_sgf(made.opened.record))[0])
    assert back.settings == made.settings
    assert (back.phase, back.dead, moves(back)) == (made.phase, made.dead, moves(made))
    assert back.count() == made.count()
    assert back.clock.left(BLACK) == made.clock.left(BLACK)


def test_a_place_beyond_the_record_is_its_end():
    made = table("C3", "C4")
    state = made.state() | {"place": [0, 0, 0, 7]}
    assert moves(Table.restore(state, made.opened.record)) == [(BLACK, 12), (WHITE, 7)]


def test_handicap_stones_stand_and_white_begins():
    made = table(size=9, handicap=4, komi=0.5)
    assert int((made.opened.game.board.stones != EMPTY).sum()) == 4
    assert made.opened.game.to_play == WHITE


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"size": 20}, "size: .* less than or equal to 19"),
        ({"size": 5, "handicap": 2}, "2 handicap stones have no fixed places on 5×5"),
        ({"komi": float("nan")}, "komi"),
        ({"rules": "poker"}, "no rules are called 'poker'"),
        ({"seats": "black"}, "nobody to play against"),
        ({"time": {"kind": "byoyomi", "periods": 0}}, "time.periods"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_settings_that_do_not_go_together_are_a_sentence(values, sentence):
    with pytest.raises(TableError, match=sentence):
        check_settings(**values)


def test_time_runs_out_for_whose_clock_runs(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("katachi.web.table.time.monotonic", lambda: now[0])
    made = table("C3", time={"kind": "byoyomi", "minutes": 1.0, "seconds": 10.0, "periods": 3})
    made.clock.start(WHITE)
    now[0] += 65
    assert made.clock.left(WHITE) == (left := made.clock.left(WHITE))
    assert (left.seconds, left.stones) == (5.0, 3)
    assert made.clock.seconds_to_loss() == 25.0
    made.lose_on_time()
    assert str(made.result) == "B+T"


def test_a_pass_that_is_there_already_is_followed():
    made = Table(TableSettings(size=9), parse_sgf("(;SZ[9];B[ee];W[tt];B[dd])")[0])
    made.opened.step(1)
    made.play(PASS)
    assert len(made.opened.node.parent.children) == 1
    assert made.opened.node.children
