from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from helpers.small_sets import label_small_set, make_small_set
from katachi.core import training as release
from katachi.core.cards import ModelError
from katachi.core.models import load_model, open_model, pretrained_models
from katachi.core.training import check_recipe, find_recipe, read_result, read_values
from katachi.data.dataset import Dataset
from katachi.go.board import Board
from katachi.policy import measure
from katachi.sgf.files import Split
from katachi.shapes.train import TRAINING
from katachi.territory.evaluator import load_territory

TINY = 'size = 5\ngames = 60\nseed = 3\nsets = ["LI 1x1", "LI 2x1"]\nevaluate_every = 60\ntest_games = 2\n'
RBM = """
[crbm]
size = 5
kernels = 4
positions = 100
[value]
size = 5
self_play = 2
move_cap = 40
"""
RESULT = {"a": "x", "b": "gtp:gnugo --level 0", "games": 400, "win_rate_a": 0.2, "interval_a": [0.16, 0.24], "draws": 0}


def test_list(run_katachi):
    ran = run_katachi("models")
    assert ran.code == 0
    firsts = [line.split()[0] for line in ran.out.splitlines() if not line.startswith(" ")]  # metrics take more lines
    assert firsts == ["name", *(path.name for path in pretrained_models())]
    told = json.loads(run_katachi("models", "--json").out)["models"]
    assert [model["name"] for model in told] == [path.name for path in pretrained_models()]
    assert all({"board_size", "weights", "training", "metrics"} <= set(model) for model in told)


LINEAR = [path for path in pretrained_models() if open_model(path).card.kind == "linear"]


@pytest.mark.parametrize("path", LINEAR, ids=lambda path: path.name)
def test_what_ships_was_made_by_its_recipe(path):
    model, card = load_model(path), open_model(path).card
    check_recipe(path.name, TRAINING.parse(read_values(find_recipe(path.name))), card.training.settings)
    assert model.logit(Board(card.board_size)) != 0


@pytest.fixture
def recipes(tmp_path, monkeypatch):
    folder = tmp_path / "recipes"
    for kind in ("shapes", "policy", "crbm"):
        (folder / kind).mkdir(parents=True)
    (folder / "shapes" / "tiny.toml").write_text(TINY)
    (folder / "shapes" / "other.toml").write_text(TINY.replace("seed = 3", "seed = 4"))
    (folder / "policy" / "net.toml").write_text("size = 5\nlayers = 1\nfilters = 8\npositions = 64\nbatch = 16\n")
    (folder / "crbm" / "rbm.toml").write_text(RBM)
    monkeypatch.setattr(release, "RECIPES", folder)
    monkeypatch.chdir(tmp_path)
    return folder


def test_make_trains_measures_and_saves(run_katachi, recipes, tmp_path):
    (tmp_path / "gnugo.json").write_text(json.dumps(RESULT))
    arguments = ("--games", "4", "--into", "out")
    ran = run_katachi("models", "make", "tiny", *arguments, "--result", "gnugo.json")
    assert ran.code == 0, ran.err
    card = open_model(tmp_path / "out" / "tiny").card
    against_alp, against_gnugo = card.metrics.values()
    assert list(card.metrics) == ["win rate against alp, one ply", "win rate against GNU Go level 0"]
    assert (against_alp.games, against_gnugo.games) == (4, 400)
    assert against_alp.low < against_alp.value < against_alp.high or against_alp.value in (0, 1)
    assert (card.training.games, card.training.command) == (60, "katachi models make tiny")

    (tmp_path / "runs").rename(tmp_path / "elsewhere")
    ran = run_katachi("models", "make", "tiny", *arguments, "--trained", "elsewhere/tiny")
    assert ran.code == 0, ran.err
    ran = run_katachi("models", "make", "other", *arguments, "--trained", "elsewhere/tiny")
    assert (ran.code, "the recipe other did not make this model: another seed" in ran.err) == (2, True)


def test_make_trains_measures_and_saves_a_network(run_katachi, recipes, tmp_path, monkeypatch):
    games = make_small_set(tmp_path, test=5)
    monkeypatch.setattr(release, "PRETRAINED", tmp_path / "shipped")
    monkeypatch.setattr(release, "PLAYERS", tmp_path)
    arguments = ("models", "make", "net", "--data", str(games), "--positions", "60", "--int8")
    ran = run_katachi(*arguments)
    assert ran.code == 0, ran.err
    load_model(tmp_path / "shipped" / "net", {"precision": "int8"})
    card = open_model(tmp_path / "shipped" / "net").card
    assert card.training.command == "katachi models make net --data set"
    assert str(tmp_path) not in card.model_dump_json()
    for name in ("top-1", "top-1, opening", "averaged over symmetries: top-10", "in eight bits: top-1"):
        metric = card.metrics["test " + name if name[0] == "t" else "test, " + name]
        assert metric.low <= metric.value <= metric.high
    by_phase = [card.metrics[f"test top-1, {phase}"].positions for phase in ("opening", "middle game", "endgame")]
    assert sum(by_phase) == card.metrics["test top-1"].positions == 60
    assert 'model = "net"' in (tmp_path / "net.toml").read_text()
    assert 'kind = "policy"' in (tmp_path / "net.toml").read_text()
    assert '"positions": 64' in (tmp_path / "shipped" / "net" / "metrics.jsonl").read_text()

    first = (recipes / "policy" / "net.toml").read_text()
    (recipes / "policy" / "again.toml").write_text(f'{first}seed = 1\nfirst_model = "runs/net"\n')
    assert run_katachi(*("again" if word == "net" else word for word in arguments)).code == 0
    again = open_model(tmp_path / "shipped" / "again").card
    assert again.training.first.positions == again.training.positions == 64
    metrics = (tmp_path / "shipped" / "again" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["positions"] for line in (metrics[0], metrics[-1])] == [16, 128]
    assert str(tmp_path) not in again.model_dump_json()

    shutil.rmtree(tmp_path / "runs" / "again" / "model")  # as if it had not finished
    (recipes / "policy" / "third.toml").write_text(f'{first}seed = 2\nfirst_model = "runs/again"\n')
    assert run_katachi(*("third" if word == "net" else word for word in arguments)).code == 0
    third = open_model(tmp_path / "shipped" / "third").card
    assert third.training.all_positions == 192
    assert third.training.first.settings["seed"] == 1
    assert third.training.first.first.positions == 64
    assert str(tmp_path) not in third.model_dump_json()
    metrics = (tmp_path / "shipped" / "third" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["positions"] for line in (metrics[0], metrics[-1])] == [16, 192]

    (recipes / "policy" / "again.toml").write_text(f'{first}seed = 3\nfirst_model = "shipped/again"\n')  # itself
    ran = run_katachi(*("again" if word == "net" else word for word in arguments), "--run", "runs/more")
    assert ran.code == 0, ran.err
    metrics = (tmp_path / "shipped" / "again" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["positions"] for line in (metrics[0], metrics[-1])] == [16, 192]
    assert open_model(tmp_path / "shipped" / "again").card.training.all_positions == 192

    (recipes / "policy" / "net.toml").write_text("size = 5\nlayers = 3\nfilters = 8\npositions = 64\nbatch = 16\n")
    ran = run_katachi(*arguments, "--trained", "runs/net")
    assert (ran.code, "the recipe net did not make this model: another layers" in ran.err) == (2, True)
    monkeypatch.setattr(measure, "MAX_BYTES", 100)
    (recipes / "policy" / "net.toml").write_text("size = 5\nlayers = 1\nfilters = 8\npositions = 64\nbatch = 16\n")
    assert "too many to release" in run_katachi(*arguments, "--trained", "runs/net").err


def test_make_trains_measures_and_saves_a_territory_network(run_katachi, recipes, tmp_path, monkeypatch):
    games = make_small_set(tmp_path, test=5)
    label_small_set(games)
    (recipes / "territory").mkdir()
    (recipes / "territory" / "land.toml").write_text("positions = 96\nvalidation_positions = 20\n")
    monkeypatch.setattr(release, "PRETRAINED", tmp_path / "shipped")
    monkeypatch.setattr(release, "PLAYERS", tmp_path)
    arguments = ("models", "make", "land", "--data", str(games), "--positions", "30")
    ran = run_katachi(*arguments)
    assert ran.code == 0, ran.err
    territory, card = load_territory(tmp_path / "shipped" / "land")
    assert card.training.command == "katachi models make land --data set"
    assert str(tmp_path) not in card.model_dump_json()
    known = card.metrics["test points known"]
    assert (known.positions, card.metrics["test points known at the end"].positions) == (30, 5)
    assert known.low <= known.value <= known.high
    ends = [Dataset.open(games).end(game) for game in Dataset.open(games).select(split=Split.TEST)]
    right = [(territory.ownership([end])[0] * end.stones > 0).sum() / (end.stones != 0).sum() for end in ends]
    assert card.metrics["test points known at the end"].value == pytest.approx(np.mean(right))
    assert 'model = "land"' in (tmp_path / "land.toml").read_text()
    (recipes / "territory" / "land.toml").write_text("positions = 96\nhidden = 8\n")
    ran = run_katachi(*arguments, "--trained", "runs/land")
    assert (ran.code, "the recipe land did not make this model: another hidden" in ran.err) == (2, True)


def test_make_trains_measures_and_saves_a_crbm(run_katachi, recipes, tmp_path, monkeypatch):
    monkeypatch.setattr(release, "PRETRAINED", tmp_path / "shipped")
    monkeypatch.setattr(release, "PLAYERS", tmp_path)
    arguments = ("models", "make", "rbm", "--data", str(make_small_set(tmp_path)), "--games", "2")
    ran = run_katachi(*arguments)
    assert ran.code == 0, ran.err
    model, card = load_model(tmp_path / "shipped" / "rbm"), open_model(tmp_path / "shipped" / "rbm").card
    assert model.features.size == 9 * 4
    for opponent in ("random", "alp"):
        assert card.metrics[f"win rate against {opponent}, one ply"].games == 2
    assert card.metrics["validation activity"].value > 0
    assert (card.training.positions, card.value_training.games) == (100, 2)
    assert str(tmp_path) not in card.model_dump_json()
    assert 'model = "rbm"' in (tmp_path / "rbm.toml").read_text()

    (recipes / "crbm" / "rbm.toml").write_text(RBM.replace("move_cap = 40", "move_cap = 41"))
    ran = run_katachi(*arguments, "--trained", "runs/rbm/value")
    assert (ran.code, "the recipe rbm did not make this model: another move_cap" in ran.err) == (2, True)
    (recipes / "crbm" / "rbm.toml").write_text(RBM)
    assert "it has no value" in run_katachi(*arguments, "--trained", "runs/rbm/crbm").err
    (recipes / "crbm" / "rbm.toml").write_text("size = 5\n")
    assert "needs the tables crbm and value" in run_katachi(*arguments).err


def test_recipes_are_found_by_a_former_name(run_katachi, recipes):
    (recipes / "policy").rename(recipes / "cnn")
    ran = run_katachi("models", "make", "net")
    assert (ran.code, "give --data SET" in ran.err) == (2, True)


def test_networks_need_games(run_katachi, recipes):
    ran = run_katachi("models", "make", "net")
    assert (ran.code, "give --data SET" in ran.err) == (2, True)


def test_bad_input_is_one_sentence(run_katachi, recipes, tmp_path):
    ran = run_katachi("models", "make", "huge")
    assert (ran.code, ran.err) == (2, "katachi: there is no recipe huge; known are rbm, net, other, tiny\n")
    for text in ("", "[]", '{"b": "x"}', json.dumps(RESULT | {"win_rate_a": 2})):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(ModelError, match=r"bad.json is not what katachi match --json prints"):
            read_result(tmp_path / "bad.json")


def test_resize_makes_a_network_that_plays_on_another_board(run_katachi, tmp_path):
    made = tmp_path / "policy-7"
    ran = run_katachi("models", "resize", "policy-9", "--size", "7", "--out", str(made))
    assert (ran.code, ran.out) == (0, f"policy-9 for 7×7 is in {made}\n"), ran.err
    assert load_model(made).evaluate([Board(7)]).policy.shape == (1, 50)
    again = run_katachi("models", "resize", "policy-9", "--size", "7", "--out", str(made))
    assert (again.code, "already something" in again.err) == (2, True)
