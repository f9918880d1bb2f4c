"""A lesson: a pupil learns 5×5 Go from nothing by self-play, and can be played against while it learns.

The lesson is a job for a worker process. After every piece of it the pupil is put on disk as a model and a player, in
files of their own, because somebody may just be playing against the one before.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from katachi.core.cards import Metric, Training
from katachi.core.contracts import Floats
from katachi.core.disk import write_atomically
from katachi.core.drawing import describe_shape, draw_shape, format_weight
from katachi.core.models import save_linear
from katachi.go.rules import Rules
from katachi.shapes.alp import play_against_alp
from katachi.shapes.drawing import largest_shapes
from katachi.shapes.learner import TdLearner, TdSettings
from katachi.shapes.model import LinearModel, describe_linear
from katachi.web.engines import Reporter
from katachi.web.learned import Figure

SIZE: Final = 5
SHAPES: Final = {1: ("1x1",), 2: ("1x1", "2x1", "2x2"), 3: ("1x1", "2x1", "2x2", "3x2", "3x3")}
_FIRST_GAMES: Final = 100  # before one looks at the pupil for the first time
_GROWTH: Final = 0.35  # so many of the games so far come before one looks again
_TEST_GAMES: Final = 200
_TEST_PLIES: Final = 2  # random moves before a test game: greedy players would repeat themselves
_SHOWN: Final = 10  # shapes
_PLAYER: Final = re.compile(r"player-(\d+)\.toml")


class LessonSettings(BaseModel):
    """What a teacher may choose."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    games: int = Field(default=20_000, ge=_FIRST_GAMES, le=1_000_000)
    step_size: float = Field(default=0.3, gt=0, le=10)
    largest: int = Field(default=2, ge=1, le=3)  # the largest shapes have so many lines across
    seed: int = Field(default=0, ge=0)

    def learning(self) -> TdSettings:
        """The same as the learner wants it: our own recipe."""
        sets = tuple(f"{place} {size}" for place in ("LI", "LD") for size in SHAPES[self.largest])
        return TdSettings(
            size=SIZE,
            sets=sets,
            agents=1,
            gradient="logistic",
            step_size=self.step_size,
            average_from=0.5,
            seed=self.seed,
        )


class Progress(NamedTuple):
    """How far a lesson is: games played, the share won against the average liberty player, the strongest shapes."""

    games: int
    wins: float
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class LessonJob:
    """Teach a pupil in a folder; reports Progress whenever one looks at it."""

    settings: LessonSettings
    folder: Path

    def run(self, report: Reporter, stop: Event) -> Progress:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        learner = TdLearner(self.settings.learning(), self.settings.games)
        while True:
            piece = max(_FIRST_GAMES, int(_GROWTH * learner.games))
            learner.train(min(piece, self.settings.games - learner.games))
            progress = self._look(learner)
            if learner.games >= self.settings.games or stop.is_set():
                return progress
            report(progress)

    def _look(self, learner: TdLearner) -> Progress:
        weights: Floats = learner.averaged_weights[0]
        seed = int(np.random.SeedSequence((self.settings.seed, learner.games)).generate_state(1)[0])
        won = play_against_alp(learner.features, weights, _TEST_GAMES, seed, random_plies=_TEST_PLIES)
        progress = Progress(learner.games, won / _TEST_GAMES, _draw(learner, weights))
        _keep(self.folder, LinearModel(learner.features, weights), progress, self.settings)
        return progress


def _draw(learner: TdLearner, weights: Floats) -> tuple[Figure, ...]:
    """The shapes that may lie anywhere, the strongest first, whatever their size."""
    names = [name for name in learner.settings.sets if name.startswith("LI")]
    shapes = [shape for row in largest_shapes(learner.features, weights, _SHOWN, names) for shape in row.shapes]
    strongest = sorted(shapes, key=lambda shape: -abs(shape.weight))[:_SHOWN]
    return tuple(
        Figure(draw_shape(shape.shape, describe_shape(shape)), format_weight(shape.weight)) for shape in strongest
    )


def _keep(folder: Path, model: LinearModel, progress: Progress, settings: LessonSettings) -> None:
    """Put the pupil on disk; the player comes last, and of the older ones the last stays."""
    older = _players(folder)[:-1]
    path = folder / f"model-{progress.games}"
    training = Training(games=progress.games, seed=settings.seed, data="self-play", settings=settings.model_dump())
    metrics = {"win rate against alp, one ply": Metric(value=progress.wins)}
    save_linear(path, model, describe_linear(model, Rules(), training, metrics))
    spec = f'kind = "search"\nname = "pupil"\n[evaluator]\nmodel = {json.dumps(str(path.resolve()))}\n'
    write_atomically(folder / f"player-{progress.games}.toml", spec)
    for player in older:
        player.unlink(missing_ok=True)
        shutil.rmtree(folder / player.stem.replace("player", "model"), ignore_errors=True)


def _players(folder: Path) -> list[Path]:
    """The players of a lesson, the latest last."""
    found = [(int(match[1]), path) for path in folder.glob("player-*.toml") if (match := _PLAYER.fullmatch(path.name))]
    return [path for _, path in sorted(found)]


def find_pupil(folder: Path) -> Path | None:
    """The latest player of a lesson, None if there is none."""
    players = _players(folder)
    return players[-1] if players else None
