from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from pydantic import BaseModel

from katachi.core import training
from katachi.core.disk import DirectoryInUse
from katachi.core.training import MetricLine, TrainingError, TrainingRun


class Settings(BaseModel):
    games: int = 10
    sets: tuple[str, ...] = ("LI 1x1",)
    limit: float | None = None
    seed: int = 7


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


def test_the_card_names_the_command_that_started_the_run(tmp_path: Path) -> None:
    for command in ("first", "second"):
        with TrainingRun(tmp_path, Settings(), command=command) as run:
            run.keep({"weights": np.zeros(1)}, line(5))
            assert run.describe("self-play", 5).command == "first"
            run.finish()


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


class Beside(Settings):
    features: str = ""


def test_what_lies_beside_a_run_may_be_moved_with_it(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    with TrainingRun(old / "value", Beside(features=str(old / "crbm"))):
        pass
    old.rename(new)
    with pytest.raises(TrainingError, match="another features"):
        TrainingRun(new / "value", Beside(features=str(new / "other")))
    for _ in range(2):
        with TrainingRun(new / "value", Beside(features=str(new / "crbm"))) as run:
            run.finish()


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    with TrainingRun(tmp_path, Settings()):
        pass
    with pytest.raises(TrainingError, match="started with another games, another limit"):
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


# The loop


class Losses(NamedTuple):
    steps: int
    loss: float


class Counter:
    """Learns to count."""

    def __init__(self, last: int = 10) -> None:
        self.step, self._last = 0, last

    @property
    def is_finished(self) -> bool:
        return self.step >= self._last

    def update(self) -> Losses:
        self.step += 1
        return Losses(1, 1 / self.step)

    def state_dict(self) -> dict[str, Any]:
        return {"step": np.array([self.step])}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.step = int(state["step"][0])


class Killed(Exception):
    pass


def count_up(folder: Path, checkpoint_seconds: float = 0.0, dies_at: int = 0) -> list[dict[str, Any]]:
    learner, seen = Counter(), []

    def tick(found: Losses) -> None:
        assert found.steps == 1
        if learner.step == dies_at:
            raise Killed

    with TrainingRun(folder, Settings(), lambda line: seen.append(dict(line.values)), "count") as run:
        run.restore(learner)
        for sums in run.learn(learner, learner.update, 4, tick, checkpoint_seconds):
            line = {"steps": sums.steps, "loss": sums.loss / sums.steps, **run.times("seconds", "core_seconds")}
            run.keep(learner.state_dict(), MetricLine(line), {"picture.txt": f"{learner.step}"})
        assert run.describe("nothing", games=3).hours == 0
        run.finish("counter", search="greedy")
    return seen


def without_clocks(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: line[key] for key in ("steps", "loss")} for line in lines]


@pytest.mark.parametrize("seconds", [0.0, 1000.0])
@pytest.mark.parametrize("dies_at", [2, 4, 7, 10])
def test_a_loop_that_is_killed_measures_the_same(tmp_path: Path, seconds: float, dies_at: int) -> None:
    whole = count_up(tmp_path / "whole")
    assert [line["steps"] for line in whole] == [4, 4, 2]
    with pytest.raises(Killed):
        count_up(tmp_path / "run", seconds, dies_at)
    assert without_clocks(count_up(tmp_path / "run", seconds)) == without_clocks(whole)
    for name in ("checkpoint.safetensors", "picture.txt"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert (tmp_path / "run" / "player.toml").read_text().splitlines()[1:] == [
        'name = "counter"',
        "[evaluator]",
        'model = "./model"',
        "[search]",
        'kind = "greedy"',
    ]


@pytest.mark.parametrize("at", [2, 4, 7])
def test_ctrl_c_keeps_the_update_that_was_at_work(tmp_path: Path, at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = count_up(tmp_path / "whole")
    before, update = signal.getsignal(signal.SIGINT), Counter.update
    monkeypatch.setattr(signal, "getsignal", lambda _: signal.default_int_handler)  # where tests run, it may be ignored

    def interrupted(self: Counter) -> Losses:
        if self.step == at - 1:
            signal.raise_signal(signal.SIGINT)
        return update(self)

    with monkeypatch.context() as patch:
        patch.setattr(Counter, "update", interrupted)
        with pytest.raises(KeyboardInterrupt):
            count_up(tmp_path / "run", 1000.0)
    with TrainingRun(tmp_path / "run", Settings()) as run:
        assert run.state is not None
        assert run.state["step"].tolist() == [at]
    assert without_clocks(count_up(tmp_path / "run", 1000.0)) == without_clocks(whole)
    signal.signal(signal.SIGINT, before)


def test_clocks_continue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setitem(training._CLOCKS, "seconds", lambda: now[0])
    with TrainingRun(tmp_path, Settings()) as run:
        for _ in run.learn(learner := Counter(8), learner.update, 4, lambda _: now.__setitem__(0, now[0] + 10)):
            run.keep(learner.state_dict(), MetricLine(run.times("seconds")))
    now[0] = 1000.0
    with TrainingRun(tmp_path, Settings()) as run:
        run.restore(learner := Counter(12))
        for _ in run.learn(learner, learner.update, 4, lambda _: now.__setitem__(0, now[0] + 10)):
            run.keep(learner.state_dict(), MetricLine(run.times("seconds")))
    assert [line.values["seconds"] for line in run.lines] == [40, 80, 120]
