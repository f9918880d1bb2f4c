"""What ``katachi train`` needs: settings from a file and the command line, and runs side by side."""

from __future__ import annotations

import difflib
import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from katachi.cli._training_progress import RunProgress, TrainingProgress
from katachi.core.training import MetricLine, TensorBoard, TrainingError
from katachi.shapes.train import ShapeTraining, train_shapes

Settings = TypeVar("Settings", bound=BaseModel)

_EVALUATIONS = 20  # at least, of a run that learns from games, unless it is said how often


def read_training(file: Path | None, options: Mapping[str, Any], changes: Sequence[str]) -> ShapeTraining:
    """Settings from a file, then from options, then from ``key=value``; raises TrainingError with one sentence."""
    values = collect_values(file, options, changes)
    games = values.get("games")
    if "evaluate_every" not in values and isinstance(games, int):
        values["evaluate_every"] = max(1, games // 30)
    return check_settings(ShapeTraining, values)


def read_learning(
    kind: type[Settings], file: Path | None, options: Mapping[str, Any], changes: Sequence[str], made_by: str
) -> Settings:
    """The same for learning from a set of games, which ``made_by`` makes, with evaluations all along the run."""
    values = collect_values(file, options, changes)
    if "data" not in values:
        raise TrainingError(f"there is nothing to learn from: give --data SET (see: {made_by} --help)")
    if "evaluate_every" not in values and isinstance(positions := values.get("positions"), int):
        most = kind.model_fields["evaluate_every"].default
        values["evaluate_every"] = min(most, max(1, positions // _EVALUATIONS))
    return check_settings(kind, values)


def values_of_run(run: Path, given: Sequence[object]) -> dict[str, Any]:
    """The settings that a run was begun with; raises TrainingError if it is none, or if other settings are given."""
    if any(value not in (None, []) for value in given):
        raise TrainingError("--resume takes all settings from the run: give no others")
    config = run / "config.toml"
    if not config.exists():
        raise TrainingError(f"{run} is no run that could go on")
    return collect_values(config, {}, [])


def collect_values(file: Path | None, options: Mapping[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    """The values of a file, then of options that were given, then of ``key=value``, the later ones over the earlier."""
    values: dict[str, Any] = _read_file(file) if file else {}
    values |= {key: value for key, value in options.items() if value is not None}
    for change in changes:
        values |= _parse_change(change)
    return values


def require_torch() -> None:
    """Raise TrainingError if networks cannot be trained here; play does without torch."""
    if find_spec("torch") is None or find_spec("onnx") is None:
        raise TrainingError("networks are trained with torch, which is not here: pip install 'katachi[train]'")


def check_settings(kind: type[Settings], values: Mapping[str, Any]) -> Settings:
    """Settings of a kind; raises TrainingError with one sentence."""
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise TrainingError(_explain(error, kind)) from None


def _read_file(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise TrainingError(f"cannot read {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TrainingError(f"{file} is no TOML file: {error}") from None


def _parse_change(change: str) -> dict[str, Any]:
    """``key=value`` with a TOML value; a word without quotes is a text."""
    key, equals, value = change.partition("=")
    if not (equals and key.strip().isidentifier()):
        raise TrainingError(f"--set {change}: say KEY=VALUE")
    try:
        return {key.strip(): tomllib.loads(f"value = {value}")["value"]}
    except tomllib.TOMLDecodeError:
        return {key.strip(): value}


def _explain(error: ValidationError, kind: type[BaseModel]) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, kind.model_fields, n=1)
        return f"there is no setting {key}" + (f"; did you mean {near[0]}?" if near else "")
    return f"{key}: {first['msg']}".removeprefix(": ").replace("Value error, ", "")


def training_folder(name: str, settings: BaseModel) -> Path:
    """Where a run goes if nobody says: one folder for each set of settings, so that the same command goes on."""
    digest = hashlib.sha256(json.dumps(settings.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()[:8]
    return Path("runs") / f"{name}-{digest}"


# Runs


def run_folders(settings: ShapeTraining, runs: int, folder: Path) -> dict[Path, ShapeTraining]:
    """One run in the folder itself; several in one below it for each seed from the first on."""
    if runs == 1:
        return {folder: settings}
    seeds = range(settings.seed, settings.seed + runs)
    return {folder / f"seed-{seed}": settings.model_copy(update={"seed": seed}) for seed in seeds}


def train_side_by_side(
    runs: Mapping[Path, ShapeTraining], jobs: int, command: str, *, tensorboard: bool
) -> list[RunProgress]:
    """Train all runs, ``jobs`` at a time, and return their displays.

    They are threads: compiled games let other threads run, and one display can follow them all.
    """
    from joblib import Parallel, delayed

    with TrainingProgress() as progress:
        shown = [progress.add_run(settings) for settings in runs.values()]
        work = (
            delayed(_train)(settings, folder, run, command, tensorboard=tensorboard)
            for (folder, settings), run in zip(runs.items(), shown, strict=True)
        )
        Parallel(n_jobs=jobs, backend="threading", batch_size=1, pre_dispatch=jobs)(work)
    return shown


def _train(settings: ShapeTraining, folder: Path, run: RunProgress, command: str, *, tensorboard: bool) -> None:
    with ExitStack() as stack:
        board = stack.enter_context(closing(TensorBoard(folder / "tensorboard"))) if tensorboard else None

        def watch(line: MetricLine) -> None:
            run.add(line)
            if board is not None:
                board.add(line)

        train_shapes(settings, folder, watch, command, run.tick)
