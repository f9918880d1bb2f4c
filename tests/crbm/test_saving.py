"""Convolutional RBMs on disk: what is saved comes back, what is wrong is refused with one sentence."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from helpers.positions import random_board
from helpers.random_crbms import KINDS, random_weights
from katachi.core.cards import Metric, ModelError, Training
from katachi.core.linear import LinearModel, describe_linear, load_linear, save_linear
from katachi.core.models import CARD, WEIGHTS, add_metrics, load_model, open_model
from katachi.crbm.evaluator import SavedCrbm, load_crbm, save_crbm
from katachi.crbm.features import Templates
from katachi.go.board import Board
from katachi.go.rules import Rules

CONFIG = KINDS["oriented-or-off"]
CRBM = SavedCrbm(CONFIG, random_weights(CONFIG), use=np.array([0.1, 0.3, 0.2], dtype=np.float32))
VALUED = replace(CRBM, value=np.random.default_rng(0).normal(size=CONFIG.feature_count).astype(np.float32))
TRAINING = Training(command="katachi train crbm", positions=1000, data="games")
OF_VALUE = Training(command="katachi train value", games=10, data="self-play")


def test_round_trip_of_features_alone(tmp_path):
    metrics = {"validation activity": Metric(value=0.1)}
    save_crbm(tmp_path / "crbm", CRBM, TRAINING, metrics=metrics)
    saved, card = load_crbm(tmp_path / "crbm")
    assert (saved.config, card.training, card.metrics) == (CONFIG, TRAINING, metrics)
    assert (card.board_size, card.remarks) == (5, ["features alone"])
    assert card.title == "multinomial crbm, 3 kernels, oriented-or-off units"
    assert saved.features().digest == CRBM.features().digest
    assert saved.use is not None
    assert (saved.use == CRBM.use).all()
    assert open_model(tmp_path / "crbm").count_weights() == CONFIG.parameter_count()
    with pytest.raises(ModelError, match="no value yet: learn one by katachi train value"):
        load_model(tmp_path / "crbm")


def test_round_trip_with_a_value(tmp_path):
    save_crbm(tmp_path / "crbm", VALUED, TRAINING, OF_VALUE)
    model, card = load_model(tmp_path / "crbm"), open_model(tmp_path / "crbm").card
    assert isinstance(model, LinearModel)
    assert (card.remarks, card.value_training) == (["a value from 10 games of self-play"], OF_VALUE)
    board = random_board(5, 9, seed=1)
    wanted = LinearModel(VALUED.features(), VALUED.value).evaluate_afterstates(board)
    assert np.array_equal(model.evaluate_afterstates(board), wanted, equal_nan=True)
    assert open_model(tmp_path / "crbm").count_weights() == CONFIG.parameter_count() + CONFIG.feature_count
    add_metrics(tmp_path / "crbm", {"against random": Metric(value=1.0, games=10)})
    assert load_crbm(tmp_path / "crbm")[1].metrics["against random"].games == 10


def test_centered_features_come_back_centered(tmp_path):
    oriented = KINDS["oriented"]
    crbm = SavedCrbm(oriented, random_weights(oriented), use=np.ones(3, dtype=np.float32), centered=True)
    assert crbm.features().center == pytest.approx(1 / 8)
    save_crbm(tmp_path / "crbm", replace(CRBM, centered=True))
    saved, _ = load_crbm(tmp_path / "crbm")
    assert (saved.features().center == CRBM.use).all()
    with pytest.raises(ModelError, match="that is not known of these"):
        replace(CRBM, centered=True, use=None).features()


def test_what_does_not_fit_is_not_saved(tmp_path):
    for crbm, training, says in (
        (replace(CRBM, use=np.zeros(2, dtype=np.float32)), None, r"its use is \[2\], but \[3\] is needed"),
        (replace(VALUED, value=np.zeros(2, dtype=np.float32)), OF_VALUE, "its value is"),
        (replace(CRBM, config=KINDS["binary"]), None, "not those of this CRBM"),
        (VALUED, None, "a value and how it was learned come together"),
        (CRBM, OF_VALUE, "come together"),
    ):
        with pytest.raises(ValueError, match=says):
            save_crbm(tmp_path / "crbm", crbm, value_training=training)
    assert not (tmp_path / "crbm").exists()


def test_what_was_changed_is_refused(tmp_path):
    path = tmp_path / "crbm"
    save_crbm(path, VALUED, TRAINING, OF_VALUE)
    with pytest.raises(ModelError, match="is a crbm model, but a linear one"):
        load_linear(path)
    with pytest.raises(ModelError, match="depth is not an option of a crbm model"):
        load_model(path, {"depth": 3})
    card = json.loads((path / CARD).read_text())
    (path / CARD).write_text(json.dumps(card | {"planes_digest": "00"}))
    with pytest.raises(ModelError, match="its planes have the digest 00"):
        load_model(path)
    (path / CARD).write_text(json.dumps(card | {"config": card["config"] | {"kernels": 4}}))
    with pytest.raises(ModelError, match="its use is"):
        load_model(path)
    (path / CARD).write_text(json.dumps(card))
    (path / WEIGHTS).write_bytes((path / WEIGHTS).read_bytes()[:-1])
    with pytest.raises(ModelError, match="is not what the card describes"):
        load_model(path)


def test_a_value_over_templates(tmp_path):
    features = Templates(5)
    model = LinearModel(features, np.random.default_rng(0).normal(size=features.size).astype(np.float32))
    save_linear(tmp_path / "templates", model, describe_linear(model, Rules(komi=5.5)))
    again, card = load_linear(tmp_path / "templates")
    assert card.title == "linear over templates"
    assert again.logit(Board(5)) == model.logit(Board(5))
