"""Lessons: a pupil learns from nothing while somebody watches, and can be played against while it learns.

A system may offer one (``System.lessons``); the page in the browser shows its choices as sliders, its progress, and the
pupil. After every piece of a lesson the pupil is on disk as a player ``player-GAMES.toml`` with files of its own,
because somebody may just be playing against the one before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final, NamedTuple

from katachi.core.drawing import Figure

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
