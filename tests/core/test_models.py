"""Models on disk: what is saved comes back, what is wrong is refused with one sentence, whatever the bytes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save

from katachi.core import models as saving
from katachi.core.cards import Metric, ModelError, Training
from katachi.core.linear import LinearModel, describe_linear, load_linear, save_linear
from katachi.core.models import CARD, MAX_HEADER_BYTES, WEIGHTS, find_model, format_weights, parse_weights
from katachi.go.board import Board
from katachi.go.rules import Rules
from katachi.shapes.features import LocalShapes
from katachi.shapes.liberty import CombinedShapes, LibertyShapes
from katachi.shapes.model import FusedLinearModel
from katachi.shapes.sets import ShapeSet

TRAINING = Training(command="katachi train shapes", seed=7, games=1000, settings={"step_size": 0.1})
METRICS = {"wins against alp": Metric(value=0.9, low=0.87, high=0.92)}


def make_model(size=5, sets=("LI 1x1", "LD 2x2"), seed=0):
    features = LocalShapes(size, [ShapeSet.parse(name) for name in sets])
    weights = np.random.default_rng(seed).normal(size=features.size).astype(np.float32)
    return LinearModel(features, weights, temperature=0.5)


def make_card(model):
    return describe_linear(model, Rules(komi=6.5), TRAINING, METRICS)


@pytest.fixture
def saved(tmp_path) -> Path:
    model = make_model()
    save_linear(tmp_path / "model", model, make_card(model))
    return tmp_path / "model"


def rewrite(path: Path, **changes) -> None:
    """Change keys of a card; a dotted key goes into a table."""
    card = json.loads((path / CARD).read_text())
    for key, value in changes.items():
        *tables, last = key.split("__")
        table = card
        for name in tables:
            table = table[name]
        table[last] = value
    (path / CARD).write_text(json.dumps(card))


def reweigh(path: Path, content: bytes) -> None:
    """Exchange the weights, and let the card vouch for them."""
    (path / WEIGHTS).write_bytes(content)
    rewrite(path, weights_sha256=hashlib.sha256(content).hexdigest())


def test_round_trip(saved):
    model, card = load_linear(saved)
    original = make_model()
    assert np.array_equal(model.weights, original.weights)
    assert model.features.digest == original.features.digest
    assert model.temperature == 0.5
    assert model.logit(Board(5)) == original.logit(Board(5))
    assert (card.komi, card.training, card.metrics) == (6.5, TRAINING, METRICS)
    assert sorted(file.name for file in saved.iterdir()) == [CARD, WEIGHTS]
    assert [file.name for file in saved.parent.iterdir()] == ["model"]


def test_liberty_shapes_come_back(tmp_path):
    features = LibertyShapes(5, [ShapeSet.parse("LI 1x1"), ShapeSet.parse("LD 2x1")], bins=100, tabled=True)
    model = LinearModel(features, np.linspace(-1, 1, features.size, dtype=np.float32))
    save_linear(tmp_path / "model", model, describe_linear(model, Rules()))
    loaded, card = load_linear(tmp_path / "model")
    board = Board(5)
    board.play(0)
    assert loaded.logit(board) == model.logit(board) != 0
    assert card.features.kind == "liberty shapes"


def combined_model():
    sets = [ShapeSet.parse("LI 1x1"), ShapeSet.parse("LD 2x1")]
    features = CombinedShapes(LocalShapes(5, sets), LibertyShapes(5, sets, bins=100, tabled=True))
    return LinearModel(features, np.linspace(-1, 1, features.size, dtype=np.float32))


def test_combined_shapes_come_back(tmp_path):
    model = combined_model()
    save_linear(tmp_path / "model", model, describe_linear(model, Rules()))
    loaded, card = load_linear(tmp_path / "model")
    assert isinstance(loaded, FusedLinearModel)
    board = Board(5)
    board.play(0)
    assert loaded.logit(board) == model.logit(board) != 0
    assert card.features.kind == "combined shapes"
    assert loaded.features.digest == model.features.digest


def test_a_bad_combination_is_refused(tmp_path):
    model = combined_model()
    save_linear(tmp_path / "model", model, describe_linear(model, Rules()))
    for changes, reason in (
        ({"features__liberty__sets": ["LI 1x1"]}, "its features have the digest"),
        ({"features__liberty__sets": ["LI 4x4"]}, "too large for liberty shapes"),
        ({"features__basic": None}, "features.combined shapes.basic"),
    ):
        rewrite(tmp_path / "model", **changes)
        with pytest.raises(ModelError, match=reason):
            load_linear(tmp_path / "model")


def test_features_without_a_card_are_refused():
    class Stones:
        name, size = "stones", 2

    with pytest.raises(ModelError, match="a model over stones cannot be saved"):
        describe_linear(LinearModel(Stones(), np.zeros(2, dtype=np.float32)), Rules())


def test_card_is_readable_json(saved):
    card = json.loads((saved / CARD).read_text())
    assert card["format"] == 2
    assert card["features"]["sets"] == ["LI 1x1", "LD 2x2"]
    assert card["rules"]["ko"] == "POSITIONAL"


def test_taken_paths_are_left_alone(saved):
    model = make_model(seed=1)
    with pytest.raises(ModelError, match="already"):
        save_linear(saved, model, make_card(model))
    assert np.array_equal(load_linear(saved)[0].weights, make_model().weights)
    folder = saved.parent / "photographs"
    folder.mkdir()
    with pytest.raises(ModelError, match="already"):
        save_linear(folder, model, make_card(model), replace=True)


def test_replace(saved):
    model = make_model(seed=1)
    save_linear(saved, model, make_card(model), replace=True)
    assert np.array_equal(load_linear(saved)[0].weights, model.weights)
    assert [file.name for file in saved.parent.iterdir()] == ["model"]


def test_a_kill_at_any_step_leaves_a_whole_model(saved, monkeypatch):
    """Every system call that changes the disk is made to fail in turn, as if the process ended there."""

    class Killed(BaseException):
        pass

    old, new = make_model().weights, make_model(seed=1)
    steps = 0
    while True:
        calls = 0

        def step(function, steps=steps):
            def call(*arguments, **options):
                nonlocal calls
                calls += 1
                if calls > steps:
                    raise Killed
                return function(*arguments, **options)

            return call

        with monkeypatch.context() as patch:
            patch.setattr(saving, "write_atomically", step(saving.write_atomically))
            patch.setattr(Path, "rename", step(Path.rename))
            patch.setattr(Path, "mkdir", step(Path.mkdir))
            try:
                save_linear(saved, new, make_card(new), replace=True)
                break
            except Killed:
                steps += 1
        loaded = load_linear(saved)[0].weights
        assert np.array_equal(loaded, old) or np.array_equal(loaded, new.weights)
    assert steps == 5
    assert np.array_equal(load_linear(saved)[0].weights, new.weights)


def test_a_full_disk_is_one_sentence(tmp_path, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saving, "write_atomically", full)
    model = make_model()
    with pytest.raises(ModelError, match="No space left"):
        save_linear(tmp_path / "model", model, make_card(model))
    assert list(tmp_path.iterdir()) == []


def test_a_card_of_another_model_is_not_saved(tmp_path):
    for other in (make_model(size=6), make_model(sets=("LI 1x1",))):
        with pytest.raises(ModelError, match="another model"):
            save_linear(tmp_path / "model", make_model(), make_card(other))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": 1}, "present, weights"),
        ({"format": 3}, "format"),
        ({"kind": "tree"}, "kind"),
        ({"board_size": 9}, "digest"),
        ({"board_size": 20}, "board_size"),
        ({"board_size": "5"}, "board_size"),
        ({"features__digest": "0123456789abcdef"}, "digest"),
        ({"features__sets": ["LI 1x1"]}, "digest"),
        ({"features__sets": []}, "sets"),
        ({"features__kind": "liberty shapes"}, "features"),
        ({"features__kind": "stones"}, "features"),
        ({"features__sets": ["LI 7x7"]}, "7x7"),
        ({"features__sets": ["LI 1x1"] * 1000}, "sets"),
        ({"features__bins": 10**12}, "bins"),
        ({"features__tied": True}, "digest"),
        ({"temperature": 0}, "temperature"),
        ({"weights_sha256": "00"}, "changed"),
        ({"colour": "blue"}, "colour"),
        ({"metrics": {"wins": {"value": float("nan")}}}, "card"),
    ],
)
def test_cards_that_do_not_match(saved, changes, reason):
    rewrite(saved, **changes)
    with pytest.raises(ModelError, match=reason) as caught:
        load_linear(saved)
    assert "\n" not in str(caught.value)
    assert str(saved) in str(caught.value)


ONES = np.ones(327, np.float32)  # as many as ``make_model`` has: 3 + 324
BITS = np.packbits(ONES.astype(np.bool_))


@pytest.mark.parametrize(
    ("tensors", "reason"),
    [
        ({"weights": ONES[:3], "present": BITS}, "other places"),
        ({"weights": ONES, "present": BITS[:-1]}, r"\[40\]"),
        ({"weights": ONES, "present": BITS.astype(np.float32)}, "float32"),
        ({"weights": ONES, "present": BITS | 1}, "other places"),
        ({"weights": ONES.reshape(1, -1), "present": BITS}, r"\[1, 327\]"),
        ({"weights": ONES.astype(np.float64), "present": BITS}, "float64"),
        ({"weights": np.nan * ONES, "present": BITS}, "not numbers"),
        ({"weights": np.inf * ONES, "present": BITS}, "not numbers"),
        ({"weights": ONES}, "but present, weights are needed"),
        ({"bias": ONES, "present": BITS}, "bias"),
        ({}, "none"),
        ({f"t{i}": np.zeros(1, np.float32) for i in range(1000)}, "tensors|header"),
    ],
)
def test_weights_that_do_not_match(saved, tensors, reason):
    reweigh(saved, save(tensors))
    with pytest.raises(ModelError, match=reason):
        load_linear(saved)


def test_zeros_take_a_bit(tmp_path):
    features = LocalShapes(9, [ShapeSet.parse("LD 3x3")])
    weights = np.zeros(features.size, dtype=np.float32)
    weights[[5, 17]] = 1.5, -0.0
    model = LinearModel(features, weights)
    save_linear(tmp_path / "model", model, make_card(model))
    assert (tmp_path / "model" / WEIGHTS).stat().st_size < features.size / 8 + 300
    assert load_linear(tmp_path / "model")[0].weights.tobytes() == weights.tobytes()


GOLDEN = Path(__file__).parents[1] / "golden" / "models"
GOLDEN_LOGITS = {"local-shapes": 7.767746, "tied-shapes": -8.627671, "liberty-shapes": 16.828914}


@pytest.mark.parametrize("folder", sorted(GOLDEN.glob("format-*/*")), ids=lambda path: "/".join(path.parts[-2:]))
def test_models_of_every_format_load(folder, tmp_path):
    """What they say about a board with some stones stays what it was when they were saved."""
    model, card = load_linear(folder)
    board = Board(5)
    for point in (12, 7, 6, 11, 8, 0):
        board.play(point)
    assert model.logit(board) == pytest.approx(GOLDEN_LOGITS[folder.name], abs=1e-5)
    assert card.metrics["win rate against alp, one ply"].high == 0.6
    save_linear(tmp_path / "again", model, card)
    again, new_card = load_linear(tmp_path / "again")
    assert again.weights.tobytes() == model.weights.tobytes()
    assert new_card.format == 2


@pytest.mark.parametrize("name", [CARD, WEIGHTS])
def test_missing_huge_and_irregular_files(saved, name, monkeypatch):
    path = saved / name
    path.unlink()
    with pytest.raises(ModelError, match=f"no file {name}"):
        load_linear(saved)
    os.mkfifo(path)
    with pytest.raises(ModelError, match=f"{name} cannot be read: it is not a regular file"):
        load_linear(saved)
    path.unlink()
    with path.open("wb") as file:
        file.truncate(1 << 40 if name == WEIGHTS else 1 << 21)  # sparse
    with pytest.raises(ModelError, match="larger than"):
        load_linear(saved)


def test_every_flipped_byte_and_every_cut_is_noticed(saved):
    for name in (CARD, WEIGHTS):
        original = (saved / name).read_bytes()
        for at in range(0, len(original), 17):
            damaged = bytearray(original)
            damaged[at] ^= 0x20
            for content in (bytes(damaged), original[:at]):
                (saved / name).write_bytes(content)
                try:
                    model, _ = load_linear(saved)
                except ModelError:
                    continue
                assert name == CARD  # words of the card may differ, but never what the model is
                assert np.array_equal(model.weights, make_model().weights)
        (saved / name).write_bytes(original)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_fuzzed_weights(content):
    with pytest.raises(ModelError):
        parse_weights(content, 3, 2)


VALID = format_weights(np.arange(3, dtype=np.float32))
HEADERS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["F32", "BF16", "U8", "F8_E4M3", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["weights", "dtype", "shape", "data_offsets", "__metadata__"]), inner, max_size=4
        )
    ),
)


@settings(max_examples=300, deadline=None)
@given(HEADERS, st.binary(max_size=40))
def test_fuzzed_headers(header, data):
    text = json.dumps(header).encode()
    content = len(text).to_bytes(8, "little") + text + data
    try:
        weights = parse_weights(content, 3, 1)
    except ModelError:
        return
    assert weights.shape == (3,)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_fuzzed_bytes_of_a_valid_file(data):
    content = bytearray(VALID)
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        weights = parse_weights(bytes(content), 3, 2)
    except ModelError:
        return
    assert weights.shape == (3,)
    assert np.isfinite(weights).all()


def test_long_headers_are_refused_unread():
    for length in (MAX_HEADER_BYTES + 1, 1 << 63, (1 << 64) - 1):
        with pytest.raises(ModelError, match="header"):
            parse_weights(length.to_bytes(8, "little") + b"{" * (MAX_HEADER_BYTES + 1), 3, 2)


CARD_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("LI 2x2"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_fuzzed_cards(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "fuzzed"
    model = make_model()
    if not path.exists():
        save_linear(path, model, make_card(model))
    card = make_card(model).model_dump(mode="json")
    card["weights_sha256"] = hashlib.sha256((path / WEIGHTS).read_bytes()).hexdigest()
    table = data.draw(st.sampled_from([card, card["features"], card["training"]]))
    table[data.draw(st.sampled_from(sorted(table)) | st.text(max_size=6))] = data.draw(CARD_VALUES)
    (path / CARD).write_text(json.dumps(card))
    with contextlib.suppress(ModelError):
        load_linear(path)


@pytest.mark.parametrize("text", [b"", b"[]", b"{" * 100_000, b"\xff\xfe", b"null", b"{}"])
def test_cards_that_are_no_cards(saved, text):
    (saved / CARD).write_bytes(text)
    with pytest.raises(ModelError, match="card"):
        load_linear(saved)


def test_find_model(saved, monkeypatch):
    assert find_model(str(saved)) == saved
    assert find_model(str(saved.parent)) == saved  # as a training run leaves it
    for name in ("no-such-model", "", "..", "/", str(saved / "model")):
        with pytest.raises(ModelError, match="no such model"):
            find_model(name)


@pytest.mark.parametrize("replace", [False, True])
def test_a_saved_model_survives_a_power_cut(tmp_path, synced, replace):
    model = make_model()
    if replace:
        save_linear(tmp_path / "model", make_model(seed=1), make_card(model))
        synced.clear()
    save_linear(tmp_path / "model", model, make_card(model), replace=replace)
    files = {path.name.strip(".").removesuffix(".tmp"): content for path, content in synced.items()}
    assert files[CARD] == (tmp_path / "model" / CARD).read_bytes()
    assert files[WEIGHTS] == (tmp_path / "model" / WEIGHTS).read_bytes()
    assert files["model"] == [CARD, WEIGHTS], "their names, before the folder has its own"
    assert "model" in synced[tmp_path]
