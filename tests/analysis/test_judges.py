"""Players and evaluators are asked for what they know, and complete each other."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.networks import tiny_config, tiny_onnx
from katachi.analysis.explaining import compare_ownership
from katachi.analysis.judges import Judges, analyze_by, predict_people
from katachi.core.contracts import Analysis, Candidate, Decision, Limit
from katachi.core.evaluators import OwnershipValueEvaluator
from katachi.go.game import Game
from katachi.players.specs import load_player
from katachi.policy.evaluator import PolicyOptions, open_policy


class Teller:
    """A player that says what it is told to say."""

    name = "teller"

    def __init__(self, *candidates: Candidate, black_wins: float | None = None) -> None:
        self.analysis = Analysis(candidates, black_wins)

    def decide(self, game: Game, limit: Limit) -> Decision:
        game.play(0)  # even a player that breaks the rules of its contract does no harm
        return Decision(0, analysis=self.analysis)


def owner(boards):
    return np.full((len(boards), 25), 0.2, dtype=np.float32)


def test_a_player_is_taken_at_its_word():
    player = Teller(Candidate(3, 0.9, visits=3), Candidate(4, 0.5, visits=1), black_wins=0.8)
    game = Game(5)
    assert Judges(player).analyze(game).black_wins == 0.8
    assert game.moves == []


def test_what_a_player_does_not_know_the_evaluators_are_asked():
    game = Game(5)
    game.komi = 2.0
    evaluator = OwnershipValueEvaluator(owner, komi=2.0)
    analysis = Judges(Teller(Candidate(3)), evaluators={"owner": evaluator}).analyze(game)
    assert analysis.candidates == (Candidate(3),)
    assert analysis.black_wins == pytest.approx(1 / (1 + np.exp(-3 / 5)))
    assert analysis.black_lead == pytest.approx(3.0)
    assert analysis.ownership == pytest.approx(np.full(25, 0.2))


def test_without_a_player_the_first_evaluator_judges(shapes):
    game = Game(5)
    game.play(12)
    analysis = Judges(evaluators={"shapes": shapes}).analyze(game)
    policy, sweep = shapes.evaluate([game.board]).policy[0], shapes.evaluate_afterstates(game.board)
    priors = [candidate.prior for candidate in analysis.candidates]
    assert priors == sorted(priors, reverse=True)
    for candidate in analysis.candidates:
        assert candidate.prior == pytest.approx(policy[candidate.move])
        assert candidate.black_wins == pytest.approx(sweep[candidate.move])
    assert analysis == analyze_by(shapes, game)
    assert Judges().analyze(game) == Analysis(())


def test_without_a_limit_the_players_own_holds():
    player = load_player("level-10 limit.simulations=50", seed=1)
    assert Judges(player).limit_in_force == Limit(simulations=50)
    assert Judges(player, Limit(simulations=3)).limit_in_force == Limit(simulations=3)
    assert sum(c.visits for c in Judges(player, Limit(simulations=3)).analyze(Game(5)).candidates) == 3


def test_the_players_own_evaluator_explains_too(shapes):
    player = load_player("shapes-5")
    assert list(Judges(player, evaluators={"mine": shapes}).all_evaluators) == ["mine", "shapes-5"]
    assert list(Judges(player, evaluators={"same": player.evaluator}).all_evaluators) == ["same"]


def test_people_of_each_rank():
    config = tiny_config(rank_embedding=True)
    network = open_policy(config, tiny_onnx(config), PolicyOptions(rank=5))
    board = Game(5).board
    first, ninth = predict_people(network, board)
    assert (first.rank, ninth.rank) == (1, 9)
    for prediction in (first, ninth):
        asked = open_policy(config, tiny_onnx(config), PolicyOptions(rank=prediction.rank)).evaluate([board]).policy[0]
        assert prediction.policy == pytest.approx(asked)
        assert network.at_rank(prediction.rank).evaluate([board]).policy[0] == pytest.approx(asked)
    likeliest = first.best()
    assert [share for _, share in likeliest] == sorted((share for _, share in likeliest), reverse=True)
    assert likeliest[0][0] == int(np.argmax(first.policy))


def test_people_in_general_where_ranks_are_not_known():
    config = tiny_config()
    network = open_policy(config, tiny_onnx(config))
    (people,) = predict_people(network, Game(5).board)
    assert people.rank is None
    assert network.at_rank(3) is network


def test_a_network_without_a_value_says_nothing_of_who_wins():
    config = tiny_config()
    network = open_policy(config, tiny_onnx(config))
    assert Judges(evaluators={"people": network}).analyze(Game(5)).black_wins is None


def test_territory_that_moved():
    before = np.array([1.0, 0.0, -1.0, 0.3])
    change = compare_ownership(before, np.array([0.2, 0.9, -1.0, 0.0]))
    assert change.black_gain == pytest.approx(-0.2)
    assert (change.to_black, change.to_white) == ((1,), (0,))
