from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from katachi.core.disk import DirectoryInUse, DirectoryLock
from katachi.papers.experiment import ExperimentError, Progress, Run, Workers, _files_of, do_runs, seed_of


def square(number: int, log: str) -> dict[str, int]:
    """A run that leaves a trace, and fails if it is told to."""
    with Path(log).open("a") as file:
        file.write(f"{number}\n")
    if number == 2 and Path(log).with_name("fail").exists():
        raise RuntimeError("interrupted")
    return {"square": number * number}


def runs(folder: Path, count: int = 4) -> list[Run]:
    arguments = [{"number": number, "log": str(folder / "log")} for number in range(count)]
    return [Run(f"run {number}", square, found, games=10) for number, found in enumerate(arguments)]


def ignore(progress: Progress) -> None:
    pass


def done(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "log").read_text().split()]


def test_an_interrupted_experiment_goes_on(tmp_path):
    (tmp_path / "fail").touch()
    with pytest.raises(RuntimeError, match="interrupted"):
        do_runs(runs(tmp_path), tmp_path / "runs", Workers(), ignore)
    assert sorted(path.name for path in (tmp_path / "runs").glob("*.json")) == ["run-0.json", "run-1.json"]
    (tmp_path / "fail").unlink()
    seen: list[Progress] = []
    results = do_runs(runs(tmp_path), tmp_path / "runs", Workers(), seen.append)
    assert [result["square"] for result in results] == [0, 1, 4, 9]
    assert done(tmp_path) == [0, 1, 2, 2, 3]
    assert [(p.runs, p.all_runs, p.games, p.all_games, p.games_now) for p in seen] == [
        (2, 4, 20, 40, 0),
        (3, 4, 30, 40, 10),
        (4, 4, 40, 40, 20),
    ]
    assert do_runs(runs(tmp_path), tmp_path / "runs", Workers(), ignore) == results
    assert done(tmp_path) == [0, 1, 2, 2, 3]


def test_more_runs_keep_those_that_are_there(tmp_path):
    do_runs(runs(tmp_path, 2), tmp_path / "runs", Workers(), ignore)
    do_runs(runs(tmp_path, 3), tmp_path / "runs", Workers(), ignore)
    assert done(tmp_path) == [0, 1, 2]


def test_an_experiment_that_was_moved_keeps_its_runs(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    do_runs(runs(old, 2), old / "runs", Workers(), ignore)
    kept = old / "runs" / "run-1.json"
    kept.write_text(kept.read_text().replace("./log", str(old / "log")))  # as former versions did
    do_runs(runs(old, 2), old / "runs", Workers(), ignore)
    kept.unlink()
    old.rename(new)
    do_runs(runs(new, 2), new / "runs", Workers(), ignore)
    assert done(new) == [0, 1, 1]


def test_a_file_tells_what_it_was_measured_with(tmp_path):
    do_runs(runs(tmp_path, 1), tmp_path / "runs", Workers(), ignore)
    kept = json.loads((tmp_path / "runs" / "run-0.json").read_bytes())
    assert kept["arguments"] == {"number": 0, "log": "./log"}
    assert kept["program"]["katachi"]
    other = Run("run 0", square, {"number": 5, "log": str(tmp_path / "log")}, games=10)
    with pytest.raises(ExperimentError, match=r"run-0\.json was measured with other settings: give another --run"):
        do_runs([other], tmp_path / "runs", Workers(), ignore)


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "run-0.json").write_text('{"arguments":')
    with pytest.raises(ExperimentError, match=r"run-0\.json is damaged: delete it"):
        do_runs(runs(tmp_path, 1), tmp_path, Workers(), ignore)


def test_two_processes_do_not_share_a_folder(tmp_path):
    lock = DirectoryLock(tmp_path)
    with pytest.raises(DirectoryInUse):
        do_runs(runs(tmp_path, 1), tmp_path, Workers(), ignore)
    lock.release()
    do_runs(runs(tmp_path, 1), tmp_path, Workers(), ignore)


def test_side_by_side(tmp_path):
    some = [Run(f"run {number}", dict, {"number": number}, games=1) for number in range(4)]
    results = do_runs(some, tmp_path, Workers(jobs=2), ignore)
    assert results == [{"number": number} for number in range(4)]


def test_what_a_run_reads_is_found_in_its_arguments(tmp_path):
    for name in ("model", "set", "suite"):
        (tmp_path / name).mkdir()
    nested = {"nets": [{"model": str(tmp_path / "model")}], "text": "a/b", "long": "x/" * 5000, "number": 3}
    run = Run("run", partial(dict, data=tmp_path / "set", by=("x", str(tmp_path / "suite"))), nested, games=1)
    assert sorted(_files_of(run)) == [str(tmp_path / name) for name in ("model", "set", "suite")]


def test_seeds_belong_to_names():
    seeds = {seed_of("figure", name, number) for name in ("a", "b") for number in range(50)}
    assert len(seeds) == 100
    assert all(0 <= seed < 2**32 for seed in seeds)
    assert seed_of("a", 0) == 3622406503


def test_time_left():
    progress = Progress("x", runs=3, all_runs=10, games=30, all_games=100, games_now=20, seconds=4.0)
    assert progress.games_per_second == 5
    assert progress.seconds_left == 14
    assert Progress("x", 0, 10, 0, 100, 0, 0.0).seconds_left is None
