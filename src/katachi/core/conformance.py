"""Conformance checks: does an object keep the contract of ``katachi.core.contracts``?

Call one from a test of your own player, evaluator, search, feature set, learner or model. Each raises
``ConformanceError`` with a sentence that says what is wrong and where. The positions are many and awkward: all sizes
from 2 to 19, all ko rules, set-up stones, handicap, passes, finished games, moves that superko forbids.

>>> from katachi.players.simple import RandomPlayer
>>> check_player(RandomPlayer(seed=1), RandomPlayer(seed=1), games=sample_games(sizes=[5]))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain, groupby
from pathlib import Path
from threading import Event
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.cards import ModelError
from katachi.core.contracts import (
    AfterstateEvaluator,
    Analysis,
    AnalyzingPlayer,
    Decision,
    Evaluation,
    Evaluator,
    FeatureSet,
    Learner,
    Limit,
    LinearEvaluator,
    LogOddsEvaluator,
    Metrics,
    Outcome,
    OutcomeEvaluator,
    OwnershipEvaluator,
    Player,
    Search,
    SearchResult,
)
from katachi.core.evaluators import after, moves_of
from katachi.core.linear import SavableFeatures, SweepingFeatures
from katachi.core.models import SavedModel, format_card, open_model, parse_card
from katachi.go.board import Board, NothingToUndo
from katachi.go.game import Game
from katachi.go.points import PASS, WHITE, fixed_handicap_points, format_vertex, max_fixed_handicap
from katachi.go.rules import KoRule, Rules

SIZES: Final = tuple(range(2, 20))
QUICK: Final = Limit(simulations=16, depth=1, seconds=60.0)  # of time more than enough: it must not decide anything
_TOLERANCE: Final = 1e-4
_KOMI: Final = 5.5
_ANY_SIZE: Final = (5, 9)  # that a model of boards of any size is checked on


class ConformanceError(AssertionError):
    """An object that does not do what its contract says."""


# Positions


def sample_games(sizes: Iterable[int] = SIZES, seed: int = 0) -> Iterator[Game]:
    """Games in many kinds of positions, size by size; they are yours to change."""
    for size in sizes:
        yield from (game.copy() for game in _sampled(size, seed))


@cache
def _sampled(size: int, seed: int) -> tuple[Game, ...]:
    rng = np.random.default_rng((seed, size))
    opening, middle, end = size, size * size // 2, 2 * size * size
    passed = _random_game(size, Rules(), middle, rng)
    passed.play(PASS)
    over = _random_game(size, Rules(), end, rng)
    over.play(PASS)
    over.play(PASS)
    return (
        Game(size),
        _random_game(size, Rules(KoRule.SIMPLE), opening, rng),
        _random_game(size, Rules(KoRule.POSITIONAL, suicide=True), middle, rng),
        _random_game(size, Rules(KoRule.SITUATIONAL), end, rng),
        _with_forbidden_repetition(size, rng),
        _with_stones_set_up(size, rng),
        _with_handicap(size),
        passed,
        over,
    )


def _random_game(size: int, rules: Rules, plies: int, rng: np.random.Generator) -> Game:
    game = Game(size, rules)
    for _ in range(plies):
        _play_at_random(game, rng)
    return game


def _play_at_random(game: Game, rng: np.random.Generator) -> None:
    points = rng.permutation(game.size**2).tolist()
    game.play(next((point for point in points if game.is_legal(point)), PASS))


def _with_forbidden_repetition(size: int, rng: np.random.Generator, tries: int = 20) -> Game:
    """A game in which positional superko forbids a move that simple ko allows, if one is found soon."""
    game = Game(size)
    for _ in range(tries):
        game = _random_game(size, Rules(KoRule.POSITIONAL), size * size, rng)
        for _ in range(size * size):
            if not np.array_equal(game.legal_moves(), game.board.legal_moves()):
                return game
            _play_at_random(game, rng)
        if size > 5:
            break  # rare on larger boards
    return game


def _with_stones_set_up(size: int, rng: np.random.Generator) -> Game:
    game = _random_game(size, Rules(), size, rng)
    empty = np.flatnonzero(game.board.stones).tolist()
    black, white = rng.permutation(size * size)[:2].tolist()
    game.setup(black=[black], white=[white], empty=set(empty) - {black, white}, to_play=WHITE)
    return game


def _with_handicap(size: int) -> Game:
    game = Game(size)
    if max_fixed_handicap(size) >= 2:
        game.place_handicap(fixed_handicap_points(size, 2))
    return game


# Players


def check_player(
    player: Player, twin: Player | None = None, *, games: Iterable[Game] | None = None, limit: Limit = QUICK
) -> None:
    """Check a player. A ``twin`` made in the same way with the same seed must decide the same."""
    _require(isinstance(player, Player), f"{player!r} has no name or no decide")
    _require(bool(player.name) and player.name.isprintable(), f"the name {player.name!r} cannot be shown")
    for game in _games(games):
        decision = _decide(player, game, limit)
        if twin is not None:
            other = twin.decide(game, limit)
            same = (decision.move, decision.resign) == (other.move, other.resign)
            _require(same, f"the same seed decided {_move(decision, game)} and {_move(other, game)}", game)
        if isinstance(player, AnalyzingPlayer):
            _check_analyze(player, game, limit)


def _decide(player: Player, game: Game, limit: Limit) -> Decision:
    decision = player.decide(game, limit)
    _require(isinstance(decision, Decision), f"decide returned {decision!r}, which is not a Decision", game)
    if not decision.resign:
        _require_legal(decision.move, game, "it decided on")
    if decision.analysis is not None:
        _check_analysis(decision.analysis, game)
    return decision


def _check_analysis(analysis: Analysis, game: Game) -> None:
    moves = [candidate.move for candidate in analysis.candidates]
    _require(len(set(moves)) == len(moves), "a candidate is there twice", game)
    for candidate in analysis.candidates:
        _require_legal(candidate.move, game, "a candidate is")
        _require_share(candidate.black_wins, "black_wins of a candidate", game)
        _require_share(candidate.prior, "the prior of a candidate", game)
        _require(candidate.visits >= 0, f"a candidate has {candidate.visits} visits", game)
    _require_share(analysis.black_wins, "black_wins", game)
    if analysis.ownership is not None:
        _check_ownership(np.asarray(analysis.ownership), (game.size**2,), game)


def _check_analyze(player: AnalyzingPlayer, game: Game, limit: Limit) -> None:
    """Analyses keep the contract, and there are few more of them once the player has to stop."""
    stop = Event()
    for count, analysis in enumerate(player.analyze(game, limit, stop)):
        _check_analysis(analysis, game)
        _require(count < 10, "analyze continues after it had to stop", game)
        stop.set()


# Evaluators


def check_evaluator(evaluator: Evaluator, *, games: Iterable[Game] | None = None, deterministic: bool = True) -> None:
    """Check an evaluator on batches of each size; a deterministic one must evaluate a board alike in every batch."""
    _require(isinstance(evaluator, Evaluator), f"{evaluator!r} has no evaluate")
    for boards in _batches(games):
        with _unchanged(*boards):
            evaluation = evaluator.evaluate(boards)
        _check_evaluation(evaluation, boards)
        if deterministic:
            alone = evaluator.evaluate(boards[-1:])
            same = np.allclose(alone.policy[0], evaluation.policy[-1], atol=_TOLERANCE)
            same = same and abs(float(alone.black_wins[0]) - float(evaluation.black_wins[-1])) < _TOLERANCE
            _require(same, "a board alone is evaluated otherwise than in a batch", boards[-1])


def _check_evaluation(evaluation: Evaluation, boards: Sequence[Board]) -> None:
    shape = (len(boards), boards[0].size ** 2 + 1)
    _require_shape(evaluation.black_wins, shape[:1], "black_wins", boards[0])
    _require_shape(evaluation.policy, shape, "policy", boards[0])
    for board, black_wins, policy in zip(boards, evaluation.black_wins, evaluation.policy, strict=True):
        _require_share(float(black_wins), "black_wins", board)
        _require(bool(np.isfinite(policy).all() and (policy >= 0).all()), "the policy is negative or no number", board)
        _require(abs(float(policy.sum()) - 1) < _TOLERANCE, f"the policy sums to {policy.sum():.6g}, not to 1", board)
        _require(not policy[~board.legal_moves()].any(), "the policy gives an illegal move more than 0", board)


def check_afterstate_evaluator(evaluator: AfterstateEvaluator, *, games: Iterable[Game] | None = None) -> None:
    """Check the sweep over afterstates: a share for every legal move, NaN for every other."""
    _require(isinstance(evaluator, AfterstateEvaluator), f"{evaluator!r} has no evaluate_afterstates")
    for board in chain.from_iterable(_batches(games)):
        with _unchanged(board):
            values = evaluator.evaluate_afterstates(board)
        _require_shape(values, (board.size**2 + 1,), "the sweep", board)
        illegal = ~board.legal_moves()
        _require(np.array_equal(np.isnan(values), illegal), "NaN is not exactly at illegal moves", board)
        known = values[~illegal]
        _require(bool(((known >= 0) & (known <= 1)).all()), "a value is not between 0 and 1", board)


def check_log_odds_evaluator(evaluator: LogOddsEvaluator, *, games: Iterable[Game] | None = None) -> None:
    """Check that the log-odds of afterstates are those of the sweep."""
    _require(isinstance(evaluator, LogOddsEvaluator), f"{evaluator!r} has no afterstate_log_odds")
    for board in chain.from_iterable(_batches(games)):
        with _unchanged(board):
            log_odds, sweep = evaluator.afterstate_log_odds(board), evaluator.evaluate_afterstates(board)
        legal = board.legal_moves()
        shares = np.exp(-np.logaddexp(0, -log_odds[legal]))
        same = np.allclose(shares, sweep[legal], atol=_TOLERANCE) and np.isnan(log_odds[~legal]).all()
        _require(bool(same), "the log-odds are not those of the sweep", board)


def check_ownership_evaluator(evaluator: OwnershipEvaluator, *, games: Iterable[Game] | None = None) -> None:
    """Check that ownership is between −1 and 1 on every point."""
    _require(isinstance(evaluator, OwnershipEvaluator), f"{evaluator!r} has no ownership")
    for boards in _batches(games):
        with _unchanged(*boards):
            ownership = evaluator.ownership(boards)
        _check_ownership(ownership, (len(boards), boards[0].size ** 2), boards[0])


def check_outcome_evaluator(evaluator: OutcomeEvaluator, *, games: Iterable[Game] | None = None) -> None:
    """Check that an outcome agrees with what is said elsewhere, and depends on the last komi alone."""
    _require(isinstance(evaluator, OutcomeEvaluator), f"{evaluator!r} has no predict_outcome, or no at_komi")
    for boards in _batches(games):
        with _unchanged(*boards):
            outcome = evaluator.at_komi(_KOMI).predict_outcome(boards)
        _check_ownership(outcome.ownership, (len(boards), boards[0].size ** 2), boards[0])
        for name in ("black_wins", "doubt", "black_lead", "lead_spread"):
            _require_shape(getattr(outcome, name), (len(boards),), name, boards[0])
        together, with_it = evaluator.at_komi(_KOMI).evaluate_outcomes(boards)
        for name, one, other in zip(Outcome._fields, outcome, with_it, strict=True):
            _require(bool(np.allclose(one, other, atol=_TOLERANCE)), f"together {name} is another", boards[0])
        wins, same = outcome.black_wins, together.black_wins
        _require(bool(((wins >= 0) & (wins <= 1)).all()), "black_wins is not between 0 and 1", boards[0])
        _require(bool(np.allclose(wins, same, atol=_TOLERANCE)), "its black_wins of an outcome is another", boards[0])
        _require(bool(((outcome.doubt >= 0) & (outcome.doubt <= 1)).all()), "a doubt is not a share", boards[0])
        _require(bool((outcome.lead_spread >= 0).all()), "a spread is negative", boards[0])
        again = evaluator.at_komi(_KOMI + 1).at_komi(_KOMI).predict_outcome(boards)
        same_lead = np.allclose(outcome.black_lead, again.black_lead, atol=_TOLERANCE)
        _require(bool(same_lead), "another komi before changes the lead", boards[0])


def _check_ownership(ownership: NDArray[Any], shape: tuple[int, ...], where: Game | Board) -> None:
    _require_shape(ownership, shape, "ownership", where)
    _require(bool((np.abs(ownership) <= 1).all()), "ownership is not between -1 and 1", where)  # NaN fails too


def _batches(games: Iterable[Game] | None) -> Iterator[list[Board]]:
    boards = (game.board for game in (sample_games() if games is None else games))
    for _, batch in groupby(boards, key=lambda board: board.size):
        yield list(batch)


# Searches, features, learners


def check_search(search: Search, *, games: Iterable[Game] | None = None, limit: Limit = QUICK) -> None:
    """Check a search: a legal move, visits at legal moves alone, a variation that can be played, the same twice."""
    _require(isinstance(search, Search), f"{search!r} has no search")
    for game in _games(games):
        first, second = (search.search(game, limit, np.random.default_rng(1)) for _ in range(2))
        _check_search_result(first, game)
        _require(first.move == second.move, "the same random numbers led to another move", game)


def _check_search_result(result: SearchResult, game: Game) -> None:
    _require(isinstance(result, SearchResult), f"search returned {result!r}, which is not a SearchResult", game)
    _require_legal(result.move, game, "it found")
    _require_share(result.black_wins, "black_wins", game)
    _require_shape(result.visits, (game.size**2 + 1,), "visits", game)
    _require(bool((result.visits >= 0).all()), "visits are negative", game)
    _require(not result.visits[~game.legal_moves()].any(), "an illegal move was visited", game)
    _require(result.variation[:1] in ((), (result.move,)), "the variation begins with another move", game)
    line = game.copy()
    for move in result.variation:
        _require_legal(move, line, "the variation has")
        line.play(move)


def check_feature_set(features: FeatureSet, *, games: Iterable[Game] | None = None) -> None:
    """Check a feature set: indices below its size, each once, occurrences that count, words for each.

    Sums over afterstates must be those of the features after the moves, and a card must lead to the same features.
    """
    _require(isinstance(features, FeatureSet), f"{features!r} lacks name, size, active or describe")
    _require(bool(features.name) and features.size > 0, "a feature set has a name and at least one feature")
    for board in chain.from_iterable(_batches(games)):
        with _unchanged(board):
            indices, occurrences = features.active(board)
        _require(indices.shape == occurrences.shape and indices.ndim == 1, "indices and occurrences differ", board)
        inside = bool(((indices >= 0) & (indices < features.size)).all())
        _require(inside, f"an index is not between 0 and {features.size - 1}", board)
        _require(np.unique(indices).size == indices.size, "an index is there twice", board)
        counts = bool(np.isfinite(occurrences).all() and occurrences.all())
        _require(counts, "an occurrence is zero or no number", board)
        again = features.active(board)
        same = np.array_equal(indices, again[0]) and np.array_equal(occurrences, again[1])
        _require(same, "the same board has other features the second time", board)
        for index in indices[:3].tolist():
            _require(bool(features.describe(index)), f"feature {index} is described by nothing", board)
        if isinstance(features, SweepingFeatures):
            _check_sums(features, board)
    if isinstance(features, SavableFeatures):
        _check_feature_card(features)


def _check_sums(features: SweepingFeatures, board: Board, moves: int = 3) -> None:
    """Compare the sums after some moves and the pass with those of the features there."""
    weights = np.random.default_rng(0).normal(size=features.size).astype(np.float32)
    sums, legal = features.sum_afterstates(board, weights), board.legal_moves()
    _require(np.array_equal(np.isnan(sums), ~legal), "NaN is not exactly at illegal moves", board)
    for move in [*moves_of(legal)[:moves], PASS]:
        indices, occurrences = features.active(after(board, move))
        wanted = float(weights[indices].astype(np.float64) @ occurrences)
        same = abs(float(sums[move]) - wanted) < _TOLERANCE * (1 + float(np.abs(occurrences).sum()))
        _require(same, f"the sum after move {move} is {sums[move]:.6g}, but {wanted:.6g} of the features there", board)


def _check_feature_card(features: SavableFeatures) -> None:
    card = features.card()
    again = type(card).model_validate_json(card.model_dump_json())
    _require(again == card, f"the card of {features.name} is not read as it was written")
    built = again.build(features.board_size)
    same = (built.name, built.size, built.digest) == (features.name, features.size, card.digest)
    _require(same, f"the card of {features.name} leads to {built.name}")


def check_learner(learner: Learner, batch: Any, updates: int = 2) -> None:
    """Check that updates report finite numbers and leave the names, shapes and types of the state as they were."""
    _require(isinstance(learner, Learner), f"{learner!r} has no update or no state_dict")
    before = _describe_state(learner.state_dict())
    for _ in range(updates):
        metrics = learner.update(batch)
        _require(isinstance(metrics, Metrics), f"update returned {metrics!r}, which is not a Metrics")
        for name, value in metrics.values.items():
            _require(bool(np.isfinite(value)), f"the metric {name} is {value}")
    after = _describe_state(learner.state_dict())
    _require(before == after, f"an update changed the form of the state from {before} to {after}")


def _describe_state(state: Mapping[str, NDArray[Any]]) -> dict[str, tuple[tuple[int, ...], str]]:
    for name, array in state.items():
        _require(isinstance(array, np.ndarray), f"{name} in the state is {type(array).__name__}, not an array")
        _require(array.dtype.kind != "O", f"{name} in the state holds Python objects")
    return {name: (array.shape, array.dtype.str) for name, array in state.items()}


# Models


def check_model(path: Path | str, *, games: Iterable[Game] | None = None) -> None:
    """Check a model on disk: its card, its files, its options, and each contract that its evaluator says to keep."""
    saved = open_model(path)
    card = saved.card
    _require(parse_card(format_card(card).encode()) == card, "the card is not read as it was written")
    _require(bool(card.title) and card.title.isprintable(), f"the title {card.title!r} cannot be shown")
    _require(bool(card.files), "the card describes no files")
    for name in card.files:
        saved.read(name)  # raises ModelError
    _require(saved.count_weights() >= 0, f"there are {saved.count_weights()} weights")
    _check_options(saved)
    boards = list(sample_games([card.board_size] if card.board_size else _ANY_SIZE) if games is None else games)
    evaluator = saved.load()
    check_evaluator(evaluator, games=boards)
    if isinstance(evaluator, AfterstateEvaluator):
        check_afterstate_evaluator(evaluator, games=boards)
    if isinstance(evaluator, LogOddsEvaluator):
        check_log_odds_evaluator(evaluator, games=boards)
    if isinstance(evaluator, OwnershipEvaluator):
        check_ownership_evaluator(evaluator, games=boards)
    if isinstance(evaluator, OutcomeEvaluator):
        check_outcome_evaluator(evaluator, games=boards)
    if isinstance(evaluator, LinearEvaluator):
        check_feature_set(evaluator.features, games=boards)


def _check_options(saved: SavedModel[Any]) -> None:
    """The options have defaults, and one that does not exist is refused."""
    unknown = "option-that-does-not-exist"
    saved.card.parse_options({})  # raises ModelError
    try:
        saved.load({unknown: 1})
    except ModelError as error:
        _require(unknown in str(error), f"an unknown option is refused without its name: {error}")
    else:
        raise ConformanceError("an unknown option is accepted")


# What all of them require


def _require(holds: bool, sentence: str, where: Game | Board | None = None) -> None:
    if not holds:
        position = "" if where is None else f", on this {where.size}×{where.size} board:\n{where}"
        raise ConformanceError(sentence + position)


def _require_legal(move: int, game: Game, who: str) -> None:
    _require(isinstance(move, int | np.integer), f"{who} {move!r}, which is not a move", game)
    reason = game.why_illegal(int(move))
    _require(reason is None, f"{who} the illegal move {move} ({reason and reason.value})", game)


def _require_share(value: float | None, what: str, where: Game | Board) -> None:
    _require(value is None or 0 <= value <= 1, f"{what} is {value}, not between 0 and 1", where)


def _require_shape(array: NDArray[Any], shape: tuple[int, ...], what: str, where: Game | Board) -> None:
    found = np.shape(array)
    _require(found == shape, f"{what} has the shape {list(found)}, not {list(shape)}", where)


@contextmanager
def _unchanged(*boards: Board) -> Iterator[None]:
    before = [_state(board) for board in boards]
    yield
    for old, board in zip(before, boards, strict=True):
        _require(old == _state(board), "it changed a board", board)


def _state(board: Board) -> bytes:
    """Every field of a board; the gaps between them, which copies leave as they find them, do not count."""
    fields = board.record.dtype.names or ()
    return b"".join(board.record[field].tobytes() for field in fields)


def _snapshot(game: Game) -> dict[str, Any]:
    """All that there is to know about a game, its whole past included."""
    past = []
    line = game.copy()
    while line.steps:
        past.append(_state(line.board))
        try:
            line.undo()
        except NothingToUndo:
            break  # somebody lost the past; comparing will show it
    return {
        "the board": _state(game.board),
        "the steps": tuple(game.steps),
        "the rules": game.rules,
        "the past": past,
        "the end": (game.is_over, game.result()),
        "what is legal": game.legal_moves().tobytes(),
    }


def _games(games: Iterable[Game] | None) -> Iterator[Game]:
    """Games in many kinds of positions; whoever is handed them must leave them as they are."""
    for game in sample_games() if games is None else games:
        before = _snapshot(game)
        yield game
        after = _snapshot(game)
        changed = [what for what in before if before[what] != after[what]]
        _require(not changed, f"it changed {' and '.join(changed)} of the game that it was handed", game)


def _move(decision: Decision, game: Game) -> str:
    return "to resign" if decision.resign else format_vertex(decision.move, game.size)
