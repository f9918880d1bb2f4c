from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from inspect import signature

import pytest

from helpers.networks import tiny_config, tiny_onnx
from helpers.small_sets import make_small_set
from katachi import bench
from katachi.bench import BENCHMARKS, Contestant, Row, measure, networks, search
from katachi.core.registry import resolve
from katachi.data.batches import Batches
from katachi.policy.evaluator import save_policy
from katachi.policy.planes import PLANES

needs_compiler = pytest.mark.usefixtures("compiler")


def test_json(run_katachi):
    ran = run_katachi("bench", "playouts", "--seconds", "0.001", "--rounds", "1", "--json")
    assert ran.code == 0
    printed = json.loads(ran.out)
    assert printed["bench"] == "playouts"
    rows = [Row(**row) for row in printed["rows"]]
    assert all(row.rate > 0 and row.unit == "playouts/s" for row in rows)
    contestants = {(row.name, row.size, row.threads) for row in rows}
    assert {("katachi", size, threads) for size in (9, 19) for threads in (1, 2)} <= contestants
    assert (("cpp", 19, 1) in contestants) == (shutil.which("g++") is not None)
    assert (("openspiel", 9, 1) in contestants) == (find_spec("pyspiel") is not None)


def test_simulations_beside_playouts():
    measured = search.run_mcts(seconds=0.001, rounds=1)
    contestants = {(row.name, row.size, row.threads, row.unit) for row in measured.rows if row.rate > 0}
    for size in (9, 19):
        for threads in (1, 2):
            assert ("katachi", size, threads, "simulations/s") in contestants
            assert ("katachi-informed", size, threads, "simulations/s") in contestants
            assert ("playouts", size, threads, "playouts/s") in contestants
            assert ("network", size, threads, "simulations/s") in contestants
    assert len(measured.targets) == 8


def test_planes_of_three_sets():
    measured = search.run_planes(seconds=0.001, rounds=1)
    contestants = {(row.name, row.size, row.threads, row.unit) for row in measured.rows if row.rate > 0}
    names = ("katachi", "katachi-mover", "katachi-reduced")
    assert contestants == {(name, size, 1, "positions/s") for name in names for size in (9, 19)}
    (rate,) = (row.rate for row in measured.rows if (row.name, row.size) == ("katachi", 19))
    assert [bar.ratio for bar in measured.targets] == [rate / search.WANTED]


def test_table(run_katachi, monkeypatch):
    rows = [Row("katachi", 9, 1, "playouts/s", 95_000.0), Row("cpp", 9, 1, "playouts/s", 100_000.0)]
    targets = [bench.Target("katachi / cpp", 9, 0.95, 0.9), bench.Target("two threads / one", 9, 1.5, 1.8)]
    monkeypatch.setattr(
        search, "run_playouts_bench", lambda **_: bench.Report("playouts", rows, targets, ["something is left out"])
    )
    ran = run_katachi("bench")
    lines = ran.out.splitlines()
    assert any("katachi" in line and "95,000 playouts/s" in line for line in lines)
    assert any("katachi / cpp" in line and "0.95" in line and "yes" in line for line in lines)
    assert any("two threads" in line and "1.50" in line and "no" in line for line in lines)
    assert ran.err == "katachi: something is left out\n"


@needs_compiler
def test_the_twin_plays_the_same_games(tmp_path):
    twin = search.load_playouts_twin(tmp_path, [])
    assert twin is not None
    for size in (2, 3, 5, 9, 13, 19):
        search._check_same_games(twin, size, count=50, seed=size)


@needs_compiler
def test_other_games_are_noticed(tmp_path):
    class Cheat:
        @staticmethod
        def katachi_playouts(size: int, count: int, seed: int) -> int:
            return 0

        katachi_playouts_padded = katachi_playouts

    with pytest.raises(bench.BenchmarkError, match="9×9: katachi's playouts sum to"):
        search._check_same_games(Cheat(), 9)


def test_without_compiler_or_source(monkeypatch, tmp_path):
    notes: list[str] = []
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert search.load_playouts_twin(tmp_path, notes) is None
    monkeypatch.setattr(bench, "find_source", lambda _: None)
    assert search.load_playouts_twin(tmp_path, notes) is None
    assert notes == ["cpp is left out: there is no g++", "cpp is left out: its source is in the repository alone"]


def test_contestants_take_turns_and_the_best_round_counts(monkeypatch):
    clock = iter([0, 5, 0, 4, 0, 1, 0, 2, 0, 10, 0, 20])  # a: 5 s, 1 s, 10 s; b: 4 s, 2 s, 20 s
    monkeypatch.setattr(bench.time, "perf_counter", lambda: next(clock))
    calls: list[tuple[str, int, int]] = []
    contestants = [
        Contestant(name, threads, lambda size, count, seed, name=name: calls.append((name, count, seed)), weight)
        for name, threads, weight in (("a", 1, 1.0), ("b", 2, 0.5))
    ]
    rows = measure(contestants, size=9, unit="things/s", counts=100, rounds=3)
    assert calls == [("a", 100, 0), ("b", 100, 0), ("a", 100, 1), ("b", 100, 1), ("a", 100, 2), ("b", 100, 2)]
    assert rows == [Row("a", 9, 1, "things/s", 100.0), Row("b", 9, 2, "things/s", 50.0)]


def test_bars_compare_what_is_there():
    rows = [Row("katachi", size, threads, "", 100.0 * threads) for size in (9, 19) for threads in (1, 2)]
    rows.append(Row("cpp", 9, 1, "", 80.0))
    targets = list(search._playouts_targets(rows))
    assert [(bar.text, bar.size, bar.ratio) for bar in targets] == [
        ("katachi / cpp", 9, 1.25),
        ("two threads / one", 9, 2.0),
        ("two threads / one", 19, 2.0),
    ]


def test_inference(run_katachi, tmp_path):
    config = tiny_config(5, rank_embedding=True)
    save_policy(tmp_path / "net", config, tiny_onnx(config), tiny_onnx(config))
    quick = ("--seconds", "0.001", "--rounds", "1", "--json")
    ran = run_katachi("bench", "inference", "--model", str(tmp_path / "net"), *quick)
    assert ran.code == 0, ran.err
    rows = [Row(**row) for row in json.loads(ran.out)["rows"]]
    judges = ("fp32", "int8", "torch", "evaluate")
    assert [row.name for row in rows] == [
        f"{tmp_path / 'net'} {judge}, batch {batch}" for judge in judges for batch in (1, 32)
    ]
    assert all((row.size, row.unit) == (5, "positions/s") and row.rate > 0 for row in rows)
    targets = list(networks._inference_targets(rows))
    assert len(targets) == 4
    assert all("fp32 / torch" in bar.text or "int8 / fp32" in bar.text for bar in targets)


def test_what_eight_bits_cost(run_katachi, tmp_path):
    config = tiny_config(5)
    save_policy(tmp_path / "net", config, tiny_onnx(config), tiny_onnx(config, seed=1))
    games = make_small_set(tmp_path, training=1, validation=0, test=4)
    quick = ("--seconds", "0.001", "--rounds", "1", "--positions", "50", "--json")
    ran = run_katachi("bench", "inference", "--model", str(tmp_path / "net"), "--data", str(games), *quick)
    assert ran.code == 0, ran.err
    rows = [Row(**row) for row in json.loads(ran.out)["rows"]]
    assert len(list(networks._inference_targets(rows))) == 4, "of speeds alone"
    fp32, int8, lost = rows[-3:]
    assert fp32.unit == int8.unit == "% of 50 moves"
    assert 0 <= min(fp32.rate, int8.rate) <= max(fp32.rate, int8.rate) <= 100
    assert lost.rate == pytest.approx(int8.rate - fp32.rate)


def test_training_beside_ready_made_batches_torch_and_processes(monkeypatch):
    monkeypatch.setattr(networks, "PAPER_SHAPES", ((1, 8),))
    monkeypatch.setattr(networks, "_PAPER_BATCH", 4)
    monkeypatch.setattr(networks, "OWN_FILTERS", {16: 1.25})
    monkeypatch.setattr(networks, "_PLIES", 20)
    monkeypatch.setattr(networks, "usable_cores", lambda: 2)
    measured = networks.run_training(seconds=0.001, rounds=1)
    names = [row.name for row in measured.rows if "bfloat16" not in row.name and "autocast" not in row.name]
    own = ["9×16, float32", "9×16, torch", "9×16, processes"]
    assert names == ["1×8, on the fly", "1×8, ready-made", *own]
    assert all(row.rate > 0 and row.unit == "positions/s" for row in measured.rows)
    rates = {row.name: row.rate for row in measured.rows}
    ratios = {bar.text: bar.ratio for bar in measured.targets}
    assert ratios["1×8: on the fly / ready-made"] == rates["1×8, on the fly"] / rates["1×8, ready-made"]
    assert "9×16: processes / one" in ratios


def test_random_games_can_be_replayed(tmp_path):
    games = networks.random_games(tmp_path)
    batches = Batches(games, PLANES["maddison-9"], 50)
    assert games.games["plays"].tolist() == [networks._PLIES] * networks._GAMES
    assert batches[7].plies.max() > 100


@pytest.mark.parametrize(("what", "reason"), [("playouts", "has no such option"), ("inference", "not a network")])
def test_inference_is_about_networks(run_katachi, what, reason):
    refused = run_katachi("bench", what, "--model", "shapes-5")
    assert (refused.code, reason in refused.err) == (2, True)


def test_every_benchmark_is_there():
    for name, benchmark in BENCHMARKS.items():
        options = signature(resolve(benchmark.run)).parameters
        assert {"seconds", "rounds", *benchmark.options} == set(options), name


def test_how_soon_help_is_there(run_katachi):
    ran = run_katachi("bench", "start", "--row=--help", "--json")
    assert ran.code == 0
    rows = [Row(**row) for row in json.loads(ran.out)["rows"]]
    assert [row.name for row in rows] == [
        f"--help, {state}, {kind}" for state in ("cold", "warm") for kind in ("wall", "cpu")
    ]
    assert all(row.unit == "seconds" and row.rate > 0 for row in rows)
    refused = run_katachi("bench", "start", "--row", "help")
    assert (refused.code, "there is no row 'help'; known are --help, doctor" in refused.err) == (2, True)


def test_an_unknown_benchmark(run_katachi):
    refused = run_katachi("bench", "chess")
    assert (refused.code, "known are playouts, mcts" in refused.err) == (2, True)
