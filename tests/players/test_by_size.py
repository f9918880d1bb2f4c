"""A player of one name on several boards."""

from __future__ import annotations

from threading import Event

import pytest

from katachi.core.conformance import check_player, sample_games
from katachi.core.contracts import Ban, Limit
from katachi.core.evaluators import WrongBoardSize
from katachi.core.models import find_model, load_model
from katachi.go.game import Game
from katachi.players.specs import SpecError, find_spec, load_player, parse_spec

SPEC = """
kind = "by-size"
name = "mine"
[boards.5]
evaluator = {model = "shapes-5"}
rating = {value = 7, low = 6, high = 8, scale = "on 5x5", rank = "20k"}
[boards.7]
evaluator = {model = "territory-9"}
search = {kind = "mcts", threads = 1, priors = "synchronous"}
opening = {moves = 2, temperature = 1.0}
limit = {simulations = 20}
"""
OTHER = '[boards.other]\nsearch = {kind = "mcts", threads = 1}\nlimit = {simulations = 5}\n'


def test_keeps_the_contract_of_a_player():
    players = [parse_spec(SPEC + OTHER).build(1) for _ in range(2)]
    check_player(*players, games=sample_games(sizes=(3, 5, 7)))


def test_it_is_another_player_on_each_board():
    spec = parse_spec(SPEC + OTHER)
    player = spec.build(1)
    assert player.name == "mine"
    assert spec.board_size is None
    assert spec.ratings["5"].rank == "20k"
    for size, model in ((5, load_model(find_model("shapes-5"))), (7, load_model(find_model("territory-9"))), (6, None)):
        player.prepare(size)
        assert type(player.evaluator) is type(model)
        assert ("search.rave" in player.parameters) == (size != 5)


def test_the_first_moves_are_drawn_from_the_policy():
    player, game = parse_spec(SPEC).build(1), Game(7)
    (first,) = player.think(game, Limit(), Event())
    assert first.analysis.candidates[0].visits == 1, "without search"
    for point in (24, 25):
        game.play(point)
    assert sum(candidate.visits for candidate in player.decide(game, Limit()).analysis.candidates) >= 20


def test_moves_that_are_left_out_are_left_out_in_the_opening_too():
    game = Game(7)
    bans = [Ban(game.to_play, point) for point in range(49) if point != 17]
    assert parse_spec(SPEC).build(1).without(bans).decide(game, Limit()).move == 17


def test_boards_that_it_does_not_know_are_refused():
    with pytest.raises(WrongBoardSize, match="mine plays on boards of the sizes 5, 7, not 9"):
        parse_spec(SPEC).build(1).decide(Game(9), Limit())
    assert parse_spec(SPEC.partition("[boards.7]")[0]).board_size == 5


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('kind = "by-size"', "the key 'boards' is missing"),
        ('kind = "by-size"\n[boards.20]', "'20' is not a size from 1 to 19, nor 'other'"),
        ('kind = "by-size"\n[boards.9]\nserach = {}', "unknown key 'boards.9.serach'; did you mean 'search'"),
        (
            'kind = "by-size"\n[boards.9]\nsearch = {kind = "policy", temprature = 1.0}',
            "unknown key 'boards.9.search.temprature'; did you mean 'temperature'",
        ),
    ],
)
def test_mistakes_are_named(text, error):
    with pytest.raises(SpecError, match=error):
        parse_spec(text)


def test_settings_of_a_board_can_be_changed():
    assert find_spec("level-1 boards.9.search.overlooks=0.25").boards["9"].search.overlooks == 0.25


def test_models_beside_the_file_are_found(tmp_path):
    (tmp_path / "model").symlink_to(find_model("shapes-5"))
    (tmp_path / "mine.toml").write_text('kind = "by-size"\n[boards.5]\nevaluator = {model = "./model"}\n')
    assert load_player(str(tmp_path / "mine.toml"), seed=1).decide(Game(5), Limit()).move >= 0


def test_settings_after_the_name_reach_every_board_that_has_them(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'kind = "by-size"\n[boards.5]\nsearch = {kind = "mcts"}\n[boards.other]\nevaluator = {model = "territory-9"}\n'
        'search = {kind = "policy"}\n'
    )
    spec = find_spec(f"{tmp_path / 'mine.toml'} search.rave=0.0 limit.simulations=7")
    assert spec.boards["5"].search.rave == 0.0
    assert [board.limit.simulations for board in spec.boards.values()] == [7, 7]
    with pytest.raises(SpecError, match="rvae"):
        find_spec(f"{tmp_path / 'mine.toml'} search.rvae=0.0")
