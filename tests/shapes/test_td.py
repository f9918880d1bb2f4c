from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from helpers import naive_td
from katachi.core.conformance import check_learner
from katachi.shapes.learner import TdLearner, TdSettings
from katachi.shapes.self_play import play_against_alp

MODES = ("fast", "online")


def settings(**changes):
    return TdSettings(**{"size": 5, "sets": ("LI 2x2", "LD 3x2"), "agents": 2, "seed": 1, **changes})


def digest(learner):
    return {name: array.tobytes() for name, array in learner.state_dict().items()}


@pytest.mark.parametrize("mode", MODES)
def test_slices_do_not_matter(mode):
    chosen = settings(mode=mode, average_from=0.3, final_step_size=0.02)
    whole, sliced = TdLearner(chosen, 250), TdLearner(chosen, 250)
    whole.train(250)
    for games in (1, 0, 99, 3, 120, 27):
        sliced.train(games)
    assert digest(whole) == digest(sliced)
    assert whole.averaged_weights.tobytes() == sliced.averaged_weights.tobytes()


@pytest.mark.parametrize("mode", MODES)
def test_resuming_ends_in_the_same_bytes(mode):
    chosen = settings(mode=mode, average_from=0.3, final_step_size=0.02)
    whole, first, second = (TdLearner(chosen, 400) for _ in range(3))
    whole.train(400)
    first.train(203)  # in the middle of a batch
    second.load_state_dict({name: array.copy() for name, array in first.state_dict().items()})
    assert second.games == 203
    second.train(197)
    assert digest(second) == digest(whole)


def test_other_seeds_learn_otherwise():
    one, other = (TdLearner(settings(seed=seed), 20) for seed in (1, 2))
    one.train(20)
    other.train(20)
    assert not np.array_equal(one.weights, other.weights)


@pytest.mark.parametrize("mode", MODES)
def test_learns_to_beat_alp(mode):
    """LI 2×2, a pair: the mean of both agents over 2 × 400 games, whose standard error is under 2 points."""
    learner = TdLearner(settings(sets=("LI 2x2",), mode=mode, gradient="logistic", step_size=0.3), 3000)
    nothing = play_against_alp(learner.features, learner.weights[0], 400, seed=5) / 400
    learner.train(3000)
    learned = np.mean([play_against_alp(learner.features, agent, 400, seed=5) / 400 for agent in learner.weights])
    assert nothing < 0.15
    assert learned > nothing + 0.25


def test_averaging_is_the_mean_over_batches():
    learner = TdLearner(settings(average_from=0.0), 16)
    snapshots = []
    for _ in range(16):  # batches have one game so far
        learner.train(1)
        snapshots.append(learner.weights.astype(np.float64))
    # The last game is in no batch that has ended.
    np.testing.assert_allclose(learner.averaged_weights, np.mean(snapshots[:-1], axis=0), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [3, 13, 19])
def test_other_sizes(mode, size):
    learner = TdLearner(settings(size=size, mode=mode), 2)
    for _ in range(2):
        learner.train(1)
        game = naive_td.replay(size, learner.self_play.moves)  # raises if a move is illegal
        assert game.is_over or len(game.moves) == 4 * size * size
    assert np.isfinite(learner.weights).all()


def test_no_average_unless_asked_for():
    learner = TdLearner(settings(), 60)
    learner.train(60)
    assert np.array_equal(learner.averaged_weights, learner.weights)


@pytest.mark.parametrize(("schedule", "halfway"), [("geometric", 0.2), ("linear", 0.25), ("harmonic", 0.16)])
def test_schedules_of_the_step_size(schedule, halfway):
    learner = TdLearner(settings(step_size=0.4, final_step_size=0.1, step_schedule=schedule), 10)
    learner.train(5)
    assert learner.step_size == pytest.approx(halfway)
    learner.train(5)
    assert learner.step_size == pytest.approx(0.1)


def test_ticks_tell_how_far_it_is():
    ticks: list[int] = []
    TdLearner(settings(), 250).train(250, ticks.append)
    assert ticks == [100, 200, 250]


def test_goes_on_from_given_weights():
    features = settings().features
    first = np.full((2, features.size), 0.01, dtype=np.float32)
    learner = TdLearner(settings(), 5, weights=first)
    in_use = features.tables.canonical == np.arange(features.size)
    assert np.array_equal(learner.weights != 0, np.broadcast_to(in_use, first.shape))
    learner.train(5)
    assert not np.array_equal(learner.weights, first * in_use)


def test_metrics_and_contract():
    check_learner(TdLearner(settings(), 100), 10)
    metrics = TdLearner(settings(), 200).train(200).values
    assert metrics["games"] == 200
    assert 10 < metrics["plies"] <= 100
    assert 0 < metrics["black_wins"] < 1
    assert 0 < metrics["td_error"] < 0.5


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"sets": ("LI 4x3",)}, "mode fast has shapes up to 3x3 alone: LI 4x3 need mode online"),
        ({"cascade": True}, "mode fast has no cascade"),
        ({"step_size": float("nan")}, "finite number"),
        ({"step_size": 0.0}, "greater than 0"),
        ({"sets": ("LI 7x7",)}, "not a set of shapes"),
        ({"sets": ("LI 2x2", "LI 2x2")}, "none of them twice"),
        ({"sets": ()}, "at least one set"),
        ({"size": 3, "sets": ("LI 4x4",), "mode": "online"}, "does not fit"),
        ({"size": 2}, "greater than or equal to 3"),
        ({"agents": 3}, "1 or 2"),
        ({"move_cap": 101}, "at most 100"),
        ({"epsilon": 1.5}, "less than or equal to 1"),
        ({"alpha": 1}, "Extra inputs"),
        ({"tied": True, "sets": ("LI 4x3",), "mode": "online"}, "only shapes up to 3x3 can be tied: LI 4x3 cannot"),
        ({"tied": True, "liberty_sets": ("LI 1x1",)}, "tied inverses are for basic shapes alone"),
        ({"eye_rule": "none"}, "'simple' or 'single-point'"),
    ],
)
def test_impossible_settings(changes, sentence):
    with pytest.raises(ValidationError, match=sentence):
        settings(**changes)


def test_too_many_games():
    learner = TdLearner(settings(), 10)
    with pytest.raises(ValueError, match="11 games more: 0 of 10 are played"):
        learner.train(11)
    with pytest.raises(ValueError, match="at least one"):
        TdLearner(settings(), 0)
    with pytest.raises(ValueError, match="finite and of the shape"):
        TdLearner(settings(), 10, weights=np.zeros((1, 3), dtype=np.float32))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda state: state.pop("fused"), "the state has averages, progress, random, totals, weights, not"),
        (lambda state: state.update(weights=state["weights"][:, :-1]), "weights of the state is float64"),
        (lambda state: state["weights"].fill(np.nan), "not finite"),
        (lambda state: state["progress"].fill(11), "after 11 games of 10"),
        (lambda state: state["random"].fill(0), "random numbers is 0"),
    ],
)
def test_states_of_others_are_refused(change, sentence):
    learner = TdLearner(settings(), 10)
    state = learner.state_dict()
    change(state)
    with pytest.raises(ValueError, match=sentence):
        learner.load_state_dict(state)
