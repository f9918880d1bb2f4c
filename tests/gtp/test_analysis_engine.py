"""KataGo's analysis protocol: what tools ask, what goes wrong, and which comes first."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from katachi.core.conformance import sample_games
from katachi.core.contracts import Analysis, Candidate, Decision, Limit
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import PASS, format_vertex, parse_vertex
from katachi.go.rules import parse_rules
from katachi.gtp.analysis_engine import AnalysisEngine, Defaults, Perspective, QueryError, parse_query
from katachi.players import asking
from katachi.players.specs import load_player

Answer = dict[str, Any]


def query(query_id: str = "q", **fields: Any) -> Answer:
    """A query about an empty 3×3 board, with these fields."""
    return {"id": query_id, "moves": [], "rules": "chinese", "boardXSize": 3, "boardYSize": 3} | fields


def ask(player: Any, *queries: Answer | bytes) -> list[Answer]:
    """All answers to lines that were all there before the first was read."""
    lines = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in queries]
    output = io.BytesIO()
    AnalysisEngine(player).serve(io.BytesIO(b"\n".join(lines)), output)
    return [json.loads(line) for line in output.getvalue().splitlines()]


@pytest.fixture
def first(players):
    return players["first"]()


def test_an_answer_has_katagos_fields(first):
    (answer,) = ask(first, query(includeOwnership=True, includeOwnershipStdev=True, includePolicy=True))
    assert answer["id"] == "q"
    assert answer["turnNumber"] == 0
    assert answer["isDuringSearch"] is False
    best, second, _ = answer["moveInfos"]
    assert (best["move"], best["order"], best["visits"], best["prior"]) == ("A3", 0, 100, 0.5)
    assert (best["winrate"], best["scoreLead"], best["scoreMean"]) == (0.75, 2.5, 2.5)
    assert best["pv"] == ["A3", "pass"]
    assert best["lcb"] == pytest.approx(0.66513, abs=1e-5)
    assert best["utility"] == 0.5
    assert best["utilityLcb"] == pytest.approx(0.33026, abs=1e-5)
    assert (second["move"], second["order"]) == ("B3", 1)
    root = answer["rootInfo"]
    assert (root["currentPlayer"], root["visits"], root["winrate"], root["scoreLead"]) == ("B", 175, 0.75, 2.5)
    assert answer["ownership"] == [-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1]
    assert answer["ownershipStdev"][4] == 1
    priors = [4 / 7, 2 / 7, 1 / 7, 0, 0, 0, 0, 0, 0, 0]
    assert answer["policy"] == pytest.approx(priors, abs=1e-5), "the priors, for want of an evaluator"


def test_fields_are_left_out_unless_asked_for(first):
    (answer,) = ask(first, query())
    assert answer.keys() == {"id", "turnNumber", "isDuringSearch", "moveInfos", "rootInfo"}


@pytest.mark.parametrize(
    ("perspective", "winrate", "lead", "bound"),
    [("BLACK", 0.75, 2.5, 0.83487), ("WHITE", 0.25, -2.5, 0.16513), ("SIDETOMOVE", 0.25, -2.5, 0.16513)],
)
def test_values_are_those_of_the_wanted_side(first, perspective, winrate, lead, bound):
    settings = {"reportAnalysisWinratesAs": perspective}
    (answer,) = ask(first, query(initialPlayer="W", overrideSettings=settings, includeOwnership=True))
    best = answer["moveInfos"][0]
    assert (best["winrate"], best["scoreLead"]) == (winrate, lead)
    assert best["lcb"] == pytest.approx(bound, abs=1e-5), "a bound against the player to move, who is White"
    assert answer["ownership"][0] == (-1 if perspective == "BLACK" else 1)
    assert answer["rootInfo"]["currentPlayer"] == "W"


def test_the_policy_is_the_evaluators_and_minus_one_where_a_move_is_illegal(players):
    (answer,) = ask(players["evaluating"](), query(moves=[["B", "A3"]], includePolicy=True))
    policy = answer["policy"]
    assert policy[0] == -1
    assert sum(policy[1:]) == pytest.approx(1, abs=1e-5)
    assert policy[9] > policy[1]


@pytest.mark.parametrize("visits", [25, 100, 500])
def test_the_best_of_the_moves_listed_wins_as_often_as_the_position(visits):
    """Sabaki shows the most that any listed move wins as the win rate of the position."""
    people, strong = (
        load_player("policy-9 search.temperature=1", seed=3),
        load_player("strong-9 search.threads=1", seed=1),
    )
    game, moves = Game(9, parse_rules("chinese")), []
    for color in "BW" * 18:
        move = people.decide(game.copy(), Limit()).move
        game.play(move)
        moves.append([color, format_vertex(move, 9)])
    turns = range(0, 36, 5)
    asked = query(moves=moves, boardXSize=9, boardYSize=9, analyzeTurns=list(turns), maxVisits=visits)
    as_moving = {"reportAnalysisWinratesAs": "SIDETOMOVE"}
    excess = []
    for answer in ask(strong, asked | {"overrideSettings": as_moving}):
        root, infos = answer["rootInfo"], answer["moveInfos"]
        excess.append(max(info["winrate"] for info in infos) - root["winrate"])
        points = max(info["scoreLead"] for info in infos) - root["scoreLead"]
        assert -1 <= points <= 3, "leads are of the same kind"
        hardly = [info["winrate"] - root["winrate"] for info in infos if info["visits"] <= 2]
        assert max(hardly, default=0) <= 0.02, "of moves that were hardly looked at nobody knows better"
    assert np.max(np.abs(excess)) <= 0.02


def test_a_player_that_cannot_say_who_wins_is_an_error(players):
    (answer,) = ask(players["silent"](), query(includeOwnership=True, includePolicy=True))
    assert answer.keys() == {"error", "id", "turnNumber"}
    assert "silent cannot say who wins: take" in answer["error"]
    (answer,) = ask(load_player("random", seed=1), query())
    assert "random cannot say who wins" in answer["error"]


def test_what_a_player_does_not_know_is_left_out_with_a_warning(players):
    asked = [query(name, includeOwnership=True, includePolicy=True, includeMovesOwnership=True) for name in "ab"]
    warning, answer, again = ask(load_player("alp", seed=1), *asked)
    assert warning["warning"].startswith("alp does not tell ownership, policy, scoreLead, prior, ownership of moves: ")
    assert (warning["id"], warning["field"]) == ("a", "ownership")
    assert (answer["id"], again["id"]) == ("a", "b"), "it is said once"
    for values in (answer["rootInfo"], *answer["moveInfos"]):
        assert "winrate" in values
        assert not {"scoreLead", "scoreMean", "scoreStdev", "prior"} & values.keys()
    assert not {"ownership", "policy"} & answer.keys()


def test_owners_after_each_move(players):
    (answer,) = ask(players["evaluating"](), query(includeMovesOwnership=True, initialPlayer="W"))
    assert [info["ownership"] for info in answer["moveInfos"]] == 3 * [np.linspace(-1, 1, 9).tolist()]


def test_what_people_of_a_rank_would_play():
    """KataGo's name for it; the search is as without."""
    player = load_player("policy-9", seed=1)

    def asked(profile: str, **fields: Any) -> Answer:
        fields |= {"boardXSize": 9, "boardYSize": 9, "moves": [["B", "E5"], ["W", "E3"]]}
        return query(overrideSettings={"humanSLProfile": profile}, **fields)

    profiles = [asked(profile, includePolicy=True) for profile in ("rank_15k", "preaz_9d")]
    weak, strong, plain = ask(player, *profiles, asked(""))
    assert weak["humanPolicy"] != strong["humanPolicy"]
    assert weak["policy"] == strong["policy"]
    for answer in (weak, strong):
        human = answer["humanPolicy"]
        assert human[40] == -1
        assert sum(share for share in human if share > 0) == pytest.approx(1, abs=1e-3)
        first = answer["moveInfos"][0]
        assert first["humanPrior"] == human[parse_vertex(first["move"], 9)]
    assert not any("humanPrior" in info for info in plain["moveInfos"])
    wrong, far = ask(player, asked("proyear_1990"), asked("rank_99k"))
    assert "rank_5k" in wrong["error"]
    assert (far["field"], far["error"].split()[0]) == ("overrideSettings", "humanSLProfile:")
    (ignorant,) = ask(load_player("alp", seed=1), asked("rank_5k"))
    assert "knows no ranks" in ignorant["error"]


def test_turns(first):
    moves = [["B", "A3"], ["B", "(1,0)"], ["W", "pass"], ["W", "c3"]]
    answers = ask(first, query(moves=moves, analyzeTurns=[4, 0, 1, 2, 3]))
    found = {answer["turnNumber"]: answer for answer in answers}
    assert list(found) == [4, 0, 1, 2, 3], "turns of one priority in the order of the query"
    assert [found[turn]["rootInfo"]["currentPlayer"] for turn in range(5)] == ["B", "B", "W", "W", "B"]
    assert [found[turn]["moveInfos"][0]["move"] for turn in range(5)] == ["A3", "B3", "C3", "C3", "A2"]
    (last,) = ask(first, query(moves=moves))
    assert last["turnNumber"] == 4


def test_hashes():
    games = list(sample_games(sizes=[5]))
    turned = []
    for game in games:
        board = Board(5)
        stones = game.board.stones.reshape(5, 5).T.ravel()
        board.place((stones == 1).nonzero()[0], (stones == -1).nonzero()[0], to_play=game.to_play)
        turned.append(board)

    def root(board: Board) -> Answer:
        names = [f"({point % 5},{point // 5})" for point in range(25)]
        stones = [["B" if stone == 1 else "W", names[point]] for point, stone in enumerate(board.stones) if stone]
        asked = query(
            boardXSize=5, boardYSize=5, initialStones=stones, initialPlayer="B" if board.to_play == 1 else "W"
        )
        return ask(Passer(), asked)[-1]["rootInfo"]

    for game, board in zip(games, turned, strict=True):
        one, other = root(game.board), root(board)
        assert one["symHash"] == other["symHash"]
        assert (one["thisHash"] == other["thisHash"]) == (game.board.stones == board.stones).all()
        assert len(one["thisHash"]) == 32


class Passer:
    name = "passer"

    def decide(self, game, limit):
        return Decision(PASS, analysis=Analysis((Candidate(PASS, 0.5),), 0.5))


def test_set_up_stones_and_who_plays_first(players):
    stones = [["B", "A1"], ["B", "C1"]]
    parsed = parse_query(json.dumps(query(initialStones=stones, komi=0.5)).encode(), Defaults())
    assert parsed.start.to_play == -1, "after a handicap White plays"
    assert parsed.start.handicap == 2
    assert parsed.start.score() == 2 - 0.5 + 7 - 2, "Chinese rules give White the handicap"
    bonus = parse_query(json.dumps(query(initialStones=stones, komi=0.5, whiteHandicapBonus="0")).encode(), Defaults())
    assert bonus.start.score() == 2 - 0.5 + 7
    for fields, to_play in (
        ({"moves": [["W", "A1"]]}, -1),
        ({"initialPlayer": "w"}, -1),
        ({"initialStones": [["B", "A1"], ["W", "C1"]]}, 1),
        ({}, 1),
    ):
        assert parse_query(json.dumps(query(**fields)).encode(), Defaults()).start.to_play == to_play


def test_rules_and_komi():
    def rules(**fields: Any) -> tuple[str, float]:
        parsed = parse_query(json.dumps(query(**fields)).encode(), Defaults()).start
        return parsed.rules.name, parsed.komi

    assert rules() == ("chinese", 7.5)
    assert rules(rules="japanese") == ("japanese", 6.5)
    assert rules(rules="tromp-taylor", komi=-3) == ("tromp-taylor", -3)
    assert rules(rules={"ko": "SIMPLE", "suicide": True}, komi=0)[0] == "custom"


def test_a_record_is_analyzed_as_it_was_played(first):
    """A ko is taken back after two passes, which the query's superko forbids."""
    stones = [
        *(["B", vertex] for vertex in ("B4", "A3", "C3", "B2")),
        *(["W", vertex] for vertex in ("C4", "D3", "C2")),
    ]
    moves = [["W", "B3"], ["B", "pass"], ["W", "pass"], ["B", "C3"]]
    asked = query(boardXSize=4, boardYSize=4, initialStones=stones, moves=moves, rules="tromp-taylor")
    (answer,) = ask(first, asked | {"analyzeTurns": [4]})
    assert answer["moveInfos"][0]["move"] == "D4"
    (error,) = ask(first, asked | {"moves": [moves[0], ["B", "C3"]]})
    assert error["error"] == "Illegal move 1: C3 (ko)"


def test_limits():
    def limit(**fields: Any) -> Limit:
        return parse_query(json.dumps(query(**fields)).encode(), Defaults(Limit(simulations=7))).limit

    assert limit() == Limit(simulations=7)
    assert limit(maxVisits=100) == Limit(simulations=100)
    assert limit(maxVisits=100, overrideSettings={"maxTime": 2, "maxPlayouts": 50}) == Limit(50, None, 2)


def test_moves_can_be_left_out_or_chosen(first):
    def moves(**fields: Any) -> list[str]:
        return [info["move"] for info in ask(first, query(**fields))[0]["moveInfos"]]

    avoid = {"player": "B", "moves": ["A3", "C3"], "untilDepth": 1}
    assert moves(avoidMoves=[avoid]) == ["B3"]
    assert moves(avoidMoves=[avoid | {"player": "W"}]) == ["A3", "B3", "C3"]
    assert moves(avoidMoves=[avoid | {"moves": ["A3"]}, avoid | {"moves": ["B3", "pass"]}]) == ["C3"]
    assert moves(allowMoves=[avoid]) == ["A3", "C3"]
    assert moves(allowMoves=[avoid | {"moves": ["A1"]}]) == [], "nothing is made up about moves not considered"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"id": 3}, "id"),
        ({"moves": None}, "moves"),
        ({"moves": [["B", "A3"], ["W", "A3"]]}, "moves"),
        ({"moves": [["B"]]}, "moves"),
        ({"moves": [["red", "A3"]]}, "moves"),
        ({"moves": [[1, "A3"]]}, "moves"),
        ({"moves": [["B", "(3,0)"]]}, "moves"),
        ({"moves": [["B", "D4"]]}, "moves"),
        ({"rules": "chinse"}, "rules"),
        ({"rules": {"ko": 1}}, "rules"),
        ({"rules": 3}, "rules"),
        ({"komi": 0.3}, "komi"),
        ({"komi": 151}, "komi"),
        ({"boardXSize": 20, "boardYSize": 20}, "boardXSize"),
        ({"boardXSize": 1, "boardYSize": 1}, "boardXSize"),
        ({"boardYSize": 4}, "boardYSize"),
        ({"boardXSize": "3"}, "boardXSize"),
        ({"initialStones": [["B", "pass"]]}, "initialStones"),
        (
            {"initialStones": [["B", v] for v in ("A1", "A2", "A3", "B1", "B2", "B3", "C1", "C2", "C3")]},
            "initialStones",
        ),
        ({"initialPlayer": "X"}, "initialPlayer"),
        ({"whiteHandicapBonus": "N+1"}, "whiteHandicapBonus"),
        ({"analyzeTurns": [1]}, "analyzeTurns"),
        ({"analyzeTurns": [-1]}, "analyzeTurns"),
        ({"analyzeTurns": [0], "priorities": [1, 2]}, "priorities"),
        ({"maxVisits": 0}, "maxVisits"),
        ({"maxVisits": 1.5}, "maxVisits"),
        ({"priority": "high"}, "priority"),
        ({"includePolicy": 1}, "includePolicy"),
        ({"reportDuringSearchEvery": 0}, "reportDuringSearchEvery"),
        ({"avoidMoves": [{"player": "B", "moves": ["A3"]}]}, "avoidMoves"),
        ({"avoidMoves": [{"player": "B", "moves": ["Q9"], "untilDepth": 1}]}, "avoidMoves"),
        ({"avoidMoves": [{"player": "B", "moves": ["A3"], "untilDepth": 0}]}, "avoidMoves"),
        ({"allowMoves": [{"player": c, "moves": ["A3"], "untilDepth": 1} for c in "BW"]}, "allowMoves"),
        ({"overrideSettings": {"maxTime": -1}}, "overrideSettings"),
        ({"overrideSettings": {"reportAnalysisWinratesAs": "GREEN"}}, "overrideSettings"),
        ({"overrideSettings": []}, "overrideSettings"),
        ({"includePVVisits": "yes"}, "includePVVisits"),
        ({"action": "dance"}, "action"),
        ({"action": "terminate"}, "terminateId"),
        ({"action": "terminate", "terminateId": "q", "turnNumbers": 1}, "turnNumbers"),
    ],
)
def test_errors_name_the_field_and_the_id(first, fields, field):
    error, good = ask(first, query() | fields, query("good"))
    assert error["field"] == field
    assert isinstance(error["error"], str)
    assert error.get("id") == (None if field == "id" else "q")
    assert good["id"] == "good"


def test_illegal_moves_are_called_so(first):
    (error,) = ask(first, query(moves=[["B", "A3"], ["W", "A3"]]))
    assert error["error"] == "Illegal move 1: A3 (occupied)", "KaTrain looks for the first two words"


@pytest.mark.parametrize("line", [b"nonsense", b"{", b"[1]", b"3", b"null", b"[" * 100_000, b"\xff\xfe", b'{"a":NaN}'])
def test_lines_that_are_no_objects(first, line):
    error, good = ask(first, line, query("good"))
    assert error.keys() == {"error"}
    assert good["id"] == "good"


BAD_NUMBERS = [b"1e999", b"-1e999", b"NaN", b"Infinity", b"9" * 5000]
DEEP = [b"[" * depth + b"]" * depth for depth in (201, 900, 960, *range(970, 1000), 5000)]


@pytest.mark.parametrize("value", [*BAD_NUMBERS, *DEEP], ids=lambda value: f"{value[:3].decode()}-{len(value)}")
@pytest.mark.parametrize("place", [b'{"id":"q","action":"clear_cache","x":%s}', b'{"id":"q","rules":{"ko":%s}}'])
def test_no_value_ends_the_reader(first, place, value):
    error, good = ask(first, place % value, query("good"))
    assert error["error"].startswith("Could not parse input line as json: ")
    assert good["id"] == "good"


def test_whatever_goes_wrong_with_a_line_the_next_is_answered(first, monkeypatch):
    def fail(*_: object) -> None:
        raise RecursionError("deeper than anybody thought")

    monkeypatch.setattr(asking, "describe_models", fail)
    error, good = ask(first, {"id": "m", "action": "query_models"}, query("good"))
    assert error == {"error": "RecursionError: deeper than anybody thought", "id": "m"}
    assert good["id"] == "good"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
def test_a_full_disk_ends_the_engine(first):
    with Path("/dev/full").open("wb", buffering=0) as full:
        AnalysisEngine(first).serve(io.BytesIO(b"nonsense\n" * 3), full)
        with pytest.raises(OSError, match="No space"):
            AnalysisEngine(first).serve(io.BytesIO(json.dumps(query()).encode()), full)


def test_warnings_do_not_keep_a_query_from_its_answer(first):
    warning, unknown, answer = ask(first, query(foo=1, overrideSettings={"wideRootNoise": 0.1}))
    assert warning == {"warning": "Unexpected or unused field", "field": "foo", "id": "q"}
    assert (unknown["field"], unknown["id"]) == ("overrideSettings", "q")
    assert "wideRootNoise" in unknown["warning"]
    assert answer["isDuringSearch"] is False


def test_a_player_that_fails_is_an_error_of_its_turn(players):
    answers = ask(players["raising"](), query("a"), query("b"))
    assert answers == [{"error": "RuntimeError: out of ideas", "id": name, "turnNumber": 0} for name in ("a", "b")]


def test_actions(players):
    player = players["evaluating"]()
    version, models, cache = ask(
        player,
        {"id": "v", "action": "query_version"},
        {"id": "m", "action": "query_models", "extra": [1]},
        {"id": "c", "action": "clear_cache"},
    )
    assert version.keys() == {"id", "action", "version", "git_hash"}
    assert models["models"][0]["name"] == "evaluating"
    assert models["extra"] == [1], "the query comes back as it was"
    assert cache == {"id": "c", "action": "clear_cache"}


# In flight


class SlowPlayer:
    """Analyzes until it is told to stop, or let go on."""

    name = "slow"

    def __init__(self) -> None:
        self.begun = Event()
        self.go_on = Event()

    def decide(self, game, limit):
        return Decision(PASS)

    def analyze(self, game, limit, stop):
        visits = 0
        self.begun.set()
        while not (stop.is_set() or self.go_on.is_set()):
            visits += 1
            yield Analysis((Candidate(PASS, 0.5, 1.0, visits),), 0.5, 1.5)
            stop.wait(0.002)
        yield Analysis((Candidate(PASS, 0.5, 1.0, visits + 1),), 0.5, 1.5)


class Conversation:
    """An engine on a thread, over pipes."""

    def __init__(self, player: Any) -> None:
        their_input, to_engine = os.pipe()
        from_engine, their_output = os.pipe()
        self._their_streams = (os.fdopen(their_input, "rb"), os.fdopen(their_output, "wb", buffering=0))
        self.input = os.fdopen(to_engine, "wb", buffering=0)
        self.output = os.fdopen(from_engine, "rb")
        self.thread = Thread(target=AnalysisEngine(player).serve, args=self._their_streams, daemon=True)
        self.thread.start()

    def send(self, *queries: Answer) -> None:
        self.input.write(b"".join(json.dumps(one).encode() + b"\n" for one in queries))

    def receive(self, count: int) -> list[Answer]:
        return [json.loads(self.output.readline()) for _ in range(count)]

    def end(self) -> None:
        self.input.close()
        self.thread.join(20)
        assert not self.thread.is_alive()
        for stream in (self.output, *self._their_streams):
            stream.close()


@pytest.fixture
def slow() -> SlowPlayer:
    return SlowPlayer()


@pytest.fixture
def conversation(slow) -> Iterator[Conversation]:
    made = Conversation(slow)
    yield made
    slow.go_on.set()
    made.end()


def test_the_highest_priority_comes_first_and_the_earliest_of_these(conversation, slow):
    conversation.send(query("running"))
    assert slow.begun.wait(20)
    asked = [("low", -1), ("early", 0), ("late", 0), ("high", 5)]
    conversation.send(*(query(name, priority=priority) for name, priority in asked))
    turns = query("turns", moves=[["B", "A1"], ["W", "B1"]], analyzeTurns=[0, 1, 2], priorities=[1, 3, 2])
    conversation.send(turns, {"id": "v", "action": "query_version"})
    assert conversation.receive(1)[0]["id"] == "v", "an action does not wait"
    slow.go_on.set()
    found = [(answer["id"], answer["turnNumber"]) for answer in conversation.receive(8)]
    assert found[0][0] == "running"
    assert found[1:] == [
        ("high", 0), ("turns", 1), ("turns", 2), ("turns", 0), ("early", 0), ("late", 0), ("low", 0),
    ]  # fmt: skip


def test_terminating_the_one_at_work_and_those_that_wait(conversation, slow):
    conversation.send(query("a"), query("b", moves=[["B", "A1"]], analyzeTurns=[0, 1]), query("c"))
    assert slow.begun.wait(20)
    conversation.send({"id": "t", "action": "terminate", "terminateId": "b", "turnNumbers": [1]})
    acknowledged, dropped = conversation.receive(2)
    assert acknowledged["id"] == "t"
    assert dropped == {"id": "b", "turnNumber": 1, "isDuringSearch": False, "noResults": True}
    conversation.send({"id": "t", "action": "terminate", "terminateId": "a"})
    acknowledged, found = conversation.receive(2)
    assert (found["id"], found["isDuringSearch"]) == ("a", False)
    assert found["rootInfo"]["visits"] > 0, "what was found before is told"
    conversation.send({"id": "all", "action": "terminate_all"})
    rest = {(answer["id"], answer.get("turnNumber")) for answer in conversation.receive(3)}
    assert rest == {("all", None), ("b", 0), ("c", 0)}


def test_reports_during_the_search(conversation, slow):
    conversation.send(query(reportDuringSearchEvery=0.005))
    reports = conversation.receive(3)
    assert all(report["isDuringSearch"] for report in reports)
    visits = [report["rootInfo"]["visits"] for report in reports]
    assert visits == sorted(set(visits))
    slow.go_on.set()
    while (answer := conversation.receive(1)[0])["isDuringSearch"]:
        pass
    assert answer["rootInfo"]["visits"] > visits[-1]


def test_the_end_of_the_input_waits_for_the_answers(slow):
    conversation = Conversation(slow)
    conversation.send(query("a"), query("b"))
    assert slow.begun.wait(20)
    conversation.input.close()
    slow.go_on.set()
    assert [answer["id"] for answer in conversation.receive(2)] == ["a", "b"]
    conversation.end()


def test_the_end_of_the_input_need_not_wait(slow):
    output = io.BytesIO()
    lines = b"\n".join(json.dumps(query(name)).encode() for name in "abc")
    AnalysisEngine(slow).serve(io.BytesIO(lines), output, waits=False)
    assert len(output.getvalue().splitlines()) <= 1


def test_nobody_reads(first):
    class Gone(io.BytesIO):
        def write(self, data):
            raise BrokenPipeError

    lines = b"\n".join([b"nonsense", json.dumps(query()).encode()])
    AnalysisEngine(first).serve(io.BytesIO(lines), Gone())


# As a tool would


def test_a_game_as_katrain_asks_about_it(conversation, slow):
    """A new game while the last one is still looked at: its queries are dropped, those of the new one are answered."""

    def asked(query_id: str, moves: list[list[str]], **fields: Any) -> Answer:
        return {
            "id": query_id,
            "rules": "japanese",
            "priority": 1,
            "analyzeTurns": [len(moves)],
            "maxVisits": 500,
            "komi": 6.5,
            "boardXSize": 9,
            "boardYSize": 9,
            "includeOwnership": True,
            "includeMovesOwnership": True,
            "includePolicy": True,
            "initialStones": [],
            "initialPlayer": "B",
            "moves": moves,
            "overrideSettings": {"reportAnalysisWinratesAs": "BLACK", "maxTime": 8.0},
        } | fields

    conversation.send(asked("QUERY:1", []), asked("QUERY:2", [["B", "E5"]]))
    assert slow.begun.wait(20)
    conversation.send(*({"id": f"QUERY:{n + 2}", "action": "terminate", "terminateId": f"QUERY:{n}"} for n in (1, 2)))
    ended = {answer["id"] for answer in conversation.receive(5)}  # one of them is a warning
    assert ended == {"QUERY:1", "QUERY:2", "QUERY:3", "QUERY:4"}
    slow.go_on.set()
    moves = [["B", "C3"], ["W", "G7"], ["B", "pass"]]
    conversation.send(asked("QUERY:5", moves, priority=2, reportDuringSearchEvery=1.0))
    conversation.send(asked("QUERY:6", [*moves, ["W", "C3"]], priority=2))
    answers = {answer["id"]: answer for answer in conversation.receive(2)}
    assert answers["QUERY:5"]["turnNumber"] == 3
    assert answers["QUERY:5"]["rootInfo"]["currentPlayer"] == "W"
    assert "Illegal move" in answers["QUERY:6"]["error"]
    for info in answers["QUERY:5"]["moveInfos"]:
        assert {"move", "visits", "winrate", "scoreLead", "pv", "order", "prior"} <= info.keys()


def test_the_command():
    lines = "\n".join(json.dumps(one) for one in (query(), query("w", initialPlayer="W"), {"id": "bad"}))
    command = [sys.executable, "-c", "from katachi.cli import main; main()", "analysis-engine"]
    done = subprocess.run(
        [*command, "influence", "--report-as", "sidetomove"], input=lines, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert answers["bad"]["field"] == "moves"
    assert answers["q"]["rootInfo"]["winrate"] > 0.5
    assert answers["w"]["rootInfo"]["winrate"] == pytest.approx(answers["q"]["rootInfo"]["winrate"])


# Whatever comes

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 400)
    | st.floats()
    | st.sampled_from(["B", "w", "A1", "pass", "chinese", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(
    ["id", "moves", "rules", "boardXSize", "boardYSize", "initialStones", "initialPlayer", "komi", "analyzeTurns",
     "maxVisits", "priority", "priorities", "includePolicy", "avoidMoves", "allowMoves", "overrideSettings", "action",
     "terminateId", "turnNumbers", "whiteHandicapBonus", "reportDuringSearchEvery"]
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.lists(st.dictionaries(names, values, max_size=4), max_size=4), st.binary(max_size=40))
def test_any_fields_are_answered(changes, noise):
    """An answer, an error or an acknowledgment for every line, in JSON, and the engine ends."""
    lines = [json.dumps(query() | change).encode() for change in changes]
    output = io.BytesIO()
    AnalysisEngine(Passer()).serve(io.BytesIO(b"\n".join([*lines, noise.replace(b"\n", b"")])), output)
    answers = [json.loads(line) for line in output.getvalue().splitlines()]
    ended = [answer for answer in answers if "warning" not in answer]
    assert len(ended) >= sum(change.get("analyzeTurns") != [] for change in changes)
    assert not any("Error:" in answer.get("error", "") for answer in answers), "an error of ours, not of the query"


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(names, values, max_size=6))
def test_a_query_is_read_or_refused(change):
    text = json.dumps(query() | change).encode()
    with suppress(QueryError):
        parsed = parse_query(text, Defaults(perspective=Perspective.WHITE))
        assert all(parsed.position(turn).size == parsed.start.size for turn in parsed.turns)
