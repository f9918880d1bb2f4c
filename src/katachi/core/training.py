"""What a training run leaves on disk, and how it goes on after a kill at any moment.

```
RUN/config.toml                the settings, all defaults written out
RUN/run.json                   versions, commit, status
RUN/metrics.jsonl              one line for every evaluation
RUN/checkpoint.safetensors     the learner after the last of them, or later
RUN/model/                     what was learned, once the run is finished
```

A line of metrics is written before the checkpoint that it belongs to; a line without one is dropped when the run goes
on, and comes again. One process at a time holds a run.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel
from safetensors import SafetensorError
from safetensors.numpy import load, save

from katachi.core.cards import provenance
from katachi.core.disk import DirectoryLock, write_atomically

_CONFIG: Final = "config.toml"
_RUN: Final = "run.json"
METRICS: Final = "metrics.jsonl"
CHECKPOINT: Final = "checkpoint.safetensors"
_LINES: Final = "lines"  # beside the learner's arrays in a checkpoint: how many lines of metrics belong to it

State = dict[str, NDArray[Any]]


class TrainingError(ValueError):
    """A run that cannot be begun or cannot go on, and why."""


class MetricLine(NamedTuple):
    """What was measured at one moment, by name; the properties are for what self-play measures."""

    values: Mapping[str, Any]

    @property
    def size(self) -> int:
        """The board size."""
        return int(self.values["size"])

    @property
    def games(self) -> int:
        """The games played on this size."""
        return int(self.values["games"])

    @property
    def win_rates(self) -> list[float]:
        """Of each agent against the average liberty player."""
        rates: list[float] = self.values["win_rates"]
        return rates

    def masters(self, rate: float) -> bool:
        """Whether every agent won so often."""
        return min(self.win_rates) >= rate


class Restorable(Protocol):
    """A learner whose state can be kept."""

    def load_state_dict(self, state: State) -> None:
        """Go on from a state; raises ValueError if it is not one of these settings."""


class TrainingRun:
    """A run on disk, opened to be trained on; a context manager that lets it go."""

    def __init__(self, path: Path, settings: BaseModel) -> None:
        """Begin a run, or go on with it; raises TrainingError if it holds another one or is damaged."""
        self.path = path
        self.state: State | None = None
        self.lines: list[MetricLine] = []
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = DirectoryLock(path)
        except OSError as error:
            raise TrainingError(f"cannot write to {path}: {error.strerror}") from None
        try:
            if (path / _CONFIG).exists():
                self._resume(settings)
            else:
                self._begin(settings)
        except BaseException:
            self._lock.release()
            raise

    def _begin(self, settings: BaseModel) -> None:
        if any(file.name[0] != "." and file.name != _RUN for file in self.path.iterdir()):
            raise TrainingError(f"{self.path} holds other files: give a new folder")
        self._write_status("running")
        write_atomically(self.path / _CONFIG, _format_toml(settings))

    def _resume(self, settings: BaseModel) -> None:
        content = self._read(_CONFIG)
        try:
            there = tomllib.loads(content.decode())
        except ValueError as error:  # no TOML, or no text
            raise TrainingError(f"{self.path / _CONFIG} is damaged: give a new folder ({error})") from None
        here = tomllib.loads(_format_toml(settings))
        usual = tomllib.loads(_format_toml(settings.model_construct()))  # for settings that are younger than the run
        changed = [key for key in {**there, **here} if there.get(key, usual.get(key)) != here.get(key)]
        if changed:
            others = ", another ".join(changed)
            raise TrainingError(f"{self.path} was begun with another {others}: give that or a new folder")
        if (self.path / CHECKPOINT).exists():
            self._load_checkpoint()

    def restore(self, learner: Restorable) -> None:
        """Bring a learner to where the run was; raises TrainingError if the state is not one of it."""
        if self.state is not None:
            try:
                learner.load_state_dict(self.state)
            except ValueError as error:
                raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> TrainingError:
        return TrainingError(f"{self.path} cannot go on: its checkpoint is damaged ({error})")

    def _load_checkpoint(self) -> None:
        """The state, and as many lines of metrics as there were when it was written."""
        try:
            state = load(self._read(CHECKPOINT))
            count = int(state.pop(_LINES)[0])
            lines = self._read(METRICS).splitlines()[:count] if count else []
            self.lines = [MetricLine(json.loads(line)) for line in lines]
        except (SafetensorError, ValueError, KeyError, IndexError) as error:
            raise self._damaged(error) from None
        if len(self.lines) < count:
            raise TrainingError(f"{self.path} cannot go on: {count - len(self.lines)} lines of its metrics are missing")
        self.state = state

    def _read(self, name: str) -> bytes:
        try:
            return (self.path / name).read_bytes()
        except OSError as error:
            raise TrainingError(f"cannot read {self.path / name}: {error.strerror}") from None

    def keep(self, state: Mapping[str, NDArray[Any]], line: MetricLine) -> None:
        """Keep an evaluation and the learner's state after it; when this returns both survive a power cut."""
        self.lines.append(line)
        text = "".join(json.dumps(kept.values) + "\n" for kept in self.lines)
        write_atomically(self.path / METRICS, text)
        self.checkpoint(state)

    def checkpoint(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Keep the learner's state alone, between two evaluations."""
        write_atomically(self.path / CHECKPOINT, save({**state, _LINES: np.array([len(self.lines)])}))

    def finish(self) -> None:
        """Mark the run as finished."""
        self._write_status("finished")

    def _write_status(self, status: str) -> None:
        write_atomically(self.path / _RUN, json.dumps({"status": status, "program": provenance()}, indent=2) + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()


def _format_toml(settings: BaseModel) -> str:
    """Flat settings as TOML; what JSON writes of numbers, texts and lists of them is TOML too."""
    values = settings.model_dump(mode="json")
    return "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items() if value is not None
    )
