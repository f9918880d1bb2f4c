"""The tree from inside: its kernels against slow twins, its counts, and superko on every path."""

from __future__ import annotations

import numpy as np
import pytest

from katachi.core.conformance import sample_games
from katachi.core.contracts import Limit
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS
from katachi.go.rules import KoRule, Rules
from katachi.search.kernels import mcts as kernels
from katachi.search.kernels import mcts_nodes as layout
from katachi.search.mcts import MctsSearch
from katachi.search.mcts_tree import MctsTree
from katachi.search.playouts import UNIFORM
from katachi.search.settings import MctsSettings


def grown(game: Game, simulations: int, **settings) -> MctsTree:
    settings = MctsSettings(**{"threads": 1, "megabytes": 16, "stops_early": False, **settings})
    search = MctsSearch(None, settings)
    search.search(game, Limit(simulations=simulations), np.random.default_rng(1))
    return search._tree


def nodes_below(tree: MctsTree, node: int, moves=()):
    """All nodes with the moves that lead to them."""
    yield node, moves
    for index in np.flatnonzero(tree.children[node, : tree.points + 1] != layout.NONE).tolist():
        yield from nodes_below(tree, int(tree.children[node, index]), (*moves, tree._move(index)))


def test_scores_are_those_of_the_formula():
    tree = grown(Game(5), 500, rave=300.0, exploration=0.7, first_play_reduction=0.2)
    scores, bonus = np.zeros((2, layout.MAX_WIDTH), dtype=np.float32)
    bonus[: tree.points] = np.random.default_rng(1).choice([0, 0.5, 3], tree.points)
    for node, _ in list(nodes_below(tree, tree.root))[:20]:
        record = tree.nodes[node]
        if not record["visits"]:
            continue
        kernels.score_moves(tree.control[0], np.uint64(node), tree.nodes[node], tree.edges, bonus, scores)
        for index in range(tree.points + 1):
            n, wins, seen, seen_wins, prior = tree.edges[node, :, index].astype(float)
            if prior < 0:
                assert scores[index] == -np.inf
                continue
            mean = record["wins"] / record["visits"]
            untried = mean - 0.2 * min(1, 2 * mean)
            own = wins / n if n else untried
            rave = seen_wins / seen if seen else own
            beta = np.sqrt(300 / (3 * n + 300)) * seen / (seen + 1)
            urge = 0.7 * prior * (1 + bonus[index]) * np.sqrt(record["visits"] + 1) / (1 + n)
            assert scores[index] == pytest.approx((1 - beta) * own + beta * rave + urge, abs=2e-4)


def test_the_prior_of_a_point_that_decides_the_game_rises():
    """Eight playouts on 2×2, five won by Black: the first point is the winner's, two are settled, one is chance."""
    winner = np.array([1, 1, 1, 1, 1, -1, -1, -1])
    owner = np.stack([winner, np.ones(8), [1, -1, 1, -1, 1, 1, -1, 1], -np.ones(8)]).astype(int)
    control, worker = np.zeros(1, dtype=kernels.TREE), np.zeros(1, dtype=layout.WORKER)
    control["criticality"], worker["playouts"], worker["black_wins"] = 4.0, 8, 5
    worker["owned"][0, :4], worker["owned_by_winner"][0, :4] = owner.sum(axis=1), owner @ winner
    kernels.take_criticality(control[0], worker[0], np.uint64(4))
    covariance = [np.mean(points * winner) - points.mean() * winner.mean() for points in owner]
    critical = np.array(covariance) / 2
    assert critical[0] == pytest.approx(2 * 5 / 8 * 3 / 8)
    np.testing.assert_allclose(worker["bonus"][0, :4], 4 * np.maximum(0, critical - critical.mean()), atol=1e-6)
    assert (worker["bonus"][0, :4] > 0).tolist() == [True, False, False, False]
    assert not worker["bonus"][0, 4:].any()


@pytest.mark.parametrize("expand_after", [0, 2, 7])
def test_counts_agree(expand_after):
    """With one thread and no shared positions nothing is lost: what goes into a move comes out of its node."""
    tree = grown(Game(5), 3000, expand_after=expand_after)
    nodes = list(nodes_below(tree, tree.root))
    assert tree.nodes["visits"][tree.root] == 3000
    assert len(nodes) > 30
    for node, _ in nodes:
        visits, wins, seen, seen_wins, _ = tree.edges[node, :, : tree.points + 1]
        assert visits.sum() == tree.nodes["visits"][node]
        assert wins.sum() == pytest.approx(tree.nodes["wins"][node], rel=1e-4, abs=1e-3)
        assert (wins <= visits + 1e-3).all()
        assert (wins >= 0).all()
        assert (seen[:-1] >= visits[:-1]).all()  # a move that was chosen counts as played
        assert (seen_wins <= seen * (1 + 1e-5)).all()
        assert seen.max() <= tree.nodes["visits"][node]
        for index in np.flatnonzero(tree.children[node, : tree.points + 1] != layout.NONE).tolist():
            child = tree.children[node, index]
            assert tree.nodes["visits"][child] == visits[index] - expand_after - 1


def test_all_moves_as_first_by_hand():
    """RAVE counts a simulation for every point that the mover was the first to play on, in tree and playout."""
    tree = grown(Game(3), 1, expand_after=9)
    search = MctsSearch(None, MctsSettings(threads=1, megabytes=1, expand_after=9))
    search.search(Game(3), Limit(simulations=1), np.random.default_rng(1))
    playout = search._workers.playouts[0]
    first = {int(search._tree.visits(0).argmax()): BLACK}
    color = int(playout["first_color"])
    for move in playout["moves"][: playout["plies"]].tolist():
        first.setdefault(move, color)
        color = -color
    expected = [first.get(point, 0) == BLACK for point in range(9)]
    assert tree.edges[0, layout.RAVE_VISITS, :9].tolist() == expected


@pytest.mark.parametrize("ko", list(KoRule))
def test_every_path_keeps_the_ko_rule(ko):
    """Each line of the tree can be played in the game, with all of its past."""
    rng = np.random.default_rng(5)
    checked = 0
    for size in (2, 3):
        for plies in (0, 3, 6):
            game = Game(size, Rules(ko, komi=0.5))
            for _ in range(plies):
                legal = np.flatnonzero(game.legal_moves()[:-1])
                game.play(int(rng.choice(legal)) if legal.size else PASS)
            if game.is_over:
                continue
            tree = grown(game, 1500, expand_after=0, playouts=UNIFORM, pattern_priors=False)
            for node, moves in nodes_below(tree, tree.root):
                line = game.copy()
                for move in moves:
                    line.play(move)  # raises IllegalMove
                (restored,) = tree.boards(np.array([node]))
                assert restored == line.board
                assert restored.recent_points == line.board.recent_points
                for index in np.flatnonzero(tree.visits(node)).tolist():
                    assert line.is_legal(tree._move(index))
                    checked += 1
    assert checked > 500


def test_hashes_after_moves():
    for game in sample_games([2, 5, 9]):
        board = game.board
        for point in np.flatnonzero(board.legal_moves()[:-1]).tolist():
            after = board.copy()
            after.play(point)
            assert hash_after(board.record, np.uint16(point)) == after.hash


def hash_after(records, point):
    return int(kernels._hash_after(records[0], point, records[0]["to_play"]))


def test_shared_positions_have_one_node():
    tree = grown(Game(3), 4000, shares_positions=True, expand_after=0)
    in_use = tree.nodes["state"] != layout.FREE
    keys = tree.nodes["key"][in_use]
    assert np.unique(keys).size == keys.size
    apart = grown(Game(3), 4000, expand_after=0)
    assert np.unique(apart.nodes["key"][apart.nodes["state"] != layout.FREE]).size < np.count_nonzero(
        apart.nodes["state"] != layout.FREE
    )


def test_pruning_keeps_what_is_visited_most():
    tree = grown(Game(5), 3000, expand_after=0)
    before = {moves: tree.nodes["visits"][node] for node, moves in nodes_below(tree, tree.root)}
    statistics = tree.edges[tree.root].copy()
    tree.prune()
    after = {moves: tree.nodes["visits"][node] for node, moves in nodes_below(tree, tree.root)}
    assert 0 < len(after) <= len(before) / 2 + 1
    assert after.items() <= before.items()
    assert min(after.values()) >= max(visits for moves, visits in before.items() if moves not in after)
    assert np.array_equal(tree.edges[tree.root], statistics)
    assert np.count_nonzero(tree.nodes["state"] != layout.FREE) == len(after)


def test_nodes_are_handed_out_once():
    tree = MctsTree(5, megabytes=1)
    workers = [np.zeros(1, dtype=layout.WORKER) for _ in range(2)]
    taken = []
    while tree.hand_out(workers[len(taken) % 2], 1):
        worker = workers[len(taken) % 2]
        taken.append(worker["free"][0, : worker["free_left"][0]].copy())
        worker["free_left"] = 0
    numbers = np.concatenate(taken)
    assert np.unique(numbers).size == numbers.size == tree.capacity
    assert tree.is_full


def test_values_improve_a_policy():
    """By hand: the position is worth 0.5; the weight of a gain is 0.1 (50 + 60 visits) = 11, and 4 visits are doubt."""
    tree = MctsTree(2, megabytes=1)
    visits, values, policy = [60, 20, 20, 0, 0], [0.6, 0.35, 0.35, 0.0, 0.0], np.array([0.3, 0.4, 0.2, 0.1, 0.0])
    root = tree.edges[tree.root]
    root[layout.VISITS, :5], root[layout.WINS, :5] = visits, np.multiply(visits, values)
    gains = [60 * 0.1 / 64, -20 * 0.15 / 24, -20 * 0.15 / 24, 0.0, 0.0]
    expected = policy * np.exp(11 * np.array(gains))
    improved = tree.improved_policy(policy, 0.1, 4)
    assert improved == pytest.approx(expected / expected.sum(), rel=1e-5)
    assert improved[4] == 0, "what the policy leaves out stays out"
    assert tree.improved_policy(policy, 1e-9, 4) == pytest.approx(policy, abs=1e-6)
