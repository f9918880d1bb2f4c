"""Kill the import of games, the training of a network and its export at random moments, and compare the bytes.

    python benchmarks/kill_networks.py [--kills 30] [--seed 1]

Every kill is SIGKILL to a process that was forked with everything loaded, so that it falls into the work. What was
killed goes on where it stopped, is killed again, and in the end must have the bytes of what nobody disturbed. After
every kill, a set or a model that is to be seen must be whole. So many kills are done of each of the three.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from katachi.core.models import is_model, load_model
from katachi.core.training import Machine
from katachi.data import importing as dataset_import
from katachi.data.dataset import CARD, Dataset
from katachi.go.board import Board
from katachi.policy.config import PolicyTraining
from katachi.policy.train import train_policy

SIZE = 5
GAMES = 200
PART_BYTES = 2048  # of records: small parts, so that an import has many
LETTERS = "abcde"
CLOCKS = ("seconds", "core_seconds", "hours")
MACHINE = Machine(threads=1, workers=0, checkpoint_seconds=0.02)


class Stage(NamedTuple):
    """Something that is begun in a folder, can be killed, and goes on there."""

    name: str
    prepare: Callable[[Path], object]
    work: Callable[[Path], object]
    check: Callable[[Path], object]  # raises if something that can be seen is not whole


# What is done


def write_games(path: Path, rng: np.random.Generator) -> None:
    """Random games in one file."""
    games = []
    for _ in range(GAMES):
        board, nodes = Board(SIZE), []
        for ply in range(int(rng.integers(10, 40))):
            moves = np.flatnonzero(board.legal_moves()[:-1])
            if not moves.size:
                break
            row, column = divmod(int(rng.choice(moves)), SIZE)
            board.play(row * SIZE + column)
            nodes.append(f";{'BW'[ply % 2]}[{LETTERS[column]}{LETTERS[row]}]")
        games.append(f"(;GM[1]SZ[{SIZE}]RE[{rng.choice(['B+1', 'W+1'])}]{''.join(nodes)})")
    path.write_text("\n".join(games))


def stages(base: Path) -> list[Stage]:
    """The import of a file below ``base``, a training with its result, and an export of a network trained there."""
    records, games, trained = base / "games.sgf", base / "set", base / "trained"
    settings = PolicyTraining(
        data=str(games), size=SIZE, layers=3, filters=16, value=True, batch=16, positions=2400, evaluate_every=400
    )

    def import_records(folder: Path) -> None:
        dataset_import.import_games([records], folder / "set")

    def train(folder: Path) -> None:
        train_policy(settings, folder / "run", command="katachi train policy", machine=MACHINE)

    def prepare_export(folder: Path) -> None:
        shutil.copytree(trained / "run", folder / "run", ignore=shutil.ignore_patterns("model", "player.toml"))

    import_records(base)
    train(trained)
    return [
        Stage("import", lambda _: None, import_records, check_set),
        Stage("training", lambda _: None, train, check_model),
        Stage("export", prepare_export, train, check_model),
    ]


def check_set(folder: Path) -> None:
    if (folder / "set" / CARD).exists():
        Dataset.open(folder / "set")


def check_model(folder: Path) -> None:
    if is_model(folder / "run" / "model"):
        for precision in ("fp32", "int8"):
            load_model(folder / "run" / "model", {"precision": precision})


# What must be the same


def digests(folder: Path) -> dict[str, str]:
    """All files that matter, and what is in them but for clocks."""
    files = sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    return {str(file.relative_to(folder)): _digest(file) for file in files}


def _digest(file: Path) -> str:
    content = file.read_bytes().replace(str(file.parent).encode(), b"")  # a run names its folder
    if file.suffix == ".json":
        content = repr(_without_clocks(json.loads(content))).encode()
    if file.suffix == ".jsonl":
        content = repr([_without_clocks(json.loads(line)) for line in content.splitlines()]).encode()
    if file.suffix == ".toml":
        content = content.replace(str(file.parent.parent).encode(), b"")  # a player names its model's folder
    return hashlib.sha256(content).hexdigest()


def _without_clocks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_clocks(inner) for key, inner in value.items() if key not in CLOCKS}
    return value


# Killing


def run_forked(work: Callable[[Path], object], folder: Path, seconds: float) -> bool:
    """Do the work in another process, and kill it after so long; returns whether it was still at it."""
    process = os.fork()
    if process == 0:
        try:
            work(folder)
        except BaseException:  # noqa: BLE001 (whatever it is, the parent must hear of it)
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            break
        time.sleep(0.0005)
    else:
        os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit("it failed when it went on")
    return os.WIFSIGNALED(status)


def disturb(stage: Stage, base: Path, kills: int, draw: random.Random) -> str:
    """Kill a stage so often, in as many folders as it takes; raises ValueError if bytes differ in the end."""
    whole = base / stage.name / "whole"
    whole.mkdir(parents=True)
    stage.prepare(whole)
    start = time.monotonic()
    run_forked(stage.work, whole, 3600)
    seconds = time.monotonic() - start
    want, done, folders = digests(whole), 0, 0
    while done < kills:
        folder = base / stage.name / str(folders)
        folder.mkdir()
        stage.prepare(folder)
        folders += 1
        while done < kills and run_forked(stage.work, folder, draw.uniform(0, seconds)):
            done += 1
            stage.check(folder)
        run_forked(stage.work, folder, 3600)
        if digests(folder) != want:
            raise ValueError(f"{stage.name}: {folder} differs from what nobody disturbed")
        shutil.rmtree(folder)
    return f"{stage.name}: {done} kills in {folders} folders, {len(want)} files the same ({seconds:.2f} s undisturbed)"


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill import, training and export at random moments.")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # a process with more threads cannot be forked
    dataset_import._PART_BYTES = PART_BYTES  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        write_games(base / "games.sgf", np.random.default_rng(arguments.seed))
        for stage in stages(base):
            print(disturb(stage, base, arguments.kills, random.Random(arguments.seed)), flush=True)


if __name__ == "__main__":
    main()
