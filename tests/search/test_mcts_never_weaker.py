"""A search is not weaker than its evaluator: the root is asked first, and few visits follow the prior."""

from __future__ import annotations

import numpy as np
import pytest

from katachi.core.contracts import Evaluation, Limit, Outcome
from katachi.go.game import Game
from katachi.go.points import BLACK
from katachi.search.kernels import mcts_nodes as layout
from katachi.search.mcts import MctsSearch
from katachi.search.settings import MctsSettings

SIZE = 9
FAVORITE = 40


class Sure:
    """Likes one point; expects of every board the same lead and owners."""

    def __init__(self, lead: float = 3.0) -> None:
        self.lead = lead
        self.batches: list[int] = []

    def at_komi(self, komi):
        return self

    def ownership(self, boards):
        return self.predict_outcome(boards).ownership

    def evaluate(self, boards):
        return self.evaluate_outcomes(boards)[0]

    def predict_outcome(self, boards):
        return self.evaluate_outcomes(boards)[1]

    def evaluate_outcomes(self, boards):
        self.batches.append(len(boards))
        policy = np.stack([board.legal_moves() for board in boards]).astype(np.float32) * 0.01
        policy[:, FAVORITE] *= 80
        policy[:, -1] = 1e-6
        policy /= policy.sum(axis=1, keepdims=True)
        wins = np.full(len(boards), 0.6, dtype=np.float32)
        lead = np.full(len(boards), self.lead, dtype=np.float32)
        owners = np.full((len(boards), SIZE**2), 0.5, dtype=np.float32)
        return Evaluation(wins, policy), Outcome(wins, 0 * wins, lead, lead, owners)


def search(evaluator, simulations, **settings):
    usual = {"threads": 1, "megabytes": 16, "stops_early": False, "rave": 0.0, "value_share": 1.0}
    settings = {**usual, **settings}
    found = MctsSearch(evaluator, MctsSettings(**settings))
    return found, found.search(Game(SIZE), Limit(simulations=simulations), np.random.default_rng(1))


@pytest.mark.parametrize("priors", ["synchronous", "delayed"])
@pytest.mark.parametrize("simulations", [1, 2, 8, 25])
def test_with_few_visits_it_plays_what_the_evaluator_would(priors, simulations):
    """Also with delayed priors: the first nodes are waited for."""
    _, result = search(Sure(), simulations, priors=priors, expand_after=0)
    assert result.move == FAVORITE
    assert result.coverage == 1.0


def test_lead_and_owners_are_those_of_the_evaluator_without_playouts():
    found, result = search(Sure(lead=3.0), 40, priors="synchronous", expand_after=0)
    assert result.black_lead == pytest.approx(3.0)
    assert result.ownership == pytest.approx(np.full(SIZE**2, 0.5), abs=0.01)
    assert found._workers._sum("playouts") == 0
    assert result.black_wins == pytest.approx(0.6, abs=5e-3), "the score's share is taken off again"


def test_leads_of_playouts_and_evaluator_are_mixed():
    found, result = search(Sure(lead=30.0), 40, priors="synchronous", expand_after=0, value_share=0.25)
    weights = found._workers._sum("weight")
    assert weights == pytest.approx(40 + 0.25), "simulations, and what the evaluator says of the position"
    played = found._workers._sum("playouts")
    assert played == 40
    assert np.abs(result.ownership).max() <= 1


def test_a_batch_leaves_no_trace_of_what_was_taken_back():
    """Visits of a node are those of its moves, and each simulation is counted once, however many waited together."""
    for at_once in (1, 8, 32):
        evaluator = Sure()
        found, result = search(evaluator, 1500, priors="synchronous", expand_after=0, at_once=at_once)
        tree = found._tree
        assert result.simulations == 1500
        assert result.visits.sum() == 1500
        used = np.flatnonzero(tree.nodes["state"] != layout.FREE)
        sums = tree.edges[used, layout.VISITS].sum(axis=1)
        assert np.array_equal(sums, tree.nodes["visits"][used])
        assert not (tree.nodes["state"] == layout.AWAITED).any()
        assert max(evaluator.batches) <= at_once
        assert (max(evaluator.batches) > 1) == (at_once > 1)


def test_two_threads_wait_for_each_other():
    found, result = search(Sure(), 3000, priors="synchronous", expand_after=0, threads=2)
    assert result.simulations == 3000
    assert result.coverage == 1.0
    assert not (found._tree.nodes["state"] == layout.AWAITED).any()


def test_a_lost_game_is_played_for_points():
    """Two moves that lose alike: the one that loses by less is preferred."""

    class Losing(Sure):
        def evaluate_outcomes(self, boards):
            _, outcome = super().evaluate_outcomes(boards)
            policy = np.stack([board.legal_moves() for board in boards]).astype(np.float32)
            policy[:, -1] = 1e-6
            policy /= policy.sum(axis=1, keepdims=True)
            leads = np.float32([-20 + 15 * (board[7] == BLACK) for board in boards])
            wins = np.full(len(boards), 0.001, dtype=np.float32)
            return Evaluation(wins, policy), outcome._replace(black_wins=wins, black_lead=leads)

    _, by_points = search(Losing(), 1500, priors="synchronous", expand_after=0, exploration=0.2)
    assert by_points.move == 7
    _, without = search(Losing(), 1500, priors="synchronous", expand_after=0, exploration=0.2, score_share=0.0)
    assert without.visits[7] < by_points.visits[7]


def test_a_long_queue_makes_expansions_rarer():
    found, _ = search(Sure(), 50, priors="delayed", expand_after=2)
    tree = found._tree
    tree.expand_by_queue(5.0)
    tree.expand_by_queue(5.0)
    assert tree.control["expand_after"][0] == 11
    for _ in range(5):
        tree.expand_by_queue(0.0)
    assert tree.control["expand_after"][0] == 2


def test_steps_are_the_search_for_a_caller_who_evaluates():
    evaluator = Sure()
    settings = MctsSettings(
        threads=1,
        priors="synchronous",
        expand_after=0,
        rave=0.0,
        value_share=1.0,
        at_once=1,
        megabytes=4,
    )
    stepping = MctsSearch(evaluator, settings.model_copy(update={"reuse": False}))
    steps = stepping.steps(Game(SIZE), 100, np.random.default_rng(1))
    asked = 0
    while True:
        try:
            nodes = next(steps)
        except StopIteration as end:
            tree = end.value
            break
        asked += nodes.size
        boards = stepping.tree.boards(nodes)
        stepping.tree.set_priors(nodes, stepping.tree.nodes["key"][nodes], *evaluator.evaluate_outcomes(boards))
    _, whole = search(evaluator, 100, priors="synchronous", expand_after=0, at_once=1, megabytes=4)
    assert asked <= 101
    assert np.array_equal(tree.visits(tree.root), whole.visits)
