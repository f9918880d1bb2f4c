from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from katachi.core.cards import ModelError, Training
from katachi.core.conformance import check_evaluator, sample_games
from katachi.core.contracts import OwnershipEvaluator
from katachi.core.models import load_model, open_model, parse_card
from katachi.go.board import Board
from katachi.territory.evaluator import Territory, load_territory, save_territory
from katachi.territory.inputs import TABLE_SHAPE, PointInputs
from katachi.territory.network import DagRnn, DagRnnConfig


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Territory]:
    path = tmp_path_factory.mktemp("models") / "net"
    table = (np.random.default_rng(0).integers(-2048, 2049, TABLE_SHAPE) / 2048).astype(np.float32)
    territory = Territory(DagRnn.new(DagRnnConfig(), PointInputs(), seed=3), table)
    save_territory(path, territory, points=4.0, temperature=0.5, training=Training(games=7))
    return path, territory


def boards() -> list[Board]:
    return [Board.parse(". X . . / X O . . / . O . . / . . . ."), Board(4)]


def test_what_is_saved_comes_back(saved: tuple[Path, Territory]) -> None:
    path, territory = saved
    found, card = load_territory(path)
    assert np.array_equal(found.propensity, territory.propensity)
    assert np.array_equal(found.ownership(boards()), territory.ownership(boards()))
    assert card.training.games == 7
    assert open_model(path).count_weights() == 5801
    assert card.title == "logistic DAG-RNN, 16 hidden units, 8 channels"
    assert card.board_size is None
    assert sum(file.stat().st_size for file in path.iterdir()) < 4_000_000


def test_the_model_is_an_evaluator_of_boards_of_any_size(saved: tuple[Path, Territory]) -> None:
    path, territory = saved
    evaluator = load_model(path, {"komi": 2.5})
    assert isinstance(evaluator, OwnershipEvaluator)
    owned = evaluator.ownership(boards())
    assert owned == pytest.approx(territory.ownership(boards()))
    wins = 1 / (1 + np.exp(-(owned.sum(axis=1) - 2.5) / 4.0))
    assert evaluator.evaluate(boards()).black_wins == pytest.approx(wins, abs=1e-6)
    check_evaluator(evaluator, games=sample_games(sizes=[2, 3, 7]))


def test_what_does_not_match_is_refused(saved: tuple[Path, Territory], tmp_path: Path) -> None:
    path, _ = saved
    with pytest.raises(ModelError, match="rank is not an option of a territory model"):
        load_model(path, {"rank": 1})
    with pytest.raises(ModelError, match="komi"):
        load_model(path, {"komi": "high"})
    card = json.loads((path / "model.json").read_text())
    assert parse_card(json.dumps(card | {"kind": "dag_rnn"}).encode()) == open_model(path).card  # its former kind
    for change, why in (
        ({"inputs_digest": "0"}, "its inputs have the digest 0"),
        ({"config": {**card["config"], "sweeps": 2}}, "not those of this network"),
        ({"weights_sha256": "0"}, "is not what the card describes"),
    ):
        (tmp_path / "model.json").write_text(json.dumps(card | change))
        (tmp_path / "weights.safetensors").write_bytes((path / "weights.safetensors").read_bytes())
        with pytest.raises(ModelError, match=why):
            load_model(tmp_path)
