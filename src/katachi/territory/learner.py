"""Learning who will own each point: one step of a DAG-RNN, and what it knows of held-out positions.

Two recipes: plain gradient descent, a step after every ten positions (Wu and Baldi 2006, whose step size is not
known), and Adam over larger batches (Kingma and Ba 2015). The loss is the relative entropy of targets and outputs,
summed over the points of a board.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from katachi.core.contracts import Floats, Ints
from katachi.core.training import name_weights, step_share, weights_of
from katachi.features.influence import GroupKind
from katachi.territory.dag_rnn import DagRnn, Gradient
from katachi.territory.dag_rnn_config import DagRnnConfig
from katachi.territory.inputs import PointInputs
from katachi.territory.territory_batches import Positions, TargetSettings

_BETAS: Final = (0.9, 0.99)
_TINY: Final = 1e-8
PHASES: Final = (0.15, 0.3, 0.45, 0.6)  # of the points of a board that hold stones: where one phase ends
_POINTS: Final = np.geomspace(0.5, 100, 200)  # among which the worth of a point is sought


class TerritoryRecipe(DagRnnConfig):
    """A network, and how it learns; the defaults are the paper's network, and our own recipe."""

    group: GroupKind = "chain"
    influence: Literal["exact", "stringent", "bouzy", "zobrist"] = "exact"
    target_share: float = Field(default=0.25, ge=0, le=1)  # of what stands soon in what is to be learned
    target_ahead: int = Field(default=2, ge=0)  # how soon, in moves
    positions: int = Field(default=1_000_000, ge=1)  # to learn from in all
    batch: int = Field(default=32, ge=1)
    optimizer: Literal["adam", "sgd"] = "adam"
    step_size: float = Field(default=0.003, gt=0, le=10, allow_inf_nan=False)
    warmup: float = Field(default=0.01, ge=0, lt=1)  # the share of positions in which the step size rises
    schedule: Literal["cosine", "constant"] = "cosine"  # to zero, or not at all
    policy_loss: float = Field(default=1.0, ge=0, le=1000)  # the weight of a move beside that of all points
    seed: int = Field(default=0, ge=0)

    @property
    def config(self) -> DagRnnConfig:
        """The network alone."""
        return DagRnnConfig(**{name: getattr(self, name) for name in DagRnnConfig.model_fields})

    @property
    def inputs(self) -> PointInputs:
        """What the network is told."""
        return PointInputs.model_validate({"group": self.group, "influence": self.influence})

    @property
    def target(self) -> TargetSettings:
        return TargetSettings(self.target_share, self.target_ahead)

    @property
    def steps(self) -> int:
        """How many batches there are to learn from."""
        return -(-self.positions // self.batch)

    def step_size_at(self, step: int) -> float:
        """The step size of a step from 0 on."""
        return self.step_size * step_share(self.schedule, self.warmup, step, self.steps)


class TerritoryTraining(TerritoryRecipe):
    """How a network learns from a set of games."""

    data: str  # the folder of a set of games with labels
    weakest: str | None = None  # the lowest rank of both players whose games are learned from, such as 1d
    exchanges: bool = True  # whether colors change places at random, unless boards are shown by_mover
    evaluate_every: int = Field(default=50_000, ge=1)  # positions
    validation_positions: int = Field(default=1000, ge=1)
    first_model: str | None = None  # a run or a model whose weights to begin with, for a new schedule


class Losses(NamedTuple):
    """Sums over some positions."""

    positions: int
    ownership: float  # relative entropy
    moves: float  # −log p of what was played


class TerritoryLearner:
    """A network that learns batch by batch; the same batches give the same weights to the last bit."""

    def __init__(
        self, settings: TerritoryRecipe, weights: Mapping[str, NDArray[Any]] | None = None, threads: int = 1
    ) -> None:
        """Begin with the given weights or with new ones; raises ValueError if they do not fit.

        Several threads share every batch; their number changes how sums are rounded.
        """
        self.settings = settings
        config, inputs = settings.config, settings.inputs
        self.net = DagRnn.new(config, inputs, settings.seed) if weights is None else DagRnn(config, inputs, weights)
        self.step = 0
        self._threads = threads
        self._mean, self._square = np.zeros_like(self.net.weights), np.zeros_like(self.net.weights)

    @property
    def positions(self) -> int:
        """The positions that were learned from."""
        return self.step * self.settings.batch

    @property
    def is_finished(self) -> bool:
        return self.step >= self.settings.steps

    def update(self, batch: Positions) -> Losses:
        """Learn from a batch, and say what was known of it before."""
        gradient = self._gradient(batch)
        step_size = self.settings.step_size_at(self.step)
        self.step += 1
        if self.settings.optimizer == "sgd":
            change = step_size * gradient.slopes
        else:
            change = step_size * self._adam(gradient.slopes / np.float32(len(batch.inputs)))
        self.net.load((self.net.weights - change).astype(np.float32))
        return Losses(len(batch.inputs), gradient.ownership, gradient.moves)

    def _adam(self, slopes: Floats) -> Floats:
        """The direction in which Adam goes."""
        first, second = _BETAS
        self._mean += np.float32(1 - first) * (slopes - self._mean)
        self._square += np.float32(1 - second) * (slopes * slopes - self._square)
        mean = self._mean / np.float32(1 - first**self.step)
        square = self._square / np.float32(1 - second**self.step)
        return np.asarray(mean / (np.sqrt(square) + np.float32(_TINY)))

    def _gradient(self, batch: Positions) -> Gradient:
        if self._threads == 1:
            return self._gradient_of(batch)
        bounds = np.linspace(0, len(batch.inputs), self._threads + 1).astype(int)
        parts = [batch.part(slice(first, last)) for first, last in pairwise(bounds)]
        with ThreadPoolExecutor(self._threads) as pool:
            return _sum(pool.map(self._gradient_of, parts))

    def _gradient_of(self, part: Positions) -> Gradient:
        size = math.isqrt(part.targets.shape[1])
        return self.net.gradient(part.inputs, size, part.targets, part.played, self.settings.policy_loss)

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that is needed to go on."""
        state = name_weights(self.net.arrays())
        return state | {"mean": self._mean, "square": self._square, "step": np.array([self.step])}

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state; raises ValueError if it is not one of these settings."""
        self.net = DagRnn(self.settings.config, self.settings.inputs, weights_of(state))
        try:
            self.step = int(state["step"][0])
            self._mean, self._square = state["mean"].copy(), state["square"].copy()
        except (KeyError, IndexError) as error:
            raise ValueError(f"it is not of these settings: {error} is missing") from None


def _sum(gradients: Iterable[Gradient]) -> Gradient:
    slopes, ownership, moves = zip(*gradients, strict=True)
    return Gradient(np.sum(slopes, axis=0, dtype=np.float32), sum(ownership), sum(moves))


# What is known of held-out positions


def validate(net: DagRnn, held_out: Positions) -> dict[str, float]:
    """The mean loss of a position, and the share of points known right, over all positions and by phase of the game.

    A point is known right if its owner in the end is the likelier one; points that nobody owned do not count.
    Phases are told by how full the board is, 0 being the emptiest; one without positions is left out.
    """
    size = math.isqrt(held_out.targets.shape[1])
    logits = net.logits(held_out.inputs, size)
    losses = relative_entropies(logits[:, :, 0].astype(np.float64), held_out.targets.astype(np.float64)).sum(axis=1)
    right, owned = count_known(logits, held_out)
    phases = phases_of(held_out)
    found = {"loss": float(losses.mean()), "right": float(right.sum() / max(1, owned.sum()))}
    for phase in np.unique(phases).tolist():
        here = phases == phase
        found[f"loss_{phase}"] = float(losses[here].mean())
        found[f"right_{phase}"] = float(right[here].sum() / max(1, owned[here].sum()))
    if net.config.policy:
        found |= _validate_moves(logits, held_out)
    return found | {"positions": len(losses), "points": int(owned.sum())}


def count_known(logits: Floats, held_out: Positions) -> tuple[Ints, Ints]:
    """How many points of each position are known right, and how many are owned by somebody, [B] each."""
    right = (logits[:, :, 0] * held_out.owned > 0).sum(axis=1)
    return np.asarray(right), np.asarray((held_out.owned != 0).sum(axis=1))


def phases_of(held_out: Positions) -> Ints:
    """The phase of the game of each position, [B], by how full the board is."""
    return np.asarray(np.searchsorted(PHASES, held_out.stones / held_out.targets.shape[1], side="right"))


def relative_entropies(logits: NDArray[np.float64], targets: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of targets and outputs, [B, n²]."""
    cross = np.logaddexp(0, logits) - targets * logits
    clipped = np.clip(targets, 1e-300, 1), np.clip(1 - targets, 1e-300, 1)
    entropy = -(targets * np.log(clipped[0]) + (1 - targets) * np.log(clipped[1]))
    return np.asarray(cross - entropy)


def _validate_moves(logits: Floats, held_out: Positions) -> dict[str, float]:
    points = held_out.targets.shape[1]
    told = np.flatnonzero(held_out.played >= 0)
    color, played = np.divmod(held_out.played[told], points)
    policies = logits[told, :, 1 + color].astype(np.float64)
    top = policies.max(axis=1, keepdims=True)
    totals = np.log(np.exp(policies - top).sum(axis=1)) + top[:, 0]
    losses = totals - policies[np.arange(told.size), played]
    return {"move_loss": float(losses.mean()), "top_1": float((policies.argmax(axis=1) == played).mean())}


def fit_points(net: DagRnn, held_out: Positions) -> float:
    """How many points of an expected lead make e : 1 of the odds of a win: what fits the winners best.

    The expected lead of a position counts ownership; komi is that of its game, and games without one do not count.
    """
    size = math.isqrt(held_out.targets.shape[1])
    komi = held_out.owned.sum(axis=1) - held_out.leads
    leads = (2 * net.ownership(held_out.inputs, size) - 1).sum(axis=1) - komi
    known = np.isfinite(held_out.leads) & (held_out.leads != 0)
    margins = (leads * np.sign(held_out.leads))[known]
    losses = [np.logaddexp(0, -margins / points).sum() for points in _POINTS]
    return float(_POINTS[int(np.argmin(losses))])
