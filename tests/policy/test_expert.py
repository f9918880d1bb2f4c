"""Expert iteration: generations, a match that decides, resuming, and learning from visits."""

from __future__ import annotations

import json

import numpy as np
import pytest

from katachi.core.models import open_model
from katachi.core.training import Machine, MetricLine, Observer, TrainingError
from katachi.data.batches import Batches
from katachi.data.dataset import Dataset, DatasetError
from katachi.policy import expert
from katachi.policy.config import PolicyTraining
from katachi.policy.expert import ExpertTraining, draw_elo, elo_of, train_expert
from katachi.policy.learner import Learner, _Positions
from katachi.policy.planes import PLANES

TINY = ExpertTraining(
    size=5,
    first_model="",
    layers=3,
    filters=8,
    generations=2,
    games=6,
    window=2,
    positions=32,
    batch=16,
    visits=8,
    quick_visits=3,
    close_share=0.6,
    match_pairs=2,
    match_visits=3,
    value_share=0.5,
    seed=3,
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "expert"
    train_expert(TINY, folder, "katachi train expert", Machine(), Observer())
    return folder


def lines_of(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_every_generation_plays_learns_and_is_measured(run):
    lines = lines_of(run)
    assert [line["generation"] for line in lines] == [1, 2]
    assert [line["games"] for line in lines] == [6, 12]
    assert all(line["match_games"] >= 4 for line in lines)
    assert (run / "elo.svg").read_text().startswith("<?xml")
    best = next((line["generation"] for line in reversed(lines) if line["is_better"]), 0)
    assert (run / "model").exists() == (best > 0)
    if best:
        expected = run / f"generation-{best:03d}" / "learning/model"
        assert (run / "model" / "model.onnx").read_bytes() == (expected / "model.onnx").read_bytes()
        card = open_model(run / "model").card
        assert card.training.games == 12
        assert card.training.settings["visits"] == TINY.visits


def test_networks_that_learn_may_be_deeper_than_the_first(run, tmp_path):
    settings = TINY.model_copy(update={"first_model": str(run / "generation-001/learning/model"), "layers": 5})
    train_expert(
        settings.model_copy(update={"generations": 1}), tmp_path, "katachi train expert", Machine(), Observer()
    )
    models = [open_model(tmp_path / folder / "model") for folder in ("generation-000", "generation-001/learning")]
    assert [model.card.config.layers for model in models] == [3, 5]
    assert [line["match_games"] >= 4 for line in lines_of(tmp_path)] == [True]


def test_records_to_begin_from_are_looked_at_before_anything_is_done(tmp_path):
    settings = TINY.model_copy(update={"records": str(tmp_path / "none"), "recorded_share": 0.5})
    with pytest.raises(DatasetError, match="none"):
        train_expert(settings, tmp_path / "run", "katachi train expert", Machine(), Observer())
    assert not (tmp_path / "run" / "generation-000").exists()


def test_a_run_that_was_interrupted_resumes_to_the_same(run, tmp_path, monkeypatch):
    """Stopped in the middle of the second generation's games, and once more before its match."""
    folder = tmp_path / "expert"
    for name in ("learn", "match"):
        with monkeypatch.context() as patch:
            patch.setattr(expert.ExpertRun, name, _stopping_at(2, getattr(expert.ExpertRun, name)))
            with pytest.raises(KeyboardInterrupt):
                train_expert(TINY, folder, "katachi train expert", Machine(), Observer())
    train_expert(TINY, folder, "katachi train expert", Machine(), Observer())
    timeless = [[{**line, "seconds": 0} for line in lines_of(path)] for path in (run, folder)]
    assert timeless[0] == timeless[1]
    models = [(path / "generation-002/learning/model/weights.safetensors").read_bytes() for path in (run, folder)]
    assert models[0] == models[1]


def _stopping_at(generation, original):
    def stop(self, number, *rest):
        if number == generation:
            raise KeyboardInterrupt
        return original(self, number, *rest)

    return stop


def test_another_setting_is_another_run(run):
    with pytest.raises(TrainingError, match="another games"):
        train_expert(TINY.model_copy(update={"games": 7}), run, "", Machine(), Observer())


def test_what_is_learned_are_the_visits(run, tmp_path):
    """The loss of the moves is the cross-entropy with the visits; its least value is their entropy."""
    from katachi.data.dataset import load_searched_games, write_searched_games

    games = [g for part in sorted(run.glob("generation-*/games/*.npz")) for g in load_searched_games(part)]
    dataset = write_searched_games(tmp_path / "set", games, grade=9)
    batches = Batches(dataset, PLANES["mover"], 32, seed=1, ownership=True, symmetries=True)
    closely = sum(int(game.visits[:, :-1].any(axis=1).sum()) for game in games)
    assert 0 < batches.epoch <= closely
    batch = batches[0]
    assert batch.visits.sum(axis=1) == pytest.approx(1, abs=1e-5)
    occupied = batch.planes[:, PLANES["mover"].names.index("legal")].reshape(32, -1) == 0
    assert (batch.visits[occupied] == 0).all(), "turned with the boards"
    assert ((batch.searched >= 0) & (batch.searched <= 1)).all()
    settings = PolicyTraining(data="x", size=5, layers=3, filters=8, value=True, rank_embedding=False, batch=32)
    positions = _Positions(settings, batch)
    logits = Learner(settings).net.predict(positions.planes, positions.global_inputs).policy[:, 0]
    shares = np.exp(logits.detach().numpy())
    shares /= shares.sum(axis=1, keepdims=True)
    expected = -(batch.visits * np.log(shares)).sum()
    assert float(positions.move_loss(logits.detach())) == pytest.approx(expected, rel=1e-4)


def test_elo():
    assert elo_of(0.5) == 0
    assert elo_of(10 / 11) == pytest.approx(400)
    assert elo_of(1.0) == pytest.approx(-elo_of(0.0))


def test_the_curve_shows_every_generation():
    lines = [
        MetricLine({"generation": n, "elo": 10.0 * n, "elo_low": 0.0, "elo_high": 50.0, "is_better": n % 2 == 0})
        for n in (1, 2, 3)
    ]
    text = draw_elo(lines)
    assert "<svg" in text
    assert "generation" in text


def test_datasets_of_people_have_no_visits(tmp_path):
    from katachi.data.importing import import_games

    record = tmp_path / "game.sgf"
    record.write_text("(;SZ[5];B[aa];W[bb];B[cc])")
    assert not Dataset.open(import_games([record], tmp_path / "set").path).knows_visits
