"""How a territory network comes to ship: trained by its recipe, measured, and put with its player in place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import Progress

from katachi.cli._arena import RUNS
from katachi.cli._release import check_recipe, describe_network, find_recipe, keep_curves, read_result, release_player
from katachi.cli._territory_training import read_territory_training, train_and_show
from katachi.core.cards import Metric
from katachi.core.models import PRETRAINED, find_model
from katachi.data.dataset import Dataset
from katachi.papers.documents import mean_of_many
from katachi.sgf.files import Split
from katachi.territory.evaluator import Territory, load_territory, save_territory
from katachi.territory.learner import TerritoryTraining
from katachi.territory.measure import Known, measure_territory
from katachi.territory.train import Machine


def make_territory(
    name: str,
    *,
    positions: int,
    threads: int,
    data: Path | None,
    run: Path | None,
    trained: str | None,
    results: Sequence[Path],
    into: Path | None,
) -> Path:
    """Train, measure and ship a network; returns where it is. Raises ModelError if another recipe made it."""
    settings = read_territory_training(find_recipe(name), {"data": data and str(data)}, [])
    dataset = Dataset.open(settings.data)
    played = dict(read_result(path).metric() for path in results)
    source = find_model(trained or str(_train(name, settings, run, threads)))
    territory, card = load_territory(source)
    check_recipe(name, settings, card.training.settings)
    metrics = measure(territory, dataset, positions) | played
    path = (into or PRETRAINED) / name
    training = describe_network(name, card.training)
    save_territory(path, territory, card.points, card.temperature, training, metrics, replace=True)
    keep_curves(source, path)
    if into is None:
        board = f"{dataset.only_size()}x{dataset.only_size()}"
        cells = card.config.cell
        release_player(name, f"Territory as a {cells} DAG-RNN learned it on {board}, one ply deep (Wu and Baldi 2006)")
    return path


def _train(name: str, settings: TerritoryTraining, run: Path | None, threads: int) -> Path:
    folder = run or RUNS / name
    typer.echo(f"katachi: the run is in {folder}", err=True)
    train_and_show(settings, folder, Machine(threads), f"katachi models make {name}", tensorboard=False)
    return folder


def measure(territory: Territory, dataset: Dataset, positions: int) -> dict[str, Metric]:
    """The loss and the points known right in positions of test games, by phase too, and at the end of as many games."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("measuring", total=positions)
        every = measure_territory(territory, dataset, positions, tick=lambda done: progress.update(bar, completed=done))
    ended = measure_territory(territory, dataset, positions, Split.TEST, ended=True)
    loss = mean_of_many(every.losses)
    low, high = loss.interval or (None, None)
    unit = "nats a position"
    metrics = {
        "test loss": Metric(value=loss.mean, low=low, high=high, unit=unit, positions=every.losses.size),
        "test points known": _known(every),
        "test points known at the end": _known(ended),
    }
    return metrics | {f"test points known, {phase}": _known(known) for phase, known in every.by_phase().items()}


def _known(known: Known) -> Metric:
    share = mean_of_many(known.shares)
    low, high = share.interval or (share.mean, share.mean)
    return Metric(value=share.mean, low=max(0.0, low), high=min(1.0, high), positions=known.shares.size)
