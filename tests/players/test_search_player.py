"""A search as a player: passing, resigning, limits, display, and its spec."""

from __future__ import annotations

import re
from threading import Event

import numpy as np
import pytest

from helpers.networks import tiny_config, tiny_onnx
from katachi.core.conformance import check_player, sample_games
from katachi.core.contracts import AnalyzingPlayer, Ban, Limit, SearchResult
from katachi.core.evaluators import WrongBoardSize
from katachi.core.linear import LinearModel, describe_linear, save_linear
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE
from katachi.go.rules import Rules
from katachi.players.search_player import SearchPlayer, describe_result, stricter
from katachi.players.specs import SearchSpec, SpecError, load_player, parse_spec
from katachi.policy.evaluator import PolicyCard, PolicyOptions, save_policy
from katachi.search.alphabeta import AlphaBetaSearch
from katachi.search.one_ply import GreedySearch, TreeResult
from katachi.shapes.features import LocalShapes
from katachi.shapes.sets import ShapeSet


class FixedSearch:
    """Finds the same move at the same value, and remembers its limit."""

    def __init__(self, move: int = 0, black_wins: float = 0.5) -> None:
        self.move, self.black_wins = move, black_wins
        self.limit = None

    def search(self, game, limit, rng):
        self.limit = limit
        visits = np.zeros(game.size**2 + 1, dtype=np.int64)
        visits[[self.move, 3, 4]] = 7, 2, 5
        return SearchResult(self.move, self.black_wins, visits, (self.move,))


def shape_model(size=5):
    features = LocalShapes(size, [ShapeSet.parse("LI 1x1"), ShapeSet.parse("LI 2x2")])
    weights = np.random.default_rng(1).normal(size=features.size).astype(np.float32)
    return LinearModel(features, weights)


def test_plays_what_the_search_finds():
    decision = SearchPlayer("fixed", FixedSearch(8, 0.7)).decide(Game(5), Limit())
    assert (decision.move, decision.resign) == (8, False)
    moves = [candidate.move for candidate in decision.analysis.candidates]
    assert moves == [8, 4, 3]  # the move found, then the others by visits
    assert decision.analysis.candidates[0].black_wins == decision.analysis.black_wins == 0.7


@pytest.mark.parametrize(
    ("to_play", "black_wins", "resigns"),
    [(BLACK, 0.04, True), (BLACK, 0.06, False), (WHITE, 0.97, True), (WHITE, 0.9, False)],
)
def test_resigns_when_all_is_lost(to_play, black_wins, resigns):
    game = Game(5)
    game.to_play = to_play
    player = SearchPlayer("fixed", FixedSearch(0, black_wins), resign_below=0.05)
    assert player.decide(game, Limit()).resign is resigns
    assert not SearchPlayer("fixed", FixedSearch(0, black_wins)).decide(game, Limit()).resign


# Manners of tree searches


class FixedTree:
    """A tree that finds a move at values given turn by turn, by so many points, with owners of all points."""

    def __init__(self, *black_wins: float, lead: float | None = -20.0, ownership: float | None = 0.5) -> None:
        self.values, self.lead, self.ownership = list(black_wins), lead, ownership

    def search(self, game, limit, rng):
        move = int(np.flatnonzero(game.legal_moves()[:-1])[0])
        visits = np.zeros(game.size**2 + 1, dtype=np.int64)
        visits[move] = 9
        owners = None if self.ownership is None else np.full(game.size**2, self.ownership, dtype=np.float32)
        return TreeResult(
            move, self.values.pop(0), visits, (move,), black_lead=self.lead, ownership=owners, priors=visits / 9
        )


def game_of(text: str, rules: Rules | None = None) -> Game:
    """A game in which a board was set up, Black to play."""
    board, game = Board.parse(text), Game(5, rules)
    game.setup(*(np.flatnonzero(board.stones == color).tolist() for color in (BLACK, WHITE)), to_play=BLACK)
    return game


def middle_game() -> Game:
    game = Game(5)
    for move in range(10):
        game.play(move)
    return game


def decide_in_turn(player: SearchPlayer, game: Game, turns: int) -> list[bool]:
    """Whether Black resigns at each of some own turns."""
    found = []
    for _ in range(turns):
        decision = player.decide(game, Limit())
        found.append(decision.resign)
        game.play(decision.move)
        game.play(int(np.flatnonzero(game.legal_moves()[:-1])[-1]))
    return found


@pytest.mark.parametrize(
    ("black_wins", "lead", "resigns"),
    [
        ([0.04, 0.04, 0.04, 0.04], -20.0, [False, False, True, True]),
        ([0.04, 0.04, 0.04], None, [False, False, True]),  # nobody says by how much
        ([0.04, 0.04, 0.06, 0.04, 0.04], -20.0, [False] * 5),  # not in succession
        ([0.04] * 5, -1.5, [False] * 5),  # a close game is counted
        ([0.06] * 5, -20.0, [False] * 5),
    ],
)
def test_a_tree_search_resigns_when_it_was_lost_for_some_turns(black_wins, lead, resigns):
    player = SearchPlayer("tree", FixedTree(*black_wins, lead=lead), resign_below=0.05)
    assert decide_in_turn(player, middle_game(), len(resigns)) == resigns


def test_a_tree_search_does_not_resign_early():
    game = Game(7)
    game.play(0)
    game.play(1)
    player = SearchPlayer("tree", FixedTree(*[0.0] * 6), resign_below=0.05)
    assert not any(decide_in_turn(player, game, 6))


def test_turns_of_other_games_and_looking_twice_do_not_count():
    player = SearchPlayer("tree", FixedTree(*[0.0] * 20), resign_below=0.05)
    game = middle_game()
    assert not any(player.decide(game, Limit()).resign for _ in range(5)), "one turn, looked at often"
    other = middle_game()
    other.undo()
    other.undo()
    assert decide_in_turn(player, other, 2) == [False, False]
    assert decide_in_turn(player, game, 3) == [False, False, True]


def test_two_games_side_by_side():
    player = SearchPlayer("tree", FixedTree(*[0.0] * 20), resign_below=0.05)
    games = [middle_game(), middle_game()]
    games[1].setup([24])
    games[1].to_play = BLACK
    found = [[decide_in_turn(player, game, 1)[0] for game in games] for _ in range(3)]
    assert found == [[False, False], [False, False], [True, True]]


@pytest.mark.parametrize(
    ("board", "black_wins", "ownership", "passes"),
    [
        ("..XO./XXXOO/..XO./XXXOO/..XO.", 0.0, -0.95, True),
        ("..XO./XXXOO/..XO./XXXOO/..XO.", 0.0, -0.5, False),
        ("..XO./XXXOO/..XO./XXXOO/..XO.", 0.0, None, False),
        ("..XO./XXXOO/..XO./XXXOO/..XO.", 0.2, -0.95, False),
        ("..XO./XX.OO/..X../XXXO./..XO.", 0.0, -0.95, False),  # settled in the tree alone, after the move it found
    ],
)
def test_a_tree_search_passes_in_a_lost_game_where_nothing_is_open(board, black_wins, ownership, passes):
    game = game_of(board)
    search = FixedTree(black_wins, black_wins, lead=-1.5, ownership=ownership)
    player = SearchPlayer("tree", search, resign_below=0.05)
    decision = player.decide(game, Limit())
    assert (decision.move == PASS, decision.resign) == (passes, False)
    cleaning = player.without([Ban(BLACK, PASS)])
    assert cleaning.decide(game, Limit()).move != PASS, "it must play on where the pass is out of the question"


def test_a_pass_is_answered_where_dead_stones_are_taken_off():
    """Black holds all but a dead stone of White's, which counts for White until it is taken off."""
    friendly = Rules(komi=20.5, friendly_pass_ok=True)
    for rules, passes in ((friendly, True), (Rules(komi=20.5), False)):
        game = game_of("XXXXX/X.X.X/XXXXX/X..XX/.OX.X", rules)
        game.to_play = WHITE
        game.play(PASS)
        assert (SearchPlayer("fixed", FixedSearch(15)).decide(game, Limit()).move == PASS) is passes


def passed_game(komi: float) -> Game:
    game = Game(5, Rules(komi=komi))
    game.play(12)
    game.play(PASS)
    return game


def test_passes_after_a_pass_when_the_count_is_won():
    assert SearchPlayer("fixed", FixedSearch(0)).decide(passed_game(7.5), Limit()).move == PASS
    assert SearchPlayer("fixed", FixedSearch(0)).decide(passed_game(30.5), Limit()).move == 0


def test_plays_on_after_a_pass_while_much_is_open():
    game = Game(5, Rules(komi=-1.5))
    for move in (12, 0, 13, PASS):
        game.play(move)
    assert game.score() > 0
    assert SearchPlayer("fixed", FixedSearch(7)).decide(game, Limit()).move == 7


def test_passes_again_after_two_passes_when_the_count_is_won():
    game = passed_game(7.5)
    game.play(PASS)
    game.play(PASS)
    assert game.is_over
    assert SearchPlayer("fixed", FixedSearch(0)).decide(game, Limit()).move == PASS


def test_a_pass_that_the_search_finds_never_resigns():
    decision = SearchPlayer("fixed", FixedSearch(PASS, 0.0), resign_below=0.5).decide(Game(5), Limit())
    assert (decision.move, decision.resign) == (PASS, False)


def test_the_stricter_limit_counts():
    search = FixedSearch()
    SearchPlayer("fixed", search, Limit(depth=3, seconds=1.0)).decide(Game(5), Limit(seconds=0.5, simulations=9))
    assert search.limit == Limit(simulations=9, depth=3, seconds=0.5)
    assert stricter(Limit(), Limit()) == Limit()


def test_greedy_candidates_have_values_and_come_in_order():
    game = Game(5)
    game.play(12)
    result = GreedySearch(shape_model()).search(game, Limit(), np.random.default_rng(1))
    values = [candidate.black_wins for candidate in describe_result(result, game.to_play).candidates]
    assert values == sorted(values)  # White is to play
    assert len(values) == 24  # all that it considered


def test_analysis_goes_deeper_until_it_is_stopped():
    player = SearchPlayer("shapes", AlphaBetaSearch(shape_model()))
    assert isinstance(player, AnalyzingPlayer)
    stop = Event()
    lengths = []
    for analysis in player.analyze(Game(5), Limit(), stop):
        lengths.append(len(analysis.candidates[0].variation))
        if len(lengths) == 4:
            stop.set()
    assert lengths[:3] == [1, 2, 3]
    assert len(lengths) <= 5


def test_analysis_does_not_change_what_is_played_later():
    plain, analyzing = (SearchPlayer("s", GreedySearch(shape_model()), rng=np.random.default_rng(3)) for _ in range(2))
    game = Game(5)
    list(analyzing.analyze(game, Limit(), Event()))
    for _ in range(6):
        move = plain.decide(game, Limit()).move
        assert analyzing.decide(game, Limit()).move == move
        game.play(move)


def test_impossible_threshold():
    with pytest.raises(ValueError, match="resign_below"):
        SearchPlayer("fixed", FixedSearch(), resign_below=1.0)


# The spec


@pytest.fixture
def model_path(tmp_path):
    model = shape_model()
    save_linear(tmp_path / "model", model, describe_linear(model, Rules()))
    return tmp_path / "model"


def spec(path, **tables):
    return SearchSpec.model_validate({"kind": "search", "evaluator": {"model": str(path)}, **tables})


@pytest.mark.parametrize("search", [{"kind": "greedy", "epsilon": 0.1}, {"kind": "alphabeta", "quiescence": 2}])
def test_spec_builds_the_same_player_from_the_same_seed(model_path, search):
    parsed = spec(model_path, name="mine", search=search, limit={"depth": 1}, resign_below=0.01)
    first, second = parsed.build(5), parsed.build(5)
    assert first.name == "mine"
    assert spec(model_path).build(5).name == "model"
    game = Game(5)
    for _ in range(8):
        move = first.decide(game, Limit()).move
        assert second.decide(game, Limit()).move == move
        game.play(move)


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        ({"search": {"kind": "greedy", "quiescence": 2}}, "quiescence"),
        ({"search": {"kind": "alphabeta", "epsilon": 0.1}}, "epsilon"),
        ({"search": {"kind": "minimax"}}, "kind"),
        ({"search": {"kind": "mcts", "quiescence": 2}}, "quiescence"),
        ({"search": {"kind": "mcts", "exploration": -1.0}}, "exploration"),
        ({"search": {"kind": "mcts", "playouts": {"patern": True}}}, "patern"),
        ({"search": {"kind": "td", "rave": 2.0}}, "rave"),
        ({"search": {"kind": "td", "guided_plies": 0}}, "guided_plies"),
        ({"search": {"kind": "greedy", "epsilon": 2.0}}, "epsilon"),
        ({"limit": {"seconds": 0.0}}, "seconds"),
        ({"limit": {"seconds": float("nan")}}, "seconds"),
        ({"resign_below": 1.5}, "resign_below"),
        ({"temper": 1}, "temper"),
    ],
)
def test_wrong_specs(model_path, tables, reason):
    with pytest.raises(ValueError, match=reason):
        spec(model_path, **tables)


def test_tree_search_needs_no_model_and_others_do():
    search = {"kind": "mcts", "threads": 1, "megabytes": 8.0, "playouts": {"patterns": False}}
    parsed = SearchSpec.model_validate({"kind": "search", "search": search, "limit": {"simulations": 50}})
    player = parsed.build(5)
    assert player.name == "mcts"
    analysis = player.decide(Game(5), Limit()).analysis
    assert sum(candidate.visits for candidate in analysis.candidates) <= 50
    assert analysis.ownership.shape == (25,)
    with pytest.raises(SpecError, match="greedy search needs an evaluator"):
        SearchSpec.model_validate({"kind": "search"}).build(5)


def test_tree_search_with_a_model(model_path):
    search = {"kind": "mcts", "threads": 1, "megabytes": 8.0, "priors": "synchronous", "value_share": 0.5}
    player = spec(model_path, search=search, limit={"simulations": 50}).build(5)
    assert Game(5).is_legal(player.decide(Game(5), Limit()).move)


def test_td_search_with_a_model_and_without(model_path):
    search = {"kind": "td", "epsilon": 0.2, "sizes": "1x1 3x3", "playouts": {"patterns": False}}
    for parsed in (
        spec(model_path, search=search, limit={"simulations": 50}),
        SearchSpec.model_validate({"kind": "search", "search": search, "limit": {"simulations": 50}}),
    ):
        player = parsed.build(5)
        analysis = player.decide(Game(5), Limit()).analysis
        assert sum(candidate.visits for candidate in analysis.candidates) <= 50
        assert analysis.ownership.shape == (25,)
        assert player.parameters["search.epsilon"] == 0.2
        player.set_parameter("search.sizes", "1x1 2x2")
        assert player.parameters["search.sizes"] == "1x1 2x2"
        with pytest.raises(ValueError, match="no windows of the size 'big'"):
            player.set_parameter("search.sizes", "big")


@pytest.mark.parametrize("search", [{"kind": "mcts", "td_simulations": 9}, {"kind": "td", "playouts": {"shapes": 2}}])
def test_what_needs_a_model_of_shapes(search):
    with pytest.raises(SpecError, match="a model of local shapes"):
        SearchSpec.model_validate({"kind": "search", "search": search}).build(1)


@pytest.fixture
def network_path(tmp_path):
    config = tiny_config(5, planes="maddison-36", outputs=2)
    save_policy(tmp_path / "net", config, tiny_onnx(config), tiny_onnx(config, seed=1))
    return tmp_path / "net"


POLICY = """
kind = "search"
name = "policy-5"
[evaluator]
model = "{model}"
rank = 3
symmetries = true
precision = "int8"
threads = 2
[search]
kind = "policy"
temperature = 0.5
"""


def test_a_policy_player_from_a_file(network_path, tmp_path):
    file = tmp_path / "policy-5.toml"
    file.write_text(POLICY.format(model=network_path))
    first, second = load_player(str(file), seed=3), load_player(str(file), seed=3)
    assert first.name == "policy-5"
    first.prepare(5)
    game = Game(5)
    for _ in range(10):
        decision = first.decide(game, Limit())
        assert second.decide(game, Limit()).move == decision.move
        assert sum(candidate.prior for candidate in decision.analysis.candidates) == pytest.approx(1, abs=1e-4)
        game.play(decision.move)
    assert first.evaluator.options == PolicyOptions(rank=3, symmetries=True, precision="int8", threads=2)
    assert first.parameters["search.temperature"] == 0.5
    first.set_parameter("search.temperature", "0")
    with pytest.raises(WrongBoardSize, match="5×5 boards, not 9×9"):
        first.prepare(9)


@pytest.mark.parametrize("search", [{"kind": "policy"}, {"kind": "mcts", "threads": 1, "megabytes": 8.0}])
def test_a_network_in_any_search(network_path, search):
    evaluator = {"model": str(network_path), "rank": 9}
    parsed = spec(network_path, evaluator=evaluator, search=search, limit={"simulations": 50})
    check_player(parsed.build(5), games=sample_games(sizes=[5]))


@pytest.mark.parametrize(
    ("text", "wrong", "reason"),
    [
        ("rank = 3", "rank = 12", "evaluator.rank = 12: Input should be less than or equal to 9"),
        ("rank = 3", 'rank = "dan"', "evaluator.rank = 'dan': 'dan' is not a rank: say 5d or 15k"),
        ("rank = 3", "rnak = 3", "unknown key 'evaluator.rnak'; did you mean 'rank'?"),
        ('precision = "int8"', 'precision = "fp16"', "evaluator.precision = 'fp16'"),
        ("temperature = 0.5", "temprature = 0.5", "unknown key 'search.temprature'; did you mean 'temperature'?"),
        (
            'kind = "policy"',
            'kind = "alphabeta"',
            "unknown key 'search.temperature'; known are kind, depth, quiescence",
        ),
    ],
)
def test_wrong_options_of_a_network(network_path, monkeypatch, text, wrong, reason):
    monkeypatch.setattr(PolicyCard, "options", PolicyOptions, raising=False)
    with pytest.raises(SpecError, match=re.escape(reason)):
        parse_spec(POLICY.format(model=network_path).replace(text, wrong))


def test_options_of_a_model_that_cannot_be_read_are_refused_when_it_is_built(tmp_path):
    parsed = parse_spec(POLICY.format(model=tmp_path / "nothing").replace("rank = 3", "rank = [3]"))
    with pytest.raises(SpecError, match="no such model"):
        parsed.build(1)


def test_options_that_a_model_has_not(model_path):
    with pytest.raises(ValueError, match="rank"):
        spec(model_path, evaluator={"model": str(model_path), "rank": 5}).build(1)


def test_every_option_of_a_model_can_be_set():
    player = parse_spec('kind = "search"\n[evaluator]\nmodel = "territory-9"\nkomi = 100.5').build(1)
    plain = parse_spec('kind = "search"\n[evaluator]\nmodel = "territory-9"').build(1)
    board = Game(9).board
    assert player.evaluator.evaluate([board]).black_wins[0] < 0.01 < plain.evaluator.evaluate([board]).black_wins[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("search = 3", "search = 3: Input should be a valid dictionary"),
        ('[search]\nkind = "mctz"', "search.kind = 'mctz': there is no such search; known are greedy, policy"),
        ('[search]\nkind = "mcts"\nexploraton = 1.0', "unknown key 'search.exploraton'; did you mean 'exploration'?"),
        ('[search]\nkind = "mcts"\nexploration = -1.0', "search.exploration = -1.0: Input should be greater than or"),
        (
            '[search]\nkind = "mcts"\nplayouts.nkade = true',
            "unknown key 'search.playouts.nkade'; did you mean 'nakade'?",
        ),
        ('[search]\nkind = "td"\nsizes = "big"', "search.sizes = 'big': there are no windows of the size 'big'; known"),
        ("[rating]\nvalue = 1\nlow = 0\nhigh = 2\nscael = 'x'", "the key 'rating.scale' is missing"),
    ],
)
def test_sentences_about_wrong_tables(text, sentence):
    with pytest.raises(SpecError, match=f"^spec: {re.escape(sentence)}"):
        parse_spec(f'kind = "search"\n{text}')


def test_the_board_size_of_a_player(model_path):
    assert spec(model_path).board_size == 5
    assert parse_spec('kind = "alp"').board_size is None
    assert spec(model_path / "nothing").board_size is None


def test_a_model_that_is_not_there(tmp_path):
    with pytest.raises(SpecError, match="no such model"):
        spec(tmp_path / "nothing").build(1)
