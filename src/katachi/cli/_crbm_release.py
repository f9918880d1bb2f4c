"""How a CRBM with a value comes to ship: both trained by one recipe, measured against simple players, put in place.

A recipe has two tables: ``[crbm]`` as ``katachi train crbm`` takes it, and ``[value]`` as ``katachi train value``
does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import typer

from katachi.cli._arena import RUNS
from katachi.cli._crbm_training import read_crbm_training, train_crbm_and_show
from katachi.cli._release import check_recipe, find_recipe, keep_curves, measure_against, read_result, release_player
from katachi.cli._training import collect_values
from katachi.cli._value_training import read_value_training, train_value_and_show
from katachi.core.cards import ModelError, Training
from katachi.core.models import PRETRAINED, find_model
from katachi.crbm.evaluator import CrbmCard, load_crbm, save_crbm
from katachi.crbm.train import CrbmTraining
from katachi.crbm.value import ValueTraining

OPPONENTS: Final = ("random", "alp")


def make_crbm(
    name: str,
    *,
    games: int,
    jobs: int,
    data: Path | None,
    run: Path | None,
    trained: str | None,
    results: Sequence[Path],
    into: Path | None,
) -> Path:
    """Train, measure and ship features with a value; returns where they are. Raises ModelError if others made them."""
    folder = run or RUNS / name
    crbm_settings, value_settings = _read_recipe(name, data, folder)
    played = dict(read_result(path).metric() for path in results)
    source = find_model(trained or str(_train(name, crbm_settings, value_settings, folder)))
    crbm, card = load_crbm(source)
    value_training = _check(name, card, crbm_settings, value_settings)
    komi = value_settings.komi
    measured = {
        f"win rate against {opponent}, one ply": measure_against(opponent, name, source, card, komi, games, jobs)
        for opponent in OPPONENTS
    }
    path = (into or PRETRAINED) / name
    metrics = {**card.metrics, **measured, **played}
    told = _tell(name, card.training, "data"), _tell(name, value_training, "features")
    save_crbm(path, crbm, *told, metrics, replace=True)
    keep_curves(source, path)
    if into is None:
        found = f"Features that an RBM found, with a value from self-play on {card.board_size}x{card.board_size}"
        release_player(name, f"{found}, one ply deep (Largman and Pham)")
    return path


def _read_recipe(name: str, data: Path | None, folder: Path) -> tuple[CrbmTraining, ValueTraining]:
    tables = collect_values(find_recipe(name), {}, [])
    if set(tables) != {"crbm", "value"}:
        raise ModelError(f"the recipe {name} needs the tables crbm and value, and no others")
    options = {"data": data and str(data)}
    crbm = read_crbm_training(None, {**tables["crbm"], **options}, [])
    return crbm, read_value_training(None, {**tables["value"], "features": str(folder / "crbm")}, [])


def _train(name: str, crbm: CrbmTraining, value: ValueTraining, folder: Path) -> Path:
    """Both, one after the other, or what is left of it; returns the run of the value."""
    typer.echo(f"katachi: the run is in {folder}", err=True)
    command = f"katachi models make {name}"
    train_crbm_and_show(crbm, folder / "crbm", 1, command, tensorboard=False)
    train_value_and_show(value, folder / "value", command, tensorboard=False)
    return folder / "value"


def _check(name: str, card: CrbmCard, crbm: CrbmTraining, value: ValueTraining) -> Training:
    """How the value was trained; raises ModelError unless it and the features are of this recipe."""
    if card.value_training is None:
        raise ModelError(f"the recipe {name} did not make this model: it has no value")
    check_recipe(name, crbm, card.training.settings)
    told = card.value_training.settings
    check_recipe(name, value.model_copy(update={"features": told.get("features")}), told)
    return card.value_training


def _tell(name: str, training: Training, place: str) -> Training:
    """How it was trained, in words that do not depend on where anything lay; ``place`` is the setting that tells."""
    settings: Mapping[str, Any] = training.settings
    told = {**settings, place: Path(str(settings[place])).name}
    return training.model_copy(update={"command": f"katachi models make {name}", "settings": told})
