"""Priors that come late, at once, or not at all because the evaluator fails."""

from __future__ import annotations

import subprocess
import sys
import time
from threading import Event

import numpy as np
import pytest

from katachi.core.contracts import Evaluation, Limit
from katachi.go.game import Game
from katachi.go.points import BLACK, format_vertex
from katachi.search.kernels import mcts_nodes as layout
from katachi.search.mcts import MctsSearch, PriorReport, PriorSource
from katachi.search.settings import MctsSettings


class SlowEvaluator:
    """Likes the first legal move best; takes its time, and remembers what it was asked."""

    def __init__(self, seconds: float = 0.0, fails_at: int | None = None) -> None:
        self.seconds, self.fails_at = seconds, fails_at
        self.batches: list[int] = []
        self.positions: list[tuple[int, int]] = []

    def evaluate(self, boards):
        self.batches.append(len(boards))
        if len(self.batches) == self.fails_at:
            raise RuntimeError("out of memory")
        time.sleep(self.seconds)
        self.positions += [(board.hash, board.to_play) for board in boards]
        policies = np.zeros((len(boards), boards[0].size ** 2 + 1), dtype=np.float32)
        for row, board in zip(policies, boards, strict=True):
            legal = np.flatnonzero(board.legal_moves())
            row[legal] = 0.1 / legal.size
            row[legal[0]] += 0.9
        return Evaluation(np.full(len(boards), 0.5, dtype=np.float32), policies)


class BlockedEvaluator(SlowEvaluator):
    """Answers nothing before its gate is open."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = Event()

    def evaluate(self, boards):
        assert self.gate.wait(60)
        return super().evaluate(boards)


def searched(evaluator, simulations=1500, **settings):
    settings = {"threads": 1, "megabytes": 16, "stops_early": False, "batch": 16, "waits_for": 0, **settings}
    search = MctsSearch(evaluator, MctsSettings(**settings))
    result = search.search(Game(5), Limit(simulations=simulations), np.random.default_rng(1))
    if search._feeder is not None:
        search._feeder.join()
    return search, result, search._source.report(search._tree) if search._source is not None else PriorReport()


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.15])
def test_nothing_is_dropped(seconds):
    evaluator = SlowEvaluator(seconds)
    search, result, report = searched(evaluator)
    assert result.simulations == 1500
    assert report.sent == report.returned == report.used == len(evaluator.positions) > 0
    assert report.batches == len(evaluator.batches)
    assert max(evaluator.batches) <= 16
    states = search._tree.nodes["state"]
    assert np.count_nonzero(states == layout.EVALUATED) == report.used
    assert not (states == layout.SENT).any()
    assert 0 < report.coverage <= 1
    assert report.error == result.warning == ""


def test_the_search_does_not_wait_for_the_evaluator():
    evaluator = BlockedEvaluator()
    search = MctsSearch(evaluator, MctsSettings(threads=1, megabytes=16, stops_early=False, waits_for=0))
    result = search.search(Game(5), Limit(simulations=1500), np.random.default_rng(1))
    assert result.simulations == 1500
    assert result.coverage == 0, "nothing has come back"
    evaluator.gate.set()
    search._feeder.join()
    report = search._source.report(search._tree)
    assert report.sent == report.returned == report.used > 0, "what was at the evaluator is used when it comes"


def test_coverage_and_lag_are_in_the_result():
    result = searched(SlowEvaluator(0.01), simulations=5000)[1]
    assert 0 < result.coverage <= 1
    assert result.lag_simulations > 0
    assert result.lag_seconds >= 0.01
    plain = searched(None, simulations=100)[1]
    assert (plain.coverage, plain.lag_simulations, plain.lag_seconds) == (0, 0, 0)


def test_the_oldest_nodes_go_first():
    evaluator = SlowEvaluator(0.02)
    search, _, _ = searched(evaluator)
    tree = search._tree
    assert evaluator.positions[0] == (0, 1)  # the root: the empty board, Black to play
    evaluated, waiting = (
        tree.nodes["born"][tree.nodes["state"] == state] for state in (layout.EVALUATED, layout.WAITING)
    )
    if waiting.size:
        assert evaluated.max() <= waiting.min()


def test_priors_are_replaced_and_statistics_kept():
    evaluator = SlowEvaluator()
    tree = searched(evaluator, simulations=300, priors="none")[0]._tree
    assert evaluator.batches == []
    tree.nodes["state"][tree.root] = layout.WAITING
    before = tree.edges[tree.root].copy()
    PriorSource(evaluator).evaluate_waiting(tree, 1)
    after = tree.edges[tree.root]
    assert np.array_equal(after[: layout.PRIOR], before[: layout.PRIOR])
    assert after[layout.PRIOR, 0] == pytest.approx(0.9 + 0.1 / 26, abs=1e-3)
    assert np.array_equal(after[layout.PRIOR] < 0, before[layout.PRIOR] < 0)


def test_synchronous_priors_cover_everything():
    evaluator = SlowEvaluator()
    _, _, report = searched(evaluator, simulations=600, priors="synchronous")
    assert report.coverage == 1.0
    assert 2 < max(evaluator.batches) <= 8, "simulations of a larger tree wait together"
    assert set(evaluator.batches[:8]) == {1}, "those of a small one do not"
    assert report.lag_simulations <= 8


def test_a_prior_turns_the_search():
    favored = searched(SlowEvaluator(), simulations=600, priors="synchronous")[1]
    plain = MctsSearch(None, MctsSettings(threads=1, megabytes=16, stops_early=False)).search(
        Game(5), Limit(simulations=600), np.random.default_rng(1)
    )
    assert favored.visits[0] > 2 * plain.visits[0]  # the corner, though it is the worst point of the board


@pytest.mark.parametrize("priors", ["delayed", "synchronous"])
@pytest.mark.parametrize("fails_at", [1, 3])
def test_an_evaluator_that_fails_costs_its_priors_alone(priors, fails_at, caplog):
    evaluator = SlowEvaluator(fails_at=fails_at)
    search, result, report = searched(evaluator, simulations=2000, priors=priors)
    assert result.simulations == 2000
    assert Game(5).is_legal(result.move), format_vertex(result.move, 5)
    assert result.warning == report.error
    assert "the evaluator failed" in report.error
    assert "out of memory" in report.error
    assert "out of memory" in caplog.text
    assert len(evaluator.batches) == fails_at  # it is not asked again
    assert not (search._tree.nodes["state"] == layout.SENT).any()


def test_priors_for_nodes_that_are_gone_are_not_used():
    search, _, _ = searched(SlowEvaluator(), simulations=300, priors="synchronous")
    tree = search._tree
    keys = tree.nodes["key"][:2].copy()
    tree.nodes["state"][:2] = layout.SENT
    tree.nodes["key"][1] += 1
    evaluation = Evaluation(np.array([0.1, 0.2], dtype=np.float32), np.full((2, 26), 1 / 26, dtype=np.float32))
    assert tree.set_priors(np.array([0, 1]), keys, evaluation).tolist() == [0]
    assert tree.nodes["black_wins"][:2].tolist() == pytest.approx([0.1, 0.5])


# Values that come with the priors


class ValuingEvaluator(SlowEvaluator):
    """Says how likely Black wins by his stones in the first row."""

    def evaluate(self, boards):
        wins = [0.2 + 0.1 * np.count_nonzero(board.stones[:5] == BLACK) for board in boards]
        return super().evaluate(boards)._replace(black_wins=np.array(wins, dtype=np.float32))


def test_without_a_share_values_change_nothing():
    plain, valued = (searched(kind(), 500, priors="synchronous")[0]._tree for kind in (SlowEvaluator, ValuingEvaluator))
    assert np.array_equal(plain.edges, valued.edges)


def test_synchronous_values_are_those_of_the_leaves():
    """Every simulation makes a node and takes its value alone, so that sums can be computed from the tree."""
    settings = {"priors": "synchronous", "value_share": 1.0, "expand_after": 0}
    search, result, _ = searched(ValuingEvaluator(), simulations=60, **settings)
    assert result.ownership is None, "there were no playouts"
    tree = search._tree
    children = np.unique(tree.children[tree.children > 0])
    assert children.size == 60, "each simulation ended in a node of its own"
    assert tree.nodes["wins"][tree.root] == pytest.approx(tree.nodes["black_wins"][children].sum(), rel=1e-5)


def test_values_are_mixed_with_playouts():
    settings = {"priors": "synchronous", "expand_after": 0, "score_share": 0.0}
    search, _, _ = searched(ValuingEvaluator(), simulations=60, value_share=0.25, **settings)
    nodes, root = search._tree.nodes, search._tree.root
    values = nodes["black_wins"][np.unique(search._tree.children[search._tree.children > 0])].sum()
    playouts = 4 * nodes["wins"][root] - values
    assert playouts / 3 == pytest.approx(search._workers._sum("black_wins"), rel=1e-4)


def test_a_leaf_takes_the_last_value_that_there_is():
    """Before any value has come playouts count alone; then the root's, until its children have theirs."""
    evaluator = BlockedEvaluator()
    settings = MctsSettings(threads=1, megabytes=16, stops_early=False, value_share=1.0, waits_for=0)
    search = MctsSearch(evaluator, settings)
    result = search.search(Game(5), Limit(simulations=200), np.random.default_rng(1))
    assert result.ownership is not None, "nothing has come back: these were playouts"
    evaluator.gate.set()
    search._feeder.join()
    tree = search._tree
    tree.nodes["black_wins"][:] = 0.75
    before = tree.nodes["wins"][tree.root]
    search._workers.run(tree, 40, lambda: False, lambda nodes: None)
    assert tree.nodes["wins"][tree.root] - before == pytest.approx(40 * 0.75)


def test_values_turn_the_search():
    plain, valued = (
        searched(ValuingEvaluator(), simulations=2000, priors="synchronous", value_share=share)[1].visits[:5].sum()
        for share in (0.0, 0.9)
    )
    assert valued > 1.5 * plain


def test_an_evaluator_that_fails_leaves_the_value_to_playouts():
    result = searched(ValuingEvaluator(fails_at=1), simulations=300, value_share=1.0)[1]
    assert result.simulations == 300
    assert result.ownership is not None


def test_a_full_tree_finishes_the_simulation_that_waits():
    search = MctsSearch(
        ValuingEvaluator(),
        MctsSettings(threads=1, megabytes=1, stops_early=False, expand_after=0, priors="synchronous", value_share=1.0),
    )
    result = search.search(Game(9), Limit(simulations=1500), np.random.default_rng(1))
    assert result.simulations == 1500
    assert search._tree.capacity < 1000


def test_a_program_does_not_end_in_the_middle_of_an_evaluation():
    program = """
import time
from threading import Event
import numpy as np
from katachi.go.game import Game
from katachi.core.contracts import Limit
from katachi.search.mcts import MctsSearch
from katachi.search.settings import MctsSettings

found = Event()

class Slow:
    def evaluate(self, boards):
        found.wait(60)
        time.sleep(0.5)  # in which the program would end
        print("answered", flush=True)
        raise ValueError

MctsSearch(Slow(), MctsSettings(threads=1, waits_for=0)).search(Game(3), Limit(simulations=1), np.random.default_rng(0))
print("found", flush=True)
found.set()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["found", "answered"]
