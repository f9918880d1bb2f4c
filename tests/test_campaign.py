"""The campaign of long checks: what is done is not done again, what failed is, and the table says both."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CAMPAIGN = runpy.run_path(str(ROOT / "benchmarks" / "campaign.py"))
Campaign, Check, Part = CAMPAIGN["Campaign"], CAMPAIGN["Check"], CAMPAIGN["Part"]


def check(name: str, code: str, parts: int = 3, size: int = 10) -> Check:
    command = (sys.executable, "-c", f"import sys; size, seed = {{size}}, {{seed}}; {code}")
    return Check(name, f"{name} that is tried", command, size, parts, CAMPAIGN["sum_kills"])


def part(*lines: str) -> Part:
    return Part([], 1.0, 0, "\n".join(lines) + "\n")


def bench(**values: float) -> Part:
    report = {"bench": "b", "rows": [{"name": name.replace("_", " "), "rate": rate} for name, rate in values.items()]}
    return part("a line on standard error", json.dumps(report))


def test_a_campaign_runs_once(tmp_path: Path) -> None:
    checks = [
        check("kill", "print(f'{{size}} kills in {{seed}} runs')"),
        check("other", "print('2 kills in')", parts=1),
    ]
    said: list[str] = []
    assert Campaign(tmp_path, checks).run(said.append)
    assert [line.split(":")[0] for line in said] == ["kill 1/3", "other 1/1", "kill 2/3", "kill 3/3"]
    said.clear()
    assert Campaign(tmp_path, checks).run(said.append)
    assert said == []
    table = Campaign(tmp_path, checks).table().splitlines()
    assert table[2].startswith("| kill that is tried | `python -c ")
    assert table[2].endswith(", 3 times | 30 kills: all ended in the bytes of the undisturbed run |")
    assert table[3].endswith("` | 2 kills: all ended in the bytes of the undisturbed run |")


def test_what_failed_is_reported_and_repeated(tmp_path: Path) -> None:
    fails = [check("kill", "print('5 kills in'); sys.exit(seed == 2)")]
    assert not Campaign(tmp_path, fails).run(len)
    table = Campaign(tmp_path, fails).table()
    assert "| 10 kills: all ended in the bytes of the undisturbed run; 1 of 3 PARTS FAILED |" in table
    said: list[str] = []
    assert Campaign(tmp_path, [check("kill", "print('5 kills in')")]).run(said.append)
    assert [line.split(":")[0] for line in said] == ["kill 2/3"]


def test_a_campaign_that_was_stopped_shows_what_it_has(tmp_path: Path) -> None:
    checks = [check("kill", "print('5 kills in')"), check("other", "")]

    def stop(line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Campaign(tmp_path, checks).run(stop)
    table = Campaign(tmp_path, checks).table()
    assert "5 kills: all ended in the bytes of the undisturbed run (1 of 3 parts) |" in table
    assert "other" not in table


def test_sizes() -> None:
    scaled = check("kill", "", parts=50, size=20).scaled
    assert (scaled(1).parts, scaled(1).size) == (50, 20)
    assert (scaled(0.1).parts, scaled(0.1).size) == (5, 20)
    assert (scaled(0.01).parts, scaled(0.01).size) == (1, 10)
    assert (scaled(1e-9).parts, scaled(1e-9).size) == (1, 1)


def test_what_the_checks_print_is_summed_up() -> None:
    """Lines as the scripts and ``katachi bench --json`` print them."""
    training = part("run 1, kill 20: 3 evaluations on disk", "20 kills in 3 runs: all ended in the bytes of …")
    networks = part(
        "import: 20 kills in 4 folders, 3 files the same (0.52 s undisturbed)", "train: 20 kills in 2 folders, …"
    )
    assert CAMPAIGN["sum_kills"]([training, networks]).startswith("60 kills: ")
    line = "dask: 40 games of tournaments through 20 kills, 32 of self-play through 21: 0 lost, 0 doubled; of the …"
    assert CAMPAIGN["sum_cluster"]([part(line), part(line)]).startswith("144 games through 82 kills: 0 lost")
    fuzzed = part("#2 INITED cov: 5", "Done 500000 runs in 70 second(s)", "500000 executions; slowest 0.1 s: b''")
    assert CAMPAIGN["sum_executions"]([fuzzed, fuzzed]) == "1,000,000 executions, no failure"
    assert CAMPAIGN["sum_executions"]([part("20,000 executions; slowest 0.065 s")]) == "20,000 executions, no failure"
    clock = bench(**{"games": 8, "games lost on time": 1, "moves": 500, "time for a move, longest": 920.4})
    assert CAMPAIGN["sum_clock"]([clock, clock]) == "16 games, 1,000 moves, 2 lost on time; longest move 920 ms"
    memory = bench(
        **{"after 50 moves": 150.0, "after 500 moves": 200.0, **{f"after {n}000 moves": 204.0 for n in range(1, 9)}}
    )
    assert CAMPAIGN["sum_memory"]([memory]) == "8,000 moves; memory at the end differs by 0.0 % from that after a fifth"
    web = bench(**{"click to stone, p95": 35.2, "people": 50, "stones": 30000, "errors": 0})
    assert CAMPAIGN["sum_web"]([web]) == "50 users at once, 30,000 stones, 0 errors; click to stone p95 35 ms"


def test_the_commands_of_the_checks_exist() -> None:
    for each in CAMPAIGN["CHECKS"]:
        words = each.words(1)
        assert words[0] == sys.executable
        assert words[1] == "-m" or (ROOT / words[1]).is_file()
        assert any(str(each.size) in word for word in words), each.name
        assert each.shown().startswith(("`python benchmarks/", "`katachi bench "))


def test_a_real_check_at_its_smallest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["campaign.py", "--run", str(tmp_path), "--only", "fuzz-toml", "--scale", "0.00001"]
    monkeypatch.setattr(sys, "argv", words)
    assert CAMPAIGN["main"]() == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("fuzz-toml 1/1: status 0, ")
    assert said[3].startswith(
        "| fuzzed toml | `python benchmarks/fuzz_files.py toml -runs=100 -seed=1` | 100 executions"
    )
    assert (tmp_path / "table.md").read_text(encoding="utf-8").splitlines() == said[1:]
    monkeypatch.setattr(sys, "argv", [*words, "--table"])
    assert CAMPAIGN["main"]() == 0
    assert capsys.readouterr().out.splitlines() == said[1:]
