"""Learning to foretell moves from games: one step of a convolutional network, and what it knows of held-out
positions.

Two recipes: plain stochastic gradient descent at a fixed rate that is halved three times at the end (Maddison, Huang,
Sutskever and Silver 2014, section 3.4), and AdamW with a warm-up and a cosine to zero (Loshchilov and Hutter 2019).
For long runs there are Muon (`policy/muon.py`) and a trapezoid, of which all but the end is the same for any number
of positions.

Several processes may share every batch (``torchrun``): each takes its part of the positions, and gradients and the
statistics of normalized layers are summed, so that they learn what one process would. The paper's replicas were
asynchronous.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, field_serializer, field_validator
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from katachi.core.training import name_weights, step_share, weights_of
from katachi.data.batches import Batch
from katachi.data.dataset import NO_LABEL
from katachi.go.points import WHITE
from katachi.policy.config import CnnConfig
from katachi.policy.convolutions import Products, products_type
from katachi.policy.muon import Muon
from katachi.policy.network import Cnn, Prediction
from katachi.policy.planes import PLANES
from katachi.policy.processes import own_share, sum_over_processes

_BETAS: Final = (0.9, 0.98)
_MATRICES: Final = ("weight", "hidden", "output")  # which weights decay, by the ends of their names
_MEMORY: Final[Mapping[type[torch.optim.Optimizer], tuple[str, ...]]] = {
    torch.optim.AdamW: ("exp_avg", "exp_avg_sq"),
    Muon: ("momentum",),
    torch.optim.SGD: (),
}  # what an optimizer keeps for each weight
TOP: Final = (1, 5, 10)
_AT_ONCE: Final = 128  # held-out positions


class CnnTraining(CnnConfig):
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
    def config(self) -> CnnConfig:
        """The network alone."""
        return CnnConfig(**{name: getattr(self, name) for name in CnnConfig.model_fields})

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

    def __init__(self, settings: CnnTraining, weights: Mapping[str, NDArray[np.float32]] | None = None) -> None:
        """Begin with the given weights or with new ones; raises ValueError if they do not fit."""
        self.settings = settings
        self.step = 0
        self._take(Cnn.new(settings.config, settings.seed) if weights is None else Cnn(settings.config, weights))

    def _take(self, net: Cnn) -> None:
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
        self._take(Cnn(self.settings.config, weights_of(state)))
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


def _new_optimizers(settings: CnnTraining, net: Cnn) -> list[torch.optim.Optimizer]:
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

    def __init__(self, settings: CnnTraining, batch: Batch) -> None:
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


def foretell(learner: Learner, batch: Batch) -> Tensor:
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
