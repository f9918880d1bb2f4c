from __future__ import annotations

import io

import numpy as np
from rich.console import Console

from helpers.networks import tiny_config, tiny_onnx
from katachi.core.cards import Metric, Training
from katachi.core.linear import LinearModel, describe_linear, save_linear
from katachi.core.models import describe_card, format_metric, list_models, model_to_json, open_model
from katachi.go.rules import Rules
from katachi.policy.evaluator import save_policy
from katachi.shapes.features import LocalShapes
from katachi.shapes.sets import ShapeSet

MODEL = LinearModel(LocalShapes(5, [ShapeSet.parse("LI 1x1")]), np.array([0, 1, -1], dtype=np.float32))
TRAINING = Training(command="katachi train shapes", commit="0123456789abcdef", seed=0, games=1000, data="self-play")
CARD = describe_linear(MODEL, Rules(komi=6.5), TRAINING, {"wins": Metric(value=0.5, low=0.25, high=0.75, games=1200)})


def test_a_card_in_words():
    assert dict(describe_card(CARD)) == {
        "model": "linear over local shapes, 5×5, komi 6.5",
        "trained by": "1,000 games of self-play",
        "seed": "0",
        "command": "katachi train shapes",
        "commit": "0123456789ab",
        "wins": "50.0% (25.0–75.0% in 1,200 games)",
    }
    assert [word for word, _ in describe_card(describe_linear(MODEL, Rules()))] == ["model"]


def test_metrics():
    assert format_metric(Metric(value=0.125)) == "12.5%"
    assert format_metric(Metric(value=150.0, low=120, high=181, unit="Elo")) == "150 Elo (120–181)"
    assert format_metric(Metric(value=7.5)) == "7.5"


def test_models_as_table_and_json(tmp_path):
    save_linear(tmp_path / "tiny", MODEL, CARD)
    console = Console(file=io.StringIO(), width=160, color_system=None)
    console.print(list_models([tmp_path / "tiny"]))
    head, line, *_ = console.file.getvalue().splitlines()
    assert head.split() == ["name", "board", "weights", "model"]
    assert line.split()[0] == "tiny"
    assert "5×5" in line
    told = model_to_json(tmp_path / "tiny")
    assert (told["name"], told["board_size"], told["weights"]) == ("tiny", 5, 2)
    assert told["metrics"]["wins"]["low"] == 0.25
    assert told["training"]["games"] == 1000


def test_a_network_as_table_and_json(tmp_path):
    config = tiny_config(None, rank_embedding=True)
    training = Training(positions=1_200_000, hours=2.5, data="games of dan players")
    metrics = {"top-1": Metric(value=0.45, low=0.44, high=0.46, positions=20_000)}
    save_policy(tmp_path / "net", config, tiny_onnx(config), training=training, metrics=metrics)
    told = model_to_json(tmp_path / "net")
    assert (told["kind"], told["board_size"], told["weights"]) == ("policy", None, config.parameter_count())
    assert dict(describe_card(open_model(tmp_path / "net").card)) == {
        "model": "plain cnn, 1×2, over maddison-9 planes, any size, policy, by rank",
        "trained by": "1,200,000 positions of games of dan players in 2.5 hours",
        "top-1": "45.0% (44.0–46.0% in 20,000 positions)",
    }
    console = Console(file=io.StringIO(), width=200, color_system=None)
    console.print(list_models([tmp_path / "net"]))
    assert "any size" in console.file.getvalue()
