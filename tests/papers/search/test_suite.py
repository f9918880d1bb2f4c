"""Positions with one best move: how they are chosen, kept and solved."""

from __future__ import annotations

import json
from collections.abc import Collection

import numpy as np
import pytest

from helpers.small_sets import make_small_set
from katachi.core.contracts import Analysis, Ban, Decision, Evaluation, Limit
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE, parse_vertex
from katachi.papers.documents import format_section
from katachi.papers.experiment import Budget, ExperimentError, Workers
from katachi.papers.search import positions as suite
from katachi.papers.search.positions import (
    Positions,
    Suite,
    ask,
    compare,
    find_positions,
    find_swings,
    format_position,
    read_suite,
)
from katachi.players.specs import load_player

SIMULATIONS = 400


class Says:
    """A player that has one opinion on every position: a move, and P(Black wins) with it and without it."""

    name = "says"

    def __init__(self, move: str, best: float, second: float) -> None:
        self._move, self._best, self._second = parse_vertex(move, 9), best, second
        self.limits: list[int | None] = []

    def decide(self, game: Game, limit: Limit) -> Decision:
        self.limits.append(limit.simulations)
        return Decision(self._move, analysis=Analysis((), self._best))

    def without(self, bans: Collection[Ban]) -> Says:
        assert list(bans) == [Ban(self.asked_by, self._move)]
        return Says("pass", self._second, 0.0)

    asked_by = BLACK


CLEAR = Says("E5", 0.8, 0.5)


def test_the_bundled_suite_is_diagrams_with_legal_answers():
    problems = read_suite(suite.SUITE)
    assert len(problems) == 233
    assert len({(problem.game.board.stones.tobytes(), problem.game.to_play) for problem in problems}) == 233
    for problem in problems:
        assert problem.game.size == 9
        assert problem.answer != PASS
        assert problem.game.is_legal(problem.answer)
        assert not problem.game.moves, "no game of people is in it"


def test_a_gap_is_to_a_search_without_the_move():
    assert ask(CLEAR, Game(9), 100) == (parse_vertex("E5", 9), 0.8, 0.5)
    white = Says("E5", 0.3, 0.8)
    white.asked_by = WHITE
    game = Game(9)
    game.to_play = WHITE
    assert ask(white, game, 100)[1:] == pytest.approx((0.7, 0.2))


@pytest.mark.parametrize(("player", "why"), [("random", "cannot do without a move"), ("shapes-9", "no gap")])
def test_who_is_not_an_analyst(player, why):
    if why == "no gap":
        assert ask(load_player(player, seed=1), Game(9), 10).gap == 0, "it looks at all moves, whatever it may play"
        return
    with pytest.raises(ExperimentError, match=why):
        ask(load_player(player, seed=1), Game(9), 10)


@pytest.fixture
def look(monkeypatch):
    """Look at the positions after one and two moves with two analysts, where the patterns play A1 or another move."""

    def look(first: Says, second: Says, by_patterns: str = "A1", positions: int = 1):
        games = []
        for plies in range(1, positions + 1):
            game = Game(9)
            for move in ("G3", "G4", "G5", "G6")[:plies]:
                game.play(parse_vertex(move, 9))
            game.to_play = 1
            games.append(game)
        monkeypatch.setattr(suite, "_positions", lambda *_: iter(games))
        monkeypatch.setattr(suite, "build_player", lambda values, seed: {"first": first, "second": second}[values])
        monkeypatch.setattr(suite, "first_by_patterns", lambda game: parse_vertex(by_patterns, 9))
        found = find_positions(9, ["first", "second"], [SIMULATIONS, SIMULATIONS], 1)
        return [found[what] for what in ("looked at", "clear at first", "clear")], found["kept"]

    return look


def test_what_both_find_is_kept(look):
    counts, kept = look(CLEAR, CLEAR)
    assert counts == [1, 1, 1]
    assert kept == [{"moves": [parse_vertex("G3", 9), parse_vertex("E5", 9)], "found": [(0.8, 0.5), (0.8, 0.5)]}]
    assert CLEAR.limits[-3:] == [SIMULATIONS // 20, SIMULATIONS, SIMULATIONS]


@pytest.mark.parametrize(
    ("first", "second", "by_patterns", "counts"),
    [
        (CLEAR, CLEAR, "E5", [1, 0, 0]),  # no riddle
        (Says("pass", 0.8, 0.5), CLEAR, "A1", [1, 0, 0]),
        (Says("E5", 0.8, 0.75), CLEAR, "A1", [1, 0, 0]),
        (Says("E5", 0.8, 0.68), CLEAR, "A1", [1, 1, 0]),  # clear enough to look twice
        (CLEAR, Says("D4", 0.8, 0.5), "A1", [1, 1, 1]),  # the other disagrees
        (CLEAR, Says("E5", 0.8, 0.76), "A1", [1, 1, 1]),  # or is not sure
    ],
)
def test_what_is_dismissed(look, first, second, by_patterns, counts):
    assert look(first, second, by_patterns) == (counts, [])


def test_few_positions_of_one_game(look):
    counts, kept = look(CLEAR, CLEAR, positions=4)
    assert (counts[0], len(kept)) == (2, 2)


def _write(path, *answers: str):
    moves = [parse_vertex(vertex, 5) for vertex in ("C3", "C2", "B2")]
    kept = [{"moves": [*moves, parse_vertex(vertex, 5)], "found": [[0.8, 0.5], [0.7, 0.4]]} for vertex in answers]
    path.write_text("".join(format_position(5, each) for each in kept))
    return path


def test_a_suite_is_diagrams_with_their_answers(tmp_path):
    problems = read_suite(_write(tmp_path / "suite.sgf", "D2", "D3"))
    assert [problem.answer for problem in problems] == [parse_vertex("D2", 5), parse_vertex("D3", 5)]
    expected = Game(5)
    for vertex in ("C3", "C2", "B2"):
        expected.play(parse_vertex(vertex, 5))
    assert all(problem.game.board == expected.board and not problem.game.moves for problem in problems)
    assert "C[D3 wins 80% and 70% by two analysts, 50% and 40% without it]" in (tmp_path / "suite.sgf").read_text()
    with pytest.raises(ExperimentError, match="make one by --table positions"):
        read_suite(tmp_path / "none.sgf")


@pytest.fixture
def searcher(tmp_path):
    def make(simulations: int) -> str:
        path = tmp_path / f"at-{simulations}.toml"
        path.write_text(
            f'kind = "search"\n[search]\nkind = "mcts"\nthreads = 1\n[limit]\nsimulations = {simulations}\n'
        )
        return str(path)

    return make


def test_players_solve_a_suite_and_resume(make_scope, searcher, tmp_path):
    own = _write(tmp_path / "own.sgf", "A1", "E1", "A5", "E5")
    models = (searcher(20), searcher(40))
    results = Suite().measure(make_scope(data=own, models=models))
    found = results["sizes"]["5"]
    assert found["positions"] == 4
    assert {name: len(solved) for name, solved in found["solved"].items()} == {"at-20": 4, "at-40": 4}
    assert sum(found["solved"]["at-40"]) <= 1, "one position has one best move"
    folder = make_scope().folder
    files = {path: path.stat().st_mtime_ns for path in folder.glob("*.json")}
    assert Suite().measure(make_scope(data=own, models=models, workers=Workers(2))) == results
    assert {path: path.stat().st_mtime_ns for path in folder.glob("*.json")} == files, "nothing is solved again"
    rows = list(Suite().rows(json.loads(json.dumps(results))))
    assert [row.id for row in rows] == ["suite/5/at-20", "suite/5/at-40"]
    assert "5×5, 4 positions" in format_section(Suite(), results, tmp_path)


def test_a_position_is_solved_by_its_answer_alone(make_scope, searcher, tmp_path, monkeypatch):
    class D2:
        name = "d2"

        def decide(self, game: Game, limit: Limit) -> Decision:
            assert np.count_nonzero(game.board.stones) == 3, "the answer is not shown"
            return Decision(parse_vertex("D2", 5))

    monkeypatch.setattr(suite, "build_player", lambda values, seed: D2())
    own = _write(tmp_path / "own.sgf", "D2", "D3", "pass")
    results = Suite().measure(make_scope(data=own, models=(searcher(20),)))
    assert results["sizes"]["5"]["solved"] == {"at-20": [1, 0, 0]}


def test_who_solves_what_the_other_does_not():
    alone, difference = compare([1, 1, 0, 0], [1, 0, 1, 1])
    assert alone == "2 : 1"
    assert difference.startswith("25 (")


def test_positions_are_looked_for_in_games_of_each_size(make_scope, searcher, monkeypatch):
    monkeypatch.setattr(suite, "SIZES", (5, 7))
    monkeypatch.setattr(suite, "_MOST_POSITIONS", 3)
    monkeypatch.setattr(suite, "ANALYSED_AT", {Budget.SMOKE: 20})
    scope = make_scope(models=(searcher(20), searcher(40)), runs=2)
    results = Positions().measure(scope)
    assert [(found["size"], found["games"], found["looked at"]) for found in results["sources"]] == [
        (5, 2, 6),
        (7, 2, 6),
    ]
    kept = sum(found["kept"] for found in results["sources"])
    assert len(read_suite(scope.folder / "suite.sgf")) == kept
    assert [row.ours for row in Positions().rows(results)] == [found["kept"] for found in results["sources"]]
    assert "at-20" in format_section(Positions(), results, scope.folder)
    with pytest.raises(ExperimentError, match="two analysts are needed on 5×5, and 1 are given"):
        Positions().measure(make_scope(models=(searcher(20),)))


def test_positions_are_looked_for_in_recorded_games(make_scope, searcher, monkeypatch, tmp_path):
    data = make_small_set(tmp_path, training=1, validation=4, test=1)
    monkeypatch.setattr(suite, "_MOST_POSITIONS", 3)
    monkeypatch.setattr(suite, "ANALYSED_AT", {Budget.SMOKE: 20})
    scope = make_scope(models=(searcher(20), searcher(40)), runs=2, data=data)
    results = Positions().measure(scope)
    (found,) = results["sources"]
    assert (found["source"], found["games"]) == (data.name, 2)
    assert 2 <= found["looked at"] <= 6
    monkeypatch.setattr(suite, "SIZES", (5,))
    both = Positions().measure(make_scope(models=(searcher(20), searcher(40)), runs=1))
    assert [other["source"] for other in both["sources"]] == ["", data.name], "what was found before stays"
    text = format_section(Positions(), both, scope.folder)
    assert f"games of `{data.name}`" in text
    assert "games of `level-6` against itself" in text


def test_a_diagram_with_a_ko_is_left_out(make_scope, monkeypatch):
    """Black has just taken a ko, and White may not take it back: a diagram would not say so."""
    ko = [parse_vertex(vertex, 5) for vertex in ("B4", "C4", "B2", "C2", "A3", "D3", "E5", "B3", "C3")]
    found = [[0.8, 0.5], [0.7, 0.4]]
    kept = [{"moves": [*ko[:plies], parse_vertex("E1", 5)], "found": found} for plies in (5, 9)]
    monkeypatch.setattr(suite, "do_runs", lambda *_: [dict.fromkeys(suite._DISMISSED, 2) | {"kept": kept}])
    monkeypatch.setattr(suite, "SIZES", (5,))
    monkeypatch.setattr(Positions, "_analysts", lambda *_: [{"limit": {"simulations": 1}}] * 2)
    scope = make_scope(runs=1)
    (found,) = Positions().measure(scope)["sources"]
    assert found["kept"] == 1
    assert len(read_suite(scope.folder / "suite.sgf")) == 1


def test_positions_are_looked_at_where_somebody_erred(monkeypatch):
    """Black's third move gives away 0.3, and White's answer nothing: the positions before and after it have a swing."""
    black_wins = np.array([0.5, 0.5, 0.5, 0.2, 0.22, 0.2], dtype=np.float32)
    asked = []

    class Network:
        def evaluate(self, boards):
            asked.append([int(np.count_nonzero(board.stones)) for board in boards])
            return Evaluation(black_wins, np.zeros((len(boards), 82), dtype=np.float32))

    monkeypatch.setattr(suite, "load_model", lambda name, options: Network())
    moves = [parse_vertex(move, 9) for move in ("E5", "C3", "G7", "C7", "G3")]
    swings = find_swings(moves, 9, {"model": "any", "precision": "int8"})
    assert asked == [[0, 1, 2, 3, 4, 5]]
    assert swings == pytest.approx([0, 0, 0.3, 0.3, 0.02], abs=1e-6)
    monkeypatch.setattr(suite, "_RANDOM_PLIES", 1)
    looked_at = suite._positions(9, 1, moves, {"evaluator": {"model": "any"}})
    assert sorted(len(game.moves) for game in looked_at) == [2, 3]
    without = suite._positions(9, 1, moves, {})
    assert sorted(len(game.moves) for game in without) == [1, 2, 3, 4]
