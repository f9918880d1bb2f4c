"""What a convolutional network is made of: its layers, its weights by name and shape, and how many there are.

Two kinds. *plain* is the network of Maddison, Huang, Sutskever and Silver (2014): convolutions with ReLU one after
another, each with a bias of its own for every filter and point. *residual* has a first layer and then blocks of two
layers that add to what they were given (He et al. 2016). All layers see the whole board, padded with zeros.

```
planes → layer 0 → … → layer L−1 → policy: logits of n² points, for the mover or for Black and White apart
                                 → value:  the logit that the mover wins; the score, its spread, and the value's doubt
                                 → ownership: for each point, the logit that it will be the mover's
                                 → reply:  logits of n² points for the opponent's next move, in training only
```

Where there is ownership, its sum is the lead that the score corrects. The first layer may be given the mover's rank
and server, and komi. With *pooling* every second block of a residual net and the value see the mean and the maximum of
each filter over the whole board (Wu 2019).

>>> paper = PolicyConfig.maddison(layers=12, filters=128)
>>> paper.parameter_count(), paper.connection_count(), paper.unit_count()
(2294738, 627966720, 554496)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, Self

from pydantic import Field, field_serializer, field_validator, model_validator

from katachi.core.cards import Strict
from katachi.core.training import (
    DATA,
    DATA_SIZE,
    FIRST_RUN,
    POSITIONS,
    SEED,
    Count,
    DatasetTraining,
    Machine,
    MetricLine,
    Observer,
    Seed,
    TrainingCommand,
    check_dataset_settings,
    part_of,
    step_share,
)
from katachi.go.points import MAX_SIZE
from katachi.policy.planes import PLANES
from katachi.sgf.record import count_ranks

VALUE_UNITS: Final = 32
OUTCOME_UNITS: Final = 96  # of a value that is also a score; what they are given is centered and scaled
KOMI_SCALE: Final = 10.0  # points
SCORE_SCALE: Final = 20.0  # points
DEVIATION: Final = math.sqrt(math.pi / 2)  # standard deviations in a mean error, of normal errors
VALUE, SCORE, SPREAD, DOUBT = range(4)  # rows of the value's outputs
EPSILON: Final = 1e-5  # beside the variance in normalization
Shape = tuple[int, ...]

_STATISTICS: Final = ("mean", "variance")  # of a normalized layer: followed in training, not learned by gradients


class PolicyConfig(Strict):
    """A network without its weights; the defaults are our own for a CPU."""

    planes: str = "mover"
    size: int | None = Field(default=19, ge=2, le=MAX_SIZE)  # None: any size, without position biases
    kind: Literal["plain", "residual"] = "residual"
    layers: int = Field(default=9, ge=1, le=101)  # before the output; of a residual net the first one and two a block
    filters: int = Field(default=64, ge=1, le=1024)
    first_kernel: Literal[1, 3, 5, 7] = 3  # the width of the first layer's filters; the others have 3
    output_kernel: Literal[1, 3] = 1
    position_bias: bool = True  # a bias for every point: in all layers of a plain net, at both ends of a residual one
    normalized: bool = True  # by the mean and variance of the batch (Ioffe and Szegedy 2015)
    outputs: Literal[1, 2] = 1  # one policy for the mover, or one for Black and one for White
    symmetric: bool = False  # whether all filters and bias maps are the mean of their eight symmetries
    rank_embedding: bool = True  # whether the first layer has a bias for every filter and rank of the mover
    kyu_ranks: bool = False  # whether ranks go down to 30k, or end with 1d
    servers: str = ""  # names of servers that games are from, whose ranks differ: a bias for every filter and server
    komi: bool = False  # whether the first layer and the value are given komi
    pooling: bool = False
    value: bool = False
    score: bool = False  # whether the value comes with the expected score, its spread and the doubt in the value
    ownership: bool = False
    reply: bool = False

    @field_validator("planes")
    @classmethod
    def _known_planes(cls, planes: str) -> str:
        if planes not in PLANES:
            raise ValueError(f"there are no planes {planes}: {', '.join(PLANES)} there are")
        return planes

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.kind == "residual" and self.layers % 2 == 0:
            raise ValueError("layers of a residual net are odd: the first one, and two for every block")
        if self.size is None and self.position_bias:
            raise ValueError("a net for any size has no position_bias")
        if self.normalized and self.filters % 8:
            raise ValueError("filters of a normalized net are a multiple of 8")
        if self.score and not self.value:
            raise ValueError("a score belongs to a value: value = true")
        if (self.servers or self.kyu_ranks) and not self.rank_embedding:
            raise ValueError("servers and kyu_ranks belong to a rank_embedding")
        if self.pooling and self.kind == "plain":
            raise ValueError("pooling belongs to residual blocks")
        return self

    @classmethod
    def maddison(cls, layers: int, filters: int, **changes: Any) -> Self:
        """The paper's network of so many layers, the first one 5×5, and filters."""
        paper: dict[str, Any] = {
            "planes": "maddison-36",
            "kind": "plain",
            "first_kernel": 5,
            "output_kernel": 3,
            "normalized": False,
            "outputs": 2,
            "rank_embedding": False,
        }
        return cls(**(paper | changes), layers=layers, filters=filters)

    @property
    def inputs(self) -> int:
        """How many planes there are."""
        return PLANES[self.planes].count

    @property
    def blocks(self) -> int:
        """The residual blocks."""
        return (self.layers - 1) // 2 if self.kind == "residual" else 0

    @property
    def rank_count(self) -> int:
        """The ranks that there are, with the unknown one."""
        return count_ranks(kyu=self.kyu_ranks)

    @property
    def counts(self) -> bool:
        """Whether its value is given the lead by who will own what, which its score corrects."""
        return self.score and self.ownership

    @property
    def server_names(self) -> list[str]:
        """The servers, the usual one first."""
        return self.servers.split()

    def has_pooling(self, layer: int) -> bool:
        """Whether the second layer of a block is given the whole board."""
        return self.pooling and layer > 0 and layer % 4 == 0

    def has_position_bias(self, layer: int) -> bool:
        """Whether a layer has a bias for every point."""
        return self.position_bias and (self.kind == "plain" or layer == 0)

    def has_bias(self, layer: int) -> bool:
        """Whether a layer has a bias beside that of its normalization, which makes one for each filter idle."""
        return not self.normalized or self.has_position_bias(layer)

    def weight_shapes(self) -> dict[str, Shape]:
        """All arrays of weights by name: filters are [outputs, inputs, height, width], bias maps [outputs, n, n]."""
        shapes: dict[str, Shape] = {}
        for layer in range(self.layers):
            kernel, inputs = (3, self.filters) if layer else (self.first_kernel, self.inputs)
            shapes[f"layers.{layer}.weight"] = (self.filters, inputs, kernel, kernel)
            if self.has_bias(layer):
                shapes[f"layers.{layer}.bias"] = (self.filters, *self._map(self.has_position_bias(layer)))
            if self.normalized:
                shapes |= {f"layers.{layer}.{name}": (self.filters,) for name in ("gain", "shift", *_STATISTICS)}
            if self.has_pooling(layer):
                shapes[f"layers.{layer}.pooling"] = (self.filters, 2 * self.filters)
        if self.rank_embedding:
            shapes["ranks"] = (self.rank_count, self.filters)
        if self.servers:
            shapes["servers"] = (len(self.server_names), self.filters)
        if self.komi:
            shapes["komi"] = (self.filters,)
        shapes["policy.weight"] = (self.outputs, self.filters, self.output_kernel, self.output_kernel)
        shapes["policy.bias"] = (self.outputs, *self._map(self.position_bias))
        if self.value:
            units, outputs = (OUTCOME_UNITS, 4) if self.score else (VALUE_UNITS, 1)
            seen = (1 + self.pooling) * self.filters + self.komi + self.counts
            shapes |= {"value.hidden": (units, seen), "value.hidden_bias": (units,)}
            shapes |= {"value.output": (outputs, units), "value.output_bias": (outputs,)}
        for head in ("ownership", "reply"):
            if getattr(self, head):
                shapes[f"{head}.weight"] = (1, self.filters, self.output_kernel, self.output_kernel)
                shapes[f"{head}.bias"] = (1, *self._map(self.position_bias))
        return shapes

    def _map(self, wanted: bool) -> Shape:
        return (self.size, self.size) if wanted and self.size is not None else ()

    def parameter_count(self) -> int:
        """How many numbers are learned."""
        return sum(math.prod(shape) for name, shape in self.weight_shapes().items() if is_learned(name))

    def connection_count(self) -> int:
        """How many products the convolutions sum for one board; raises ValueError if the net has no size."""
        filters = (shape for shape in self.weight_shapes().values() if len(shape) == 4)
        return self._points() * sum(map(math.prod, filters))

    def unit_count(self) -> int:
        """How many hidden units there are on one board; raises ValueError if the net has no size."""
        return self._points() * self.layers * self.filters

    def _points(self) -> int:
        if self.size is None:
            raise ValueError("a net for any size has no number of units")
        return self.size * self.size


def is_learned(name: str) -> bool:
    """Whether weights of this name are learned by gradients; the statistics of normalized layers are not."""
    return name.rpartition(".")[2] not in _STATISTICS


# Training: the settings, and the command of ``katachi train``. Here, because neither needs torch.

TOP: Final = (1, 5, 10)
Products = Literal["float32", "bfloat16", "auto"]


class PolicyTraining(DatasetTraining, PolicyConfig):
    """A network, and how it learns."""

    positions: Count = 2_000_000
    optimizer: Literal["adamw", "sgd", "muon"] = "adamw"  # Muon for filters between hidden layers, AdamW for the rest
    step_size: float = Field(default=0.002, gt=0, le=10, allow_inf_nan=False)
    schedule: Literal["cosine", "halvings", "trapezoid"] = "cosine"
    warmup: float = Field(default=0.05, ge=0, le=1)  # the share of positions in which the learning rate rises
    decay: float = Field(default=0.02, ge=0, le=1)  # of filters, for AdamW and Muon
    mask_illegal: bool = True  # whether illegal points have no part in the softmax
    value_loss: float = Field(default=0.25, ge=0, le=100)  # its weight beside that of the moves, if there is a value
    ownership_loss: float = Field(default=0.5, ge=0, le=100)  # the same for who will own a point, averaged over points
    score_loss: float = Field(default=0.1, ge=0, le=100)
    reply_loss: float = Field(default=0.15, ge=0, le=100)
    searched_share: float = Field(default=0.5, ge=0, le=1)  # of what a search thought in the outcome that is learned
    symmetries: bool = True  # whether positions are turned and mirrored at random
    products: Products = "float32"  # of convolutions in training; "auto" depends on the CPU, also when a run resumes
    seed: Seed = 0
    balanced: bool = False  # whether games of players of rare ranks come more often
    more_data: list[str] = Field(default_factory=list, max_length=15)  # sets of the other servers, in their order
    more_shares: list[float] = Field(default_factory=list)  # of every batch, one for each of these sets
    more_until: float = Field(default=0.8, ge=0, le=1)  # the share of positions after which ``data`` is alone
    # of what weights were a step before in their running mean, which is measured and saved; 0: the last weights are
    mean_decay: float = Field(default=0.0, ge=0, lt=1)
    replicas: int = Field(default=1, ge=1, le=256)  # processes that learn apart, and meet in the mean of their weights
    meet_every: Count = 50  # batches of each of them
    evaluate_every: Count = 50_000  # positions
    validation_positions: Count = 4096
    first_model: str | None = None  # a run or a model whose weights to start from, for a new schedule

    @field_validator("size", mode="before")
    @classmethod
    def _any_size(cls, size: object) -> object:
        """TOML has no None."""
        return None if size == "any" else size

    @field_serializer("size")
    def _name_any_size(self, size: int | None) -> int | str:
        return "any" if size is None else size

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        if (
            len(self.more_shares) != len(self.more_data)
            or not sum(self.more_shares) < 1
            or min(self.more_shares, default=1) <= 0
        ):
            raise ValueError("more_shares has a share for each set of more_data, and leaves some of the batch to data")
        if self.servers and len(self.server_names) != 1 + len(self.more_data):
            raise ValueError("servers names that of data, and one for each set of more_data")
        return self

    @property
    def config(self) -> PolicyConfig:
        """The network alone."""
        return part_of(self, PolicyConfig)

    def step_size_at(self, step: int) -> float:
        """The learning rate of a step from 0 on."""
        return self.step_size * step_share(self.schedule, self.warmup, step, self.steps)


def _summarize(_: PolicyTraining, lines: Sequence[MetricLine]) -> str:
    """The last accuracy on held-out positions."""
    if not lines:
        return ""
    values = lines[-1].values
    tops = ", ".join(f"top-{top} {values[f'validation_top_{top}']:.1%}" for top in TOP)
    return f"held-out positions: {tops}, loss {values['validation_loss']:.3f}"


def _parse(values: dict[str, Any]) -> PolicyTraining:
    from katachi.data.dataset import infer_size

    return infer_size(values, partial(check_dataset_settings, PolicyTraining, made_by="katachi data import"))


def _train(settings: PolicyTraining, folder: Path, command: str, machine: Machine, observer: Observer) -> None:
    from katachi.policy.train import train_policy

    train_policy(settings, folder, observer.watch, command, machine, observer.tick)


TRAINING: Final = TrainingCommand(
    help="""Learn from game records which move comes next (Maddison, Huang, Sutskever and Silver 2014).

    A run that was interrupted resumes when the same command is given again. Settings are those of the network and of
    learning: layers, filters, planes, step_size … Their names and values are in config.toml of any run.

    Examples:
      katachi data import games/ --out runs/games
      katachi train policy --data runs/games
      katachi train policy --data runs/games --set layers=13 --positions 5000000 --run runs/deep
      katachi train policy --resume runs/deep
      katachi train policy --data runs/games --set layers=13 --from runs/deep --run runs/deeper
      torchrun --standalone --nproc-per-node 2 -m katachi -- train policy --data runs/games --run runs/two
    """,
    options=(DATA, DATA_SIZE._replace(help=f"{DATA_SIZE.help} --set size=any learns all."), POSITIONS, SEED, FIRST_RUN),
    parse=_parse,
    train=_train,
    folder=lambda settings: f"policy-{settings.size or 'any'}",
    summarize=_summarize,
    total=lambda settings: settings.steps * settings.batch,
    recent=lambda sums: f"loss {sums.moves / sums.positions:.3f}, top-1 {sums.hits / sums.positions:.1%}",
    needs=("torch", "onnx"),
    takes_threads=True,
    takes_workers=True,
)
