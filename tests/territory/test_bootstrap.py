from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from katachi.core.training import MetricLine
from katachi.go.points import BLACK, PASS, WHITE
from katachi.go.scoring import area
from katachi.territory.evaluator import Territory, load_territory
from katachi.territory.inputs import TABLE_SHAPE, PointInputs
from katachi.territory.learner import Losses, TargetSettings
from katachi.territory.network import DagRnn, DagRnnConfig
from katachi.territory.train import BootstrapTraining, play_games, take_positions, train_bootstrap

TINY = {"size": 3, "positions": 90, "games_a_round": 3, "positions_a_game": 10, "batch": 10}


@pytest.fixture(scope="module")
def territory() -> Territory:
    return Territory(DagRnn.new(DagRnnConfig(), PointInputs(), seed=0), np.zeros(TABLE_SHAPE, dtype=np.float32))


def test_games_are_played_to_their_end(territory: Territory) -> None:
    games = play_games(territory, 4, 6, temperature=1.0, rng=np.random.default_rng(1))
    assert len({tuple(game.moves) for game in games}) > 1
    for game in games:
        replayed = game.boards[0].copy()
        for number, move in enumerate(game.moves):
            assert replayed.to_play == (BLACK, WHITE)[number % 2]
            replayed.play(move)  # raises IllegalMove
            assert np.array_equal(replayed.stones, game.boards[number + 1].stones)
        assert game.moves[-2:] == [PASS, PASS] or len(game.moves) == 48
        assert np.array_equal(game.owned, area(replayed))


def test_a_cold_network_takes_what_promises_most(territory: Territory) -> None:
    (game,) = play_games(territory, 4, 1, temperature=1e-6, rng=np.random.default_rng(1))
    board = game.boards[0]
    promised = {}
    for move in range(16):
        child = board.copy()
        child.play(move)
        promised[move] = float(territory.ownership([child]).sum())
    assert promised[game.moves[0]] == max(promised.values())


def test_positions_of_games(territory: Territory) -> None:
    games = play_games(territory, 3, 2, temperature=1.0, rng=np.random.default_rng(2))
    found = take_positions(territory, games, 30, TargetSettings(), np.random.default_rng(3))
    assert found.inputs.shape == (60, 9, 69)
    for inputs, targets, owned, played, stones in zip(*found[:5], strict=True):
        (game,) = [game for game in games if np.array_equal(game.owned, owned)][:1]
        plies = [ply for ply, board in enumerate(game.boards) if np.array_equal(inputs, _inputs(territory, board))]
        assert any(stones == np.count_nonzero(game.boards[ply].stones) for ply in plies)
        assert set(targets[owned == BLACK].tolist()) <= {0.75, 0.875, 1.0}
        assert played == -1 or 0 <= played < 18


def test_positions_seen_by_the_mover_are_those_with_colors_exchanged(territory: Territory) -> None:
    by_mover = Territory(
        DagRnn.new(DagRnnConfig(by_mover=True), PointInputs(), seed=0), np.zeros(TABLE_SHAPE, dtype=np.float32)
    )
    games = play_games(territory, 3, 2, temperature=1.0, rng=np.random.default_rng(2))
    plain, seen = (
        take_positions(t, games, 30, TargetSettings(), np.random.default_rng(3)) for t in (territory, by_mover)
    )
    exchanged = (plain.played >= 0) & (plain.played < 9)  # Black is next, so White has just moved
    assert exchanged.any()
    assert not exchanged.all()
    known = plain.played >= 0
    assert np.array_equal(seen.played[known], plain.played[known] + 9 * exchanged[known])
    assert np.array_equal(seen.played[~known], plain.played[~known])
    for i in np.flatnonzero(known).tolist():
        sign = -1 if exchanged[i] else 1
        assert np.array_equal(seen.owned[i], sign * plain.owned[i])
        assert seen.targets[i] - 0.5 == pytest.approx(sign * (plain.targets[i] - 0.5))
        told = plain.inputs[i : i + 1]
        assert np.array_equal(seen.inputs[i : i + 1], PointInputs().exchange(told) if exchanged[i] else told)


def _inputs(territory: Territory, board: object) -> np.ndarray:
    return territory.net.inputs.encode([board], territory.propensity)[0]  # type: ignore[list-item]


class Killed(Exception):
    pass


def test_a_run_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    settings = BootstrapTraining(**TINY)
    train_bootstrap(settings, tmp_path / "straight")

    def kill(positions: int, losses: Losses) -> None:
        if positions == 50:  # after the first of three rounds
            raise Killed

    with pytest.raises(Killed):
        train_bootstrap(settings, tmp_path / "killed", tick=kill)
    lines: list[MetricLine] = []
    train_bootstrap(settings, tmp_path / "killed", lines.append)
    assert [line.games for line in lines] == [3, 6, 9]
    for name in ("checkpoint.safetensors", "model/weights.safetensors"):
        straight, killed = ((tmp_path / run / name).read_bytes() for run in ("straight", "killed"))
        assert straight == killed, name
    _, card = load_territory(tmp_path / "killed" / "model")
    assert (card.training.games, card.training.positions) == (9, 90)
