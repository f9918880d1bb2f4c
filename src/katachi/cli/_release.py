"""How a model comes to ship: trained by its committed recipe, measured, and put with its card where players find it.

A recipe is a file of settings, in a folder that is called like the command of ``katachi train`` which takes them.
Here is what shapes need; ``cli/_policy_release.py`` is about networks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from katachi.arena.ratings import Score
from katachi.arena.settings import parse_settings
from katachi.cli._arena import RUNS, play_and_watch
from katachi.cli._training import read_training, run_folders, train_side_by_side
from katachi.core.cards import Metric, ModelCard, ModelError, Training
from katachi.core.disk import write_atomically
from katachi.core.linear import load_linear, save_linear
from katachi.core.models import PRETRAINED, find_model, open_model
from katachi.core.training import METRICS
from katachi.core.weights import WEIGHTS
from katachi.papers.tournaments import gnugo_name
from katachi.shapes.train import ShapeTraining

RECIPES: Final = PRETRAINED / "recipes"
PLAYERS: Final = PRETRAINED.parent / "players" / "shipped"
_RANDOM_PLIES: Final = 2
_COUNTED: Final = ("positions", "seconds", "core_seconds")  # what grows in the course of a run
_MAX_RESULT_BYTES: Final = 1 << 20
# Where games lie, and how often a model was looked at meanwhile.
_UNIMPORTANT: Final = {"data", "evaluate_every", "test_games", "validation_positions"}


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
    """A player as a card calls it: the level of GNU Go tells more than its command."""
    command = spec.removeprefix("gtp:")
    level = re.search(r"\bgnugo\b.*--level (\d+)", command)
    return gnugo_name(int(level[1])) if level else command


def make_shapes(
    name: str,
    *,
    run: Path | None,
    trained: str | None,
    results: Sequence[Path],
    games: int,
    jobs: int,
    into: Path | None,
) -> Path:
    """Train, measure and ship a model; returns where it is. Raises ModelError if there is no such recipe."""
    settings = read_training(find_recipe(name), {}, [])
    measured = dict(read_result(path).metric() for path in results)
    source = find_model(trained or str(_train(name, settings, run)))
    model, card = load_linear(source)
    check_recipe(name, settings, card.training.settings)
    against_alp = measure_against("alp", name, source, card, card.komi, games, jobs)
    metrics = {"win rate against alp, one ply": against_alp, **measured}
    path = (into or PRETRAINED) / name
    save_linear(path, model, card.model_copy(update={"metrics": metrics}), replace=True)
    keep_curves(source, path)
    return path


def keep_curves(source: Path, path: Path) -> None:
    """Let a model that ships take along the metrics of its run, if that is where it comes from."""
    lines = _metrics(source)
    if lines:
        write_atomically(path / METRICS, "".join(f"{json.dumps(line)}\n" for line in lines))


def _metrics(model: Path) -> list[dict[str, Any]]:
    """What was measured in the run of a model, after what was measured in the one that it began with, if any."""
    metrics = next((path for path in (model / METRICS, model.parent / METRICS) if path.is_file()), None)
    if metrics is None:
        return []
    lines: list[dict[str, Any]] = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    first = open_model(model).card.training.settings.get("first_model")
    before = _metrics(find_model(str(first))) if first else []
    seen = {name: before[-1].get(name, 0) for name in _COUNTED} if before else {}
    return [*before, *({**line, **{name: line[name] + seen[name] for name in seen if name in line}} for line in lines)]


def release_player(name: str, description: str, search: str | None = None) -> None:
    """Let a player of its name play by a model that ships, one ply deep or by another search, unless there is one."""
    path = PLAYERS / f"{name}.toml"
    if not path.exists():
        text = f'kind = "search"\ndescription = "{description}"\n[evaluator]\nmodel = "{name}"\n'
        write_atomically(path, text if search is None else f'{text}[search]\nkind = "{search}"\n')


def describe_network(name: str, training: Training) -> Training:
    """How a network was trained, in words that do not depend on where its games lay, and what it began with."""
    first = training.settings.get("first_model")
    told = _without_folders(training)
    command = f"katachi models make {name} --data {told.settings['data']}"
    begun = _without_folders(open_model(find_model(str(first))).card.training) if first else None
    return told.model_copy(update={"command": command, "first": begun})


def _without_folders(training: Training) -> Training:
    settings = {**training.settings, "data": Path(str(training.settings["data"])).name}
    return training.model_copy(update={"command": re.sub(r"\S*/", "", training.command), "settings": settings})


def find_recipe(name: str) -> Path:
    """The committed settings of a model."""
    known = {path.stem: path for path in sorted(RECIPES.glob("*/*.toml"))}
    if name not in known:
        raise ModelError(f"there is no recipe {name}; known are {', '.join(known) or 'none'}")
    return known[name]


def _train(name: str, settings: ShapeTraining, run: Path | None) -> Path:
    folder = run or RUNS / name
    typer.echo(f"katachi: the run is in {folder}", err=True)
    command = f"katachi models make {name}"
    train_side_by_side(run_folders(settings, 1, folder), 1, command, tensorboard=False)
    return folder


def check_recipe(name: str, settings: BaseModel, told: Mapping[str, Any]) -> None:
    """Refuse a model of which is told that another recipe made it."""
    wanted = settings.model_dump(mode="json", exclude=_UNIMPORTANT)
    usual = settings.model_construct().model_dump(mode="json")  # for settings that are younger than the card
    made = usual | dict(told)
    differing = [key for key, value in wanted.items() if made[key] != value]
    if differing or not told:
        why = f"another {', another '.join(differing)}" if differing else "its card does not say how it was trained"
        raise ModelError(f"the recipe {name} did not make this model: {why}")


def measure_against(
    opponent: str, name: str, source: Path, card: ModelCard, komi: float, games: int, jobs: int
) -> Metric:
    """The share of distinct games from two random plies that it wins one ply deep; the games are kept in ``runs/``."""
    folder = RUNS / f"{name}-against-{opponent}-{card.files[WEIGHTS][:8]}"
    player = folder.with_suffix(".toml")
    RUNS.mkdir(exist_ok=True)
    write_atomically(player, f'kind = "search"\n[evaluator]\nmodel = {json.dumps(str(source.resolve()))}\n')
    values: dict[str, Any] = {
        "players": {name: str(player), opponent: opponent},
        "games": games,
        "jobs": jobs,
        "size": card.board_size,
        "komi": komi,
        "openings": {"random_plies": _RANDOM_PLIES},
        "report": {"exclude_duplicates": True},
    }
    score: Score = play_and_watch(parse_settings(values), folder).pairs[0].score
    low, high = score.interval
    return Metric(value=score.points / score.games, low=low, high=high, games=score.games)


def read_result(path: Path) -> MatchResult:
    """What a match printed; raises ModelError if the file is no such thing."""
    with path.open("rb") as file:
        text = file.read(_MAX_RESULT_BYTES)
    try:
        return MatchResult.model_validate_json(text)
    except ValidationError:
        raise ModelError(f"{path} is not what katachi match --json prints") from None
