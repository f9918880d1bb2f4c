"""The CRBMs of this paper and the linear values over features, each learned once for all tables of a run.

```
RUN/learned/KIND-SEED-…/crbm/     a training run, which goes on after an interruption
RUN/learned/KIND-SEED-…/value/    the same for the value over its features
```
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from katachi.crbm.value import TEMPLATES, ValueTraining, train_value
from katachi.papers.experiment import Budget, Json, Run, Scope, do_runs
from katachi.papers.games import Games

if TYPE_CHECKING:
    from katachi.crbm.train import CrbmTraining

LEARNED: Final = "learned"
PAPER_GAMES: Final = 1_000
EPSILON: Final = 0.1
KOMI: Final = 5.5
_KERNEL: Final = 3  # points a side
_BATCH: Final = 100  # boards of 9×9
_VALIDATION_POSITIONS: Final = 2048

_COMMAND: Final = "katachi reproduce largman2010"
_EVALUATIONS: Final = 10  # of each training


class Kind(StrEnum):
    """What boards are seen by."""

    CRBM = "crbm"
    ORIENTED = "oriented-crbm"  # kernels in any of their eight orientations
    REAL = "real-crbm"  # visible units are means
    TEMPLATES = TEMPLATES  # all of 2×2


@dataclass(frozen=True, slots=True)
class Plan:
    """How long is learned: positions of 9×9 by a CRBM, games and passes over them by a value."""

    positions: int
    games: int
    passes: int

    def boards(self, size: int) -> int:
        """How many a CRBM learns from on this size."""
        return round(self.positions * board_share(size))


def board_share(size: int) -> float:
    """How much less than on 9×9 is done with a larger board: it is windows that kernels learn, and it has more."""
    windows, usual = (max(1, lines - _KERNEL + 1) ** 2 for lines in (size, 9))
    return min(1.0, usual / windows)


PLANS: Final = {
    Budget.SMOKE: Plan(2_000, 20, 1),
    Budget.HOUR: Plan(30_000, PAPER_GAMES, 3),
    Budget.FULL: Plan(1_000_000, PAPER_GAMES, 10),
}


def how_long(games: Games, scope: Scope) -> str:
    """What tells the learning of one budget and set from that of others, in names."""
    plan = PLANS[scope.budget]
    return f"{plan.positions}-{plan.games}-{plan.passes}-{games.digest}"


@dataclass(frozen=True, slots=True)
class Subject:
    """Features, and the seed that they and their value are learned with."""

    kind: Kind
    seed: int = 0

    @property
    def name(self) -> str:
        return f"{self.kind.value}-{self.seed}"

    def folder(self, games: Games, scope: Scope) -> Path:
        """Where it is learned, whichever table asks."""
        return scope.folder.parent.resolve() / LEARNED / f"{self.name}-{how_long(games, scope)}"

    def features(self, games: Games, scope: Scope) -> str:
        """The features, as a value's training names them."""
        return TEMPLATES if self.kind is Kind.TEMPLATES else str(self.folder(games, scope) / "crbm" / "model")

    def value(self, games: Games, scope: Scope) -> Path:
        """The model with the value."""
        return self.folder(games, scope) / "value" / "model"


def learn_features(subjects: Iterable[Subject], games: Games, scope: Scope) -> None:
    """Learn CRBMs, or those that are missing."""
    boards = PLANS[scope.budget].boards(games.size)
    crbms = [subject for subject in subjects if subject.kind is not Kind.TEMPLATES]
    runs = [
        Run(
            f"{subject.folder(games, scope).name} crbm",
            partial(_learn_crbm, data=str(games.dataset.path), size=games.size, path=subject.folder(games, scope)),
            {"kind": subject.kind.value, "seed": subject.seed, "positions": boards},
            boards,
        )
        for subject in crbms
    ]
    do_runs(runs, scope.folder.parent / LEARNED, scope.workers, scope.watch)


def learn_values(subjects: Iterable[Subject], games: Games, scope: Scope) -> None:
    """Learn what the features are worth from recorded games, and first the features."""
    subjects = list(subjects)
    learn_features(subjects, games, scope)
    runs = [_value_run(subject, games, scope) for subject in subjects]
    do_runs(runs, scope.folder.parent / LEARNED, scope.workers, scope.watch)


def _value_run(subject: Subject, games: Games, scope: Scope) -> Run:
    plan, folder = PLANS[scope.budget], subject.folder(games, scope)
    work = partial(
        _learn_value,
        features=subject.features(games, scope),
        data=str(games.dataset.path),
        size=games.size,
        path=folder / "value",
    )
    arguments = {"seed": subject.seed, "games": plan.games, "passes": plan.passes}
    return Run(f"{folder.name} value", work, arguments, plan.games * plan.passes)


def crbm_training(kind: Kind, seed: int, positions: int, data: str, size: int) -> CrbmTraining:
    """How a CRBM of this kind learns; real units begin smaller and take smaller steps.

    Slopes are summed over a board's windows: batches and steps on larger boards are smaller, as there are more of them.
    """
    from katachi.crbm.train import CrbmTraining  # torch takes seconds to load

    real, oriented, share = kind is Kind.REAL, kind is Kind.ORIENTED, board_share(size)
    return CrbmTraining(
        data=data,
        size=size,
        visible="real" if real else "multinomial",
        units="oriented-or-off" if oriented else "binary",
        spread=0.01 if real else 0.3,
        step_size=(0.001 if real else 0.05) * share,
        positions=positions,
        batch=max(1, round(_BATCH * share)),
        validation_positions=round(_VALIDATION_POSITIONS * share),
        seed=seed,
        evaluate_every=max(1, positions // _EVALUATIONS),
    )


def _learn_crbm(kind: str, seed: int, positions: int, data: str, size: int, path: Path) -> Json:
    from katachi.crbm.train import train_crbm

    lines: list[dict[str, float]] = []
    settings = crbm_training(Kind(kind), seed, positions, data, size)
    train_crbm(settings, path / "crbm", lambda line: lines.append(dict(line.values)), _COMMAND)
    return lines[-1]


def _learn_value(seed: int, games: int, passes: int, features: str, data: str, size: int, path: Path) -> Json:
    lines: list[dict[str, float]] = []
    settings = ValueTraining(
        features=features,
        data=data,
        size=size,
        games=games,
        passes=passes,
        seed=seed,
        komi=KOMI,
        epsilon=EPSILON,
        evaluate_every=max(1, games * passes // _EVALUATIONS),
    )
    train_value(settings, path, lambda line: lines.append(dict(line.values)), _COMMAND)
    return lines[-1]
