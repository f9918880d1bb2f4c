"""Ctrl-C in long commands: a line about what is kept, the command that resumes, exit code 130, nothing lost.

Every command runs as a process group of its own, as in a terminal, and gets the signal at a sign of progress.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import katachi
from helpers.random_records import random_record
from helpers.small_sets import label_small_set, make_small_set
from katachi.data.dataset import Dataset
from katachi.shapes.train import ShapeTraining, train_in_folder

LONG = 200  # seconds until a test gives up on a sign of progress


class Stopped(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def resume(self) -> list[str]:
        """The arguments of the command that it names."""
        words = shlex.split(self.err.splitlines()[-1].partition(": to resume: ")[2])
        assert words[0] == "katachi"
        return words[1:]


def start(*arguments: str, folder: Path) -> subprocess.Popen[str]:
    restore = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731 — what runs in the background ignores it
    with (folder / "out").open("w") as out, (folder / "err").open("w") as err:
        return subprocess.Popen(
            [sys.executable, "-m", "katachi", *arguments],
            stdout=out,
            stderr=err,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(Path(katachi.__file__).resolve().parents[1])},
            text=True,
            start_new_session=True,
            preexec_fn=restore,
        )


def interrupt(*arguments: str, folder: Path, sign: str) -> Stopped:
    """Run a command until a file of this pattern, or a line with this text on standard error, is there; then Ctrl-C."""
    process = start(*arguments, folder=folder)
    until = time.monotonic() + LONG
    try:
        while not any(folder.glob(sign)) and sign not in (folder / "err").read_text():
            assert process.poll() is None, (folder / "err").read_text()
            assert time.monotonic() < until
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        code = process.wait(LONG)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    stopped = Stopped(code, (folder / "out").read_text(), (folder / "err").read_text())
    assert "Traceback" not in stopped.err
    assert stopped.code == 130, stopped.err
    return stopped


def run(*arguments: str, folder: Path) -> Stopped:
    code = start(*arguments, folder=folder).wait(LONG)
    return Stopped(code, (folder / "out").read_text(), (folder / "err").read_text())


# What the named command resumes


def test_training(tmp_path):
    settings = ShapeTraining(size=5, games=8000, evaluate_every=2000, test_games=2, sets=("LI 2x2",))
    options = ["--size", "5", "--games", "8000", "--set", "evaluate_every=2000", "--set", "test_games=2"]
    command = ["train", "shapes", *options, "--set", "sets=['LI 2x2']"]
    stopped = interrupt(*command, folder=tmp_path, sign="runs/*/checkpoint.safetensors")
    (folder,) = (tmp_path / "runs").iterdir()
    assert f"katachi: stopped: what was learned is kept in runs/{folder.name}" in stopped.err
    assert stopped.resume == [*command, "--run", f"runs/{folder.name}"]
    assert not (folder / "model").exists()
    resumed = run(*stopped.resume, folder=tmp_path)
    assert resumed.code == 0
    assert f"katachi: play against it: katachi play runs/{folder.name}" in resumed.err
    train_in_folder(settings, tmp_path / "alone")
    for name in ("metrics.jsonl", "model/weights.safetensors"):
        assert (folder / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_match(tmp_path, jobs):
    command = ["match", "random", "alp", "--size", "5", "--games", "300", "--jobs", jobs, "--json"]
    stopped = interrupt(*command, folder=tmp_path, sign="runs/*/games/01-0010.sgf")
    (folder,) = (tmp_path / "runs").iterdir()
    kept = (folder / "games.jsonl").read_text().splitlines()
    assert f"katachi: stopped: {len(kept)} games are kept in runs/{folder.name}" in stopped.err
    assert 0 < len(kept) < 300
    assert stopped.out == ""
    resumed = run(*stopped.resume, folder=tmp_path)
    assert json.loads(resumed.out)["played"] == 300
    assert (folder / "games.jsonl").read_text().splitlines()[: len(kept)] == kept


@pytest.mark.parametrize(("backend", "module"), [("ray", "ray"), ("dask", "distributed")])
def test_a_cluster_of_its_own(tmp_path, backend, module, monkeypatch):
    pytest.importorskip(module, reason=f"{backend} is not installed")
    monkeypatch.setenv("KATACHI_STARTED_BY", str(tmp_path))
    (tmp_path / "t.toml").write_text(TOURNAMENT)
    command = ["tournament", "t.toml", "--run", "run", "--backend", backend, "--jobs", "2"]
    stopped = interrupt(*command, folder=tmp_path, sign="run/games/*.sgf")
    assert stopped.resume == command
    until = time.monotonic() + LONG
    while (left := processes_with(f"KATACHI_STARTED_BY={tmp_path}")) and time.monotonic() < until:
        time.sleep(0.2)
    assert left == []


def processes_with(setting: str) -> list[str]:
    """The commands of all processes with this in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if setting.encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it has ended, or is another user's
    return found


def test_import(tmp_path):
    rng = np.random.default_rng(1)
    record = random_record(rng, 5, 400)
    (tmp_path / "games.sgf").write_text(f"{record}\n" * (2_500_000 // len(record)))
    command = ["data", "import", "games.sgf", "--out", "set", "--jobs", "1"]
    stopped = interrupt(*command, folder=tmp_path, sign="set/parts/*.npz")
    assert "katachi: stopped: the parts that are read are kept in set" in stopped.err
    kept = {file.name for file in (tmp_path / "set" / "parts").glob("*.npz")}
    assert kept
    assert stopped.resume == command
    assert run(*stopped.resume, folder=tmp_path).code == 0
    assert Dataset.open(tmp_path / "set").card.games == 2_500_000 // len(record)


def test_reproduce(tmp_path):
    command = ["reproduce", "silver2007", "--table", "figure4", "--runs", "1"]
    folder = tmp_path / "runs" / "silver2007-smoke"
    stopped = interrupt(*command, folder=tmp_path, sign="runs/silver2007-smoke/figure4/*.json")
    assert "katachi: stopped: what was measured is kept in runs/silver2007-smoke" in stopped.err
    kept = {file: file.stat().st_mtime_ns for file in (folder / "figure4").glob("*.json")}
    assert 0 < len(kept) < 36
    resumed = run(*stopped.resume, folder=tmp_path)
    assert resumed.code == 0
    assert "36 of 36" in resumed.err
    assert all(file.stat().st_mtime_ns == when for file, when in kept.items())


# Every other long command


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    folder = tmp_path_factory.mktemp("games")
    path = make_small_set(folder)
    label_small_set(path)
    return path


NETWORK = ["--data", "SET", "--run", "run", "--set", "batch=4", "--positions", "9999999"]
TOURNAMENT = 'size = 5\ngames = 5000\n[players]\na = "random"\nb = "random"\nc = "random"\n'
CONFIG = "run/config.toml"


@pytest.mark.parametrize(
    ("command", "sign", "kept"),
    [
        (["train", "policy", *NETWORK, "--set", "layers=3", "--set", "filters=8"], CONFIG, "is kept in run"),
        (["train", "territory", *NETWORK], CONFIG, "is kept in run"),
        (["train", "crbm", *NETWORK], CONFIG, "is kept in run"),
        (
            ["train", "value", "templates", "--set", "size=5", "--self-play", "99999", "--run", "run"],
            CONFIG,
            "in run",
        ),
        (
            ["train", "shapes", "--size", "5", "--games", "999999", "--runs", "2", "-j", "2", "--run", "run"],
            "run/seed-1/config.toml",
            "is kept in run",
        ),
        (["tournament", "t.toml", "--run", "run"], "run/games/*.sgf", "games are kept in run"),
        (
            ["data", "selfplay", "random", "alp", "--size", "5", "--games", "9999", "--out", "o"],
            "o.run/games/*",
            "kept",
        ),
        (
            ["analyze", "SGF", "--player", "random", "--out", "found"],
            "found/analysis.jsonl",
            "positions so far are kept",
        ),
        (["models", "make", "shapes-5"], "runs/shapes-5/config.toml", "the training in runs/shapes-5"),
        (["warmup"], "katachi: compiling", "what is compiled is kept"),
    ],
    ids=lambda value: "-".join(value[:2]) if isinstance(value, list) else None,
)
def test_other_commands(tmp_path, games, command, sign, kept, monkeypatch):
    if command == ["warmup"]:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))  # so that there is something to do
    (tmp_path / "t.toml").write_text(TOURNAMENT)
    named = {"SET": str(games), "SGF": str(games.parent / "games.sgf")}
    stopped = interrupt(*(named.get(word, word) for word in command), folder=tmp_path, sign=sign)
    said, resume = stopped.err.splitlines()[-2:]
    assert said.startswith("katachi: stopped: ")
    assert kept in said
    assert resume.startswith("katachi: to resume: katachi ")


@pytest.mark.parametrize(
    ("work", "command", "kept", "then"),
    [
        ("katachi.cli.bench.resolve", ["bench", "playouts"], "nothing is kept", "repeat"),
        ("katachi.data.labeling.label_games", ["data", "label", "SET"], "the labels so far are kept in ", "resume"),
        ("katachi.search.pattern_learning.train_patterns", ["train", "patterns", "SGF"], "nothing is kept", "repeat"),
    ],
)
def test_commands_without_a_sign_of_progress(run_katachi, games, monkeypatch, work, command, kept, then):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(work, interrupted)
    named = {"SET": str(games), "SGF": str(games.parent / "games.sgf")}
    arguments = [named.get(word, word) for word in command]
    monkeypatch.setattr(sys, "argv", ["katachi", *arguments])
    ran = run_katachi(*arguments)
    assert (ran.code, ran.out) == (130, "")
    said, again = ran.err.splitlines()[-2:]
    assert kept in said
    assert again == f"katachi: to {then}: katachi {shlex.join(arguments)}"
