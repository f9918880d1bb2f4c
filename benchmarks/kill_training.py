"""Kill ``katachi train shapes`` at random moments, let it go on, and compare with a run that nobody disturbed.

    python benchmarks/kill_training.py [--kills 20] [--seed 1] [options of katachi train shapes …]

Every kill is SIGKILL to a real command: one in four at any moment since its start, the others while it learns. A run
that has come to its last evaluation is let go on to the end, and the next begins in a new folder. In the end the model,
its card, the metrics and the checkpoint of every run must have the bytes of the undisturbed one's.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMPARED = ("model*/weights.safetensors", "model*/model.json", "metrics.jsonl", "checkpoint.safetensors")


def command_of(folder: Path, options: list[str]) -> list[str]:
    """The same words for every run, because the card keeps them: the folder is where the command is started."""
    folder.mkdir(parents=True, exist_ok=True)
    return [sys.executable, "-m", "katachi", "train", "shapes", "--run", "run", *options]


def digests(run: Path) -> dict[str, str]:
    """The files that must be the same, and what is in them."""
    files = sorted(file for pattern in COMPARED for file in run.glob(pattern))
    return {str(file.relative_to(run)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def finish(folder: Path, options: list[str]) -> None:
    """Let the command end by itself."""
    subprocess.run(command_of(folder, options), cwd=folder, check=True, capture_output=True)


def lines_of(run: Path) -> int:
    """How many evaluations a run has on disk."""
    metrics = run / "metrics.jsonl"
    return metrics.read_text().count("\n") if metrics.exists() else 0


def start_command(folder: Path, options: list[str]) -> subprocess.Popen[bytes]:
    silence = subprocess.DEVNULL
    return subprocess.Popen(command_of(folder, options), cwd=folder, stdout=silence, stderr=silence)


def wait_for_line(process: subprocess.Popen[bytes], run: Path, before: int) -> None:
    """Wait until there is a new evaluation, or the command is through."""
    while process.poll() is None and lines_of(run) <= before:
        time.sleep(0.002)


def kill_once(folder: Path, options: list[str], delay: float, *, learning: bool) -> bool:
    """Start the command and kill it after a delay, counted from its first new evaluation if ``learning``.

    Returns whether it was still at work.
    """
    before = lines_of(folder / "run")
    process = start_command(folder, options)
    if learning:
        wait_for_line(process, folder / "run", before)
    try:
        process.wait(timeout=delay)
    except subprocess.TimeoutExpired:
        process.kill()
    return process.wait() == -signal.SIGKILL


class Killer:
    """Disturbs runs below a folder."""

    def __init__(self, base: Path, options: list[str], seed: int) -> None:
        self.base = base
        self.options = options
        self.draw = random.Random(seed)
        self.runs = self.kills = 0
        finish(base / "whole", options)  # compiles what must be compiled
        self.seconds, self.learning_seconds = self._time_undisturbed()
        self.want = digests(base / "whole" / "run")
        self.lines = lines_of(base / "whole" / "run")

    def _time_undisturbed(self) -> tuple[float, float]:
        """The seconds of the whole command, and those from its first evaluation on."""
        start = time.monotonic()
        process = start_command(self.base / "once more", self.options)
        wait_for_line(process, self.base / "once more" / "run", 0)
        first = time.monotonic()
        process.wait()
        return time.monotonic() - start, time.monotonic() - first

    def disturb_a_run(self, most: int) -> None:
        """Kill a new run until it has come to its last evaluation, and compare; raises ValueError if bytes differ."""
        folder = self.base / f"{self.runs}"
        self.runs += 1
        while self.kills < most and lines_of(folder / "run") < self.lines:
            learning = self.draw.random() < 0.75
            delay = self.draw.uniform(0, self.learning_seconds / 4 if learning else self.seconds)
            self.kills += kill_once(folder, self.options, delay, learning=learning)
            print(f"run {self.runs}, kill {self.kills}: {lines_of(folder / 'run')} evaluations on disk", flush=True)
        finish(folder, self.options)
        if digests(folder / "run") != self.want:
            raise ValueError(f"run {self.runs} ended in other bytes than the undisturbed one")


def main() -> None:
    parser = argparse.ArgumentParser(description="Kill training at random moments and compare the bytes.")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments, options = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as temporary:
        killer = Killer(Path(temporary), options, arguments.seed)
        print(f"undisturbed: {killer.seconds:.1f} s, {killer.lines} evaluations, {len(killer.want)} files compared")
        while killer.kills < arguments.kills:
            killer.disturb_a_run(arguments.kills)
    print(f"{killer.kills} kills in {killer.runs} runs: all ended in the bytes of the undisturbed one")


if __name__ == "__main__":
    main()
