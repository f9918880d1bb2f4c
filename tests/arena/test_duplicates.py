from __future__ import annotations

from collections.abc import Callable

import pytest

from katachi.arena.records import GameRecord, find_duplicates, fingerprint
from katachi.go.game import Play, Setup, Step
from katachi.go.points import BLACK, PASS, WHITE, Symmetry

SIZE = 5
GAME: list[Step] = [Setup((0, 3), (7,), (), BLACK), Play(BLACK, 1), Play(WHITE, 13), Play(BLACK, PASS)]


def turned(step: Step, symmetry: Symmetry) -> Step:
    def points(moves: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(symmetry.apply(move, SIZE) for move in moves)

    if isinstance(step, Play):
        return Play(step.color, symmetry.apply(step.move, SIZE))
    return Setup(points(step.black), points(step.white), points(step.empty), step.to_play)


@pytest.mark.parametrize("symmetry", list(Symmetry))
def test_turned_and_mirrored_games_are_the_same(symmetry: Symmetry) -> None:
    assert fingerprint([turned(step, symmetry) for step in GAME], SIZE) == fingerprint(GAME, SIZE)


@pytest.mark.parametrize(
    "other",
    [
        GAME[:-1],
        [*GAME, Play(WHITE, PASS)],
        [GAME[0], Play(BLACK, 2), *GAME[2:]],
        [GAME[0], Play(WHITE, 1), *GAME[2:]],
        [Setup((0, 3), (8,), (), BLACK), *GAME[1:]],
        [GAME[0], GAME[2], GAME[1], GAME[3]],
    ],
)
def test_other_games_are_not(other: list[Step]) -> None:
    assert fingerprint(other, SIZE) != fingerprint(GAME, SIZE)


def test_the_same_moves_on_another_size_are_another_game() -> None:
    assert fingerprint([Play(BLACK, PASS)], 5) != fingerprint([Play(BLACK, PASS)], 9)


def test_a_duplicate_is_a_later_game_of_the_same_players_with_the_same_colors(
    make_record: Callable[..., GameRecord],
) -> None:
    games = [
        make_record("a", "b", "B+R", number=0, fingerprint="x"),
        make_record("b", "a", "B+R", number=1, fingerprint="x"),
        make_record("a", "b", "B+R", number=2, fingerprint="x"),
        make_record("a", "b", "B+R", number=4, fingerprint="y"),
        make_record("a", "c", "B+R", pairing=1, number=0, fingerprint="x"),
    ]
    assert find_duplicates(reversed(games)) == {"01-0003"}
