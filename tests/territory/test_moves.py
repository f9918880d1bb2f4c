from __future__ import annotations

import numpy as np
import pytest

from helpers.small_sets import make_small_set
from katachi.core.evaluators import after
from katachi.data.dataset import Dataset, DatasetError
from katachi.go.points import BLACK, PASS
from katachi.territory.evaluator import Territory
from katachi.territory.inputs import TABLE_SHAPE, PointInputs
from katachi.territory.measure import (
    TEMPERATURES,
    EvaluatedMoves,
    evaluate_moves,
    is_at_edge,
    pick_moves,
    promise_logits,
)
from katachi.territory.network import DagRnn, DagRnnConfig


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return Dataset.open(make_small_set(tmp_path_factory.mktemp("records")))


def test_moves_are_judged_by_the_area_that_they_promise(dataset: Dataset) -> None:
    territory = Territory(DagRnn.new(DagRnnConfig(), PointInputs(), seed=1), np.zeros(TABLE_SHAPE, dtype=np.float32))
    asked = pick_moves(dataset, dataset.select(), 3, seed=0)
    judged = evaluate_moves(territory, dataset, asked)
    for i, (game, ply) in enumerate(zip(*asked, strict=True)):
        board = dataset.start(game)
        moves, colors = dataset.moves_of(game)
        for move, color in zip(moves[:ply].tolist(), colors.tolist(), strict=False):
            board.play(move, color)
        board.to_play = int(colors[ply])
        assert judged.played[i] == moves[ply] != PASS
        assert judged.stones[i] == np.count_nonzero(board.stones)
        for point in range(board.size**2):
            if not board.is_legal(point):
                assert judged.areas[i, point] == -np.inf
                continue
            owned = (1 + territory.ownership([after(board, point)])[0]) / 2
            own = owned.sum() if board.to_play == BLACK else (1 - owned).sum()
            assert judged.areas[i, point] == pytest.approx(own, abs=1e-3)


def test_picked_moves_are_no_passes_and_come_once(dataset: Dataset) -> None:
    everything = pick_moves(dataset, dataset.select(), 10**6, seed=0)
    assert len(set(zip(*everything, strict=True))) == everything.games.size == dataset.games["plays"].sum()
    some = pick_moves(dataset, dataset.select(), 5, seed=0, plies=range(3, 6))
    assert set(some.plies.tolist()) <= {3, 4, 5}
    assert len(some.games) == 5
    with pytest.raises(DatasetError, match="no such moves"):
        pick_moves(dataset, dataset.select(), 5, seed=0, plies=[5000])


def test_likelihoods_places_and_temperature() -> None:
    areas = np.array([[1.0, 2.0, -np.inf], [3.0, 1.0, 2.0]])
    judged = EvaluatedMoves(areas, np.array([0, 0]), np.array([1, 0]))
    assert judged.places().tolist() == [1, 0]
    assert judged.legal.tolist() == [2, 3]
    expected = [np.log(1 / (1 + np.e**2)), -np.log(1 + np.e**-4 + np.e**-2)]
    assert judged.log_likelihoods(0.5) == pytest.approx(expected)


def test_the_temperature_that_moves_were_drawn_by_is_found_again() -> None:
    rng = np.random.default_rng(0)
    areas = rng.normal(scale=3, size=(3000, 12))
    weights = np.exp(areas / 0.8)
    played = np.array([rng.choice(12, p=row / row.sum()) for row in weights])
    found = EvaluatedMoves(areas, played, np.zeros(3000, dtype=np.int64)).fit_temperature()
    assert found == pytest.approx(0.8, rel=0.1)
    assert TEMPERATURES[0] < found < TEMPERATURES[-1]


def test_each_mean_has_the_temperature_that_makes_it_largest() -> None:
    rng = np.random.default_rng(1)
    judged = EvaluatedMoves(rng.normal(size=(200, 5)), rng.integers(5, size=200), np.zeros(200, dtype=np.int64))
    logs = np.array([judged.log_likelihoods(temperature) for temperature in TEMPERATURES])
    assert judged.fit_temperature() == TEMPERATURES[logs.mean(axis=1).argmax()]
    assert judged.fit_temperature(mean_of_logs=False) == TEMPERATURES[np.exp(logs).mean(axis=1).argmax()]


def test_a_fit_at_the_edge_of_the_temperatures_is_said(caplog: pytest.LogCaptureFixture) -> None:
    areas = np.array([[1.0, 2.0, 4.0], [3.0, 1.0, 2.0]])
    judged = EvaluatedMoves(areas, np.array([2, 1]), np.zeros(2, dtype=np.int64))  # the best, and the worst
    assert not is_at_edge(judged.fit_temperature())
    assert not caplog.messages
    coldest = judged.fit_temperature(mean_of_logs=False)
    assert is_at_edge(coldest)
    assert coldest == TEMPERATURES[0]
    assert "no temperature fits 2 moves better than" in caplog.text
    top_1 = (judged.places() == 0).mean()
    assert np.exp(judged.log_likelihoods(coldest)).mean() == pytest.approx(top_1)


def test_policies_may_be_asked_instead(dataset: Dataset) -> None:
    net = DagRnn.new(DagRnnConfig(policy=True), PointInputs(), seed=1)
    territory = Territory(net, np.zeros(TABLE_SHAPE, dtype=np.float32))
    asked = pick_moves(dataset, dataset.select(), 3, seed=0)
    judged = evaluate_moves(territory, dataset, asked, promise_logits)
    for i, (game, ply) in enumerate(zip(*asked, strict=True)):
        board = dataset.position(game, ply)
        logits = territory.logits([board])[0, :, 1 if board.to_play == BLACK else 2]
        assert np.array_equal(np.isfinite(judged.areas[i]), board.legal_moves()[:-1])
        assert judged.areas[i][judged.played[i]] == pytest.approx(logits[judged.played[i]])
