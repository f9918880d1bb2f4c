"""Runs that can be watched: what a training or a match has written so far. They are read and never touched."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from katachi.core.training import METRICS
from katachi.sgf import SgfError, SgfGame, load_sgf

_GAMES: Final = "games.jsonl"
_MOST_BYTES: Final = 32 << 20
_SHARES: Final = (
    "validation_top_1",
    "validation_top_5",
    "validation_value_hits",
    "validation_right",
    "top_1",
)  # of a network, 0 to 1
_STEPS: Final = ("games", "positions")  # how far a training is


class Curve(NamedTuple):
    """A measurement by steps of training."""

    name: str
    points: tuple[tuple[float, float], ...]


class Score(NamedTuple):
    """A player in a match: games won, and played."""

    name: str
    wins: float
    games: int


class WatchedRun(NamedTuple):
    """A run directory: a training has curves, a match has scores."""

    name: str
    path: Path
    status: str
    changed: float  # seconds since the epoch

    @property
    def is_match(self) -> bool:
        return (self.path / _GAMES).is_file()

    def scores(self) -> list[Score]:
        """Who won how many games so far."""
        wins: Counter[str] = Counter()
        played: Counter[str] = Counter()
        for line in _read_lines(self.path / _GAMES):
            names = {"B": str(line["black"]["name"]), "W": str(line["white"]["name"])}
            played.update(names.values())
            winner = names.get(str(line["result"])[:1])
            if winner is not None:
                wins[winner] += 1
        return [Score(name, wins[name], count) for name, count in sorted(played.items())]

    def last_game(self) -> SgfGame | None:
        """The latest game of a match."""
        files = sorted((self.path / "games").glob("*.sgf"), key=lambda path: path.stat().st_mtime)
        try:
            return load_sgf(files[-1])[0] if files else None
        except (SgfError, IndexError):
            return None


def read_curves(folder: Path) -> list[Curve]:
    """What was measured in the course of a training, each by how far it was; nothing where that is not told."""
    found: dict[str, list[tuple[float, float]]] = {}
    for line in _read_lines(folder / METRICS):
        step = next((float(line[name]) for name in _STEPS if name in line), None)
        if step is None:
            continue
        for name, value in _shares(line):
            found.setdefault(name, []).append((step, value))
    return [Curve(name, tuple(points)) for name, points in found.items()]


def list_runs(folder: Path) -> list[WatchedRun]:
    """The runs in a folder, the last changed first."""
    found = [run for path in _folders(folder) if (run := _describe(path)) is not None]
    return sorted(found, key=lambda run: -run.changed)


def find_run(folder: Path, name: str) -> WatchedRun | None:
    """A run by its name: one that is in the list, so that a name is never a path."""
    return next((run for run in list_runs(folder) if run.name == name), None)


def _folders(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from (path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())


def _describe(path: Path) -> WatchedRun | None:
    for name in (METRICS, _GAMES):
        file = path / name
        if file.is_file():
            return WatchedRun(path.name, path, _read_status(path / "run.json"), file.stat().st_mtime)
    return None


def _read_status(path: Path) -> str:
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["status"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a file that somebody may be writing."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            return
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return
    for line in text.splitlines():
        try:
            values = json.loads(line)
        except ValueError:
            continue
        if isinstance(values, dict):
            yield values


def _shares(line: dict[str, Any]) -> Iterator[tuple[str, float]]:
    rates = line.get("win_rates")
    if isinstance(rates, list) and rates:
        yield "wins against alp", sum(map(float, rates)) / len(rates)
    for name in _SHARES:
        if isinstance(line.get(name), int | float):
            yield name.replace("_", " "), float(line[name])
