"""Runs that were moved: what lies in them, and players that they name, are found again."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from katachi.arena.records import find_directory
from katachi.arena.settings import RunError, TournamentSettings
from katachi.arena.tournament import play_tournament
from katachi.players.specs import load_player
from katachi.shapes.train import ShapeTraining, train_in_folder

PACK = Path(__file__).parents[2] / "tools" / "pack_run.sh"
SETTINGS = ShapeTraining(size=5, games=40, evaluate_every=20, test_games=2, sets=("LI 2x2",))


@pytest.fixture
def run(tmp_path):
    train_in_folder(SETTINGS, tmp_path / "a" / "run")
    return tmp_path / "a" / "run"


def tournament(run, games=2, **more):
    return TournamentSettings(players={"learned": str(run / "player.toml"), "random": "random"}, size=5, games=games)


def test_a_training_run_plays_and_resumes_where_it_is_now(run, tmp_path, monkeypatch):
    moved = tmp_path / "b" / "other"
    moved.parent.mkdir()
    before = (run / "model" / "weights.safetensors").read_bytes()
    (run / "run.json").unlink()  # as if it was not finished
    run.rename(moved)
    train_in_folder(SETTINGS, moved)
    assert (moved / "model" / "weights.safetensors").read_bytes() == before
    assert load_player(str(moved / "player.toml"), seed=1).evaluator is not None
    monkeypatch.chdir(moved.parent)
    assert load_player("other/player.toml", seed=1).evaluator is not None


def test_games_are_found_again_in_another_clone(run, tmp_path):
    here = tournament(run)
    play_tournament(here, tmp_path / "games")
    shutil.copytree(run.parent, tmp_path / "clone")
    there = tournament(tmp_path / "clone" / "run")
    assert there.digest() == here.digest()
    shutil.move(tmp_path / "games", tmp_path / "clone" / "games")
    shutil.rmtree(run.parent)
    lines = (tmp_path / "clone" / "games" / "games.jsonl").read_bytes()
    assert play_tournament(there, tmp_path / "clone" / "games").pairs[0].played == 2
    assert (tmp_path / "clone" / "games" / "games.jsonl").read_bytes() == lines


def test_a_packed_run_resumes_elsewhere(run, tmp_path):
    here = tournament(run)
    play_tournament(here, run / "games")
    file, there = tmp_path / "run.tar.xz", tmp_path / "b" / "runs"
    subprocess.run([PACK, run, file], check=True)
    there.mkdir(parents=True)
    with tarfile.open(file) as packed:
        packed.extractall(there, filter="data")
    lines = (run / "games" / "games.jsonl").read_bytes()
    shutil.rmtree(run)
    texts = [path.read_text() for path in there.rglob("*") if path.suffix in {".json", ".jsonl", ".toml", ".sgf"}]
    assert len(texts) > 4
    assert not any(str(tmp_path) in text for text in texts)
    moved = there / "run"
    assert not (moved / "games" / "report.html").exists()
    assert play_tournament(tournament(moved), moved / "games").pairs[0].played == 2
    assert (moved / "games" / "games.jsonl").read_bytes() == lines


def test_another_model_is_another_player(run, tmp_path):
    here = tournament(run)
    digest = here.digest()
    play_tournament(here, tmp_path / "games")
    shutil.rmtree(run)
    train_in_folder(SETTINGS.model_copy(update={"seed": 1}), run)
    assert here.digest() != digest
    with pytest.raises(RunError, match="changed since the run began"):
        play_tournament(here, tmp_path / "games")


def test_a_folder_with_the_former_digest_is_found(run, tmp_path):
    here = tournament(run)
    path = tmp_path / f"match-{here.digest()[:8]}"
    former = tmp_path / f"match-{here.former_digest()[:8]}"
    assert find_directory(path, here) == path
    former.mkdir()
    assert find_directory(path, here) == former
