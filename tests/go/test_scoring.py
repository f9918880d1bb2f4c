"""Counting, by area and by territory, with dead stones, prisoners, seki, komi and handicap."""

from __future__ import annotations

import random

import pytest

from helpers import naive
from katachi.go.board import Board
from katachi.go.points import BLACK, EMPTY, WHITE, parse_vertex
from katachi.go.rules import NAMED_RULES, HandicapBonus, Rules, Scoring, Tax
from katachi.go.scoring import area, area_score, score, territory, territory_score

# White holds the right side; A1 is a dead white stone in Black's corner, E5 a dead black one.
FINISHED = Board.parse("""
    . X O . X
    X X O . .
    . X O O O
    X X X O .
    O . X O .""")
DEAD = [parse_vertex(vertex, 5) for vertex in ("A1", "E5")]


def random_stones(rng: random.Random) -> tuple[int, list[int]]:
    size = rng.randint(2, 9)
    return size, [rng.choice((0, 0, 1, -1)) for _ in range(size**2)]


def test_area_agrees_with_flood_fill_on_random_positions() -> None:
    rng = random.Random(1)
    tested = 0
    while tested < 300:
        size, stones = random_stones(rng)
        if not naive.is_legal_position(stones, size):
            continue
        board = Board(size)
        board.place(*([p for p, s in enumerate(stones) if s == color] for color in (BLACK, WHITE)))
        dead = sorted(set().union(*rng.sample(board.chains(), min(2, len(board.chains())))))
        expected = naive.area(stones, size, dead)
        assert area(board, dead).tolist() == expected
        assert area_score(board, dead) == sum(expected)
        assert area_score(board) == sum(naive.area(stones, size))
        tested += 1


def test_area_without_and_with_dead_stones() -> None:
    assert area_score(FINISHED) == 11 - 10
    assert area_score(FINISHED, DEAD) == 12 - 13
    assert area_score(Board(9)) == 0


def test_territory_counts_surrounded_points_and_prisoners() -> None:
    # Black: A5 A3 A1 B1 and one prisoner; White: D5 E5 D4 E4 E2 E1 and one prisoner.
    assert territory(FINISHED, DEAD).tolist() == [
        1, 0, 0, -1, -1,
        0, 0, 0, -1, -1,
        1, 0, 0, 0, 0,
        0, 0, 0, 0, -1,
        1, 1, 0, 0, -1,
    ]  # fmt: skip
    assert territory_score(FINISHED, DEAD) == (4 + 1) - (6 + 1)


def test_prisoners_taken_in_play_count_for_territory_alone() -> None:
    board = Board.parse(". O X / . X . / . . . / Black to play")
    board.play(0)
    assert board.captured(WHITE) == 1
    assert territory_score(board) == 6 + 1
    assert area_score(board) == 9


def test_one_point_names_a_whole_chain() -> None:
    board = Board.parse("O O X / X . X / . X .")
    assert area_score(board, dead=[0]) == area_score(board, dead=[0, 1]) == 9


def test_only_stones_can_be_dead() -> None:
    with pytest.raises(ValueError, match="no stone on B2"):
        area(Board.parse("O O X / X . X / . X ."), dead=[4])


# Seki at the bottom: an eye each, at A1 and E2, and C1 is shared. White lives above.
SEKI = Board.parse("""
    . O . O . O O
    O O O O O O O
    O O O O O O O
    O O O O O O O
    X X X X X X O
    O O X X . X O
    . O . X X X O""")
IN_SEKI = [parse_vertex("A2", 7), parse_vertex("A3", 7)]


def test_eyes_in_seki_are_taxed_only_where_the_rules_say_so() -> None:
    untaxed = Rules(scoring=Scoring.TERRITORY, komi=0)
    taxed = Rules(scoring=Scoring.TERRITORY, tax=Tax.SEKI, komi=0)
    assert score(SEKI, untaxed, seki=IN_SEKI) == 1 - 4
    assert score(SEKI, taxed, seki=IN_SEKI) == 0 - 3
    assert score(SEKI, taxed) == 1 - 4
    area_taxed = Rules(tax=Tax.SEKI, komi=0)
    assert score(SEKI, area_taxed, seki=IN_SEKI) == 12 - 34
    assert score(SEKI, area_taxed, seki=IN_SEKI[1:]) == 12 - 35, "the black chain alone"
    assert score(SEKI, Rules(komi=0), seki=IN_SEKI[1:]) == 13 - 35
    assert territory(SEKI, seki=IN_SEKI)[parse_vertex("A1", 7)] == EMPTY


def test_komi_and_handicap_compensation() -> None:
    board = Board.parse(". X . / X X X / . X .")
    assert score(board, Rules(komi=7.5)) == 9 - 7.5
    bonus = Rules(komi=0.5, handicap_bonus=HandicapBonus.STONES)
    assert score(board, bonus, handicap=4) == 9 - 0.5 - 4
    less_one = Rules(komi=0.5, handicap_bonus=HandicapBonus.STONES_LESS_ONE)
    assert score(board, less_one, handicap=4) == 9 - 0.5 - 3
    assert score(board, NAMED_RULES["japanese"], handicap=4) == 4 - 6.5
