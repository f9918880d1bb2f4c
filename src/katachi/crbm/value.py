"""A linear value over features that are there already: CRBM kernels, or all templates as their baseline.

First it learns from the recorded games of a set, as often as ``passes`` says, each time in another order; then from
games against its own former self, over the last of which its weights may be averaged: constant steps swing. Game k
and all its chance depend on the seed and k alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from katachi.core import training as core
from katachi.core.cards import Metric, ModelCard, ModelError, Strict, Training
from katachi.core.contracts import Evaluator, FeatureSet, Floats, Limit, Metrics
from katachi.core.linear import LinearModel, describe_linear, save_linear
from katachi.core.models import SavedModel, find_model, load_model
from katachi.core.training import Release, Request, check_recipe
from katachi.crbm.config import TRAINING as CRBM_TRAINING
from katachi.crbm.config import CrbmTraining
from katachi.crbm.evaluator import CrbmFeatures, SavedCrbm, load_crbm, save_crbm
from katachi.crbm.features import Templates
from katachi.crbm.kernels.features import LAST, learn_game
from katachi.data.batches import Permutation
from katachi.data.dataset import RESULTS, Dataset, DatasetError
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, MAX_SIZE, WHITE, Symmetry
from katachi.go.rules import MAX_KOMI, Rules
from katachi.search.one_ply import GreedySearch
from katachi.search.settings import GreedySettings
from katachi.sgf.files import Split

# TD(0) of a linear value over any feature set, from games that somebody played: records, or a learner's own.
#
# A game is two chains of afterstates, one of each color: the boards that a player leaves behind. Each of them learns
# from the next of its chain, and the last one from the result. Whoever has just moved sees their own stones as such, so
# that one weight vector serves both (Largman and Pham; Silver, Sutton and Müller 2007).
#
# The step is scaled by 1/‖φ‖² of the afterstate's features: it moves the logit there by ``step_size`` · error ·
# gradient, whatever the features are. So feature sets with 64 ones and with 5,145 dense numbers learn at the same rate.


class LinearTdSettings(Strict):
    """How to learn."""

    step_size: float = Field(default=0.1, gt=0, le=10, allow_inf_nan=False)
    gradient: Literal["squared", "logistic"] = "squared"


class Chains(NamedTuple):
    """The afterstates of a game and how they hang together; features lie one after another."""

    starts: NDArray[np.int64]  # [T + 1], where the features of each start
    indices: NDArray[np.int64]
    occurrences: Floats
    successors: NDArray[np.int64]  # [T], the next afterstate of the same color, or LAST
    rewards: NDArray[np.float64]  # [T], what the game was worth for its player, where it is the last; NaN: unknown

    @property
    def order(self) -> NDArray[np.int64]:
        """Who learns when: each as soon as its successor is there, the last ones at the end."""
        when = np.where(self.successors == LAST, len(self.successors), self.successors)
        return np.argsort(when, kind="stable")


def link_afterstates(features: FeatureSet, afterstates: Iterable[Board], winner: int | None) -> Chains:
    """The chains of a game from the boards after each of its moves, which may be one board that is played on.

    ``winner`` EMPTY is a draw, None is not known. Raises ValueError without moves.
    """
    seen = [(-board.to_play, *features.active(board)) for board in afterstates]
    movers = np.array([mover for mover, _, _ in seen], dtype=np.int64)
    successors = np.full(len(movers), LAST, dtype=np.int64)
    for color in (BLACK, WHITE):
        own = np.flatnonzero(movers == color)
        successors[own[:-1]] = own[1:]
    rewards = np.full(len(movers), np.nan) if winner is None else (1 + movers * winner) / 2
    lengths = [len(indices) for _, indices, _ in seen]
    return Chains(
        np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
        np.concatenate([indices for _, indices, _ in seen]),
        np.concatenate([occurrences for _, _, occurrences in seen]),
        successors,
        rewards,
    )


def turned(boards: Iterable[Board], symmetry: Symmetry) -> Iterable[Board]:
    """The same boards, turned or mirrored."""
    return boards if symmetry is Symmetry.IDENTITY else (board.transformed(symmetry) for board in boards)


class LinearTdLearner:
    """A weight for each feature, learned game by game. Meets ``Learner``."""

    def __init__(self, features: FeatureSet, settings: LinearTdSettings, weights: Floats | None = None) -> None:
        """Start from the given weights or with zeros; raises ValueError if they do not fit."""
        self.features = features
        self.settings = settings
        first = np.zeros(features.size) if weights is None else weights.astype(np.float64)
        if first.shape != (features.size,) or not np.isfinite(first).all():
            raise ValueError(f"{features.name}: {features.size} finite weights are needed to start from")
        self._weights = first

    @property
    def weights(self) -> Floats:
        """The weights as a model takes them."""
        return self._weights.astype(np.float32)

    def update(self, batch: Chains) -> Metrics:
        """Learn from a game; the error reported is the root of the mean square."""
        squared = self.settings.gradient == "squared"
        starts, indices, occurrences, successors, rewards = batch
        errors, updates = learn_game(
            self._weights,
            starts,
            indices,
            occurrences,
            batch.order,
            successors,
            rewards,
            self.settings.step_size,
            squared,
        )
        return Metrics({"td_error": float(np.sqrt(errors / max(updates, 1))), "updates": float(updates)})

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that is needed to resume."""
        return {"weights": self._weights.copy()}

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a state; raises ValueError if it is not one of these features."""
        found = state.get("weights")
        if found is None or found.shape != self._weights.shape or found.dtype != self._weights.dtype:
            raise ValueError(f"it is not a state of {self._weights.size} weights")
        self._weights = found.copy()


# Games of a learner against its frozen former self, the way to get better once records have taught what they can.
#
# The learner explores less and less; its former self explores as it did, and is the same in all games, or renewed after
# every so many. Both chains of afterstates teach. A game that reaches ``move_cap`` has no winner: it teaches what its
# boards say of each other, and no result. Games of good players take about a hundred moves on 9×9, as nobody passes
# before they have to.


class FormerSelfSettings(LinearTdSettings):
    """How a learner plays against its former self."""

    self_play: int = Field(default=0, ge=0, le=10**9)  # games
    renewed_every: int | None = Field(default=None, ge=1)  # games, after which the learner of then is the former self
    epsilon: float = Field(default=0.1, ge=0, le=1)  # of the former self, and of the learner at first
    final_epsilon: float = Field(default=0.01, ge=0, le=1)  # of the learner in the last game
    average_from: float = Field(default=1.0, ge=0, le=1)  # the share of these games after which weights are averaged
    fills_eyes: bool = False
    move_cap: int = Field(default=200, ge=1, le=10**6)
    komi: float = Field(default=5.5, ge=-MAX_KOMI, le=MAX_KOMI)

    def epsilon_at(self, game: int) -> float:
        """How often the learner explores in a game from 0 on: linearly less."""
        done = game / max(1, self.self_play - 1)
        return self.epsilon + done * (self.final_epsilon - self.epsilon)


class PlayedGame(NamedTuple):
    """A game to learn from."""

    afterstates: list[Board]
    winner: int | None  # None if it reached the cap
    learner_color: int

    @property
    def learner_won(self) -> bool:
        return self.winner == self.learner_color


def play_former_self(
    learner: Evaluator, former: Evaluator, settings: FormerSelfSettings, size: int, number: int, seed: int
) -> PlayedGame:
    """Game ``number`` of the two, one ply deep; the learner is Black in even ones."""
    rng = np.random.default_rng((seed, number))
    learner_color = BLACK if number % 2 == 0 else WHITE
    searches = {
        learner_color: _new_search(learner, settings.epsilon_at(number), settings),
        -learner_color: _new_search(former, settings.epsilon, settings),
    }
    game = Game(size, Rules(komi=settings.komi))
    afterstates: list[Board] = []
    while not game.is_over and len(afterstates) < settings.move_cap:
        game.play(searches[game.to_play].search(game, Limit(), rng).move)
        afterstates.append(_snapshot(game.board))
    return PlayedGame(afterstates, int(np.sign(game.score())) if game.is_over else None, learner_color)


def _new_search(evaluator: Evaluator, epsilon: float, settings: FormerSelfSettings) -> GreedySearch:
    return GreedySearch(evaluator, GreedySettings(epsilon=epsilon, fills_eyes=settings.fills_eyes))


def _snapshot(board: Board) -> Board:
    """The board as it is now; nobody will undo it."""
    twin = Board(board.size)
    twin.record = board.record.copy()
    return twin


# Recorded games as chains of afterstates to learn from, in an order that is computed and not kept.


class RecordedGames:
    """The games of a split of a set, as chains; every pass takes them in another order."""

    def __init__(
        self,
        dataset: Dataset,
        size: int,
        split: Split = Split.TRAINING,
        weakest: str | None = None,
        most: int | None = None,
        seed: int = 0,
    ) -> None:
        """Choose ``most`` games at most; raises DatasetError if there are none."""
        self.dataset = dataset
        self._seed = seed
        chosen = dataset.select(size, split, weakest)
        self._numbers = chosen[dataset.games["moves"][chosen] > 0][:most]
        if not self._numbers.size:
            raise DatasetError(f"{dataset.path} has no {size}×{size} games for {split}")

    @property
    def games(self) -> int:
        return self._numbers.size

    def chains(self, features: FeatureSet, number: int, symmetry: Symmetry = Symmetry.IDENTITY) -> Chains:
        """Game ``number`` of all passes, turned or mirrored."""
        turn, place = divmod(number, self.games)
        shuffled = Permutation(self.games, (self._seed, turn))(np.array([place]))
        game = int(self._numbers[shuffled[0]])
        return link_afterstates(features, turned(self._replay(game), symmetry), self._winner(game))

    def afterstates(self) -> Iterator[Board]:
        """The boards after all moves; each is one that is played on."""
        return (board for game in self._numbers.tolist() for board in self._replay(game))

    def _winner(self, game: int) -> int | None:
        """Who won, EMPTY for a draw, None if the record does not say."""
        row = self.dataset.games[game]
        return None if RESULTS[int(row["result"])] is None else int(row["winner"])

    def _replay(self, game: int) -> Iterator[Board]:
        """One board, after each move."""
        board = self.dataset.start(game)
        moves, colors = self.dataset.moves_of(game)
        for move, color in zip(moves.tolist(), colors.tolist(), strict=True):
            board.play(move, color)
            yield board


# Value learning

TEMPLATES: Final = "templates"
CENTERED_TEMPLATES: Final = "templates-centered"  # less how often each of them is on in the games that are learned from
_OPPONENTS: Final = ("random", "alp")  # that a released model is measured against


class ValueTraining(FormerSelfSettings):
    """What to learn, from what, and for how long. The gradient and the step size are our own, not the paper's."""

    step_size: float = Field(default=0.3, gt=0, le=10, allow_inf_nan=False)
    gradient: Literal["squared", "logistic"] = "logistic"
    features: str  # a CRBM, as a run or a model, ``templates`` or ``templates-centered``
    centered: bool = True  # whether features of a CRBM are less how often their kernels are on
    size: int = Field(default=9, ge=2, le=MAX_SIZE)
    data: str | None = None  # the folder of a dataset
    weakest: str | None = None  # the lowest rank of both players whose games are learned from, such as 1d
    games: core.Count | None = None  # how many of them, at most
    passes: core.Count = 1  # over these games
    symmetries: bool = False  # whether each game teaches in all its eight orientations
    seed: core.Seed = 0
    evaluate_every: core.Count = 200  # games
    validation_games: core.Count = 100
    first_model: str | None = None  # a model whose value to start from, over the same features

    @model_validator(mode="after")
    def _has_games(self) -> Self:
        if self.data is None and not self.self_play:
            raise ValueError("there is nothing to learn from: give data, or games of self_play")
        return self


class Counts(NamedTuple):
    """What there is to count of a game, or the sums over several."""

    squared_errors: float
    updates: float
    played: int  # against its former self
    won: int
    unfinished: int


class ValueLearner:
    """A linear value that learns game by game, from records and then from its own games."""

    def __init__(self, settings: ValueTraining) -> None:
        """Load what is needed; raises ModelError or DatasetError, or ValueError if the first weights do not fit."""
        self.settings = settings
        self.features = load_features(settings)
        first = None if settings.first_model is None else _load_value(settings.first_model, self.features)
        self.learner = LinearTdLearner(self.features, settings, first)
        self.records = None if settings.data is None else open_records(settings, Split.TRAINING, settings.games)
        self.recorded = 0 if self.records is None else self.records.games * settings.passes
        self.games = 0
        self._former = self.learner.weights  # is replaced when self-play starts
        self._mean = np.zeros(self.features.size)

    @property
    def total_games(self) -> int:
        return self.recorded + self.settings.self_play

    @property
    def is_finished(self) -> bool:
        return self.games >= self.total_games

    @property
    def weights(self) -> Floats:
        """What was learned: the weights, or their mean over the games since averaging began."""
        return self.learner.weights if self._averaged <= 0 else self._mean.astype(np.float32)

    @property
    def _averaged(self) -> int:
        """How many games there were since averaging began, below 0 before."""
        return self.games - self.recorded - round(self.settings.average_from * self.settings.self_play)

    @property
    def step(self) -> int:
        """One step is one game."""
        return self.games

    def learn_game(self) -> Counts:
        """Learn from the next game; raises TrainingError if it diverges."""
        played: PlayedGame | None = None
        chains: Callable[[Symmetry], Chains]
        if self.games < self.recorded and self.records is not None:
            chains = partial(self.records.chains, self.features, self.games)
        else:
            played = self._play_game()
            chains = partial(self._chains_of, played)
        learned = [self.learner.update(chains(symmetry)).values for symmetry in self._orientations]
        if not np.isfinite(self.learner.weights).all():
            raise core.TrainingError(
                f"game {self.games + 1}: weights are not numbers any more; nothing was overwritten: "
                f"start another run with --set step_size={self.settings.step_size / 3:.2g}"
            )
        self.games += 1
        if self._averaged > 0:
            self._mean += (self.learner.weights - self._mean) / self._averaged
        errors = sum(values["td_error"] ** 2 * values["updates"] for values in learned)
        updates = sum(values["updates"] for values in learned)
        if played is None:
            return Counts(errors, updates, 0, 0, 0)
        return Counts(errors, updates, 1, int(played.learner_won), int(played.winner is None))

    @property
    def _orientations(self) -> tuple[Symmetry, ...]:
        return tuple(Symmetry) if self.settings.symmetries else (Symmetry.IDENTITY,)

    def _play_game(self) -> PlayedGame:
        number = self.games - self.recorded
        if number % (self.settings.renewed_every or self.settings.self_play) == 0:
            self._former = self.learner.weights
        learner, former = (LinearModel(self.features, weights) for weights in (self.learner.weights, self._former))
        return play_former_self(learner, former, self.settings, self.features.board_size, number, self.settings.seed)

    def _chains_of(self, played: PlayedGame, symmetry: Symmetry) -> Chains:
        return link_afterstates(self.features, turned(played.afterstates, symmetry), played.winner)

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """All that is needed to resume."""
        return self.learner.state_dict() | {
            "former": self._former,
            "mean": self._mean.copy(),
            "games": np.array([self.games]),
        }

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a state; raises ValueError if it is not one of these settings."""
        shapes = {name: state[name].shape for name in ("former", "mean") if name in state}
        if shapes != dict.fromkeys(("former", "mean"), self._former.shape) or "games" not in state:
            raise ValueError("it is not a state of this value")
        self.learner.load_state_dict(state)
        self._former = state["former"].copy()
        self._mean = state["mean"].copy()
        self.games = int(state["games"][0])


def load_features(settings: ValueTraining) -> CrbmFeatures | Templates:
    """The features that a value is learned over; raises ModelError."""
    if settings.features == TEMPLATES:
        return Templates(settings.size)
    if settings.features == CENTERED_TEMPLATES:
        if settings.data is None:
            raise ModelError(f"{CENTERED_TEMPLATES} are counted in the games that are learned from: give --data SET")
        return Templates(settings.size).centered(open_records(settings, Split.TRAINING, settings.games).afterstates())
    features = load_saved_crbm(settings).features()
    if features.board_size != settings.size:
        raise ModelError(f"{settings.features} has features of size {features.board_size}, not {settings.size}")
    return features


def load_saved_crbm(settings: ValueTraining) -> SavedCrbm:
    """The CRBM whose features these are; raises ModelError."""
    return replace(load_crbm(find_model(settings.features))[0], centered=settings.centered)


def _load_value(name: str, features: CrbmFeatures | Templates) -> Floats:
    model = load_model(name)
    if not isinstance(model, LinearModel) or getattr(model.features, "digest", "") != features.digest:
        raise ModelError(f"{name} is not a value over {features.name}")
    return model.weights


def open_records(settings: ValueTraining, split: Split, most: int | None) -> RecordedGames:
    """So many games of a split of the set, at most; raises DatasetError if there are none."""
    dataset = Dataset.open(settings.data or "")
    return RecordedGames(dataset, settings.size, split, settings.weakest, most, settings.seed)


# The loop


def train_value(
    settings: ValueTraining,
    directory: Path,
    watch: core.Watcher = core.ignore,
    command: str = "",
    machine: core.Machine = core.Machine(),  # noqa: B008
    tick: Callable[[int, int], None] = core.ignore,
) -> None:
    """Train in a run directory, or resume there to the same bytes, and save the model and a player's spec at the end.

    ``watch`` sees every evaluation, those of an earlier run first; ``tick`` sees after every game how many are done, of
    how many.
    """
    learner = ValueLearner(settings)
    held_out = list(_held_out(learner))
    with core.TrainingRun(directory, settings, watch, command) as run:
        run.restore(learner)
        for counts in run.learn(
            learner,
            update=learner.learn_game,
            every=settings.evaluate_every,
            tick=lambda _: tick(learner.games, learner.total_games),
            checkpoint_seconds=machine.checkpoint_seconds,
        ):
            line = core.MetricLine(
                {
                    "games": learner.games,
                    "td_error": float(np.sqrt(counts.squared_errors / max(counts.updates, 1))),
                    **run.times("seconds"),
                    **_against_former(counts),
                    **_prediction_accuracy(learner, held_out),
                }
            )
            run.keep(learner.state_dict(), line)
        _save(run, learner)
        run.finish(TEMPLATES if isinstance(learner.features, Templates) else "crbm")


def _against_former(counts: Counts) -> dict[str, float]:
    """The share of games that the learner won against its former self, of those with a winner."""
    if not counts.played:
        return {}
    finished = counts.played - counts.unfinished
    return {"win_rate": counts.won / max(finished, 1), "unfinished": counts.unfinished / counts.played}


def _held_out(learner: ValueLearner) -> Iterator[Chains]:
    """Some validation games whose winner is known; none without a dataset, or if it has none."""
    settings = learner.settings
    if settings.data is None:
        return
    try:
        games = open_records(settings, Split.VALIDATION, settings.validation_games)
    except DatasetError:
        return
    for number in range(games.games):
        chains = games.chains(learner.features, number)
        if not np.isnan(chains.rewards).any():
            yield chains


def _prediction_accuracy(learner: ValueLearner, held_out: list[Chains]) -> dict[str, float]:
    """How well the value predicts who won held-out games, over all their afterstates."""
    if not held_out:
        return {}
    weights = learner.weights
    logits = np.concatenate([_logits(weights, chains) for chains in held_out])
    won = np.concatenate([chains.rewards for chains in held_out])
    loss = np.logaddexp(0, logits) - won * logits
    return {"validation_loss": float(loss.mean()), "validation_winners": float(((logits > 0) == (won > 0.5)).mean())}


def _logits(weights: Floats, chains: Chains) -> NDArray[np.float64]:
    products = weights[chains.indices].astype(np.float64) * chains.occurrences
    sums: NDArray[np.float64] = np.add.reduceat(products, chains.starts[:-1])
    return sums


def _save(run: core.TrainingRun, learner: ValueLearner) -> None:
    settings, last, path = learner.settings, run.lines[-1].values, run.path / "model"
    training = run.describe("self-play" if learner.records is None else learner.records.dataset.title, learner.games)
    metrics = {}
    if "validation_winners" in last:
        metrics["validation winners known"] = Metric(value=last["validation_winners"])
    if isinstance(learner.features, Templates):
        model = LinearModel(learner.features, learner.weights)
        card = describe_linear(model, Rules(komi=settings.komi), training, metrics)
        save_linear(path, model, card, replace=True)
    else:
        _, of_features = load_crbm(find_model(settings.features))
        crbm = replace(load_saved_crbm(settings), value=learner.weights)
        save_crbm(path, crbm, of_features.training, training, {**of_features.metrics, **metrics}, replace=True)


# How it is shown


def _summarize(_: ValueTraining, lines: Sequence[core.MetricLine]) -> str:
    """What was last measured."""
    if not lines:
        return ""
    values = lines[-1].values
    parts = [f"TD error {values['td_error']:.3f}"]
    if "validation_winners" in values:
        parts.append(f"winners of held-out games known {values['validation_winners']:.1%}")
    if "win_rate" in values:
        parts.append(f"{values['win_rate']:.1%} won against its former self")
    return ", ".join(parts)


def _train(settings: ValueTraining, folder: Path, command: str, machine: core.Machine, observer: core.Observer) -> None:
    def tick(games: int, total: int) -> None:
        observer.tick(games, None, total)

    train_value(settings, folder, observer.watch, command, machine, tick)


TRAINING: Final = core.TrainingCommand(
    help="""Learn what features are worth, from recorded games by TD(0), and then from games against its former self.

    The features are those of a CRBM, or all 2×2 templates. A run that was interrupted resumes when the same command is
    given again. When it is finished, its folder holds the model and a player that katachi play, gtp and match take.

    Examples:
      katachi train value runs/crbm --data runs/games
      katachi train value templates --data runs/games --games 1000 --set passes=5 --run runs/templates
      katachi train value runs/crbm --from runs/value --self-play 500
      katachi play runs/templates/player.toml --size 9
    """,
    options=(
        core.Option("features", "A CRBM, as a run or a model, or templates.", str, is_argument=True),
        core.DATA,
        core.Option("games", "How many of its games to learn from."),
        core.Option("self_play", "How many games to play against its former self then."),
        core.SEED,
        core.FIRST_RUN._replace(help="Start from the value of a model.", metavar="MODEL"),
    ),
    parse=lambda values: core.check_settings(ValueTraining, values),
    train=_train,
    folder=lambda settings: f"value-{settings.size}",
    summarize=_summarize,
    unit="games",
)


# How features with a value are released: both are trained by one recipe, which has two tables, ``[crbm]`` as
# ``katachi train crbm`` takes it, and ``[value]`` as ``katachi train value`` does.


class CrbmRelease(Release):
    """Measured against simple players."""

    training = CRBM_TRAINING

    def parse(self, values: dict[str, Any], request: Request) -> tuple[CrbmTraining, ValueTraining]:
        if set(values) != {"crbm", "value"}:
            raise ModelError(f"the recipe {request.name} needs the tables crbm and value, and no others")
        value = TRAINING.parse({**values["value"], "features": str(request.folder / "crbm")})
        return super().parse(values["crbm"], request), value

    def train(self, settings: tuple[CrbmTraining, ValueTraining], request: Request) -> Path:
        """Both, one after the other, or what is left of it; returns the run of the value."""
        command = f"katachi models make {request.name}"
        for training, part, name in zip((CRBM_TRAINING, TRAINING), settings, ("crbm", "value"), strict=True):
            request.tools.train(training, part, request.folder / name, command, core.Machine())
        return request.folder / "value"

    def check(self, settings: tuple[CrbmTraining, ValueTraining], card: ModelCard, name: str) -> None:
        crbm, value = settings
        made_with = _value_training(card, name).settings
        check_recipe(name, crbm, card.training.settings)
        check_recipe(name, value.model_copy(update={"features": made_with.get("features")}), made_with)

    def measure(
        self, settings: tuple[CrbmTraining, ValueTraining], model: SavedModel[Any], request: Request
    ) -> dict[str, Metric]:
        _, value = settings
        played = {
            f"win rate against {opponent}, one ply": request.tools.play(opponent, model, value.komi, request)
            for opponent in _OPPONENTS
        }
        return {**model.card.metrics, **played}

    def save(self, path: Path, model: SavedModel[Any], metrics: Mapping[str, Metric], request: Request) -> None:
        name = request.name
        crbm, card = load_crbm(model.path)
        features = _without_folder(name, card.training, "data")
        value = _without_folder(name, _value_training(card, name), "features")
        save_crbm(path, crbm, features, value, metrics, replace=True)

    def describe_player(self, settings: tuple[CrbmTraining, ValueTraining]) -> str:
        size = settings[0].size
        found = f"Features that an RBM found, with a value from self-play on {size}x{size}"
        return f"{found}, one ply deep (Largman and Pham)"


def _value_training(card: ModelCard, name: str) -> Training:
    """How the value of a model was trained; raises ModelError if it has none."""
    training: Training | None = getattr(card, "value_training", None)
    if training is None:
        raise ModelError(f"the recipe {name} did not make this model: it has no value")
    return training


def _without_folder(name: str, training: Training, place: str) -> Training:
    """How it was trained, in words that do not depend on where anything lay; ``place`` is the setting that says it."""
    settings: Mapping[str, Any] = training.settings
    here = {**settings, place: Path(str(settings[place])).name}
    return training.model_copy(update={"command": f"katachi models make {name}", "settings": here})


RELEASE: Final = CrbmRelease()
