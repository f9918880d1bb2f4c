"""Training a network on disk: the loop with its checkpoints and measurements, and what becomes of the weights.

A run goes on to the same bytes on one thread: batch k is the same whoever computes it, and what was found since the
last evaluation is part of a checkpoint.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, field_serializer, field_validator
from torch import Tensor, distributed
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from katachi.core.cards import Metric
from katachi.core.contracts import Floats
from katachi.core.disk import write_atomically
from katachi.core.models import load_weights
from katachi.core.statistics import wilson_interval
from katachi.core.training import (
    MetricLine,
    TrainingError,
    TrainingRun,
    load_first_weights,
    name_weights,
    step_share,
    weights_of,
)
from katachi.data.batches import AnyBatches, Batch, Batches, MixedBatches, describe_training
from katachi.data.dataset import NO_LABEL, Dataset
from katachi.go.board import Board
from katachi.go.points import BLACK, WHITE, format_color, format_vertex
from katachi.policy.config import PolicyConfig
from katachi.policy.convolutions import Products, products_type
from katachi.policy.evaluator import OnnxNetwork, save_policy
from katachi.policy.export import export_onnx, quantize_onnx
from katachi.policy.network import PolicyNetwork, Prediction
from katachi.policy.planes import PLANES
from katachi.sgf.files import Split

# Muon: momentum whose matrices are made nearly orthogonal before every step (Jordan et al. 2024).
#
# All directions of a matrix of filters then move alike, not only those with the largest gradients. A step is scaled so
# that its RMS is that of AdamW, whose learning rate and weight decay it can share (Liu et al. 2025, section 2.2).

_MOMENTUM: Final = 0.95
_NEWTON_SCHULZ: Final = (3.4445, -4.7750, 2.0315)  # of x, x³ and x⁵: steep at 0, between 0.7 and 1.2 after five steps
_STEPS: Final = 5
_ADAMW_RMS: Final = 0.2
_TINY: Final = 1e-7


class Muon(torch.optim.Optimizer):
    """Muon for filters [outputs, inputs, height, width], each taken as a matrix with a row per output."""

    def __init__(self, filters: Iterable[Tensor], lr: float, weight_decay: float) -> None:
        super().__init__(filters, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """Move all filters that have gradients; takes no closure."""
        assert closure is None
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self._move(weight, weight.grad, group["lr"], group["weight_decay"])

    def _move(self, weight: Tensor, gradient: Tensor, lr: float, weight_decay: float) -> None:
        memory = self.state[weight]
        if not memory:
            memory["momentum"] = torch.zeros_like(weight)
        momentum = memory["momentum"].lerp_(gradient, 1 - _MOMENTUM)
        ahead = gradient.lerp(momentum, _MOMENTUM)  # Nesterov's form
        direction = orthogonalize(ahead.flatten(1))
        weight.mul_(1 - lr * weight_decay)
        scale = _ADAMW_RMS * math.sqrt(max(direction.shape))
        weight.add_(direction.view_as(weight), alpha=-lr * scale)


def orthogonalize(matrix: Tensor) -> Tensor:
    """A matrix with the same singular vectors, and singular values near 1 where they were not near 0.

    Newton–Schulz iterations in place of a decomposition: five steps of a polynomial of the fifth degree.
    """
    a, b, c = _NEWTON_SCHULZ
    wide: Tensor = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    wide = wide / (wide.norm() + _TINY)
    for _ in range(_STEPS):
        square = wide @ wide.T
        wide = a * wide + (b * square + c * (square @ square)) @ wide
    return wide if matrix.shape[0] <= matrix.shape[1] else wide.T


# Several processes that learn together, started by ``torchrun``: each has its share of every batch.
#
# What they sum, they sum over gloo. A process that torchrun did not start is alone, and nothing here costs it anything.


@contextmanager
def joined_processes() -> Iterator[None]:
    """Meet the other processes, if there are any, for as long as the block takes."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield
        return
    distributed.init_process_group("gloo")
    try:
        yield
    finally:
        distributed.destroy_process_group()


def is_shared() -> bool:
    """Whether several processes learn together."""
    return distributed.is_available() and distributed.is_initialized()


def is_first() -> bool:
    """Whether this is the process that keeps the run."""
    return not is_shared() or distributed.get_rank() == 0


def own_share(batch: Batch) -> Batch:
    """The positions of a batch that this process learns from: all of them if it is alone."""
    if not is_shared():
        return batch
    rank, processes = distributed.get_rank(), distributed.get_world_size()
    return batch.only(slice(rank, None, processes))


def sum_over_processes(tensors: Iterable[Tensor]) -> None:
    """Put into each tensor the sum of all processes."""
    if is_shared():
        for tensor in tensors:
            distributed.all_reduce(tensor)


def broadcast(something: Any) -> Any:
    """What the first process has, in every process."""
    if not is_shared():
        return something
    told = [something]
    distributed.broadcast_object_list(told)
    return told[0]


# Learning to foretell moves from games: one step of a convolutional network, and what it knows of held-out positions.
#
# Two recipes: plain stochastic gradient descent at a fixed rate that is halved three times at the end (Maddison, Huang,
# Sutskever and Silver 2014, section 3.4), and AdamW with a warm-up and a cosine to zero (Loshchilov and Hutter 2019).
# For long runs there are Muon (`policy/train.py`) and a trapezoid, of which all but the end is the same for any number
# of positions.
#
# Several processes may share every batch (``torchrun``): each takes its part of the positions, and gradients and the
# statistics of normalized layers are summed, so that they learn what one process would. The paper's replicas were
# asynchronous.

_BETAS: Final = (0.9, 0.98)
_MATRICES: Final = ("weight", "hidden", "output")  # which weights decay, by the ends of their names
_MEMORY: Final[Mapping[type[torch.optim.Optimizer], tuple[str, ...]]] = {
    torch.optim.AdamW: ("exp_avg", "exp_avg_sq"),
    Muon: ("momentum",),
    torch.optim.SGD: (),
}  # what an optimizer keeps for each weight
TOP: Final = (1, 5, 10)
_AT_ONCE: Final = 128  # held-out positions


class PolicyTraining(PolicyConfig):
    """A network, and how it learns."""

    data: str  # the folder of a set of games
    weakest: str | None = None  # the lowest rank of both players whose games are learned from, such as 1d
    positions: int = Field(default=2_000_000, ge=1)  # to learn from in all
    batch: int = Field(default=64, ge=1)
    optimizer: Literal["adamw", "sgd", "muon"] = "adamw"  # Muon for filters between hidden layers, AdamW for the rest
    step_size: float = Field(default=0.002, gt=0, le=10, allow_inf_nan=False)
    schedule: Literal["cosine", "halvings", "trapezoid"] = "cosine"
    warmup: float = Field(default=0.05, ge=0, le=1)  # the share of positions in which the step size rises
    decay: float = Field(default=0.02, ge=0, le=1)  # of filters, for AdamW and Muon
    mask_illegal: bool = True  # whether illegal points have no part in the softmax
    value_loss: float = Field(default=0.25, ge=0, le=100)  # its weight beside that of the moves, if there is a value
    ownership_loss: float = Field(default=0.5, ge=0, le=100)  # the same for who will own a point, averaged over points
    symmetries: bool = True  # whether positions are turned and mirrored at random
    products: Products = "float32"  # of convolutions in training; "auto" depends on the CPU, also when a run resumes
    seed: int = Field(default=0, ge=0)
    evaluate_every: int = Field(default=50_000, ge=1)  # positions
    validation_positions: int = Field(default=4096, ge=1)
    first_model: str | None = None  # a run or a model whose weights to begin with, for a new schedule

    @field_validator("size", mode="before")
    @classmethod
    def _any_size(cls, size: object) -> object:
        """TOML has no None."""
        return None if size == "any" else size

    @field_serializer("size")
    def _name_any_size(self, size: int | None) -> int | str:
        return "any" if size is None else size

    @property
    def config(self) -> PolicyConfig:
        """The network alone."""
        return PolicyConfig(**{name: getattr(self, name) for name in PolicyConfig.model_fields})

    @property
    def steps(self) -> int:
        """How many batches there are to learn from."""
        return -(-self.positions // self.batch)

    def step_size_at(self, step: int) -> float:
        """The step size of a step from 0 on."""
        return self.step_size * step_share(self.schedule, self.warmup, step, self.steps)


class Losses(NamedTuple):
    """Sums over some positions."""

    positions: int
    moves: float  # −log p of what was played
    hits: int  # how often the likeliest move was played
    values: float  # of the outcome, where it is known
    owners: float  # of who owned a point in the end, averaged over points, where it is known


class Learner:
    """A network that learns batch by batch; the same batches give the same weights to the last bit on one thread."""

    def __init__(self, settings: PolicyTraining, weights: Mapping[str, NDArray[np.float32]] | None = None) -> None:
        """Begin with the given weights or with new ones; raises ValueError if they do not fit."""
        self.settings = settings
        self.step = 0
        self._take(
            PolicyNetwork.new(settings.config, settings.seed)
            if weights is None
            else PolicyNetwork(settings.config, weights)
        )

    def _take(self, net: PolicyNetwork) -> None:
        """Learn with a network, of which the optimizers remember nothing yet."""
        self.net = net
        self.net.products = products_type(self.settings.products)
        self._optimizers = _new_optimizers(self.settings, net)

    @property
    def positions(self) -> int:
        """The positions that were learned from."""
        return self.step * self.settings.batch

    @property
    def is_finished(self) -> bool:
        return self.step >= self.settings.steps

    def update(self, batch: Batch) -> Losses:
        """Learn from a batch, and say what was known of it before."""
        for optimizer in self._optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self.settings.step_size_at(self.step)
            optimizer.zero_grad()
        positions = _Positions(self.settings, own_share(batch))
        prediction = self.net.predict(positions.planes, positions.ranks, training=True)
        logits = positions.mover_logits(prediction)
        moves = cross_entropy(logits, positions.moves, reduction="sum")
        values, owners = positions.value_loss(prediction), positions.ownership_loss(prediction)
        loss = (moves + self.settings.value_loss * values + self.settings.ownership_loss * owners) / len(batch.moves)
        loss.backward()  # type: ignore[no-untyped-call]
        hits = (logits.argmax(1) == positions.moves).float().sum()
        found = torch.stack([moves.detach(), hits, values.detach(), owners.detach()])
        gradients = [weight.grad for weight in self.net.learned.values() if weight.grad is not None]
        sum_over_processes([*gradients, found])
        for optimizer in self._optimizers:
            optimizer.step()
        self.step += 1
        return Losses(len(batch.moves), float(found[0]), int(found[1]), float(found[2]), float(found[3]))

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that is needed to go on."""
        state = name_weights(self.net.arrays())
        for name, key, moment in self._moments():
            state[f"{key}/{name}"] = moment.numpy().copy()
        return state | {"step": np.array([self.step])}

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state; raises ValueError if it is not one of these settings."""
        self._take(PolicyNetwork(self.settings.config, weights_of(state)))
        try:
            self.step = int(state["step"][0])
            for name, key, moment in self._moments():
                moment.copy_(torch.from_numpy(state[f"{key}/{name}"]))
        except (KeyError, IndexError, RuntimeError, TypeError) as error:
            raise ValueError(f"it is not of these settings: {error}") from None

    def _moments(self) -> Iterator[tuple[str, str, Tensor]]:
        """What the optimizers remember of their weights, made if it is not there yet; plain descent has nothing."""
        names = {weight: name for name, weight in self.net.learned.items()}
        for optimizer in self._optimizers:
            for weight in (weight for group in optimizer.param_groups for weight in group["params"]):
                memory = optimizer.state[weight]
                for key in _MEMORY[type(optimizer)]:
                    memory.setdefault(key, torch.zeros_like(weight))
                    yield names[weight], key, memory[key].detach()
                if isinstance(optimizer, torch.optim.AdamW):
                    memory["step"] = torch.tensor(float(self.step))


def _new_optimizers(settings: PolicyTraining, net: PolicyNetwork) -> list[torch.optim.Optimizer]:
    if settings.optimizer == "sgd":
        return [torch.optim.SGD(net.learned.values(), lr=settings.step_size)]
    by_muon = [name for name in net.learned if settings.optimizer == "muon" and _is_hidden(name)]
    groups = [
        {"params": [weight], "weight_decay": settings.decay if name.endswith(_MATRICES) else 0.0}
        for name, weight in net.learned.items()
        if name not in by_muon
    ]
    optimizers: list[torch.optim.Optimizer] = [torch.optim.AdamW(groups, lr=settings.step_size, betas=_BETAS)]
    if by_muon:
        optimizers.append(Muon([net.learned[name] for name in by_muon], settings.step_size, settings.decay))
    return optimizers


def _is_hidden(name: str) -> bool:
    """Whether weights are the 3×3 filters from one hidden layer to the next."""
    return name.startswith("layers.") and name.endswith(".weight") and not name.startswith("layers.0.")


# Positions


class _Positions:
    """A batch as tensors."""

    def __init__(self, settings: PolicyTraining, batch: Batch) -> None:
        self.planes = torch.from_numpy(batch.planes)
        self.moves = torch.from_numpy(batch.moves)
        self.ranks = torch.from_numpy(batch.ranks.astype(np.int64))
        self._won = torch.from_numpy(batch.won.astype(np.float32))
        self._owners = torch.from_numpy(batch.owners.astype(np.float32))
        self._output = torch.from_numpy((batch.colors == WHITE).astype(np.int64) * (settings.outputs - 1))
        self._legal = PLANES[settings.planes].names.index("legal") if settings.mask_illegal else None

    def mover_logits(self, prediction: Prediction) -> Tensor:
        """The logits of the mover's policy, [B, n²]; what was played is never masked, whatever the rules say."""
        every = torch.arange(len(self.moves))
        logits = prediction.policy[every, self._output]
        if self._legal is None:
            return logits
        illegal = self.planes[:, self._legal].flatten(1) == 0
        illegal[every, self.moves] = False
        return logits.masked_fill(illegal, -torch.inf)

    def value_loss(self, prediction: Prediction) -> Tensor:
        """Of the outcome where it is known, summed."""
        if prediction.value is None:
            return torch.zeros(())
        losses = binary_cross_entropy_with_logits(prediction.value, (self._won + 1) / 2, reduction="none")
        return (losses * self._won.abs()).sum()

    def ownership_loss(self, prediction: Prediction) -> Tensor:
        """Of who owned each point where it is known, averaged over the points of a board and summed over boards."""
        if prediction.ownership is None:
            return torch.zeros(())
        known = self._owners != NO_LABEL
        losses = binary_cross_entropy_with_logits(prediction.ownership, (self._owners + 1) / 2, reduction="none")
        return (losses * known).mean(1).sum()

    def ownership_hits(self, prediction: Prediction) -> tuple[int, int]:
        """How many points were given to him who owned them, and how many were owned by either."""
        if prediction.ownership is None:
            return 0, 0
        owned = self._owners.abs() == 1
        return int(((prediction.ownership * self._owners > 0) & owned).sum()), int(owned.sum())


def predict(learner: Learner, batch: Batch) -> Tensor:
    """The logits of what would be played, [B, n²]; illegal points are −∞ if they are masked."""
    positions = _Positions(learner.settings, batch)
    with torch.no_grad():
        return positions.mover_logits(learner.net.predict(positions.planes, positions.ranks))


def validate(learner: Learner, held_out: Batch) -> dict[str, float]:
    """The mean loss, the shares of moves that were among the likeliest, and of winners and owners that were known."""
    losses: list[Tensor] = []
    places: list[Tensor] = []
    values: list[Tensor] = []
    owners = np.zeros(2)
    for first in range(0, len(held_out.moves), _AT_ONCE):
        positions = _Positions(learner.settings, held_out.only(slice(first, first + _AT_ONCE)))
        with torch.no_grad():
            prediction = learner.net.predict(positions.planes, positions.ranks)
            logits = positions.mover_logits(prediction)
        losses.append(cross_entropy(logits, positions.moves, reduction="none"))
        places.append((logits > logits.gather(1, positions.moves[:, None])).sum(1))
        values.append(torch.zeros(0) if prediction.value is None else prediction.value)
        owners += positions.ownership_hits(prediction)
    place = torch.cat(places)
    found = {"loss": float(torch.cat(losses).mean())}
    found |= {f"top_{top}": float((place < top).float().mean()) for top in TOP}
    if learner.settings.value:
        won = torch.from_numpy(held_out.won.astype(np.float32))
        found["value_hits"] = float((torch.cat(values) * won > 0).sum() / (won != 0).sum().clamp(min=1))
    if learner.settings.ownership:
        found["ownership_hits"] = float(owners[0] / max(1, owners[1]))
    return found | {"positions": len(held_out.moves)}


# What the training of a network tells of itself: losses since the last evaluation, and the time that it took.
#
# Both are part of a checkpoint between two evaluations, so that a run which goes on there tells the same.

_CLOCKS: Final = ("seconds", "core_seconds")  # in a line of metrics
_NO_LOSSES: Final = Losses(0, 0.0, 0, 0.0, 0.0)
# Beside the learner's arrays in a checkpoint.
_SINCE: Final = "since"
_CLOCK: Final = "clock"


class Course:
    """Sums of losses, and clocks that go on over all parts of a run."""

    def __init__(self, run: TrainingRun) -> None:
        """Go on where the run was."""
        state, told = run.state or {}, run.lines[-1].values if run.lines else {}
        self._since = Losses._make(state[_SINCE].tolist()) if _SINCE in state else _NO_LOSSES
        before = state[_CLOCK].tolist() if _CLOCK in state else [told.get(name, 0.0) for name in _CLOCKS]
        self._begun = [now - seconds for now, seconds in zip(_read_clocks(), before, strict=True)]

    def add(self, losses: Losses) -> None:
        self._since = Losses._make(map(sum, zip(self._since, losses, strict=True)))

    def begin_anew(self) -> None:
        """Forget the losses, after an evaluation."""
        self._since = _NO_LOSSES

    def state_dict(self) -> dict[str, NDArray[np.float64]]:
        """What belongs to a checkpoint between two evaluations; at one, its line says it all."""
        return {_SINCE: np.array(self._since, dtype=np.float64), _CLOCK: np.array(self._elapsed())}

    def read_clock(self) -> dict[str, float]:
        """Seconds by the clock, and of the cores that learned."""
        return {name: round(seconds, 1) for name, seconds in zip(_CLOCKS, self._elapsed(), strict=True)}

    def _elapsed(self) -> list[float]:
        return [now - begun for now, begun in zip(_read_clocks(), self._begun, strict=True)]

    def summarize(self, learner: Learner) -> dict[str, float]:
        """Where the learner is, and the means of the losses."""
        since, settings = self._since, learner.settings
        means = {
            "positions": learner.positions,
            "step_size": settings.step_size_at(learner.step - 1),
            "loss": since.moves / since.positions,
            "top_1": since.hits / since.positions,
        }
        heads = {"value_loss": (settings.value, since.values), "ownership_loss": (settings.ownership, since.owners)}
        return means | {name: total / since.positions for name, (has_head, total) in heads.items() if has_head}


def _read_clocks() -> tuple[float, float]:
    return time.monotonic(), time.process_time()


# What becomes of a trained network: ONNX files in floats and in eight bits, a card, and a player that uses them.

_CHECKED: Final = 32  # positions
_CALIBRATING: Final = 256
_TOLERANCE: Final = 1e-3  # of logits: two ways to sum floats


def save_trained(path: Path, learner: Learner, batches: AnyBatches, last: MetricLine, command: str) -> None:
    """Save a network as a model, and beside it ``player.toml``, which plays by it without search.

    Raises TrainingError if the exported network does not say what the learner says.
    """
    settings = learner.settings
    onnx = export_onnx(settings.config, learner.net.arrays())
    real = batches.positions(Split.TRAINING, _CALIBRATING)
    _check(learner, onnx, real.only(slice(_CHECKED)))
    int8 = quantize_onnx(onnx, real.planes, real.ranks.astype(np.int64))
    training = describe_training(settings, batches.dataset, batches.games, learner.positions, last, command)
    save_policy(path, settings.config, onnx, int8, learner.net.arrays(), training, _metrics(last), replace=True)
    model = json.dumps(str(path.resolve()))
    spec = f'kind = "search"\nname = "cnn"\n[evaluator]\nmodel = {model}\n[search]\nkind = "policy"\n'
    write_atomically(path.with_name("player.toml"), spec)


def _check(learner: Learner, onnx: bytes, batch: Batch) -> None:
    ranks = batch.ranks.astype(np.int64)
    with torch.no_grad():
        wanted = _heads(learner.net.predict(torch.from_numpy(batch.planes), torch.from_numpy(ranks)))
    inputs: dict[str, Any] = {"planes": batch.planes} | ({"rank": ranks} if learner.settings.rank_embedding else {})
    for (head, said), found in zip(wanted.items(), OnnxNetwork(onnx).run(inputs, list(wanted)), strict=True):
        error = float(np.abs(found - said).max())
        if not error <= _TOLERANCE * max(1.0, float(np.abs(said).max())):
            raise TrainingError(f"the exported network differs from the trained one by {error:.2g} in its {head}")


def _heads(prediction: Prediction) -> dict[str, Floats]:
    """What a network says under the names and in the units of its ONNX file."""
    owners = None if prediction.ownership is None else torch.tanh(prediction.ownership / 2)
    said = {"policy": prediction.policy, "value": prediction.value, "ownership": owners}
    return {head: tensor.numpy() for head, tensor in said.items() if tensor is not None}


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
    if "validation_ownership_hits" in last.values:  # no interval: the points of a board are not independent
        metrics["validation owners known"] = Metric(value=last.values["validation_ownership_hits"], positions=count)
    return metrics


# A look at what a network foretells: held-out positions as diagrams, what was played there, and what it would play.

_SHOWN_MOVES = 5


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
    likeliest = np.argsort(-shares, kind="stable")[:_SHOWN_MOVES]
    predicted = ", ".join(f"{format_vertex(int(point), board.size)} {shares[point]:.1%}" for point in likeliest)
    move = int(batch.moves[number])
    played = f"{format_color(int(batch.colors[number]))} played {format_vertex(move, board.size)} ({shares[move]:.1%})"
    return f"{board}\n{played}; likeliest: {predicted}"


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


# Cnn training

_EXAMPLES: Final = "examples.txt"
_SHOWN: Final = 6  # positions in it


class Machine(NamedTuple):
    """What a run may use; it does not change what is learned, but for the rounding of several threads."""

    threads: int = 1  # of torch
    workers: int = 1  # threads that compute batches ahead; 0: the one that learns does
    checkpoint_seconds: float = 180.0  # how much is lost at most; every evaluation is kept, too


Watcher = Callable[[MetricLine], None]
Ticker = Callable[[int, Losses], None]


def _ignore(positions: int, losses: Losses) -> None: ...


def train_policy(
    settings: PolicyTraining,
    directory: Path,
    watch: Watcher,
    command: str = "",
    machine: Machine = Machine(),  # noqa: B008
    tick: Ticker = _ignore,
) -> None:
    """Train in a run directory, or go on there, and save the model there at the end with a player's spec.

    ``watch`` sees every evaluation, those of an earlier run first; ``tick`` hears after every batch how many positions
    were learned from, and what was known of the last ones.
    """
    torch.set_num_threads(machine.threads)
    batches = open_batches(settings)
    learner = Learner(settings, load_first_weights(settings.first_model, load_weights))
    with joined_processes():
        if not is_first():
            _help(learner, batches, machine.workers)
            return
        with TrainingRun(directory, settings) as run:
            run.restore(learner)
            broadcast(run.state)
            for line in run.lines:
                watch(line)
            if not learner.is_finished:
                _train(learner, run, batches, machine, watch, tick)
            save_trained(directory / "model", learner, batches, run.lines[-1], command)
            run.finish()


def _help(learner: Learner, batches: AnyBatches, workers: int) -> None:
    """Learn along with the process that keeps the run."""
    state = broadcast(None)
    if state is not None:
        learner.load_state_dict(state)
    stream = batches.stream(learner.step, workers)
    while not learner.is_finished:
        learner.update(next(stream))


def open_batches(settings: PolicyTraining) -> AnyBatches:
    """The batches of a training, of all sizes of the set if the network takes any; raises DatasetError if none."""
    dataset = Dataset.open(settings.data)
    sizes = dataset.sizes if settings.size is None else [settings.size]
    sizes = [size for size in sizes if dataset.select(size, Split.TRAINING, settings.weakest).size]
    parts = [
        Batches(
            dataset,
            PLANES[settings.planes],
            settings.batch,
            settings.seed,
            symmetries=settings.symmetries,
            size=size,
            weakest=settings.weakest,
            ownership=settings.ownership,
        )
        for size in sizes or [settings.size or dataset.only_size()]
    ]
    return parts[0] if len(parts) == 1 else MixedBatches(parts, settings.seed)


def _train(
    learner: Learner, run: TrainingRun, batches: AnyBatches, machine: Machine, watch: Watcher, tick: Ticker
) -> None:
    """Learn batch after batch, and measure and keep everything now and then."""
    settings = learner.settings
    held_out = batches.positions(Split.VALIDATION, settings.validation_positions)
    every = max(1, settings.evaluate_every // settings.batch)
    course = Course(run)
    due = time.monotonic() + machine.checkpoint_seconds
    stream = batches.stream(learner.step, machine.workers)
    while not learner.is_finished:
        losses = learner.update(next(stream))
        course.add(losses)
        tick(learner.positions, losses)
        if learner.step % every == 0 or learner.is_finished:
            line = MetricLine({**course.summarize(learner), **course.read_clock(), **_validation(learner, held_out)})
            course.begin_anew()
            run.keep(learner.state_dict(), line)
            write_atomically(run.path / _EXAMPLES, draw_positions(learner, held_out, _SHOWN))
            watch(line)
        elif time.monotonic() >= due:
            run.checkpoint(learner.state_dict() | course.state_dict())
        else:
            continue
        due = time.monotonic() + machine.checkpoint_seconds


def _validation(learner: Learner, held_out: Batch) -> dict[str, float]:
    return {f"validation_{name}": value for name, value in validate(learner, held_out).items()}
