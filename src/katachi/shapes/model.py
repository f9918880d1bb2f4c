"""A logistic-linear value over any feature set: P(the player who has just moved wins) = σ(Σ occurrences · weights).

Over local shapes up to 3×3, alone or with tabled liberty shapes up to 2×2, the model is *fused* (``shapes/model.py``)
and compiled: it values a board by one look-up a window and an afterstate by those windows that change. Features that
can sum themselves over all afterstates (``SweepingFeatures``) are asked to; over others it goes through ``active``.
The policy is a softmax over the afterstates.

Silver, Sutton and Müller 2007, section 3: the value is the chance of the player who has just moved, who sees his own
stones as black; ``black_wins`` turns that around where it was White.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Annotated, Any, Final, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, StringConstraints

from katachi.core.cards import Hex, Metric, ModelError, ReadFile, Strict, Training
from katachi.core.contracts import Doubles, Evaluation, FeatureSet, Floats
from katachi.core.evaluators import (
    DEFAULT_TEMPERATURE,
    WrongBoardSize,
    after,
    check_temperature,
    moves_of,
    softmax_policy,
)
from katachi.core.weights import WEIGHTS, parse_weights
from katachi.crbm.features import MAX_SIDE, Templates
from katachi.features.kernels.logistic import logistic, make_shares
from katachi.features.windows import CODES
from katachi.go.board import Board
from katachi.go.kernels.board import OFF
from katachi.go.points import MAX_SIZE, MIN_SIZE
from katachi.go.rules import Rules
from katachi.shapes.features import MAX_BINS, LocalShapes, Part, ShapeFeatures, has_parts, part_windows
from katachi.shapes.kernels import liberty_model as _linear_liberty
from katachi.shapes.kernels import model as _linear
from katachi.shapes.kernels import model as kernels
from katachi.shapes.liberty import CombinedShapes, LibertyShapes, Shapes, build_liberty_windows, can_fuse_liberties
from katachi.shapes.sets import ShapeSet

# Fusing: all local shapes up to 3×3 as one table for each class of 3×3 windows, and liberty shapes by 2×2 windows.
#
# ``shapes/features.py`` says which shapes lie in a window. Tables are in fixed point, each part rounded before it
# is added: equal shapes get equal numbers whatever the order of adding. Liberty shapes up to 2×2
# (``shapes/liberty.py``) have tables behind these, in the same unit.

Parameters = tuple[NDArray[np.int32], NDArray[np.float32]]

_TABLE_BITS: Final = 30  # of the 31 that an int32 has; rounding may add a little
_UNIT_BITS: Final = 120  # no unit is finer than 2^-120 or coarser than 2^120: a float32 holds them all


def can_fuse(features: object) -> bool:
    """Whether these are local shapes that all lie in 3×3 windows, perhaps with liberty shapes in 2×2 windows."""
    if isinstance(features, CombinedShapes):
        return can_fuse(features.basic) and can_fuse_liberties(features.liberty)
    return has_parts(features)


def fuse(features: LocalShapes | CombinedShapes, weights: Floats) -> Parameters:
    """What the kernels take: integers, and the unit that the tables among them count."""
    basic = features.basic if isinstance(features, CombinedShapes) else features
    windows = part_windows(basic, weights)
    shares = _liberty_shares(features, weights)
    unit = _unit([*(_largest(parts) for parts in windows.parts), float(np.abs(shares).sum(axis=1).max(initial=0.0))])
    tables = np.stack([_table(parts, unit) for parts in windows.parts])
    liberties = np.rint(shares / unit).astype(np.int64).sum(axis=1)
    ints = _lay_out(basic.board_size, windows.cells, windows.class_of, tables, liberties)
    return ints, np.array([unit], dtype=np.float32)


def _liberty_shares(features: LocalShapes | CombinedShapes, weights: Floats) -> NDArray[np.float64]:
    """What each liberty shape in a 2×2 window gives to it, [classes · codes, parts]; of no windows if there is none."""
    if not isinstance(features, CombinedShapes):
        return np.empty((0, 1))
    windows = build_liberty_windows(features.liberty)
    found = weights[features.basic.size :].astype(np.float64)[windows.weight]
    codes = len(windows.weight) // len(windows.share)
    return found * np.repeat(windows.share, codes, axis=0)


def _largest(parts: list[Part]) -> float:
    """The largest entry that the sum of some parts could have."""
    return sum(float(np.abs(part.weights).max()) for part in parts)


def _unit(largest: list[float]) -> float:
    """The power of two that lets the largest entry that could occur fit."""
    most = max(largest)
    exponent = math.frexp(most)[1] - _TABLE_BITS if most > 0 else 0
    return 2.0 ** max(-_UNIT_BITS, min(exponent, _UNIT_BITS))


def _table(parts: list[Part], unit: float) -> NDArray[np.int64]:
    """The sum of the parts for every code of a window, [3^9]."""
    table = np.zeros(CODES, dtype=np.int64)
    for part in parts:
        table += np.rint(part.weights / unit).astype(np.int64)[part.codes()]
    return table


def _lay_out(
    size: int,
    cells: NDArray[np.uint16],
    class_of: NDArray[np.int64],
    tables: NDArray[np.int64],
    liberties: NDArray[np.int64],
) -> NDArray[np.int32]:
    """One array of header, cells (each window's last cell first), bases, contacts of every point, and both tables."""
    window, cell = np.nonzero(cells < OFF)
    point = cells[window, cell].astype(np.int64)
    order = np.argsort(point, kind="stable")
    starts = np.searchsorted(point[order], np.arange(size**2 + 1))
    contacts = np.stack([window[order], 3 ** cell[order]], axis=1)
    sections: list[NDArray[Any]] = [cells[:, ::-1], class_of, starts, contacts, tables, liberties]
    begins = kernels.HEADER + np.cumsum([0, *(section.size for section in sections)])
    header = np.array([len(cells), *begins[:4], begins[5]])
    sections[1] = begins[4] + class_of * CODES
    return np.concatenate([header, *(section.ravel() for section in sections)]).astype(np.int32)


# Linear

_WEIGHTS_SHOWN: Final = 10


@runtime_checkable
class SweepingFeatures(FeatureSet, Protocol):
    """Features that know what a move changes in them."""

    def sum_afterstates(self, board: Board, weights: Floats) -> Doubles:
        """Σ occurrences · weights after each move that is legal under simple ko, [n²+1]; NaN elsewhere."""
        ...


class LinearModel:
    """A weight for each feature. Meets ``LogOddsEvaluator``; like ``pathlib.Path`` it makes the fast kind it can."""

    def __new__(cls, features: FeatureSet, weights: Floats, temperature: float = DEFAULT_TEMPERATURE) -> LinearModel:  # noqa: ARG004
        """A ``FusedLinearModel`` where the features allow it."""
        return super().__new__(FusedLinearModel if cls is LinearModel and can_fuse(features) else cls)

    def __init__(self, features: FeatureSet, weights: Floats, temperature: float = DEFAULT_TEMPERATURE) -> None:
        weights = np.asarray(weights, dtype=np.float32)
        if weights.shape != (features.size,):
            raise ValueError(f"{features.name}: {features.size} weights are needed, not {list(weights.shape)}")
        if not np.isfinite(weights).all():
            raise ValueError(f"{features.name}: some of the weights are no numbers")
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
            raise WrongBoardSize(f"this model judges {size}×{size} boards, not {board.size}×{board.size}")


class FusedLinearModel(LinearModel):
    """The model over shapes that can be fused, compiled. Meets ``CompiledEvaluator`` too; its sweep is compiled."""

    def __init__(self, features: FeatureSet, weights: Floats, temperature: float = DEFAULT_TEMPERATURE) -> None:
        super().__init__(features, weights, temperature)
        if not (isinstance(features, LocalShapes | CombinedShapes) and can_fuse(features)):
            raise ValueError(f"{features.name} do not all fit into 3×3 windows, or 2×2 windows with liberties")
        self._parameters = fuse(features, self.weights)
        self._kernels = _linear if isinstance(features, LocalShapes) else _linear_liberty

    @property
    def kernel(self) -> Any:
        """``kernel(records, parameters)``: P(Black wins) on ``records[0]``."""
        return self._kernels.value

    @property
    def sweep_kernel(self) -> Any:
        """``sweep_kernel(records, parameters, values)``: the same after each move, NaN where it is illegal."""
        return self._kernels.sweep

    @property
    def parameters(self) -> Parameters:
        """The fused tables; boards handed to the kernels must have their size."""
        return self._parameters

    def _logit(self, board: Board) -> float:
        return float(self._kernels.board_logit(board.record, self._parameters))

    def evaluate_afterstates(self, board: Board) -> Doubles:
        """P(Black wins) after each move that is legal under simple ko, [n²+1]; NaN elsewhere."""
        return self._run(self._kernels.sweep, board)

    def afterstate_log_odds(self, board: Board) -> Doubles:
        """The log-odds of Black after each such move, [n²+1]; NaN elsewhere."""
        return self._run(self._kernels.sweep_log_odds, board)

    def _run(self, sweep: Any, board: Board) -> Doubles:
        self._check_board(board)
        values = np.empty(board.size**2 + 1)
        sweep(board.record, self._parameters, values)
        return values


# The card of a linear model: what is needed to build its features again, and what its weights are worth.
#
# The digest of the features says whether the weights on disk still mean what the program of today means by them; a card
# that does not match is refused.

FORMAT: Final = 2  # what is written; 1, with all weights in full, is read too


class _ShapesCard(Strict):
    """What fixes a feature set of shapes, beside the size of the board and what its kind adds."""

    digest: Hex
    sets: Annotated[tuple[Annotated[str, StringConstraints(max_length=10)], ...], Field(min_length=1, max_length=64)]
    bins: int = Field(ge=1, le=MAX_BINS)

    def parse_sets(self) -> list[ShapeSet]:
        return [ShapeSet.parse(name) for name in self.sets]


class LocalShapesCard(_ShapesCard):
    """A ``LocalShapes``."""

    kind: Literal["local shapes"] = "local shapes"
    tied: bool

    def build(self, board_size: int) -> LocalShapes:
        return LocalShapes(board_size, self.parse_sets(), bins=self.bins, tied=self.tied)


class LibertyShapesCard(_ShapesCard):
    """A ``LibertyShapes``."""

    kind: Literal["liberty shapes"] = "liberty shapes"
    tabled: bool

    def build(self, board_size: int) -> LibertyShapes:
        return LibertyShapes(board_size, self.parse_sets(), bins=self.bins, tabled=self.tabled)


class CombinedShapesCard(Strict):
    """A ``CombinedShapes``."""

    kind: Literal["combined shapes"] = "combined shapes"
    digest: Hex
    basic: LocalShapesCard
    liberty: LibertyShapesCard

    def build(self, board_size: int) -> CombinedShapes:
        return CombinedShapes(self.basic.build(board_size), self.liberty.build(board_size))


class TemplatesCard(Strict):
    """``Templates``."""

    kind: Literal["templates"] = "templates"
    digest: Hex
    side: int = Field(ge=1, le=MAX_SIDE)

    def build(self, board_size: int) -> Templates:
        return Templates(board_size, self.side)


SavedFeatures = Shapes | Templates
AnyFeatureCard = LocalShapesCard | LibertyShapesCard | CombinedShapesCard | TemplatesCard
FeatureCard = Annotated[AnyFeatureCard, Field(discriminator="kind")]


class LinearCard(Strict):
    """Everything about a linear model but its weights."""

    format: Literal[1, 2] = FORMAT
    kind: Literal["linear"] = "linear"
    board_size: int = Field(ge=MIN_SIZE, le=MAX_SIZE)
    rules: dict[str, str | bool]
    komi: float = Field(ge=-1000, le=1000)
    features: FeatureCard
    temperature: float = Field(gt=0, le=1e6)
    training: Training = Training()
    metrics: dict[str, Metric] = Field(default_factory=dict)
    weights_sha256: Hex = ""

    @property
    def files(self) -> dict[str, str]:
        """The files of the model and their digests."""
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

    def build(self, read: ReadFile, options: Mapping[str, Any]) -> LinearModel:
        """The model, which has no options."""
        for option in options:
            raise ModelError(f"{option} is no option of a {self.kind} model")
        features = self.build_features()
        return LinearModel(features, self._weights(features, read), self.temperature)

    def build_features(self) -> SavedFeatures:
        """The features of this card; raises ValueError where there are none such, or they mean something else today."""
        features = self.features.build(self.board_size)
        if features.digest != self.features.digest:
            raise ValueError(f"its features have the digest {self.features.digest}, but {features.digest} today")
        return features

    def _weights(self, features: SavedFeatures, read: ReadFile) -> Floats:
        return parse_weights(read(WEIGHTS), features.size, self.format)


def describe_linear(
    model: LinearModel,
    rules: Rules,
    training: Training | None = None,
    metrics: Mapping[str, Metric] | None = None,
) -> LinearCard:
    """The card of a model; raises ModelError if its features are of a kind that cannot be saved."""
    features = model.features
    if not isinstance(features, SavedFeatures):
        raise ModelError(f"a model over {features.name} cannot be saved: there are no cards for such features")
    return LinearCard(
        board_size=features.board_size,
        rules=rules.to_json(),
        komi=rules.komi,
        features=_describe_features(features),
        temperature=model.temperature,
        training=training or Training(),
        metrics=dict(metrics or {}),
    )


def _describe_features(features: SavedFeatures) -> AnyFeatureCard:
    if isinstance(features, Templates):
        return TemplatesCard(digest=features.digest, side=features.side)
    if isinstance(features, CombinedShapes):
        basic, liberty = _describe_local(features.basic), _describe_liberty(features.liberty)
        return CombinedShapesCard(digest=features.digest, basic=basic, liberty=liberty)
    return _describe_local(features) if isinstance(features, LocalShapes) else _describe_liberty(features)


def _describe_local(features: LocalShapes) -> LocalShapesCard:
    return LocalShapesCard(digest=features.digest, sets=_names(features), bins=features.bins, tied=features.tied)


def _describe_liberty(features: LibertyShapes) -> LibertyShapesCard:
    return LibertyShapesCard(digest=features.digest, sets=_names(features), bins=features.bins, tabled=features.tabled)


def _names(features: ShapeFeatures) -> tuple[str, ...]:
    return tuple(shape_set.name for shape_set in features.sets)
