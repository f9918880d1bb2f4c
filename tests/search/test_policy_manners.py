"""How a policy alone ends its games: passing when all is settled, captures before that, resigning, long games."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.boardfiles import read_boards
from helpers.doubles import HashEvaluator
from katachi.arena.match import Conditions, Ending, EstimateReferee, play_game
from katachi.core.contracts import Evaluation, Limit, Outcome, OutcomeEvaluator
from katachi.core.evaluators import PolicyEvaluator, after
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE
from katachi.go.rules import NAMED_RULES, KoRule, Rules
from katachi.go.scoring import area
from katachi.players.search_player import SearchPlayer
from katachi.players.specs import load_player
from katachi.search.alphabeta import AlphaBetaSearch
from katachi.search.mcts import MctsSearch
from katachi.search.one_ply import GreedySearch, PolicySearch, dead_when_settled
from katachi.search.settings import MctsSettings

CHINESE = NAMED_RULES["chinese-ogs"]  # dead stones are taken off
KATACHI = NAMED_RULES["katachi"]  # dead stones must be captured

# Black owns 28 points on the left, with a dead white stone in them, White 21 on the right.
FINISHED = """
    . X . X O . O
    X X X X O O .
    . X . X O . O
    X X . X O O O
    . O . X O . .
    . . X X O O O
    . . . X O O .
"""
DEAD_STONE = 29

# The same without the dead stone, and with a point between them that is nobody's: D7.
DAME = """
    . X X . O . O
    X X X X O O .
    . X . X O . O
    X X . X O O O
    . . . X O . .
    . X X X O O O
    X . . X O O .
"""
D7 = 3


def set_up(picture: str, rules: Rules, komi: float, to_play: int = BLACK, *, passed: bool = False) -> Game:
    board = Board.parse(picture)
    game = Game(board.size, rules.with_komi(komi))
    black, white = (np.flatnonzero(board.stones == color).tolist() for color in (BLACK, WHITE))
    game.setup(black=black, white=white, to_play=-to_play if passed else to_play)
    if passed:
        game.play(PASS)
    return game


class Knowing:
    """Knows who owns what, if Black is to play and if White is. Its score is sure, its policy likes all moves alike."""

    def __init__(self, owners, for_white=None, komi: float = 7.5, spread: float = 1.0) -> None:
        self.owners = {BLACK: np.float32(owners), WHITE: np.float32(owners if for_white is None else for_white)}
        self.komi, self.spread = komi, spread

    def at_komi(self, komi: float) -> Knowing:
        return Knowing(self.owners[BLACK], self.owners[WHITE], komi, self.spread)

    def ownership(self, boards):
        return np.stack([self.owners[board.to_play] for board in boards])

    def predict_outcome(self, boards):
        owners = self.ownership(boards)
        leads = owners.sum(axis=1) - np.float32(self.komi)
        spread = np.full(len(boards), self.spread, dtype=np.float32)
        return Outcome(np.float32(leads > 0), 0 * spread, leads, spread, owners)

    def evaluate(self, boards):
        return Evaluation(self.predict_outcome(boards).black_wins, HashEvaluator().evaluate(boards).policy)

    def evaluate_outcomes(self, boards):
        return self.evaluate(boards), self.predict_outcome(boards)


def knowing(picture: str, dead=(), **options) -> Knowing:
    return Knowing(0.9 * area(Board.parse(picture), dead), **options)


EVALUATORS = {"playouts": HashEvaluator(), "ownership": knowing(FINISHED, [DEAD_STONE])}


def choose(evaluator, game: Game, seed: int = 0):
    return PolicySearch(evaluator).search(game, Limit(), np.random.default_rng(seed))


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("passed", [False, True])
@pytest.mark.parametrize("komi", [5.5, 9.5])
@pytest.mark.parametrize("to_play", [BLACK, WHITE])
def test_passes_in_a_settled_game_won_or_lost(evaluator, passed, komi, to_play):
    game = set_up(FINISHED, CHINESE, komi, to_play, passed=passed)
    assert choose(EVALUATORS[evaluator], game).move == PASS


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("passed", [False, True])
@pytest.mark.parametrize("komi", [5.5, 9.5])
def test_captures_dead_stones_before_it_passes_where_the_rules_want_that(evaluator, passed, komi):
    game = set_up(FINISHED, KATACHI, komi, passed=passed)
    assert game.score() < 0
    while DEAD_STONE in np.flatnonzero(game.board.stones).tolist():
        move = choose(EVALUATORS[evaluator], game).move
        assert move in game.board.liberties(DEAD_STONE)
        game.play(move)
        game.play(PASS)
    assert game.score() == 7 - komi
    assert choose(HashEvaluator(), game).move == PASS


@pytest.mark.parametrize("rules", [CHINESE, KATACHI])
@pytest.mark.parametrize("knows", [False, True])
@pytest.mark.parametrize("to_play", [BLACK, WHITE])
def test_plays_on_where_a_point_is_open(rules, knows, to_play):
    game = set_up(DAME, rules, 6.5, to_play)
    after_it = after(game.board, D7)
    evaluator = Knowing(0.9 * area(after_it)) if knows else HashEvaluator()  # it is sure that we get it
    assert PASS not in {choose(evaluator, game, seed).move for seed in range(20)}
    game.play(D7)
    assert choose(evaluator, game).move == PASS


def test_plays_on_where_the_pass_would_lose_something():
    """The owner of the upper left is sure if Black plays now, and other if not."""
    owners = EVALUATORS["ownership"].owners[BLACK]
    game = set_up(FINISHED, CHINESE, 5.5)
    for share in (-1.0, 0.5):
        after_pass = owners.copy()
        after_pass[:3] *= share
        assert choose(Knowing(owners, after_pass), game).move != PASS
    assert choose(Knowing(owners, np.full(49, -0.9)), game).move != PASS, "all of Black's stones would die"


@pytest.mark.parametrize(("cost", "passes"), [(1.5, True), (2.5, False)])
def test_a_pass_that_costs_points_is_not_the_end(cost, passes):
    class Fearing(Knowing):
        def at_komi(self, komi):
            return self

        def predict_outcome(self, boards):
            found = super().predict_outcome(boards)
            to_play = np.array([board.to_play for board in boards])
            return found._replace(black_lead=found.black_lead - np.float32(cost) * (to_play == WHITE))

    evaluator = Fearing(knowing(FINISHED, [DEAD_STONE]).owners[BLACK], komi=5.5)
    assert (choose(evaluator, set_up(FINISHED, CHINESE, 5.5)).move == PASS) is passes


@pytest.mark.parametrize(("komi", "share", "passes"), [(5.5, 0.7, True), (5.5, 0.5, False), (9.5, 0.7, False)])
def test_who_is_behind_must_be_the_surer(komi, share, passes):
    owners = share * area(Board.parse(FINISHED), [DEAD_STONE])
    assert (choose(Knowing(owners), set_up(FINISHED, CHINESE, komi)).move == PASS) is passes


def test_plays_on_where_a_chain_is_in_atari():
    """White's stone at E1, that is."""
    game = set_up(".XO.O/XXOO./.XXOO/XXXO./.XXXO", CHINESE, 0.5)
    owners = area(game.board).astype(np.float32)
    assert np.abs(owners).min() == 1
    assert dead_when_settled(game, owners) is None
    game.play(19, WHITE)
    assert dead_when_settled(game, owners) == ()


ENDS = [file for file in read_boards("status") if file.name.startswith(("game_9", "game_13", "seki", "settled"))]


@pytest.mark.parametrize("file", ENDS, ids=lambda file: file.name)
def test_who_is_ahead_passes_at_the_end_and_nobody_breaks_a_seki(file):
    ahead = WHITE if area(file.board, file.points["dead"]).sum() < 7.5 else BLACK
    black, white = (np.flatnonzero(file.board.stones == color).tolist() for color in (BLACK, WHITE))
    for to_play in (ahead, -ahead) if file.points["seki"] else (ahead,):
        game = Game(file.board.size, CHINESE)
        game.setup(black, white, to_play=to_play)
        assert choose(HashEvaluator(), game).move == PASS


def test_a_move_that_the_policy_is_sure_of_comes_before_a_pass():
    likes_c4 = PolicyEvaluator(lambda boards: np.eye(50, dtype=np.float32)[[23] * len(boards)])
    assert choose(likes_c4, set_up(FINISHED, CHINESE, 5.5)).move == 23
    assert choose(likes_c4, set_up(FINISHED, CHINESE, 5.5, passed=True)).move == PASS


@pytest.mark.parametrize(("share", "passes"), [(0.3, False), (0.2, True)])
def test_a_move_that_the_policy_likes_enough_comes_before_a_pass_too(share, passes):
    policy = np.full(50, (1 - share) / 49, dtype=np.float32)
    policy[23] = share

    class Liking(Knowing):
        def at_komi(self, komi):
            return self

        def evaluate(self, boards):
            return Evaluation(self.predict_outcome(boards).black_wins, policy[None])

    game = set_up(FINISHED, CHINESE, 5.5, WHITE)
    game.play(30)
    evaluator = Liking(EVALUATORS["ownership"].owners[BLACK])
    assert choose(evaluator, game).move == (PASS if passes else 23)


def test_where_it_is_behind_playouts_must_find_nothing_left_either():
    """A wide side that is Black's by what the evaluator says: White need not believe it."""
    picture = "......O/......O/......O/XXXXXXX/OOOOOOO/O.OO.OO/.OO.OO."
    owners = np.float32([0.9] * 28 + [-0.9] * 21)
    assert choose(Knowing(owners), set_up(picture, CHINESE, 2.5, WHITE)).move != PASS


def test_what_playouts_would_take_for_alive_is_captured_first():
    """The evaluator takes White's group for dead, the count at the end would not."""
    picture = ".O.O.XX/OOOOOX./XXXXXX./.....XX/X.X.XX./.X.X.X./X.X.XX."
    owners = np.full(49, 0.9, dtype=np.float32)
    game = set_up(picture, CHINESE, 30.5)
    assert dead_when_settled(game, owners) == (1,)
    assert game.score([1]) > 0 > game.score()
    assert choose(Knowing(owners), game).move != PASS


def test_reports_the_komi_of_the_game():
    evaluator = knowing(FINISHED, [DEAD_STONE])
    assert isinstance(evaluator, OutcomeEvaluator)
    for komi, wins in ((5.5, 1), (9.5, 0)):
        game = set_up(FINISHED, KATACHI, komi)
        analysis = SearchPlayer("policy", PolicySearch(evaluator)).decide(game, Limit()).analysis
        assert analysis.black_wins == wins
        assert analysis.black_lead == pytest.approx(0.9 * 7 - komi)
        assert analysis.ownership == pytest.approx(evaluator.owners[BLACK])
        tree = MctsSearch(evaluator, MctsSettings(priors="synchronous", value_share=1.0, threads=1, megabytes=16))
        for search in (GreedySearch(evaluator), AlphaBetaSearch(evaluator), tree):
            result = search.search(game, Limit(simulations=20), np.random.default_rng(1))
            assert abs(result.black_wins - wins) < 0.5


LOST_AT = 27  # moves: a third of 9×9


def lost_game(moves: int) -> Game:
    """So many moves, with Black to play at the end."""
    game, rng = Game(9), np.random.default_rng(5)
    for _ in range(moves):
        game.play(int(rng.choice(np.flatnonzero(game.legal_moves()[:-1]))))
    game.to_play = BLACK
    return game


@pytest.mark.parametrize(
    ("moves", "lead", "spread", "below", "resigns"),
    [
        (30, -40, 10, 0.05, True),
        (30, -40, 10, None, False),
        (30, -40, 25, 0.05, False),  # too wide to be sure
        (30, 40, 1, 0.05, False),
        (26, -40, 10, 0.05, False),  # too early
    ],
)
def test_resigns_when_it_is_hopeless_and_not_before(moves, lead, spread, below, resigns):
    evaluator = Knowing(np.full(81, (lead + 7.5) / 81), spread=spread)
    player = SearchPlayer("policy", PolicySearch(evaluator), resign_below=below)
    assert player.decide(lost_game(moves), Limit()).resign is resigns


@pytest.mark.parametrize("ago", [0, 2, 4, 6])
def test_resigns_after_three_hopeless_turns(ago):
    """One of the last turns was not lost: that of now, or two, four or six moves before."""
    game = lost_game(36)
    past = game.copy()
    for _ in range(ago):
        past.undo()
    hope = past.board.hash

    class Hoping(Knowing):
        def at_komi(self, komi):
            return self

        def predict_outcome(self, boards):
            wins = np.float32([0.04 + 0.5 * (board.hash == hope) for board in boards])
            return super().predict_outcome(boards)._replace(black_wins=wins)

    player = SearchPlayer("policy", PolicySearch(Hoping(np.full(81, -0.5))), resign_below=0.05)
    assert player.decide(game, Limit()).resign is (ago == 6)


def test_without_a_score_the_value_alone_decides_where_a_bound_is_set():
    class Lost(HashEvaluator):
        def value(self, board):
            return 0.01

    search = PolicySearch(Lost())
    assert SearchPlayer("policy", search, resign_below=0.05).decide(Game(9), Limit()).resign
    assert not SearchPlayer("policy", search).decide(Game(9), Limit()).resign


def game_with_a_ko(moves: int) -> Game:
    """So many moves on 5×5, all but eight of them passes. White has taken a ko, Black has passed, and plays again."""
    game = Game(5, Rules(KoRule.SIMPLE, komi=0.5))
    for move in (1, 2, 5, 8, 11, 12, *[PASS] * (moves - 9), 7, 6, PASS):
        game.play(move)
    game.to_play = BLACK
    return game


@pytest.mark.parametrize("moves", [73, 75])
def test_a_long_game_repeats_no_position_and_ends_with_a_pass_of_the_opponent(moves):
    game = game_with_a_ko(moves)
    assert game.is_legal(7)
    chosen = {choose(HashEvaluator(), game, seed).move for seed in range(200)}
    assert len(chosen) == 17 + (moves == 73)
    assert (7 in chosen) is (moves == 73)
    game.play(PASS, WHITE)
    assert (choose(HashEvaluator(), game).move == PASS) is (moves == 75)


@pytest.mark.parametrize("opponent", ["policy-9", "random"])
def test_games_end_before_they_are_long(opponent):
    for seed, rules in enumerate((CHINESE, KATACHI)):
        players = load_player("policy-9", seed=seed), load_player(opponent, seed=seed + 10)
        game = Game(9, rules)
        played = play_game(*players, game, Conditions(max_moves=3 * 81))
        assert played.ending is Ending.PASSES
        if opponent == "random":
            assert EstimateReferee().count(game).result.winner == BLACK
            assert rules is CHINESE or game.score() > 0
