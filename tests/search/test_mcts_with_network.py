"""A network steers the tree: at once or with delay, on several threads, by boards that remember their last moves."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.networks import tiny_config, tiny_onnx
from katachi.core.contracts import Evaluation, Limit
from katachi.go.game import Game
from katachi.policy.evaluator import open_policy
from katachi.search.kernels import mcts_nodes as layout
from katachi.search.mcts import MctsSearch
from katachi.search.settings import MctsSettings


@pytest.fixture(scope="module")
def network():
    """Sees the last eight moves of either side."""
    config = tiny_config(5, planes="mover")
    return open_policy(config, tiny_onnx(config, scale=0.3))


def some_game() -> Game:
    game = Game(5)
    for move in (12, 7, 6, 13, 11):
        game.play(move)
    return game


def searched(evaluator, priors, threads=1, simulations=600, evaluated=0, **settings):
    """Search, and go on in the same tree until so many nodes are evaluated: delayed priors may come late."""
    chosen = MctsSettings(
        threads=threads, priors=priors, megabytes=16, stops_early=False, batch=8, expand_after=0, **settings
    )
    search = MctsSearch(evaluator, chosen)
    for _ in range(100):
        result = search.search(some_game(), Limit(simulations=simulations), np.random.default_rng(1))
        report = search.finish_priors()
        if np.count_nonzero(search._tree.nodes["state"] == layout.EVALUATED) >= evaluated:
            break
    return search._tree, result, report


def lines_of(tree, node, game):
    """All nodes of a tree, with the game that leads to each."""
    yield node, game
    for index in np.flatnonzero(tree.children[node, : tree.points + 1] != layout.NONE).tolist():
        after = game.copy()
        after.play(-1 if index == tree.points else index)
        yield from lines_of(tree, int(tree.children[node, index]), after)


@pytest.mark.parametrize("priors", ["synchronous", "delayed"])
def test_the_priors_are_what_the_network_says_of_the_position(network, priors):
    """Every node that was evaluated has the policy of the board that its moves lead to, over its candidates alone."""
    tree, result, report = searched(network, priors, evaluated=50)
    assert report.error == result.warning == ""
    lines = lines_of(tree, tree.root, some_game())
    evaluated = [(node, game) for node, game in lines if tree.nodes["state"][node] == layout.EVALUATED]
    assert len(evaluated) > 20
    policies = network.evaluate([game.board for _, game in evaluated]).policy
    for (node, _), policy in zip(evaluated, policies, strict=True):
        found = tree.edges[node, layout.PRIOR, : tree.points + 1]
        expected = np.where(found >= 0, policy, 0)
        assert np.maximum(found, 0) == pytest.approx(expected / expected.sum(), abs=1e-4)


@pytest.mark.parametrize("priors", ["synchronous", "delayed"])
def test_several_threads(network, priors):
    _, result, report = searched(network, priors, threads=3, simulations=2000)
    assert result.simulations == 2000
    assert report.error == ""
    assert report.sent == report.returned > 0
    if priors == "synchronous":
        assert report.coverage == 1


def test_a_network_for_another_size_costs_its_priors_alone(caplog):
    config = tiny_config(9)
    _, result, report = searched(open_policy(config, tiny_onnx(config)), "synchronous", simulations=50)
    assert result.simulations == 50
    assert "9×9 boards, not 5×5" in report.error
    assert "9×9 boards" in caplog.text


def test_the_tree_hands_over_the_last_moves(network):
    """Also behind a root that the game moved on to."""
    seen = []

    class Watching:
        def evaluate(self, boards) -> Evaluation:
            seen.extend((board.hash, board.to_play, tuple(board.recent_points)) for board in boards)
            return network.evaluate(boards)

    search = MctsSearch(Watching(), MctsSettings(threads=1, priors="synchronous", megabytes=16, expand_after=0))
    game = some_game()
    for _ in range(2):
        result = search.search(game, Limit(simulations=200), np.random.default_rng(1))
        game.play(result.move)
    known = {
        (line.board.hash, line.board.to_play, tuple(line.board.recent_points))
        for _, line in lines_of(search._tree, search._tree.root, _before_last(game))
    }
    assert len(known & set(seen)) == len(known) > 20


def _before_last(game: Game) -> Game:
    earlier = game.copy()
    earlier.undo()
    return earlier
