from __future__ import annotations

import json

import pytest

from katachi.cli import _shipping
from katachi.cli._shipping import find_recipe, read_result
from katachi.cli._training import read_training
from katachi.go.board import Board
from katachi.models.cards import ModelError
from katachi.models.saving import load_model, open_model, shipped_models

TINY = 'size = 5\ngames = 60\nseed = 3\nsets = ["LI 1x1", "LI 2x1"]\nevaluate_every = 60\ntest_games = 2\n'
RESULT = {"a": "x", "b": "gtp:gnugo --level 0", "games": 400, "win_rate_a": 0.2, "interval_a": [0.16, 0.24], "draws": 0}


def test_list(run_katachi):
    ran = run_katachi("models")
    assert ran.code == 0
    firsts = [line.split()[0] for line in ran.out.splitlines() if not line.startswith(" ")]  # metrics take more lines
    assert firsts == ["name", *(path.name for path in shipped_models())]
    told = json.loads(run_katachi("models", "--json").out)["models"]
    assert [model["name"] for model in told] == [path.name for path in shipped_models()]
    assert all({"board_size", "weights", "training", "metrics"} <= set(model) for model in told)


LINEAR = [path for path in shipped_models() if open_model(path).card.kind == "linear"]


@pytest.mark.parametrize("path", LINEAR, ids=lambda path: path.name)
def test_what_ships_was_made_by_its_recipe(path):
    model, card = load_model(path)
    _shipping._check_recipe(path.name, read_training(find_recipe(path.name), {}, []), card)
    assert model.logit(Board(card.board_size)) != 0


@pytest.fixture
def recipes(tmp_path, monkeypatch):
    folder = tmp_path / "recipes"
    folder.mkdir()
    (folder / "tiny.toml").write_text(TINY)
    (folder / "other.toml").write_text(TINY.replace("seed = 3", "seed = 4"))
    monkeypatch.setattr(_shipping, "RECIPES", folder)
    monkeypatch.chdir(tmp_path)
    return folder


def test_make_trains_measures_and_saves(run_katachi, recipes, tmp_path):
    (tmp_path / "gnugo.json").write_text(json.dumps(RESULT))
    arguments = ("--games", "4", "--into", "out")
    ran = run_katachi("models", "make", "tiny", *arguments, "--result", "gnugo.json")
    assert ran.code == 0, ran.err
    _, card = load_model(tmp_path / "out" / "tiny")
    against_alp, against_gnugo = card.metrics.values()
    assert list(card.metrics) == ["win rate against alp, one ply", "win rate against gnugo --level 0"]
    assert (against_alp.games, against_gnugo.games) == (4, 400)
    assert against_alp.low < against_alp.value < against_alp.high or against_alp.value in (0, 1)
    assert (card.training.games, card.training.command) == (60, "katachi models make tiny")

    (tmp_path / "runs").rename(tmp_path / "elsewhere")
    ran = run_katachi("models", "make", "tiny", *arguments, "--trained", "elsewhere/tiny")
    assert ran.code == 0, ran.err
    ran = run_katachi("models", "make", "other", *arguments, "--trained", "elsewhere/tiny")
    assert (ran.code, "the recipe other did not make this model: another seed" in ran.err) == (2, True)


def test_bad_input_is_one_sentence(run_katachi, recipes, tmp_path):
    ran = run_katachi("models", "make", "huge")
    assert (ran.code, ran.err) == (2, "katachi: there is no recipe huge; known are other, tiny\n")
    for text in ("", "[]", '{"b": "x"}', json.dumps(RESULT | {"win_rate_a": 2})):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(ModelError, match=r"bad.json is not what katachi match --json prints"):
            read_result(tmp_path / "bad.json")
