"""A game: history, the three ko rules, handicap, the end and its result."""

from __future__ import annotations

import pytest

from katachi.go.board import Board, Illegality, IllegalMove, NothingToUndo
from katachi.go.game import Game, Play, Setup
from katachi.go.points import BLACK, PASS, WHITE, Reason, format_vertex, parse_vertex
from katachi.go.rules import NAMED_RULES, KoRule, Rules

ALL_KO = list(KoRule)


def set_up(text: str, rules: Rules) -> Game:
    """A game that begins with a position."""
    board = Board.parse(text)
    game = Game(board.size, rules)
    game.setup(
        *([p for p in range(board.size**2) if board[p] == color] for color in (BLACK, WHITE)), to_play=board.to_play
    )
    return game


def play(game: Game, vertices: str) -> None:
    for text in vertices.split():
        game.play(parse_vertex(text, game.size))


def why(game: Game, vertex: str) -> Illegality | None:
    return game.why_illegal(parse_vertex(vertex, game.size))


@pytest.mark.parametrize("ko", ALL_KO)
def test_ko_is_forbidden_by_every_rule(ko: KoRule) -> None:
    game = set_up(". X O . / X . X O / . X O . / . . . . / White to play", Rules(ko=ko))
    play(game, "B3")
    assert why(game, "C3") is Illegality.KO
    play(game, "A1 D1")
    assert why(game, "C3") is None, "after an exchange elsewhere the position is new"


@pytest.mark.parametrize(
    ("ko", "reason"),
    [(KoRule.SIMPLE, None), (KoRule.POSITIONAL, Illegality.SUPERKO), (KoRule.SITUATIONAL, None)],
)
def test_sending_two_returning_one(ko: KoRule, reason: Illegality | None) -> None:
    """White takes two stones, Black takes one back: the first board is there again, but White is to play."""
    game = set_up(
        """
        . X . X .
        O O X X .
        . O X . .
        . . . . .
        . . . . .""",
        Rules(ko=ko),
    )
    play(game, "A5 C5")
    assert game.board.captured(BLACK) == 2
    assert why(game, "B5") is reason


@pytest.mark.parametrize(
    ("ko", "reason"),
    [(KoRule.SIMPLE, None), (KoRule.POSITIONAL, Illegality.SUPERKO), (KoRule.SITUATIONAL, Illegality.SUPERKO)],
)
def test_triple_ko(ko: KoRule, reason: Illegality | None) -> None:
    """Three kos turn in a circle of six moves, the last of which makes the first situation again."""
    game = set_up(
        """
        . X O . . . . . .
        X . X O . . . . .
        . X O . . . . . .
        . X O . . . . . .
        X . X O . . . . .
        . X O . . . . . .
        . X O . . . . . .
        X O . O . . . . .
        . X O . . . . . .
        White to play""",
        Rules(ko=ko),
    )
    play(game, "B8 C2 B5 C8 B2")
    assert why(game, "C5") is reason
    legal = game.legal_moves()
    assert legal[parse_vertex("C5", 9)] == (reason is None)


def test_a_pass_is_never_forbidden() -> None:
    for ko in ALL_KO:
        game = Game(3, Rules(ko=ko))
        for _ in range(4):
            assert game.why_illegal(PASS) is None
            game.play(PASS)


def test_undo_forgets_positions() -> None:
    game = set_up(". X O . / X . X O / . X O . / . . . . / White to play", Rules(ko=KoRule.POSITIONAL))
    play(game, "B3 A1 D1")
    game.undo()
    game.undo()
    game.undo()
    assert why(game, "B3") is None
    play(game, "B3")
    assert why(game, "C3") is Illegality.KO


def test_steps_moves_and_handicap() -> None:
    game = Game(9)
    game.place_handicap([20, 60])
    game.play(40)
    assert game.steps == [Setup((20, 60), (), (), WHITE), Play(WHITE, 40)]
    assert game.moves == [Play(WHITE, 40)]
    assert (game.handicap, game.to_play, game.last_move) == (2, BLACK, 40)
    game.undo()
    game.undo()
    assert (game.handicap, game.to_play, game.last_move) == (0, BLACK, None)
    with pytest.raises(NothingToUndo):
        game.undo()


@pytest.mark.parametrize("points", [[], [20], [20, 20]])
def test_a_handicap_is_two_stones_or_more(points: list[int]) -> None:
    with pytest.raises(ValueError, match="two stones"):
        Game(9).place_handicap(points)


def test_handicap_goes_on_the_empty_board() -> None:
    game = Game(9)
    game.play(40)
    with pytest.raises(ValueError, match="empty board"):
        game.place_handicap([20, 60])


def test_two_passes_end_the_game_and_undo_takes_the_end_back() -> None:
    game = Game(5, Rules(komi=0.5))
    play(game, "C3 pass")
    assert not game.is_over
    assert game.result() is None
    play(game, "pass")
    assert game.is_over
    assert str(game.result()) == "B+24.5"
    game.undo()
    assert game.result() is None


def test_resignation_and_undo() -> None:
    game = Game(5)
    game.resign()
    result = game.result()
    assert result is not None
    assert (result.winner, result.reason, str(result)) == (WHITE, Reason.RESIGNATION, "W+R")
    game.undo()
    assert not game.is_over


def test_the_score_follows_rules_komi_and_handicap() -> None:
    game = Game(9, NAMED_RULES["chinese"])
    game.place_handicap([20, 60])
    assert game.score() == 81 - 7.5 - 2
    game.komi = 0.5
    assert game.score() == 81 - 0.5 - 2
    game.rules = NAMED_RULES["japanese"].with_komi(0.5)
    assert game.score() == 79 - 0.5


def test_the_score_takes_dead_stones_off() -> None:
    game = set_up("O X . / . X . / . X .", Rules(komi=0))
    assert game.score() == 6 - 1
    assert game.score(dead=[0]) == 9


def test_suicide_follows_the_rules() -> None:
    text = ". X O / O O O / . . ."
    assert why(set_up(text, Rules(suicide=False)), "A3") is Illegality.SUICIDE
    game = set_up(text, Rules(suicide=True))
    play(game, "A3")
    assert game.board.captured(BLACK) == 2


def test_an_illegal_move_is_named_and_changes_nothing() -> None:
    game = Game(5)
    play(game, "C3")
    with pytest.raises(IllegalMove, match=f"{format_vertex(12, 5)}: occupied"):
        game.play(12)
    assert game.moves == [Play(BLACK, 12)]
    assert game.to_play == WHITE
