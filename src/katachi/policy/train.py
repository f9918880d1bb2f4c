"""Training a network that predicts moves: the loop, what becomes of the weights, and a look at what it predicts.

A run resumes to the same bytes on one thread: batch k is the same whoever computes it, and what was found since the
last evaluation is part of a checkpoint.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from katachi.core.cards import Metric, wilson_interval
from katachi.core.contracts import Floats
from katachi.core.models import load_weights
from katachi.core.training import (
    CHECKPOINT,
    Machine,
    MetricLine,
    TrainingError,
    TrainingRun,
    Watcher,
    ignore,
    load_first_weights,
)
from katachi.data.batches import AnyBatches, Batch, Batches, JoinedBatches, MixedBatches
from katachi.data.dataset import Dataset, DatasetError
from katachi.go.board import Board
from katachi.go.points import BLACK, format_color, format_vertex
from katachi.policy.config import DEVIATION, SCORE_SCALE, TOP, PolicyTraining
from katachi.policy.evaluator import OnnxNetwork, name_inputs, save_policy
from katachi.policy.export import export_onnx, quantize_onnx
from katachi.policy.learner import (
    Learner,
    Losses,
    Replicas,
    broadcast,
    global_inputs,
    is_first,
    is_shared,
    joined_processes,
    predict,
    validate,
)
from katachi.policy.network import Prediction
from katachi.policy.planes import PLANES
from katachi.sgf.files import Split

_EXAMPLES: Final = "examples.txt"
_SHOWN: Final = 6  # positions in it
_SHOWN_MOVES: Final = 5


def train_policy(
    settings: PolicyTraining,
    directory: Path,
    watch: Watcher = ignore,
    command: str = "",
    machine: Machine = Machine(),  # noqa: B008
    tick: Callable[[int, Losses], None] = ignore,
) -> None:
    """Train in a run directory, or resume there, and save the model there at the end with a player's spec.

    ``watch`` sees every evaluation, those of an earlier run first; ``tick`` sees after every batch how many positions
    were learned from, and the losses of the last ones.
    """
    torch.set_num_threads(machine.threads)
    batches = open_batches(settings)
    with joined_processes():
        # A run that resumes can do without, and a process that helps gets all from the first.
        is_new = is_first() and not (directory / CHECKPOINT).exists()
        learner = Learner(settings, load_first_weights(settings.first_model if is_new else None, load_weights))
        if not is_first():
            _help(learner, batches, machine.workers)
            return
        with TrainingRun(directory, settings, watch, command) as run, ExitStack() as stack:
            run.restore(learner)
            broadcast(learner.state_dict() if is_shared() else None)
            held_out = batches.positions(Split.VALIDATION, settings.validation_positions)
            update = stack.enter_context(_updates(learner, batches, machine.workers))
            for losses in run.learn(
                learner,
                update=update,
                every=_evaluate_every(settings),
                tick=lambda found: tick(learner.positions, found),
                checkpoint_seconds=machine.checkpoint_seconds,
            ):
                measured = {f"validation_{name}": value for name, value in validate(learner, held_out).items()}
                times = run.times("seconds", "core_seconds")
                line = MetricLine({**_summarize(learner, losses), **times, **measured})
                run.keep(learner.state_dict(), line, {_EXAMPLES: draw_positions(learner, held_out, _SHOWN)})
            _save(run, learner, batches)
            run.finish("cnn", search="policy")


@contextmanager
def _updates(learner: Learner, batches: AnyBatches, workers: int) -> Iterator[Callable[[], Losses]]:
    """What makes the next step of a learner: from a batch, or, of replicas, from as many as they learn apart."""
    if learner.settings.replicas > 1:
        with Replicas(learner, batches, workers) as replicas:
            yield replicas.update
    else:
        stream = batches.stream(learner.step, workers)
        yield lambda: learner.update(next(stream))


def _evaluate_every(settings: PolicyTraining) -> int:
    """The steps between evaluations: where replicas meet."""
    together = settings.replicas * settings.meet_every if settings.replicas > 1 else 1
    return max(1, round(settings.evaluate_every / settings.batch / together)) * together


def _help(learner: Learner, batches: AnyBatches, workers: int) -> None:
    """Learn along with the process that keeps the run, here or on another machine, which needs the games alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which is for the first process: this one ends with it
    learner.load_state_dict(broadcast(None))
    stream = batches.stream(learner.step, workers)
    try:
        while not learner.is_finished:
            learner.update(next(stream))
    except RuntimeError as error:  # of gloo, when the other end is closed
        raise TrainingError(f"the process that keeps the run has ended: resume by the same command ({error})") from None


def open_batches(settings: PolicyTraining) -> AnyBatches:
    """The batches of a training, of all sizes of the dataset if the network takes any; raises DatasetError if none."""
    dataset = Dataset.open(settings.data)
    sizes = dataset.sizes if settings.size is None else [settings.size]
    sizes = [size for size in sizes if dataset.select(size, Split.TRAINING, settings.weakest).size]
    parts = [_open_set(settings, dataset, size) for size in sizes or [settings.size or dataset.only_size()]]
    if not settings.more_data:
        return parts[0] if len(parts) == 1 else MixedBatches(parts, settings.seed)
    if len(parts) > 1:
        raise DatasetError(f"{settings.data} holds several sizes: with more_data every set has one")
    sets = [Dataset.open(path) for path in settings.more_data]
    sizes = [settings.size or other.only_size("with more_data every set has one size") for other in sets]
    numbered = enumerate(zip(sets, sizes, strict=True), 1)
    others = [_open_set(settings, other, size, number) for number, (other, size) in numbered]
    if len({parts[0].size, *sizes}) > 1:
        return MixedBatches([*parts, *others], settings.seed, settings.more_shares)
    return JoinedBatches(parts[0], others, settings.more_shares, int(settings.more_until * settings.steps))


def _open_set(settings: PolicyTraining, dataset: Dataset, size: int, server: int = 0) -> Batches:
    return Batches(
        dataset,
        PLANES[settings.planes],
        settings.batch,
        settings.seed,
        symmetries=settings.symmetries,
        size=size,
        weakest=settings.weakest,
        ownership=settings.ownership,
        kyu_ranks=settings.kyu_ranks,
        balanced=settings.balanced,
        server=server if settings.servers else 0,
    )


def _summarize(learner: Learner, losses: Losses) -> dict[str, float]:
    """Where the learner is, and the means of the losses."""
    settings = learner.settings
    means = {
        "positions": learner.positions,
        "step_size": settings.step_size_at(learner.step - 1),
        "loss": losses.moves / losses.positions,
        "top_1": losses.hits / losses.positions,
    }
    heads = {
        "value_loss": (settings.value, losses.values),
        "ownership_loss": (settings.ownership, losses.owners),
        "score_loss": (settings.score, losses.scores),
        "reply_loss": (settings.reply, losses.replies),
    }
    return means | {name: total / losses.positions for name, (has_head, total) in heads.items() if has_head}


# What becomes of a trained network: ONNX files in floats and in eight bits, and a card.

_CHECKED: Final = 32  # positions
_CALIBRATING: Final = 256
_TOLERANCE: Final = 1e-3  # of logits: two ways to sum floats


def _save(run: TrainingRun, learner: Learner, batches: AnyBatches) -> None:
    """Save a network as a model; raises TrainingError if the exported network does not say what the learner says."""
    settings, weights = learner.settings, learner.result.arrays()
    onnx = export_onnx(settings.config, weights)
    real = batches.positions(Split.TRAINING, _CALIBRATING)
    _check(learner, onnx, real.only(slice(_CHECKED)))
    int8 = quantize_onnx(onnx, _inputs(settings, real))
    training = run.describe(batches.dataset.title, batches.games, learner.positions)
    path, metrics = run.path / "model", _metrics(run.lines[-1])
    save_policy(path, settings.config, onnx, int8, weights, training, metrics, replace=True)


def _inputs(settings: PolicyTraining, batch: Batch) -> dict[str, NDArray[Any]]:
    """A batch as the ONNX file of a network takes it."""
    beside = global_inputs(settings.config, batch)
    return name_inputs(settings.config, batch.planes, beside.ranks.numpy(), beside.komi.numpy())


def _check(learner: Learner, onnx: bytes, batch: Batch) -> None:
    with torch.no_grad():
        prediction = learner.result.predict(
            torch.from_numpy(batch.planes), global_inputs(learner.settings.config, batch)
        )
    wanted, inputs = name_heads(prediction), _inputs(learner.settings, batch)
    for (head, said), found in zip(wanted.items(), OnnxNetwork(onnx).run(inputs, list(wanted)), strict=True):
        error = float(np.abs(found - said).max())
        if not error <= _TOLERANCE * max(1.0, float(np.abs(said).max())):
            raise TrainingError(f"the exported network differs from the trained one by {error:.2g} in its {head}")


def name_heads(prediction: Prediction) -> dict[str, Floats]:
    """What a network says under the names and in the units of its ONNX file."""
    said = {"policy": prediction.policy}
    if prediction.value is not None:
        said["value"] = prediction.value
    if prediction.score is not None and prediction.spread is not None and prediction.doubt is not None:
        points = (SCORE_SCALE * prediction.score, SCORE_SCALE * DEVIATION * torch.exp(prediction.spread))
        said["score"] = torch.stack([*points, torch.sqrt(torch.sigmoid(prediction.doubt))], dim=1)
    if prediction.ownership is not None:
        said["ownership"] = torch.tanh(prediction.ownership / 2)
    return {head: tensor.numpy() for head, tensor in said.items()}


def _metrics(last: MetricLine) -> dict[str, Metric]:
    """What the last evaluation found on held-out positions, with 95 % intervals."""
    count = last.values["validation_positions"]
    metrics = {"validation loss": Metric(value=last.values["validation_loss"], positions=count)}
    shares = {f"validation top-{top}": last.values[f"validation_top_{top}"] for top in TOP}
    if "validation_value_hits" in last.values:
        shares["validation winners known"] = last.values["validation_value_hits"]
    for name, share in shares.items():
        low, high = wilson_interval(share * count, count)
        metrics[name] = Metric(value=share, low=low, high=high, positions=count)
    if "validation_score_error" in last.values:
        metrics["validation score error"] = Metric(value=last.values["validation_score_error"], positions=count)
    if "validation_ownership_hits" in last.values:  # no interval: the points of a board are not independent
        metrics["validation owners known"] = Metric(value=last.values["validation_ownership_hits"], positions=count)
    return metrics


# A look at what a network predicts: held-out positions as diagrams, what was played there, and what it would play.


def draw_positions(learner: Learner, held_out: Batch, count: int) -> str:
    """Text with the first positions of a batch; planes are all that is known of them."""
    some = held_out.only(slice(count))
    logits = predict(learner, some)
    shares = torch.softmax(logits, dim=1).numpy()
    names = PLANES[learner.settings.planes].names
    drawn = [_draw(some, names, number, shares[number]) for number in range(len(some.moves))]
    return "\n\n".join([f"after {learner.positions:,} positions", *drawn]) + "\n"


def _draw(batch: Batch, names: tuple[str, ...], number: int, shares: Floats) -> str:
    board = _board(batch, names, number)
    best = np.argsort(-shares, kind="stable")[:_SHOWN_MOVES]
    predicted = ", ".join(f"{format_vertex(int(point), board.size)} {shares[point]:.1%}" for point in best)
    move = int(batch.moves[number])
    played = f"{format_color(int(batch.colors[number]))} played {format_vertex(move, board.size)} ({shares[move]:.1%})"
    return f"{board}\n{played}; most probable: {predicted}"


def _board(batch: Batch, names: tuple[str, ...], number: int) -> Board:
    """The stones of a position."""
    planes = batch.planes[number].reshape(len(names), -1)
    color = int(batch.colors[number])
    if "black" in names:
        black, white = (np.flatnonzero(planes[names.index(stones)]) for stones in ("black", "white"))
    else:
        own, opponent = (np.flatnonzero(planes[names.index(stones)]) for stones in ("own", "enemy"))
        black, white = (own, opponent) if color == BLACK else (opponent, own)
    board = Board(batch.planes.shape[-1])
    board.place(black=black.tolist(), white=white.tolist(), to_play=color)
    return board
