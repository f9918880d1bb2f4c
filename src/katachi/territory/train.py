"""Training a DAG-RNN: from finished games, or from nothing by games against itself (Wu and Baldi 2006).

A run resumes to the same bytes on one thread: batch k is the same whoever computes it, and so is round k of games
against itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from katachi.core import training as core
from katachi.core.cards import Metric, mean_interval, wilson_interval
from katachi.core.contracts import Doubles, Floats
from katachi.core.evaluators import after, moves_of
from katachi.core.models import SavedModel, load_weights
from katachi.core.training import Release, Request, describe_network
from katachi.data.dataset import Dataset
from katachi.go.board import Board
from katachi.go.points import BLACK, MAX_SIZE, MIN_SIZE, PASS, WHITE
from katachi.go.scoring import area
from katachi.search.one_ply import sensible_moves
from katachi.sgf.files import Split
from katachi.territory.evaluator import PROPENSITY, Territory, load_territory, save_territory
from katachi.territory.inputs import TABLE_SHAPE, PointInputs
from katachi.territory.learner import (
    PHASES,
    Losses,
    Positions,
    TargetSettings,
    TerritoryBatches,
    TerritoryLearner,
    TerritoryRecipe,
    TerritoryTraining,
    fit_points,
    validate,
)
from katachi.territory.measure import Known, evaluate_moves, measure_territory, pick_moves

_AFTERSTATES: Final = 16_000  # about so many are evaluated to fit a temperature to moves of validation games
_PLAYER: Final = {"player": "territory", "search": "greedy"}  # takes the move after which it expects most

Ticker = Callable[[int, Losses], None]


def train_territory(
    settings: TerritoryTraining,
    directory: Path,
    watch: core.Watcher = core.ignore,
    command: str = "",
    machine: core.Machine = core.Machine(),  # noqa: B008
    tick: Ticker = core.ignore,
    count: Callable[[int], None] = core.ignore,
) -> None:
    """Train in a run directory, or resume there, and save the model there at the end with a player's spec.

    ``watch`` sees every evaluation, those of an earlier run first; ``count`` sees how many games were counted for
    propensities; ``tick`` sees after every batch how many positions were learned from, and the losses of the last ones.
    """
    batches = open_batches(settings)
    learner = TerritoryLearner(
        settings, core.load_first_weights(settings.first_model, _weights_of_model), machine.threads
    )
    with core.TrainingRun(directory, settings, watch, command) as run:
        run.restore(learner)
        propensity = batches.count_propensity(count)
        held_out = batches.held_out(settings.validation_positions)
        stream = batches.stream(learner.step, machine.workers)
        for losses in run.learn(
            learner,
            update=lambda: learner.update(next(stream)),
            every=max(1, settings.evaluate_every // settings.batch),
            tick=lambda found: tick(learner.positions, found),
            checkpoint_seconds=machine.checkpoint_seconds,
        ):
            measured = {f"validation_{name}": value for name, value in validate(learner.net, held_out).items()}
            line = core.MetricLine({**_describe_losses(learner, batches, losses), **run.times("seconds"), **measured})
            run.keep(learner.state_dict(), line)
        territory = Territory(learner.net, propensity)
        points, temperature = fit_points(learner.net, held_out), _fit_temperature(territory, batches)
        training = run.describe(batches.dataset.title, batches.games, learner.positions)
        metrics = _metrics(run.lines[-1])
        save_territory(directory / "model", territory, points, temperature, training, metrics, replace=True)
        run.finish(**_PLAYER)


def _weights_of_model(path: Path) -> dict[str, NDArray[Any]]:
    return {name: array for name, array in load_weights(path).items() if name != PROPENSITY}


def open_batches(settings: TerritoryTraining) -> TerritoryBatches:
    """The batches of a training; raises DatasetError or LabelError if there are none."""
    return TerritoryBatches(
        Dataset.open(settings.data),
        settings.inputs,
        settings.batch,
        settings.seed,
        settings.target,
        turns=not settings.diagonal,
        exchanges=settings.exchanges,
        by_mover=settings.by_mover,
        weakest=settings.weakest,
    )


def _describe_losses(learner: TerritoryLearner, batches: TerritoryBatches, losses: Losses) -> dict[str, float]:
    return {
        "positions": learner.positions,
        "epochs": round(learner.positions / batches.epoch, 3),
        "step_size": learner.settings.step_size_at(learner.step - 1),
        "loss": losses.ownership / losses.positions,
        **({"move_loss": losses.moves / losses.positions} if learner.settings.policy else {}),
    }


def _metrics(last: core.MetricLine) -> dict[str, Metric]:
    """What the last evaluation found on held-out positions; the interval counts a position as one observation."""
    values = last.values
    count, right = values["validation_positions"], values["validation_right"]
    low, high = wilson_interval(right * count, int(count))
    known = Metric(value=right, low=low, high=high, positions=count)
    loss = Metric(value=values["validation_loss"], unit="nats a position", positions=count)
    return {"validation loss": loss, "validation points known": known}


def _fit_temperature(territory: Territory, batches: TerritoryBatches) -> float:
    """The temperature by which moves of validation games are most probable."""
    count = _AFTERSTATES // batches.size**2
    asked = pick_moves(batches.dataset, batches.games_of(Split.VALIDATION), count, seed=0)
    return evaluate_moves(territory, batches.dataset, asked).fit_temperature()


# From nothing: a network plays against itself, and learns who owned what.
#
# A round is some games with the weights of the moment, one ply deep: of all sensible moves one is drawn, the more
# probable the more area it promises its player. Games end when nobody has a sensible move, and every stone then counts
# as alive, so nobody is asked who owns what. Positions of these games are learned from, and the next round starts.
# Propensities would be knowledge of other games: they stay 0.

_NO_PROPENSITY: Final = np.zeros(TABLE_SHAPE, dtype=np.float32)
_POINTS: Final = 5.0  # that make e : 1 of the odds of a win: a guess, without games of others to fit it to
_LONGEST: Final = 3  # moves for every point; then the board is counted as it stands


class BootstrapTraining(TerritoryRecipe):
    """How a network learns from its own games; ``positions`` says when it has learned enough."""

    size: int = Field(default=5, ge=MIN_SIZE, le=MAX_SIZE)
    games_a_round: core.Batch = 50
    positions_a_game: core.Batch = 20
    temperature: float = Field(default=1.0, gt=0, allow_inf_nan=False)  # in points: e times as likely for one more

    @property
    def rounds(self) -> int:
        return -(-self.positions // (self.games_a_round * self.positions_a_game))


class PlayedGame(NamedTuple):
    """A game of the network against itself."""

    boards: list[Board]  # before the first move and after each
    moves: list[int]
    owned: NDArray[np.int8]  # [n²], in the end


def play_games(
    territory: Territory, size: int, count: int, temperature: float, rng: np.random.Generator
) -> list[PlayedGame]:
    """Let a network play games against itself, all of them move by move at the same time."""
    games = [PlayedGame([Board(size)], [], np.zeros(size * size, dtype=np.int8)) for _ in range(count)]
    for _ in range(_LONGEST * size * size):
        playing = [game for game in games if game.moves[-2:] != [PASS, PASS]]
        if not playing:
            break
        moves = _draw_moves(territory, [game.boards[-1] for game in playing], temperature, rng)
        for game, move in zip(playing, moves, strict=True):
            game.boards.append(after(game.boards[-1], move))
            game.moves.append(move)
    return [game._replace(owned=area(game.boards[-1])) for game in games]


def _draw_moves(territory: Territory, boards: list[Board], temperature: float, rng: np.random.Generator) -> list[int]:
    """A move for each board, by the area that is expected after it."""
    choices = [moves_of(sensible_moves(board)) for board in boards]
    afterstates = [after(board, move) for board, moves in zip(boards, choices, strict=True) for move in moves]
    areas = territory.ownership(afterstates).sum(axis=1, dtype=np.float64) / 2
    drawn, first = [], 0
    for board, moves in zip(boards, choices, strict=True):
        promises = areas[first : first + len(moves)] * board.to_play / temperature
        drawn.append(moves[_draw(promises, rng)])
        first += len(moves)
    return drawn


def _draw(logits: Doubles, rng: np.random.Generator) -> int:
    """One of them by their softmax."""
    shares = np.exp(logits - logits.max())
    return int(np.searchsorted(np.cumsum(shares), rng.random() * shares.sum(), side="right"))


def take_positions(
    territory: Territory, games: list[PlayedGame], each: int, target: TargetSettings, rng: np.random.Generator
) -> Positions:
    """So many random positions of each game, in random order, and what is to be learned of them."""
    drawn = [(game, int(ply)) for game in games for ply in rng.integers(len(game.boards), size=each)]
    drawn = [drawn[number] for number in rng.permutation(len(drawn))]
    boards = [game.boards[ply] for game, ply in drawn]
    inputs = territory.net.inputs.encode(boards, territory.propensity)
    owned = np.stack([game.owned for game, _ in drawn])
    soon = np.stack([_owners(game, ply + target.ahead) for game, ply in drawn])
    targets = ((1 - target.share) * (owned + 1) / 2 + target.share * (soon + 1) / 2).astype(np.float32)
    stones = np.array([np.count_nonzero(board.stones) for board in boards])
    played = np.array([_next_move(game, ply) for game, ply in drawn])
    unknown: Floats = np.full(len(drawn), np.nan, dtype=np.float32)
    positions = Positions(inputs, targets, owned, played, stones, unknown)
    if not territory.net.config.by_mover:
        return positions
    return _exchange(positions, np.array([board.to_play == BLACK for board in boards]), territory.net.inputs)


def _exchange(positions: Positions, chosen: NDArray[np.bool_], inputs: PointInputs) -> Positions:
    """The same positions, the chosen ones of them [B] with colors exchanged."""
    points, each = positions.owned.shape[1], chosen[:, None]
    passed = positions.played < 0
    return positions._replace(
        inputs=np.where(each[:, :, None], inputs.exchange(positions.inputs), positions.inputs),
        targets=np.where(each, 1 - positions.targets, positions.targets),
        owned=np.where(each, -positions.owned, positions.owned),
        played=np.where(chosen & ~passed, (positions.played + points) % (2 * points), positions.played),
    )


def _owners(game: PlayedGame, ply: int) -> NDArray[np.int8]:
    return game.owned if ply >= len(game.boards) - 1 else game.boards[ply].stones


def _next_move(game: PlayedGame, ply: int) -> int:
    """As ``Positions.played`` has it."""
    if ply == len(game.moves) or game.moves[ply] == PASS:
        return -1
    return game.moves[ply] + (game.owned.size if game.boards[ply].to_play == WHITE else 0)


def train_bootstrap(
    settings: BootstrapTraining,
    directory: Path,
    watch: core.Watcher = core.ignore,
    command: str = "",
    tick: Ticker = core.ignore,
) -> None:
    """Train in a run directory, or resume there to the same bytes, and save the model and a player's spec at the end.

    ``watch`` sees every round, those of an earlier run first; ``tick`` sees after every batch how many positions were
    learned from, and the losses of the last ones.
    """
    learner = TerritoryLearner(settings)
    with core.TrainingRun(directory, settings, watch, command) as run:
        run.restore(learner)
        for number in range(len(run.lines), settings.rounds):
            line = _play_round(learner, settings, number, tick)
            run.keep(learner.state_dict(), line)
        territory = Territory(learner.net, _NO_PROPENSITY)
        training = run.describe("self-play", run.lines[-1].games, learner.positions)
        save_territory(directory / "model", territory, _POINTS, settings.temperature, training, replace=True)
        run.finish(**_PLAYER)


def _play_round(learner: TerritoryLearner, settings: BootstrapTraining, number: int, tick: Ticker) -> core.MetricLine:
    """Play a round and learn from it."""
    rng = np.random.default_rng((settings.seed, number))
    territory = Territory(learner.net, _NO_PROPENSITY)
    games = play_games(territory, settings.size, settings.games_a_round, settings.temperature, rng)
    positions = take_positions(territory, games, settings.positions_a_game, settings.target, rng)
    loss = 0.0
    for first in range(0, len(positions.inputs), settings.batch):
        losses = learner.update(positions.part(slice(first, first + settings.batch)))
        loss += losses.ownership
        tick(learner.positions, losses)
    return core.MetricLine(
        {
            "games": (number + 1) * settings.games_a_round,
            "positions": learner.positions,
            "loss": loss / len(positions.inputs),
            "moves_a_game": float(np.mean([len(game.moves) for game in games])),
            "black_lead": float(np.mean([game.owned.sum() for game in games])),
        }
    )


# How it is shown


def _summarize(_: TerritoryRecipe, lines: Sequence[core.MetricLine]) -> str:
    """The last accuracy on held-out positions, or how the last games against itself went."""
    if not lines:
        return ""
    values = lines[-1].values
    if "games" in values:
        length = f"{values['moves_a_game']:.0f} moves per game, Black ahead by {values['black_lead']:.1f} points"
        return f"{values['games']:,} games: loss {values['loss']:.2f}, {length}"
    phases = [values.get(f"validation_right_{phase}") for phase in range(len(PHASES) + 1)]
    by_phase = " → ".join(f"{right:.1%}" for right in phases if right is not None)
    known = f"ownership accuracy {values['validation_right']:.1%}, from empty to full boards {by_phase}"
    return f"held-out positions: {known}; loss {values['validation_loss']:.2f}"


def _parse(values: dict[str, Any]) -> TerritoryTraining | BootstrapTraining:
    """A board size is for self-play: networks learn from datasets of any one."""
    if "size" not in values:
        return core.check_dataset_settings(TerritoryTraining, values, "katachi data label")
    if not values.keys().isdisjoint({"data", "first_model"}):
        raise core.TrainingError("--self-play starts from nothing: give neither --data nor --from")
    return core.check_settings(BootstrapTraining, values)


def _train(
    settings: TerritoryTraining | BootstrapTraining,
    folder: Path,
    command: str,
    machine: core.Machine,
    observer: core.Observer,
) -> None:
    if isinstance(settings, BootstrapTraining):
        train_bootstrap(settings, folder, observer.watch, command, observer.tick)
        return

    def count(games: int) -> None:
        observer.note(f"counting propensities: {games:,} games")

    train_territory(settings, folder, observer.watch, command, machine, observer.tick, count)


TRAINING: Final = core.TrainingCommand(
    help="""Learn from finished games who will own each point (Wu and Baldi 2006).

    A run that was interrupted resumes when the same command is given again. Settings are those of the network and of
    learning: hidden, channels, sweeps, cell, step_size … Their names and values are in config.toml of any run. What was
    learned on one board size is good for all of them.

    Examples:
      katachi data import games/ --out runs/games
      katachi data label runs/games
      katachi train territory --data runs/games
      katachi train territory --data runs/games --set optimizer=sgd --set batch=10 --set step_size=0.01
      katachi train territory --data runs/games --set cell=gated --set hidden=32 --set channels=16 --set sweeps=2
      katachi train territory --resume runs/territory
      katachi train territory --self-play 5 --positions 200000
    """,
    options=(
        core.DATA._replace(help="A dataset with labels (katachi data label)."),
        core.Option(
            "size",
            "Learn from nothing, by playing against itself on this board size.",
            flag="--self-play",
            metavar="SIZE",
        ),
        core.POSITIONS,
        core.SEED,
        core.FIRST_RUN,
    ),
    parse=_parse,
    train=_train,
    folder=lambda _: "territory",
    summarize=_summarize,
    total=lambda settings: settings.steps * settings.batch,
    recent=lambda sums: f"loss {sums.ownership / sums.positions:.2f}",
    usual="the paper's network",
    takes_threads=True,
    takes_workers=True,
)


# How a network is released


class TerritoryRelease(Release):
    """Measured by its loss and ownership accuracy in positions of test games, by phase too, and at the end of games."""

    training = TRAINING

    def measure(self, settings: TerritoryTraining, model: SavedModel[Any], request: Request) -> dict[str, Metric]:
        territory, _ = load_territory(model.path)
        dataset = Dataset.open(settings.data)
        with request.tools.bar("measuring", request.positions) as tick:
            every = measure_territory(territory, dataset, request.positions, tick=tick)
        ended = measure_territory(territory, dataset, request.positions, Split.TEST, ended=True)
        mean, low, high = mean_interval(every.losses)
        metrics = {
            "test loss": Metric(value=mean, low=low, high=high, unit="nats a position", positions=every.losses.size),
            "test points known": _accuracy(every),
            "test points known at the end": _accuracy(ended),
        }
        return metrics | {f"test points known, {phase}": _accuracy(known) for phase, known in every.by_phase().items()}

    def save(self, path: Path, model: SavedModel[Any], metrics: Mapping[str, Metric], request: Request) -> None:
        territory, card = load_territory(model.path)
        training = describe_network(request.name, card.training)
        save_territory(path, territory, card.points, card.temperature, training, metrics, replace=True)

    def describe_player(self, settings: TerritoryTraining) -> str:
        size = Dataset.open(settings.data).only_size()
        return f"Territory as a {settings.cell} DAG-RNN learned it on {size}x{size}, one ply deep (Wu and Baldi 2006)"


def _accuracy(known: Known) -> Metric:
    mean, low, high = mean_interval(known.shares)
    return Metric(value=mean, low=max(0.0, low), high=min(1.0, high), positions=known.shares.size)


RELEASE: Final = TerritoryRelease()
