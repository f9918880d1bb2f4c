r"""The spec of a player that searches: a model, how to look ahead with it, for how long, and when to give up.

kind = "search"
resign_below = 0.05
[evaluator]
model = "shapes-9"          # a model that ships with katachi, or the path of a model's directory
[search]
kind = "alphabeta"          # or "greedy"
quiescence = 4
[limit]
seconds = 5.0
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from katachi.interfaces import Evaluator, Limit, Player, Search
from katachi.models.cards import ModelError
from katachi.models.saving import find_model, load_model
from katachi.players.search_player import SearchPlayer
from katachi.players.specs import PlayerSpec, SpecError
from katachi.search.alphabeta import MAX_DEPTH, MAX_QUIESCENCE, AlphaBetaSearch, AlphaBetaSettings
from katachi.search.greedy import GreedySearch, GreedySettings

_OPTIONS: Final = {"greedy": {"epsilon", "temperature"}, "alphabeta": {"quiescence"}}


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class EvaluatorTable(_Table):
    """What judges."""

    model: str = Field(min_length=1)


class SearchTable(_Table):
    """What looks ahead; each kind has options of its own."""

    kind: Literal["greedy", "alphabeta"] = "greedy"
    epsilon: float = Field(default=0.0, ge=0, le=1)
    temperature: float = Field(default=0.0, ge=0)
    quiescence: int = Field(default=0, ge=0, le=MAX_QUIESCENCE)

    @model_validator(mode="after")
    def _check_options(self) -> Self:
        for option in sorted(self.model_fields_set - {"kind"} - _OPTIONS[self.kind]):
            raise ValueError(f"{option} is no option of the {self.kind} search")
        return self

    def build(self, evaluator: Evaluator) -> Search:
        """The search over an evaluator."""
        options: dict[str, Any] = {name: getattr(self, name) for name in _OPTIONS[self.kind]}
        if self.kind == "greedy":
            return GreedySearch(evaluator, GreedySettings(**options))
        return AlphaBetaSearch(evaluator, AlphaBetaSettings(**options))


class LimitTable(_Table):
    """When to stop looking ahead: at whichever comes first."""

    simulations: int | None = Field(default=None, ge=1)
    depth: int | None = Field(default=None, ge=1, le=MAX_DEPTH)
    seconds: float | None = Field(default=None, gt=0)


class SearchSpec(PlayerSpec):
    """A player that searches with a model."""

    evaluator: EvaluatorTable
    search: SearchTable = SearchTable()
    limit: LimitTable = LimitTable()
    resign_below: float | None = Field(default=None, ge=0, lt=1)

    def build(self, seed: int | None) -> Player:
        """Load the model and make the player; raises SpecError if the model cannot be used."""
        try:
            model, _ = load_model(find_model(self.evaluator.model))
        except ModelError as error:
            raise SpecError(str(error)) from None
        return SearchPlayer(
            self.name or Path(self.evaluator.model).name,
            self.search.build(model),
            Limit(**self.limit.model_dump()),
            np.random.default_rng(seed),
            self.resign_below,
        )
