from __future__ import annotations

import pytest

from katachi.core.cards import provenance
from katachi.papers.documents import WIDTH, format_document, format_section, share
from katachi.papers.experiment import Budget, ExperimentError
from katachi.papers.maddison2014 import EXPERIMENT
from katachi.papers.maddison2014 import figures as curve
from katachi.papers.maddison2014 import figures as figure1
from katachi.papers.maddison2014 import figures as trend
from katachi.papers.maddison2014 import tables as table1
from katachi.papers.maddison2014 import tables as table2
from katachi.papers.maddison2014 import tables as table3
from katachi.papers.maddison2014 import tables as table5
from katachi.papers.maddison2014.nets import MAIN, Net, accuracy
from katachi.policy.config import PolicyConfig
from katachi.policy.evaluator import save_policy
from katachi.policy.export import export_onnx
from policy.test_network import shaken

TESTED = {"positions": 1000, "loss": 2.5, "top": [400 + 20 * place for place in range(20)]}
PARTS = {"phases": {"opening": TESTED}, "ranks": {"6d": TESTED, "unknown": TESTED}}
DATA = {"name": "kgs", "size": 19, "games": 100, "positions": 18_000, "test positions": 1_000}
NET = {"title": "3×16", "positions": 1_000_000, "tested": TESTED | PARTS}


def test_the_paper_has_these_tables():
    names = ["counts", "table1", "table2", "trend", "figure1", "sets", "curve", "table3", "table5", "ranks", "outcomes"]
    assert [table.name for table in EXPERIMENT.tables] == names
    assert [table.name for table in EXPERIMENT.find("all")] == names[:-2]
    assert "Measured here: {measured}." in EXPERIMENT.head


def test_the_document(make_scope, tmp_path):
    tables = {table.name: table for table in EXPERIMENT.tables}
    origin = {"budget": "smoke", "program": provenance()}
    results = {name: tables[name].measure(make_scope(name)) | origin for name in ("counts", "figure1")}
    text = format_document(EXPERIMENT, results, tmp_path)
    assert "## Figure 1: top-n accuracy" in text
    assert "\n1. The paper learned from 27.4 million positions" in text
    assert "| 12×128: parameters | 2.3 million | 2,294,738 | – | reached |" in text
    assert all(len(line) <= WIDTH for line in text.splitlines() if not line.startswith("|"))


# Table 1


def test_both_kinds_of_filters_are_learned(make_scope, tmp_path):
    results = table1.Table1().measure(make_scope("table1"))
    assert list(results["nets"]) == ["free", "symmetric"]
    free, symmetric = (net["tested"] for net in results["nets"].values())
    assert free["positions"] == symmetric["positions"] == 100
    assert free["loss"] != symmetric["loss"]
    assert "| 2×4, symmetric | 256 | – |" in format_section(table1.Table1(), results, tmp_path)


def test_table1_beside_the_paper(tmp_path):
    net = NET | {"title": "3×64"}
    results = {"data": DATA, "nets": {"free": net, "symmetric": net}}
    assert [(row.published, row.ours) for row in table1.Table1().rows(results)] == [(43.3, 40.0), (44.3, 40.0)]
    text = format_section(table1.Table1(), results, tmp_path)
    assert "| 3×64, symmetric | 1,000,000 | 44.3 | 40 (37 … 43.1) | 2.500 |" in text
    assert "| 6×192 | 49.6 | 49.4 |" in text
    assert "\n9. The paper's larger pair" in text
    assert "\n6. All parameters of the paper begin at random" in text
    free, symmetric = (PolicyConfig.maddison(3, 64, planes=table1.PLANES, symmetric=kind) for kind in (False, True))
    assert free.inputs == symmetric.inputs == 9


# Table 2


@pytest.fixture
def random_gnugo(monkeypatch):
    """The random player in the place of GNU Go, and plain counting in that of its verdict."""
    monkeypatch.setattr(table2, "has_gnugo", lambda: True)
    monkeypatch.setattr(table2, "gnugo", lambda level: "random")
    monkeypatch.setattr(table2, "gnugo_referee", lambda level: "count")


def test_networks_play_without_search(make_scope, random_gnugo, run):
    kept = []
    results = table2.Table2().measure(make_scope("table2", keep=kept.append))
    assert [(pair["first"], pair["second"]) for pair in results["pairs"]] == [("2x4-256", "GNU Go level 10")]
    assert (results["games"], results["distinct"]) == (2, 2)
    assert kept[0]["games"] == 0
    assert kept[0]["nets"] == results["nets"]
    (folder,) = (run / "table2").glob("round-*")
    settings = (folder / "config.toml").read_text()
    assert 'rules = "chinese"' in settings
    assert "random_plies = 4" in settings
    assert 'kind = "policy"' in (run / "table2" / "players" / "2x4-256.toml").read_text()


def test_without_gnugo_moves_are_foretold_all_the_same(make_scope, monkeypatch, tmp_path):
    monkeypatch.setattr(table2, "has_gnugo", lambda: False)
    results = table2.Table2().measure(make_scope("table2"))
    assert [row.id for row in table2.Table2().rows(results)] == ["table2/2x4-256/top-1"]
    assert "| 2×4 | 256 |" in format_section(table2.Table2(), results, tmp_path)


def test_table2_beside_the_paper(tmp_path):
    pair = {"first": "3x16-1000000", "second": "GNU Go level 10", "games": 200, "wins": 10, "draws": 0}
    results = {"data": DATA, "nets": [NET], "games": 200, "distinct": 200, "seconds": {}, "pairs": [pair]}
    predicted, won = table2.Table2().rows(results)
    assert (predicted.published, predicted.ours, won.published, won.ours) == (37.5, 40.0, 3.4, 5.0)
    assert predicted.interval == pytest.approx((37.0, 43.1), abs=0.1)
    text = format_section(table2.Table2(), results, tmp_path)
    assert "| 3×16 | 1,000,000 | 37.5 | 40 (37 … 43.1) | 48 | 3.4 ± 1.1 | 5 (2.70 … 9) of 200 |" in text
    assert "| Aya, 2014 | 38.8 | 6 ± 1.0 |" in text
    assert "\n10. GNU Go captures what is dead" in text
    assert "| a human 6 dan | 52 ± 5.8 | 100 |" in text


def test_the_published_table2():
    found = {net: published[:3] for net, published in table2.TABLE2_PUBLISHED.items()}
    assert found == {
        "3×16": (37.5, 3.4, 1.1),
        "3×128": (48.0, 61.8, 2.6),
        "6×128": (51.2, 84.4, 1.9),
        "10×128": (54.5, 94.7, 1.2),
        "12×128": (55.2, 97.2, 0.9),
    }
    assert all(MAIN[budget] in table2.PLANS[budget] for budget in Budget)


# Depth and width


def test_depth_and_width_are_compared_after_as_many_positions(make_scope, tmp_path):
    results = trend.Trend().measure(make_scope("trend"))
    assert [(net["title"], net["positions"]) for net in results["nets"]] == [("2×4", 256), ("3×4", 256)]
    shallow, deep = (net["parameters"] for net in results["nets"])
    assert deep - shallow == 4 * 4 * 9 + 4 * 25  # another layer, and its bias for each point
    assert "| 3×4 |" in format_section(trend.Trend(), results, tmp_path)


def test_the_trend_beside_the_paper(tmp_path):
    nets = [NET | {"title": f"{shape}, AdamW", "parameters": 37_346} for shape in ("3×16", "3×64")]
    results = {"data": DATA, "nets": nets}
    assert [(row.id, row.published, row.ours) for row in trend.Trend().rows(results)] == [
        ("trend/3x16", None, 40.0),
        ("trend/3x64", None, 40.0),
    ]
    text = format_section(trend.Trend(), results, tmp_path)
    assert "| 3×16 | 37,346 | 1,000,000 | 40 (37 … 43.1) | 2.500 | 37.5 |" in text
    assert "| 3×64 | 37,346 | 1,000,000 | 40 (37 … 43.1) | 2.500 | – |" in text
    paper = {net.shape.replace("x", "×") for net in trend.TREND_NETS[Budget.FULL]}
    assert paper == set(table2.TABLE2_PUBLISHED)


# Figure 1


def test_figure1_is_a_curve(make_scope, tmp_path):
    results = figure1.Figure1().measure(make_scope("figure1"))
    (net,) = results["nets"]
    assert net["tested"]["top"] == sorted(net["tested"]["top"])
    assert len(net["tested"]["top"]) == 20
    text = format_section(figure1.Figure1(), results, tmp_path)
    assert b"paper, 12" in (tmp_path / "figure1.svg").read_bytes()
    for part in (*net["tested"]["phases"], *net["tested"]["ranks"]):
        assert f"\n| {part} | " in text


def test_figure1_beside_the_paper(tmp_path):
    results = {"data": DATA, "nets": [NET]}
    by_id = {row.id: row for row in figure1.Figure1().rows(results)}
    assert (by_id["figure1/3x16/top-1"].published, by_id["figure1/3x16/top-1"].ours) == (None, 40.0)
    large = figure1.Figure1().rows(results | {"nets": [NET | {"title": "12×128"}]})
    assert [row.published for row in large] == [55.2, None, None, None, 94.0, None]  # the paper says it of no other
    text = format_section(figure1.Figure1(), results, tmp_path)
    assert "| 3×16 | 1,000,000 | 40 | 42 | 44 | 48 | 58 | 78 | 2.500 |" in text
    assert "| 6d | 40 (37 … 43.1) |" in text


def test_intervals_are_over_games_where_games_were_counted(tmp_path):
    tested = NET["tested"] | {"games": 100, "effective": [250.0] * 20}
    assert accuracy(tested) == share(100, 250)
    assert accuracy(tested, 6) == share(125, 250)
    assert accuracy(TESTED) == share(400, 1000)
    text, earlier = (
        format_section(figure1.Figure1(), {"data": DATA, "nets": [NET | {"tested": made}]}, tmp_path)
        for made in (tested, NET["tested"])
    )
    assert "in 1,000 positions of 100 games." in text
    assert "in 1,000 positions." in earlier


def test_the_same_network_learns_faster_by_adamw(games):
    plain, adamw = Net(3, 16, 1000), Net(3, 16, 1000, adamw=True)
    assert (plain.name, adamw.name) == ("3x16-maddison-36-1000", "3x16-maddison-36-adamw-1000")
    net = NET | {"title": adamw.title}
    (row,) = table2.Table2().rows({"data": DATA, "nets": [net], "games": 0, "distinct": 0, "seconds": {}, "pairs": []})
    assert (row.id, row.published) == ("table2/3x16-adamw-1000000/top-1", 37.5)


# The curve


def test_a_power_law_goes_on():
    seen = [10**exponent for exponent in (3, 3.5, 4, 4.5, 5)]
    power, straight = curve.promise([[positions, 1 - positions**-0.05] for positions in seen])
    assert power == pytest.approx(100 * (1 - 1e6**-0.05))
    assert straight > power
    assert curve.promise([[100, 0.3], [200, 0.4]]) is None


def test_curves_of_networks_that_a_run_has_learned(make_scope, tmp_path):
    figure1.Figure1().measure(make_scope("figure1"))
    results = curve.Curve().measure(make_scope("curve"))
    title = "2x4-maddison-36-256"
    assert results["nets"][title][-1][0] == 256
    assert f"curve/{title}" in {row.id for row in curve.Curve().rows(results)}
    assert f"| {title} | 256 |" in format_section(curve.Curve(), results, tmp_path)
    assert (tmp_path / "curve.svg").exists()


# Table 3


def test_ranks_are_told(make_scope, run):
    results = table3.Table3().measure(make_scope("table3"))
    for found in results["groups"].values():
        assert found["positions"] > 0
        assert set(found["told"]) == {str(rank) for rank in range(1, 10)}
        gained, low, high = found["gained"]
        assert gained == pytest.approx(found["told"]["9"] - found["told"]["1"], abs=1e-5)
        assert low <= gained <= high
    assert results["groups"]["1d–2d"]["own"] == pytest.approx(results["groups"]["1d–2d"]["told"]["1"])  # no 2d there
    assert [(pair["first"], pair["second"]) for pair in results["pairs"]] == [("5 dan", "1 dan"), ("9 dan", "1 dan")]
    assert "rank = 9" in (run / "table3" / "players" / "9-dan.toml").read_text()


def test_table3_beside_the_paper(tmp_path):
    assert table3.TABLE3_PUBLISHED == {1: (49.2, 3.6), 5: (60.1, 1.6), 9: (67.9, 5.0)}
    assert table3.implied(1) == 50
    assert table3.implied(9) == pytest.approx(68.6, abs=0.1)
    told = {str(rank): -2.0 - rank / 100 for rank in range(1, 10)}
    group = {"positions": 1234, "own": -2.01, "told": told, "gained": [-0.08, -0.09, -0.07]}
    pair = {"first": "9 dan", "second": "1 dan", "games": 100, "wins": 70, "draws": 0}
    groups = {"1d–2d": group, "8d–9d": {"positions": 0}}
    results = {"data": DATA, "net": NET, "groups": groups, "games": 100, "distinct": 100, "pairs": [pair]}
    weak, strong, games = table3.Table3().rows(results)
    assert (weak.ours, weak.interval, strong.ours, strong.interval) == (-80.0, (-90.0, -70.0), None, None)
    assert (games.published, games.ours) == (None, 70.0)  # what Elo's curve makes of the paper's scores is ours
    text = format_section(table3.Table3(), results, tmp_path)
    assert "| 1d–2d | 1,234 positions | −2.010 |" in text
    assert "| −2.090 | −2.010 | −80 (−90 … −70) |" in text
    assert "| 9 dan | 1 dan | 70 (60.4 … 78.1) of 100 | 68.6 |" in text
    assert "| 5 dan | 60.1 ± 1.6 |" in text


def test_kyu_ranks_are_given(make_scope, run, tmp_path):
    with pytest.raises(ExperimentError, match="knows kyu ranks: give --model"):
        table3.KyuRanks().measure(make_scope("ranks"))
    config = PolicyConfig(planes="maddison-9", size=5, layers=3, filters=8, kyu_ranks=True)
    save_policy(tmp_path / "kyu", config, export_onnx(config, shaken(config).arrays()))
    results = table3.KyuRanks().measure(make_scope("ranks", models=(str(tmp_path / "kyu"),)))
    weak = results["groups"]["25k–15k"]
    assert weak["positions"] == 0 or set(weak["told"]) == {"-24", "-19", "-14", "-9", "-4", "1"}
    assert results["groups"]["5k–1d"]["positions"] > 0
    firsts = [pair["first"] for pair in results["pairs"]]
    assert firsts == ["20 kyu", "15 kyu", "10 kyu", "5 kyu", "1 dan"]
    assert {pair["second"] for pair in results["pairs"]} == {"25 kyu"}
    assert "rank = -19" in (run / "ranks" / "players" / "20-kyu.toml").read_text()
    text = format_section(table3.KyuRanks(), results, tmp_path)
    assert "*gained* what\n1d adds to 25k" in text
    assert "Elo's curve" not in text


# Table 5


def test_search_with_a_network_plays_both_of_its_parts(make_scope, run):
    results = table5.Table5().measure(make_scope("table5"))
    assert {(pair["first"], pair["second"], pair["games"]) for pair in results["pairs"]} == {
        ("network and 8 simulations", "network", 2),
        ("network and 8 simulations", "8 simulations", 2),
        ("network and 0.05 s", "network", 2),
        ("network and 0.05 s", "0.05 s", 2),
    }
    assert results["size"] == 5
    assert results["network"] == "2×4, which learned from 256 positions"
    spec = (run / "table5" / "players" / "network-and-8-simulations.toml").read_text()
    assert 'priors = "synchronous"' in spec
    assert "simulations = 8" in spec
    spec = (run / "table5" / "players" / "network-and-0.05-s.toml").read_text()
    assert 'priors = "delayed"' in spec
    assert "seconds = 0.05" in spec


def test_table5_beside_the_paper(tmp_path):
    assert table5.TABLE5_PUBLISHED == {10_000: (67.6, 2.6), 100_000: (86.7, 3.5)}
    first = "network and 10,000 simulations"
    pairs = [
        {"first": first, "second": other, "games": 20, "wins": wins, "draws": 0}
        for other, wins in (("network", 15), ("10,000 simulations", 12))
    ]
    counts = {"games": 40, "distinct": 40, "seconds": {first: 1.5}, "pairs": pairs}
    results = {"network": "`policy-9`", "size": 9} | counts
    assert all(row.published is None for row in table5.Table5().rows(results))  # the paper's games are on 19×19
    alone, without = table5.Table5().rows(results | {"size": 19})
    assert (alone.id, alone.published, alone.ours) == ("table5/10000-simulations/network", 67.6, 75.0)
    assert (without.id, without.published, without.ours) == ("table5/10000-simulations/search", None, 60.0)
    text = format_section(table5.Table5(), results, tmp_path)
    assert "| 10,000 simulations | 75 (53.1 … 88.8) of 20 | 60 (38.7 … 78.1) of 20 | 1.50 |" in text
    assert "| 100,000 | 86.7 ± 3.5 |" in text
