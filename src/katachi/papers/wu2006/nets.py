"""The networks of a run, learned once for all tables: the paper's, the same seen by the mover, and our stronger one.

```
RUN/nets/NET-SET/       a training run, which goes on after an interruption
```
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from katachi.core.models import open_model, shipped_models
from katachi.core.training import MetricLine
from katachi.core.weights import WEIGHTS
from katachi.papers.experiment import Budget, Json, Progress, Scope
from katachi.papers.wu2006.games import Sets
from katachi.territory.dag_rnn_cards import DagRnnCard
from katachi.territory.dag_rnn_config import DagRnnConfig
from katachi.territory.learner import Losses, TerritoryTraining
from katachi.territory.territory_training import Machine, train_territory

NETS: Final = "nets"
_POLICY_LOSS: Final = 3.0  # moves are about as hard to tell as all points together
Kind = Literal["paper", "mover", "strong"]
TITLES: Final[dict[Kind, str]] = {"paper": "paper", "mover": "paper, by mover", "strong": "strong"}
PAPERS: Final[tuple[Kind, ...]] = ("paper", "mover")
POSITIONS: Final[dict[Budget, dict[Kind, int]]] = {
    Budget.SMOKE: {"paper": 3_200, "mover": 3_200, "strong": 3_200},
    Budget.HOUR: {"paper": 1_000_000, "mover": 1_000_000, "strong": 500_000},
    Budget.FULL: {"paper": 7_000_000, "mover": 7_000_000, "strong": 4_000_000},
}
EVALUATIONS: Final = 20  # of held-out positions in the course of a training, and so checkpoints
VALIDATION_POSITIONS: Final = {Budget.SMOKE: 200, Budget.HOUR: 2000, Budget.FULL: 5000}


@dataclass(frozen=True, slots=True)
class Learned:
    """A network that can be asked, what it is called, and how its training went."""

    title: str
    model: Path
    positions: int | None  # that it learned from
    lines: tuple[Json, ...] = ()
    by_policy: bool = False  # whether moves are judged by its own policies, not by areas

    @property
    def key(self) -> str:
        """What tells it from others in names of files."""
        name = self.model.parent.name if self.model.name == "model" else self.model.name
        return f"{name}{'-policy' * self.by_policy}-{_digest(self.model)}"

    def judging_by_policy(self) -> Learned:
        """The same network, asked for its own policies."""
        return replace(self, title=f"{self.title}, by its policies", by_policy=True)

    def to_json(self) -> Json:
        return {"title": self.title, "positions": self.positions}


def _digest(model: Path) -> str:
    return open_model(model).card.files[WEIGHTS][:8]


def learn(kind: Kind, sets: Sets, scope: Scope) -> Learned:
    """Learn a network, or what is missing of it; ``--jobs`` is the threads that learn."""
    positions = POSITIONS[scope.budget][kind]
    path = scope.folder.parent / NETS / f"{kind}-{positions}-{sets.labeled.digest[:8]}"
    lines: list[MetricLine] = []
    tick = _ticker(f"learning {TITLES[kind]}", positions, scope)
    machine = Machine(scope.workers.jobs)
    training = settings_of(kind, positions, sets, scope.budget)
    train_territory(training, path, lines.append, "katachi reproduce wu2006", machine, tick)
    return Learned(TITLES[kind], path / "model", positions, tuple(dict(line.values) for line in lines))


def settings_of(kind: Kind, positions: int, sets: Sets, budget: Budget) -> TerritoryTraining:
    """How a network learns."""
    config = DagRnnConfig.strong() if kind == "strong" else DagRnnConfig(by_mover=kind == "mover")
    values: dict[str, Any] = config.model_dump() | {
        "policy": kind == "strong",
        "policy_loss": _POLICY_LOSS,
        "data": str(sets.labeled.path),
        "positions": positions,
        "evaluate_every": max(1, positions // EVALUATIONS),
        "validation_positions": VALIDATION_POSITIONS[budget],
    }
    return TerritoryTraining(**values)


def is_the_papers(net: Json) -> bool:
    """Whether a network of some results is the paper's, told whose turn it is or not."""
    return str(net["title"]).startswith("paper")


def shipped(*, by_policy: bool = False) -> list[Learned]:
    """The territory networks that ship with katachi; asked for their own policies, on request, if they have any."""
    found = []
    for path in shipped_models():
        card = open_model(path).card
        if isinstance(card, DagRnnCard):
            net = Learned(f"`{path.name}`", path, card.training.all_positions)
            found.append(net.judging_by_policy() if by_policy and card.config.policy else net)
    return found


def _ticker(name: str, total: int, scope: Scope) -> Callable[[int, Losses], None]:
    """Tells the watcher how far a training is; the clock starts with the first batch that is learned from now."""
    begun: list[tuple[int, float]] = []

    def tick(positions: int, losses: Losses) -> None:  # noqa: ARG001 — the run keeps what was measured
        begun[:] = begun or [(positions, time.monotonic())]
        now, seconds = positions - begun[0][0], time.monotonic() - begun[0][1]
        scope.watch(Progress(name, positions, total, positions, total, now, seconds, unit="positions"))

    return tick
