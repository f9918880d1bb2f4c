"""What the first release wrote is still read: a dataset, models, player files and runs, under their old names."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from katachi.cli import main
from katachi.core.contracts import Limit
from katachi.core.models import load_model, open_model
from katachi.data.dataset import Dataset
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.players.specs import load_player

GOLDEN = Path(__file__).parent / "golden" / "first-release"


@pytest.fixture
def former(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of all of it, where it was made: paths in it are relative to here."""
    shutil.copytree(GOLDEN, tmp_path / "former")
    monkeypatch.chdir(tmp_path / "former")
    return tmp_path / "former"


def test_a_dataset_with_labels(former: Path) -> None:
    dataset = Dataset.open(former / "sets" / "5")
    assert (dataset.only_size(), len(dataset.games)) == (5, 40)
    assert dataset.labels is not None


@pytest.mark.parametrize(("run", "kind"), [("cnn", "policy"), ("shapes", "linear"), ("value-templates", "linear")])
def test_models(former: Path, run: str, kind: str) -> None:
    model, card = load_model(former / "runs" / run / "model"), open_model(former / "runs" / run / "model").card
    assert card.kind == kind
    assert 0 < model.evaluate([Board(5)]).black_wins[0] < 1


def test_a_model_without_a_value(former: Path) -> None:
    assert open_model(former / "runs" / "crbm" / "model").card.kind == "crbm"


@pytest.mark.parametrize("run", ["cnn", "shapes", "value-templates"])
@pytest.mark.usefixtures("former")
def test_players_of_runs(run: str) -> None:
    assert load_player(f"runs/{run}/player.toml", seed=1).decide(Game(5), Limit()).move is not None


@pytest.mark.usefixtures("former")
def test_a_player_with_many_options() -> None:
    player = load_player("tree.toml", seed=1)
    assert player.name == "tree"
    assert player.parameters["search.exploration"] == 1.5


@pytest.mark.parametrize(
    "command",
    [
        ("train", "cnn", "--resume", "runs/cnn"),
        ("train", "policy", "--resume", "runs/cnn"),
        ("train", "crbm", "--resume", "runs/crbm"),
        ("train", "shapes", "runs/shapes/config.toml", "--run", "runs/shapes"),
    ],
)
@pytest.mark.usefixtures("former")
def test_runs_resume(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exited:
        main(list(command))
    assert not exited.value.code, capsys.readouterr().err
