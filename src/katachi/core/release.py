"""How a model is released: trained by its committed recipe, measured, and put with its card where players find it.

A recipe is a file of settings in ``pretrained/recipes/``, in a folder that is called like the release that takes them.
A system fills in a ``Release``; ``make_model`` is the flow that all of them share. What lies above the systems, such as
matches against players and the display, is handed in as ``Tools``.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from katachi.core.cards import Metric, ModelCard, ModelError, Training
from katachi.core.disk import write_atomically
from katachi.core.models import PRETRAINED, SavedModel, find_model, open_model
from katachi.core.registry import find, require, suggest
from katachi.core.training import CONFIG, METRICS, RUNS, Machine, TrainingCommand, describe_run, read_values

RECIPES: Final = PRETRAINED / "recipes"
PLAYERS: Final = PRETRAINED.parent / "players" / "shipped"
_COUNTED: Final = ("positions", "seconds", "core_seconds")  # what grows in a run
_MAX_RESULT_BYTES: Final = 1 << 20
# Where games lie, and how often a model was evaluated meanwhile.
_UNIMPORTANT: Final = {"data", "evaluate_every", "test_games", "validation_positions"}


class Tools(NamedTuple):
    """What a release needs of the layers above the systems."""

    train: Callable[[TrainingCommand, Any, Path, str, Machine], object]  # with a display
    play: Callable[[str, SavedModel[Any], float, Any], Metric]  # the share of wins: opponent, model, komi, request
    bar: Callable[[str, int], AbstractContextManager[Callable[[int], None]]]  # a bar of so many, to be set
    note: Callable[[str], None]


class Request(NamedTuple):
    """What is asked for."""

    name: str  # of the recipe, and of the model
    tools: Tools
    data: Path | None = None  # the dataset to learn from and to measure with
    run: Path | None = None  # the folder of the training
    trained: str | None = None  # a run that has trained this recipe already
    results: Sequence[Path] = ()  # what ``katachi match --json`` printed
    into: Path | None = None  # a folder for the model, instead of that of the pretrained ones
    games: int = 1100  # that are measured
    positions: int = 20_000  # of test games that are measured
    jobs: int = 1  # games at the same time, or threads of a network
    int8: bool = False  # whether a network is released in eight bits, too

    @property
    def folder(self) -> Path:
        """Where the training is, or will be."""
        return self.run or RUNS / self.name


class Release(ABC):
    """How the models of a system are released."""

    training: ClassVar[TrainingCommand]  # that recipes are for
    search: ClassVar[str | None] = None  # of the released player; None: one ply deep

    def parse(self, values: dict[str, Any], request: Request) -> Any:
        """The settings of a recipe, from its values and what was asked for; raises TrainingError or ModelError."""
        data = {} if request.data is None else {"data": str(request.data)}
        return self.training.parse({**values, **data})

    def train(self, settings: Any, request: Request) -> Path:
        """Train by a recipe, and return the run."""
        machine = Machine(request.jobs if self.training.takes_threads else 1)
        request.tools.train(self.training, settings, request.folder, f"katachi models make {request.name}", machine)
        return request.folder

    def check(self, settings: Any, card: ModelCard, name: str) -> None:
        """Raise ModelError if another recipe made a model."""
        check_recipe(name, settings, card.training.settings)

    @abstractmethod
    def measure(self, settings: Any, model: SavedModel[Any], request: Request) -> Mapping[str, Metric]:
        """How well a model does."""

    @abstractmethod
    def save(self, path: Path, model: SavedModel[Any], metrics: Mapping[str, Metric], request: Request) -> None:
        """Save what players need of a model."""

    def describe_player(self, settings: Any) -> str | None:  # noqa: ARG002
        """What the player that uses the model is; None: there is none."""
        return None


def make_model(request: Request) -> Path:
    """Train, measure and release a model; returns where it is. Raises ModelError if another recipe made it."""
    recipe = find_recipe(request.name)
    release: Release = find("releases", recipe.parent.name)
    require(*release.training.needs)
    settings = release.parse(read_values(recipe), request)
    played = dict(read_result(path).metric() for path in request.results)
    if request.trained is None:
        request.tools.note(f"the run is in {request.folder}")
    source = find_model(request.trained or str(release.train(settings, request)))
    model = open_model(source)
    release.check(settings, model.card, request.name)
    metrics = {**release.measure(settings, model, request), **played}
    path = (request.into or PRETRAINED) / request.name
    release.save(path, model, metrics, request)
    _keep_curves(source, path)
    description = release.describe_player(settings)
    if request.into is None and description is not None:
        _release_player(request.name, description, release.search)
    return path


def find_recipe(name: str) -> Path:
    """The committed settings of a model."""
    known = {path.stem: path for path in sorted(RECIPES.glob("*/*.toml"))}
    if name not in known:
        raise ModelError(f"there is no recipe {name}; {suggest(name, known)}")
    return known[name]


def check_recipe(name: str, settings: BaseModel, made_with: Mapping[str, Any]) -> None:
    """Raise ModelError if a model was made with other settings than those of a recipe."""
    wanted = settings.model_dump(mode="json", exclude=_UNIMPORTANT)
    usual = settings.model_construct().model_dump(mode="json")  # for settings that are younger than the card
    made = usual | dict(made_with)
    differing = [key for key, value in wanted.items() if made[key] != value]
    if differing or not made_with:
        why = f"another {', another '.join(differing)}" if differing else "its card does not say how it was trained"
        raise ModelError(f"the recipe {name} did not make this model: {why}")


# What the card and the files of a released model say


def describe_network(name: str, training: Training) -> Training:
    """How a network was trained, in words that do not depend on where its games lay, and what it started from."""
    first = training.settings.get("first_model")
    here = _without_folders(training)
    command = f"katachi models make {name}"
    if "data" in here.settings:
        command += f" --data {here.settings['data']}"
    return here.model_copy(update={"command": command, "first": _trained(str(first)).training if first else None})


def _without_folders(training: Training) -> Training:
    settings = dict(training.settings)
    if "data" in settings:
        settings["data"] = Path(str(settings["data"])).name
    return training.model_copy(update={"command": re.sub(r"\S*/", "", training.command), "settings": settings})


class _Trained(NamedTuple):
    """How something was trained, and what was measured on the way; what it started from included."""

    training: Training
    lines: list[dict[str, Any]]


def _trained(name: str) -> _Trained:
    """The training of a model, or of a run that has not come to an end."""
    run = Path(name)
    if (run / CONFIG).is_file() and not (run / "model").exists():
        training, folder = describe_run(run), run
    else:
        model = find_model(name)
        training, folder = open_model(model).card.training, model if (model / METRICS).is_file() else model.parent
    metrics = folder / METRICS
    lines = [json.loads(line) for line in metrics.read_text("utf-8").splitlines()] if metrics.is_file() else []
    training, first = _without_folders(training), training.settings.get("first_model")
    if not first or not lines or training.first is not None:  # which a released model says itself
        return _Trained(training, lines)
    before = _trained(str(first))
    seen = {name: before.lines[-1].get(name, 0) for name in _COUNTED} if before.lines else {}
    later = ({**line, **{name: line[name] + seen[name] for name in seen if name in line}} for line in lines)
    return _Trained(training.model_copy(update={"first": before.training}), [*before.lines, *later])


def _keep_curves(source: Path, path: Path) -> None:
    """Let a released model take along the metrics of its run, if that is where it comes from."""
    lines = _trained(str(source)).lines
    if lines:
        write_atomically(path / METRICS, "".join(f"{json.dumps(line)}\n" for line in lines))


def _release_player(name: str, description: str, search: str | None) -> None:
    """Let a player of its name use a released model, one ply deep or by another search, unless there is one."""
    path = PLAYERS / f"{name}.toml"
    if not path.exists():
        text = f'kind = "search"\ndescription = "{description}"\n[evaluator]\nmodel = "{name}"\n'
        write_atomically(path, text if search is None else f'{text}[search]\nkind = "{search}"\n')


# Matches that were played before


class MatchResult(BaseModel):
    """Those parts of what ``katachi match --json`` prints that a card keeps."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    opponent: str = Field(alias="b", min_length=1, max_length=1000)
    games: int = Field(ge=1)
    rate: float = Field(alias="win_rate_a", ge=0, le=1)
    interval: tuple[float, float] = Field(alias="interval_a")

    def metric(self) -> tuple[str, Metric]:
        low, high = self.interval
        return f"win rate against {_name_opponent(self.opponent)}", Metric(
            value=self.rate, low=low, high=high, games=self.games
        )


def _name_opponent(spec: str) -> str:
    """A player as a card calls it: the level of GNU Go says more than its command."""
    command = spec.removeprefix("gtp:")
    level = re.search(r"\bgnugo\b.*--level (\d+)", command)
    return f"GNU Go level {int(level[1])}" if level else command


def read_result(path: Path) -> MatchResult:
    """What a match printed; raises ModelError if the file is something else."""
    with path.open("rb") as file:
        text = file.read(_MAX_RESULT_BYTES)
    try:
        return MatchResult.model_validate_json(text)
    except ValidationError:
        raise ModelError(f"{path} is not what katachi match --json prints") from None
