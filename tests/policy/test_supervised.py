from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from katachi.data.batches import Batch
from katachi.data.dataset import NO_LABEL
from katachi.go.points import BLACK, WHITE
from katachi.policy.config import PolicyTraining
from katachi.policy.learner import Learner, Muon, orthogonalize, predict, validate
from katachi.policy.network import GlobalInputs

SIZE = 5


def settings(**changes: Any) -> PolicyTraining:
    tiny = {"data": "", "planes": "maddison-9", "size": SIZE, "layers": 3, "filters": 8, "batch": 8, "positions": 80}
    return PolicyTraining(**{**tiny, **changes})


def random_batch(count: int, seed: int = 0, legal: float = 0.7) -> Batch:
    """Random planes; "legal" is plane 7 of the reduced set."""
    rng = np.random.default_rng(seed)
    planes = rng.integers(0, 2, (count, 9, SIZE, SIZE)).astype(np.uint8)
    planes[:, 7] = rng.random((count, SIZE, SIZE)) < legal
    moves = rng.integers(0, SIZE * SIZE, count)
    ranks, won = rng.integers(0, 10, count).astype(np.int8), rng.integers(-1, 2, count).astype(np.int8)
    colors = rng.choice(np.array([BLACK, WHITE], dtype=np.int8), count)
    owners = rng.integers(-1, 2, (count, SIZE * SIZE)).astype(np.int8)
    replies = rng.integers(-1, SIZE * SIZE, count)
    scores = np.where(rng.random(count) < 0.5, rng.normal(0, 20, count), np.nan).astype(np.float32)
    komi = rng.choice(np.array([-7.5, 0.5, 6.5], dtype=np.float32), count)
    servers = np.zeros(count, dtype=np.int8)
    plies = np.zeros(count, dtype=np.int16)
    games, unsearched = np.arange(count), np.full(count, np.nan, dtype=np.float32)
    beside = (owners, replies, scores, komi, servers, games, np.empty((count, 0), dtype=np.float32), unsearched)
    return Batch(planes, moves, ranks, colors, won, plies, *beside)


def test_warm_up_and_cosine() -> None:
    training = settings(batch=1, positions=1000, step_size=0.01, warmup=0.1)
    sizes = [training.step_size_at(step) for step in range(1000)]
    assert sizes[0] == pytest.approx(0.01 / 101)
    assert all(np.diff(sizes[:100]) > 0)
    assert sizes[100] == 0.01
    assert sizes[550] == pytest.approx(0.005)
    assert all(np.diff(sizes[100:]) < 0)
    assert sizes[-1] < 1e-6


def test_the_papers_three_halvings() -> None:
    training = settings(batch=1, positions=28, step_size=0.128, warmup=0.0, schedule="halvings", optimizer="sgd")
    sizes = [training.step_size_at(step) for step in range(28)]
    assert sizes == [0.128] * 25 + [0.064, 0.032, 0.016]


def test_the_trapezoid() -> None:
    training = settings(batch=1, positions=1000, step_size=0.01, warmup=0.1, schedule="trapezoid")
    sizes = [training.step_size_at(step) for step in range(1000)]
    assert sizes[0] == pytest.approx(0.01 / 101)
    assert all(np.diff(sizes[:100]) > 0)
    assert sizes[100:800] == [0.01] * 700
    assert sizes[800] == pytest.approx(0.01)
    assert np.diff(sizes[800:]) == pytest.approx(-0.01 / 200)
    assert sizes[-1] == pytest.approx(0.01 / 200)


@pytest.mark.parametrize("shape", [(8, 72), (30, 12), (16, 16)])
def test_newton_schulz_brings_singular_values_near_one(shape: tuple[int, int]) -> None:
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    matrix = left * torch.linspace(0.1, 1, len(values)) @ right
    found = orthogonalize(matrix)
    assert found.shape == shape
    new = left.T @ found @ right.T  # the singular vectors stay
    assert ((new.diag() > 0.6) & (new.diag() < 1.3)).all()
    assert (new - torch.diag(new.diag())).abs().max() < 1e-3
    assert not orthogonalize(torch.zeros(shape)).any()


def test_a_step_of_muon_has_the_size_of_one_of_adamw_and_decays() -> None:
    filters = torch.ones(16, 16, 3, 3, requires_grad=True)
    filters.grad = torch.randn(filters.shape, generator=torch.Generator().manual_seed(0)) * 1e-4
    Muon([filters], lr=0.1, weight_decay=0.5).step()
    moved = (filters - 0.95).detach() / 0.1
    assert moved.square().mean().sqrt() == pytest.approx(0.2, rel=0.25)
    assert (moved * filters.grad).sum() < 0


def test_muon_has_the_filters_between_hidden_layers_and_adamw_the_rest() -> None:
    state = Learner(settings(optimizer="muon", value=True)).state_dict()
    momenta = {key.partition("/")[2] for key in state if key.startswith("momentum/")}
    assert momenta == {"layers.1.weight", "layers.2.weight"}
    moments = {key.partition("/")[2] for key in state if key.startswith("exp_avg/")}
    assert {"layers.0.weight", "layers.1.gain", "policy.weight", "value.hidden"} <= moments
    assert not momenta & moments
    Learner(settings(optimizer="muon", layers=1)).update(random_batch(8))  # none are between hidden layers


def test_a_step_of_plain_descent_is_the_mean_gradient() -> None:
    training = settings(
        kind="plain", layers=1, normalized=False, outputs=2, rank_embedding=False, mask_illegal=False, optimizer="sgd",
        schedule="halvings", step_size=0.128, warmup=0.0,
    )  # fmt: skip
    learner = Learner(training)
    batch = random_batch(8)
    before = learner.net.arrays()
    shares = torch.softmax(
        learner.net.predict(torch.from_numpy(batch.planes), GlobalInputs(torch.zeros(8).long())).policy, 2
    )
    gradient = np.zeros((2, SIZE * SIZE))
    for number, (move, color) in enumerate(zip(batch.moves, batch.colors, strict=True)):
        output = 0 if color == BLACK else 1
        gradient[output] += shares[number, output].detach().numpy() - np.eye(SIZE * SIZE)[move]
    losses = learner.update(batch)
    moved = learner.net.arrays()["policy.bias"] - before["policy.bias"]
    assert moved.reshape(2, -1) == pytest.approx(-0.128 * gradient / 8, abs=1e-6)
    assert losses.positions == 8
    assert losses.moves / 8 == pytest.approx(math.log(SIZE * SIZE), abs=0.3)


def test_illegal_points_are_masked_but_never_what_was_played() -> None:
    batch = random_batch(20, legal=0.3)
    logits = predict(Learner(settings()), batch).numpy()
    allowed = batch.planes[:, 7].reshape(20, -1) == 1
    allowed[np.arange(20), batch.moves] = True
    assert (np.isfinite(logits) == allowed).all()
    unmasked = predict(Learner(settings(mask_illegal=False)), batch)
    assert torch.isfinite(unmasked).all()


def test_only_known_outcomes_teach_the_value() -> None:
    learner = Learner(settings(value=True))
    unknown = random_batch(8)._replace(won=np.zeros(8, dtype=np.int8))
    assert learner.update(unknown).values == 0
    assert learner.update(random_batch(8)).values > 0


def test_only_labels_teach_ownership() -> None:
    learner = Learner(settings(ownership=True))
    batch = random_batch(8)
    unlabeled = batch._replace(owners=np.full_like(batch.owners, NO_LABEL))
    before = learner.net.arrays()["ownership.weight"]
    assert learner.update(unlabeled).owners == 0
    assert (learner.net.arrays()["ownership.weight"] == before).all()
    half = np.where(np.arange(8)[:, None] < 4, batch.owners, NO_LABEL)
    assert learner.update(batch._replace(owners=half)).owners == pytest.approx(4 * math.log(2), rel=0.1)
    assert (learner.net.arrays()["ownership.weight"] != before).any()


def test_the_weight_of_ownership_is_that_of_its_slope() -> None:
    gradients = []
    for weight in (0.5, 2.0):
        learner = Learner(settings(ownership=True, ownership_loss=weight, optimizer="sgd", warmup=0.0))
        learner.update(random_batch(8))
        gradients.append(learner.net.arrays()["ownership.bias"])
    assert gradients[1] == pytest.approx(4 * gradients[0], rel=1e-4)


@pytest.mark.parametrize(
    "changes", [{}, {"optimizer": "muon", "schedule": "trapezoid"}, {"products": "bfloat16", "filters": 16}]
)
def test_what_is_repeated_is_learned(changes: dict[str, Any]) -> None:
    learner = Learner(settings(positions=8 * 150, step_size=0.01, value=True, ownership=True, **changes))
    batch = random_batch(8)
    while not learner.is_finished:
        losses = learner.update(batch)
    assert losses.moves / 8 < 0.3
    found = validate(learner, batch)
    assert found["top_1"] == found["top_5"] == 1.0
    assert found["value_hits"] == 1.0
    assert found["ownership_hits"] > 0.95


def test_validation_counts_places() -> None:
    learner = Learner(settings())
    batch = random_batch(300)  # more than are asked at once
    found = validate(learner, batch)
    logits = predict(learner, batch).numpy()
    places = [(row > row[move]).sum() for row, move in zip(logits, batch.moves, strict=True)]
    for top in (1, 5, 10):
        assert found[f"top_{top}"] == pytest.approx(np.mean(np.array(places) < top))
    shares = torch.softmax(torch.from_numpy(logits), 1).numpy()
    assert found["loss"] == pytest.approx(-np.log(shares[np.arange(300), batch.moves]).mean(), rel=1e-5)


def test_bfloat16_is_for_training_alone() -> None:
    exact, rough = (Learner(settings(filters=16, products=products)) for products in ("float32", "bfloat16"))
    batch = random_batch(8)
    assert (predict(exact, batch) == predict(rough, batch)).all()
    for learner in (exact, rough, exact, rough, exact, rough):  # blocks begin as nothing
        learner.update(batch)
    one, other = (learner.net.arrays()["layers.2.weight"] for learner in (exact, rough))
    assert not (one == other).all()


@pytest.mark.parametrize("optimizer", ["adamw", "sgd", "muon"])
def test_a_learner_goes_on_to_the_same_bytes(optimizer: str) -> None:
    batches = [random_batch(8, seed) for seed in range(6)]
    straight, first = (Learner(settings(optimizer=optimizer, value=True)) for _ in range(2))
    for batch in batches:
        straight.update(batch)
    for batch in batches[:3]:
        first.update(batch)
    second = Learner(settings(optimizer=optimizer, value=True))
    second.load_state_dict(first.state_dict())
    for batch in batches[3:]:
        second.update(batch)
    wanted, found = straight.state_dict(), second.state_dict()
    assert wanted.keys() == found.keys()
    for name, array in wanted.items():
        assert array.tobytes() == found[name].tobytes(), name


def test_a_state_of_other_settings_is_refused() -> None:
    state = Learner(settings()).state_dict()
    with pytest.raises(ValueError, match="not those of this network"):
        Learner(settings(filters=16)).load_state_dict(state)
    del state["exp_avg/layers.0.weight"]
    with pytest.raises(ValueError, match="not of these settings"):
        Learner(settings()).load_state_dict(state)
