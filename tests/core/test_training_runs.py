from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from pydantic import BaseModel

from katachi.core.disk import DirectoryInUse
from katachi.core.training import MetricLine, TrainingError, TrainingRun


class Settings(BaseModel):
    games: int = 10
    sets: tuple[str, ...] = ("LI 1x1",)
    limit: float | None = None


def line(games: int) -> MetricLine:
    return MetricLine({"games": games, "win_rates": [0.5]})


def test_a_run_goes_on_where_its_last_checkpoint_was(tmp_path: Path) -> None:
    with TrainingRun(tmp_path / "run", Settings()) as run:
        assert (run.state, run.lines) == (None, [])
        run.keep({"weights": np.arange(3.0)}, line(5))
        run.keep({"weights": np.arange(4.0)}, line(10))
    with TrainingRun(tmp_path / "run", Settings()) as run:
        assert run.state is not None
        assert run.state.keys() == {"weights"}
        assert run.state["weights"].tolist() == [0, 1, 2, 3]
        assert [kept.games for kept in run.lines] == [5, 10]


def test_a_line_without_its_checkpoint_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with TrainingRun(tmp_path, Settings()) as run:
        run.keep({"weights": np.zeros(1)}, line(5))
        real, calls = os.fsync, []

        def full_after_the_metrics(descriptor: int) -> None:
            calls.append(descriptor)
            if len(calls) == 3:  # the metrics, their folder, the checkpoint
                raise OSError(28, "No space left on device")
            real(descriptor)

        monkeypatch.setattr(os, "fsync", full_after_the_metrics)
        with pytest.raises(OSError, match="No space"):
            run.keep({"weights": np.ones(1)}, line(10))
        monkeypatch.undo()
    with TrainingRun(tmp_path, Settings()) as run:
        assert [kept.games for kept in run.lines] == [5]
        assert run.state is not None
        assert run.state["weights"].tolist() == [0]


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    with TrainingRun(tmp_path, Settings()):
        pass
    with pytest.raises(TrainingError, match="begun with another games, another limit"):
        TrainingRun(tmp_path, Settings(games=11, limit=0.5))


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    with TrainingRun(tmp_path, Settings()) as run:
        run.keep({"weights": np.zeros(100)}, line(5))
    whole = (tmp_path / "checkpoint.safetensors").read_bytes()
    for content in (b"", whole[:50], whole[:-1], b"\xff" * 100):
        (tmp_path / "checkpoint.safetensors").write_bytes(content)
        with pytest.raises(TrainingError, match="checkpoint is damaged"):
            TrainingRun(tmp_path, Settings())
    (tmp_path / "checkpoint.safetensors").write_bytes(whole)
    (tmp_path / "metrics.jsonl").write_text("")
    with pytest.raises(TrainingError, match="1 lines of its metrics are missing"):
        TrainingRun(tmp_path, Settings())


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(TrainingError, match="other files"):
        TrainingRun(tmp_path, Settings())


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with TrainingRun(tmp_path, Settings()), pytest.raises(DirectoryInUse, match="another process"):
        TrainingRun(tmp_path, Settings())
