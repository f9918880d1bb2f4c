from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest

from katachi.core.cards import provenance
from katachi.data.dataset import Dataset
from katachi.go.board import Board
from katachi.go.points import BLACK, EMPTY, WHITE
from katachi.papers.documents import format_document, format_section
from katachi.papers.experiment import ExperimentError
from katachi.papers.wu2006 import EXPERIMENT
from katachi.papers.wu2006 import figures as bootstrap
from katachi.papers.wu2006 import figures as figure2
from katachi.papers.wu2006 import figures as figure3
from katachi.papers.wu2006 import tables as moves
from katachi.papers.wu2006 import tables as points
from katachi.papers.wu2006 import tables as status
from katachi.papers.wu2006 import tables as table2
from katachi.papers.wu2006.nets import even_games, learn, require_sets
from katachi.papers.wu2006.tables import Question
from katachi.sgf.files import Split
from katachi.territory.evaluator import Territory, load_territory
from katachi.territory.measure import evaluate_moves


def test_sets_that_cannot_be_learned_from_are_one_clear_sentence(make_scope, large_games):
    with pytest.raises(ExperimentError, match=r"give --data SET \(see: katachi data label --help\)"):
        require_sets(make_scope("table2", data=None, more_data=()))
    with pytest.raises(ExperimentError, match="none of these sets says who owned the points"):
        require_sets(make_scope("table2", data=large_games, more_data=()))
    with pytest.raises(ExperimentError, match="asks about 7×7 games: give such a set"):
        figure2.Figure2b().measure(make_scope("figure2b", more_data=()))


def test_even_games_have_no_handicap_and_strong_players(large_games):
    games = Dataset.open(large_games)
    games.games = games.games.copy()
    test = even_games(games, 7, Split.TEST)
    assert 3 <= test.size < games.select(7, Split.TEST).size
    assert not games.games["stones"][test].any()
    games.games["handicap"][test[0]] = 2
    assert even_games(games, 7, Split.TEST).tolist() == test[1:].tolist()
    games.games["lines"] = 19
    games.games["black_grade"] = games.games["white_grade"] = 6
    games.games["white_grade"][test[1]] = 5
    assert even_games(games, 19, Split.TEST).tolist() == test[2:].tolist()


def test_the_probability_of_moves_is_that_of_all_blocks_together(make_scope):
    scope = make_scope("table2")
    results = table2.Table2().measure(scope)
    assert list(results["boards"]) == ["9", "19"]  # there are no games of the middle size
    sets = require_sets(scope)
    net = learn("paper", sets, scope)
    asked = results["boards"]["19"]["asked"][0]
    games = sets.of_size(7)
    question = Question(7, 8, 11).pick(games, Split.TEST, 4)
    assert set(question.plies.tolist()) <= {7, 8, 9, 10}
    judged = evaluate_moves(load_territory(net.model)[0], games, question)
    likely = judged.log_likelihoods(asked["temperatures"][0])
    assert asked["moves"] == 4 > moves._BLOCK
    assert asked["mean_log"] == pytest.approx(likely.mean(), abs=1e-3)
    assert asked["random_log"] == pytest.approx(-np.log(judged.legal).mean())
    assert asked["top"][9] == (judged.places() < 10).sum()
    by_id = {row.id: row for row in table2.Table2().rows(results)}
    assert by_id["table2/19/paper/geometric"].ours == pytest.approx(math.exp(-likely.mean()), rel=0.01)
    assert by_id["table2/19/paper/geometric"].published == 15
    assert by_id["table2/19/paper/arithmetic"].published is None  # not what the paper's figure most probably is
    assert by_id["table2/19/paper/top-1"].ours == 100 * asked["top"][0] / asked["moves"]
    assert by_id["table2/19/random"].published == 281
    assert by_id["table2/19/paper, by mover/geometric"].published == 15
    assert by_id["table2/19/strong, by its policies/geometric"].published is None
    assert by_id["table2/9/random"].published is by_id["table2/9/paper/geometric"].published is None  # from memory
    among = asked["top"][29] / asked["moves"]
    assert (by_id["table2/19/paper/top-30"].published, by_id["table2/19/paper/top-30"].ours) == (50, 100 * among)


def asked_of(temperatures, **more):
    summary = moves._summarize(
        [{"log_likelihoods": [-2.0] * 2, "likelihoods": [0.2] * 2, "places": [0, 4], "legal": [9] * 2}]
    )
    return {"temperatures": temperatures, "games": 1, **summary, **more}


def test_a_temperature_at_an_edge_and_games_of_programs_are_marked(tmp_path):
    data = {"name": "ogs9", "size": 9, "games": 1, "test games": 1}
    nets = [{"title": "paper", "positions": 10}]
    boards = {
        "9": {"name": "ogs9", "asked": [asked_of([1.5, 0.02])]},  # the range was from 0.02 to 20 then
        "13": {"name": "engines13", "asked": [asked_of([1.5, 0.02], **{"at edge": [False, False]})]},
        "19": {
            "name": "strong",
            "players": "people",
            "asked": [asked_of([642.0, 0.0001], **{"at edge": [True, True]})],
        },
    }
    text = format_section(table2.Table2(), {"data": data, "nets": nets, "boards": boards}, tmp_path)
    lines = {line.split(",")[0].strip("| "): line for line in text.splitlines() if "×" in line and line.startswith("|")}
    small, middle, large = (line for line in text.splitlines() if line.startswith("| paper |"))
    assert "| – | 7 | 7.4 (7.4 … 7.4) | −2.00 | 1.5 | 5.0 (5.0 … 5.0) | ≤ 0.02 | 50 (" in small
    assert "| 0.02 |" in middle
    assert "| 15 | – |" in large
    assert "| ≥ 6.4e+02 |" in large
    assert "| ≤ 0.0001 |" in large
    assert "of `engines13`, between programs" in lines["13×13"]
    assert "of `ogs9`, between people" in lines["9×9"]
    assert "| Boltzmann5 (Stern et al.) |  | – | 254 |" in text
    assert "on 13×13 are of people; ours are between programs" in " ".join(text.split())


def test_places_are_told_best_when_the_best_moves_are_all_first():
    most = table2.best_by_places(0.5, 30, 281)
    rng = np.random.default_rng(0)
    others = np.full(251, 0.5 / 251)
    for first in (np.eye(30)[0], *rng.dirichlet(np.full(30, 0.1), size=50)):
        places = np.concatenate([0.5 * first, others])
        places = places[places > 0]
        geometric = math.exp((places * np.log(places)).sum())  # no probabilities of places fit these places better
        assert geometric <= most * (1 + 1e-12)
        assert (first[0] < 1) or geometric == pytest.approx(most)


def test_places_by_phase(make_scope):
    results = figure2.Figure2b().measure(make_scope("figure2b"))
    paper = results["nets"][0]["asked"]
    assert list(paper) == ["4", "8"]
    for asked, count in zip(paper.values(), (3, 4), strict=True):
        assert asked["top"] == sorted(asked["top"])
        assert asked["top"][-1] == asked["moves"] == count  # a board has fewer points than places are counted
    beside = table2.Table2().measure(make_scope("table2"))["boards"]["19"]["asked"]
    assert paper["8"] == beside[0]  # the same moves, and one number for what is said of them
    assert {row.id for row in figure2.Figure2b().rows(results)} >= {
        "figure2b/paper/4/top-1",
        "figure2b/strong/8/top-30",
    }


def test_errors_are_those_of_the_run(make_scope, run):
    results = figure2.Figure2a().measure(make_scope("figure2a"))
    kept = next((run / "nets").glob("paper-*")) / "metrics.jsonl"
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    assert [line["validation_loss"] for line in results["nets"][0]["lines"]] == [
        line["validation_loss"] for line in lines
    ]
    assert len(lines) == 10  # batches of 32: it measures after each
    by_id = {row.id: row.ours for row in figure2.Figure2a().rows(results)}
    last = results["nets"][1]["lines"][-1]
    assert by_id["figure2a/strong/last/4"] == round(last["validation_loss_4"], 2)


def test_the_position_shows_the_move_that_was_played(make_scope, tmp_path):
    results = figure3.Figure3().measure(make_scope("figure3"))
    assert results["stones"][results["played"]] == EMPTY
    assert 0 <= results["place"] < results["legal"] <= 49
    text = format_section(figure3.Figure3(), results, tmp_path)
    before, after = ((tmp_path / f"figure3-{when}.svg").read_text() for when in ("before", "after"))
    assert before != after
    assert "rgba(37,52,148" in before
    assert f"in place {results['place'] + 1} of {results['legal']}" in re.sub(r"\s+", " ", text)


def test_points_known_and_bootstrap(make_scope):
    known = points.Points().measure(make_scope("points"))
    (only,) = known["sets"]  # the other has no labels
    assert only["size"] == 5
    assert all(0 <= row.ours <= 100 and row.published is None for row in points.Points().rows(known))
    played = bootstrap.Bootstrap().measure(make_scope("bootstrap"))
    pairs = played["boards"]["5"]["pairs"]
    assert {pair["second"] for pair in pairs} == {"random", "alp"}
    assert {row.id for row in bootstrap.Bootstrap().rows(played)} == {
        "bootstrap/5/random",
        "bootstrap/5/alp",
        "bootstrap/5/known",
    }


def test_dead_chains_are_counted():
    board = Board.parse(". X O . O / X X O O . / . X X O O / X X X X X / . O . X .")
    owned = np.full(25, BLACK, dtype=np.int8)
    owned[[2, 3, 4, 7, 8, 9, 13, 14]] = WHITE  # the stone at the lower edge is dead

    class Expecting(Territory):
        def ownership(self, boards):
            assert boards == [board]
            return np.where(np.arange(25) == 21, WHITE, owned)[None].astype(np.float32)

    expecting = Expecting(None, None)  # type: ignore[arg-type]
    found = status.compare(expecting, board, owned)
    assert found == {"chains": 4, "playouts": 4, "network": 3, "disagree": 1, "network of these": 0}


def test_the_document_has_all_tables_and_pictures(make_scope, tmp_path):
    told = {"budget": "smoke", "program": provenance()}
    results = {table.name: table.measure(make_scope(table.name)) | told for table in EXPERIMENT.tables}
    text = format_document(EXPERIMENT, results, tmp_path)
    assert text.count("\n## ") == len(results)
    for picture in re.findall(r"\]\(wu2006/([^)]+)\)", text):
        assert (tmp_path / picture).exists()
    assert "averaged over the four flips" in re.sub(r"\s+", " ", text)
    assert max(map(len, (line for line in text.splitlines() if not line.startswith(("|", "!"))))) <= 120
