"""The paper's networks, learned by its protocol, and how well they and the bundled ones predict the test games.

```
RUN/nets/NET-SET/              a training run, which resumes after an interruption
RUN/nets/NET-SET-of-N.json     how well that network predicts N test positions
```

The tables of a run share them: what one has learned another need not learn again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from katachi.core.cards import digest_file
from katachi.core.contracts import OwnershipEvaluator, ValuingEvaluator
from katachi.core.models import find_model, open_model, pretrained_models
from katachi.go.points import Symmetry
from katachi.papers.documents import Estimate, share
from katachi.papers.experiment import Budget, ExperimentError, Json, Run, Scope, Workers, do_runs, position_watcher
from katachi.papers.tournaments import Games
from katachi.policy.evaluator import ONNX, PolicyCard
from katachi.policy.measure import Predictor
from katachi.sgf.files import Split

if TYPE_CHECKING:
    from katachi.policy.config import PolicyTraining
    from katachi.policy.learner import Losses

NETS: Final = "nets"
TEST_POSITIONS: Final = {Budget.SMOKE: 1_000, Budget.HOUR: 20_000, Budget.FULL: 50_000}

_BATCH: Final = 128
_PLAIN: Final[dict[str, Any]] = {
    "optimizer": "sgd",
    "step_size": 0.128,
    "schedule": "halvings",
    "warmup": 0.0,
    "mask_illegal": False,
}
_ADAMW: Final[dict[str, Any]] = {
    "optimizer": "adamw",
    "schedule": "cosine",
    "warmup": 0.02,
    "decay": 0.0,
}
_EVALUATIONS: Final = 20  # of held-out positions in the course of a training, and so checkpoints
_VALIDATION_POSITIONS: Final = 2048


@dataclass(frozen=True, slots=True)
class Net:
    """A network of the paper's kind, and how many positions it learns from."""

    layers: int
    filters: int
    positions: int
    planes: str = "maddison-36"
    symmetric: bool = False
    adamw: bool = False  # not by the paper's plain descent

    @property
    def shape(self) -> str:
        return f"{self.layers}x{self.filters}"

    @property
    def name(self) -> str:
        """What tells it from the others."""
        kind = "-symmetric" * self.symmetric + "-adamw" * self.adamw
        return f"{self.shape}-{self.planes}{kind}-{self.positions}"

    @property
    def title(self) -> str:
        """What a document calls it."""
        return self.shape.replace("x", "×") + ", AdamW" * self.adamw

    @property
    def _adamw_step(self) -> float:
        """Wider networks take smaller steps."""
        return 0.004 * math.sqrt(16 / self.filters)

    def training(self, games: Games) -> PolicyTraining:
        """How it learns: as section 4 of the paper has it, or in fewer positions."""
        from katachi.policy.config import PolicyTraining

        return PolicyTraining.maddison(
            layers=self.layers,
            filters=self.filters,
            planes=self.planes,
            symmetric=self.symmetric,
            size=games.size,
            data=str(games.dataset.path),
            positions=self.positions,
            batch=_BATCH,
            evaluate_every=max(1, self.positions // _EVALUATIONS),
            validation_positions=_VALIDATION_POSITIONS,
            **(_ADAMW | {"step_size": self._adamw_step} if self.adamw else _PLAIN),
        )


MAIN: Final = {  # the best network of each budget, which most tables ask
    Budget.SMOKE: Net(3, 16, 12_800),
    Budget.HOUR: Net(3, 16, 2_000_000, adamw=True),
    Budget.FULL: Net(3, 64, 4_000_000),
}


@dataclass(frozen=True, slots=True)
class Learned:
    """A network that can be asked, what it is called, and how well it predicts the test games."""

    title: str
    model: Path
    positions: int | None  # that it learned from
    tested: Json  # as ``Predicted.tally_all`` has it

    @property
    def key(self) -> str:
        """What tells it from others in names of files."""
        if self.model.name == "model":
            return self.model.parent.name
        return f"{self.model.name}-{open_model(self.model).card.files[ONNX][:8]}"

    def to_json(self) -> Json:
        return {"title": self.title, "positions": self.positions, "tested": self.tested}


def learn(nets: Iterable[Net], games: Games, scope: Scope) -> dict[Net, Learned]:
    """Learn and test networks one after another, or what is missing of it; ``--jobs`` is the threads of each."""
    folder = scope.folder.parent / NETS
    found = {}
    for net in nets:
        path = folder / f"{net.name}-{games.digest}"
        tick = position_watcher(net.name, -(-net.positions // _BATCH) * _BATCH, scope)
        work = partial(_learn_and_test, path=path, games=games, threads=scope.workers.jobs, tick=tick)
        arguments = {"net": asdict(net), "test_positions": TEST_POSITIONS[scope.budget]}
        (tested,) = _keep(Run(_tested_as(path.name, scope), work, arguments, net.positions), folder)
        found[net] = Learned(net.title, path / "model", net.positions, tested)
    return found


def pretrained_networks(size: int) -> dict[str, Path]:
    """The bundled networks for a size, by name."""
    cards = {path: open_model(path).card for path in pretrained_models()}
    return {
        path.name: path
        for path, card in cards.items()
        if isinstance(card, PolicyCard) and card.board_size in (size, None)
    }


def ask_pretrained(games: Games, scope: Scope) -> list[Learned]:
    """How well the bundled networks predict."""
    folder = scope.folder.parent / NETS
    return [_ask(name, path, games, folder, scope) for name, path in pretrained_networks(games.size).items()]


def _ask(name: str, path: Path, games: Games, folder: Path, scope: Scope) -> Learned:
    card = open_model(path).card
    work = partial(predict_test_games, path=path, games=games, threads=scope.workers.jobs)
    run_name = _tested_as(f"{name}-{card.files[ONNX][:8]}-{games.digest}", scope)
    (tested,) = _keep(Run(run_name, work, {"test_positions": TEST_POSITIONS[scope.budget]}, 1), folder)
    return Learned(f"`{name}`", path, card.training.all_positions, tested)


def accuracy(tested: Json, top: int = 1) -> Estimate:
    """The top-n accuracy in percent, with an interval over games; over positions in results of earlier versions."""
    hits, positions = tested["top"][top - 1], tested["positions"]
    count = tested["effective"][top - 1] if "effective" in tested else positions
    return share(hits * count / positions, count)


def describe_tested(tested: Json) -> str:
    """How many positions were tested with, and of how many games unless positions are taken for independent."""
    games = f" of {tested['games']:,} games" if "games" in tested else ""
    return f"{tested['positions']:,} positions{games}"


def _tested_as(name: str, scope: Scope) -> str:
    return f"{name}-of-{TEST_POSITIONS[scope.budget]}"


def _keep(run: Run, folder: Path) -> list[Json]:
    """Do a run, or take what was kept of it; it tells of itself how far it is."""
    return do_runs([run], folder, Workers(), lambda _: None)


def _learn_and_test(
    net: Json,
    test_positions: int,
    path: Path,
    games: Games,
    threads: int,
    tick: Callable[[int, Losses], None],
) -> Json:
    from katachi.core.training import Machine
    from katachi.policy.train import train_policy  # torch takes seconds to load

    command = "katachi reproduce maddison2014"
    train_policy(Net(**net).training(games), path, lambda _: None, command, Machine(threads), tick)
    return predict_test_games(test_positions, path / "model", games, threads)


def predict_test_games(test_positions: int, path: Path, games: Games, threads: int, *, averaged: bool = False) -> Json:
    """How well a network predicts so many test positions, by rank and phase; averaged over all symmetries or not."""
    network = Predictor.open(path, threads)
    held_out = network.held_out(games.dataset, Split.TEST, games.size, test_positions)
    symmetries = tuple(Symmetry) if averaged else (Symmetry.IDENTITY,)
    return network.predict(held_out, symmetries=symmetries).tally_all(games.size)


# Models that are asked what they know, whatever they are: those that were given by name, or else bundled ones.


def model_name(path: Path) -> str:
    """What a model is called: its folder, or that of the run that made it."""
    path = path.resolve()
    return path.parent.name if path.name.startswith("model") else path.name


def model_key(path: Path) -> str:
    """What tells a model from others, and from itself at another time, in names of files."""
    return f"{model_name(path)}-{digest_file(''.join(sorted(open_model(path).card.files.values())).encode())[:8]}"


def name_models(names: Iterable[str]) -> dict[str, Path]:
    """Models by what they are called; raises ExperimentError if two are called the same, and ModelError."""
    paths = [find_model(name) for name in names]
    named = {model_name(path): path for path in paths}
    if len(named) < len(paths):
        raise ExperimentError("two of the models have folders of one name: rename one of them")
    return named


def valuing_models(size: int) -> list[str]:
    """The bundled models that say of positions on boards of a size who wins, or who owns what."""
    saved = [open_model(path) for path in pretrained_models()]
    evaluators = {model.path.name: model.load() for model in saved if model.card.board_size in (size, None)}
    return [
        name
        for name, found in evaluators.items()
        if isinstance(found, OwnershipEvaluator) or (isinstance(found, ValuingEvaluator) and found.values_positions)
    ]
