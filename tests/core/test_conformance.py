"""The checks pass what is right, and each of them fails a double that breaks the contract in one way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from threading import Event
from typing import Any, Literal

import numpy as np
import pytest
from pydantic import Field

from katachi.core import registry
from katachi.core.cards import Metric, ModelCard, ReadFile, Strict, Training, digest_file
from katachi.core.conformance import (
    ConformanceError,
    check_afterstate_evaluator,
    check_evaluator,
    check_feature_set,
    check_learner,
    check_log_odds_evaluator,
    check_model,
    check_outcome_evaluator,
    check_ownership_evaluator,
    check_player,
    check_search,
    sample_games,
)
from katachi.core.contracts import Analysis, Candidate, Decision, Evaluation, Limit, Metrics, Outcome, SearchResult
from katachi.core.evaluators import after, moves_of
from katachi.core.linear import FeatureCard
from katachi.core.models import WEIGHTS, save_model
from katachi.core.registry import System
from katachi.go.board import Board, Illegality
from katachi.go.game import Game, Setup
from katachi.go.points import PASS
from katachi.players.simple import RandomPlayer

SIZES = (2, 3, 5, 9)


def games() -> Iterator[Game]:
    return sample_games(SIZES)


def expect(sentence: str, check: Callable[[], Any]) -> None:
    with pytest.raises(ConformanceError, match=sentence):
        check()


# The positions


def test_positions_are_of_every_kind():
    all_games = list(sample_games())
    assert {game.size for game in all_games} == set(range(2, 20))
    assert {game.rules.ko.name for game in all_games} == {"SIMPLE", "POSITIONAL", "SITUATIONAL"}
    assert any(game.rules.suicide for game in all_games)
    assert any(game.handicap for game in all_games)
    assert any(game.is_over for game in all_games)
    assert any(game.last_move == PASS and not game.is_over for game in all_games)
    assert any(isinstance(step, Setup) for game in all_games for step in game.steps)
    superko = [Illegality.SUPERKO in {game.why_illegal(move) for move in range(game.size**2)} for game in all_games]
    assert sum(superko) >= 3


def test_positions_repeat_and_are_yours_to_change():
    first, second = next(sample_games([5])), next(sample_games([5]))
    first.play(3)
    assert second.moves == []
    assert [str(game) for game in sample_games([7])] == [str(game) for game in sample_games([7])]


# Players


class FirstPlayer:
    """Plays the first legal point, rightly."""

    name = "first"

    def decide(self, game: Game, limit: Limit) -> Decision:
        legal = np.flatnonzero(game.legal_moves()[:-1])
        return Decision(int(legal[0]) if legal.size else PASS)


class Analyzing(FirstPlayer):
    def analyze(self, game: Game, limit: Limit, stop: Event) -> Iterator[Analysis]:
        while not stop.is_set():
            yield Analysis((Candidate(PASS, black_wins=0.5),))


class Deaf(FirstPlayer):
    def analyze(self, game: Game, limit: Limit, stop: Event) -> Iterator[Analysis]:
        while True:
            yield Analysis(())


class Nameless(FirstPlayer):
    name = ""


class PlaysOnTheGame(FirstPlayer):
    def decide(self, game: Game, limit: Limit) -> Decision:
        game.play(PASS)
        return Decision(PASS)


class LosesThePast(FirstPlayer):
    """Leaves the same stones and steps, but nothing to go back to."""

    def decide(self, game: Game, limit: Limit) -> Decision:
        game.board._past.clear()
        return super().decide(game, limit)


class ChangesKomi(FirstPlayer):
    def decide(self, game: Game, limit: Limit) -> Decision:
        game.komi += 1
        return super().decide(game, limit)


class TurnsTheTurn(FirstPlayer):
    def decide(self, game: Game, limit: Limit) -> Decision:
        game.to_play = -game.to_play
        return Decision(PASS)


class ForgetsSuperko(FirstPlayer):
    def decide(self, game: Game, limit: Limit) -> Decision:
        legal = np.flatnonzero(game.board.legal_moves()[:-1])
        superko = [move for move in legal.tolist() if not game.is_legal(move)]
        return Decision(superko[0]) if superko else super().decide(game, limit)


class OffTheBoard(FirstPlayer):
    def decide(self, game: Game, limit: Limit) -> Decision:
        return Decision(game.size**2)


class SaysNothing(FirstPlayer):
    def decide(self, game: Game, limit: Limit) -> Decision:
        return None  # type: ignore[return-value]


class Shows(FirstPlayer):
    def __init__(self, analysis: Callable[[Game], Analysis]) -> None:
        self.analysis = analysis

    def decide(self, game: Game, limit: Limit) -> Decision:
        return Decision(PASS, analysis=self.analysis(game))


class ResignsAlways(FirstPlayer):
    def decide(self, game: Game, limit: Limit) -> Decision:
        return Decision(resign=True)


@pytest.mark.parametrize("player", [FirstPlayer(), Analyzing(), ResignsAlways()])
def test_right_players(player):
    check_player(player, player, games=games())


@pytest.mark.parametrize(
    ("player", "sentence"),
    [
        (object(), "has no name or no decide"),
        (Nameless(), "cannot be shown"),
        (PlaysOnTheGame(), "it changed the board and the steps"),
        (LosesThePast(), "it changed the past"),
        (ChangesKomi(), "it changed the rules"),
        (TurnsTheTurn(), "it changed the board"),
        (ForgetsSuperko(), r"it decided on the illegal move \d+ \(superko\)"),
        (OffTheBoard(), "off the board"),
        (SaysNothing(), "which is not a Decision"),
        (Deaf(), "continues after it had to stop"),
        (Shows(lambda game: Analysis((Candidate(PASS), Candidate(PASS)))), "there twice"),
        (Shows(lambda game: Analysis((Candidate(PASS, black_wins=1.5),))), "black_wins of a candidate is 1.5"),
        (Shows(lambda game: Analysis((Candidate(PASS, prior=float("nan")),))), "the prior of a candidate is nan"),
        (Shows(lambda game: Analysis((Candidate(PASS, visits=-1),))), "-1 visits"),
        (Shows(lambda game: Analysis((), black_wins=-0.1)), "black_wins is -0.1"),
        (Shows(lambda game: Analysis((Candidate(game.size**2),))), "a candidate is the illegal move"),
        (Shows(lambda game: Analysis((), ownership=np.ones(3, np.float32))), "ownership has the shape"),
        (Shows(lambda game: Analysis((), ownership=np.full(game.size**2, 2, np.float32))), "not between -1 and 1"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_wrong_players(player, sentence):
    expect(sentence, lambda: check_player(player, games=games()))


def test_another_seed_decides_otherwise():
    expect("the same seed decided", lambda: check_player(RandomPlayer(seed=1), RandomPlayer(seed=2), games=games()))


def test_the_position_is_shown():
    expect("on this 2×2 board:\n", lambda: check_player(OffTheBoard(), games=games()))


# Evaluators


class Uniform:
    """Every legal move alike, every game even; each flaw is one argument."""

    def __init__(self, flaw: str = "") -> None:
        self.flaw = flaw
        self.calls = 0
        self.komi = 7.5

    def evaluate(self, boards: list[Board]) -> Evaluation:
        self.calls += 1
        legal = np.array([board.legal_moves() for board in boards])
        policy = (legal / legal.sum(axis=1, keepdims=True)).astype(np.float32)
        black_wins = np.full(len(boards), 0.5, np.float32)
        if self.flaw == "sum":
            policy *= 0.9
        elif self.flaw == "illegal":
            policy = np.full_like(policy, 1 / policy.shape[1])
        elif self.flaw == "negative":
            policy[:, 0] -= 1
            policy[:, -1] += 1
        elif self.flaw == "shape":
            policy = policy[:, :-1]
        elif self.flaw == "value":
            black_wins += 1
        elif self.flaw == "nan":
            black_wins *= np.nan
        elif self.flaw == "plays":
            boards[0].play(PASS)
        elif self.flaw == "batch":
            black_wins[:] = 1 / len(boards)
        return Evaluation(black_wins, policy)

    def evaluate_afterstates(self, board: Board) -> np.ndarray:
        values = np.where(board.legal_moves(), 0.5, np.nan).astype(np.float32)
        if self.flaw == "value":
            values *= 3
        elif self.flaw == "no pass":
            values[-1] = np.nan
        elif self.flaw == "illegal":
            values[:] = 0.5
        elif self.flaw == "shape":
            values = values[:-1]
        elif self.flaw == "plays":
            board.play(PASS)
        return values

    def afterstate_log_odds(self, board: Board) -> np.ndarray:
        values = np.where(board.legal_moves(), 0.0, np.nan)
        if self.flaw == "value":
            values += 1
        elif self.flaw == "illegal":
            values[:] = 0
        elif self.flaw == "plays":
            board.play(PASS)
        return values

    def ownership(self, boards: list[Board]) -> np.ndarray:
        values = np.array([board.stones for board in boards], dtype=np.float32)
        if self.flaw == "value":
            values += 2
        elif self.flaw == "nan":
            values *= np.nan
        elif self.flaw == "shape":
            values = values[0]
        elif self.flaw == "plays":
            boards[-1].play(PASS)
        return values

    def at_komi(self, komi: float) -> Uniform:
        judge = Uniform(self.flaw)
        judge.komi = komi + self.komi * (self.flaw == "komi")
        return judge

    def evaluate_outcomes(self, boards: list[Board]) -> tuple[Evaluation, Outcome]:
        evaluation, outcome = self.evaluate(boards), self.predict_outcome(boards)
        return evaluation, outcome._replace(black_lead=outcome.black_lead + (self.flaw == "together"))

    def predict_outcome(self, boards: list[Board]) -> Outcome:
        half, one = np.full(len(boards), 0.5, dtype=np.float32), np.ones(len(boards), dtype=np.float32)
        lead = one * (4 - self.komi)
        wins = half + 0.1 * (self.flaw == "other wins")
        doubt, spread = half * (3 if self.flaw == "doubt" else 1), one * (-1 if self.flaw == "spread" else 1)
        ownership = Uniform(self.flaw if self.flaw in ("value", "plays") else "").ownership(boards)
        return Outcome(wins, doubt, lead[:-1] if self.flaw == "lead" else lead, spread, ownership)


def test_right_evaluator():
    check_evaluator(Uniform(), games=games())
    check_afterstate_evaluator(Uniform(), games=games())
    check_log_odds_evaluator(Uniform(), games=games())
    check_ownership_evaluator(Uniform(), games=games())
    check_outcome_evaluator(Uniform(), games=games())
    check_evaluator(Uniform("batch"), games=games(), deterministic=False)


@pytest.mark.parametrize(
    ("flaw", "sentence"),
    [
        ("sum", "sums to 0.9"),
        ("illegal", "gives an illegal move more than 0"),
        ("negative", "negative or no number"),
        ("shape", "policy has the shape"),
        ("value", "black_wins is 1.5"),
        ("nan", "black_wins is nan"),
        ("plays", "it changed a board"),
        ("batch", "evaluated otherwise"),
    ],
)
def test_wrong_evaluators(flaw, sentence):
    expect(sentence, lambda: check_evaluator(Uniform(flaw), games=games()))


@pytest.mark.parametrize(
    ("flaw", "sentence"),
    [
        ("value", "not between 0 and 1"),
        ("no pass", "NaN is not exactly at illegal moves"),
        ("illegal", "NaN is not exactly at illegal moves"),
        ("shape", "the sweep has the shape"),
        ("plays", "it changed a board"),
    ],
)
def test_wrong_afterstates(flaw, sentence):
    expect(sentence, lambda: check_afterstate_evaluator(Uniform(flaw), games=games()))


@pytest.mark.parametrize(
    ("flaw", "sentence"),
    [("value", "not those of the sweep"), ("illegal", "not those of the sweep"), ("plays", "it changed a board")],
)
def test_wrong_log_odds(flaw, sentence):
    class Flawed(Uniform):
        def evaluate_afterstates(self, board: Board) -> np.ndarray:
            return Uniform().evaluate_afterstates(board)

    expect(sentence, lambda: check_log_odds_evaluator(Flawed(flaw), games=games()))


@pytest.mark.parametrize(
    ("flaw", "sentence"),
    [("value", "not between"), ("nan", "not between"), ("shape", "has the shape"), ("plays", "it changed a board")],
)
def test_wrong_ownership(flaw, sentence):
    expect(sentence, lambda: check_ownership_evaluator(Uniform(flaw), games=games()))


@pytest.mark.parametrize(
    ("flaw", "sentence"),
    [
        ("value", "not between"),
        ("plays", "it changed a board"),
        ("lead", "black_lead has the shape"),
        ("other wins", "its black_wins of an outcome is another"),
        ("doubt", "a doubt is not a share"),
        ("spread", "a spread is negative"),
        ("komi", "another komi before changes the lead"),
    ],
)
def test_wrong_outcomes(flaw, sentence):
    expect(sentence, lambda: check_outcome_evaluator(Uniform(flaw), games=games()))


def test_things_that_are_none():
    checks = (check_evaluator, check_afterstate_evaluator, check_ownership_evaluator, check_outcome_evaluator)
    for check in (*checks, check_search):
        expect("has no", lambda check=check: check(object()))
    expect("lacks", lambda: check_feature_set(object()))
    expect("has no", lambda: check_learner(object(), None))


# Searches


class FirstSearch:
    def __init__(self, flaw: str = "") -> None:
        self.flaw = flaw

    def search(self, game: Game, limit: Limit, rng: np.random.Generator) -> SearchResult:
        legal = game.legal_moves()
        if self.flaw == "random":
            rng = np.random.default_rng()
        move = int(rng.choice(np.flatnonzero(legal[:-1]))) if legal[:-1].any() else PASS
        visits = legal.astype(np.int64)
        black_wins = 0.5
        variation: tuple[int, ...] = (move, PASS)
        if self.flaw == "illegal":
            move = game.size**2 + 1
        elif self.flaw == "visits":
            visits = np.ones_like(visits)
        elif self.flaw == "negative":
            visits = -visits
        elif self.flaw == "shape":
            visits = visits[:-1]
        elif self.flaw == "value":
            black_wins = 7.0
        elif self.flaw == "variation":
            variation = (move, move) if move != PASS else ()
        elif self.flaw == "other variation":
            variation = (PASS,)
        elif self.flaw == "plays":
            game.play(PASS)
        return SearchResult(move, black_wins, visits, variation)


def test_right_search():
    check_search(FirstSearch(), games=games())


@pytest.mark.parametrize(
    ("flaw", "sentence"),
    [
        ("random", "led to another move"),
        ("illegal", "it found the illegal move"),
        ("visits", "an illegal move was visited"),
        ("negative", "visits are negative"),
        ("shape", "visits has the shape"),
        ("value", "black_wins is 7.0"),
        ("variation", "the variation has the illegal move"),
        ("other variation", "begins with another move"),
        ("plays", "it changed"),
    ],
)
def test_wrong_searches(flaw, sentence):
    expect(sentence, lambda: check_search(FirstSearch(flaw), games=games()))


# Features


class StoneFeatures:
    """A feature for every point of boards up to 19×19: its stone."""

    name = "stones"
    size = 361

    def __init__(self, flaw: str = "") -> None:
        self.flaw = flaw
        self.calls = 0

    def active(self, board: Board) -> tuple[np.ndarray, np.ndarray]:
        self.calls += 1
        indices = np.flatnonzero(board.stones)
        occurrences = board.stones[indices].astype(np.float32)
        if self.flaw == "range":
            indices = indices + 361
        elif self.flaw == "twice":
            indices, occurrences = np.repeat(indices, 2), np.repeat(occurrences, 2)
        elif self.flaw == "zero":
            indices, occurrences = np.arange(board.size**2), board.stones.astype(np.float32)
        elif self.flaw == "length":
            occurrences = occurrences[1:]
        elif self.flaw == "moody" and self.calls % 2:
            occurrences = 2 * occurrences
        elif self.flaw == "plays":
            board.play(PASS)
        return indices, occurrences

    def describe(self, index: int) -> str:
        return "" if self.flaw == "silent" else f"stone at {index}"


def test_right_features():
    check_feature_set(StoneFeatures(), games=games())


@pytest.mark.parametrize(
    ("flaw", "sentence"),
    [
        ("range", "not between 0 and 360"),
        ("twice", "there twice"),
        ("zero", "zero or no number"),
        ("length", "differ"),
        ("moody", "other features the second time"),
        ("plays", "it changed a board"),
        ("silent", "described by nothing"),
    ],
)
def test_wrong_features(flaw, sentence):
    expect(sentence, lambda: check_feature_set(StoneFeatures(flaw), games=games()))


class SweptStones(StoneFeatures):
    """Sums the features after every move, one after another."""

    def sum_afterstates(self, board: Board, weights: np.ndarray) -> np.ndarray:
        legal = board.legal_moves()
        sums = np.full(legal.size, np.nan)
        for move in moves_of(legal):
            indices, occurrences = self.active(after(board, move))
            sums[move] = weights[indices].astype(np.float64) @ occurrences
        if self.flaw == "everywhere":
            sums = np.nan_to_num(sums)
        return sums + (self.flaw == "off by one")


class StonesCard(FeatureCard):
    kind: Literal["stones"] = "stones"
    digest: str
    others: bool

    def build(self, board_size: int) -> SavedStones:
        return SavedStones("others" if self.others else "")


class SavedStones(StoneFeatures):
    board_size = 5
    digest = "0"

    def card(self) -> StonesCard:
        return StonesCard(digest="1" if self.flaw == "digest" else "0", others=self.flaw == "card")

    @property
    def name(self) -> str:
        return "others" if self.flaw == "others" else "stones"


def test_features_that_can_do_more():
    check_feature_set(SweptStones(), games=games())
    check_feature_set(SavedStones(), games=games())
    for flaw, sentence in (("everywhere", "exactly at illegal moves"), ("off by one", "the sum after move")):
        expect(sentence, lambda flaw=flaw: check_feature_set(SweptStones(flaw), games=games()))
    expect("leads to stones", lambda: check_feature_set(SavedStones("digest"), games=games()))
    expect("leads to others", lambda: check_feature_set(SavedStones("card"), games=games()))


# Models


class TinyCard(ModelCard):
    """A model that says the same of every board, or does something wrong."""

    format: Literal[1] = 1
    kind: Literal["tiny"] = "tiny"
    flaw: str
    board_size: int = 3
    training: Training = Training()
    metrics: dict[str, Metric] = Field(default_factory=dict)
    files: dict[str, str]

    @property
    def title(self) -> str:
        return "" if self.flaw == "title" else "tiny"

    def count_weights(self, read: ReadFile) -> int:
        return -1 if self.flaw == "count" else len(read(WEIGHTS))

    def parse_options(self, options: Mapping[str, Any]) -> Strict:
        return Strict() if self.flaw == "options" else super().parse_options(options)

    def build(self, read: ReadFile, options: Strict) -> Uniform:
        return Uniform("sum") if self.flaw == "evaluator" else Uniform()


@pytest.fixture
def tiny_system(monkeypatch):
    system = System("tiny", "Tiny", cards={"tiny": "tiny:TinyCard"})
    monkeypatch.setattr(registry, "systems", lambda: {"tiny": system})
    monkeypatch.setattr(registry, "resolve", lambda reference: TinyCard)


@pytest.mark.parametrize(
    ("flaw", "sentence"),
    [
        ("title", "the title '' cannot be shown"),
        ("count", "there are -1 weights"),
        ("options", "an unknown option is accepted"),
        ("evaluator", "sums to"),
    ],
)
def test_models(tiny_system, tmp_path, flaw, sentence):
    files = {WEIGHTS: digest_file(b"")}
    save_model(tmp_path / "right", TinyCard(flaw="", files=files), {WEIGHTS: b""})
    check_model(tmp_path / "right")
    save_model(tmp_path / "wrong", TinyCard(flaw=flaw, files=files), {WEIGHTS: b""})
    expect(sentence, lambda: check_model(tmp_path / "wrong"))


# Learners


class CountingLearner:
    def __init__(self, flaw: str = "") -> None:
        self.flaw = flaw
        self.weights = np.zeros(3)

    def update(self, batch: Any) -> Metrics:
        self.weights = self.weights + batch
        if self.flaw == "grows":
            self.weights = np.append(self.weights, 0)
        if self.flaw == "none":
            return None  # type: ignore[return-value]
        return Metrics({"loss": float("nan") if self.flaw == "nan" else 1.0})

    def state_dict(self) -> dict[str, Any]:
        if self.flaw == "objects":
            return {"weights": np.array([object()])}
        return {"weights": self.weights.tolist() if self.flaw == "list" else self.weights}


def test_right_learner():
    learner = CountingLearner()
    check_learner(learner, 1.0)
    assert learner.weights.tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("flaw", "sentence"),
    [
        ("grows", "changed the form of the state"),
        ("none", "which is not a Metrics"),
        ("nan", "the metric loss is nan"),
        ("list", "not an array"),
        ("objects", "holds Python objects"),
    ],
)
def test_wrong_learners(flaw, sentence):
    expect(sentence, lambda: check_learner(CountingLearner(flaw), 1.0))
