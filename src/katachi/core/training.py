"""One training loop: what a run leaves on disk, how it resumes after a kill at any moment, and how it is declared.

```
RUN/config.toml                the settings, all defaults written out
RUN/run.json                   versions, commit, status
RUN/metrics.jsonl              one line for every evaluation
RUN/checkpoint.safetensors     the learner after the last of them, or later
RUN/model/                     what was learned, once the run is finished
RUN/player.toml                a player that uses it
```

A training of a system is a visible loop over one ``TrainingRun``:

```python
with TrainingRun(directory, settings, watch, command) as run:
    run.restore(learner)
    for losses in run.learn(learner, update, every):  # the sums since the last evaluation
        run.keep(learner.state_dict(), MetricLine({...}))
    save_model(directory / "model", ...)
    run.finish("territory", search="greedy")
```

A line of metrics is written before the checkpoint that it belongs to; a line without one is dropped when the run
resumes, and comes again. One process at a time holds a run. ``TrainingCommand`` is what ``katachi train`` has to know
of a training, and ``Release`` what ``katachi models make`` has to know of a model.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import re
import shutil
import signal
import time
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, current_thread, main_thread
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError
from safetensors.numpy import load, load_file, save

from katachi.core.cards import Metric, ModelCard, ModelError, Strict, Training, provenance
from katachi.core.disk import (
    MAX_TOML_CHARACTERS,
    DirectoryLock,
    format_toml,
    parse_toml,
    read_regular,
    write_atomically,
)
from katachi.core.drawing import Figure
from katachi.core.execution import hand_out
from katachi.core.models import PRETRAINED, SavedModel, find_model, open_model
from katachi.core.registry import find, require, suggest

# Lessons: a pupil learns from nothing while somebody watches, and can be played against while it learns.
#
# A system may offer one (``System.lessons``); the page in the browser shows its choices as sliders, its progress, and
# the pupil. After every piece of a lesson the pupil is on disk as a player ``player-GAMES.toml`` with files of its own,
# because somebody may just be playing against the one before.

_PLAYER: Final = re.compile(r"player-(\d+)\.toml")

Choices = Mapping[str, float]  # a value of each choice, by name


class Choice(NamedTuple):
    """Something that a teacher may choose."""

    name: str
    text: str  # with {value}
    values: tuple[float, ...]
    default: float


class LessonProgress(NamedTuple):
    """How far a lesson is: games played, the share won against the average liberty player, what was learned so far."""

    games: int
    wins: float
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is taught. ``teach(choices, folder, report, stop)`` works until it is through or soon after ``stop``."""

    lead: str
    size: int  # of the board
    choices: tuple[Choice, ...]
    teach: Callable[[Choices, Path, Callable[[LessonProgress], None], Event], LessonProgress]


def list_pupils(folder: Path) -> list[Path]:
    """The players of a lesson, the latest last."""
    found = [(int(match[1]), path) for path in folder.glob("player-*.toml") if (match := _PLAYER.fullmatch(path.name))]
    return [path for _, path in sorted(found)]


# Training

RUNS: Final = Path("runs")  # where runs go if nobody says
CONFIG: Final = "config.toml"
_RUN: Final = "run.json"
METRICS: Final = "metrics.jsonl"
CHECKPOINT: Final = "checkpoint.safetensors"
_CLOCKS: Final = {"seconds": time.monotonic, "core_seconds": time.process_time}  # in a line of metrics
# Beside the learner's arrays in a checkpoint: how many lines of metrics belong to it, and between two evaluations the
# sums since the last one and the clocks.
_LINES: Final = "lines"
_SINCE: Final = "since"
_CLOCK: Final = "clock"

State = dict[str, NDArray[Any]]
Found = TypeVar("Found", bound=tuple[float, ...])  # a NamedTuple of numbers that can be summed


class TrainingError(ValueError):
    """A run that cannot start or cannot resume, and why."""


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


class RunLearner(Protocol):
    """What a run trains."""

    @property
    def is_finished(self) -> bool: ...

    def state_dict(self) -> Mapping[str, NDArray[Any]]: ...

    def load_state_dict(self, state: State) -> None:
        """Resume from a state; raises ValueError if it is not one of these settings."""


class SteppingLearner(RunLearner, Protocol):
    """Counts its steps, after some of which it is evaluated."""

    @property
    def step(self) -> int: ...


Watcher = Callable[[MetricLine], None]


def ignore(*_: Any) -> None:
    """Who follows nothing."""


class Machine(NamedTuple):
    """What a run may use; it does not change what is learned, but for the rounding of several threads."""

    threads: int = 1  # that learn
    workers: int = 1  # threads that compute batches ahead; 0: the one that learns does
    checkpoint_seconds: float = 180.0  # how much is lost at most; every evaluation is kept, too


@contextmanager
def finish_first() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C wait until whoever works asks for it, having kept everything; a second one does not wait.

    A thread that signals do not reach is never asked to stop.
    """
    asked, before = Event(), signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(before):  # or where Ctrl-C is ignored
        yield asked.is_set
        return

    def note(*_: object) -> None:
        asked.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, note)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)


class TrainingRun:
    """A run on disk, opened to be trained on; a context manager that lets it go."""

    def __init__(self, path: Path, settings: BaseModel, watch: Watcher = ignore, command: str = "") -> None:
        """Start a run, or resume it; raises TrainingError if it holds another one or is damaged.

        ``watch`` sees every evaluation, those of an earlier part of the run first; ``command`` is for the model's card,
        which names the one that started the run.
        """
        self.path = path
        self.state: State | None = None
        self.lines: list[MetricLine] = []
        self._settings, self._watch, self._command = settings, watch, command
        self._folder = str(path.resolve())  # where the run was started, which its settings are seen from
        self._started: dict[str, float] = {}
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lock = DirectoryLock(path)
        except OSError as error:
            raise TrainingError(f"cannot write to {path}: {error.strerror}") from None
        try:
            if (path / CONFIG).exists():
                self._resume(settings)
            else:
                self._start(settings)
        except BaseException:
            self._lock.release()
            raise

    def _start(self, settings: BaseModel) -> None:
        if any(file.name[0] != "." and file.name != _RUN for file in self.path.iterdir()):
            raise TrainingError(f"{self.path} holds other files: give a new folder")
        self._write_status("running")
        write_atomically(self.path / CONFIG, format_toml(settings.model_dump(mode="json")))

    def _resume(self, settings: BaseModel) -> None:
        content = self._read(CONFIG)
        try:
            there = parse_toml(content.decode())
        except ValueError as error:  # no TOML, or no text
            raise TrainingError(f"{self.path / CONFIG} is damaged: give a new folder ({error})") from None
        here = tomllib.loads(format_toml(settings.model_dump(mode="json")))
        # Settings may be younger than the run.
        usual = tomllib.loads(format_toml(settings.model_construct().model_dump(mode="json")))
        changed = [key for key in {**there, **here} if there.get(key, usual.get(key)) != here.get(key)]
        started = self._read_status()
        changed = [key for key in changed if not self._moved_along(there.get(key), here.get(key), started)]
        if changed:
            others = ", another ".join(changed)
            raise TrainingError(f"{self.path} was started with another {others}: give that or a new folder")
        self._command, self._folder = started.get("command") or self._command, started.get("folder") or self._folder
        if (self.path / CHECKPOINT).exists():
            self._load_checkpoint()

    def _read_status(self) -> dict[str, Any]:
        """What is known of the start of the run; runs of former versions do not say much."""
        with suppress(ValueError):
            status = json.loads(self._read(_RUN))
            return status if isinstance(status, dict) else {}
        return {}

    def _moved_along(self, there: object, here: object, started: Mapping[str, Any]) -> bool:
        """Whether two settings are one path, seen from where the run was and from where it is."""
        if not (isinstance(there, str) and isinstance(here, str) and "/" in there and "folder" in started):
            return False
        return os.path.relpath(there, started["folder"]) == os.path.relpath(here, self.path)

    def restore(self, learner: RunLearner) -> None:
        """Bring a learner to where the run was, and show what was measured until then.

        Raises TrainingError if the state is not one of the learner.
        """
        if self.state is not None:
            try:
                learner.load_state_dict(self.state)
            except ValueError as error:
                raise self._damaged(error) from None
        for line in self.lines:
            self._watch(line)

    def _damaged(self, error: Exception) -> TrainingError:
        return TrainingError(f"{self.path} cannot resume: its checkpoint is damaged ({error})")

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
            raise TrainingError(
                f"{self.path} cannot resume: {count - len(self.lines)} lines of its metrics are missing"
            )
        self.state = state

    def _read(self, name: str) -> bytes:
        try:
            return (self.path / name).read_bytes()
        except OSError as error:
            raise TrainingError(f"cannot read {self.path / name}: {error.strerror}") from None

    def learn(
        self,
        learner: SteppingLearner,
        update: Callable[[], Found],
        every: int,
        tick: Callable[[Found], None] = ignore,
        checkpoint_seconds: float = Machine().checkpoint_seconds,
    ) -> Iterator[Found]:
        """Update a learner until it is finished; yields, when an evaluation is due, the sums since the last one.

        One is due after every so many steps and at the end. Between them the state is kept by time and on Ctrl-C,
        together with the sums, so that a run that resumes there measures the same. ``tick`` sees what every update
        found.
        """
        self.start_clocks()
        since: Sequence[float] | None = self.state[_SINCE].tolist() if self.state and _SINCE in self.state else None
        due = time.monotonic() + checkpoint_seconds
        with finish_first() as stop:
            while not learner.is_finished:
                found = update()
                total = found if since is None else add_up((since, found))
                tick(found)
                since = total
                if learner.step % every == 0 or learner.is_finished:
                    yield total
                    since = None
                elif stop() or time.monotonic() >= due:
                    between = {_SINCE: np.array(total, dtype=np.float64), _CLOCK: np.array([*self._elapsed().values()])}
                    self.checkpoint({**learner.state_dict(), **between})
                else:
                    continue
                if stop():
                    raise KeyboardInterrupt
                due = time.monotonic() + checkpoint_seconds

    def start_clocks(self) -> None:
        """Let the clocks continue where they stood."""
        last = self.lines[-1].values if self.lines else {}
        before = [last.get(name, 0.0) for name in _CLOCKS]
        if self.state and _CLOCK in self.state:
            before = self.state[_CLOCK].tolist()
        self._started = {name: read() - seconds for (name, read), seconds in zip(_CLOCKS.items(), before, strict=True)}

    def times(self, *names: str) -> dict[str, float]:
        """How long the run has taken: ``seconds`` by the clock, ``core_seconds`` of the cores that learned."""
        elapsed = self._elapsed()
        return {name: round(elapsed[name], 1) for name in names}

    def _elapsed(self) -> dict[str, float]:
        return {name: read() - self._started[name] for name, read in _CLOCKS.items()}

    def keep(
        self, state: Mapping[str, NDArray[Any]], line: MetricLine, pictures: Mapping[str, str] | None = None
    ) -> None:
        """Keep an evaluation, files that show it, and the learner's state after it.

        When this returns, all of it survives a power cut.
        """
        for name, text in (pictures or {}).items():
            write_atomically(self.path / name, text)
        self.lines.append(line)
        write_atomically(self.path / METRICS, "".join(json.dumps(kept.values) + "\n" for kept in self.lines))
        self.checkpoint(state)
        self._watch(line)

    def checkpoint(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Keep the learner's state alone, between two evaluations."""
        write_atomically(self.path / CHECKPOINT, save({**state, _LINES: np.array([len(self.lines)])}))

    def describe(self, data: str, games: int, positions: int = 0) -> Training:
        """What the card of the model says of this run: enough to do it again."""
        settings, last = self._settings.model_dump(mode="json"), self.lines[-1].values
        return Training(
            command=self._command,
            commit=provenance()["commit"],
            seed=settings["seed"],
            games=games,
            positions=positions,
            hours=round(last["seconds"] / 3600, 2) if "seconds" in last else None,
            data=data,
            settings=settings,
        )

    def finish(self, player: str | None = None, search: str | None = None, models: Sequence[str] = ("model",)) -> None:
        """Mark the run as finished, and write for each of its models a player of a name that uses it."""
        for model in models if player else ():
            text = f'kind = "search"\nname = {json.dumps(player)}\n[evaluator]\nmodel = "./{model}"\n'
            text += f'[search]\nkind = "{search}"\n' if search else ""
            write_atomically(self.path / f"{model.replace('model', 'player')}.toml", text)
        self._write_status("finished")

    def _write_status(self, status: str) -> None:
        content = {"status": status, "command": self._command, "folder": self._folder, "program": provenance()}
        write_atomically(self.path / _RUN, json.dumps(content, indent=2) + "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def describe_run(path: Path) -> Training:
    """How far a run has come that has no model yet, for the card of one that starts from it; raises TrainingError."""
    settings = read_values(path / CONFIG)
    try:
        status = json.loads((path / _RUN).read_bytes())
        last = json.loads((path / METRICS).read_text(encoding="utf-8").splitlines()[-1])
    except (OSError, ValueError, IndexError) as error:
        raise TrainingError(f"{path} does not say how far it has come: {error}") from None
    return Training(
        command=status.get("command", ""),  # runs of former versions do not say
        commit=status.get("program", {}).get("commit"),
        seed=settings["seed"],
        positions=last["positions"],
        hours=round(last["seconds"] / 3600, 2),
        data=Path(settings["data"]).name,
        settings=settings,
    )


def add_up(found: Sequence[Found | Sequence[float]]) -> Found:
    """The sums of what updates found, name by name; the last one is a NamedTuple."""
    kind: Any = type(found[-1])
    total: Found = kind._make(map(sum, zip(*found, strict=True)))
    return total


# The weights in the state of a learner, which checkpoints keep, and the first weights of another run.

Arrays = Mapping[str, NDArray[Any]]

_WEIGHTS: Final = "weights/"  # the start of their names in a state


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
    from katachi.core.models import find_model

    if name is None:
        return None
    checkpoint = Path(name) / CHECKPOINT
    if not checkpoint.exists():
        return read_model(find_model(name))
    try:
        return weights_of(load_file(checkpoint))
    except (OSError, SafetensorError) as error:
        raise TrainingError(f"{checkpoint} has no weights to start from: {error}") from None


# Schedules of the learning rate.

_FULL_RATE: Final = 25 / 28  # of the steps: 25 epochs, then three at a half, a quarter and an eighth of the rate
_HALVINGS: Final = 3
_FALL: Final = 0.2  # of the steps: how long a trapezoid takes to fall to zero

Schedule = Literal["cosine", "halvings", "trapezoid", "constant"]


def step_share(schedule: Schedule, warmup: float, step: int, steps: int) -> float:
    """The share of the full learning rate at a step from 0 on: it rises in a warm-up, a share of all steps, and falls.

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


class TensorBoard:
    """Writes evaluations to a folder, all of them again when a run resumes."""

    def __init__(self, folder: Path) -> None:
        """Raises MissingExtra without tensorboardX."""
        require("tensorboardX")
        self._folder = folder
        self._writer: Any = None

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


# Settings: from files and options, and what those of several systems share.

_EVALUATIONS: Final = 20  # at least, of a run that learns from games, unless the settings say how often

Settings = TypeVar("Settings", bound=BaseModel)
Seed = Annotated[int, Field(ge=0, lt=2**63)]
Count = Annotated[int, Field(ge=1, le=10**12)]
Batch = Annotated[int, Field(ge=1, le=10**6)]  # what is in memory at a time


class DatasetTraining(Strict):
    """What all trainings on the positions of recorded games have."""

    data: str  # the folder of a dataset
    weakest: str | None = None  # the lowest rank of both players whose games are learned from, such as 1d
    positions: Count = 1_000_000  # to learn from in all
    batch: Batch = 64

    @property
    def steps(self) -> int:
        """How many batches there are to learn from."""
        return -(-self.positions // self.batch)


def part_of(settings: BaseModel, kind: type[Settings]) -> Settings:
    """Those of the settings that another class has, such as the network alone."""
    return kind(**{name: getattr(settings, name) for name in kind.model_fields})


def read_values(file: Path) -> dict[str, Any]:
    """The values of a TOML file; raises TrainingError with one sentence."""
    try:
        return parse_toml(read_regular(file, MAX_TOML_CHARACTERS).decode())
    except OSError as error:
        raise TrainingError(f"cannot read {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TrainingError(f"{file} is not a TOML file: {error}") from None


def check_settings(kind: type[Settings], values: Mapping[str, Any]) -> Settings:
    """Settings of a kind; raises TrainingError with one sentence."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, kind.model_fields, n=1)
        raise TrainingError(f"there is no setting {key}" + (f"; did you mean {near[0]}?" if near else ""))
    raise TrainingError(f"{key}: {first['msg']}".removeprefix(": ").replace("Value error, ", ""))


def check_dataset_settings(kind: type[Settings], values: Mapping[str, Any], made_by: str) -> Settings:
    """The same for learning from a dataset, which ``made_by`` makes, with evaluations all along the run."""
    if "data" not in values:
        raise TrainingError(f"there is nothing to learn from: give --data SET (see: {made_by} --help)")
    positions = values.get("positions")
    if "evaluate_every" not in values and isinstance(positions, int):
        most = kind.model_fields["evaluate_every"].default
        values = {**values, "evaluate_every": min(most, max(1, positions // _EVALUATIONS))}
    return check_settings(kind, values)


# What ``katachi train`` knows of a training.


class Option(NamedTuple):
    """A setting with an option of its own on the command line, or an argument."""

    setting: str
    help: str
    type: type = int
    flag: str | None = None  # None: made from the name of the setting
    metavar: str | None = None
    is_argument: bool = False
    former: str | None = None  # another flag, which help does not show


SEED: Final = Option("seed", "Random seed (bitwise reproducible on one thread).")
DATA: Final = Option("data", "A dataset, made by katachi data import.", Path)
DATA_SIZE: Final = Option("size", "The board size; without it, that of the dataset if all its games have one.")
POSITIONS: Final = Option("positions", "How many positions to learn from.")
FIRST_RUN: Final = Option(
    "first_model", "Start from the weights of another run or a model.", str, "--from", "RUN", former="--start-from"
)


class Observer:
    """Who follows a run; here, nobody."""

    def watch(self, line: MetricLine) -> None:
        """See an evaluation, those of an earlier part of the run first."""

    def tick(self, done: int, found: Any = None, total: int | None = None) -> None:
        """See how much of what is learned from is done, what the last update found, and how much there is in all."""

    def note(self, text: str) -> None:
        """See what happens before that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingCommand:
    """A training: its settings, how it runs, and how it is shown. Makes one command of ``katachi train``."""

    help: str  # one sentence, then more, then examples
    options: tuple[Option, ...]
    parse: Callable[[dict[str, Any]], Any]  # the settings from values; raises TrainingError
    train: Callable[[Any, Path, str, Machine, Observer], object]  # settings, run folder, command, machine, observer
    folder: Callable[[Any], str]  # what the folder of a run with these settings is called, but for a digest
    summarize: Callable[[Any, Sequence[MetricLine]], str]  # what was reached, from the settings and all evaluations
    unit: Literal["positions", "games"] = "positions"  # that is learned from; metrics have it
    total: Callable[[Any], int | None] = ignore  # how many there are, if the settings say
    recent: Callable[[Any], str] | None = None  # what the sums of the last updates say
    usual: str = "our own recipe"  # what is learned without a file of settings
    needs: tuple[str, ...] = ()  # modules of extras
    takes_threads: bool = False
    takes_workers: bool = False
    hands_out: bool = False  # games or the like, to --jobs processes or to a cluster
    can_repeat: bool = False  # with other seeds, by the options --runs and --jobs
    then: tuple[str, ...] = ("play against it: katachi play {run}", "see it: katachi show {run}")  # when it is through
    scalars: Callable[[MetricLine], Mapping[str, float]] = lambda line: line.values  # for TensorBoard
    warn: Callable[[Any, Sequence[MetricLine]], list[str]] = lambda *_: []
    draw: Callable[[Sequence[Sequence[MetricLine]], Path], object] = ignore  # all runs, into their common folder


def train_on_cluster(
    train: Callable[[Any, Path, str, Machine, Observer], object], runs: Mapping[Path, Any], command: str, jobs: int
) -> Iterator[Path]:
    """Let a cluster train in folders with their settings; gives each when all that was learned is there.

    A node continues from what a folder holds, and sends its files when it is through; one that is lost has learned for
    nothing. The same training on this machine, which has nothing left to do, then shows what was measured.
    """
    for path, settings in runs.items():
        with TrainingRun(path, settings, command=command):
            pass  # it starts here, or says now why it cannot
    models = {settings.model_dump().get("first_model") for settings in runs.values()}
    calls = ((train, path, settings, command, _files_of(path)) for path, settings in runs.items())
    for path, files in hand_out(_train_on_node, calls, jobs, reads=[find_model(name) for name in models if name]):
        for name, content in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path / name, content)
        yield path


def _train_on_node(
    train: Callable[..., object], path: Path, settings: Any, command: str, files: Mapping[str, bytes]
) -> tuple[Path, dict[str, bytes]]:
    with TemporaryDirectory() as text:
        folder = Path(text)
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        train(settings, folder, command, Machine(), Observer())
        return path, _files_of(folder)


def _files_of(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name[0] != ".")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


# Releasing a model: it is trained by its committed recipe, measured, and put with its card where players find it.
#
# A recipe is a file of settings in ``pretrained/recipes/``, in a folder that is called like the release that takes
# them. A system fills in a ``Release``; ``make_model`` is the flow that all of them share. What lies above the systems,
# such as matches against players and the display, is handed in as ``Tools``.

RECIPES: Final = PRETRAINED / "recipes"
PLAYERS: Final = PRETRAINED.parent / "players" / "shipped"
_COUNTED: Final = ("positions", "seconds", "core_seconds")  # what grows in a run
_MAX_RESULT_BYTES: Final = 1 << 20
# Where games lie, and how often a model was evaluated meanwhile.
_UNIMPORTANT: Final = {"data", "evaluate_every", "test_games", "validation_positions"}


class Tools(NamedTuple):
    """What a release needs of the layers above the systems."""

    train: Callable[[TrainingCommand, Any, Path, str, Machine], object]  # with a display
    play: Callable[[str, SavedModel[Any], float, Any], Metric]  # the share of wins: opponent, model, komi, request
    bar: Callable[[str, int], AbstractContextManager[Callable[[int], None]]]  # a bar of so many, to be set
    note: Callable[[str], None]


class Request(NamedTuple):
    """What is asked for."""

    name: str  # of the recipe, and of the model
    tools: Tools
    data: Path | None = None  # the dataset to learn from and to measure with
    run: Path | None = None  # the folder of the training
    trained: str | None = None  # a run that has trained this recipe already
    results: Sequence[Path] = ()  # what ``katachi match --json`` printed
    into: Path | None = None  # a folder for the model, instead of that of the pretrained ones
    games: int = 1100  # that are measured
    positions: int = 20_000  # of test games that are measured
    jobs: int = 1  # threads of a network
    int8: bool = False  # whether a network is released in eight bits, too
    players: int = 1  # games at the same time

    @property
    def folder(self) -> Path:
        """Where the training is, or will be."""
        return self.run or RUNS / self.name


class Release(ABC):
    """How the models of a system are released."""

    training: ClassVar[TrainingCommand]  # that recipes are for
    search: ClassVar[str | None] = None  # of the released player; None: one ply deep

    def parse(self, values: dict[str, Any], request: Request) -> Any:
        """The settings of a recipe, from its values and what was asked for; raises TrainingError or ModelError."""
        data = {} if request.data is None else {"data": str(request.data)}
        return self.training.parse({**values, **data})

    def train(self, settings: Any, request: Request) -> Path:
        """Train by a recipe, and return the run."""
        machine = Machine(request.jobs if self.training.takes_threads else 1)
        request.tools.train(self.training, settings, request.folder, f"katachi models make {request.name}", machine)
        return request.folder

    def check(self, settings: Any, card: ModelCard, name: str) -> None:
        """Raise ModelError if another recipe made a model."""
        check_recipe(name, settings, card.training.settings)

    @abstractmethod
    def measure(self, settings: Any, model: SavedModel[Any], request: Request) -> Mapping[str, Metric]:
        """How well a model does."""

    @abstractmethod
    def save(self, path: Path, model: SavedModel[Any], metrics: Mapping[str, Metric], request: Request) -> None:
        """Save what players need of a model."""

    def describe_player(self, settings: Any) -> str | None:  # noqa: ARG002
        """What the player that uses the model is; None: there is none."""
        return None


def make_model(request: Request) -> Path:
    """Train, measure and release a model; returns where it is. Raises ModelError if another recipe made it."""
    recipe = find_recipe(request.name)
    release: Release = find("releases", recipe.parent.name)
    require(*release.training.needs)
    settings = release.parse(read_values(recipe), request)
    played = dict(read_result(path).metric() for path in request.results)
    if request.trained is None:
        request.tools.note(f"the run is in {request.folder}")
    source = find_model(request.trained or str(release.train(settings, request)))
    model = open_model(source)
    release.check(settings, model.card, request.name)
    metrics = {**release.measure(settings, model, request), **played}
    path = (request.into or PRETRAINED) / request.name
    lines = _trained(str(source)).lines  # before it takes the place of what it may have started from
    release.save(path, model, metrics, request)
    if lines:
        write_atomically(path / METRICS, "".join(f"{json.dumps(line)}\n" for line in lines))
    description = release.describe_player(settings)
    if request.into is None and description is not None:
        _release_player(request.name, description, release.search)
    return path


def find_recipe(name: str) -> Path:
    """The committed settings of a model."""
    known = {path.stem: path for path in sorted(RECIPES.glob("*/*.toml"))}
    if name not in known:
        raise ModelError(f"there is no recipe {name}; {suggest(name, known)}")
    return known[name]


def check_recipe(name: str, settings: BaseModel, made_with: Mapping[str, Any]) -> None:
    """Raise ModelError if a model was made with other settings than those of a recipe."""
    wanted = settings.model_dump(mode="json", exclude=_UNIMPORTANT)
    usual = settings.model_construct().model_dump(mode="json")  # for settings that are younger than the card
    made = usual | dict(made_with)
    differing = [key for key, value in wanted.items() if made[key] != value]
    if differing or not made_with:
        why = f"another {', another '.join(differing)}" if differing else "its card does not say how it was trained"
        raise ModelError(f"the recipe {name} did not make this model: {why}")


# What the card and the files of a released model say


def describe_network(name: str, training: Training) -> Training:
    """How a network was trained, in words that do not depend on where its games lay, and what it started from."""
    first = training.settings.get("first_model")
    here = _without_folders(training)
    command = f"katachi models make {name}"
    if "data" in here.settings:
        command += f" --data {here.settings['data']}"
    return here.model_copy(update={"command": command, "first": _trained(str(first)).training if first else None})


def _without_folders(training: Training) -> Training:
    settings = dict(training.settings)
    if "data" in settings:
        settings["data"] = Path(str(settings["data"])).name
    return training.model_copy(update={"command": re.sub(r"\S*/", "", training.command), "settings": settings})


class _Trained(NamedTuple):
    """How something was trained, and what was measured on the way; what it started from included."""

    training: Training
    lines: list[dict[str, Any]]


def _trained(name: str) -> _Trained:
    """The training of a model, or of a run that has not come to an end."""
    run = Path(name)
    if (run / CONFIG).is_file() and not (run / "model").exists():
        training, folder = describe_run(run), run
    else:
        model = find_model(name)
        training, folder = open_model(model).card.training, model if (model / METRICS).is_file() else model.parent
    metrics = folder / METRICS
    lines = [json.loads(line) for line in metrics.read_text("utf-8").splitlines()] if metrics.is_file() else []
    training, first = _without_folders(training), training.settings.get("first_model")
    if not first or not lines or training.first is not None:  # which a released model says itself
        return _Trained(training, lines)
    before = _trained(str(first))
    seen = {name: before.lines[-1].get(name, 0) for name in _COUNTED} if before.lines else {}
    later = ({**line, **{name: line[name] + seen[name] for name in seen if name in line}} for line in lines)
    return _Trained(training.model_copy(update={"first": before.training}), [*before.lines, *later])


def _release_player(name: str, description: str, search: str | None) -> None:
    """Let a player of its name use a released model, one ply deep or by another search, unless there is one."""
    path = PLAYERS / f"{name}.toml"
    if not path.exists():
        text = f'kind = "search"\ndescription = "{description}"\n[evaluator]\nmodel = "{name}"\n'
        write_atomically(path, text if search is None else f'{text}[search]\nkind = "{search}"\n')


# Matches that were played before


class MatchResult(BaseModel):
    """Those parts of what ``katachi match --json`` prints that a card keeps."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    opponent: str = Field(alias="b", min_length=1, max_length=1000)
    games: int = Field(ge=1)
    rate: float = Field(alias="win_rate_a", ge=0, le=1)
    interval: tuple[float, float] = Field(alias="interval_a")

    def metric(self) -> tuple[str, Metric]:
        low, high = self.interval
        return f"win rate against {_name_opponent(self.opponent)}", Metric(
            value=self.rate, low=low, high=high, games=self.games
        )


def _name_opponent(spec: str) -> str:
    """A player as a card calls it: the level of GNU Go says more than its command."""
    command = spec.removeprefix("gtp:")
    level = re.search(r"\bgnugo\b.*--level (\d+)", command)
    return f"GNU Go level {int(level[1])}" if level else command


def read_result(path: Path) -> MatchResult:
    """What a match printed; raises ModelError if the file is something else."""
    with path.open("rb") as file:
        text = file.read(_MAX_RESULT_BYTES)
    try:
        return MatchResult.model_validate_json(text)
    except ValidationError:
        raise ModelError(f"{path} is not what katachi match --json prints") from None
