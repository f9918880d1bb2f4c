"""Learning territory from nothing: a DAG-RNN plays against itself, and learns who owned what (Wu and Baldi 2006).

A round is some games with the weights of the moment, one ply deep: of all sensible moves one is drawn, the likelier
the more area it promises its player. Games end when nobody has a sensible move, and every stone then counts as alive,
so nobody is asked who owns what. Positions of these games are learned from, and the next round begins. Propensities
would be knowledge of other games: they stay 0.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from katachi.core.cards import Metric, Training, provenance
from katachi.core.contracts import Doubles, Floats
from katachi.core.disk import write_atomically
from katachi.core.evaluators import after, moves_of
from katachi.core.models import load_weights
from katachi.core.statistics import wilson_interval
from katachi.core.training import MetricLine, TrainingRun, load_first_weights
from katachi.data.batches import describe_training
from katachi.data.dataset import Dataset
from katachi.go.board import Board
from katachi.go.points import BLACK, MAX_SIZE, MIN_SIZE, PASS, WHITE
from katachi.go.scoring import area
from katachi.search.one_ply import sensible_moves
from katachi.sgf.files import Split
from katachi.territory.evaluator import PROPENSITY, Territory, save_territory
from katachi.territory.inputs import TABLE_SHAPE, PointInputs
from katachi.territory.learner import (
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
from katachi.territory.measure import evaluate_moves, pick_moves

# Training a DAG-RNN on disk: the loop with its checkpoints and measurements, the model and its player.
#
# A run goes on to the same bytes on one thread: batch k is the same whoever computes it.

_AFTERSTATES: Final = 16_000  # about so many are judged to fit a temperature to moves of validation games

Watcher = Callable[[MetricLine], None]
Ticker = Callable[[int, Losses], None]
Counter = Callable[[int], None]


class Machine(NamedTuple):
    """What a run may use; it does not change what is learned, but for the rounding of several threads."""

    threads: int = 1  # that learn
    workers: int = 1  # threads that compute batches ahead; 0: the one that learns does


def _ignore(positions: int, losses: Losses) -> None: ...


def _ignore_count(games: int) -> None: ...


def train_territory(
    settings: TerritoryTraining,
    directory: Path,
    watch: Watcher,
    command: str = "",
    machine: Machine = Machine(),  # noqa: B008
    tick: Ticker = _ignore,
    count: Counter = _ignore_count,
) -> None:
    """Train in a run directory, or go on there, and save the model there at the end with a player's spec.

    ``watch`` sees every evaluation, those of an earlier run first; ``count`` hears how many games were counted for
    propensities; ``tick`` hears after every batch how many positions were learned from, and what was known of them.
    """
    batches = open_batches(settings)
    first = load_first_weights(settings.first_model, _weights_of_model)
    learner = TerritoryLearner(settings, first, machine.threads)
    with TrainingRun(directory, settings) as run:
        run.restore(learner)
        for line in run.lines:
            watch(line)
        propensity = batches.count_propensity(count)
        held_out = batches.held_out(settings.validation_positions)
        _train(learner, run, batches, held_out, settings.evaluate_every, machine.workers, watch, tick)
        territory = Territory(learner.net, propensity)
        last = run.lines[-1]
        training = describe_training(settings, batches.dataset, batches.games, learner.positions, last, command)
        points, temperature = fit_points(learner.net, held_out), _fit_temperature(territory, batches)
        save_territory(directory / "model", territory, points, temperature, training, _metrics(last), replace=True)
        write_player(directory)
        run.finish()


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


def _train(
    learner: TerritoryLearner,
    run: TrainingRun,
    batches: TerritoryBatches,
    held_out: Positions,
    every: int,
    workers: int,
    watch: Watcher,
    tick: Ticker,
) -> None:
    """Learn batch after batch, and measure and keep everything every so many positions."""
    steps = max(1, every // learner.settings.batch)
    began = time.monotonic() - (run.lines[-1].values["seconds"] if run.lines else 0)
    since: list[Losses] = []
    stream = batches.stream(learner.step, workers)
    while not learner.is_finished:
        since.append(learner.update(next(stream)))
        tick(learner.positions, since[-1])
        if learner.step % steps == 0 or learner.is_finished:
            measured = {f"validation_{name}": value for name, value in validate(learner.net, held_out).items()}
            seconds = {"seconds": round(time.monotonic() - began, 1)}
            line = MetricLine({**_summarize(learner, batches, since), **seconds, **measured})
            run.keep(learner.state_dict(), line)
            watch(line)
            since = []


def _summarize(learner: TerritoryLearner, batches: TerritoryBatches, since: list[Losses]) -> dict[str, float]:
    positions = sum(losses.positions for losses in since)
    return {
        "positions": learner.positions,
        "epochs": round(learner.positions / batches.epoch, 3),
        "step_size": learner.settings.step_size_at(learner.step - 1),
        "loss": sum(losses.ownership for losses in since) / positions,
        **({"move_loss": sum(losses.moves for losses in since) / positions} if learner.settings.policy else {}),
    }


# What becomes of it


def _metrics(last: MetricLine) -> dict[str, Metric]:
    """What the last evaluation found on held-out positions; the interval counts a position as one observation."""
    values = last.values
    count, right = values["validation_positions"], values["validation_right"]
    low, high = wilson_interval(right * count, int(count))
    known = Metric(value=right, low=low, high=high, positions=count)
    loss = Metric(value=values["validation_loss"], unit="nats a position", positions=count)
    return {"validation loss": loss, "validation points known": known}


def _fit_temperature(territory: Territory, batches: TerritoryBatches) -> float:
    """The temperature by which moves of validation games are likeliest."""
    count = _AFTERSTATES // batches.size**2
    asked = pick_moves(batches.dataset, batches.games_of(Split.VALIDATION), count, seed=0)
    return evaluate_moves(territory, batches.dataset, asked).fit_temperature()


def write_player(directory: Path) -> None:
    """A player that takes the move after which it expects most, without search."""
    model = json.dumps(str((directory / "model").resolve()))
    spec = f'kind = "search"\nname = "territory"\n[evaluator]\nmodel = {model}\n[search]\nkind = "greedy"\n'
    write_atomically(directory / "player.toml", spec)


# Territory bootstrap

_NO_PROPENSITY: Final = np.zeros(TABLE_SHAPE, dtype=np.float32)
_POINTS: Final = 5.0  # that make e : 1 of the odds of a win: a guess, as there are no games of others to fit it to
_LONGEST: Final = 3  # moves for every point; then the board is counted as it stands


class BootstrapTraining(TerritoryRecipe):
    """How a network learns from its own games; ``positions`` says when it has learned enough."""

    size: int = Field(default=5, ge=MIN_SIZE, le=MAX_SIZE)
    games_a_round: int = Field(default=50, ge=1)
    positions_a_game: int = Field(default=20, ge=1)
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
    watch: Watcher,
    command: str = "",
    tick: Ticker = _ignore,
) -> None:
    """Train in a run directory, or go on there to the same bytes, and save the model and a player's spec at the end.

    ``watch`` sees every round, those of an earlier run first; ``tick`` hears after every batch how many positions were
    learned from, and what was known of them.
    """
    learner = TerritoryLearner(settings)
    with TrainingRun(directory, settings) as run:
        run.restore(learner)
        for line in run.lines:
            watch(line)
        for number in range(len(run.lines), settings.rounds):
            line = _play_round(learner, settings, number, tick)
            run.keep(learner.state_dict(), line)
            watch(line)
        training = Training(
            command=command,
            commit=provenance()["commit"],
            seed=settings.seed,
            games=run.lines[-1].games,
            positions=learner.positions,
            data="self-play",
            settings=settings.model_dump(mode="json"),
        )
        save_territory(
            directory / "model",
            Territory(learner.net, _NO_PROPENSITY),
            _POINTS,
            settings.temperature,
            training,
            replace=True,
        )
        write_player(directory)
        run.finish()


def _play_round(learner: TerritoryLearner, settings: BootstrapTraining, number: int, tick: Ticker) -> MetricLine:
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
    return MetricLine(
        {
            "games": (number + 1) * settings.games_a_round,
            "positions": learner.positions,
            "loss": loss / len(positions.inputs),
            "moves_a_game": float(np.mean([len(game.moves) for game in games])),
            "black_lead": float(np.mean([game.owned.sum() for game in games])),
        }
    )
