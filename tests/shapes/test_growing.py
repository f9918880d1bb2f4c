from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from katachi.core.cards import ModelError
from katachi.core.linear import load_linear
from katachi.core.training import MetricLine, TrainingError
from katachi.shapes.learner import (
    GrowingLearner,
    TdLearner,
    TdSettings,
    games_to_master,
    growing_stages,
    sizes_not_mastered,
)
from katachi.shapes.train import ShapeTraining, train_in_folder

SETS = ("LI 2x2", "LD 2x1")
GROWING = ShapeTraining(
    size=5, grow_from=4, grow_at=0.05, grow_games=100, games=60, evaluate_every=30, test_games=20, sets=SETS, seed=2
)


def line(size: int, games: int, *rates: float) -> MetricLine:
    return MetricLine({"size": size, "games": games, "win_rates": list(rates)})


def train(settings: ShapeTraining, folder: Path) -> list[MetricLine]:
    lines: list[MetricLine] = []
    train_in_folder(settings, folder, lines.append)
    return lines


def two_sizes(**changes: object) -> list:
    settings = TdSettings.model_validate(
        {"size": 5, "sets": SETS, "average_from": 0.0, "final_step_size": 0.01} | changes
    )
    return growing_stages(settings, games=40, grow_from=4, grow_games=50)


def test_what_belongs_to_the_last_size() -> None:
    small, large = two_sizes(move_cap=80)
    assert [(stage.settings.size, stage.games) for stage in (small, large)] == [(4, 50), (5, 40)]
    assert (small.settings.final_step_size, small.settings.average_from, small.settings.move_cap) == (None, 1.0, 64)
    assert (large.settings.final_step_size, large.settings.average_from, large.settings.move_cap) == (0.01, 0.0, 80)


@pytest.mark.parametrize("agents", [1, 2])
@pytest.mark.parametrize("extra", [{}, {"mode": "online", "cascade": True}, {"tied": True}])
def test_a_mastered_size_hands_its_weights_on(agents: int, extra: dict[str, object]) -> None:
    learner = GrowingLearner(two_sizes(agents=agents, **extra), 0.9)
    learner.train_until(20)
    learner.grow(line(4, 20, *[1.0, 0.89][:agents]))
    if agents == 2:  # one of them is not there yet
        assert (learner.size, learner.learner.games) == (4, 20)
        learner.grow(line(4, 20, 1.0, 0.9))
    small = TdLearner(*two_sizes(agents=agents, **extra)[0])
    small.train(20)
    assert (learner.size, learner.learner.games) == (5, 0)
    assert small.weights.any()
    want = learner.learner.features.grow_from(small.features, small.weights)
    np.testing.assert_array_equal(learner.learner.weights, want)
    assert not learner.is_finished
    learner.train_until(100)
    learner.grow(line(5, 40, 1.0))
    assert learner.is_finished


def test_a_size_that_is_not_mastered_is_left_when_its_games_are_played() -> None:
    learner = GrowingLearner(two_sizes(), 0.9)
    for games in (30, 50):
        assert learner.size == 4
        learner.train_until(30)
        learner.grow(line(4, games, 0.0, 0.0))
    assert learner.size == 5


def test_where_a_curve_reaches_a_rate() -> None:
    lines = [line(5, 10, 0.5, 0.95), line(5, 20, 0.9, 0.9), line(6, 10, 0.3, 0.2), line(7, 10, 0.9, 1.0)]
    assert [games_to_master(lines, size, 0.9) for size in (5, 6, 7, 8)] == [20, None, 10, None]
    assert sizes_not_mastered(lines, 0.9) == [6]


def test_a_run_that_grows(tmp_path: Path) -> None:
    lines = train(GROWING, tmp_path / "run")
    sizes = [kept.size for kept in lines]
    assert sizes[0] == 4
    assert [kept.games for kept in lines if kept.size == 5] == [30, 60]
    assert games_to_master(lines, 4, 0.05) == max(kept.games for kept in lines if kept.size == 4)
    model, card = load_linear(tmp_path / "run" / "model")
    assert card.board_size == 5
    assert model.weights.any()


@pytest.mark.parametrize("stop", [1, 2, 3])
def test_a_growing_run_goes_on_to_the_same_bytes(tmp_path: Path, stop: int) -> None:
    settings = GROWING.model_copy(update={"grow_at": 1.0, "grow_games": 60})  # two lines on 4×4, two on 5×5
    whole = train(settings, tmp_path / "whole")

    class Stopped(Exception):
        pass

    seen: list[MetricLine] = []

    def interrupt(kept: MetricLine) -> None:
        seen.append(kept)
        if len(seen) == stop:
            raise Stopped

    with pytest.raises(Stopped):
        train_in_folder(settings, tmp_path / "part", interrupt)
    assert train(settings, tmp_path / "part") == whole
    for name in ("model/weights.safetensors", "model/model.json", "metrics.jsonl", "checkpoint.safetensors"):
        assert (tmp_path / "part" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_beginning_with_a_model(tmp_path: Path) -> None:
    """A model of a smaller board is grown, for both agents of a pair; a learner that plays no game shows it."""
    train(GROWING, tmp_path / "small")
    small, _ = load_linear(tmp_path / "small" / "model")
    values = GROWING.model_dump() | {"size": 6, "grow_from": None, "agents": 2, "games": 1, "step_size": 1e-9}
    settings = ShapeTraining.model_validate(values | {"first_model": str(tmp_path / "small" / "model")})
    train(settings, tmp_path / "large")
    for number in (1, 2):
        large, _ = load_linear(tmp_path / "large" / f"model-{number}")
        grown = large.features.grow_from(small.features, small.weights)
        np.testing.assert_allclose(large.weights, grown, atol=1e-8)


def test_models_that_nothing_can_begin_with(tmp_path: Path) -> None:
    train(GROWING, tmp_path / "run")
    path = str(tmp_path / "run" / "model")
    with pytest.raises(TrainingError, match=r"evaluates 5×5 boards: start learning 4×4 with one for that or less"):
        train(GROWING.model_copy(update={"first_model": path}), tmp_path / "other")
    other = GROWING.model_copy(update={"first_model": path, "grow_from": None, "sets": ("LI 2x2",)})
    with pytest.raises(TrainingError, match="has local shapes 5×5: LI 2x2, LD 2x1: to start from it, learn the same"):
        train(other, tmp_path / "other")
    with pytest.raises(ModelError, match="there is no such model"):
        train(GROWING.model_copy(update={"first_model": "nowhere"}), tmp_path / "other")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"grow_from": 6}, "grow_from is at most the size, which is 5"),
        ({"grow_from": 3, "sets": ("LI 4x4",), "mode": "online"}, "LI 4x4 does not fit on a 3×3 board"),
        ({"grow_at": float("nan")}, "grow_at"),
        ({"grow_games": 0}, "grow_games"),
    ],
)
def test_impossible_growth(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        ShapeTraining.model_validate(GROWING.model_dump() | changes)
