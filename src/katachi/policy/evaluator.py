"""A convolutional network as an evaluator, through onnxruntime: what people of a rank would play here.

The policy is a softmax over the points that are legal under simple ko. Networks learn from moves alone, so the pass
is given what an even policy would give it: 1 / (legal points + 1). The value is that of the value head; without one
it is a half. The planes need no more than boards, which remember their last moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from katachi.core.cards import ModelError, Strict
from katachi.core.contracts import Evaluation, Floats
from katachi.core.evaluators import WrongBoardSize
from katachi.features.planes import HIGHEST_RANK
from katachi.go.board import Board
from katachi.go.points import BLACK, Symmetry
from katachi.policy.config import CnnConfig
from katachi.policy.onnx_sessions import OnnxNetwork, Shape
from katachi.policy.planes import PLANES

MAX_THREADS: Final = 256


class CnnOptions(Strict):
    """How a network is asked."""

    rank: int | None = Field(default=None, ge=1, le=HIGHEST_RANK)  # dan of the player to imitate; None is the highest
    symmetries: bool = False  # ask about all eight symmetries of a board, and average: eight times the work
    precision: Literal["fp32", "int8"] = "fp32"
    temperature: float = Field(default=1.0, gt=0)  # of the policy: below 1 it is sharper
    threads: int = Field(default=1, ge=1, le=MAX_THREADS)  # that work on one batch


class CnnEvaluator:
    """A network with a policy, and perhaps a value. May be asked from several threads at once."""

    def __init__(self, config: CnnConfig, network: OnnxNetwork, options: CnnOptions) -> None:
        """Raises ModelError if the network is not that of the configuration, or knows no ranks and is given one."""
        self.config = config
        self.options = options
        self.network = network
        self._planes = PLANES[config.planes]
        self._rank = options.rank or HIGHEST_RANK
        if options.rank is not None and not knows_ranks(config):
            raise ModelError("rank is no option of a network that was not told of ranks")
        network.check(*_arrays(config))

    def evaluate(self, boards: Sequence[Board]) -> Evaluation:
        """The policy over legal moves, and the value, averaged over what was asked."""
        self._check_size(boards)
        legal = np.stack([board.legal_moves()[:-1] for board in boards])
        colors = np.array([board.to_play for board in boards])
        heads = ("policy", "value") if self.config.value else ("policy",)
        softmax = np.where(colors == BLACK, 0, self.config.outputs - 1)
        policies, wins = [], []
        for logits, *value in self._ask(boards, heads):
            policies.append(_softmax(logits[np.arange(len(boards)), softmax] / self.options.temperature, legal))
            wins.append(_logistic(value[0]) if value else np.full(len(boards), 0.5))
        mover_wins = np.mean(wins, axis=0)
        black_wins = np.where(colors == BLACK, mover_wins, 1 - mover_wins)
        return Evaluation(black_wins.astype(np.float32), _with_pass(np.mean(policies, axis=0), legal))

    def _ask(self, boards: Sequence[Board], heads: Sequence[str]) -> Iterator[list[Floats]]:
        """What the heads say about boards, once for each symmetry asked; points are those of the boards."""
        planes = self._planes.encode(boards, self._rank)
        rank = {"rank": np.full(len(boards), self._rank, dtype=np.int64)} if self.config.rank_embedding else {}
        for symmetry in Symmetry if self.options.symmetries else (Symmetry.IDENTITY,):
            seen = np.ascontiguousarray(symmetry.transform(planes))
            answers = self.network.run({"planes": seen, **rank}, heads)
            if not all(np.isfinite(answer).all() for answer in answers):
                raise ModelError("the network answers with what is no number")
            came_from = symmetry.points(planes.shape[-1])
            yield [answer if answer.ndim == 1 else answer[..., came_from] for answer in answers]

    def _repr_html_(self) -> str:
        """What it is made of and how it is asked, for notebooks."""
        settings = {**self.config.model_dump(), **self.options.model_dump()}
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(str(value))}</td></tr>" for name, value in settings.items()
        )
        return f"<p>A network that foretells moves</p><table>{rows}</table>"

    def _check_size(self, boards: Sequence[Board]) -> None:
        size = self.config.size
        for board in boards:
            if board.size != (size or boards[0].size):
                wanted = f"{size}×{size} boards" if size else "boards of one size at a time"
                raise WrongBoardSize(f"this network judges {wanted}, not {board.size}×{board.size}")


class CnnOwnershipEvaluator(CnnEvaluator):
    """A network that also says who will own each point. Meets ``OwnershipEvaluator``."""

    def ownership(self, boards: Sequence[Board]) -> Floats:
        """Who will own each point, [B, n²] in [−1, 1]; +1 is Black's."""
        self._check_size(boards)
        colors = np.array([board.to_play for board in boards], dtype=np.float32)
        movers = np.mean([answer for (answer,) in self._ask(boards, ("ownership",))], axis=0, dtype=np.float32)
        black: Floats = np.clip(movers * colors[:, None], -1, 1)
        return black


def knows_ranks(config: CnnConfig) -> bool:
    """Whether a network is told the rank of the player to move, by its planes or otherwise."""
    return config.rank_embedding or any(kind.title == "rank" for kind in PLANES[config.planes].kinds)


def open_cnn(config: CnnConfig, onnx: bytes, options: CnnOptions | None = None) -> CnnEvaluator:
    """The evaluator of a network in an ONNX file; raises ModelError if that is damaged, or not what it should be."""
    options = options or CnnOptions()
    network = OnnxNetwork(onnx, options.threads)
    evaluator = CnnOwnershipEvaluator if config.ownership else CnnEvaluator
    return evaluator(config, network, options)


def _arrays(config: CnnConfig) -> tuple[dict[str, Shape], dict[str, Shape]]:
    """The arrays that must go in and come out of a network, with their shapes."""
    size = config.size
    points = size * size if size else None
    inputs: dict[str, Shape] = {"planes": (None, config.inputs, size, size)}
    if config.rank_embedding:
        inputs["rank"] = (None,)
    outputs: dict[str, Shape] = {"policy": (None, config.outputs, points)}
    if config.value:
        outputs["value"] = (None,)
    if config.ownership:
        outputs["ownership"] = (None, points)
    return inputs, outputs


def _softmax(logits: Floats, legal: NDArray[np.bool_]) -> Floats:
    """Probabilities of the legal points, [B, n²]; all 0 where there is none."""
    highest = np.max(logits, axis=1, where=legal, initial=-np.inf, keepdims=True)
    weights = np.exp(np.where(legal, logits - highest, -np.inf))
    shares: Floats = weights / np.maximum(weights.sum(axis=1, keepdims=True), np.float32(1))  # one is e⁰, if any
    return shares


def _with_pass(shares: Floats, legal: NDArray[np.bool_]) -> Floats:
    """The policy with the share of a pass at its end, [B, n²+1]."""
    passing = 1 / (legal.sum(axis=1, keepdims=True) + 1)
    return np.concatenate([shares * (1 - passing), passing], axis=1).astype(np.float32)


def _logistic(logits: Floats) -> Floats:
    return (1 / (1 + np.exp(-np.clip(logits, -50, 50)))).astype(np.float32)
