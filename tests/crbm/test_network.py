from __future__ import annotations

import numpy as np
import pytest
import torch

from helpers import naive_crbm
from helpers.positions import random_board
from helpers.random_crbms import KINDS, random_weights
from katachi.crbm.config import CrbmConfig
from katachi.crbm.network import Crbm
from katachi.go.points import Symmetry

TINY = {
    "two kernels": CrbmConfig(size=2, kernels=2, kernel_size=2),
    "four places": CrbmConfig(size=2, kernels=1, kernel_size=1),
    "real": CrbmConfig(size=2, kernels=2, kernel_size=2, visible="real"),
    "oriented": CrbmConfig(size=2, kernels=1, kernel_size=2, units="oriented"),
    "oriented-or-off": CrbmConfig(size=2, kernels=1, kernel_size=2, units="oriented-or-off"),
}


def test_counts():
    assert CrbmConfig().feature_count == 105 * 49 == 5145
    assert CrbmConfig(units="oriented-or-off").feature_count == 5145
    assert CrbmConfig(units="oriented").feature_count == 8 * 5145
    assert CrbmConfig(second_kernels=10).feature_count == 10 * 25
    assert CrbmConfig(kernels=2).parameter_count() == 2 * 27 + 2 + 3
    assert CrbmConfig(kernels=2, liberties=True, edges=True).parameter_count() == 2 * 9 * 11 + 2 + 7


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"kernel_size": 10}, "kernel_size is at most 9 here, not 10"),
        ({"second_kernels": 3, "second_size": 8}, "second_size is at most 7 here, not 8"),
        ({"kernel": 3}, "kernel"),
    ],
)
def test_impossible_configurations(settings, says):
    with pytest.raises(ValueError, match=says):
        CrbmConfig(**settings)


@pytest.mark.parametrize("kind", ["binary", "oriented", "oriented-or-off"])
def test_convolution_identity(kind):
    """⟨W * h, v⟩ = ⟨h, W̃ * v⟩: what goes up and what goes down are one energy."""
    config = CrbmConfig(size=6, kernels=4, kernel_size=3, units=kind)
    weights = random_weights(config) | {
        "first.hidden_bias": np.zeros(4, dtype=np.float32),
        "first.visible_bias": np.zeros(3, dtype=np.float32),
    }
    layer = Crbm(config, weights).learning
    visible = torch.randn(2, 3, 6, 6, generator=torch.Generator().manual_seed(1))
    hidden = torch.randn(2, 4, layer.shape.orientations, 4, 4, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        down = (layer.top_down(hidden) * visible).sum((1, 2, 3))
        up = (layer.inputs(visible) * hidden).sum((1, 2, 3, 4))
    assert down.numpy() == pytest.approx(up.numpy(), rel=1e-4)


@pytest.mark.parametrize("config", TINY.values(), ids=TINY.keys())
def test_inputs_and_free_energy_are_those_of_the_definition(config):
    weights = random_weights(config)
    layer = Crbm(config, weights).learning
    boards = naive_crbm.all_boards(config)[::7]
    visible = torch.from_numpy(boards).float()
    with torch.no_grad():
        found, inputs = layer.free_energy(visible).numpy(), layer.inputs(visible).numpy()
    exact = {name: array.astype(np.float64) for name, array in weights.items()}
    for number, board in enumerate(boards):
        assert inputs[number] == pytest.approx(naive_crbm.inputs(config, exact, board), abs=1e-5)
        assert found[number] == pytest.approx(naive_crbm.free_energy(config, exact, board), abs=1e-4)


@pytest.mark.parametrize("name", ["two kernels", "four places", "oriented", "oriented-or-off"])
def test_sampling_leaves_the_distribution_as_it_is(name):
    """A step of Gibbs sampling from the exact distribution ends in the exact distribution."""
    config = TINY[name]
    weights = random_weights(config, seed=3)
    layer = Crbm(config, weights).learning
    shares = np.exp(naive_crbm.log_probabilities(config, weights))
    boards = naive_crbm.all_boards(config)
    counts = np.round(shares * 40_000).astype(np.int64)
    ensemble = torch.from_numpy(np.repeat(boards, counts, axis=0)).float()
    with torch.no_grad():
        sampled = layer.sample(ensemble, torch.Generator().manual_seed(5)).numpy()
    powers = 3 ** np.arange(config.size**2)[::-1]
    codes = (sampled.argmax(axis=1).reshape(len(sampled), -1) * powers).sum(axis=1)
    found = np.bincount(codes, minlength=len(boards)) / len(sampled)
    assert np.abs(found - counts / counts.sum()).sum() / 2 < 0.025
    assert (sampled.sum(axis=1) == 1).all()


def test_pooled_features_of_a_turned_board_are_turned():
    config = CrbmConfig(size=5, kernels=4, units="oriented-or-off", edges=True)
    crbm = Crbm(config, random_weights(config))
    board = random_board(5, 14, seed=2)
    (straight,) = crbm.features(config.planes.encode([board])).numpy()
    for symmetry in Symmetry:
        (turned,) = crbm.features(config.planes.encode([board.transformed(symmetry)])).numpy()
        assert turned == pytest.approx(symmetry.transform(straight), abs=1e-6)


@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS.keys())
def test_features_are_shares_of_the_right_number(config):
    crbm = Crbm(config, random_weights(config))
    features = crbm.features(config.planes.encode([random_board(5, n, seed=n) for n in (0, 9)])).numpy()
    assert features[0].size == config.feature_count
    assert ((features > 0) & (features < 1)).all()
    if config.units == "oriented" and config.second_kernels is None:
        assert features.reshape(2, config.kernels, 8, -1).sum(axis=2) == pytest.approx(1, abs=1e-5)


def test_weights_of_another_configuration_are_refused():
    weights = random_weights(KINDS["binary"])
    with pytest.raises(ValueError, match=r"not those of this CRBM: first\.hidden_bias"):
        Crbm(CrbmConfig(size=5, kernels=7), weights)
    weights["first.kernels"][0, 0, 0, 0] = np.nan
    with pytest.raises(ValueError, match=r"first\.kernels are not numbers"):
        Crbm(KINDS["binary"], weights)


def test_a_second_layer_begins_with_a_first_one():
    first = random_weights(CrbmConfig(size=5, kernels=4))
    crbm = Crbm.new(CrbmConfig(size=5, kernels=4, second_kernels=3, second_size=2), seed=1, spread=0.01, first=first)
    assert (crbm.arrays()["first.kernels"] == first["first.kernels"]).all()
    assert set(crbm.learned) == {"second.kernels", "second.hidden_bias", "second.visible_bias"}
