"""A fifth system is one package: found by its entry point, it is saved, loaded, described, played with and analysed by.

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

SYSTEM = System(name="toy", title="Stones, counted", cards={"toy": "toy.evaluator:ToyCard"})
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


def save_toy(path, worth):
    content = format_tensors({"worth": np.array([worth], dtype=np.float32)})
    save_model(path, ToyCard(training=Training(games=1), files={WEIGHTS: digest_file(content)}), {WEIGHTS: content})
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
    for name in ("toy", "toy.evaluator"):
        sys.modules.pop(name)


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
    even, _ = load_model(toy, {"komi": 0.0})
    assert even.evaluate([Board(9)]).black_wins.tolist() == [0.5]
    assert load_model(toy)[0].evaluate([Board(9)]).black_wins[0] < 0.5
    assert json.loads((toy / CARD).read_text())["kind"] == "toy"


def test_it_is_described(toy: Path) -> None:
    assert dict(describe_card(open_model(toy).card))["model"] == "a toy that counts stones, any size"
    assert model_to_json(toy)["kind"] == "toy"
    console = Console(file=io.StringIO(), width=160, color_system=None)
    console.print(list_models([toy]))
    assert "a toy that counts stones" in console.file.getvalue()


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
    with pytest.raises(SystemExit) as exited:
        main(["analyze", str(tmp_path / "game.sgf"), "--model", str(toy), "--out", str(tmp_path / "out"), "--no-html"])
    assert not exited.value.code
    assert parse_sgf((tmp_path / "out" / "game.sgf").read_text())
    assert "1 game, 5 positions" in capsys.readouterr().out
