"""The search as others see it: limits, threads, memory, reuse, passing, and what it reports."""

from __future__ import annotations

import math
from threading import Event, Timer

import numpy as np
import pytest

from helpers.doubles import CompiledHashEvaluator, HashEvaluator
from katachi.core.conformance import check_player, check_search, sample_games
from katachi.core.contracts import AnalyzingPlayer, Ban, Limit
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE
from katachi.go.rules import Rules
from katachi.players.asking import lower_bound
from katachi.players.search_player import SearchPlayer, describe_result
from katachi.search.kernels.mcts_nodes import FREE
from katachi.search.mcts import VARIATIONS, MctsSearch
from katachi.search.one_ply import TreeResult
from katachi.search.playouts import UNIFORM
from katachi.search.settings import MctsSettings


def mcts(evaluator=None, **settings) -> MctsSearch:
    return MctsSearch(evaluator, MctsSettings(**{"threads": 1, "megabytes": 8, **settings}))


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def game_of(diagram: str, komi: float, to_play: int = BLACK) -> Game:
    board = Board.parse(diagram)
    game = Game(board.size, Rules(komi=komi))
    black, white = (np.flatnonzero(board.stones == color).tolist() for color in (BLACK, WHITE))
    game.setup(black, white, to_play=to_play)
    return game


@pytest.mark.parametrize(
    "settings", [{}, {"shares_positions": True}, {"playouts": UNIFORM, "rave": 0.0}, {"criticality": 9.0}]
)
def test_conformance(settings):
    check_search(mcts(**settings), games=sample_games([2, 3, 5, 9, 19]))


@pytest.mark.parametrize("settings", [{"priors": "synchronous"}, {"priors": "none", "value_share": 0.5}])
def test_conformance_with_an_evaluator(settings):
    check_search(mcts(CompiledHashEvaluator(), **settings), games=sample_games([3, 9]))


def test_conformance_as_a_player():
    first, second = (SearchPlayer("mcts", mcts(), rng=rng(3)) for _ in range(2))
    assert isinstance(first, AnalyzingPlayer)
    check_player(first, second, games=sample_games([5]))


# Limits


def test_one_thread_and_a_seed_grow_the_same_tree():
    searches = [mcts() for _ in range(3)]
    for search, seed in zip(searches, (1, 1, 2), strict=True):
        search.search(Game(9), Limit(simulations=700), rng(seed))
    first, same, other = (search._tree.edges for search in searches)
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_simulations_are_counted_exactly():
    for threads in (1, 3):
        result = mcts(threads=threads, stops_early=False).search(Game(9), Limit(simulations=500), rng())
        assert result.simulations == 500
    assert mcts(simulations=77, stops_early=False).search(Game(9), Limit(), rng()).visits.sum() == 77


def test_the_sooner_of_two_limits_ends_it():
    assert mcts().search(Game(9), Limit(simulations=50, seconds=600), rng()).simulations == 50
    result = mcts().search(Game(9), Limit(simulations=10**12, seconds=0.01), rng())
    assert 0 < result.simulations < 10**6


def test_no_time_at_all_still_gives_a_move():
    result = mcts().search(Game(19), Limit(seconds=0), rng())
    assert result.simulations >= 1
    assert result.visits[result.move] >= 1


def test_a_stop_ends_it():
    stop = Event()
    results = []
    for result in mcts(threads=2).deepen(Game(9), Limit(seconds=float("inf")), rng(), stop):
        results.append(result)
        if len(results) == 2:
            stop.set()
    assert len(results) == 3
    assert results[0].simulations < results[1].simulations <= results[2].simulations


def test_it_stops_early_when_the_best_move_cannot_change():
    game = game_of("XX.XX/XXXXX/OOOOO/O.O.O/OOO.O", komi=-0.5, to_play=WHITE)
    full = mcts(stops_early=False).search(game, Limit(simulations=3000), rng())
    early = mcts().search(game, Limit(simulations=3000), rng())
    assert early.move == full.move
    assert early.simulations < full.simulations == 3000
    second, best = np.sort(early.visits)[-2:]
    assert best - second > 3000 - early.simulations


def test_it_stops_at_once_where_one_move_is_left():
    game = game_of(".XO./XXOO/.XO./XXOO", komi=-0.5)
    assert mcts().search(game, Limit(seconds=600), rng()).move == PASS


def test_two_threads_lose_little():
    result = mcts(threads=2, stops_early=False, megabytes=64).search(Game(9), Limit(simulations=20_000), rng())
    assert result.simulations == 20_000
    assert 0.97 * 20_000 <= result.visits.sum() <= 20_000


# Memory and reuse


@pytest.mark.parametrize("shares", [False, True])
def test_a_full_tree_is_pruned(shares):
    search = mcts(megabytes=1, threads=2, expand_after=0, stops_early=False, shares_positions=shares)
    result = search.search(Game(9), Limit(simulations=6000), rng())
    assert search._tree.capacity < 1000
    assert result.simulations == 6000
    assert Game(9).is_legal(result.move)


def test_the_tree_goes_on_with_the_game():
    search, game = mcts(), Game(5)
    first = search.search(game, Limit(simulations=2000), rng())
    for move in first.variation[:2]:
        game.play(move)
    second = search.search(game, Limit(simulations=1), rng())
    assert second.simulations == 1
    assert second.visits.sum() > 50
    assert not second.visits[~game.legal_moves()].any()
    search.search(game, Limit(simulations=1), rng())  # the same position again begins anew
    assert search._tree.visits(search._tree.root).sum() == 1


@pytest.mark.parametrize("change", ["komi", "undo", "setting"])
def test_the_tree_of_another_game_is_left(change):
    search, game = mcts(reuse=change != "setting"), Game(5)
    first = search.search(game, Limit(simulations=2000), rng())
    for move in first.variation[:2]:
        game.play(move)
    if change == "komi":
        game.komi = 2.5
    if change == "undo":
        game = Game(5)
        game.setup(black=first.variation[:1], white=first.variation[1:2], to_play=BLACK)
    assert search.search(game, Limit(simulations=1), rng()).visits.sum() == 1


def test_pondering_serves_the_next_search():
    search, game, stop = mcts(), Game(5), Event()
    Timer(0.2, stop.set).start()
    search.ponder(game, rng(), stop)
    game.play(search._tree.best_move())
    assert search.search(game, Limit(simulations=1), rng()).visits.sum() > 1


def test_pondering_about_the_same_game_goes_on():
    search, game, stop = mcts(), Game(5), Event()
    stop.set()  # one simulation is always done
    count = 0
    for _ in range(3):
        search.ponder(game, rng(), stop)
        count += search._workers.simulations
        assert search._tree.visits(search._tree.root).sum() == count


def test_preparing_leaves_no_trace():
    searches = [mcts(CompiledHashEvaluator(), priors="none", value_share=0.5) for _ in range(2)]
    searches[0].prepare(5)
    game = Game(5)
    game.play(12)
    for search in searches:
        search.search(game, Limit(simulations=300), rng())
    prepared, plain = (search._tree for search in searches)
    in_use = plain.nodes["state"] != FREE
    assert np.array_equal(prepared.nodes["state"] != FREE, in_use)
    assert np.array_equal(prepared.edges[in_use], plain.edges[in_use])


def test_a_search_that_is_watched_stops_early_only_if_asked():
    game = game_of(".XO./XXOO/.XO./XXOO", komi=-0.5)
    *_, result = mcts().deepen(game, Limit(seconds=600), rng(), stops_early=True)
    assert result.move == PASS
    *_, last = mcts().deepen(game, Limit(simulations=500), rng())
    assert last.simulations == 500


# Bans


def test_banned_moves_are_not_looked_at():
    game = game_of("XX.XX/XXXXX/OOOOO/O.O.O/OO...", komi=-7.5, to_play=WHITE)
    free = mcts().search(game, Limit(simulations=400), rng())
    *_, result = mcts().deepen(game, Limit(simulations=400), rng(), bans=[Ban(WHITE, free.move), Ban(BLACK, PASS)])
    assert free.visits[free.move] > 100
    assert result.visits[free.move] == 0
    assert result.priors[free.move] == 0
    assert result.move != free.move


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_bans_hold_down_to_their_depth(depth):
    """White may not play in the middle; his first move is the second from the root, which a depth of 1 leaves out."""
    search = mcts(expand_after=0, stops_early=False)
    bans = [Ban(WHITE, 4, depth)]
    *_, result = search.deepen(Game(3), Limit(simulations=3000), rng(), bans=bans)
    tree, center = search._tree, 4
    assert result.visits[center] > 0, "Black may"
    replies = [tree.visits(tree.children[tree.root, move])[center] for move in range(9) if move != center]
    assert any(replies) == (depth == 1)


def test_the_pass_is_left_when_all_is_banned():
    bans = [Ban(BLACK, move) for move in (*range(9), PASS)]
    *_, result = mcts().deepen(Game(3), Limit(simulations=50), rng(), bans=bans)
    assert result.move == PASS
    assert result.visits[PASS] == 50


def test_a_tree_with_bans_is_not_gone_on_with():
    search, game = mcts(), Game(5)
    *_, first = search.deepen(game, Limit(simulations=1000), rng(), bans=[Ban(BLACK, 0)])
    game.play(first.move)
    assert search.search(game, Limit(simulations=1), rng()).visits.sum() == 1


def test_a_player_without_some_moves():
    game = Game(5)
    game.play(0)
    game.play(PASS)
    player = SearchPlayer("mcts", mcts(), Limit(simulations=200), rng(), resign_below=None)
    favorite = player.decide(game, Limit()).move
    decided = player.without([Ban(BLACK, favorite), Ban(BLACK, PASS)]).decide(game, Limit())
    assert decided.move not in (favorite, PASS)
    assert favorite not in [candidate.move for candidate in decided.analysis.candidates]
    assert player.decide(game, Limit()).move == favorite, "the player itself is as it was"


# Passing


def test_passes_when_nothing_is_left_to_win():
    """Filling its own territory would cost nothing, but it is needless."""
    game = game_of("..XO./XXXOO/..XO./XXXOO/..XO.", komi=0.5)
    assert mcts().search(game, Limit(simulations=400), rng()).move == PASS


def test_does_not_pass_while_the_count_is_lost_by_dead_stones():
    """White's stone in the corner is dead, but as the board stands it makes Black's area nobody's."""
    game = game_of("O.XO./..XOO/XXXO./XXXOO/.XXO.", komi=0.5)
    result = mcts().search(game, Limit(simulations=400), rng())
    assert result.move in (1, 5, 6)
    assert result.black_wins > 0.9


# What it reports


def test_analysis():
    game = Game(9)
    game.play(40)
    result = mcts(stops_early=False).search(game, Limit(simulations=1000), rng())
    analysis = describe_result(result, game.to_play)
    bounds = [lower_bound(1 - candidate.black_wins, candidate.visits) for candidate in analysis.candidates]
    assert bounds[1:] == sorted(bounds[1:], reverse=True)
    assert analysis.candidates[0].move == result.move
    assert sum(candidate.prior for candidate in analysis.candidates) <= 1
    for candidate in sorted(analysis.candidates, key=lambda candidate: -candidate.visits)[:VARIATIONS]:
        assert candidate.variation[0] == candidate.move
        assert candidate.variation_visits[0] == candidate.visits
        assert len(candidate.variation_visits) == len(candidate.variation)
        assert list(candidate.variation_visits) == sorted(candidate.variation_visits, reverse=True)
    assert analysis.ownership.shape == (81,)
    assert analysis.ownership[40] > 0.3
    assert -81 - game.komi <= analysis.black_lead <= 81 - game.komi
    assert np.isnan(result.sweep[result.visits == 0]).all()
    assert result.priors.sum() == pytest.approx(1, abs=1e-3)


def test_lead_and_ownership_fit():
    game = Game(9, Rules(komi=3.0))
    result = mcts().search(game, Limit(simulations=300), rng())
    tried = result.visits > 0
    lead = np.average(result.leads[tried], weights=result.visits[tried])
    assert lead == pytest.approx(result.ownership.sum() - 3.0, abs=1e-3), "both are of all simulations"


def test_leads_of_moves_make_the_lead_of_the_position():
    game = Game(5, Rules(komi=3.0))
    result = mcts(stops_early=False).search(game, Limit(simulations=300), rng())
    assert np.isnan(result.leads[result.visits == 0]).all()
    assert result.black_lead == pytest.approx(mean_of_good_moves(result, result.leads))
    for candidate in describe_result(result, game.to_play).candidates:
        trust = candidate.visits / (candidate.visits + result.doubt)
        shown = result.black_lead + trust * (result.leads[candidate.move] - result.black_lead)
        assert candidate.black_lead == pytest.approx(shown)


def mean_of_good_moves(result: TreeResult, values: np.ndarray) -> float:
    """Of Black's moves, drawn to the mean of all: by their visits, 1/e of them for each percent that they win less."""
    moves = np.flatnonzero(result.visits)

    def drawn(values: np.ndarray) -> dict[int, float]:
        mean = sum(result.visits[move] * values[move] for move in moves) / result.visits.sum()
        return {
            move: (result.visits[move] * values[move] + result.doubt * mean) / (result.visits[move] + result.doubt)
            for move in moves
        }

    wins, found = drawn(result.sweep), drawn(values)
    weights = {move: result.visits[move] * math.exp((wins[move] - max(wins.values())) / 0.01) for move in moves}
    return sum(weights[move] * found[move] for move in moves) / sum(weights.values())


def test_the_value_of_the_position_is_the_mean_of_what_was_found_of_good_moves():
    """Moves that were tried once or twice in playouts won or lost all of these; nobody is to believe that."""
    game = Game(9)
    result = mcts(stops_early=False).search(game, Limit(simulations=100), rng())
    assert result.root_wins == pytest.approx(mean_of_good_moves(result, result.sweep))
    analysis = describe_result(result, game.to_play)
    assert analysis.black_wins == result.root_wins
    assert np.nanmax(result.sweep) > result.root_wins + 0.3, "the luckiest move"
    assert max(candidate.black_wins for candidate in analysis.candidates) < result.root_wins + 0.05


def test_playouts_say_how_uncertain_the_value_of_the_position_is():
    searches = [mcts(stops_early=False).search(Game(9), Limit(simulations=100), rng(seed)) for seed in range(40)]
    spread = np.std([result.root_wins for result in searches])
    assert np.mean([result.error for result in searches]) == pytest.approx(spread, rel=0.4)
    assert describe_result(searches[0], BLACK).error == searches[0].error
    settings = {"priors": "synchronous", "stops_early": False}
    halved, exact = (
        mcts(SureEvaluator(), value_share=share, **settings).search(Game(5), Limit(simulations=100), rng())
        for share in (0.5, 1.0)
    )
    assert 0 < halved.error < searches[0].error
    assert exact.error == 0


def test_the_evaluators_word_on_the_position_counts_as_one_visit():
    search = mcts(SureEvaluator(), priors="synchronous", expand_after=0, value_share=1.0, stops_early=False)
    result = search.search(Game(5), Limit(simulations=1), rng())
    # The position wins 0.9 and the move 0.2; both are drawn to their mean, and the move is the worse one.
    better, worse = (0.55 + (wins - 0.55) / (1 + result.doubt) for wins in (0.9, 0.2))
    weight = math.exp((worse - better) / 0.01)
    assert result.root_wins == pytest.approx((better + weight * worse) / (1 + weight), abs=1e-5)


class SureEvaluator(HashEvaluator):
    """Who is to play wins, Black more surely."""

    def evaluate(self, boards):
        wins = [0.9 if board.to_play == BLACK else 0.2 for board in boards]
        return super().evaluate(boards)._replace(black_wins=np.array(wins, dtype=np.float32))


def test_criticality_is_what_winning_depends_on():
    """With a komi that leaves one corner to fight for, its points go with the win and settled ones do not."""
    game = game_of("XX.XX/XXXXX/OOOOO/O.O.O/OO...", komi=-7.5, to_play=WHITE)
    critical = mcts().search(game, Limit(simulations=500), rng()).criticality
    assert (critical >= -0.02).all()
    assert np.abs(critical[:10]).max() < 0.02


def test_priors_follow_criticality_once_it_is_known():
    """It is first taken after 256 playouts; until then the tree is that without it, to the last bit."""
    for simulations in (256, 512):
        searches = [mcts(criticality=weight, stops_early=False) for weight in (0.0, 9.0)]
        results = [search.search(Game(9), Limit(simulations=simulations), rng()) for search in searches]
        without, with_it = (search.tree.edges for search in searches)
        assert np.array_equal(without, with_it) == (simulations == 256)
        assert not searches[0]._workers._sum("bonus").any()
        critical = results[1].criticality
        expected = 9 * np.maximum(0, critical - critical.mean())
        np.testing.assert_allclose(searches[1]._workers._sum("bonus")[:81], expected, atol=1e-5)


def test_what_is_settled_has_no_bonus():
    game = game_of(".X.X./XXXXX/...../..O../.....", komi=4.5, to_play=WHITE)
    search = mcts(criticality=9.0, stops_early=False)
    search.search(game, Limit(simulations=600), rng())
    bonus = search._workers._sum("bonus")[:25]
    assert not bonus[:10].any()
    assert bonus[10:].max() > 0.2


# Evaluators


def test_values_of_a_compiled_evaluator_need_no_playouts():
    result = mcts(CompiledHashEvaluator(), value_share=1.0, priors="none").search(
        Game(5), Limit(simulations=300), rng()
    )
    assert result.ownership is None
    assert result.black_lead is None
    assert 0 < result.black_wins < 1


def test_a_value_share_needs_somebody_who_values():
    for evaluator, priors in ((None, "delayed"), (HashEvaluator(), "none")):
        with pytest.raises(ValueError, match="value_share needs an evaluator"):
            mcts(evaluator, value_share=0.5, priors=priors)


@pytest.mark.parametrize(
    "settings",
    [
        {"exploration": -1},
        {"rave": float("nan")},
        {"value_share": 2},
        {"megabytes": 0},
        {"batch": 0},
        {"simulations": 0},
    ],
)
def test_impossible_settings(settings):
    with pytest.raises(ValueError, match=r"should be (greater|less) than or equal to|finite"):
        MctsSettings(**settings)
