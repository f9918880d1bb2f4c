"""Model cards: what a saved model is, how it was trained and how well it did, as strict JSON.

A card is enough to build the model's features again. Their digest says whether the weights on disk still mean what
the program of today means by them; a card that does not match is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, ValidationError

from katachi.features.combined_shapes import CombinedShapes, Shapes
from katachi.features.liberty_shapes import LibertyShapes
from katachi.features.local_shapes import LocalShapes, ShapeSet
from katachi.features.shape_features import MAX_BINS, ShapeFeatures
from katachi.go.points import MAX_SIZE, MIN_SIZE
from katachi.go.rules import Rules
from katachi.models.linear import LinearModel

FORMAT: Final = 2  # what is written; 1, with all weights in full, is read too

Text = Annotated[str, StringConstraints(max_length=10_000)]
Hex = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{0,64}$")]


class ModelError(ValueError):
    """A model that cannot be saved or loaded, with the reason in one sentence."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Metric(_Strict):
    """A measured number and its interval."""

    value: float
    low: float | None = None
    high: float | None = None
    unit: Text = ""
    games: int | None = Field(default=None, ge=1)  # that it was measured in


class Training(_Strict):
    """How a model came about: enough to make it again."""

    command: Text = ""
    commit: Text | None = None
    seed: int | None = None
    games: int = Field(default=0, ge=0)
    data: Text = ""
    settings: dict[str, JsonValue] = {}


class _ShapesCard(_Strict):
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


class CombinedShapesCard(_Strict):
    """A ``CombinedShapes``."""

    kind: Literal["combined shapes"] = "combined shapes"
    digest: Hex
    basic: LocalShapesCard
    liberty: LibertyShapesCard

    def build(self, board_size: int) -> CombinedShapes:
        return CombinedShapes(self.basic.build(board_size), self.liberty.build(board_size))


FeatureCard = Annotated[LocalShapesCard | LibertyShapesCard | CombinedShapesCard, Field(discriminator="kind")]


class ModelCard(_Strict):
    """Everything about a model but its weights."""

    format: Literal[1, 2] = FORMAT
    kind: Literal["linear"] = "linear"
    board_size: int = Field(ge=MIN_SIZE, le=MAX_SIZE)
    rules: dict[str, str | bool]
    komi: float = Field(ge=-1000, le=1000)
    features: FeatureCard
    temperature: float = Field(gt=0, le=1e6)
    training: Training = Training()
    metrics: dict[str, Metric] = {}
    weights_sha256: Hex = ""

    def build_features(self) -> Shapes:
        """The features of this card; raises ValueError where there are none such, or they mean something else today."""
        features = self.features.build(self.board_size)
        if features.digest != self.features.digest:
            raise ValueError(f"its features have the digest {self.features.digest}, but {features.digest} today")
        return features


def describe_model(
    model: LinearModel,
    rules: Rules,
    training: Training | None = None,
    metrics: Mapping[str, Metric] | None = None,
) -> ModelCard:
    """The card of a model; raises ModelError if its features are of a kind that cannot be saved."""
    features = model.features
    if not isinstance(features, Shapes):
        raise ModelError(f"a model over {features.name} cannot be saved: there are no cards for such features")
    return ModelCard(
        board_size=features.board_size,
        rules=rules.to_json(),
        komi=rules.komi,
        features=_describe_features(features),
        temperature=model.temperature,
        training=training or Training(),
        metrics=dict(metrics or {}),
    )


def _describe_features(features: Shapes) -> LocalShapesCard | LibertyShapesCard | CombinedShapesCard:
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


def parse_card(text: bytes) -> ModelCard:
    """Read a card; raises ModelError with the first thing that is wrong with it."""
    try:
        return ModelCard.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ModelError(f"its card is not one of format 1 or 2: {where or 'all of it'}: {first['msg']}") from None
