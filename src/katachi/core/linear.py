"""A logistic-linear value over any feature set: P(the player who has just moved wins) = σ(Σ occurrences · weights).

The policy is a softmax over the afterstates. Features that have a compiled model of themselves (``CompilableFeatures``)
get that one; features that can sum themselves over all afterstates (``SweepingFeatures``) are asked to; over others the
model goes through ``active``. Models over features that can describe themselves (``SavableFeatures``) can be saved.

Silver, Sutton and Müller 2007, sections 4 and 5: the value is the chance of the player who has just moved, who sees
their own stones as black; ``black_wins`` turns that around where it was White.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Protocol, Union, runtime_checkable

import numpy as np
from pydantic import ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema

from katachi.core.cards import Hex, Metric, ModelCard, ModelError, ReadFile, Strict, Training, digest_file
from katachi.core.contracts import Doubles, Evaluation, FeatureSet, Floats, Ints
from katachi.core.evaluators import (
    DEFAULT_TEMPERATURE,
    WrongBoardSize,
    after,
    check_temperature,
    moves_of,
    softmax_policy,
)
from katachi.core.models import WEIGHTS, blaming, format_weights, open_model, parse_weights, save_model
from katachi.core.registry import references, resolve
from katachi.go.board import Board
from katachi.go.kernels.values import logistic, make_shares
from katachi.go.points import MAX_SIZE, MIN_SIZE
from katachi.go.rules import Rules

_WEIGHTS_SHOWN: Final = 10


# What features may be able to do


@runtime_checkable
class SweepingFeatures(FeatureSet, Protocol):
    """Features that know what a move changes in them."""

    def sum_afterstates(self, board: Board, weights: Floats) -> Doubles:
        """Σ occurrences · weights after each move that is legal under simple ko, [n²+1]; NaN elsewhere."""
        ...


@runtime_checkable
class CompilableFeatures(FeatureSet, Protocol):
    """Features that may have a compiled model of themselves."""

    def compiled_model(self) -> type[LinearModel] | None:
        """The class of it, which takes what ``LinearModel`` takes; None if these features cannot be compiled."""
        ...


@runtime_checkable
class SavableFeatures(FeatureSet, Protocol):
    """Features on boards of one size that a card describes."""

    @property
    def board_size(self) -> int: ...

    @property
    def digest(self) -> str:
        """A short text that changes with anything that fixes the meaning of an index."""
        ...

    def card(self) -> FeatureCard: ...


# The model


class LinearModel:
    """A weight for each feature. Meets ``LogOddsEvaluator``; like ``pathlib.Path`` it makes the fast kind it can."""

    def __new__(cls, features: FeatureSet, weights: Floats, temperature: float = DEFAULT_TEMPERATURE) -> LinearModel:  # noqa: ARG004
        """A compiled model where the features have one of themselves."""
        compiled = features.compiled_model() if isinstance(features, CompilableFeatures) else None
        return super().__new__(compiled if cls is LinearModel and compiled is not None else cls)

    def __init__(self, features: FeatureSet, weights: Floats, temperature: float = DEFAULT_TEMPERATURE) -> None:
        weights = np.asarray(weights, dtype=np.float32)
        if weights.shape != (features.size,):
            raise ValueError(f"{features.name}: {features.size} weights are needed, not {list(weights.shape)}")
        if not np.isfinite(weights).all():
            raise ValueError(f"{features.name}: some of the weights are not numbers")
        self.features = features
        self.weights = weights
        self.temperature = check_temperature(temperature)
        self._sweeping = features if isinstance(features, SweepingFeatures) else None

    def logit(self, board: Board) -> float:
        """The logit of the player who has just moved."""
        self._check_board(board)
        return self._logit(board)

    def evaluate(self, boards: Sequence[Board]) -> Evaluation:
        """The value of each board, and the values of its afterstates as a policy."""
        wins = [logistic(-board.to_play * self.logit(board)) for board in boards]
        policies = [
            softmax_policy(self.evaluate_afterstates(board), board.to_play, self.temperature) for board in boards
        ]
        return Evaluation(np.array(wins, dtype=np.float32), np.stack(policies))

    def evaluate_afterstates(self, board: Board) -> Doubles:
        """P(Black wins) after each move that is legal under simple ko, [n²+1]; NaN elsewhere."""
        values = self.afterstate_log_odds(board)
        make_shares(values, values.size)
        return values

    def afterstate_log_odds(self, board: Board) -> Doubles:
        """The log-odds of Black after each such move, [n²+1]; NaN elsewhere."""
        self._check_board(board)
        if self._sweeping is not None:
            return board.to_play * self._sweeping.sum_afterstates(board, self.weights)
        legal = board.legal_moves()
        values = np.full(legal.size, np.nan)
        for move in moves_of(legal):
            values[move] = board.to_play * self._logit(after(board, move))
        return values

    def _logit(self, board: Board) -> float:
        indices, occurrences = self.features.active(board)
        return float(self.weights[indices].astype(np.float64) @ occurrences)

    def _repr_html_(self) -> str:
        """The largest weights, for notebooks."""
        largest = np.argsort(-np.abs(self.weights), kind="stable")[:_WEIGHTS_SHOWN].tolist()
        cells = [(f"{self.weights[index]:+.3f}", self.features.describe(index)) for index in largest]
        rows = "".join(f"<tr><td>{weight}</td><td><pre>{escape(words)}</pre></td></tr>" for weight, words in cells)
        count = int(np.count_nonzero(self.weights))
        return f"<p>{escape(self.features.name)}: {count:,} weights, the largest of them</p><table>{rows}</table>"

    def _check_board(self, board: Board) -> None:
        size = getattr(self.features, "board_size", board.size)  # feature sets of any size have none
        if board.size != size:
            raise WrongBoardSize(f"this model evaluates {size}×{size} boards, not {board.size}×{board.size}")


# A part of the features


class PrunedFeatures:
    """Some features of a set. Meets ``FeatureSet``."""

    def __init__(self, features: FeatureSet, kept: Ints) -> None:
        """Keep the features with these numbers; raises ValueError if there are none, or they do not exist."""
        self._features = features
        self.kept = np.unique(kept)
        if not kept.size or self.kept.size < kept.size:
            raise ValueError("at least one feature must be kept, and each only once")
        if self.kept[0] < 0 or self.kept[-1] >= features.size:
            raise ValueError(f"{features.name} has {features.size} features: {self.kept[[0, -1]].tolist()} are none")

    @property
    def name(self) -> str:
        return f"{self.size} of {self._features.name}"

    @property
    def size(self) -> int:
        return self.kept.size

    def active(self, board: Board) -> tuple[Ints, Floats]:
        """The features that are left, in the order in which the whole set has them."""
        indices, occurrences = self._features.active(board)
        is_kept = np.isin(indices, self.kept)
        return np.searchsorted(self.kept, indices[is_kept]), occurrences[is_kept]

    def describe(self, index: int) -> str:
        if not 0 <= index < self.size:
            raise ValueError(f"{index} is not a feature: there are {self.size}")
        return self._features.describe(int(self.kept[index]))


# Cards. The digest of the features says whether the weights on disk still mean what the program of today means by
# them; a card that does not match is refused.

FORMAT: Final = 2  # what is written; 1, with all weights in full, is read too


class FeatureCard(Strict):
    """What is needed to make the features of a linear model again: a subclass with a ``kind`` and fields of its own.

    Its system names it under ``feature_cards``.
    """

    if TYPE_CHECKING:  # fields of the subclass, which says in which order they are written
        kind: str
        digest: str

    @abstractmethod
    def build(self, board_size: int) -> SavableFeatures:
        """The features on boards of a size; raises ValueError if there are none such."""


class _Registered:
    """Of the feature cards of all systems the one whose kind it is."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        cards = tuple(resolve(reference) for reference in references("feature_cards").values())
        return handler.generate_schema(Annotated[Union[cards], Field(discriminator="kind")])  # noqa: UP007


class LinearCard(ModelCard):
    """Everything about a linear model but its weights."""

    model_config = ConfigDict(defer_build=True)  # the feature cards of all systems are asked for at the first card

    format: Literal[1, 2] = FORMAT
    kind: Literal["linear"] = "linear"
    board_size: int = Field(ge=MIN_SIZE, le=MAX_SIZE)
    rules: dict[str, str | bool]
    komi: float = Field(ge=-1000, le=1000)
    features: Annotated[FeatureCard, _Registered()]
    temperature: float = Field(gt=0, le=1e6)
    training: Training = Training()
    metrics: dict[str, Metric] = Field(default_factory=dict)
    weights_sha256: Hex = ""

    @property
    def files(self) -> dict[str, str]:
        return {WEIGHTS: self.weights_sha256}

    @property
    def title(self) -> str:
        return f"{self.kind} over {self.features.kind}"

    @property
    def remarks(self) -> list[str]:
        return [f"komi {self.komi:g}"]

    def count_weights(self, read: ReadFile) -> int:
        """How many weights are not 0."""
        return int((self._weights(self.build_features(), read) != 0).sum())

    def build(self, read: ReadFile, options: Strict) -> LinearModel:  # noqa: ARG002 (there are none)
        """The model; raises ValueError if the features are not those of today."""
        features = self.build_features()
        return LinearModel(features, self._weights(features, read), self.temperature)

    def build_features(self) -> SavableFeatures:
        """The features of this card; raises ValueError where there are none such, or they mean something else today."""
        features = self.features.build(self.board_size)
        if features.digest != self.features.digest:
            raise ValueError(f"its features have the digest {self.features.digest}, but {features.digest} today")
        return features

    def _weights(self, features: SavableFeatures, read: ReadFile) -> Floats:
        return parse_weights(read(WEIGHTS), features.size, self.format)


def describe_linear(
    model: LinearModel,
    rules: Rules,
    training: Training | None = None,
    metrics: Mapping[str, Metric] | None = None,
) -> LinearCard:
    """The card of a model; raises ModelError if its features are of a kind that cannot be saved."""
    features = model.features
    if not isinstance(features, SavableFeatures):
        raise ModelError(f"a model over {features.name} cannot be saved: there are no cards for such features")
    return LinearCard(
        board_size=features.board_size,
        rules=rules.to_json(),
        komi=rules.komi,
        features=features.card(),
        temperature=model.temperature,
        training=training or Training(),
        metrics=dict(metrics or {}),
    )


def save_linear(path: Path | str, model: LinearModel, card: LinearCard, *, replace: bool = False) -> None:
    """Write a linear model as ``save_model`` does; raises ModelError if the card is another's."""
    own = describe_linear(model, Rules())
    if (card.features, card.board_size, card.temperature) != (own.features, own.board_size, own.temperature):
        raise ModelError("the card describes another model: its features, board size or temperature differ")
    content = format_weights(model.weights)
    card = card.model_copy(update={"format": FORMAT, "weights_sha256": digest_file(content)})
    save_model(path, card, {WEIGHTS: content}, replace=replace)


def load_linear(path: Path | str) -> tuple[LinearModel, LinearCard]:
    """Read a linear model and its card; raises ModelError if it is of another kind."""
    saved = open_model(path, LinearCard)
    with blaming(path):
        return saved.card.build(saved.read, Strict()), saved.card
