from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.small_sets import make_small_set
from katachi.core.cards import ModelError, wilson_interval
from katachi.core.models import find_model
from katachi.data.batches import Batch
from katachi.data.dataset import Dataset
from katachi.go.board import Board
from katachi.go.points import Symmetry
from katachi.policy.config import PolicyTraining
from katachi.policy.evaluator import OnnxNetwork
from katachi.policy.export import export_onnx
from katachi.policy.learner import Learner, validate
from katachi.policy.measure import TOP, Predicted, Predictor, describe_rank
from katachi.policy.planes import PLANES
from katachi.sgf.files import Split

COUNT = 150  # more than are asked at once


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return Dataset.open(make_small_set(tmp_path_factory.mktemp("games"), training=1, validation=1, test=14))


def new_learner(**changes) -> Learner:
    return Learner(PolicyTraining.maddison(layers=2, filters=4, size=5, data="", **changes))


def predictor_of(learner: Learner) -> Predictor:
    onnx = export_onnx(learner.settings.config, learner.net.arrays())
    return Predictor(learner.settings.config, OnnxNetwork(onnx))


def positions(predictor: Predictor, games: Dataset, count: int = COUNT, **changes) -> Batch:
    batches = list(predictor.held_out(games, Split.TEST, 5, count, **changes))
    return Batch._make(np.concatenate(arrays) for arrays in zip(*batches, strict=True))


@pytest.mark.parametrize("changes", [{}, {"planes": "mover", "outputs": 1, "rank_embedding": True}])
def test_a_saved_network_foretells_what_its_learner_does(games, changes):
    learner = new_learner(**changes)
    predictor = predictor_of(learner)
    held_out = positions(predictor, games)
    found = predictor.predict([held_out]).tally()
    wanted = validate(learner, held_out)
    assert found["positions"] == COUNT == wanted["positions"]
    assert found["loss"] == pytest.approx(wanted["loss"], rel=1e-4)
    assert [found["top"][top - 1] / COUNT for top in (1, 5, 10)] == pytest.approx(
        [wanted[f"top_{top}"] for top in (1, 5, 10)]
    )


def test_symmetries_average_likelihoods(games):
    predictor = predictor_of(new_learner(planes="mover", outputs=1))
    held_out = positions(predictor, games)
    alone = [np.exp(-predictor.predict([held_out], symmetries=[symmetry]).losses) for symmetry in Symmetry]
    assert np.ptp(alone, axis=0).max() > 0.001
    together = predictor.predict([held_out], symmetries=Symmetry)
    assert np.exp(-together.losses) == pytest.approx(np.mean(alone, axis=0), rel=1e-4)


def test_held_out_positions_are_the_same_whatever_the_planes(games):
    full, reduced = (predictor_of(new_learner(planes=planes)) for planes in ("maddison-36", "maddison-9"))
    for one, other in zip(positions(full, games)[1:], positions(reduced, games)[1:], strict=True):
        assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    everything = positions(full, games, 10**6)
    assert everything.moves.size == games.games["plays"][games.select(5, Split.TEST)].sum()


def test_positions_of_some_ranks(games):
    predictor = predictor_of(new_learner())
    everything = positions(predictor, games, 10**6)
    some = positions(predictor, games, 10**6, ranks=(6, 9))
    chosen = np.isin(everything.ranks, (6, 9))
    assert 0 < chosen.sum() < chosen.size
    assert (some.planes == everything.planes[chosen]).all()
    assert positions(predictor, games, 10, ranks=(6, 9)).moves.tolist() == some.moves[:10].tolist()
    none = predictor.predict(predictor.held_out(games, Split.TEST, 5, 10, ranks=(2,)))
    nothing = {"positions": 0, "games": 0, "loss": None, "top": [0] * TOP, "effective": [0.0] * TOP}
    assert none.tally() == nothing


def test_telling_a_rank_is_encoding_with_it():
    planes, boards = PLANES["maddison-36"], [Board.parse(". X O / X O . / . . ."), Board(3)]
    assert (describe_rank(planes.encode(boards, [0, 9]), planes, 4) == planes.encode(boards, 4)).all()
    without = PLANES["mover"]
    assert (describe_rank(without.encode(boards), without, 4) == without.encode(boards)).all()


def test_another_rank_is_another_answer_but_the_same_mover(games):
    predictor = predictor_of(new_learner())
    held_out = [positions(predictor, games, ranks=(9,))]
    own, ninth, first = (predictor.predict(held_out, rank) for rank in (None, 9, 1))
    assert (own.losses == ninth.losses).all()
    assert (first.losses != ninth.losses).any()
    assert (first.ranks == 9).all()


def test_tallies_by_rank_and_phase():
    places = np.array([0, 1, 4, 30])
    ranks, plies = np.array([1, 0, 9, 1], dtype=np.int8), np.array([59, 60, 61, 150], dtype=np.int16)
    losses, games = np.array([1, 2, 3, 6], dtype=np.float32), np.array([7, 7, 9, 9])
    found = Predicted(places, losses, ranks, plies, games).tally_all(19)
    assert (found["games"], found["effective"][:2], found["ranks"]["1d"]["games"]) == (2, [4.0, 2.0], 2)
    assert (found["positions"], found["loss"], found["top"][:5], found["top"][-1]) == (4, 3.0, [1, 2, 2, 2, 3], 3)
    assert {rank: part["positions"] for rank, part in found["ranks"].items()} == {"unknown": 1, "1d": 2, "9d": 1}
    assert found["ranks"]["1d"]["top"][0] == 1
    phases = {phase: part["positions"] for phase, part in found["phases"].items()}
    assert phases == {"opening": 1, "middle game": 2, "endgame": 1}
    assert found["phases"]["endgame"]["loss"] == 6.0


def test_moves_of_one_game_are_alike(games):
    predictor = predictor_of(new_learner())
    held_out = positions(predictor, games)
    found = predictor.predict([held_out])
    plies = games.games["moves"][found.games]
    assert (found.games == held_out.games).all()
    assert set(found.games.tolist()) <= set(games.select(5, Split.TEST).tolist())
    assert (found.plies < plies).all()
    right = np.repeat([True, False], 30)  # three games of which all is known, three of which nothing is
    made = Predicted(np.where(right, 0, 1), found.losses[:60], found.ranks[:60], found.plies[:60], np.arange(60) // 10)
    metric = made.accuracy(1)
    assert (metric.value, metric.games, metric.positions) == (0.5, 6, 60)
    assert (metric.low, metric.high) == pytest.approx(wilson_interval(3, 6))
    assert made._replace(games=np.arange(60)).accuracy(1).low == pytest.approx(wilson_interval(30, 60)[0])


def test_a_model_of_another_kind_is_refused():
    with pytest.raises(ModelError, match="this is a linear model, but a policy one is needed"):
        Predictor.open(Path(find_model("shapes-5")))
