from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.small_sets import label_small_set, make_small_set
from katachi.data.dataset import Dataset, DatasetError, LabelError
from katachi.go.board import Board
from katachi.go.points import BLACK, PASS, Symmetry
from katachi.sgf.files import Split
from katachi.territory.inputs import PointInputs, Propensity
from katachi.territory.learner import Draw, TargetSettings, TerritoryBatches
from katachi.territory.network import DIAGONAL

INPUTS = PointInputs()


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = make_small_set(tmp_path_factory.mktemp("records"))
    label_small_set(path)
    return path


def open_batches(games: Path, seed: int = 0, ahead: int = 2) -> TerritoryBatches:
    batches = TerritoryBatches(Dataset.open(games), INPUTS, 8, seed, TargetSettings(ahead=ahead))
    batches.count_propensity()
    return batches


def position(games: Dataset, game: int, ply: int, turn: Symmetry, *, exchanged: bool) -> Board:
    """The slow twin: a position move by move, turned, perhaps with its colors exchanged."""
    sign = -1 if exchanged else 1
    start = games.start(game)
    board = Board(start.size)
    stones = {turn.apply(point, start.size): sign * start[point] for point in range(start.size**2) if start[point]}
    black = [point for point, color in stones.items() if color == BLACK]
    board.place(black=black, white=[point for point in stones if point not in black])
    moves, colors = games.moves_of(game)
    for move, color in zip(moves[:ply].tolist(), colors[:ply].tolist(), strict=True):
        board.play(turn.apply(move, start.size), sign * color)
    return board


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("exchanged", [False, True])
def test_positions_and_what_is_to_be_learned_of_them(games: Path, turned: bool, exchanged: bool) -> None:
    batches = open_batches(games, ahead=3)
    dataset = batches.dataset
    chosen = dataset.select(split=Split.TRAINING)[:4]
    for part in (0.0, 0.3, 0.8, 1.0):
        plies = np.floor(part * dataset.games["moves"][chosen]).astype(np.int64)
        found = batches.positions(Draw(chosen, plies, np.full(4, int(turned)), np.full(4, int(exchanged))))
        for i, (game, ply) in enumerate(zip(chosen.tolist(), plies.tolist(), strict=True)):
            turn = DIAGONAL if turned else Symmetry.IDENTITY
            board = position(dataset, game, ply, turn, exchanged=exchanged)
            assert np.array_equal(found.inputs[i], INPUTS.encode([board], batches.propensity)[0])
            assert found.stones[i] == sum(board[point] != 0 for point in range(25))
            moves, colors = dataset.moves_of(game)
            label = dataset.ownership(game)
            assert label is not None
            soon = position(dataset, game, ply + 3, turn, exchanged=exchanged)
            for point in range(25):
                there, sign = turn.apply(point, 5), -1 if exchanged else 1
                owner = sign * int(label[point])
                assert found.owned[i, there] == owner
                later = owner if ply + 3 >= len(moves) else soon[there]
                assert found.targets[i, there] == pytest.approx(0.75 * (owner + 1) / 2 + 0.25 * (later + 1) / 2)
            if ply == len(moves) or moves[ply] == PASS:
                assert found.played[i] == -1
            else:
                white = colors[ply] * (-1 if exchanged else 1) == -1
                assert found.played[i] == turn.apply(int(moves[ply]), 5) + 25 * white


def test_by_mover_black_has_always_just_moved(games: Path) -> None:
    dataset = Dataset.open(games)
    plain, seen = (TerritoryBatches(dataset, INPUTS, 40, by_mover=by_mover, turns=False) for by_mover in (False, True))
    for batches in (plain, seen):
        batches.count_propensity()
    found, as_played = seen.held_out(40), plain.held_out(40)
    exchanged = (found.owned != as_played.owned).any(axis=1)
    assert 0 < exchanged.sum() < 40
    assert np.array_equal(found.owned, np.where(exchanged[:, None], -as_played.owned, as_played.owned))
    assert np.array_equal(found.leads, np.where(exchanged, -as_played.leads, as_played.leads))
    for positions in (found, seen[0], seen[1]):
        told = positions.played[positions.played >= 0]
        assert told.size > 10
        assert (told >= 25).all()  # White is next


def test_the_check_value_of_a_target(games: Path) -> None:
    """A point that becomes Black's, but is still empty two moves on: 0.75 · 1 + 0.25 · 0.5."""
    batches = open_batches(games)
    found = [batches[number] for number in range(5)]
    targets = np.concatenate([batch.targets[batch.owned == BLACK] for batch in found])
    assert set(targets.tolist()) == {0.75, 0.875, 1.0}


def test_a_batch_depends_on_its_number_alone(games: Path) -> None:
    once, again = open_batches(games), open_batches(games)
    stream = again.stream(start=3, workers=1)
    for number in (3, 4):
        assert all(np.array_equal(a, b) for a, b in zip(once[number], next(stream), strict=True))
    assert not np.array_equal(once[3].targets, once[4].targets)
    assert not np.array_equal(once[3].targets, open_batches(games, seed=1)[3].targets)


def test_propensities_are_of_the_training_games(games: Path) -> None:
    batches = open_batches(games)
    counted = Propensity()
    for game in batches.dataset.select(split=Split.TRAINING).tolist():
        moves, _ = batches.dataset.moves_of(game)
        label = batches.dataset.ownership(game)
        boards = [
            position(batches.dataset, game, ply, Symmetry.IDENTITY, exchanged=False) for ply in range(len(moves) + 1)
        ]
        counted.count(boards, np.repeat(np.asarray(label)[None], len(boards), axis=0))
    assert np.array_equal(batches.propensity, counted.table())


def test_sets_that_nothing_can_be_learned_from(tmp_path: Path) -> None:
    path = make_small_set(tmp_path)
    with pytest.raises(LabelError, match="has no labels: katachi data label"):
        TerritoryBatches(Dataset.open(path), INPUTS, 8)
    label_small_set(path, unknown=15)
    with pytest.raises(DatasetError, match="no games for training of which it is known who owned what"):
        TerritoryBatches(Dataset.open(path), INPUTS, 8)
