"""The networks of a run, learned once for all tables: the paper's, the same seen by the mover, and our stronger one.

```
RUN/nets/NET-SET/       a training run, which resumes after an interruption
```
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from katachi.core.contracts import Ints
from katachi.core.models import WEIGHTS, open_model, pretrained_models
from katachi.core.training import Machine, MetricLine
from katachi.data.dataset import LABELS, Dataset
from katachi.papers.experiment import Budget, ExperimentError, Json, Scope, position_watcher
from katachi.sgf.files import Split
from katachi.sgf.record import UNKNOWN, grade_of
from katachi.territory.evaluator import TerritoryCard
from katachi.territory.learner import TerritoryTraining
from katachi.territory.network import DagRnnConfig
from katachi.territory.train import train_territory

# The games that are learned from and asked about: a labeled set, and others of any size to test with.

STRONG: Final = "6d"  # whose moves on 19×19 are asked for, if the set tells ranks
LARGE: Final = 19


@dataclass(frozen=True, slots=True)
class Sets:
    """A set with labels, on a small board, which networks learn from, and all sets to test with."""

    labeled: Dataset
    given: tuple[Dataset, ...]

    @property
    def size(self) -> int:
        """The board that is learned on."""
        return self.labeled.only_size()

    def of_size(self, size: int) -> Dataset | None:
        """The first set that has even games of a size both to fit a temperature with and to test with."""
        splits = (Split.VALIDATION, Split.TEST)
        return next((games for games in self.given if all(even_games(games, size, s).size for s in splits)), None)

    def labeled_sets(self) -> list[Dataset]:
        """All sets of which it is known who owned what."""
        return [games for games in self.given if _is_labeled(games)]

    def describe(self) -> Json:
        """What a document tells of what was learned from."""
        chosen = {split: self.labeled.select(split=split, labeled=True).size for split in Split}
        return {
            "name": self.labeled.path.name,
            "size": self.size,
            "games": int(chosen[Split.TRAINING]),
            "test games": int(chosen[Split.TEST]),
        }


def require_sets(scope: Scope) -> Sets:
    """The sets that were given; raises ExperimentError if none can be learned from, DatasetError if one is damaged."""
    if not scope.sets:
        raise ExperimentError("this table learns from games: give --data SET (see: katachi data label --help)")
    given = tuple(Dataset.open(path.resolve()) for path in scope.sets)
    labeled = [games for games in given if _is_labeled(games)]
    if not labeled:
        raise ExperimentError("none of these sets says who owned the points: katachi data label SET finds that out")
    smallest = min(labeled, key=lambda games: games.only_size())
    for split in Split:
        if not smallest.select(split=split, labeled=True).size:
            raise ExperimentError(f"{smallest.path} has no labeled games for {split}")
    return Sets(smallest, given)


def _is_labeled(games: Dataset) -> bool:
    return (games.path / LABELS).exists()


def even_games(games: Dataset, size: int, split: Split) -> Ints:
    """The even games of a size and split; on the large board those of strong players, if ranks are known at all."""
    chosen = games.select(size, split)
    rows = games.games[chosen]
    even = (rows["handicap"] == 0) & (rows["stones"] == 0)
    grades = np.minimum(rows["black_grade"], rows["white_grade"])  # that of the weaker one, or unknown
    if size >= LARGE and (grades[even] != UNKNOWN).any():
        even &= grades >= grade_of(STRONG)
    return np.asarray(chosen[even])


def who_played(*names: str) -> str:
    """Between whom games are, as far as the names of their set and of its sources say it."""
    said = " ".join(Path(name).name for name in names)
    return "programs" if "engine" in said else "people and programs" if "bots" in said else "people"


def describe_sets(data: Json) -> str:
    """One sentence about what was learned from."""
    board = f"{data['size']}×{data['size']}"
    return (
        f"Networks learn from {data['games']:,} games on {board} of the set `{data['name']}`; "
        f"{data['test games']:,} others are for testing, which nothing is tuned on."
    )


DIFFERENCES: Final = (
    "The paper learned from 3,166 games on 9×9, most of them of amateurs. Ours are those of the set above; who "
    "owned what was marked by the players or found out by GNU Go or playouts, and games are left out whose result does "
    "not follow from it.",
    "The paper's network went through all games about 50 times, with a step after every ten positions. Ours learn "
    "by Adam (Kingma and Ba 2015) from 32 random positions a step, with a step size that falls to 0; as many positions "
    "as the table says. How weights begin it does not say: ours are uniform, by Glorot, and biases begin at 0.",
    "The paper says what a point's inputs are but neither how many nor by which constants influence spreads: ours are "
    "69 a point, which fits its count of parameters.",
    "The hidden units of our output network are averaged over the four flips of the board, so that flips of a board "
    "give exactly those of the output. As we read the paper, its output network sees each point once, without a mean.",
    "Nothing in the paper's list of inputs says whose turn it is. The network `paper` is not given it either; `paper, "
    "by mover` is the same network, but sees all boards with the stones of whoever has just moved as black, and so "
    "learns what a move leaves to the other side.",
    "The network `strong` is our own: gated cells, two sweeps, 32 hidden units, 16 channels, policies of the next "
    "move, boards seen by the mover, and the same for a board and its mirror image in the diagonal: it averages both "
    "orders of a point's predecessors before the nonlinearity.",
)


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
    by_policy: bool = False  # whether moves are evaluated by its own policies, not by areas

    @property
    def key(self) -> str:
        """What tells it from others in names of files."""
        name = self.model.parent.name if self.model.name == "model" else self.model.name
        return f"{name}{'-policy' * self.by_policy}-{open_model(self.model).card.files[WEIGHTS][:8]}"

    def evaluating_by_policy(self) -> Learned:
        """The same network, asked for its own policies."""
        return replace(self, title=f"{self.title}, by its policies", by_policy=True)

    def to_json(self) -> Json:
        return {"title": self.title, "positions": self.positions}


def learn(kind: Kind, sets: Sets, scope: Scope) -> Learned:
    """Learn a network, or what is missing of it; ``--jobs`` is the threads that learn."""
    positions = POSITIONS[scope.budget][kind]
    path = scope.folder.parent / NETS / f"{kind}-{positions}-{sets.labeled.digest[:8]}"
    lines: list[MetricLine] = []
    tick = position_watcher(f"learning {TITLES[kind]}", positions, scope)
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
    """Whether a network of some results is the paper's, given whose turn it is or not."""
    return str(net["title"]).startswith("paper")


def pretrained_networks(*, by_policy: bool = False) -> list[Learned]:
    """The bundled territory networks; asked for their own policies, on request, if they have any."""
    found = []
    for path in pretrained_models():
        card = open_model(path).card
        if isinstance(card, TerritoryCard):
            net = Learned(f"`{path.name}`", path, card.training.all_positions)
            found.append(net.evaluating_by_policy() if by_policy and card.config.policy else net)
    return found
