from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from katachi.arena.match import Conditions, CountReferee, Ending, PlayedGame, play_game
from katachi.core.contracts import Decision, Limit, Player
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE, parse_vertex
from katachi.go.rules import parse_rules

Answer = Decision | Callable[[Game], Decision]


class Scripted:
    """Answers as told, in turn; passes when it has nothing left to say."""

    def __init__(self, *answers: Answer | str, name: str = "scripted") -> None:
        self.name = name
        self.answers = list(answers)
        self.limits: list[Limit] = []

    def decide(self, game: Game, limit: Limit) -> Decision:
        self.limits.append(limit)
        answer = self.answers.pop(0) if self.answers else Decision(PASS)
        if isinstance(answer, str):
            return Decision(parse_vertex(answer, game.size))
        return answer if isinstance(answer, Decision) else answer(game)


def play(black: Player, white: Player, game: Game | None = None, **conditions: object) -> PlayedGame:
    return play_game(black, white, game or Game(5), Conditions(**conditions))  # type: ignore[arg-type]


def test_a_game_ends_with_two_passes_and_is_counted() -> None:
    played = play(Scripted("C3"), Scripted("C4"))
    assert played.ending is Ending.PASSES
    assert [step.move for step in played.game.moves] == [12, 7, PASS, PASS]
    assert str(played.verdict(CountReferee()).result) == "W+7.5"


def test_white_begins_where_the_opening_says_so() -> None:
    game = Game(5)
    game.setup(black=[12], to_play=WHITE)
    played = play(Scripted(), Scripted("C4"), game)
    assert played.game.moves[0] == (WHITE, 7)


@pytest.mark.parametrize(
    ("answers", "loser", "detail"),
    [
        ((["C3", "C3"], []), BLACK, "black answered C3: occupied (move 3 by black)"),
        ((["C3"], ["C3"]), WHITE, "white answered C3: occupied (move 2 by white)"),
        (([Decision(99)], []), BLACK, "black answered 99: off the board (move 1 by black)"),
        (([Decision(-7)], []), BLACK, "black answered -7: off the board (move 1 by black)"),
    ],
)
def test_an_illegal_move_loses_and_is_not_played(
    answers: tuple[list[Answer | str], list[Answer | str]], loser: int, detail: str
) -> None:
    played = play(Scripted(*answers[0], name="black"), Scripted(*answers[1], name="white"))
    assert (played.ending, played.loser, played.detail) == (Ending.ILLEGAL_MOVE, loser, detail)
    assert str(played.verdict(CountReferee()).result) == ("W+F" if loser == BLACK else "B+F")
    assert not played.game.is_over


def test_superko_is_the_referees_to_enforce() -> None:
    stones = {"black": ["B4", "A3", "B2", "C3"], "white": ["C4", "D3", "C2"]}
    points = {color: [parse_vertex(vertex, 5) for vertex in vertices] for color, vertices in stones.items()}
    for rules, ending in (("tromp-taylor", Ending.ILLEGAL_MOVE), ("japanese", Ending.ILLEGAL_MOVE)):
        game = Game(5, parse_rules(rules))
        game.setup(**points, to_play=WHITE)  # type: ignore[arg-type]
        played = play(Scripted("C3"), Scripted("B3"), game)
        assert (played.ending, played.loser) == (ending, BLACK)
        assert "ko" in played.detail


def test_a_player_that_raises_loses_with_what_it_said() -> None:
    def fail(game: Game) -> Decision:
        raise RuntimeError("out of\n  memory")

    played = play(Scripted("C3"), Scripted(fail, name="white"))
    assert (played.ending, played.loser) == (Ending.FAILURE, WHITE)
    assert played.detail == "white: RuntimeError: out of memory"
    assert str(played.verdict(CountReferee()).result) == "B+F"


def test_a_player_that_answers_nonsense_loses() -> None:
    played = play(Scripted(lambda game: None), Scripted())  # type: ignore[arg-type, return-value]
    assert (played.ending, played.loser) == (Ending.FAILURE, BLACK)
    played = play(Scripted(Decision("C3")), Scripted())  # type: ignore[arg-type]
    assert (played.ending, played.loser) == (Ending.FAILURE, BLACK)


def test_stopping_the_program_is_no_failure_of_a_player() -> None:
    def interrupt(game: Game) -> Decision:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(Scripted(interrupt), Scripted())


def test_resigning_ends_the_game() -> None:
    played = play(Scripted("C3"), Scripted(Decision(resign=True)))
    assert (played.ending, played.loser) == (Ending.RESIGNATION, WHITE)
    assert str(played.verdict(CountReferee()).result) == "B+R"


def test_a_game_is_stopped_and_counted_at_the_move_limit() -> None:
    played = play(Scripted("A1", "A2", "A3"), Scripted("E1", "E2", "E3"), max_moves=4)
    assert (played.ending, len(played.game.moves)) == (Ending.MOVE_LIMIT, 4)
    assert played.verdict(CountReferee()).result.margin == 7.5


def test_passes_at_the_move_limit_still_end_the_game() -> None:
    assert play(Scripted(), Scripted(), max_moves=2).ending is Ending.PASSES


def test_a_player_that_changes_its_game_changes_nothing_for_the_others() -> None:
    def meddle(game: Game) -> Decision:
        game.play(0)
        game.play(1)
        game.komi = -100
        return Decision(12)

    played = play(Scripted(meddle), Scripted())
    assert [step.move for step in played.game.moves] == [12, PASS, PASS]
    assert played.game.komi == 7.5


def test_players_are_handed_the_limit() -> None:
    black = Scripted("C3")
    play(black, Scripted(), limit=Limit(simulations=7))
    assert black.limits == [Limit(simulations=7)] * 2


def slow(game: Game) -> Decision:
    time.sleep(0.03)
    return Decision(PASS)


def test_time_is_counted_and_overruns_are_recorded() -> None:
    played = play(Scripted(slow, slow), Scripted("C3"), limit=Limit(seconds=0.01), grace=0.0)
    use = played.time_use[BLACK]
    assert played.ending is Ending.PASSES
    assert (use.moves, use.overruns) == (2, 2)
    assert use.total >= 2 * 0.03
    assert use.longest >= 0.03


def test_grace_is_not_an_overrun() -> None:
    played = play(Scripted(slow), Scripted(), limit=Limit(seconds=0.01), grace=60.0)
    assert played.time_use[BLACK].overruns == 0


def test_a_player_loses_on_time_if_that_is_agreed() -> None:
    played = play(Scripted(slow, name="sloth"), Scripted(), limit=Limit(seconds=0.01), grace=0.0, lose_on_time=True)
    assert (played.ending, played.loser) == (Ending.TIME, BLACK)
    assert played.detail.startswith("sloth took 0.")
    assert str(played.verdict(CountReferee()).result) == "W+T"
