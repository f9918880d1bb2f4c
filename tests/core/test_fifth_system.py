"""A fifth system is one package: found by its entry point, it is trained, saved, shown, played with and analysed by.

The package lies in a folder of its own beside what an installer would leave of it; nothing of katachi is edited.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from rich.console import Console

from katachi.cli import main
from katachi.core.conformance import check_model, check_player, sample_games
from katachi.core.contracts import AnalyzingPlayer, Limit
from katachi.core.models import CARD, describe_card, list_models, load_model, model_to_json, open_model
from katachi.core.registry import find_card, resolve, system_of_card, systems
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.players.specs import load_player
from katachi.sgf import game_to_sgf, parse_sgf

PACKAGE = {
    "toy/__init__.py": '''
"""Who has more stones."""

from katachi.core.registry import System

SYSTEM = System(
    name="toy",
    title="Stones, counted",
    cards={"toy": "toy.evaluator:ToyCard"},
    trainings={"toy": "toy.train:TRAINING"},
)
''',
    "toy/evaluator.py": """
from typing import Literal

import numpy as np

from katachi.core.cards import Metric, ModelCard, Strict, Training, digest_file
from katachi.core.evaluators import ValueEvaluator
from katachi.core.models import save_model
from katachi.core.models import WEIGHTS, format_tensors, parse_tensors


class ToyOptions(Strict):
    komi: float = 0.5


class ToyCard(ModelCard):
    options = ToyOptions

    format: Literal[1] = 1
    kind: Literal["toy"] = "toy"
    board_size: int | None = None
    training: Training = Training()
    metrics: dict[str, Metric] = {}
    files: dict[str, str]

    @property
    def title(self):
        return "a toy that counts stones"

    def count_weights(self, read):
        return 1

    def build(self, read, options):
        worth = float(parse_tensors(read(WEIGHTS))["worth"][0])

        def values(boards):
            leads = [int(board.stones.sum()) - options.komi for board in boards]
            return np.array([1 / (1 + np.exp(-worth * lead)) for lead in leads], dtype=np.float32)

        return ValueEvaluator(values, temperature=0.1)


def save_toy(path, worth, training=Training(games=1)):
    content = format_tensors({"worth": np.array([worth], dtype=np.float32)})
    save_model(path, ToyCard(training=training, files={WEIGHTS: digest_file(content)}), {WEIGHTS: content})
""",
    "toy/train.py": """
import numpy as np
from pydantic import BaseModel, ConfigDict
from toy.evaluator import save_toy

from katachi.core.training import SEED, MetricLine, Option, TrainingCommand, TrainingRun, check_settings


class ToyTraining(BaseModel):
    model_config = ConfigDict(extra="forbid")

    games: int = 2
    seed: int = 0


class ToyLearner:
    def __init__(self):
        self.games = 0

    @property
    def worth(self):
        return self.games / 4

    def state_dict(self):
        return {"games": np.array([self.games])}

    def load_state_dict(self, state):
        self.games = int(state["games"][0])


def train_toy(settings, folder, command, machine, observer):
    learner = ToyLearner()
    with TrainingRun(folder, settings, observer.watch, command) as run:
        run.restore(learner)
        while learner.games < settings.games:
            learner.games += 1
            observer.tick(learner.games)
            run.keep(learner.state_dict(), MetricLine({"games": learner.games, "worth": learner.worth, "seconds": 0.0}))
        save_toy(folder / "model", learner.worth, run.describe("nothing", learner.games))
        run.finish("toy")


TRAINING = TrainingCommand(
    help="Learn what a stone is worth.",
    options=(Option("games", "How many games to look at."), SEED),
    parse=lambda values: check_settings(ToyTraining, values),
    train=train_toy,
    folder=lambda settings: "toy",
    summarize=lambda settings, lines: f"a stone is worth {lines[-1].values['worth']}",
    unit="games",
)
""",
    "toy-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n",
    "toy-1.0.dist-info/entry_points.txt": "[katachi.systems]\ntoy = toy:SYSTEM\n",
}


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The package is installed, and a model of it saved; its folder."""
    folder = tmp_path_factory.mktemp("toy")
    for name, text in PACKAGE.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        systems.cache_clear()
        resolve("toy.evaluator:save_toy")(folder / "model", worth=0.25)
        yield folder / "model"
    systems.cache_clear()
    for name in ("toy", "toy.evaluator", "toy.train"):
        sys.modules.pop(name, None)


@pytest.fixture
def player_file(toy: Path, tmp_path: Path) -> Path:
    path = tmp_path / "toy.toml"
    path.write_text(f'kind = "search"\nname = "counter"\n[evaluator]\nmodel = "{toy}"\n[search]\nkind = "greedy"\n')
    return path


def capturing_game() -> Game:
    """Black to play can capture a stone in the corner of 5×5."""
    game = Game(5)
    for move in (1, 0, 12, 24):
        game.play(move)
    return game


def test_it_is_found(toy: Path) -> None:
    assert list(systems())[-1] == "toy"
    assert find_card("toy").__name__ == "ToyCard"
    assert system_of_card("toy").title == "Stones, counted"


def test_it_is_saved_and_loaded(toy: Path) -> None:
    check_model(toy)
    even = load_model(toy, {"komi": 0.0})
    assert even.evaluate([Board(9)]).black_wins.tolist() == [0.5]
    assert load_model(toy).evaluate([Board(9)]).black_wins[0] < 0.5
    assert json.loads((toy / CARD).read_text())["kind"] == "toy"


def test_it_is_described(toy: Path) -> None:
    assert dict(describe_card(open_model(toy).card))["model"] == "a toy that counts stones, any size"
    assert model_to_json(toy)["kind"] == "toy"
    console = Console(file=io.StringIO(), width=160, color_system=None)
    console.print(list_models([toy]))
    assert "a toy that counts stones" in console.file.getvalue()


def run_command(*arguments: str) -> None:
    with pytest.raises(SystemExit) as exited:
        main(list(arguments))
    assert not exited.value.code


@pytest.mark.usefixtures("toy")
def test_it_is_trained_shown_and_played_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    run_command("train", "toy", "--games", "3", "--run", str(run))
    assert "a stone is worth 0.75" in capsys.readouterr().out
    assert open_model(run / "model").card.training.games == 3
    run_command("show", str(run / "model"))
    assert "a toy that counts stones" in capsys.readouterr().out
    assert load_player(str(run / "player.toml"), seed=1).decide(capturing_game(), Limit()).move == 5


def test_it_plays_and_analyses(player_file: Path) -> None:
    player = load_player(str(player_file), seed=1)
    game = capturing_game()
    assert player.decide(game, Limit()).move == 5  # which captures
    assert isinstance(player, AnalyzingPlayer)
    *_, analysis = player.analyze(game, Limit(), Event())
    assert analysis.candidates[0].move == 5
    check_player(player, games=sample_games(sizes=[3, 5]))


def test_games_are_analysed(toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "game.sgf").write_text(game_to_sgf(capturing_game()))
    run_command("analyze", str(tmp_path / "game.sgf"), "--model", str(toy), "--out", str(tmp_path / "out"), "--no-html")
    assert parse_sgf((tmp_path / "out" / "game.sgf").read_text())
    assert "1 game, 5 positions" in capsys.readouterr().out
