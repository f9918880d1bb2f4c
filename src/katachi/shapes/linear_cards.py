"""The card of a linear model: what is needed to build its features again, and what its weights are worth.

The digest of the features says whether the weights on disk still mean what the program of today means by them; a card
that does not match is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field, StringConstraints

from katachi.core.cards import Hex, Metric, ModelError, ReadFile, Strict, Training
from katachi.core.contracts import Floats
from katachi.core.weights import WEIGHTS, parse_weights
from katachi.crbm.features import MAX_SIDE, Templates
from katachi.go.points import MAX_SIZE, MIN_SIZE
from katachi.go.rules import Rules
from katachi.shapes.features import MAX_BINS, LocalShapes, ShapeFeatures
from katachi.shapes.liberty import CombinedShapes, LibertyShapes, Shapes
from katachi.shapes.model import LinearModel
from katachi.shapes.sets import ShapeSet

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
