"""Temporal-difference learning of local shapes by self-play (Silver, Sutton and Müller 2007).

A *pair* of agents, each with weights of its own, or one agent alone plays against itself, ε-greedily and one ply
deep; after its moves it learns that the board it left is worth what the board it leaves next is worth, and at the end
what the game was worth. ``mode`` chooses between the paper's update after every move (``online``) and the same
learning after each game (``fast``), which is many times faster and has no cascade and no shapes larger than 3×3.

The same settings and seed give the same weights to the last bit, however training is cut into slices, and also when
it resumes from a saved state.

>>> settings = TdSettings(size=5, sets=("LI 1x1", "LI 2x2"), agents=1, seed=1)
>>> learner = TdLearner(settings, total_games=300)
>>> for _ in range(3):
...     metrics = learner.train(100)
>>> learner.games, learner.weights.shape, 0.2 < metrics.values["black_wins"] < 0.8
(300, (1, 84), True)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from katachi.core.cards import Strict
from katachi.core.contracts import FeatureSet, Floats, Metrics
from katachi.core.linear import load_linear
from katachi.core.models import find_model
from katachi.core.training import MetricLine, Seed, TrainingError
from katachi.go.points import MAX_SIZE
from katachi.go.rules import MAX_KOMI
from katachi.shapes import self_play as playing
from katachi.shapes.features import LocalShapes
from katachi.shapes.kernels.run import RUN, STEP_SCHEDULES, step_decay, step_size_at
from katachi.shapes.liberty import CombinedShapes, LibertyShapes, can_fuse_liberties
from katachi.shapes.model import MIN_SIZE
from katachi.shapes.self_play import play_against_alp
from katachi.shapes.sets import ShapeSet

_SLICE: Final = 100  # games between two ticks, at which Ctrl-C is noticed

Ticker = Callable[[int], None]


class TdSettings(Strict):
    """How to learn. The defaults are the paper's, but for the form of learning."""

    size: int = Field(default=9, ge=MIN_SIZE, le=MAX_SIZE)
    komi: float = Field(default=7.5, ge=-MAX_KOMI, le=MAX_KOMI)
    sets: tuple[str, ...] = Field(default=("LI 1x1", "LI 2x1", "LI 2x2", "LI 3x2", "LI 3x3"), strict=False)
    liberty_sets: tuple[str, ...] = Field(default=(), strict=False)  # of liberty shapes, beside ``sets``
    agents: Literal[1, 2] = 2  # one that plays itself, or a pair that exchanges colors after every game
    gradient: Literal["squared", "logistic"] = "squared"
    step_size: float = Field(default=0.1, gt=0, le=1000, allow_inf_nan=False)
    final_step_size: float | None = Field(default=None, gt=0, le=1000, allow_inf_nan=False)  # as the first one
    step_schedule: Literal["geometric", "linear", "harmonic"] = "geometric"  # the way from the first to the final one
    epsilon: float = Field(default=0.1, ge=0, le=1)
    trace_decay: float = Field(default=0.0, ge=0, le=1)
    cascade: bool = False
    average_from: float = Field(default=1.0, ge=0, le=1)  # the share of games before averaging starts
    move_cap: int | None = Field(default=None, ge=1)  # plies, then the board counts as it stands; 4 · size²
    tied: bool = False  # whether a shape and its color inverse share a weight with opposite signs
    eye_rule: playing.EyeRule = "simple"  # which eyes nobody fills: simple ones, or all points between own stones
    update_after_exploring: bool = True  # whether an afterstate learns from one that a random move led to
    seed: Seed = 0
    mode: Literal["fast", "online"] = "fast"

    @field_validator("sets", "liberty_sets")
    @classmethod
    def _known_sets(cls, sets: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(ShapeSet.parse(name).name for name in sets)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        features = self.features  # raises ValueError for sets that are there twice or do not fit
        if self.move_cap is not None and self.move_cap > playing.longest_game(self.size):
            raise ValueError(f"move_cap is at most {playing.longest_game(self.size)} on {self.size}×{self.size}")
        if self.tied:
            playing.check_tying(features)
        if self.mode == "fast":
            large = [shape_set.name for shape_set in features.sets if shape_set.is_hashed]
            if large:
                raise ValueError(f"mode fast has shapes up to 3x3 alone: {', '.join(large)} need mode online")
            if isinstance(features, CombinedShapes) and not can_fuse_liberties(features.liberty):
                raise ValueError("mode fast has liberty shapes up to 2x2 alone: larger ones need mode online")
            if self.cascade:
                raise ValueError("mode fast has no cascade: it needs mode online")
        return self

    @property
    def features(self) -> LocalShapes | CombinedShapes:
        """Local shapes, and liberty shapes if there are sets of them: those up to 2×2 have a weight each."""
        basic = LocalShapes(self.size, [ShapeSet.parse(name) for name in self.sets], tied=self.tied)
        if not self.liberty_sets:
            return basic
        sets = [ShapeSet.parse(name) for name in self.liberty_sets]
        return CombinedShapes(basic, LibertyShapes(self.size, sets, tabled=True))


class TdLearner:
    """Learns weights for local shapes from nothing, or from ``weights``, [agents, features.size]."""

    def __init__(self, settings: TdSettings, total_games: int, *, weights: Floats | None = None) -> None:
        if total_games < 1:
            raise ValueError(f"{total_games} games: there must be at least one")
        self.settings = settings
        self.total_games = total_games
        self.features = settings.features
        self.self_play = self._new_self_play(self._first_weights(weights))

    def _first_weights(self, weights: Floats | None) -> NDArray[np.float64]:
        shape = (self.settings.agents, self.features.size)
        if weights is None:
            return np.zeros(shape)
        if weights.shape != shape or not np.isfinite(weights).all():
            raise ValueError(f"first weights must be finite and of the shape {list(shape)}")
        # Only the weights in use are kept: sums would count the others as if they were.
        in_use = self.features.sharing[0] == np.arange(self.features.size)
        return np.where(in_use, weights.astype(np.float64), 0.0)

    def _new_self_play(self, weights: NDArray[np.float64]) -> playing.SelfPlay:
        run = _new_run(self.settings, self.total_games)
        # An xorshift generator must not start at 0.
        seed = np.random.SeedSequence(self.settings.seed).generate_state(1, np.uint64)[0] | np.uint64(1)
        if self.settings.mode == "fast":
            return playing.FastSelfPlay(self.features, run, weights, seed)
        return playing.OnlineSelfPlay(self.features, run, weights, seed, cascade=self.settings.cascade)

    @property
    def games(self) -> int:
        """The games played so far."""
        return int(self.self_play.run["games"][0])

    @property
    def step_size(self) -> float:
        """The step size of the next game."""
        return float(step_size_at(self.self_play.run[0]))

    @property
    def weights(self) -> Floats:
        """The weights as they are, [agents, features.size]; those that symmetry makes unused stay 0."""
        return self._of_features(self.self_play.weights)

    @property
    def averaged_weights(self) -> Floats:
        """The mean of the weights since averaging began; the weights as they are while it has not."""
        games = int(self.self_play.run["averaged_games"][0])
        return self._of_features(self.self_play.averages / games) if games else self.weights

    def _of_features(self, weights: NDArray[np.float64]) -> Floats:
        """The weights of self-play, which spreads those that are tied, as the features number them."""
        tied = playing.tie(self.features, weights) if isinstance(self.features, LocalShapes) else weights
        return tied.astype(np.float32)

    def train(self, games: int, tick: Ticker | None = None) -> Metrics:
        """Play and learn from so many games more; how they are cut into slices does not matter.

        ``tick`` is called now and then with the number of games played so far.
        """
        if not 0 <= games <= self.total_games - self.games:
            raise ValueError(f"{games} games more: {self.games} of {self.total_games} are played")
        before = self.totals()
        for first in range(0, games, _SLICE):
            self.self_play.train(min(_SLICE, games - first))
            if tick is not None:
                tick(self.games)
        return _metrics(self.totals() - before, self.games)

    def update(self, batch: int) -> Metrics:
        """One step of a learner is a slice of games: ``train`` by its general name."""
        return self.train(batch)

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that the next game depends on: a learner of the same settings that loads it continues like this one."""
        return self.self_play.state()

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go to a saved state; raises ValueError if it is none of a learner with these settings."""
        own = self.self_play.state()
        if set(state) != set(own):
            raise ValueError(f"the state has {', '.join(sorted(state))}, not {', '.join(sorted(own))}")
        for name, array in own.items():
            if (state[name].shape, state[name].dtype) != (array.shape, array.dtype):
                raise ValueError(f"{name} of the state is {state[name].dtype} {list(state[name].shape)}")
            if not np.isfinite(state[name]).all():
                raise ValueError(f"{name} of the state holds a number that is not finite")
        if not 0 <= int(state["progress"][0]) <= self.total_games:
            raise ValueError(f"the state is after {state['progress'][0]} games of {self.total_games}")
        if not state["random"][0]:
            raise ValueError("the state of the random numbers is 0, from which none follow")
        self.self_play.restore(state)

    def totals(self) -> NDArray[np.float64]:
        """Games, plies, updates, wins of Black and squared errors so far."""
        names = ("games", "plies", "updates", "black_wins", "squared_errors")
        return np.array([float(self.self_play.run[name][0]) for name in names])


def _new_run(settings: TdSettings, total_games: int) -> NDArray[Any]:
    """The record of settings and progress that the kernels take."""
    run = np.zeros(1, dtype=RUN)
    final = settings.step_size if settings.final_step_size is None else settings.final_step_size
    schedule = STEP_SCHEDULES.index(settings.step_schedule)
    values = {
        "agents": settings.agents,
        "logistic": settings.gradient == "logistic",
        "update_after_exploring": settings.update_after_exploring,
        "komi": settings.komi,
        "move_cap": playing.longest_game(settings.size) if settings.move_cap is None else settings.move_cap,
        "explore": round(settings.epsilon * 2**32),
        "trace_decay": settings.trace_decay,
        "step_size": settings.step_size,
        "step_schedule": schedule,
        "step_decay": step_decay(schedule, settings.step_size, final, total_games),
        "eye_rule": playing.EYE_RULES[settings.eye_rule],
        # A share of 1 means never, though a batch may end exactly with the last game.
        "average_from": math.ceil(settings.average_from * total_games) + int(settings.average_from == 1),
    }
    for name, value in values.items():
        run[name] = value
    return run


def _metrics(totals: NDArray[np.float64], games_so_far: int) -> Metrics:
    games, plies, updates, black_wins, squared_errors = totals.tolist()
    return Metrics(
        {
            "games": float(games_so_far),
            "plies": plies / max(games, 1),
            "black_wins": black_wins / max(games, 1),
            "td_error": math.sqrt(squared_errors / max(updates, 1)),  # root of the mean square
        }
    )


# Board growing: learn on a small board first, and take the weights to the next larger one when it is mastered.
#
# Silver, Sutton and Müller 2007, section 7: a size is mastered when every agent wins so often against the average
# liberty player. Shapes keep their place relative to the nearest corner, and shapes at new places start at 0. A size
# that is not mastered within its games is left all the same, so that growing always ends (``sizes_not_mastered``).

_SIZE: Final = "board_size"  # beside the learner's arrays in a state
_BEFORE: Final = "totals_before"


class Stage(NamedTuple):
    """Learning on boards of one size."""

    settings: TdSettings
    games: int  # the most, but on the last size exactly so many


def growing_stages(settings: TdSettings, games: int, grow_from: int, grow_games: int) -> list[Stage]:
    """From the size ``grow_from`` on, one line more at a time; raises ValueError where settings do not fit a size.

    Step-size schedule and averaging belong to the last size. Smaller ones learn with the first step size, and what is
    tested there and carried over are the weights as they are.
    """
    values = settings.model_dump(include=set(TdSettings.model_fields))
    smaller = []
    for size in range(grow_from, settings.size):
        own = {"size": size, "final_step_size": None, "average_from": 1.0}
        if settings.move_cap is not None:
            own["move_cap"] = min(settings.move_cap, playing.longest_game(size))
        smaller.append(Stage(TdSettings.model_validate(values | own), grow_games))
    return [*smaller, Stage(TdSettings.model_validate(values), games)]


class GrowingLearner:
    """Learns on one size after another; ``learner`` is the one for the size at hand, and starts from ``weights``."""

    def __init__(self, stages: Sequence[Stage], grow_at: float, *, weights: Floats | None = None) -> None:
        self._stages = {stage.settings.size: stage for stage in stages}
        self._grow_at = grow_at
        self._before: NDArray[np.float64] | None = None  # while games are played: the totals before them
        self.learner = TdLearner(*stages[0], weights=weights)

    @property
    def size(self) -> int:
        """The board size at hand."""
        return self.learner.settings.size

    @property
    def is_finished(self) -> bool:
        """Whether all games on the last size are played."""
        return self.size == max(self._stages) and self._games_left == 0 and self._before is None

    @property
    def _games_left(self) -> int:
        return self.learner.total_games - self.learner.games

    def train_until(self, multiple: int, tick: Ticker | None = None) -> Metrics:
        """Learn until the number of games on this size is the next multiple, or until they are all played."""
        if self._before is None:
            self._before = self.learner.totals()
        first = int(self._before[0])
        until = min(first + multiple - first % multiple, self.learner.total_games)
        self.learner.train(until - self.learner.games, tick)
        before, self._before = self._before, None
        return _metrics(self.learner.totals() - before, until)

    def grow(self, line: MetricLine) -> None:
        """Go to the next size if there is one and this one is mastered, by its last evaluation, or its games played."""
        if self.size == max(self._stages) or not (line.masters(self._grow_at) or self._games_left == 0):
            return
        smaller = self.learner
        stage = self._stages[smaller.settings.size + 1]
        weights = grow_weights(stage.settings.features, smaller.features, smaller.weights)
        self.learner = TdLearner(*stage, weights=weights)

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that the next game depends on, the size included; within ``train_until``, also where that started."""
        started = {} if self._before is None else {_BEFORE: self._before}
        return {**self.learner.state_dict(), **started, _SIZE: np.array([self.size])}

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go to a saved state; raises ValueError if it is none of a learner with these stages."""
        rest = dict(state)
        size = int(rest.pop(_SIZE, np.zeros(1))[0])
        if size not in self._stages:
            raise ValueError(f"the state is for {size}×{size}, which is not a size of this run")
        before = rest.pop(_BEFORE, None)
        learner = TdLearner(*self._stages[size])
        if before is not None and (before.shape != learner.totals().shape or not np.isfinite(before).all()):
            raise ValueError(f"{_BEFORE} of the state is not a row of totals")
        learner.load_state_dict(rest)
        self.learner, self._before = learner, before


def grow_weights(features: FeatureSet, smaller: FeatureSet, weights: Floats) -> Floats:
    """Weights for larger boards, [..., size]; raises ValueError where the shapes are not the same."""
    if isinstance(features, LocalShapes) and isinstance(smaller, LocalShapes):
        return features.grow_from(smaller, weights)
    if isinstance(features, CombinedShapes) and isinstance(smaller, CombinedShapes):
        return features.grow_from(smaller, weights)
    raise ValueError(f"{features.name} cannot grow from {smaller.name}")


def load_grown_weights(name: str, settings: TdSettings) -> Floats:
    """The weights of a saved or pretrained model, grown to ``settings.size``, for every agent, [agents, features.size].

    Raises ModelError if it cannot be read, and TrainingError if it does not fit.
    """
    model, card = load_linear(find_model(name))
    size, features = settings.size, settings.features
    if card.board_size > size:
        theirs = f"{card.board_size}×{card.board_size}"
        raise TrainingError(f"{name} evaluates {theirs} boards: start learning {size}×{size} with one for that or less")
    try:
        grown = grow_weights(features, model.features, model.weights)
    except ValueError:
        text = f"{name} has {model.features.name}: to start from it, learn the same sets of shapes"
        raise TrainingError(text) from None
    return np.repeat(grown[None], settings.agents, axis=0)


def games_to_master(lines: Sequence[MetricLine], size: int, rate: float) -> int | None:
    """The games on a size before every agent first won so often in an evaluation; None if that was never."""
    return next((line.games for line in lines if line.size == size and line.masters(rate)), None)


def sizes_not_mastered(lines: Sequence[MetricLine], rate: float) -> list[int]:
    """The sizes on which no evaluation reached the rate."""
    sizes = sorted({line.size for line in lines})
    return [size for size in sizes if games_to_master(lines, size, rate) is None]


def warmup() -> None:
    """Compile self-play and games against ALP, in all their forms."""
    online = TdSettings(size=5, mode="online", sets=("LI 2x2", "LI 4x3"))
    forms = [TdSettings(size=5), online, online.model_copy(update={"cascade": True})]
    forms.append(TdSettings(size=5, mode="fast", sets=("LI 2x2",), liberty_sets=("LI 2x2",)))
    forms.append(TdSettings(size=5, mode="online", sets=("LI 2x2", "LI 4x3"), liberty_sets=("LI 2x2",)))
    for settings in forms:
        learner = TdLearner(settings, total_games=2)
        learner.train(2)
        play_against_alp(learner.features, learner.weights[0], games=2, seed=0)
