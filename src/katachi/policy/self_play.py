"""Games of a network with itself, or with another, by tree search: many side by side, asked about many boards at once.

A move is searched closely, with noise at the root, or quickly; only what was searched closely is learned from (Wu
2019): the network's policy, improved by the values that the search found (Danihelka et al. 2022). A game begins with
some moves by chance, with those of a game of people, or with moves drawn from the policy, continues by moves drawn from
the visits, ever more sharply, and ends when both pass, when it is settled, or when a player gives up. Some games nobody
may give up: they show how often that would have been wrong.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from functools import lru_cache
from itertools import islice, takewhile
from pathlib import Path
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from katachi.core.cards import ModelError, Strict
from katachi.core.contracts import Doubles, Evaluator, Ints, OutcomeEvaluator
from katachi.core.evaluators import evaluate_outcomes
from katachi.core.execution import here
from katachi.core.models import load_model, open_model
from katachi.data.dataset import NO_LABEL, Dataset, DatasetError, SearchedGame, encode_moves
from katachi.go.board import Boards, concatenate_records
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE, inner_points
from katachi.go.rules import DEFAULT_KOMI, Rules
from katachi.go.scoring import area, estimate_status
from katachi.policy.evaluator import INT8, PolicyCard
from katachi.search.mcts import MctsSearch
from katachi.search.mcts_tree import MctsTree
from katachi.search.one_ply import dead_when_settled, root_moves
from katachi.search.settings import MctsSettings
from katachi.sgf.files import Split

_MEGABYTES: Final = 4.0  # of a tree, which is thrown away after each move
_NOISE: Final = 10.0  # of Dirichlet's parameters, in all
_MOVES_PER_POINT: Final = 3  # of a long game
_MOST_RANDOM: Final = 4  # moves by chance
_LARGE: Final = 7  # a board whose first two lines are left out of openings
_DOUBT: Final = 4.0  # visits with the value of the position that each move has besides
_UNIT: Final = 10_000  # of shares of the policy that is learned, as whole numbers
_TURNS: Final = 3  # in succession, at which a game must be lost before it is given up


class SelfPlaySettings(Strict):
    """How games are played."""

    visits: int = Field(default=200, ge=2, le=1_000_000)  # of a move that is searched closely
    quick_visits: int = Field(default=30, ge=2, le=1_000_000)  # of others
    close_share: float = Field(default=0.3, gt=0, le=1)  # of moves
    noise: float = Field(default=0.25, ge=0, lt=1)  # its share in the priors of the root, where it is searched closely
    temperature: float = Field(default=0.8, gt=0, le=10)  # at which visits choose moves in the beginning …
    last_temperature: float = Field(default=0.15, gt=0, le=10)  # … and towards which it falls
    opening: int = Field(default=8, ge=0, le=100)  # moves by the policy alone, at most, drawn for each game
    random_share: float = Field(default=0.0, ge=0, le=1)  # of games that begin with some moves by chance instead
    records: str = ""  # a dataset of games of people
    recorded_share: float = Field(default=0.0, ge=0, le=1)  # of games that continue one of these from anywhere
    sharpness: float = Field(default=0.8, gt=0, le=100)  # with which values improve the policy that is learned
    komi: list[float] = Field(default=[5.5, 6.5, 7.5, 7.5, 8.5], min_length=1)  # of which one is drawn for some games
    resign_below: float = Field(default=0.02, ge=0, lt=0.5)  # chance of winning; 0: games are played to their end
    played_on: float = Field(default=0.2, ge=0, le=1)  # the share of games that nobody may give up
    exploration: float = Field(default=0.55, ge=0, le=100)
    value_share: float = Field(default=1.0, ge=0, le=1)
    side_by_side: int = Field(default=16, ge=1, le=1024)

    @model_validator(mode="after")
    def _check_shares(self) -> Self:
        if self.recorded_share and not self.records:
            raise ValueError("recorded_share needs games to begin from: set records to a dataset")
        if self.random_share + self.recorded_share > 1:
            raise ValueError("random_share and recorded_share are more than all games together")
        return self

    def search(self, evaluator: Evaluator) -> MctsSearch:
        """The tree search of these games."""
        settings = MctsSettings(
            priors="synchronous",
            expand_after=0,
            rave=0.0,
            exploration=self.exploration,
            value_share=self.value_share,
            at_once=1,
            reuse=False,
            stops_early=False,
            threads=1,
            megabytes=_MEGABYTES,
        )
        return MctsSearch(evaluator, settings)


class _Question(NamedTuple):
    """Nodes of a tree that one of the evaluators must be asked about."""

    evaluator: int
    tree: MctsTree
    nodes: Ints


_Asking = Generator[_Question, None, SearchedGame]


def play_side_by_side(
    evaluators: Sequence[Evaluator], games: Iterable[_Asking], side_by_side: int
) -> list[SearchedGame]:
    """Play games, so many at a time, with what they ask about evaluated together; in the order of their ends."""
    waiting, done = iter(games), []
    tables = list(islice(waiting, side_by_side))
    while tables:
        questions, going = [], []
        for table in tables:
            game: _Asking | None = table
            while game is not None:
                try:
                    questions.append(next(game))
                    going.append(game)
                    break
                except StopIteration as end:
                    done.append(end.value)
                    game = next(waiting, None)
        tables = going
        for number, evaluator in enumerate(evaluators):
            _answer(evaluator, [question for question in questions if question.evaluator == number])
    return done


def _answer(evaluator: Evaluator, questions: Sequence[_Question]) -> None:
    if not questions:
        return
    boards = [question.tree.boards(question.nodes).records for question in questions]
    evaluation, outcome = evaluate_outcomes(evaluator, Boards(concatenate_records(boards)))
    first = 0
    for _, tree, nodes in questions:
        own = slice(first, first + nodes.size)
        first += nodes.size
        said = type(evaluation)._make(array[own] for array in evaluation)
        then = None if outcome is None else type(outcome)._make(array[own] for array in outcome)
        tree.set_priors(nodes, tree.nodes["key"][nodes], said, then)


class _Moves(NamedTuple):
    """What is kept of each move of a game."""

    points: list[int]
    visits: list[NDArray[np.uint16]]
    black_wins: list[float]


class Table:
    """One game: who plays, how, and with which random numbers."""

    def __init__(
        self,
        settings: SelfPlaySettings,
        evaluators: Sequence[Evaluator],
        size: int,
        komi: float,
        rng: np.random.Generator,
        *,
        sides: tuple[int, int] = (0, 0),
        opening: Sequence[int] | None = None,
        records: Dataset | None = None,
    ) -> None:
        """``sides`` are the evaluators of Black and White; an ``opening`` is played instead of moves by the policy.

        ``records`` are the games of people that games may begin with.
        """
        self._settings, self._rng, self._sides, self._records = settings, rng, sides, records
        self._search = settings.search(evaluators[0])
        self._game = Game(size, Rules(komi=komi))
        self._given = opening
        self._policy: Doubles = np.zeros(0)  # of the network in the position that is searched, without noise
        self._kept = _Moves([], [], [])
        self._hopeless = {BLACK: 0, WHITE: 0}  # turns in succession
        self.gave_up = 0  # who would have, or has

    def play(self) -> _Asking:
        """The game as a generator of questions."""
        settings, game = self._settings, self._game
        given, drawn = self._given, 0
        if given is None:
            given, drawn = self._begin()
        may_give_up = self._rng.random() >= settings.played_on
        for move in given:
            self._keep(move, None)
        for _ in range(drawn):
            tree = yield from self._think(1, noise=0.0)
            self._keep(self._draw(tree.priors().astype(np.float64)), None)
        while not game.is_over and len(game.moves) < _MOVES_PER_POINT * game.size**2:
            is_close = self._given is None and self._rng.random() < settings.close_share
            tree = yield from self._think(
                settings.visits if is_close else settings.quick_visits, settings.noise if is_close else 0.0
            )
            if self._is_hopeless() and may_give_up:
                return self._conclude(-game.to_play)
            dead = self._find_dead(tree)
            if dead is not None:
                return self._conclude(None, dead)
            visits = tree.visits(tree.root)
            halvings = len(game.moves) / game.size
            temperature = max(settings.last_temperature, settings.temperature * 0.5**halvings)
            self._keep(self._draw((visits / visits.max()) ** (1 / temperature)), tree if is_close else None)
        return self._conclude(None, () if game.is_over else estimate_status(game.board).dead_stones)

    def _begin(self) -> tuple[list[int], int]:
        """The first moves of a game, and how many more the policy draws."""
        settings, size, which = self._settings, self._game.size, self._rng.random()
        if which < settings.random_share:
            return draw_opening(size, 1 + int(self._rng.integers(_MOST_RANDOM)), self._rng), 0
        if self._records is not None and which < settings.random_share + settings.recorded_share:
            return draw_beginning(self._records, size, self._rng), 0
        return [], int(self._rng.integers(settings.opening + 1))

    def _think(self, visits: int, noise: float) -> Generator[_Question, None, MctsTree]:
        """Search the position of the game."""
        side = self._sides[0 if self._game.to_play == BLACK else 1]
        steps = self._search.steps(self._game, visits, self._rng)
        root = next(steps)
        tree = self._search.tree
        yield _Question(side, tree, root)
        if self._is_early():
            tree.leave_out_pass()
        self._policy = tree.priors().astype(np.float64)
        if noise:
            tree.mix_priors(noise, _NOISE, self._rng)
        while True:
            try:
                nodes = next(steps)
            except StopIteration as end:
                found: MctsTree = end.value
                return found
            yield _Question(side, tree, nodes)

    def _draw(self, weights: Doubles) -> int:
        """A move in proportion to weights [n²+1]; the pass has a part in it only where it weighs most."""
        if weights.argmax() < weights.size - 1:
            weights[-1] = 0
        index = int(self._rng.choice(weights.size, p=weights / weights.sum()))
        return PASS if index == weights.size - 1 else index

    def _keep(self, move: int, tree: MctsTree | None) -> None:
        """Play a move; what a search thought of it is learned from if the tree is given."""
        learned = np.zeros(self._game.size**2 + 1)
        if tree is not None:
            learned = _UNIT * tree.improved_policy(self._policy, self._settings.sharpness, _DOUBT)
        self._kept.points.append(move)
        self._kept.visits.append(learned.round().astype(np.uint16))
        self._kept.black_wins.append(np.nan if tree is None else self._search.black_wins())
        self._game.play(move)

    def _is_hopeless(self) -> bool:
        """Whether the player to move would give up."""
        color, wins = self._game.to_play, self._search.black_wins()
        is_low = (wins if color == BLACK else 1 - wins) < self._settings.resign_below
        self._hopeless[color] = self._hopeless[color] + 1 if is_low else 0
        if self._hopeless[color] >= _TURNS and not self.gave_up:
            self.gave_up = color
        return self._hopeless[color] >= _TURNS

    def _find_dead(self, tree: MctsTree) -> tuple[int, ...] | None:
        """The dead chains if the game is settled; it is not asked early."""
        return None if self._is_early() else dead_when_settled(self._game, tree.ownership())

    def _is_early(self) -> bool:
        """Whether more than half of the board is empty."""
        return 2 * int(np.count_nonzero(self._game.board.stones)) < self._game.size**2

    def _conclude(self, winner: int | None, dead: Sequence[int] = ()) -> SearchedGame:
        game, kept = self._game, self._kept
        owners, lead = np.full(game.size**2, NO_LABEL, dtype=np.int8), np.nan
        if winner is None:
            owners = area(game.board, dead).astype(np.int8)
            lead = float(owners.sum(dtype=np.int64)) - game.komi
        colors = np.where(np.arange(len(kept.points)) % 2 == 0, BLACK, WHITE).astype(np.int8)
        return SearchedGame(
            game.size,
            game.komi,
            encode_moves(np.array(kept.points, dtype=np.int64), colors),
            np.stack(kept.visits),
            np.array(kept.black_wins, dtype=np.float32),
            lead,
            int(np.sign(lead)) if winner is None else winner,
            owners,
            self.gave_up,
        )


class Contender(NamedTuple):
    """A network by its model, and the rank that it is asked about."""

    model: str
    rank: str | None = None


def _open(contender: Contender) -> OutcomeEvaluator:
    return _open_once(here(contender.model), contender.rank)


@lru_cache(maxsize=2)
def _open_once(model: Path, rank: str | None) -> OutcomeEvaluator:
    precision = "int8" if INT8 in open_model(model, PolicyCard).card.files else "fp32"
    evaluator = load_model(model, {"precision": precision, "rank": rank})
    if not isinstance(evaluator, OutcomeEvaluator):
        raise ModelError(f"{model} cannot play with itself: it has no heads for score and ownership")
    return evaluator


def play_games(
    contender: Contender, settings: SelfPlaySettings, size: int, games: int, seed: Sequence[int]
) -> list[SearchedGame]:
    """Games of a network with itself, all at one komi, which is drawn."""
    rng = np.random.default_rng(seed)
    komi = float(rng.choice(settings.komi))
    evaluators = [_open(contender).at_komi(komi)]
    records = open_records(settings.records, size) if settings.recorded_share else None
    tables = (Table(settings, evaluators, size, komi, child, records=records).play() for child in rng.spawn(games))
    return play_side_by_side(evaluators, tables, settings.side_by_side)


def play_match(
    contenders: tuple[Contender, Contender], settings: SelfPlaySettings, size: int, pairs: int, seed: Sequence[int]
) -> list[float]:
    """What the first scored against the second in so many pairs of games, each from an opening by chance."""
    evaluators = [_open(contender).at_komi(DEFAULT_KOMI) for contender in contenders]
    games: list[_Asking] = []
    scores: list[float] = []
    for child in np.random.default_rng(seed).spawn(pairs):
        opening = draw_opening(size, 2 + int(child.integers(3)), child)
        for sides, own in zip(((0, 1), (1, 0)), child.spawn(2), strict=True):
            table = Table(settings, evaluators, size, DEFAULT_KOMI, own, sides=sides, opening=opening)
            games.append(_scored(table, sides[0], scores))
    play_side_by_side(evaluators, games, settings.side_by_side)
    return scores


def _scored(table: Table, black: int, scores: list[float]) -> _Asking:
    """A game that also says what the first of two evaluators scored."""
    game = yield from table.play()
    scores.append((1 + game.winner * (1 if black == 0 else -1)) / 2)
    return game


def draw_opening(size: int, moves: int, rng: np.random.Generator) -> list[int]:
    """So many moves by chance, none on the first two lines, or of small boards on the first."""
    game, inner = Game(size), inner_points(size, 3 if size >= _LARGE else 2)
    drawn = []
    for _ in range(moves):
        drawn.append(int(rng.choice(np.flatnonzero(root_moves(game)[:-1] & inner))))
        game.play(drawn[-1])
    return drawn


def open_records(path: str, size: int) -> Dataset:
    """Games of people to begin from; raises DatasetError if there are none of this size to learn from."""
    records = Dataset.open(path)
    if not records.select(size, Split.TRAINING).size:
        raise DatasetError(f"{path} has no {size}×{size} games for training to begin from")
    return records


def draw_beginning(records: Dataset, size: int, rng: np.random.Generator) -> list[int]:
    """The first moves of a game of people, at most two thirds of them, without a pass."""
    moves = records.moves_in_turn(int(rng.choice(records.select(size, Split.TRAINING))))
    return list(takewhile(lambda move: move != PASS, moves[: int(rng.integers(1 + 2 * len(moves) // 3))]))
