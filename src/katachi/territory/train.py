"""Learning territory from nothing: a DAG-RNN plays against itself, and learns who owned what (Wu and Baldi 2006).

A round is some games with the weights of the moment, one ply deep: of all sensible moves one is drawn, the likelier
the more area it promises its player. Games end when nobody has a sensible move, and every stone then counts as alive,
so nobody is asked who owns what. Positions of these games are learned from, and the next round begins. Propensities
would be knowledge of other games: they stay 0.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from katachi.core.cards import Training, provenance
from katachi.core.contracts import Doubles, Floats
from katachi.core.evaluators import after, moves_of
from katachi.core.models import save_dag_rnn
from katachi.core.training import MetricLine, TrainingRun
from katachi.go.board import Board
from katachi.go.points import BLACK, MAX_SIZE, MIN_SIZE, PASS, WHITE
from katachi.go.scoring import area
from katachi.search.one_ply import sensible_moves
from katachi.territory.evaluator import Territory
from katachi.territory.inputs import TABLE_SHAPE, PointInputs
from katachi.territory.learner import Losses, Positions, TargetSettings, TerritoryLearner, TerritoryRecipe
from katachi.territory.territory_training import write_player

_NO_PROPENSITY: Final = np.zeros(TABLE_SHAPE, dtype=np.float32)
_POINTS: Final = 5.0  # that make e : 1 of the odds of a win: a guess, as there are no games of others to fit it to
_LONGEST: Final = 3  # moves for every point; then the board is counted as it stands

Watcher = Callable[[MetricLine], None]
Ticker = Callable[[int, Losses], None]


def _ignore(positions: int, losses: Losses) -> None: ...


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
        save_dag_rnn(
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
