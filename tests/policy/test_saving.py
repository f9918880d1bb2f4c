"""Networks on disk: what is saved comes back, what is wrong is refused with one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, SparseTensorProto, external_data_helper, helper

from helpers.networks import tiny_config, tiny_onnx
from katachi.core.cards import Metric, ModelError, Training, digest_file
from katachi.core.linear import load_linear
from katachi.core.models import (
    CARD,
    WEIGHTS,
    add_metrics,
    find_model,
    format_tensors,
    load_model,
    load_weights,
    open_model,
    parse_tensors,
    resize_model,
)
from katachi.go.board import Board
from katachi.policy import evaluator
from katachi.policy.evaluator import INT8, MAX_ONNX_NODES, ONNX, OnnxNetwork, save_policy
from katachi.policy.export import export_onnx

CONFIG = tiny_config(5, planes="maddison-36", value=True)
TRAINING = Training(command="katachi train cnn", positions=10_000, hours=0.5, data="games")
METRICS = {"top-1, test split, 1d": Metric(value=0.41, low=0.4, high=0.42, positions=20_000)}
WEIGHTS_BY_NAME = {f"layers.{i}.weight": np.full((2, 3), i / 8, dtype=np.float32) for i in range(100)}


@pytest.fixture
def saved(tmp_path) -> Path:
    onnx, int8 = tiny_onnx(CONFIG), tiny_onnx(CONFIG, seed=1)
    save_policy(tmp_path / "net", CONFIG, onnx, int8, WEIGHTS_BY_NAME, TRAINING, METRICS)
    return tmp_path / "net"


def rewrite(path: Path, **changes) -> None:
    card = json.loads((path / CARD).read_text())
    for key, value in changes.items():
        table, _, last = key.rpartition("__")
        (card[table] if table else card)[last] = value
    (path / CARD).write_text(json.dumps(card))


def test_round_trip(saved):
    model, card = load_model(saved), open_model(saved).card
    assert (card.kind, card.config, card.training, card.metrics) == ("policy", CONFIG, TRAINING, METRICS)
    assert card.board_size == 5
    assert sorted(file.name for file in saved.iterdir()) == sorted([CARD, ONNX, INT8, WEIGHTS])
    assert model.evaluate([Board(5)]).policy.shape == (1, 26)
    assert open_model(saved).count_weights() == CONFIG.parameter_count()
    assert find_model(str(saved.parent / "net")) == saved
    weights = load_weights(saved)
    assert weights.keys() == WEIGHTS_BY_NAME.keys()
    assert all(np.array_equal(weights[name], array) for name, array in WEIGHTS_BY_NAME.items())


def test_the_former_kind_is_read(saved):
    rewrite(saved, kind="cnn")
    model, card = load_model(saved), open_model(saved).card
    assert card.kind == "policy"
    assert model.evaluate([Board(5)]).policy.shape == (1, 26)
    add_metrics(saved, METRICS)
    assert json.loads((saved / CARD).read_text())["kind"] == "policy"


def test_options_reach_the_network(saved):
    board = Board(5)
    board.play(12)
    plain = load_model(saved).evaluate([board])
    for options in ({"rank": 1}, {"symmetries": True}, {"temperature": 0.5}, {"precision": "int8"}):
        other = load_model(saved, options).evaluate([board])
        assert not np.allclose(plain.policy, other.policy, atol=1e-3), options
    same = load_model(saved, {"rank": 9, "threads": 2, "precision": "fp32"}).evaluate([board])
    assert np.allclose(plain.policy, same.policy, atol=1e-5)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"rank": 12}, "rank: Input should be less than or equal to 9"),
        ({"rank": "dan"}, "rank: Value error, 'dan' is not a rank"),
        ({"precision": "fp16"}, "precision"),
        ({"colour": 1}, "colour is not an option of a policy model"),
    ],
)
def test_impossible_options(saved, options, reason):
    with pytest.raises(ModelError, match=reason) as caught:
        load_model(saved, options)
    assert str(caught.value).startswith(str(saved))
    assert "\n" not in str(caught.value)


def test_a_linear_model_has_no_options_and_is_no_network(saved):
    golden = Path(__file__).parents[1] / "golden" / "models" / "format-2" / "local-shapes"
    with pytest.raises(ModelError, match="rank is not an option of a linear model"):
        load_model(golden, {"rank": 5})
    with pytest.raises(ModelError, match="this is a policy model, but a linear one is needed"):
        load_linear(saved)
    assert load_linear(golden)[1].kind == "linear"


def test_without_int8_and_weights(tmp_path):
    save_policy(tmp_path / "net", CONFIG, tiny_onnx(CONFIG))
    with pytest.raises(ModelError, match=r"it has no int8 form: there is no model.int8.onnx"):
        load_model(tmp_path / "net", {"precision": "int8"})
    with pytest.raises(ModelError, match=r"no file weights.safetensors"):
        load_weights(tmp_path / "net")


def test_weights_in_half_the_room():
    halves = {name: array.astype(np.float16) for name, array in WEIGHTS_BY_NAME.items()}
    content = format_tensors(halves)
    assert len(content) < len(format_tensors(WEIGHTS_BY_NAME))
    back = parse_tensors(content)
    assert all(array.dtype == np.float32 for array in back.values())
    assert all(np.array_equal(back[name], array) for name, array in WEIGHTS_BY_NAME.items())


@pytest.mark.parametrize("array", [np.array([np.nan], dtype=np.float32), np.zeros(3), np.zeros(3, dtype=np.int64)])
def test_weights_that_are_no_weights(array):
    with pytest.raises(ModelError, match=r"not numbers|float32 or float16"):
        format_tensors({"bias": array})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": 9}, "format"),
        ({"kind": "tree"}, "kind"),
        ({"planes_digest": "0123"}, "its planes have the digest 0123, but"),
        ({"config__planes": "mover"}, "digest"),
        ({"config__planes": "colors"}, "planes"),
        ({"config__size": 9}, "shape"),
        ({"config__value": "yes"}, "value"),
        ({"config__colour": 1}, "colour"),
        ({"files__model.onnx": "00"}, "model.onnx is not what the card describes"),
        ({"files": {}}, "no model.onnx"),
        ({"files": {f"{i}": "" for i in range(9)}}, "files"),
        ({"training__hours": -1.0}, "hours"),
        ({"metrics": {"top-1": {"value": 0.4, "positions": 0}}}, "positions"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_cards_that_do_not_match(saved, changes, reason):
    rewrite(saved, **changes)
    with pytest.raises(ModelError, match=reason) as caught:
        load_model(saved)
    assert "\n" not in str(caught.value)
    assert str(saved) in str(caught.value)


def test_damaged_and_missing_files(saved):
    original = (saved / ONNX).read_bytes()
    for at in range(0, len(original), 101):
        damaged = bytearray(original)
        damaged[at] ^= 0x20
        for content in (bytes(damaged), original[:at]):
            (saved / ONNX).write_bytes(content)
            with pytest.raises(ModelError, match="one of the files was changed"):
                load_model(saved)
    (saved / ONNX).unlink()
    with pytest.raises(ModelError, match=r"no file model.onnx"):
        load_model(saved)
    with (saved / ONNX).open("wb") as file:
        file.truncate(1 << 40)  # sparse
    with pytest.raises(ModelError, match="larger than"):
        load_model(saved)


def test_a_card_that_vouches_for_a_damaged_network(tmp_path):
    save_policy(tmp_path / "net", CONFIG, b"no network")
    with pytest.raises(ModelError, match="its network is damaged") as caught:
        load_model(tmp_path / "net")
    assert "\n" not in str(caught.value)


def test_files_that_play_does_not_need_are_checked_too(saved):
    for name in (INT8, WEIGHTS):
        content = (saved / name).read_bytes()
        (saved / name).write_bytes(content + b"x")
        with pytest.raises(ModelError, match=f"{name} is not what the card describes: one of the files was changed"):
            load_model(saved)
        (saved / name).unlink()
        load_model(saved)


def test_a_card_names_files_of_its_folder_alone(saved):
    (saved.parent / "outside").write_bytes(b"")
    rewrite(saved, files={ONNX: open_model(saved).card.files[ONNX], "../outside": digest_file(b"")})
    with pytest.raises(ModelError, match="which is not a file of its folder"):
        load_model(saved)


def _changed(change) -> bytes:
    model = ModelProto.FromString(tiny_onnx(CONFIG))
    change(model)
    return model.SerializeToString()


def _add(*nodes):
    return lambda model: model.graph.node.extend(nodes)


EMPTY_GRAPH = helper.make_graph([], "inner", [], [])
SPARSE = SparseTensorProto(dims=[1 << 40])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_add(helper.make_node("Loop", ["", ""], [], body=EMPTY_GRAPH)), "its network has b'Loop', which is not run"),
        (_add(helper.make_node("If", ["x"], [], then_branch=EMPTY_GRAPH)), "b'If'"),
        (_add(helper.make_node("Scan", ["x"], [], body=EMPTY_GRAPH)), "b'Scan'"),
        (_add(helper.make_node("Relu", ["x"], ["y"], domain="com.stranger")), "b'com.stranger'"),
        (_add(*[helper.make_node("Relu", ["x"], ["y"])] * MAX_ONNX_NODES), "more than 10,000 nodes"),
        (lambda model: model.functions.add(name="Relu"), "functions of its own"),
        (lambda model: model.graph.sparse_initializer.append(SPARSE), "weights outside of its file, or sparse"),
        (lambda model: external_data_helper.set_external_data(model.graph.initializer[0], "/etc/passwd"), "outside"),
    ],
)
def test_networks_that_are_more_than_a_network(tmp_path, monkeypatch, change, reason):
    monkeypatch.setattr("onnxruntime.InferenceSession", None)  # nobody may ask it
    save_policy(tmp_path / "net", CONFIG, _changed(change))
    with pytest.raises(ModelError, match=reason):
        load_model(tmp_path / "net")


def test_a_network_that_is_too_large(monkeypatch):
    monkeypatch.setattr(evaluator, "MAX_ONNX_BYTES", 100)
    with pytest.raises(ModelError, match="its network is larger than 100 bytes"):
        OnnxNetwork(tiny_onnx(CONFIG))


def test_metrics_can_be_added(saved):
    more = {"top-1, int8": Metric(value=0.4, positions=20_000)}
    add_metrics(saved, more)
    assert open_model(saved).card.metrics == METRICS | more


def test_replace(saved):
    with pytest.raises(ModelError, match="already"):
        save_policy(saved, CONFIG, tiny_onnx(CONFIG, seed=2))
    save_policy(saved, CONFIG, tiny_onnx(CONFIG, seed=2), replace=True)
    assert sorted(file.name for file in saved.iterdir()) == sorted([CARD, ONNX])


def test_a_network_is_resized_with_all_its_files(tmp_path):
    config = tiny_config(5, value=True)
    weights = {name: np.full(shape, 0.5, dtype=np.float32) for name, shape in config.weight_shapes().items()}
    onnx = export_onnx(config, weights)
    save_policy(tmp_path / "net", config, onnx, onnx, weights, TRAINING, METRICS)
    resize_model(str(tmp_path / "net"), 7, tmp_path / "net-7")
    card = open_model(tmp_path / "net-7").card
    assert (card.board_size, card.metrics) == (7, {})
    assert card.training.command == "katachi models resize net --size 7"
    assert (card.training.first, card.training.all_positions) == (TRAINING, 10_000)
    for precision in ("fp32", "int8"):
        assert load_model(tmp_path / "net-7", {"precision": precision}).evaluate([Board(7)]).policy.shape == (1, 50)
    shapes = {name: array.shape for name, array in load_weights(tmp_path / "net-7").items()}
    assert shapes == card.config.weight_shapes()
    with pytest.raises(ModelError, match="already something"):
        resize_model(str(tmp_path / "net"), 7, tmp_path / "net-7")


def test_what_cannot_be_resized_says_so(tmp_path):
    config = tiny_config(None, position_bias=False)
    save_policy(tmp_path / "any", config, tiny_onnx(config))
    with pytest.raises(ModelError, match=r"any: it evaluates boards of all sizes as it is"):
        resize_model(str(tmp_path / "any"), 7, tmp_path / "other")
    with pytest.raises(ModelError, match=r"shapes-5: a linear model cannot be given another size"):
        resize_model("shapes-5", 7, tmp_path / "other")
    assert not (tmp_path / "other").exists()
