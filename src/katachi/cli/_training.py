"""What ``katachi train`` needs: settings from a file and the command line, and a display of the learning curve."""

from __future__ import annotations

import difflib
import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from katachi.arena.ratings import wilson_interval
from katachi.learning.shape_training import ShapeTraining
from katachi.learning.training_runs import MetricLine, TrainingError

_BLOCKS = "▁▂▃▄▅▆▇█"
_CURVE_LENGTH = 30


def read_training(file: Path | None, options: Mapping[str, Any], changes: Sequence[str]) -> ShapeTraining:
    """Settings from a file, then from options, then from ``key=value``; raises TrainingError with one sentence."""
    values: dict[str, Any] = _read_file(file) if file else {}
    values |= options
    for change in changes:
        values |= _parse_change(change)
    if "evaluate_every" not in values and "games" in values:
        values["evaluate_every"] = max(1, int(values["games"]) // 30)
    try:
        return ShapeTraining.model_validate(values)
    except ValidationError as error:
        raise TrainingError(_explain(error)) from None


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


def _explain(error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, ShapeTraining.model_fields, n=1)
        return f"there is no setting {key}" + (f"; did you mean {near[0]}?" if near else "")
    return f"{key}: {first['msg']}".removeprefix(": ").replace("Value error, ", "")


def training_folder(settings: ShapeTraining) -> Path:
    """Where a run goes if nobody says: one folder for each set of settings, so that the same command goes on."""
    digest = hashlib.sha256(json.dumps(settings.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()[:8]
    return Path("runs") / f"shapes-{settings.size}-{digest}"


class TrainingProgress:
    """A live line: games, time left, the learning curve and the last win rate against ALP. Quiet without a terminal."""

    def __init__(self, settings: ShapeTraining) -> None:
        self._lines: list[MetricLine] = []
        self._test_games = settings.test_games
        columns = (MofNCompleteColumn(), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task("", total=settings.games)

    def add(self, line: MetricLine) -> None:
        """Show an evaluation."""
        self._lines.append(line)
        self._progress.update(self._task, completed=line.games, description=self.summary())

    def summary(self) -> str:
        """The curve, and the last win rates with their intervals."""
        if not self._lines:
            return "nothing was learned"
        rates = [sum(line.win_rates) / len(line.win_rates) for line in self._lines]
        curve = "".join(_BLOCKS[min(int(rate * len(_BLOCKS)), len(_BLOCKS) - 1)] for rate in rates[-_CURVE_LENGTH:])
        return f"{curve} against alp: {', '.join(map(self._rate, self._lines[-1].win_rates))}"

    def _rate(self, rate: float) -> str:
        low, high = wilson_interval(rate * self._test_games, self._test_games)
        return f"{rate:.1%} ({low:.0%}–{high:.0%})"

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
