"""Counting again agrees with ``go.scoring`` whatever is dead, and knows what sekis do."""

from __future__ import annotations

import numpy as np
import pytest

from katachi.data.labeling import FinalGame, ownership_by_marks, ownership_by_status, reproduces
from katachi.go import scoring
from katachi.go.board import Board
from katachi.go.points import BLACK, WHITE
from katachi.go.rules import NAMED_RULES, Rules

SETTLED = """
O . X O .
X X X O O
. X X O .
X X X O O
. X X O ."""


def final(board: Board, rules: Rules, black_lead: float, handicap: int = 0) -> FinalGame:
    return FinalGame(board, np.zeros(board.size**2, dtype=np.int8), (rules,), handicap, black_lead)


def random_board(rng: np.random.Generator) -> Board:
    """A board in the middle of a random game, with prisoners."""
    board = Board(5)
    for _ in range(60):
        points = np.flatnonzero(board.legal_moves()[:-1])
        if points.size:
            board.play(int(rng.choice(points)))
    return board


@pytest.mark.parametrize("name", ["chinese", "aga", "new-zealand", "japanese"])
def test_the_count_is_that_of_scoring(name: str) -> None:
    rng = np.random.default_rng(3)
    rules = NAMED_RULES[name].with_komi(3.5)
    for _ in range(20):
        board = random_board(rng)
        dead = [point for chain in board.chains() if rng.random() < 0.3 for point in chain]
        lead = scoring.score(board, rules, dead, handicap=4)
        game = final(board, rules, lead, handicap=4)
        ownership = ownership_by_status(game, dead, ())
        assert reproduces(game, ownership)
        assert not reproduces(game._replace(black_lead=lead + 1), ownership)
        assert (ownership == scoring.area(board, dead)).all()


def test_eyes_in_seki_are_neutral_where_only_that_leads_to_the_result() -> None:
    board = Board.parse(SETTLED)
    japanese, chinese = (NAMED_RULES[name].with_komi(0.5) for name in ("japanese", "chinese"))
    seki = [3]  # let us say that White's living chain is in seki
    plain = scoring.area(board, [0])
    taxed = plain.copy()
    taxed[[4, 14, 24]] = 0
    assert (ownership_by_status(final(board, japanese, 4.5), [0], seki) == taxed).all()
    assert (ownership_by_status(final(board, japanese, 1.5), [0], seki) == plain).all()
    assert (ownership_by_status(final(board, chinese, 7.5), [0], seki) == plain).all()
    assert reproduces(final(board, japanese, 4.5), taxed)


def test_marks_may_name_living_stones_too() -> None:
    board = Board.parse(SETTLED)
    marks = scoring.area(board, [0])
    for name, lead in (("chinese", 4.5), ("japanese", 1.5)):
        game = final(board, NAMED_RULES[name].with_komi(0.5), lead)._replace(marks=marks)
        assert reproduces(game, ownership_by_marks(game))
    assert (marks == np.tile([BLACK, BLACK, BLACK, WHITE, WHITE], 5)).all()
