"""Board and Game against the slow twin, move by move."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import agreement, naive
from katachi.go.board import Board, IllegalMove
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE
from katachi.go.rules import KoRule, Rules

COLORS = st.sampled_from((BLACK, WHITE))


@pytest.mark.parametrize("seed", range(8))
def test_random_games_agree_move_by_move(seed: int) -> None:
    witness = agreement.Witness()
    *_, moves = agreement.play_random_games(4000, 1000 + seed, witness=witness)
    assert moves == 4000
    assert {"OCCUPIED", "SUICIDE"} <= witness.reasons.keys()


def test_small_boards_meet_every_reason() -> None:
    witness = agreement.Witness()
    *_, moves = agreement.play_random_games(6000, 7, sizes=(2, 3, 4), witness=witness)
    assert moves == 6000
    assert min(witness.reasons[reason] for reason in ("OCCUPIED", "KO", "SUPERKO", "SUICIDE")) > 20


@st.composite
def colorings(draw: st.DrawFn) -> tuple[int, list[int]]:
    size = draw(st.integers(2, 7))
    return size, draw(st.lists(st.sampled_from((0, 0, 1, -1)), min_size=size**2, max_size=size**2))


@given(colorings())
@settings(max_examples=300, deadline=None)
def test_set_up_stones_stand_or_are_refused(coloring: tuple[int, list[int]]) -> None:
    size, stones = coloring
    board = Board(size)
    black, white = ([p for p, s in enumerate(stones) if s == color] for color in (BLACK, WHITE))
    if not naive.is_legal_position(stones, size):
        with pytest.raises(ValueError, match="liberty"):
            board.place(black, white)
        assert not board.stones.any()
        return
    board.place(black, white, to_play=WHITE)
    assert board.stones.tolist() == stones
    assert board.to_play == WHITE
    for stone, (chain, liberties) in naive.liberties_by_point(stones, size).items():
        assert board.chain(stone) == sorted(chain)
        assert board.liberties(stone) == sorted(liberties)
        assert board.liberty_count(stone) == len(liberties)
    assert Board.parse(str(board)) == board


@given(colorings(), st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_a_position_hashes_the_same_however_it_came_about(coloring: tuple[int, list[int]], seed: int) -> None:
    size, stones = coloring
    if not naive.is_legal_position(stones, size):
        return
    at_once, one_by_one = Board(size), Board(size)
    at_once.place(*([p for p, s in enumerate(stones) if s == color] for color in (BLACK, WHITE)))
    order = [point for point in range(size**2) if stones[point]]
    random.Random(seed).shuffle(order)
    for point in order:
        one_by_one.place(
            black=[point] if stones[point] == BLACK else (), white=[point] if stones[point] == WHITE else ()
        )
    assert at_once.hash == one_by_one.hash
    assert at_once == one_by_one


Action = tuple[str, int, int]
ACTIONS = st.lists(
    st.tuples(st.sampled_from(("play", "play", "play", "pass", "setup", "undo")), st.integers(0, 24), COLORS)
)


@given(ACTIONS, st.sampled_from(agreement.ALL_RULES), st.integers(2, 5))
@settings(max_examples=300, deadline=None)
def test_any_interleaving_of_plays_set_ups_and_undos_agrees(actions: list[Action], rules: Rules, size: int) -> None:
    pair = agreement.new_pair(size, rules, 0, agreement.Witness())
    trail = [agreement.contents(pair.game)]
    for what, number, color in actions:
        point = number % size**2
        if what == "undo":
            if len(trail) > 1:
                trail.pop()
                pair.game.undo()
                pair.twin.undo()
        elif what == "setup":
            if _set_up(pair, point, color):
                trail.append(agreement.contents(pair.game))
        else:
            move = PASS if what == "pass" else point
            if move in pair.twin.illegal_points(color):
                with pytest.raises(IllegalMove):
                    pair.game.play(move, color)
            else:
                pair.game.play(move, color)
                pair.twin.play(move, color)
                trail.append(agreement.contents(pair.game))
        assert agreement.contents(pair.game) == trail[-1]
        pair.check_state()
        pair.check_legality(color)


def _set_up(pair: agreement.Pair, point: int, color: int) -> bool:
    pair.twin.setup([point], [], [], color)
    if naive.is_legal_position(pair.twin.stones, pair.twin.size):
        pair.game.setup(black=[point], to_play=color)
        return True
    with pytest.raises(ValueError, match="liberty"):
        pair.game.setup(black=[point], to_play=color)
    pair.twin.undo()
    return False


def test_a_copy_goes_its_own_way() -> None:
    game = Game(5, Rules(ko=KoRule.POSITIONAL))
    for move in (6, 7, 12):
        game.play(move)
    twin = game.copy()
    twin.undo()
    twin.play(18)
    assert game.board[18] == 0
    assert [play.move for play in game.moves] == [6, 7, 12]
    assert [play.move for play in twin.moves] == [6, 7, 18]
