"""TD search: its memory and updates against a slow twin, what it finds, what it keeps, its limits and its settings."""

from __future__ import annotations

from threading import Event

import numpy as np
import pytest

from helpers.doubles import HashEvaluator
from helpers.naive_td_search import NaiveMemory
from helpers.positions import random_board
from katachi.core.conformance import check_evaluator, check_log_odds_evaluator, check_player, check_search, sample_games
from katachi.core.contracts import AnalyzingPlayer, Limit
from katachi.core.evaluators import WrongBoardSize
from katachi.core.linear import LinearModel
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.kernels.board import OFF
from katachi.go.points import BLACK, PASS, WHITE, parse_vertex
from katachi.go.rules import Rules
from katachi.go.scoring import area_score
from katachi.players.search_player import SearchPlayer
from katachi.search.mcts import MctsSearch
from katachi.search.one_ply import GreedySearch
from katachi.search.playouts import UNIFORM
from katachi.search.settings import MctsSettings, PlayoutSettings, TdSearchSettings
from katachi.search.td import TdMemory, TdSearch
from katachi.shapes.features import LocalShapes
from katachi.shapes.sets import ShapeSet


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def td(evaluator=None, **settings) -> TdSearch:
    return TdSearch(evaluator, TdSearchSettings(**settings))


def shape_model(size: int = 5, *names: str, tied: bool = False) -> LinearModel:
    names = names or ("LI 1x1", "LD 2x1", "LI 2x2", "LD 3x3")
    features = LocalShapes(size, [ShapeSet.parse(name) for name in names], tied=tied)
    return LinearModel(features, rng(7).normal(scale=0.1, size=features.size).astype(np.float32))


def log_odds_of_mover(memory: TdMemory, board: Board) -> float:
    """The logit of the player who has just moved: that of his opponent's pass, turned around."""
    black_wins = memory.kernel(board.record, memory.parameters)
    return -board.to_play * float(np.log(black_wins / (1 - black_wins)))


# The memory


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("sizes", [[(3, 3)], [(1, 1), (2, 2)]])
def test_the_memory_begins_as_the_model(tied, sizes):
    model = shape_model(5, tied=tied)
    search = td(model, sizes=" ".join(f"{w}x{h}" for w, h in sizes))
    for seed in range(10):
        board = random_board(5, 3 * seed, seed)
        assert log_odds_of_mover(search.memory, board) == pytest.approx(model.logit(board), abs=1e-4)
        found, expected = search.memory.afterstate_log_odds(board), model.afterstate_log_odds(board)
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_the_memory_is_an_evaluator():
    search = td(shape_model(5))
    search.adapt(Game(5), Limit(simulations=20), rng())
    check_evaluator(search.memory, games=sample_games([5]))
    check_log_odds_evaluator(search.memory, games=sample_games([5]))
    with pytest.raises(WrongBoardSize, match="5×5 boards, not of 9×9"):
        search.memory.evaluate([Board(9)])


# Learning


def test_the_first_update_by_hand():
    """All is even at first: the 25 weights of one afterstate get 1/25 of step size times error, 0.4 · ±0.5."""
    game = Game(5, Rules(komi=0.5))
    search = td(sizes="1x1", step_size=0.4, guided_plies=1, learned_plies=1)
    result = search.search(game, Limit(simulations=1), rng())
    played = int(result.visits.argmax())
    won = result.black_lead > 0
    sweep = (1 if won else -1) * search.memory.afterstate_log_odds(game.board)
    assert sweep[played] == pytest.approx(0.2, rel=1e-5)
    assert np.delete(sweep, played)[:-1] == pytest.approx(0.2 * 23 / 25, rel=1e-5)  # one more point than there was
    assert sweep[PASS] == pytest.approx(0.2 * 24 / 25, rel=1e-5)


@pytest.mark.parametrize("learned_plies", [1, 6, 1000])
@pytest.mark.parametrize("model", [None, shape_model(5)])
def test_simulations_are_learned_from_by_the_equations(learned_plies, model):
    """With one guided ply all moves of a simulation are known: it, and those of the playout."""
    sizes = [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3)]
    options = {"sizes": "1x1 2x1 2x2 3x2 3x3", "guided_plies": 1, "learned_plies": learned_plies}
    search = td(model, **options, step_size=3.0, playouts=UNIFORM)
    twin = NaiveMemory(5, sizes, *([model.logit] if model else []))
    game = Game(5)
    for seed in range(6):
        result = search.search(game, Limit(simulations=1), rng(seed))
        playout = search._playouts[0]
        moves = [int(result.visits.argmax()), *playout["moves"][: playout["plies"]].tolist()]
        boards = _afterstates(game.board, moves)
        twin.learn(boards[:learned_plies], float(area_score(boards[-1]) > game.komi), 3.0)
        for board in [game.board, *boards[::5]]:
            assert log_odds_of_mover(search.memory, board) == pytest.approx(twin.logit(board), abs=1e-4)
        game.play(result.move)  # what was learned is kept


def _afterstates(board: Board, moves: list[int]) -> list[Board]:
    boards = []
    for move in moves:
        board = board.copy()
        board.play(PASS if move == OFF else move)
        boards.append(board)
    return boards


def test_guided_moves_are_the_best_by_the_memory():
    """Without exploring, the first move of a simulation is the one that greedy play by the memory would choose."""
    search = td(shape_model(5), epsilon=0.0)
    game = Game(5)
    best = GreedySearch(search.memory).search(game, Limit(), rng()).move
    assert search.search(game, Limit(simulations=1), rng()).visits[best] == 1
    explored = td(shape_model(5), epsilon=1.0).search(game, Limit(simulations=500), rng()).visits
    assert explored[:-1].min() > 0


# What it finds


VITAL = Board.parse("OOOO./XXXXX/OOOOO/...../.....")  # who plays E5 captures the other


def test_without_a_model_it_finds_a_capture_that_decides():
    game = Game(5, Rules(komi=-8.0))
    black, white = (np.flatnonzero(VITAL.stones == color).tolist() for color in (BLACK, WHITE))
    for to_play in (BLACK, WHITE):
        game.setup(black, white, to_play=to_play)
        assert td().search(game, Limit(simulations=300), rng()).move == parse_vertex("E5", 5)


def test_it_beats_the_model_that_it_begins_with():
    """Ten openings, each with both colors, against one ply of the same shapes, which know little."""
    model, wins = shape_model(5), 0
    for opening in range(10):
        for color in (BLACK, WHITE):
            searches = {color: td(model, simulations=100), -color: GreedySearch(model)}
            wins += _play(searches, opening) == color
    assert wins >= 16  # by chance as often as that: 0.6 %


def _play(searches, opening: int) -> int:
    """The winner of a game that begins with two random plies."""
    game, random = Game(5), rng(opening)
    for _ in range(2):
        game.play(int(random.choice(np.flatnonzero(game.legal_moves()[:-1]))))
    while not game.is_over and len(game.moves) < 100:
        game.play(searches[game.to_play].search(game, Limit(), random).move)
    return BLACK if game.score() > 0 else WHITE


# As a search


def test_conformance():
    check_search(td(), games=sample_games([2, 3, 5, 9, 19]))
    check_search(td(shape_model(5), playouts=UNIFORM), games=sample_games([5]))


def test_conformance_as_a_player():
    first, second = (SearchPlayer("td", td(shape_model(5)), rng=rng(3)) for _ in range(2))
    assert isinstance(first, AnalyzingPlayer)
    check_player(first, second, games=sample_games([5]))


def test_the_same_seed_learns_the_same_however_it_is_interrupted():
    searches = [td(shape_model(5)) for _ in range(3)]
    for search, seed in zip(searches, (1, 1, 2), strict=True):
        search.search(Game(5), Limit(simulations=500), rng(seed))
    first, same, other = (search.memory.parameters[1] for search in searches)
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)
    watched = td(shape_model(5))
    watched._slice = 3
    watched.adapt(Game(5), Limit(simulations=500), rng(1))
    assert np.array_equal(watched.memory.parameters[1], first)


def test_limits():
    search = td(simulations=70)
    assert search.search(Game(5), Limit(), rng()).simulations == 70
    assert search.search(Game(5), Limit(simulations=33, seconds=600), rng()).visits.sum() == 33
    assert 0 < search.search(Game(5), Limit(simulations=10**12, seconds=0.01), rng()).simulations < 10**6
    assert search.search(Game(5), Limit(seconds=0), rng()).simulations >= 1


def test_a_stop_ends_it():
    stop = Event()
    results = []
    for result in td().deepen(Game(9), Limit(seconds=float("inf")), rng(), stop):
        results.append(result)
        if len(results) == 2:
            stop.set()
    assert len(results) == 3
    assert results[0].simulations < results[1].simulations <= results[2].simulations
    assert results[-1].ownership.shape == (81,)


def test_a_tree_that_is_steered_ends_when_it_is_told():
    stop = Event()
    stop.set()
    search = MctsSearch(shape_model(5), MctsSettings(td_simulations=10**9, threads=1))
    assert search.search(Game(5), Limit(seconds=0.01), rng()).simulations >= 1
    *_, last = search.deepen(Game(5), Limit(seconds=float("inf")), rng(), stop)
    assert last.simulations >= 1


@pytest.mark.parametrize(
    ("change", "keeps"), [("nothing", True), ("komi", False), ("undo", False), ("setting", False), ("same", False)]
)
def test_what_was_learned_is_kept_while_the_game_goes_on(change, keeps):
    search, game = td(reuse=change != "setting"), Game(5)
    game.play(12)
    search.adapt(game, Limit(simulations=50), rng())
    learned = search.memory.parameters[1].copy()
    if change != "same":
        game.play(7)
        game.play(8)
    if change == "komi":
        game.komi = 2.5
    if change == "undo":
        game.undo()
        game.undo()
        game.undo()
    search._begin(game, rng())
    assert np.array_equal(search.memory.parameters[1], learned) == keeps
    assert keeps or not search.memory.parameters[1].any()


# Settings


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"step_size": -0.1}, "step_size\n.*greater than or equal to 0"),
        ({"step_size": float("nan")}, "step_size\n.*finite"),
        ({"epsilon": 1.5}, "epsilon\n.*less than or equal to 1"),
        ({"guided_plies": 0}, "guided_plies\n.*greater than or equal to 1"),
        ({"learned_plies": 1001}, "learned_plies\n.*less than or equal to 1000"),
        ({"simulations": 0}, "simulations\n.*greater than or equal to 1"),
        ({"sizes": ""}, "at least one size"),
        ({"sizes": "1x1 4x4"}, "no windows of the size '4x4'; known are 1x1, 2x1"),
    ],
)
def test_impossible_settings(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        TdSearchSettings(**settings)


def test_evaluators_and_boards_that_it_cannot_begin_with():
    with pytest.raises(ValueError, match="a model of local shapes up to 3×3"):
        td(HashEvaluator())
    with pytest.raises(ValueError, match="a model of local shapes up to 3×3"):
        td(shape_model(5, "LI 4x4"))
    with pytest.raises(WrongBoardSize, match="5×5 boards, not 9×9"):
        td(shape_model(5)).search(Game(9), Limit(), rng())
    with pytest.raises(ValueError, match="no window that is to be learned fits on a 2×2 board"):
        td(sizes="3x3").search(Game(2), Limit(), rng())
    with pytest.raises(ValueError, match="no memory"):
        _ = td().memory


# Steering a tree


def mcts(evaluator=None, **settings) -> MctsSearch:
    return MctsSearch(evaluator, MctsSettings(**{"threads": 1, "megabytes": 8, "priors": "synchronous", **settings}))


def test_a_tree_is_steered_by_what_was_learned_first():
    model, game = shape_model(5), Game(5)
    plain = mcts(model).search(game, Limit(simulations=50), rng()).priors
    search = mcts(model, td_simulations=200, value_share=0.5)
    adapted = search.search(game, Limit(simulations=50), rng()).priors
    alone = td(model)
    alone.adapt(game, Limit(simulations=200), rng())
    expected = alone.memory.evaluate([game.board]).policy[0][:-1]
    assert np.abs(adapted[:-1] - plain[:-1]).max() > 0.01
    np.testing.assert_allclose(adapted[:-1] / adapted[:-1].sum(), expected / expected.sum(), atol=1e-5)
    check_search(search, games=sample_games([5]))


def test_a_tree_that_is_to_be_steered_so_needs_a_model():
    with pytest.raises(ValueError, match="a model of local shapes up to 3×3"):
        mcts(td_simulations=10)


def test_shapes_choose_moves_in_its_playouts():
    playouts = PlayoutSettings(shapes=3)
    check_search(td(shape_model(5), playouts=playouts), games=sample_games([5]))
    check_search(mcts(shape_model(5), playouts=playouts), games=sample_games([5]))
    with pytest.raises(ValueError, match="a model of local shapes up to 3×3"):
        td(playouts=playouts)
    with pytest.raises(WrongBoardSize):
        mcts(shape_model(5), playouts=playouts).search(Game(9), Limit(), rng())
