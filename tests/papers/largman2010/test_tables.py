from __future__ import annotations

import pytest

from katachi.core.cards import provenance
from katachi.core.models import load_model
from katachi.go.board import Board
from katachi.papers.documents import WIDTH, format_document, format_section
from katachi.papers.experiment import Budget, ExperimentError
from katachi.papers.largman2010 import EXPERIMENT, play
from katachi.papers.largman2010 import features as counts
from katachi.papers.largman2010 import features as kernels
from katachi.papers.largman2010 import features as winners
from katachi.papers.largman2010 import play as former
from katachi.papers.largman2010 import play as tournament
from katachi.papers.largman2010.play import Kind, crbm_training
from katachi.papers.largman2010.play import LearnedPlan as Plan

DATA = {"name": "gnugo", "size": 9, "games": 1000, "positions": 50_000, "test positions": 2_500}


def test_the_papers_feature_counts_are_ours(make_scope):
    results = counts.Counts().measure(make_scope("counts", data=None))
    assert [(row.published, row.ours) for row in counts.Counts().rows(results) if row.published] == [
        (5145, 5145),
        (5184, 5184),
    ]


def test_the_document(make_scope, tmp_path):
    tables = {table.name: table for table in EXPERIMENT.tables}
    origin = {"budget": "smoke", "program": provenance()}
    results = {name: tables[name].measure(make_scope(name)) | origin for name in ("counts", "kernels")}
    text = format_document(EXPERIMENT, results, tmp_path)
    assert "Measured here: counts, kernels." in " ".join(text.split())
    assert "## The number of features" in text
    assert "Beside these, counts of the paper that are the same here: 2." in text
    assert all(len(line) <= WIDTH for line in text.splitlines() if not line.startswith(("|", "!")))


def test_a_crbm_learns_from_no_more_windows_on_larger_boards():
    plan = Plan(30_000, 1, 1)
    assert [plan.boards(size) for size in (5, 9, 19)] == [30_000, 30_000, round(30_000 * 49 / 289)]
    small, large = (crbm_training(Kind.CRBM, 0, plan.boards(size), "games", size) for size in (9, 19))
    assert (small.batch, large.batch) == (100, 17)
    assert large.step_size == pytest.approx(small.step_size * 49 / 289)


def test_kinds_of_crbms():
    found = {
        kind: crbm_training(kind, 3, 100, "set", 9) for kind in (Kind.CRBM, Kind.ORIENTED, Kind.REAL, Kind.SOFTMAX)
    }
    assert {kind: (crbm.visible, crbm.units) for kind, crbm in found.items()} == {
        Kind.CRBM: ("multinomial", "binary"),
        Kind.ORIENTED: ("multinomial", "oriented-or-off"),
        Kind.REAL: ("real", "binary"),
        Kind.SOFTMAX: ("multinomial", "oriented"),
    }
    assert all((crbm.kernel_size, crbm.seed) == (3, 3) for crbm in found.values())
    assert [crbm.kernels for crbm in found.values()] == [105, 105, 105, 13]
    assert found[Kind.SOFTMAX].config.feature_count == 13 * 8 * 49  # about as many as of the others


def test_tables_that_learn_need_games(make_scope):
    for table in (play.Play(), former.Former(), winners.Winners(), kernels.Kernels()):
        with pytest.raises(ExperimentError, match="give --data SET"):
            table.measure(make_scope(table.name, data=None))


# Games


def test_all_kinds_play_each_other_with_both_rules_of_eyes(make_scope, run):
    results = play.Play().measure(make_scope("play"))
    assert len(results["scores"]) == 2 * 3
    assert all(score["games"] == 2 and score["won"] <= score["decided"] <= 2 for score in results["scores"])
    (players,) = (run / "play").glob("players-200-4-1-*")
    spec = (players / "crbm-0-filling.toml").read_text()
    assert "epsilon = 0.1\nfills_eyes = true\nmay_pass = true" in spec
    assert "fills_eyes = false" in (players / "templates-0.toml").read_text()
    folders = sorted((run / "play").glob("*-round-*"))
    assert len(folders) == 2
    for folder in folders:
        config = (folder / "config.toml").read_text()
        assert "komi = 5.5" in config
        assert "max_moves = 100" in config
        assert "random_plies = 0" in config


def test_the_arms_undo_one_thing_each(make_scope, run, tmp_path):
    results = play.Arms().measure(make_scope("arms"))
    assert {(score["first"], score["second"]) for score in results["scores"]} == {
        ("crbm", "templates-centered"),
        ("crbm-squared", "templates-squared"),
        ("softmax-crbm", "templates"),
    }
    assert all(score["games"] == 2 for score in results["scores"])
    values = {path.name.split("-0-")[0]: path / "value" for path in (run / "learned").glob("*-0-200-4-1-*/")}
    assert 'gradient = "squared"' in (values["crbm-squared"] / "config.toml").read_text()
    assert 'gradient = "squared"' in (values["templates-squared"] / "config.toml").read_text()
    assert 'gradient = "logistic"' in (values["crbm"] / "config.toml").read_text()
    assert "/crbm-0-" in (values["crbm-squared"] / "config.toml").read_text()  # the same features
    centered = load_model(values["templates-centered"] / "model").features
    assert centered.use is not None
    assert centered.active(Board(5))[1].size == centered.size
    assert all(row.published is None for row in play.Arms().rows(results))
    assert "54 of 63" not in format_section(play.Arms(), results, tmp_path)


def test_games_beside_the_paper(tmp_path):
    common = {"eyes": "eyes may be filled", "first": "crbm", "second": "templates"}
    scores = [common | {"seed": seed, "games": 200, "decided": 150, "won": 100 + seed} for seed in range(3)]
    results = {"data": DATA, "seeds": 3, "scores": scores}
    by_id = {row.id: row for row in play.Play().rows(results)}
    won, none = (by_id[f"play/crbm/templates/filling/{what}"] for what in ("won", "no-winner"))
    assert (won.published, won.ours, won.n, none.ours) == (85.7, 67.3, 3, 25.0)
    assert won.interval == pytest.approx((65.7, 68.9), abs=0.1)  # over seeds, however many games each has
    assert by_id["play/crbm/templates/not-filling/won"].ours is None
    two = {row.id: row for row in play.Play().rows(results | {"scores": scores[:2]})}
    assert two["play/crbm/templates/filling/won"].interval is None  # two seeds say nothing of others
    nobody = {"seed": 3, "games": 200, "decided": 0, "won": 0}
    text = format_section(play.Play(), results | {"scores": [*scores, common | nobody]}, tmp_path)
    assert "| 67.3 (65.7 … 68.9) | 66.7 of 150, 67.3 of 150, 68.0 of 150, – | 43.8 (" in text
    text = format_section(play.Play(), results, tmp_path)
    assert "| 67.3 (65.7 … 68.9) | 66.7 of 150, 67.3 of 150, 68.0 of 150 | 25" in text
    assert "54 of 63 games against templates, 85.7 (75 … 92.3) %" in " ".join(text.split())
    assert "\n1. The paper learned from 1,000 games that GNU Go played against itself" in text


# The former self


def test_a_value_goes_on_learning(make_scope, tmp_path):
    results = former.Former().measure(make_scope("former"))
    (tests,) = results["tests"]
    assert len(tests) == 2
    assert all(0 <= won <= decided <= 4 for won, decided in tests)
    assert "![Games won" in format_section(former.Former(), results, tmp_path)
    assert (tmp_path / "former.svg").exists()


def test_consistently_is_for_good(tmp_path):
    plan = former.FormerPlan(440)
    assert former.games_needed([[130, 200], [110, 200], [120, 200], [150, 200]], plan) == 330
    assert former.games_needed([[130, 200]] * 3 + [[119, 200]], plan) is None
    assert former.games_needed([[6, 10]] * 4, plan) == 110
    counted = {"games": 440, "test_every": 110, "test_games": 200}
    tests = [[[130, 200]] * 4, [[90, 200]] * 3 + [[0, 0]]]
    games, won = former.Former().rows({"data": DATA, "plan": counted, "tests": tests})
    assert (games.published, games.ours, games.interval, games.n) == (110, 110, None, 1)
    assert won.interval is None
    assert won.ours == 65.0
    text = format_section(former.Former(), {"data": DATA, "plan": counted, "tests": tests}, tmp_path)
    assert "| 1 | – | 45, 45, 45, – |" in text
    assert "A game of 200 moves ends without a winner" in " ".join(text.split())


# Winners


def test_winners_are_told_by_all_sets(make_scope, tmp_path):
    results = winners.Winners().measure(make_scope("winners"))
    for sets in results["stages"].values():
        found = winners.accuracies(sets)
        assert [one.name for one in found][:2] == ["all 2×2 templates", "8 random filters"]
        assert len(found) == 7
        assert all(0 <= one.accuracy <= 1 and len(one.folds) == 2 for one in found)
    assert len(list(winners.Winners().rows(results))) == 14
    text = format_section(winners.Winners(), results, tmp_path)
    assert "In the middle of games, " in text
    assert "on 5×5." in text


def test_a_set_may_have_too_few_games(make_scope, monkeypatch):
    monkeypatch.setitem(winners.FOLDS, Budget.SMOKE, 30)
    monkeypatch.setitem(winners.BOARDS, Budget.SMOKE, 30)
    with pytest.raises(ExperimentError, match="too few test games"):
        winners.Winners().measure(make_scope("winners"))


# Kernels


def test_kernels_are_drawn_from_results_alone(make_scope, tmp_path):
    results = kernels.Kernels().measure(make_scope("kernels"))
    assert list(results["crbms"]) == ["multinomial", "real-valued"]
    for found in results["crbms"].values():
        assert len(found["free"]) == 105
        uses = [kernel["use"] for kernel in found["shown"]]
        assert uses == sorted(uses, reverse=True)
    text = format_section(kernels.Kernels(), results, tmp_path)
    assert "| real-valued |" in text
    drawing = (tmp_path / "kernels.svg").read_text()
    assert "multinomial" in drawing
    assert "real-valued" in drawing


def test_the_share_of_free_points():
    free = {"free": [0.5, 0.5, 0.5], "shown": [], "reconstruction error": 0.1}
    (row,) = kernels.Kernels().rows({"data": DATA, "crbms": {"multinomial": free}})
    assert (row.ours, row.interval) == (50.0, (50.0, 50.0))


# The tournament


def test_who_ships_plays(make_scope, monkeypatch, tmp_path):
    monkeypatch.setattr(tournament, "TOURNAMENT_LEARNED", ("crbm-none",))
    results = tournament.Tournament().measure(make_scope("tournament", data=None))
    assert [(pair["first"], pair["second"], pair["games"]) for pair in results["pairs"]] == [("alp", "random", 2)]
    assert results["ratings"]["alp"][0] == 0
    text = format_section(tournament.Tournament(), results, tmp_path)
    assert "| alp | random | 100 (34.2 … 100) of 2 |" in text
