"""Learning to predict moves from games: one step of a convolutional network, and its accuracy on held-out positions.

Two recipes: plain stochastic gradient descent at a fixed rate that is halved three times at the end (Maddison, Huang,
Sutskever and Silver 2014, section 4), and AdamW with a warm-up and a cosine to zero (Loshchilov and Hutter 2019).
For long runs there are Muon and a trapezoid, of which all but the end is the same for any number of positions.

Several processes may share every batch (``torchrun``): each takes its part of the positions, and gradients and the
statistics of normalized layers are summed, so that they learn what one process would. The paper's replicas were
asynchronous.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, distributed
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, smooth_l1_loss

from katachi.core.training import TrainingError, add_up, name_weights, weights_of
from katachi.data.batches import AnyBatches, Batch, compute_ahead
from katachi.data.dataset import NO_LABEL
from katachi.go.points import WHITE
from katachi.policy.config import SCORE_SCALE, TOP, PolicyConfig, PolicyTraining
from katachi.policy.convolutions import products_type
from katachi.policy.network import GlobalInputs, PolicyNetwork, Prediction
from katachi.policy.planes import PLANES

_BETAS: Final = (0.9, 0.98)
_MATRICES: Final = ("weight", "hidden", "output")  # which weights decay, by the ends of their names
_AT_ONCE: Final = 128  # held-out positions
_LOSSES: Final = ("value", "ownership", "score", "reply")  # beside that of the moves
_MEAN: Final = "mean/"


class Losses(NamedTuple):
    """Sums over some positions."""

    positions: int
    moves: float  # −log p of what was played
    hits: int  # how often the most probable move was played
    values: float  # of the outcome, where it is known
    owners: float  # of who owned a point in the end, averaged over points, where it is known
    scores: float = 0.0  # of the score where it is known, and of how far it and the outcome can be known
    replies: float = 0.0  # −log p of what was played next


class Learner:
    """A network that learns batch by batch; the same batches give the same weights to the last bit on one thread."""

    def __init__(self, settings: PolicyTraining, weights: Mapping[str, NDArray[np.float32]] | None = None) -> None:
        """Start from the layers of the given weights or with new ones; raises ValueError if they do not fit."""
        self.settings = settings
        self.step = 0
        self._take(
            PolicyNetwork.new(settings.config, settings.seed)
            if weights is None
            else PolicyNetwork.continued(settings.config, settings.seed, weights)
        )

    def _take(self, net: PolicyNetwork, mean: Mapping[str, NDArray[np.float32]] | None = None) -> None:
        """Learn with a network, of which the optimizers remember nothing yet, and the running mean of its weights."""
        self.net = net
        self.net.products = products_type(self.settings.products)
        self._optimizers = _new_optimizers(self.settings, net)
        self._mean = PolicyNetwork(self.settings.config, net.arrays() if mean is None else mean)

    @property
    def result(self) -> PolicyNetwork:
        """The network that is measured and saved: with the running mean of its weights, if there is one."""
        return self._mean if self.settings.mean_decay else self.net

    @property
    def positions(self) -> int:
        """The positions that were learned from."""
        return self.step * self.settings.batch

    @property
    def is_finished(self) -> bool:
        return self.step >= self.settings.steps

    def update(self, batch: Batch, replicas: int = 1) -> Losses:
        """Learn from a batch, while as many replicas do from others, and say what was known of it before."""
        for optimizer in self._optimizers:
            for group in optimizer.param_groups:
                group["lr"] = self.settings.step_size_at(self.step)
            optimizer.zero_grad()
        positions = _Positions(self.settings, own_share(batch))
        prediction = self.net.predict(positions.planes, positions.global_inputs, training=True)
        logits = positions.mover_logits(prediction)
        moves = positions.move_loss(logits)
        others = [getattr(positions, f"{head}_loss")(prediction) for head in _LOSSES]
        weights = [getattr(self.settings, f"{head}_loss") for head in _LOSSES]
        loss = (moves + sum(weight * other for weight, other in zip(weights, others, strict=True))) / len(batch.moves)
        loss.backward()
        hits = (logits.argmax(1) == positions.moves).float().sum()
        found = torch.stack([moves.detach(), hits, *(other.detach() for other in others)])
        gradients = [weight.grad for weight in self.net.learned.values() if weight.grad is not None]
        sum_over_processes([*gradients, found])
        for optimizer in self._optimizers:
            optimizer.step()
        self._follow()
        self.step += replicas
        return Losses(len(batch.moves), float(found[0]), int(found[1]), *found[2:].tolist())

    def _follow(self) -> None:
        """Let the running mean follow the weights; in the beginning it is a plain mean of what there was."""
        if self.settings.mean_decay:
            share = max(1 - self.settings.mean_decay, 1 / (self.step / self.settings.replicas + 1))
            for name, mean in self._mean.weights.items():
                mean.detach().lerp_(self.net.weights[name].detach(), share)

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that is needed to resume."""
        state = name_weights(self.net.arrays())
        for name, key, moment in self._moments():
            state[f"{key}/{name}"] = moment.numpy().copy()
        if self.settings.mean_decay:
            state |= {f"{_MEAN}{name}": array for name, array in self._mean.arrays().items()}
        return state | {"step": np.array([self.step])}

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a state; raises ValueError if it is not one of these settings."""
        mean = {name.removeprefix(_MEAN): state[name] for name in state if name.startswith(_MEAN)}
        self._take(PolicyNetwork(self.settings.config, weights_of(state)), mean or None)
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


# Positions


class _Positions:
    """A batch as tensors."""

    def __init__(self, settings: PolicyTraining, batch: Batch) -> None:
        self.planes = torch.from_numpy(batch.planes)
        self.moves = torch.from_numpy(batch.moves)
        self.global_inputs = global_inputs(settings.config, batch)
        self._replies = torch.from_numpy(batch.replies)
        self._scores = torch.from_numpy(batch.scores) / SCORE_SCALE
        self._won = torch.from_numpy(batch.won.astype(np.float32))
        self._visits = torch.from_numpy(batch.visits)
        searched = torch.from_numpy(batch.searched)
        won = (self._won + 1) / 2
        self._wins = torch.where(searched.isnan(), won, torch.lerp(won, searched, settings.searched_share))
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

    def move_loss(self, logits: Tensor) -> Tensor:
        """Of what was played, or of what a search thought of all moves, summed."""
        if not self._visits.shape[1]:
            return cross_entropy(logits, self.moves, reduction="sum")
        log_shares = torch.log_softmax(logits, dim=1).masked_fill(self._visits == 0, 0.0)
        return -(self._visits * log_shares).sum()

    def value_loss(self, prediction: Prediction) -> Tensor:
        """Of the outcome where it is known, or between it and what a search thought, summed."""
        if prediction.value is None:
            return torch.zeros(())
        losses = binary_cross_entropy_with_logits(prediction.value, self._wins, reduction="none")
        return (losses * self._won.abs()).sum()

    def score_loss(self, prediction: Prediction) -> Tensor:
        """Of the score where it is known, and of what is expected of its error and the value's, summed."""
        if (
            prediction.score is None
            or prediction.spread is None
            or prediction.doubt is None
            or prediction.value is None
        ):
            return torch.zeros(())
        known = ~self._scores.isnan()
        scores = torch.where(known, self._scores, 0.0)
        losses = smooth_l1_loss(prediction.score, scores, reduction="none", beta=0.5)
        errors = (scores - prediction.score).abs().detach()
        losses = losses + smooth_l1_loss(prediction.spread.exp(), errors, reduction="none", beta=0.5)
        wrong = (torch.sigmoid(prediction.value.detach()) - (self._won + 1) / 2).square()
        doubts = (torch.sigmoid(prediction.doubt) - wrong).square() * self._won.abs()
        return (losses * known).sum() + doubts.sum()

    def score_error(self, prediction: Prediction) -> tuple[float, int]:
        """The sum of errors in points, and of how many positions."""
        if prediction.score is None:
            return 0.0, 0
        errors = (prediction.score - self._scores).abs()
        return float(errors.nansum()) * SCORE_SCALE, int((~errors.isnan()).sum())

    def reply_loss(self, prediction: Prediction) -> Tensor:
        """Of what the opponent played next, where there is such a move, summed."""
        if prediction.reply is None:
            return torch.zeros(())
        return cross_entropy(prediction.reply, self._replies, reduction="sum", ignore_index=-1)

    def ownership_loss(self, prediction: Prediction) -> Tensor:
        """Of who owned each point where it is known, averaged over the points of a board and summed over boards."""
        if prediction.ownership is None:
            return torch.zeros(())
        known = self._owners != NO_LABEL
        losses = binary_cross_entropy_with_logits(prediction.ownership, (self._owners + 1) / 2, reduction="none")
        return (losses * known).mean(1).sum()

    def ownership_hits(self, prediction: Prediction) -> tuple[int, int]:
        """How many points were given to their owner, and how many were owned by either."""
        if prediction.ownership is None:
            return 0, 0
        owned = self._owners.abs() == 1
        return int(((prediction.ownership * self._owners > 0) & owned).sum()), int(owned.sum())


def global_inputs(config: PolicyConfig, batch: Batch) -> GlobalInputs:
    """What a network is given of the positions of a batch beside planes."""
    ranks = batch.ranks.astype(np.int64) + config.rank_count * batch.servers.astype(np.int64)
    return GlobalInputs(torch.from_numpy(ranks), torch.from_numpy(batch.komi))


def predict(learner: Learner, batch: Batch) -> Tensor:
    """The logits of what would be played, [B, n²]; illegal points are −∞ if they are masked."""
    positions = _Positions(learner.settings, batch)
    with torch.no_grad():
        return positions.mover_logits(learner.result.predict(positions.planes, positions.global_inputs))


def validate(learner: Learner, held_out: Batch) -> dict[str, float]:
    """The mean loss, top-k accuracies, the shares of winners and owners that were known, the mean error in points."""
    loss = 0.0
    places: list[Tensor] = []
    values: list[Tensor] = []
    owners, errors = np.zeros(2), np.zeros(2)
    for first in range(0, len(held_out.moves), _AT_ONCE):
        positions = _Positions(learner.settings, held_out.only(slice(first, first + _AT_ONCE)))
        with torch.no_grad():
            prediction = learner.result.predict(positions.planes, positions.global_inputs)
            logits = positions.mover_logits(prediction)
        loss += float(positions.move_loss(logits))
        places.append((logits > logits.gather(1, positions.moves[:, None])).sum(1))
        values.append(torch.zeros(0) if prediction.value is None else prediction.value)
        owners += positions.ownership_hits(prediction)
        errors += positions.score_error(prediction)
    place = torch.cat(places)
    found = {"loss": loss / len(held_out.moves)}
    found |= {f"top_{top}": float((place < top).float().mean()) for top in TOP}
    if learner.settings.value:
        won = torch.from_numpy(held_out.won.astype(np.float32))
        found["value_hits"] = float((torch.cat(values) * won > 0).sum() / (won != 0).sum().clamp(min=1))
    if learner.settings.ownership:
        found["ownership_hits"] = float(owners[0] / max(1, owners[1]))
    if learner.settings.score:
        found["score_error"] = float(errors[0] / max(1, errors[1]))
    return found | {"positions": len(held_out.moves)}


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


_MEMORY: Final[Mapping[type[torch.optim.Optimizer], tuple[str, ...]]] = {
    torch.optim.AdamW: ("exp_avg", "exp_avg_sq"),
    Muon: ("momentum",),
    torch.optim.SGD: (),
}  # what an optimizer keeps for each weight


def _new_optimizers(settings: PolicyTraining, net: PolicyNetwork) -> list[torch.optim.Optimizer]:
    if settings.optimizer == "sgd":
        return [torch.optim.SGD(net.learned.values(), lr=settings.step_size)]
    hidden = [f"layers.{layer}.weight" for layer in range(1, settings.layers)]  # filters from one to the next
    by_muon = hidden if settings.optimizer == "muon" else []
    groups = [
        {"params": [weight], "weight_decay": settings.decay if name.endswith(_MATRICES) else 0.0}
        for name, weight in net.learned.items()
        if name not in by_muon
    ]
    optimizers: list[torch.optim.Optimizer] = [torch.optim.AdamW(groups, lr=settings.step_size, betas=_BETAS)]
    if by_muon:
        optimizers.append(Muon([net.learned[name] for name in by_muon], settings.step_size, settings.decay))
    return optimizers


# Several processes that learn together, started by ``torchrun``: each has its share of every batch.
#
# What they sum, they sum over gloo. A process that torchrun did not start is alone, and nothing here costs it anything.


@contextmanager
def joined_processes() -> Iterator[None]:
    """Meet the other processes, if there are any, for as long as the block takes."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield
        return
    # Imported later, as optimizers do, it would keep the group and its threads to the end of the interpreter, which
    # these now and then do not survive: its functions take the group of now as a default.
    import torch.distributed.nn.functional  # noqa: F401

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
    return batch.only(slice(distributed.get_rank(), None, distributed.get_world_size()))


def sum_over_processes(tensors: Iterable[Tensor]) -> None:
    """Put into each tensor the sum of all processes."""
    if is_shared():
        for tensor in tensors:
            distributed.all_reduce(tensor)


def broadcast(something: Any) -> Any:
    """What the first process has, in every process."""
    if not is_shared():
        return something
    sent = [something]
    distributed.broadcast_object_list(sent)
    return sent[0]


# Replicas: processes of one machine that learn apart, each from batches of its own, and meet in the mean.
#
# Every so many batches the weights, what the optimizers remember and the running means become the mean of all of them
# (local SGD, Stich 2019). Between two meetings nobody waits for anybody, so that two cores learn from nearly twice as
# many positions. Which batch is whose follows from its number: a run resumes to the same bytes, and Ctrl-C finds all
# where they met.

_State = dict[str, NDArray[Any]]


class Replicas:
    """A learner and its helpers, which take turns in nothing; a context manager that ends them."""

    def __init__(self, learner: Learner, batches: AnyBatches, workers: int) -> None:
        """Start the other processes; ``workers`` threads of each compute batches ahead."""
        self._learner, self._batches, self._workers = learner, batches, workers
        self._helpers: list[tuple[BaseProcess, Connection]] = []
        context = multiprocessing.get_context("spawn")
        for _ in range(1, learner.settings.replicas):
            here, there = context.Pipe()
            process = context.Process(target=_help, args=(there, learner.settings, workers), daemon=True)
            process.start()
            there.close()
            self._helpers.append((process, here))

    def update(self) -> Losses:
        """Learn from as many batches as all replicas do until they meet, or from what is left."""
        settings, first = self._learner.settings, self._learner.step
        left = settings.steps - first
        counts = [min(settings.meet_every, -(-left // settings.replicas))] * settings.replicas
        start = self._learner.state_dict()
        try:
            for number, (_, pipe) in enumerate(self._helpers, 1):
                pipe.send((start, first + number * counts[0], counts[number]))
            own = _learn(self._learner, self._batches, first, counts[0], self._workers)
            found = [(self._learner.state_dict(), own), *(pipe.recv() for _, pipe in self._helpers)]
        except (EOFError, OSError):
            raise TrainingError("a process that learns along has ended: give the same command again") from None
        states, losses = zip(*found, strict=True)
        met = average(states) | {"step": np.array([first + sum(counts)])}
        self._learner.load_state_dict(met)
        return add_up(losses)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process, pipe in self._helpers:
            pipe.close()
            process.terminate()
            process.join()


def average(states: Sequence[_State]) -> _State:
    """The mean of every array of states."""
    every = {name: np.stack([state[name] for state in states]) for name in states[0]}
    return {name: np.asarray(arrays.mean(axis=0, dtype=arrays.dtype)) for name, arrays in every.items()}


def _help(pipe: Connection, settings: PolicyTraining, workers: int) -> None:
    """Learn what the first process asks for until it is gone."""
    from katachi.policy.train import open_batches

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which is for the first process
    torch.set_num_threads(1)
    batches, learner = open_batches(settings), Learner(settings)
    while True:
        try:
            state, first, count = pipe.recv()
        except EOFError:
            return
        learner.load_state_dict(state)
        losses = _learn(learner, batches, first, count, workers)
        pipe.send((learner.state_dict(), losses))


def _learn(learner: Learner, batches: AnyBatches, first: int, count: int, workers: int) -> Losses:
    """Learn from so many batches, from one of a number on."""
    replicas = learner.settings.replicas
    with closing(compute_ahead(batches.__getitem__, first, workers)) as stream:
        return add_up([learner.update(next(stream), replicas) for _ in range(count)])
