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

import io
import json
import math
import shutil
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel
from safetensors import SafetensorError
from safetensors.numpy import load, load_file, save

from katachi.core.cards import provenance
from katachi.core.disk import DirectoryLock, write_atomically
from katachi.core.models import find_model

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


# A picture of learning curves: win rates against the average liberty player by games.


def draw_curves(runs: Sequence[Sequence[MetricLine]], path: Path) -> None:
    """Draw the curve of every run as SVG: the mean of its agents by all its games so far, one color for each size."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    sizes = sorted({line.size for lines in runs for line in lines})
    with rc_context({"svg.hashsalt": "katachi"}):  # the same curves give the same bytes
        figure = Figure(figsize=(7, 4), layout="constrained")
        axes = figure.subplots()
        for lines in runs:
            for size, (games, rates) in _by_size(lines).items():
                axes.plot(games, rates, color=f"C{sizes.index(size)}", label=f"{size}×{size}", linewidth=1.2)
        axes.set(xlabel="games of self-play", ylabel="wins against alp, %", ylim=(0, 101), xlim=(0, None))
        axes.grid(alpha=0.3)
        unique = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        axes.legend(unique.values(), unique.keys())
        picture = io.BytesIO()
        figure.savefig(picture, format="svg", metadata={"Date": None})
    write_atomically(path, picture.getvalue())


def _by_size(lines: Sequence[MetricLine]) -> dict[int, tuple[list[int], list[float]]]:
    """Games since the beginning of the run, and percents, for each size."""
    curves: dict[int, tuple[list[int], list[float]]] = {}
    before = last = 0
    for line in lines:
        if line.size not in curves:
            curves[line.size] = ([], [])
            before += last
        last = line.games
        games, rates = curves[line.size]
        games.append(before + line.games)
        rates.append(100 * sum(line.win_rates) / len(line.win_rates))
    return curves


# The weights in the state of a learner, which checkpoints keep, and those that another run begins with.

Arrays = Mapping[str, NDArray[Any]]

_WEIGHTS: Final = "weights/"  # how their names begin in a state


def name_weights(weights: Arrays) -> dict[str, NDArray[Any]]:
    """Weights as they are called in a state."""
    return {_WEIGHTS + name: array for name, array in weights.items()}


def weights_of(state: Arrays) -> dict[str, NDArray[Any]]:
    """The weights in a state."""
    return {name.removeprefix(_WEIGHTS): array for name, array in state.items() if name.startswith(_WEIGHTS)}


def load_first_weights(name: str | None, read_model: Callable[[Path], Arrays]) -> Arrays | None:
    """The weights of a run at its last checkpoint, or of a model; None without a name.

    Raises TrainingError or ModelError.
    """
    if name is None:
        return None
    checkpoint = Path(name) / CHECKPOINT
    if not checkpoint.exists():
        return read_model(find_model(name))
    try:
        return weights_of(load_file(checkpoint))
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"{checkpoint} has no weights to begin with: {error}") from None


# How the step size goes up and down in the course of a training.

_FULL_RATE: Final = 25 / 28  # of the steps: 25 epochs, then three at a half, a quarter and an eighth of the rate
_HALVINGS: Final = 3
_FALL: Final = 0.2  # of the steps: how long a trapezoid takes to fall to zero

Schedule = Literal["cosine", "halvings", "trapezoid", "constant"]


def step_share(schedule: Schedule, warmup: float, step: int, steps: int) -> float:
    """The share of the full step size at a step from 0 on: it rises in a warm-up, a share of all steps, and falls.

    >>> [round(step_share("cosine", 0.2, step, 10), 2) for step in range(0, 10, 3)]
    [0.33, 0.96, 0.5, 0.04]
    """
    done = step / steps
    if done < warmup:
        return (step + 1) / (warmup * steps + 1)
    if schedule == "cosine":
        return (1 + math.cos(math.pi * (done - warmup) / (1 - warmup))) / 2
    if schedule == "trapezoid":
        return min(1.0, (1 - done) / _FALL)
    if schedule == "constant":
        return 1.0
    halvings = math.ceil((done - _FULL_RATE) / (1 - _FULL_RATE) * _HALVINGS + 1e-9)
    return float(0.5 ** max(0, halvings))


# The metrics of a run for TensorBoard, which is an extra.

_SHOWN = ("td_error", "plies", "black_wins")


class TensorBoard:
    """Writes evaluations to a folder, all of them anew when a run goes on."""

    def __init__(self, folder: Path) -> None:
        """Raises TrainingError without tensorboardX."""
        try:
            import tensorboardX  # noqa: F401
        except ImportError:
            raise TrainingError("TensorBoard is an extra: pip install 'katachi[tensorboard]'") from None
        self._folder = folder
        self._writer: Any = None

    def add(self, line: MetricLine) -> None:
        """Write what was measured of self-play; ``9x9/win_rate_1`` is that of the first agent on 9×9."""
        scalars = {name: line.values[name] for name in _SHOWN}
        scalars |= {f"win_rate_{agent}": rate for agent, rate in enumerate(line.win_rates, start=1)}
        self.write({f"{line.size}x{line.size}/{name}": value for name, value in scalars.items()}, line.games)

    def write(self, scalars: Mapping[str, float], at: int) -> None:
        """Write numbers by name, measured after so many games or positions."""
        if self._writer is None:  # not before the run has a place: it refuses folders that hold other things
            from tensorboardX import SummaryWriter

            shutil.rmtree(self._folder, ignore_errors=True)
            self._writer = SummaryWriter(str(self._folder), write_to_disk=True)
        for name, value in scalars.items():
            self._writer.add_scalar(name, value, at)
        self._writer.flush()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
