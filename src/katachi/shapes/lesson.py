"""The lesson of shapes: a pupil learns 5×5 Go from nothing by self-play."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Final

import numpy as np
from pydantic import Field

from katachi.core.cards import Metric, Strict, Training
from katachi.core.contracts import Floats
from katachi.core.disk import write_atomically
from katachi.core.drawing import Figure, list_figures
from katachi.core.linear import LinearModel, describe_linear, save_linear
from katachi.core.training import Choice, Choices, Lesson, LessonProgress, list_pupils
from katachi.go.rules import Rules
from katachi.shapes.drawing import largest_shapes
from katachi.shapes.learner import TdLearner, TdSettings
from katachi.shapes.self_play import play_against_alp

_SIZE: Final = 5
_SHAPES: Final = {1: ("1x1",), 2: ("1x1", "2x1", "2x2"), 3: ("1x1", "2x1", "2x2", "3x2", "3x3")}
_FIRST_GAMES: Final = 100  # before one looks at the pupil for the first time
_GROWTH: Final = 0.35  # so many of the games so far come before one looks again
_TEST_GAMES: Final = 200
_TEST_PLIES: Final = 2  # random moves before a test game: greedy players would repeat themselves
_SHOWN: Final = 10  # shapes


class LessonSettings(Strict):
    """What a teacher may choose."""

    games: int = Field(default=20_000, ge=_FIRST_GAMES, le=1_000_000)
    step_size: float = Field(default=0.3, gt=0, le=10)
    largest: int = Field(default=2, ge=1, le=3)  # the largest shapes have so many lines across
    seed: int = Field(default=0, ge=0)

    def learning(self) -> TdSettings:
        """The same as the learner wants it: our own recipe."""
        sets = tuple(f"{place} {size}" for place in ("LI", "LD") for size in _SHAPES[self.largest])
        return TdSettings(
            size=_SIZE,
            sets=sets,
            agents=1,
            gradient="logistic",
            step_size=self.step_size,
            average_from=0.5,
            seed=self.seed,
        )


def teach(choices: Choices, folder: Path, report: Callable[[LessonProgress], None], stop: Event) -> LessonProgress:
    """Teach a pupil in a folder, which is emptied first; raises ValidationError if the choices are not possible."""
    settings = LessonSettings.model_validate(dict(choices))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    learner = TdLearner(settings.learning(), settings.games)
    while True:
        piece = max(_FIRST_GAMES, int(_GROWTH * learner.games))
        learner.train(min(piece, settings.games - learner.games))
        progress = _test(learner, settings, folder)
        if learner.games >= settings.games or stop.is_set():
            return progress
        report(progress)


def _test(learner: TdLearner, settings: LessonSettings, folder: Path) -> LessonProgress:
    """Look how good the pupil is, and keep it."""
    weights: Floats = learner.averaged_weights[0]
    seed = int(np.random.SeedSequence((settings.seed, learner.games)).generate_state(1)[0])
    won = play_against_alp(learner.features, weights, _TEST_GAMES, seed, random_plies=_TEST_PLIES)
    progress = LessonProgress(learner.games, won / _TEST_GAMES, _draw(learner, weights))
    _keep(folder, LinearModel(learner.features, weights), progress, settings)
    return progress


def _draw(learner: TdLearner, weights: Floats) -> tuple[Figure, ...]:
    """The shapes that may lie anywhere, the strongest first, whatever their size."""
    names = [name for name in learner.settings.sets if name.startswith("LI")]
    shapes = [shape for row in largest_shapes(learner.features, weights, _SHOWN, names) for shape in row.shapes]
    return list_figures(sorted(shapes, key=lambda shape: -abs(shape.weight))[:_SHOWN])


def _keep(folder: Path, model: LinearModel, progress: LessonProgress, settings: LessonSettings) -> None:
    """Put the pupil on disk; the player comes last, and of the older ones the last stays."""
    older = list_pupils(folder)[:-1]
    path = folder / f"model-{progress.games}"
    training = Training(games=progress.games, seed=settings.seed, data="self-play", settings=settings.model_dump())
    metrics = {"win rate against alp, one ply": Metric(value=progress.wins)}
    save_linear(path, model, describe_linear(model, Rules(), training, metrics))
    spec = f'kind = "search"\nname = "pupil"\n[evaluator]\nmodel = {json.dumps(str(path.resolve()))}\n'
    write_atomically(folder / f"player-{progress.games}.toml", spec)
    for player in older:
        player.unlink(missing_ok=True)
        shutil.rmtree(folder / player.stem.replace("player", "model"), ignore_errors=True)


LESSON: Final = Lesson(
    lead="It knows the rules of Go and nothing else. It plays 5×5 against itself, and learns which shapes win. "
    "Play against it whenever you like, while it learns.",
    size=_SIZE,
    choices=(
        Choice(
            "games", "{value:,} games against itself", (1_000, 3_000, 10_000, 30_000, 100_000, 300_000), default=10_000
        ),
        Choice(
            "step_size",
            "Step size {value:.2f}: how much a single game changes its mind",
            tuple(round(0.05 * step, 2) for step in range(1, 21)),
            default=0.3,
        ),
        Choice("largest", "Shapes up to {value}×{value}: what it can see at once", tuple(_SHAPES), default=2),
    ),
    teach=teach,
)
