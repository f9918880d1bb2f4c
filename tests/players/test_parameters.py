"""Parameters: settings that a text can change, and what a player that searches offers of its own over GTP."""

from __future__ import annotations

import json
from dataclasses import dataclass
from threading import Event
from typing import Literal

import numpy as np
import pytest

from katachi.core.contracts import EvaluatingPlayer, Limit, ThinkingPlayer, TunablePlayer
from katachi.core.linear import LinearModel
from katachi.go.game import Game
from katachi.gtp.engine import GtpEngine
from katachi.players.search_player import SearchPlayer, change_parameter, list_parameters
from katachi.players.specs import load_player
from katachi.search.alphabeta import AlphaBetaSearch
from katachi.search.one_ply import GreedySearch
from katachi.search.settings import MctsSettings, PlayoutSettings
from katachi.shapes.features import LocalShapes
from katachi.shapes.sets import ShapeSet


@dataclass(frozen=True)
class Settings:
    width: int = 3
    share: float = 0.5
    bound: float | None = None
    deep: bool = False
    mode: Literal["fast", "slow"] = "fast"
    inner: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError("width is at least 1")


@pytest.fixture
def player() -> SearchPlayer:
    features = LocalShapes(5, [ShapeSet.parse("LI 1x1"), ShapeSet.parse("LI 2x2")])
    weights = np.random.default_rng(1).normal(size=features.size).astype(np.float32)
    return SearchPlayer("shapes", AlphaBetaSearch(LinearModel(features, weights)), Limit(depth=3))


def test_what_a_text_can_say_is_listed():
    assert list_parameters("search", Settings()) == {
        "search.width": 3,
        "search.share": 0.5,
        "search.bound": None,
        "search.deep": False,
        "search.mode": "fast",
    }


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("width", "7", 7),
        ("width", "1", 1),
        ("share", "1", 1.0),
        ("bound", "2.5", 2.5),
        ("bound", "None", None),
        ("deep", "true", True),
        ("deep", "0", False),
        ("mode", "slow", "slow"),
    ],
)
def test_changes(name, text, value):
    changed = getattr(change_parameter(Settings(bound=1.0), name, text), name)
    assert changed == value
    assert type(changed) is type(value)


def test_settings_inside_settings():
    settings = MctsSettings(playouts=PlayoutSettings(nakade=False))
    assert list_parameters("search", settings)["search.playouts.nakade"] is False
    changed = change_parameter(settings, "playouts.captures", "0")
    assert changed.playouts == PlayoutSettings(nakade=False, captures=False)
    assert changed == settings.model_copy(update={"playouts": changed.playouts}), "nothing else"
    with pytest.raises(ValueError, match="captures cannot be 'often': it is true or false"):
        change_parameter(settings, "playouts.captures", "often")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("width", "wide", "width cannot be 'wide': it is an integer"),
        ("width", "0", "width is at least 1"),
        ("share", "none", "it is a number"),
        ("bound", "x", "it is a number or none"),
        ("deep", "2", "it is true or false"),
        ("mode", "medium", "it is fast or slow"),
    ],
)
def test_refusals(name, text, message):
    with pytest.raises(ValueError, match=message):
        change_parameter(Settings(), name, text)


def test_a_player_that_searches_meets_the_contracts(player):
    assert isinstance(player, TunablePlayer)
    assert isinstance(player, EvaluatingPlayer)
    assert isinstance(player, ThinkingPlayer)
    assert isinstance(player.evaluator, LinearModel)


def test_its_parameters_change_how_it_plays(player):
    game = Game(5)
    assert len(player.decide(game, Limit()).analysis.candidates[0].variation) == 3
    player.set_parameter("limit.depth", "1")
    assert len(player.decide(game, Limit()).analysis.candidates[0].variation) == 1
    player.set_parameter("search.quiescence", "2")
    assert player.parameters["search.quiescence"] == 2
    player.set_parameter("resign_below", "0.999")
    assert player.decide(game, Limit()).resign
    player.set_parameter("resign_below", "none")
    assert not player.decide(game, Limit()).resign


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("limit.seconds", "-1"),
        ("limit.seconds", "1e300"),
        ("limit.seconds", "inf"),
        ("limit.simulations", "0"),
        ("limit.simulations", "9" * 30),
        ("limit.simulations", "9" * 5000),
        ("limit.depth", "deep"),
        ("limit.depth", "41"),
        ("resign_below", "2"),
        ("resign_below", "x"),
        ("search.quiescence", "1000"),
        ("search.noSuch", "1"),
    ],
)
def test_what_it_refuses_stays_as_it_was(player, name, text):
    before = player.parameters
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - every sentence is another
        player.set_parameter(name, text)
    assert player.parameters == before
    assert len(str(caught.value)) < 300


def test_the_rank_of_a_network_is_a_parameter():
    player = load_player("policy-9 evaluator.rank=1 search.temperature=0.5", seed=1)
    assert (player.parameters["evaluator.rank"], player.parameters["search.temperature"]) == (1, 0.5)
    boards = [Game(9).board]
    for rank in (9, 1):
        player.set_parameter("evaluator.rank", str(rank))
        alike = load_player(f"policy-9 evaluator.rank={rank}").evaluator.evaluate(boards)
        assert np.array_equal(player.evaluator.evaluate(boards).policy, alike.policy)
    player.set_parameter("search.temperature", "0")
    assert player.parameters["evaluator.rank"] == "1"
    for text in ("0", "10", "40k", "dan"):
        with pytest.raises(ValueError, match=r"a rank from \w+ to 9d|is not a rank: say 5d or 15k"):
            player.set_parameter("evaluator.rank", text)
    assert "evaluator.rank" not in load_player("shapes-9").parameters


def test_thinking_ends_with_the_decision(player):
    *before, last = player.think(Game(5), Limit(), Event())
    assert len(before) == 2, "one for each depth before the last"
    assert last.move == player.decide(Game(5), Limit()).move
    stop = Event()
    stop.set()
    assert len(list(player.think(Game(5), Limit(depth=60), stop))) == 1


def test_thinking_with_a_search_that_does_not_deepen(player):
    greedy = SearchPlayer("greedy", GreedySearch(player.evaluator))
    (decision,) = greedy.think(Game(5), Limit(), Event())
    assert len(decision.analysis.candidates) == 25, "every move it considered"


def test_over_gtp(player):
    engine = GtpEngine(player, size=5)

    def ask(line: str) -> str:
        answer = engine.answer(line).decode()
        assert answer.startswith("="), answer
        return answer[1:].strip()

    assert ask("kata-set-param limit.depth 2") == ""
    assert json.loads(ask("kata-get-params"))["limit.depth"] == 2
    assert engine.answer("kata-set-param limit.depth 0").startswith(b"? unacceptable value")
    ask("play b C3")
    lines = ask("kata-genmove_analyze w interval 0 maxmoves 3").splitlines()
    assert len(lines) == 3, "two depths and the move"
    assert lines[-1].startswith("play ")
    raw = ask("kata-raw-nn all").split()
    assert raw.count("symmetry") == 8
    values = {raw[index + 1] for index, word in enumerate(raw) if word == "whiteWin"}
    assert len({value[:6] for value in values}) == 1, "shapes are shared by symmetry"
    assert len(ask("katachi-shapes").splitlines()) > 3
    assert len(ask("katachi-stone_values").splitlines()) == 5
