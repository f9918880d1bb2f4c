from __future__ import annotations

import numpy as np
import pytest

from katachi.core.contracts import Decision, Limit
from katachi.go.board import Illegality
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE, parse_vertex
from katachi.go.rules import KoRule, Rules
from katachi.players.simple import AlpPlayer, InfluencePlayer, OnePlyPlayer, RandomPlayer

PLAYERS = (RandomPlayer, AlpPlayer, InfluencePlayer)


def decide(player: OnePlyPlayer, game: Game) -> Decision:
    return player.decide(game, Limit())


def game_of(diagram: str, to_play: int = BLACK, rules: Rules | None = None) -> Game:
    rows = [line.split() for line in diagram.strip().splitlines()]
    game = Game(len(rows), rules)
    cells = [cell for row in rows for cell in row]
    black = [point for point, cell in enumerate(cells) if cell == "X"]
    white = [point for point, cell in enumerate(cells) if cell == "O"]
    game.setup(black=black, white=white, to_play=to_play)
    return game


def play_game(black: OnePlyPlayer, white: OnePlyPlayer, size: int) -> Game:
    game = Game(size)
    while not game.is_over and len(game.moves) < 10 * size * size:
        game.play(decide(black if game.to_play == BLACK else white, game).move)
    return game


@pytest.mark.parametrize("make", PLAYERS)
def test_never_fills_its_own_eyes(make):
    game = game_of("""
        . X O O
        X X O .
        . X O O
        X X O .
    """)
    decision = decide(make(seed=1), game)
    assert decision.move == PASS
    assert decision.comment == "no sensible move is left"


@pytest.mark.parametrize("make", PLAYERS)
def test_plays_anywhere_but_in_its_eyes(make):
    game = game_of("""
        . X O .
        X X O O
        X X O .
        . X . .
    """)
    seen = {decide(make(seed=seed), game).move for seed in range(20)}
    assert seen
    assert seen.isdisjoint({PASS, parse_vertex("A4", 4), parse_vertex("A1", 4)})


def test_random_is_uniform_over_sensible_moves():
    game = game_of("""
        . X .
        X . X
        . X .
    """, to_play=WHITE)  # fmt: skip
    assert decide(RandomPlayer(), game).move == PASS  # every point is suicide
    empty = Game(3)
    player = RandomPlayer(seed=1)
    counts = np.bincount([decide(player, empty).move for _ in range(900)], minlength=9)
    assert counts.min() > 60
    assert counts.sum() == 900


@pytest.mark.parametrize(("to_play", "stones"), [(BLACK, "XO"), (WHITE, "OX")])
def test_alp_captures_for_either_color(to_play, stones):
    diagram = """
        . . . . .
        . . X . .
        . X O . .
        . . X . .
        . . . . .
    """
    own, opponent = stones
    turned = diagram.translate(str.maketrans({"X": own, "O": opponent}))
    assert decide(AlpPlayer(seed=1), game_of(turned, to_play)).move == parse_vertex("D3", 5)


def test_alp_value_is_the_difference_of_means():
    game = game_of("""
        X . .
        . . .
        . . O
    """)
    values = AlpPlayer().sweep(game)
    # Black at B3 makes one chain of 3 liberties; White's stone keeps 2.
    assert values[parse_vertex("B3", 3)] == 3 - 2
    # Black in the middle: two chains of 2 and 4 liberties.
    assert values[parse_vertex("B2", 3)] == (2 + 4) / 2 - 2


def test_influence_prefers_to_surround():
    """Black closes the side that is open rather than adding a stone inside."""
    game = game_of("""
        . . X . O . .
        . . X . O . .
        . . X . O . .
        . . X . O . .
        . . X . O . .
        . . X . O . .
        . . . . O . .
    """)
    values = InfluencePlayer().sweep(game)
    assert values[parse_vertex("C1", 7)] > values[parse_vertex("A7", 7)]


@pytest.mark.parametrize("make", PLAYERS)
def test_takes_another_move_when_superko_forbids_the_best(make):
    """A player whose favorite move is forbidden by superko alone must not play it."""
    rng = np.random.default_rng(1)
    forbidden_favorites = 0
    for _ in range(150):
        game = Game(3, Rules(KoRule.POSITIONAL))
        for _ in range(30):
            values = make().sweep(game) * game.to_play
            best = np.flatnonzero(values == np.nanmax(values)) if not np.isnan(values).all() else []
            if any(game.why_illegal(int(move)) is Illegality.SUPERKO for move in best):
                forbidden_favorites += 1
                assert all(game.is_legal(decide(make(seed=seed), game).move) for seed in range(5))
            legal = np.flatnonzero(game.legal_moves()[:-1])
            game.play(int(rng.choice(legal)) if legal.size else PASS)
    assert forbidden_favorites > 5


@pytest.mark.parametrize("make", PLAYERS)
@pytest.mark.parametrize(("komi", "has_won"), [(-0.5, True), (0.5, False)])
def test_passes_after_a_pass_if_it_has_won(make, komi, has_won):
    half_and_half = """
        . . . .
        X X X X
        O O O O
        . . . .
    """
    game = game_of(half_and_half, to_play=WHITE, rules=Rules(komi=komi))
    game.play(PASS)
    assert (decide(make(seed=1), game).move == PASS) == has_won


@pytest.mark.parametrize("make", PLAYERS)
def test_an_early_pass_does_not_end_the_game(make):
    game = Game(size=9)
    for move in (parse_vertex("D4", 9), parse_vertex("E5", 9), PASS):
        game.play(move)
    assert game.score() < 0  # White would win on komi
    assert decide(make(seed=1), game).move != PASS


@pytest.mark.parametrize("make", PLAYERS)
def test_plays_on_when_nobody_passed(make):
    assert decide(make(seed=1), Game(5, Rules(komi=-7.5))).move != PASS


@pytest.mark.parametrize("make", PLAYERS)
def test_a_game_comes_to_its_end(make):
    game = play_game(make(seed=1), make(seed=2), size=5)
    assert game.is_over
    assert game.result() is not None


@pytest.mark.parametrize("make", PLAYERS)
def test_the_same_seed_plays_the_same_game(make):
    first, again, other = (play_game(make(seed=s), make(seed=s + 1), size=5).moves for s in (1, 1, 7))
    assert first == again
    assert first != other


@pytest.mark.parametrize("make", PLAYERS)
def test_what_is_shown(make):
    game = Game(5)
    game.play(12)
    analysis = decide(make(seed=1), game).analysis
    assert analysis is not None
    assert len(analysis.candidates) == 10
    if make is RandomPlayer:
        assert {candidate.prior for candidate in analysis.candidates} == {1 / 24}
    else:  # White wants what is best for White
        shown = [candidate.black_wins for candidate in analysis.candidates]
        assert shown == sorted(shown)
        assert analysis.black_wins == shown[0]
    assert (analysis.ownership is not None) == (make is InfluencePlayer)


def test_alp_beats_influence_beats_random():
    """Ten games a pair on 9×9; the measured odds are beyond 3 : 1 and 25 : 1."""
    for strong, weak in ((AlpPlayer, RandomPlayer), (InfluencePlayer, RandomPlayer), (AlpPlayer, InfluencePlayer)):
        wins = 0
        for seed in range(10):
            as_black = seed % 2 == 0
            players = (strong(seed=seed), weak(seed=seed))
            black, white = players if as_black else players[::-1]
            result = play_game(black, white, size=9).result()
            assert result is not None
            wins += result.winner == (BLACK if as_black else WHITE)
        assert wins >= 6, (strong.kind, weak.kind, wins)


def test_a_name_of_ones_own():
    assert RandomPlayer().name == "random"
    assert AlpPlayer("mine").name == "mine"
