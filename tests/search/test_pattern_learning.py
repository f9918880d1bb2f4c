"""Learning the weights of moves: the choices in a game, and the likelihood against a general optimizer."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from katachi.core.training import TrainingError
from katachi.search.kernels.patterns import GROUPS, LARGE_MOST, LARGE_SIZES, TAKES
from katachi.search.pattern_learning import (
    Choices,
    PatternTraining,
    find_large,
    learn_large,
    learn_weights,
    list_choices,
    list_large_keys,
    measure_fit,
    replay_line,
    train_patterns,
    uniform_weights,
)
from katachi.search.playouts import LargePatterns, count_patterns, load_large_patterns, load_move_weights
from katachi.sgf import parse_sgf
from katachi.sgf.files import Split, split_of

GAME = "(;SZ[5]AB[bc][cb]PL[W];W[cc];B[dc];W[aa];B[cd];W[];B[ee])"


def test_the_choices_of_a_game() -> None:
    choices = list_choices(replay_line(parse_sgf(GAME)[0]), step=1, first=0)
    assert len(choices) == 5  # the pass is none
    assert np.diff(choices.starts).tolist() == [23, 22, 21, 20, 19]  # Black's cc after the capture is his eye
    assert choices.features[choices.starts[3], 1] == TAKES  # takes, but not the stone just played
    assert choices.features[choices.starts[1], 2] == 2  # beside the last move
    every_second = list_choices(replay_line(parse_sgf(GAME)[0]), step=2, first=1)
    assert len(every_second) == 3


def test_a_game_that_cannot_be_replayed_has_no_choices() -> None:
    assert len(list_choices(replay_line(parse_sgf("(;GM[1]SZ[9:13];B[aa])")[0]), 1, 0)) == 0


def random_choices(count: int, seed: int) -> Choices:
    """Few features, so that a general optimizer can check the fit; those of the last two groups never differ."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 6, count)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    features = np.zeros((starts[-1], 4), dtype=np.uint16)
    features[:, 0] = rng.integers(4, size=starts[-1])
    features[:, 1] = rng.integers(3, size=starts[-1])
    strength = np.array([1, 2, 0.5, 4])[features[:, 0]] * np.array([1, 3, 0.3])[features[:, 1]]
    for start, end in pairwise(starts.tolist()):
        chosen = start + rng.choice(end - start, p=strength[start:end] / strength[start:end].sum())
        features[[start, chosen]] = features[[chosen, start]]
    return Choices(features, starts)


def penalized_loss(logs: np.ndarray, choices: Choices) -> float:
    """Minus the log likelihood, and for each feature a win and a loss against a move of strength 1."""
    strengths = logs[:4][choices.features[:, 0]] + logs[4:][choices.features[:, 1]]
    loss = 0.0
    for start, end in pairwise(choices.starts.tolist()):
        loss -= strengths[start] - np.logaddexp.reduce(strengths[start:end])
    return loss + float(np.sum(2 * np.logaddexp(0, logs) - logs))


def test_the_learned_weights_are_those_of_the_greatest_likelihood() -> None:
    choices = random_choices(200, seed=1)
    best = minimize(penalized_loss, np.zeros(7), args=(choices,))
    weights = learn_weights(choices, iterations=200)
    learned = np.log(np.concatenate([weights.pattern[:4], weights.tactic[:3]]))
    assert penalized_loss(learned, choices) < best.fun + 0.05
    for group in (slice(0, 4), slice(4, 7)):  # a factor common to a group hardly matters, and converges slowly
        np.testing.assert_allclose(learned[group] - learned[group][0], best.x[group] - best.x[group][0], atol=0.02)
    assert measure_fit(weights, choices).log_likelihood > measure_fit(uniform_weights(), choices).log_likelihood
    assert (weights.pattern[4:] == 1).all()


def test_more_iterations_fit_better_and_are_heard_of() -> None:
    choices = random_choices(300, seed=2)
    heard: list[float] = []
    fits = [measure_fit(learn_weights(choices, n, heard.append), choices).log_likelihood for n in (1, 2, 4, 8)]
    assert fits == sorted(fits)
    assert heard[:3] == [1, 0.5, 1]


def test_the_large_patterns_of_a_game() -> None:
    line = replay_line(parse_sgf(GAME)[0])
    keys = list_large_keys(line)
    assert keys.shape == (5, len(LARGE_SIZES))
    assert keys[2, 0] == keys[4, 0]  # two empty corners …
    assert np.unique(keys).size == keys.size - 1  # … which differ farther away
    known = LargePatterns(np.unique(keys[:, :2]), np.ones(10, dtype=np.float32))
    choices, plain = list_choices(line, 1, 0, known), list_choices(line, 1, 0)
    assert (choices.features[:, :GROUPS] == plain.features).all()
    numbers = choices.features[choices.starts[:-1], GROUPS]
    assert (known.key[numbers - 1] == keys[:, 1]).all()  # of those played the larger one of the two that are known


def test_large_patterns_are_known_that_are_played_often() -> None:
    keys = np.repeat(np.arange(4, dtype=np.uint64), [1, 3, 2, 5]).reshape(1, -1)
    assert find_large(keys, 3).tolist() == [1, 3]
    many = np.repeat(np.arange(LARGE_MOST + 2, dtype=np.uint64), 2)
    assert find_large(np.append(many, many[:99]), 2).tolist() == list(range(50))  # rather few than some of many equals


def test_large_patterns_are_learned_beside_the_weights_as_they_are() -> None:
    four = random_choices(300, seed=3)
    weights = learn_weights(four)
    rng = np.random.default_rng(1)
    numbers = rng.integers(3, size=len(four.features)).astype(np.uint16)
    numbers[four.starts[:-1]] = rng.choice([0, 1, 1, 1, 2], size=len(four))  # number 1 is played more often
    choices = Choices(np.column_stack([four.features, numbers]), four.starts)
    large = learn_large(choices, weights, np.array([5, 7], dtype=np.uint64), iterations=50)
    assert large.gamma[1] > 2 * max(large.gamma[0], large.gamma[2])
    fit = measure_fit(weights, choices, large).log_likelihood
    assert fit > measure_fit(weights, choices).log_likelihood
    for number in range(3):  # no other gamma fits better, but for the virtual games
        for factor in (0.8, 1.25):
            other = large.gamma.copy()
            other[number] *= factor
            assert measure_fit(weights, choices, large._replace(gamma=other)).log_likelihood < fit + 1e-3


def test_judging_counts_ties_by_their_share() -> None:
    choices = Choices(np.zeros((4, 4), dtype=np.uint16), np.array([0, 4]))
    fit = measure_fit(uniform_weights(), choices)
    assert fit.top_1 == 0.25
    assert fit.log_likelihood == pytest.approx(np.log(0.25))


def test_splits_are_decided_by_the_record() -> None:
    splits = [split_of(b"record %d" % i) for i in range(4000)]
    assert [splits.count(split) / 4000 for split in Split] == pytest.approx([0.9, 0.05, 0.05], abs=0.015)
    assert split_of(b"record 7") == splits[7]


def test_training_leaves_weights_and_their_card(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    records = []
    for _ in range(60):
        points = rng.permutation(25)[:12]
        moves = "".join(f";{'BW'[i % 2]}[{chr(97 + p % 5)}{chr(97 + p // 5)}]" for i, p in enumerate(points))
        records.append(f"(;SZ[5]BR[3d]WR[5k]{moves})")
    (tmp_path / "games.sgf").write_text("\n".join(records))
    shares: list[float] = []
    card = train_patterns(PatternTraining(games=60, step=1), [tmp_path], tmp_path / "out", shares.append, "a command")
    assert 40 < card.training.games < 60
    assert card.training.command == "a command"
    assert card.metrics["moves held out"].value > 0
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert load_move_weights(tmp_path / "out").pattern.shape == (count_patterns(),)
    card = train_patterns(PatternTraining(games=60, step=1, large=3), [tmp_path], tmp_path / "out", shares.append)
    assert card.metrics["large patterns"].value == load_large_patterns(tmp_path / "out").key.size > 0
    assert card.metrics["log likelihood"].value != card.metrics["log likelihood without large patterns"].value
    for large in (0, 3):
        with pytest.raises(TrainingError, match="no game to learn from"):
            train_patterns(PatternTraining(weakest="1d", large=large), [tmp_path], tmp_path / "none", shares.append)
