from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.random_crbms import KINDS, random_weights
from helpers.small_sets import make_small_set
from katachi.core.cards import ModelError
from katachi.core.contracts import Limit
from katachi.core.linear import LinearModel
from katachi.core.models import load_model
from katachi.core.training import Machine, MetricLine
from katachi.crbm.evaluator import SavedCrbm, load_crbm, save_crbm
from katachi.crbm.features import Templates
from katachi.crbm.value import (
    FormerSelfSettings,
    RecordedGames,
    ValueLearner,
    ValueTraining,
    play_former_self,
    train_value,
    turned,
)
from katachi.data.dataset import Dataset, DatasetError
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, WHITE, Symmetry
from katachi.players.specs import load_player
from katachi.sgf.files import Split

CONFIG = KINDS["binary"]


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_small_set(tmp_path_factory.mktemp("records"))


@pytest.fixture(scope="module")
def crbm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "crbm"
    save_crbm(path, SavedCrbm(CONFIG, random_weights(CONFIG), use=np.full(CONFIG.kernels, 0.4, dtype=np.float32)))
    return path


def settings(features: Path | str, games: Path, **changes: Any) -> ValueTraining:
    small = {"size": 5, "passes": 2, "self_play": 4, "evaluate_every": 10, "move_cap": 30}
    return ValueTraining(**({"features": str(features), "data": str(games)} | small | changes))


class Killed(Exception):
    pass


@pytest.mark.parametrize("kind", ["templates", "crbm"])
def test_a_run_goes_on_to_the_same_bytes_and_plays(kind: str, games: Path, crbm: Path, tmp_path: Path) -> None:
    training = settings(crbm if kind == "crbm" else kind, games)
    train_value(training, tmp_path / "straight", command="katachi train value")

    def kill(done: int, total: int) -> None:
        if done == 26:  # two passes over twelve games, and then against its former self
            raise Killed

    seen: list[MetricLine] = []
    with pytest.raises(Killed):
        train_value(training, tmp_path / "killed", machine=Machine(checkpoint_seconds=0.0), tick=kill)
    train_value(training, tmp_path / "killed", seen.append)
    assert [line.values["games"] for line in seen] == [10, 20, 28]
    for name in ("checkpoint.safetensors", "model/weights.safetensors"):
        straight, killed = ((tmp_path / run / name).read_bytes() for run in ("straight", "killed"))
        assert straight == killed, name
    last = json.loads((tmp_path / "straight" / "metrics.jsonl").read_text().splitlines()[-1])
    assert {"td_error", "win_rate", "unfinished", "validation_loss", "validation_winners"} <= last.keys()
    model = load_model(tmp_path / "straight" / "model")
    assert isinstance(model, LinearModel)
    assert model.weights.any()
    player = load_player(str(tmp_path / "straight" / "player.toml"), seed=1)
    assert player.name == "straight"
    game = Game(5)
    assert game.is_legal(player.decide(game, Limit()).move)


def test_the_crbm_keeps_its_kernels(games: Path, crbm: Path, tmp_path: Path) -> None:
    train_value(settings(crbm, games, self_play=0), tmp_path / "run")
    saved, card = load_crbm(tmp_path / "run" / "model")
    assert (saved.weights["first.kernels"] == random_weights(CONFIG)["first.kernels"]).all()
    assert saved.features().center == pytest.approx(0.4)
    assert card.value_training is not None
    assert card.value_training.games == 24
    further = ValueLearner(settings(crbm, games, first_model=str(tmp_path / "run")))
    assert (further.learner.weights == saved.value).all()
    with pytest.raises(ModelError, match="not a value over all 2×2 templates"):
        ValueLearner(settings("templates", games, first_model=str(tmp_path / "run")))


def test_games_of_another_size_and_no_games_at_all(games: Path, crbm: Path) -> None:
    with pytest.raises(ModelError, match="of size 5, not 9"):
        ValueLearner(settings(crbm, games, size=9))
    with pytest.raises(DatasetError, match="no 9×9 games for training"):
        ValueLearner(settings("templates", games, size=9))
    with pytest.raises(ValueError, match="nothing to learn from"):
        ValueTraining(features="templates")


def test_every_pass_has_every_game_in_another_order(games: Path) -> None:
    records = RecordedGames(Dataset.open(games), 5, Split.TRAINING, seed=3)
    assert records.games == 12
    features = Templates(5)
    passes = [[len(records.chains(features, 12 * turn + n).rewards) for n in range(12)] for turn in range(2)]
    lengths = Dataset.open(games).games["moves"][Dataset.open(games).select(5, Split.TRAINING)]
    assert sorted(passes[0]) == sorted(passes[1]) == sorted(lengths.tolist())
    assert passes[0] != passes[1]


def test_games_against_the_former_self() -> None:
    features = Templates(5)
    rng = np.random.default_rng(0)
    learner, former = (LinearModel(features, rng.normal(size=features.size).astype(np.float32)) for _ in range(2))
    play = FormerSelfSettings(self_play=11, komi=0.5, move_cap=200)
    games = [play_former_self(learner, former, play, 5, number, seed=1) for number in range(2)]
    assert [game.learner_color for game in games] == [BLACK, WHITE]
    for game in games:
        assert game.winner in (BLACK, WHITE)
        assert game.learner_won == (game.winner == game.learner_color)
        assert [board.to_play for board in game.afterstates[:3]] == [WHITE, BLACK, WHITE]
        assert game.afterstates[0].record["empty_count"][0] == 24
    again = play_former_self(learner, former, play, 5, 0, seed=1)
    assert again.afterstates == games[0].afterstates
    capped = play_former_self(learner, former, play.model_copy(update={"move_cap": 3}), 5, 0, seed=1)
    assert (len(capped.afterstates), capped.winner, capped.learner_won) == (3, None, False)
    assert [play.epsilon_at(number) for number in (0, 10)] == pytest.approx([0.1, 0.01])


def test_the_former_self_is_renewed(crbm: Path) -> None:
    training = ValueTraining(features=str(crbm), size=5, self_play=6, renewed_every=3, step_size=1.0)
    learner = ValueLearner(training)
    learned = [learner.learner.weights]
    formers = []
    while not learner.is_finished:
        learner.learn_game()
        formers.append(learner.state_dict()["former"])
        learned.append(learner.learner.weights)
    assert [next(n for n, own in enumerate(learned) if (own == former).all()) for former in formers] == [
        0,
        0,
        0,
        3,
        3,
        3,
    ]


def test_a_game_in_all_orientations_teaches_what_all_turned_games_do(games: Path) -> None:
    plain, symmetric = (
        ValueLearner(settings("templates", games, self_play=0, symmetries=chosen)) for chosen in (False, True)
    )
    assert plain.records is not None
    for symmetry in Symmetry:
        plain.learner.update(plain.records.chains(plain.features, 0, symmetry))
    counts = symmetric.learn_game()
    assert (plain.learner.weights == symmetric.learner.weights).all()
    assert symmetric.learner.weights.any()
    assert counts.updates == 8 * len(plain.records.chains(plain.features, 0).rewards)
    board = Board(5)
    board.play(1)
    identity, mirrored = (next(iter(turned([board], symmetry))) for symmetry in (Symmetry.IDENTITY, Symmetry.MIRROR))
    assert (identity[1], mirrored[3]) == (BLACK, BLACK)


def test_weights_are_averaged_over_the_last_games(crbm: Path) -> None:
    training = ValueTraining(features=str(crbm), size=5, self_play=6, average_from=0.5, step_size=1.0)
    learner = ValueLearner(training)
    learned = []
    while not learner.is_finished:
        learner.learn_game()
        learned.append(learner.learner.weights)
        if learner.games <= 3:
            assert (learner.weights == learned[-1]).all()
    assert learner.weights == pytest.approx(np.mean(learned[3:], axis=0), abs=1e-6)
    assert (learner.weights != learned[-1]).any()
