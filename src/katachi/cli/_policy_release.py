"""How a network comes to ship: trained by its recipe, measured on test games, and put with card and player in
place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import typer
from rich.console import Console
from rich.progress import Progress

from katachi.cli._arena import RUNS
from katachi.cli._policy_training import read_policy_training, train_and_show
from katachi.cli._release import check_recipe, describe_network, find_recipe, keep_curves, read_result, release_player
from katachi.core.cards import Metric, ModelError, Training
from katachi.core.models import PRETRAINED, SavedModel, find_model, load_weights, open_model
from katachi.core.statistics import wilson_interval
from katachi.core.weights import WEIGHTS
from katachi.data.batches import Batch
from katachi.data.dataset import Dataset
from katachi.go.points import Symmetry
from katachi.policy.evaluator import INT8, ONNX, PolicyCard, save_policy
from katachi.policy.measure import Predicted, Predictor
from katachi.policy.train import PolicyTraining
from katachi.sgf.files import Split

MAX_BYTES: Final = 5_000_000  # of a model that ships
_TOP: Final = (1, 5, 10)


class Measuring(NamedTuple):
    """How much a network is asked."""

    positions: int  # of test games
    threads: int = 1
    int8: bool = False  # whether it is measured, and ships, in eight bits, too


def make_network(
    name: str,
    measuring: Measuring,
    *,
    data: Path | None,
    run: Path | None,
    trained: str | None,
    results: Sequence[Path],
    into: Path | None,
) -> Path:
    """Train, measure and ship a network; returns where it is. Raises ModelError if another recipe made it."""
    settings = read_policy_training(find_recipe(name), {"data": data and str(data)}, [])
    dataset = Dataset.open(settings.data)
    played = dict(read_result(path).metric() for path in results)
    source = open_model(find_model(trained or str(_train(name, settings, run, measuring.threads))))
    card = source.card
    if not isinstance(card, PolicyCard):
        raise ModelError(f"{source.path}: this model is a {card.kind}, but a policy is needed")
    check_recipe(name, settings, card.training.settings)
    metrics = measure_network(source, dataset, card.board_size or dataset.only_size(), measuring) | played
    path = (into or PRETRAINED) / name
    _save(path, source, card, describe_network(name, card.training), metrics, int8=measuring.int8)
    keep_curves(source.path, path)
    if into is None:
        board = f"{card.board_size}x{card.board_size}" if card.board_size else "boards of any size"
        description = f"A network that learned from games of people, on {board}, without search (Maddison et al. 2014)"
        release_player(name, description, search="policy")
    return path


def _train(name: str, settings: PolicyTraining, run: Path | None, threads: int) -> Path:
    folder = run or RUNS / name
    typer.echo(f"katachi: the run is in {folder}", err=True)
    train_and_show(settings, folder, threads, 1, f"katachi models make {name}", tensorboard=False)
    return folder


# Measuring


def measure_network(source: SavedModel[Any], dataset: Dataset, size: int, measuring: Measuring) -> dict[str, Metric]:
    """How often moves of test games were foretold: of all, by rank and phase, by all symmetries, and in eight bits."""
    network = Predictor.open(source.path, measuring.threads)
    held_out = partial(network.held_out, dataset, Split.TEST, size, measuring.positions)
    alone = network.predict(_watch(held_out(), "foretelling", measuring))
    metrics = {"test loss": Metric(value=float(alone.losses.mean(dtype=float)), positions=alone.places.size)}
    metrics |= _shares(alone, "test")
    tallied = alone.tally_all(size)
    for kind in ("ranks", "phases"):
        for name, tally in tallied[kind].items():
            metrics[f"test top-1, {name}"] = _share(tally["top"][0], tally["positions"])
    averaged = network.predict(_watch(held_out(), "the same by symmetries", measuring), symmetries=tuple(Symmetry))
    metrics |= _shares(averaged, "test, averaged over symmetries:")
    if measuring.int8:
        network = Predictor.open(source.path, measuring.threads, "int8")
        rough = network.predict(_watch(held_out(), "the same in eight bits", measuring))
        metrics |= _shares(rough, "test, in eight bits:")
    return metrics


def _watch(batches: Iterable[Batch], what: str, measuring: Measuring) -> Iterator[Batch]:
    """Batches with a bar over their positions; nothing is shown where nobody watches."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(what, total=measuring.positions)
        for batch in batches:
            yield batch
            progress.advance(bar, batch.moves.size)


def _shares(found: Predicted, kind: str) -> dict[str, Metric]:
    count = found.places.size
    return {f"{kind} top-{top}": _share(int((found.places < top).sum()), count) for top in _TOP}


def _share(hits: int, positions: int) -> Metric:
    low, high = wilson_interval(hits, positions)
    return Metric(value=hits / positions, low=low, high=high, positions=positions)


# Shipping


def _save(
    path: Path,
    source: SavedModel[Any],
    card: PolicyCard,
    training: Training,
    metrics: Mapping[str, Metric],
    *,
    int8: bool,
) -> None:
    """Save what play needs, and the weights from which training can go on if there is room for them."""
    onnx, rough = source.read(ONNX), source.read(INT8) if int8 else None
    size = len(onnx) + len(rough or b"")
    if size > MAX_BYTES:
        raise ModelError(f"{source.path}: {size:,} bytes are too many to ship; {MAX_BYTES:,} would do")
    weights = load_weights(source.path) if WEIGHTS in card.files else None
    if weights is not None and size + sum(array.nbytes for array in weights.values()) > MAX_BYTES:
        weights = None
        typer.echo(f"katachi: its weights are left out, it would be larger than {MAX_BYTES:,} bytes", err=True)
    save_policy(path, card.config, onnx, rough, weights, training, metrics, replace=True)
