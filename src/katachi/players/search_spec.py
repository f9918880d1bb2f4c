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

Monte-Carlo tree search needs no model, and has more settings (``search/mcts.py`` says which):

kind = "search"
[search]
kind = "mcts"
expand_after = 2
[search.playouts]
patterns = false

A policy network can play without looking ahead, and can be told how to be asked (``policy/evaluator.py``); the same
options serve it in a tree:

kind = "search"
[evaluator]
model = "policy-9"
rank = 5                    # dan of the people to imitate
symmetries = true
[search]
kind = "policy"
temperature = 0.2

TD search begins with a model of local shapes, or without one (``search/td.py``):

kind = "search"
[search]
kind = "td"
guided_plies = 6
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from katachi.core.cards import ModelError
from katachi.core.contracts import Evaluator, Limit, Player, Search
from katachi.core.models import CARD, find_model, load_model
from katachi.players.search_player import SearchPlayer
from katachi.players.specs import PlayerSpec, SpecError
from katachi.policy.evaluator import PolicyOptions
from katachi.search.alphabeta import AlphaBetaSearch
from katachi.search.one_ply import GreedySearch, PolicySearch
from katachi.search.settings import (
    MAX_DEPTH,
    MAX_QUIESCENCE,
    AlphaBetaSettings,
    GreedySettings,
    MctsSettings,
    PlayoutSettings,
    PolicySettings,
    TdSearchSettings,
)

_OPTIONS: Final = {
    "greedy": {"epsilon", "temperature", "fills_eyes", "may_pass"},
    "policy": {"temperature"},
    "alphabeta": {"quiescence"},
    "mcts": {option.name for option in fields(MctsSettings)},
    "td": {option.name for option in fields(TdSearchSettings)},
}


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class EvaluatorTable(PolicyOptions):
    """What judges, and the options of its kind of model."""

    model: str = Field(min_length=1)

    def load(self) -> Evaluator:
        """The model; raises SpecError if it cannot be used, or not with these options."""
        options = self.model_dump(include=self.model_fields_set - {"model"})
        try:
            return _load(find_model(self.model), options)
        except ModelError as error:
            raise SpecError(str(error)) from None


class SearchTable(_Table):
    """What looks ahead; each kind has options of its own. What is not said is as that search's settings have it."""

    kind: Literal["greedy", "policy", "alphabeta", "mcts", "td"] = "greedy"
    epsilon: float = Field(default=0.0, ge=0, le=1)
    temperature: float = Field(default=0.0, ge=0)
    fills_eyes: bool = False
    may_pass: bool = False
    quiescence: int = Field(default=0, ge=0, le=MAX_QUIESCENCE)
    exploration: float | None = None
    rave: float | None = None
    first_play_reduction: float | None = None
    expand_after: int | None = None
    value_share: float | None = None
    score_share: float | None = None
    pattern_priors: bool | None = None
    ladder_priors: bool | None = None
    priors: Literal["none", "delayed", "synchronous"] | None = None
    td_simulations: int | None = None
    batch: int | None = None
    shares_positions: bool | None = None
    reuse: bool | None = None
    stops_early: bool | None = None
    threads: int | None = None
    megabytes: float | None = None
    step_size: float | None = None
    guided_plies: int | None = None
    learned_plies: int | None = None
    sizes: str | None = None
    simulations: int | None = None
    playouts: PlayoutSettings = PlayoutSettings()

    @model_validator(mode="after")
    def _check_options(self) -> Self:
        for option in sorted(self.model_fields_set - {"kind"} - _OPTIONS[self.kind]):
            raise ValueError(f"{option} is no option of the {self.kind} search")
        if self.kind == "mcts":
            MctsSettings(**self._options())  # raises ValueError
        if self.kind == "td":
            TdSearchSettings(**self._options())
        return self

    def _options(self) -> dict[str, Any]:
        """What was said."""
        return {name: getattr(self, name) for name in _OPTIONS[self.kind] & self.model_fields_set}

    def build(self, evaluator: Evaluator | None) -> Search:
        """The search over an evaluator; raises SpecError if it cannot do without one, or with this one."""
        try:
            if self.kind == "mcts":
                from katachi.search.mcts import MctsSearch  # has many kernels: only where they are wanted

                return MctsSearch(evaluator, MctsSettings(**self._options()))
            if self.kind == "td":
                from katachi.search.td import TdSearch  # the same

                return TdSearch(evaluator, TdSearchSettings(**self._options()))
        except ValueError as error:
            raise SpecError(str(error)) from None
        if evaluator is None:
            raise SpecError(f"the {self.kind} search needs an evaluator: the table 'evaluator' is missing")
        if self.kind == "greedy":
            return GreedySearch(evaluator, GreedySettings(**self._options()))
        if self.kind == "policy":
            return PolicySearch(evaluator, PolicySettings(**self._options()))
        return AlphaBetaSearch(evaluator, AlphaBetaSettings(**self._options()))


class LimitTable(_Table):
    """When to stop looking ahead: at whichever comes first."""

    simulations: int | None = Field(default=None, ge=1)
    depth: int | None = Field(default=None, ge=1, le=MAX_DEPTH)
    seconds: float | None = Field(default=None, gt=0)


class SearchSpec(PlayerSpec):
    """A player that searches, with a model or without."""

    evaluator: EvaluatorTable | None = None
    search: SearchTable = SearchTable()
    limit: LimitTable = LimitTable()
    resign_below: float | None = Field(default=None, ge=0, lt=1)

    def build(self, seed: int | None) -> Player:
        """Load the model and make the player; raises SpecError if the model cannot be used."""
        return SearchPlayer(
            self.name or (self.search.kind if self.evaluator is None else Path(self.evaluator.model).name),
            self.search.build(None if self.evaluator is None else self.evaluator.load()),
            Limit(**self.limit.model_dump()),
            np.random.default_rng(seed),
            self.resign_below,
        )


def _load(path: Path, options: Mapping[str, Any]) -> Evaluator:
    """A model; one that has not changed is not read again, as an arena makes its players anew for every game."""
    card = path / CARD
    changed = card.stat().st_mtime_ns if card.is_file() else 0
    return _load_once(path.resolve(), tuple(sorted(options.items())), changed)


@lru_cache(maxsize=4)
def _load_once(path: Path, options: tuple[tuple[str, Any], ...], changed: int) -> Evaluator:  # noqa: ARG001 (the card's time makes the difference)
    return load_model(path, dict(options))[0]
