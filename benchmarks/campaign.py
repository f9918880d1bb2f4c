"""Run the long checks for hours, part by part, and write their table for docs/verification.md.

    python benchmarks/campaign.py --run runs/campaign            # all of it: a day or two on two cores
    python benchmarks/campaign.py --run runs/campaign --table    # the table of what is done so far
    python benchmarks/campaign.py --run runs/try --scale 0.001   # everything once, at the smallest size

Every check is cut into parts, commands of some minutes with seeds of their own. A part that has ended is kept in the
run folder, with its command, output and exit status, and is not run again: the same command resumes after a kill, and
repeats what failed. Nothing but the parts' own output is counted.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from katachi.core.disk import write_atomically

ROOT: Final = Path(__file__).parents[1]
PYTHON: Final = sys.executable
KATACHI: Final = (PYTHON, "-m", "katachi")


class Part(NamedTuple):
    """A command that was run, and what it printed."""

    command: list[str]
    seconds: float
    status: int
    output: str


class Check(NamedTuple):
    """A promise, the command of a part of size {size} with seed {seed}, how much of it, and how to sum the parts up."""

    name: str
    what: str
    command: Sequence[str]
    size: int  # of a part
    parts: int
    sum_up: Callable[[Sequence[Part]], str]

    def scaled(self, scale: float) -> Check:
        """The same with fewer parts, and where that is not enough smaller ones."""
        wanted = self.size * self.parts * scale
        parts = max(1, min(self.parts, round(wanted / self.size)))
        return self._replace(parts=parts, size=max(1, min(self.size, round(wanted / parts))))

    def words(self, seed: int) -> list[str]:
        return [word.format(size=self.size, seed=seed) for word in self.command]

    def shown(self) -> str:
        """The command as a document has it."""
        line = " ".join(self.words(1)).replace(" ".join(KATACHI), "katachi").replace(PYTHON, "python")
        return f"`{line}`" + (f", {self.parts} times" if self.parts > 1 else "")


def total(parts: Iterable[Part], pattern: str) -> int:
    """The sum of a number in all outputs."""
    found = (match for part in parts for match in re.findall(pattern, part.output))
    return sum(int(number.replace(",", "")) for number in found)


def sum_kills(parts: Sequence[Part]) -> str:
    return f"{total(parts, r'([0-9]+) kills in'):,} kills: all ended in the bytes of the undisturbed run"


def sum_cluster(parts: Sequence[Part]) -> str:
    kills = total(parts, r"([0-9]+) kills, ") + total(parts, r"self-play through ([0-9]+)")
    games = total(parts, r"([0-9]+) games of tournaments") + total(parts, r"([0-9]+) of self-play")
    return f"{games:,} games through {kills:,} kills: 0 lost, 0 doubled, the first ones the same bytes"


def sum_executions(parts: Sequence[Part]) -> str:
    runs = total(parts, r"(?m)^Done ([0-9]+) runs") or total(parts, r"(?m)^([0-9,]+) executions")
    return f"{runs:,} executions, no failure"


def rows(part: Part) -> dict[str, float]:
    """What ``katachi bench --json`` printed."""
    report: dict[str, Any] = json.loads(part.output.splitlines()[-1])
    return {row["name"]: row["rate"] for row in report["rows"]}


def sum_clock(parts: Sequence[Part]) -> str:
    found = [rows(part) for part in parts]
    games, lost, moves = (int(sum(each[name] for each in found)) for name in ("games", "games lost on time", "moves"))
    longest = max(each["time for a move, longest"] for each in found)
    return f"{games:,} games, {moves:,} moves, {lost} lost on time; longest move {longest:.0f} ms"


def sum_memory(parts: Sequence[Part]) -> str:
    used = [list(rows(part).items()) for part in parts]
    moves = sum(int(re.search("[0-9]+", each[-1][0])[0]) for each in used)
    grown = max(abs(each[-1][1] / each[len(each) // 5][1] - 1) for each in used)
    return f"{moves:,} moves; memory at the end differs by {100 * grown:.1f} % from that after a fifth"


def sum_web(parts: Sequence[Part]) -> str:
    found = [rows(part) for part in parts]
    stones, errors = (int(sum(each[name] for each in found)) for name in ("stones", "errors"))
    worst = max(each["click to stone, p95"] for each in found)
    return (
        f"{found[0]['people']:.0f} users at once, {stones:,} stones, {errors} errors; click to stone p95 {worst:.0f} ms"
    )


def script(name: str, *words: str) -> tuple[str, ...]:
    return (PYTHON, f"benchmarks/{name}.py", *words)


def bench(*words: str) -> tuple[str, ...]:
    return (*KATACHI, "bench", *words, "--json")


_SHORT_RUN: Final = ("--size", "5", "--games", "20000", "--set", "evaluate_every=500", "--set", "test_games=50")
_KILLS: Final = ("--kills", "{size}", "--seed", "{seed}")
_RUNS: Final = ("-runs={size}", "-seed={seed}")
CHECKS: Final = (
    Check("kill-training", "training killed", script("kill_training", *_KILLS, *_SHORT_RUN), 20, 50, sum_kills),
    Check("kill-networks", "networks killed", script("kill_networks", *_KILLS), 20, 17, sum_kills),
    Check(
        "kill-cluster",
        "nodes killed",
        script("cluster", "kills", "--backend", "dask", "--kills", "{size}"),
        20,
        5,
        sum_cluster,
    ),
    Check("clock", "time on a busy machine", bench("clock", "--seconds", "1", "--rounds", "{size}"), 8, 125, sum_clock),
    Check("memory", "memory", bench("memory", "--rounds", "{size}"), 180, 1, sum_memory),
    Check("web", "browsers", bench("web", "--people", "50", "--seconds", "1", "--rounds", "{size}"), 600, 1, sum_web),
    Check("fuzz-gtp", "fuzzed GTP", script("fuzz_gtp", *_RUNS, "-max_len=160"), 500_000, 20, sum_executions),
    Check("fuzz-sgf", "fuzzed SGF", script("fuzz_sgf", *_RUNS, "-max_len=160"), 500_000, 20, sum_executions),
    *(
        Check(f"fuzz-{name}", f"fuzzed {name}", script("fuzz_files", name, *_RUNS), 500_000, 20, sum_executions)
        for name in ("json", "card", "safetensors", "onnx", "toml")
    ),
)


class Campaign:
    """Checks, and the folder that keeps their parts."""

    def __init__(self, folder: Path, checks: Sequence[Check]) -> None:
        self._folder = folder
        self._checks = checks
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, say: Callable[[str], object] = print) -> bool:
        """Run what is not done, one part of each check in turn. Whether all of it ended well."""
        for number in range(max(check.parts for check in self._checks)):
            for check in self._checks:
                if number < check.parts and not self._is_done(check, number):
                    part = run_part(check.words(number + 1))
                    self._keep(check, number, part)
                    say(f"{check.name} {number + 1}/{check.parts}: status {part.status}, {part.seconds:.0f} s")
        return all(self._is_done(check, number) for check in self._checks for number in range(check.parts))

    def table(self) -> str:
        """The checks with a part that is done, and every part that failed."""
        lines = ["| what | command | result |", "|---|---|---|"]
        for check in self._checks:
            parts = [part for number in range(check.parts) if (part := self._read(check, number)) is not None]
            good = [part for part in parts if part.status == 0]
            failed = len(parts) - len(good)
            result = check.sum_up(good) if good else "nothing"
            result += f"; {failed} of {len(parts)} PARTS FAILED" if failed else ""
            result += f" ({len(parts)} of {check.parts} parts)" if len(parts) < check.parts else ""
            if parts:
                lines.append(f"| {check.what} | {check.shown()} | {result} |")
        return "\n".join(lines) + "\n"

    def _file(self, check: Check, number: int) -> Path:
        return self._folder / f"{check.name}-{check.size}-{number + 1:03}.json"

    def _read(self, check: Check, number: int) -> Part | None:
        file = self._file(check, number)
        return Part(**json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else None

    def _is_done(self, check: Check, number: int) -> bool:
        part = self._read(check, number)
        return part is not None and part.status == 0

    def _keep(self, check: Check, number: int, part: Part) -> None:
        write_atomically(self._file(check, number), json.dumps(part._asdict(), indent=1) + "\n")


def run_part(command: list[str]) -> Part:
    """Run a command to its end."""
    start = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    output = done.stdout.decode(errors="replace")
    return Part(command, round(time.monotonic() - start, 1), done.returncode, output[-20_000:])


def run_alone(folder: Path, campaign: Campaign) -> bool:
    """Run a campaign, unless another process does so in the same folder."""
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"{folder}: this campaign is running") from None
        return campaign.run(lambda line: print(line, flush=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="the folder that keeps what is done")
    parser.add_argument("--only", action="append", choices=[check.name for check in CHECKS], help="may be repeated")
    parser.add_argument("--scale", type=float, default=1.0, help="how much of everything")
    parser.add_argument("--table", action="store_true", help="only print the table")
    arguments = parser.parse_args()
    wanted = [check.scaled(arguments.scale) for check in CHECKS if not arguments.only or check.name in arguments.only]
    campaign = Campaign(arguments.run, wanted)
    is_good = arguments.table or run_alone(arguments.run, campaign)
    table = campaign.table()
    (arguments.run / "table.md").write_text(table, encoding="utf-8")
    print(table, end="")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
