"""Games of a network with itself: what is kept of them, that they end, and that a match knows who won."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from katachi.core.contracts import Evaluation, Outcome
from katachi.data.dataset import (
    NO_LABEL,
    Dataset,
    DatasetError,
    load_searched_games,
    save_searched_games,
    write_searched_games,
)
from katachi.data.importing import import_games
from katachi.go.game import Game
from katachi.go.kernels.replay import PASS_CODE, POINT_MASK
from katachi.go.points import BLACK, PASS
from katachi.go.rules import Rules
from katachi.policy.self_play import (
    SelfPlaySettings,
    Table,
    draw_beginning,
    draw_opening,
    open_records,
    play_side_by_side,
)

SIZE = 5
QUICK = SelfPlaySettings(visits=12, quick_visits=4, close_share=0.5, opening=3, side_by_side=3)


class Stones:
    """Whoever has more stones is ahead; any legal move is as good as another. Remembers how much it was asked."""

    def __init__(self, wins: float | None = None) -> None:
        self.wins = wins  # of Black, whatever the board
        self.batches: list[int] = []

    def evaluate(self, boards):
        return self.evaluate_outcomes(boards)[0]

    def at_komi(self, komi):
        return self

    def ownership(self, boards):
        return np.stack([board.stones for board in boards]).astype(np.float32)

    def predict_outcome(self, boards):
        return self.evaluate_outcomes(boards)[1]

    def evaluate_outcomes(self, boards):
        self.batches.append(len(boards))
        legal = np.stack([board.legal_moves() for board in boards]).astype(np.float32)
        owners = self.ownership(boards)
        lead = owners.sum(axis=1)
        wins = 1 / (1 + np.exp(-lead)) if self.wins is None else np.full(len(boards), self.wins, dtype=np.float32)
        policy = legal / legal.sum(axis=1, keepdims=True)
        half = np.full(len(boards), 0.5, dtype=np.float32)
        return Evaluation(wins.astype(np.float32), policy), Outcome(wins, half, lead, half, owners)


def play(evaluator, count=6, settings=QUICK, seed=1):
    tables = [
        Table(settings, [evaluator], SIZE, 2.5, child).play() for child in np.random.default_rng(seed).spawn(count)
    ]
    return play_side_by_side([evaluator], tables, settings.side_by_side)


def replay(game):
    played = Game(game.size, Rules(komi=game.komi))
    for code in game.moves.tolist():
        point = code & POINT_MASK
        played.play(PASS if point == PASS_CODE else point)
    return played


def test_games_are_played_to_their_end_and_counted():
    games = play(Stones(), settings=QUICK.model_copy(update={"resign_below": 0.0}))
    assert len(games) == 6
    for game in games:
        end = replay(game)
        assert game.owners.sum(dtype=int) - 2.5 == game.black_lead
        assert game.winner == np.sign(game.black_lead)
        alive = end.board.stones != 0
        assert (game.owners[alive] != NO_LABEL).all()


def test_what_is_searched_closely_is_kept():
    games = play(Stones())
    rows = np.concatenate([game.visits for game in games])
    totals = rows.sum(axis=1, dtype=np.int64)
    assert totals[totals > 0] == pytest.approx(10_000, rel=0.005), "shares of an improved policy"
    assert 0.2 < (totals > 0).mean() < 0.8
    values = np.concatenate([game.black_wins for game in games])
    assert np.array_equal(np.isnan(values), totals == 0)
    for game in games:
        closely = np.flatnonzero(game.visits.any(axis=1))
        points = game.moves[closely] & POINT_MASK
        chosen = np.where(points == PASS_CODE, SIZE * SIZE, points)
        assert (game.visits[closely, chosen] > 0).mean() > 0.5, "what was played is mostly what was wanted"


def test_boards_of_several_games_are_evaluated_together():
    evaluator = Stones()
    play(evaluator)
    assert max(evaluator.batches) == QUICK.side_by_side


def test_the_same_seed_plays_the_same_games():
    first, again, other = (play(Stones(), seed=seed) for seed in (1, 1, 2))
    assert [game.moves.tolist() for game in first] == [game.moves.tolist() for game in again]
    assert [game.moves.tolist() for game in first] != [game.moves.tolist() for game in other]


def test_games_may_begin_by_chance():
    settings = QUICK.model_copy(update={"random_share": 1.0, "close_share": 1.0})
    games = play(Stones(), count=12, settings=settings)
    by_chance = [int(np.flatnonzero(game.visits.any(axis=1))[0]) for game in games]
    assert set(by_chance) == {1, 2, 3, 4}, "the moves before the first that is learned from"


@pytest.fixture
def records(tmp_path):
    """Games of people on 5×5, of which each move is a passage along the lines."""
    moves = ("aa", "bb", "cc", "dd", "ee", "ab", "bc", "cd", "", "de", "ac", "bd")
    text = "".join(f";{'BW'[number % 2]}[{move}]" for number, move in enumerate(moves))
    file = tmp_path / "records.sgf"
    file.write_text("\n".join(f"(;SZ[5]PB[{number}]{text})" for number in range(20)))
    return import_games([file], tmp_path / "set", unique=False)


def test_games_may_continue_those_of_people(records):
    settings = QUICK.model_copy(update={"records": str(records.path), "recorded_share": 1.0, "close_share": 1.0})
    rng = np.random.default_rng(1)
    tables = [Table(settings, [Stones()], SIZE, 2.5, child, records=records).play() for child in rng.spawn(16)]
    games = play_side_by_side([Stones()], tables, 4)
    theirs = records.moves_in_turn(0)
    starts = [int(np.flatnonzero(game.visits.any(axis=1))[0]) for game in games]
    assert set(starts) <= set(range(9))
    assert len(set(starts)) > 4, "the moves before the first that is learned from"
    for game, start in zip(games, starts, strict=True):
        assert (game.moves[:start] & POINT_MASK).tolist() == theirs[:start]


def test_no_game_begins_after_a_pass_or_in_the_last_third(records):
    beginnings = [draw_beginning(records, SIZE, np.random.default_rng(seed)) for seed in range(60)]
    assert {len(moves) for moves in beginnings} == set(range(9))
    with pytest.raises(DatasetError, match="no 9×9 games for training"):
        open_records(str(records.path), 9)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"recorded_share": 0.5}, "set records to a dataset"),
        ({"records": "a", "recorded_share": 0.6, "random_share": 0.5}, "more than all games"),
    ],
)
def test_shares_of_beginnings_are_checked(values, why):
    with pytest.raises(ValidationError, match=why):
        SelfPlaySettings(**values)


def test_games_begin_differently():
    starts = {tuple(game.moves[:3].tolist()) for game in play(Stones(), count=12)}
    assert len(starts) > 6


@pytest.mark.parametrize(("played_on", "resigned"), [(0.0, True), (1.0, False)])
def test_a_hopeless_game_is_given_up_unless_it_is_to_be_checked(played_on, resigned):
    settings = QUICK.model_copy(update={"resign_below": 0.45, "played_on": played_on})
    for game in play(Stones(wins=0.001), count=4, settings=settings):
        assert game.gave_up == BLACK
        assert np.isnan(game.black_lead) == resigned
        if resigned:
            assert game.winner == -BLACK
            assert (game.owners == NO_LABEL).all()


def test_the_share_of_the_score_keeps_nobody_from_giving_up():
    settings = QUICK.model_copy(update={"played_on": 0.0})
    assert settings.resign_below == 0.02
    assert all(game.gave_up == BLACK for game in play(Stones(wins=0.001), count=4, settings=settings))


def test_games_become_a_dataset(tmp_path):
    games = play(Stones())
    save_searched_games(tmp_path / "part.npz", games)
    kept = load_searched_games(tmp_path / "part.npz")
    assert [game.moves.tolist() for game in kept] == [game.moves.tolist() for game in games]
    dataset = write_searched_games(tmp_path / "set", kept, grade=9)
    assert dataset.knows_visits
    assert dataset.games["winner"].tolist() == [game.winner for game in games]
    assert np.array_equal(dataset.labels, np.stack([game.owners for game in games]))
    assert np.array_equal(dataset.visits, np.concatenate([game.visits for game in games]))
    assert Dataset.open(tmp_path / "set").end(0).stones.tolist() == replay(games[0]).board.stones.tolist()


def test_openings_keep_off_the_edge():
    points = [point for seed in range(20) for point in draw_opening(9, 4, np.random.default_rng(seed))]
    rows, columns = np.divmod(points, 9)
    assert min(rows.min(), columns.min()) == 2
    assert max(rows.max(), columns.max()) == 6
