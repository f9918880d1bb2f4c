"""Freeze what katachi does into a folder of texts, and compare two such folders.

```
python tools/oracles.py freeze FOLDER [--source SRC] [--jobs N] [--only NAME…]
python tools/oracles.py compare FOLDER OTHER [--only NAME…]
```

An *oracle* is a function that runs katachi and returns texts: digests of the weights of tiny training runs, predictions
of the pretrained models, GTP dialogues of all players, help, reports. Whatever moves inside the package, these stay the
same on one machine with the same libraries. katachi is driven from outside alone, by its command line, with the
interpreter that runs this script and ``SRC`` (by default the ``src`` beside this folder) as PYTHONPATH. It works in a
temporary folder; paths, times, commits and versions are taken out of what is kept. ``oracles.toml`` says what is run.

Left out, because they differ from run to run: thinking by the clock, several threads, delayed priors, and rates.
"""

from __future__ import annotations

import argparse
import difflib
import fnmatch
import hashlib
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any, Final

Texts = dict[str, str]  # what an oracle returns, by the end of the file's name

_CONFIG: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_SHOWN_LINES: Final = 40  # of the difference of one file
_VOLATILE: Final = (
    (r'"commit": ?(null|"[^"]*")', '"commit": "COMMIT"'),
    (r"\b[0-9a-f]{40}(-dirty)?\b", "COMMIT"),
    (r'"(seconds|core_seconds|hours|processes|games_per_minute_and_process)": ?[-+.\de]+', r'"\1": 0'),
    (r'"(katachi|python|platform|numba|numpy)": ?"[^"]*"', r'"\1": "VERSION"'),
    (r"katachi \d+\.\d+\.\d+\w*", "katachi VERSION"),
    (r"(?<!\d)20\d\d-\d\d-\d\d([T ][\d:.]+(Z|[+-]\d\d:?\d\d)?)?", "DATE"),
)


class Workspace:
    """A temporary folder in which katachi runs, and what several oracles need there."""

    def __init__(self, folder: Path, source: Path) -> None:
        """Raises SystemExit if another katachi than that of ``source`` would run."""
        self.folder, self.source = folder, source
        self._locks: defaultdict[str, RLock] = defaultdict(RLock)
        one_thread = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS")}
        plain = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
        self._environment = os.environ | one_thread | plain | {"PYTHONPATH": str(source)}
        code = [sys.executable, "-c", "import katachi; print(katachi.__file__)"]
        found = subprocess.run(code, cwd=folder, env=self._environment, capture_output=True, text=True, check=True)
        if source not in Path(found.stdout.strip()).resolve().parents:
            sys.exit(f"{found.stdout.strip()} would run, not what is in {source}")

    def start(self, arguments: Sequence[str]) -> subprocess.Popen[str]:
        """Start a katachi command, with pipes."""
        command, pipe = [sys.executable, "-m", "katachi", *arguments], subprocess.PIPE
        return subprocess.Popen(
            command, cwd=self.folder, env=self._environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )

    def run(self, command: str, *arguments: str, stdin: str = "") -> str:
        """What a katachi command prints; after a failure, also the exit code and what went to standard error."""
        process = self.start([*shlex.split(command), *arguments])
        out, errors = process.communicate(stdin)
        if process.returncode:
            out += f"exit code {process.returncode}\n{errors}"
        return self.clean(out)

    def run_json(self, command: str, *arguments: str) -> str:
        """The same with ``--json``, in many lines."""
        return format_json(self.run(command, *arguments, "--json"))

    def names(self, what: str) -> list[str]:
        """The names of all ``models`` or ``players`` of the package."""
        return [found["name"] for found in json.loads(self.run(f"{what} --json"))[what]]

    def clean(self, text: str) -> str:
        """The text without what differs from run to run, or from one version to the next."""
        text = text.replace(str(self.folder), "WORK").replace(str(self.source), "SRC")
        for pattern, replacement in _VOLATILE:
            text = re.sub(pattern, replacement, text)
        return "".join(line.rstrip() + "\n" for line in text.splitlines())

    def read(self, path: str | Path) -> str:
        """A text file, cleaned."""
        return self.clean((self.folder / path).read_text(encoding="utf-8"))

    def read_all(self, paths: Iterable[str | Path]) -> str:
        """Text files one after the other, with their names."""
        return "".join(f"── {path}\n{self.read(path)}" for path in paths)

    def write(self, path: str, text: str) -> str:
        """Write a file and return its path."""
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8")
        return path

    def files(self, path: str, *suffixes: str) -> list[Path]:
        """All files below a folder, or those with a suffix, relative to the workspace."""
        found = sorted(file for file in (self.folder / path).rglob("*") if file.is_file() and file.name != ".lock")
        return [file.relative_to(self.folder) for file in found if not suffixes or file.suffix in suffixes]

    def records(self, size: int) -> str:
        """A collection of 40 games of simple players, with ranks in place of what is not a part of the game."""
        path, played = f"records/{size}.sgf", f"records/played-{size}.sgf"
        if not (self.folder / path).exists():
            (self.folder / "records").mkdir(exist_ok=True)
            self.run(f"data selfplay alp influence --size {size} --games 40 --out {played}")
            games = re.sub(r"\b(AP|CA|PB|PW|RO|C)\[[^\]]*\]", "", self.read(played)).split("(;")[1:]
            ranked = (f"(;BR[{1 + number % 9}d]WR[{1 + number % 5}d]{game}" for number, game in enumerate(games))
            self.write(path, "".join(ranked))
        return path

    def game(self, size: int, moves: int) -> str:
        """A record of the first moves of one of these games."""
        first = self.read(self.records(size)).split("(;")[1].replace("\n", "").rstrip(")")
        return self.write(f"records/{moves}-moves.sgf", f"(;{';'.join(first.split(';')[: 1 + moves])})\n")

    def dataset(self, size: int) -> str:
        """A labeled dataset of these games."""
        path = f"sets/{size}"
        if not (self.folder / path).exists():
            self.run(f"data import {self.records(size)} --out {path}")
            self.run(f"data label {path} --by playouts")
        return path

    def train(self, name: str) -> str:
        """The folder of a training run."""
        run = f"runs/{name}"
        with self._locks[name]:
            if not (self.folder / f"{run}.txt").exists():
                self.write(f"{run}.txt", self.run("", *self.training(name, run)))
        return run

    def training(self, name: str, run: str) -> list[str]:
        """The command of a training run, after those that it begins with."""
        command: str = _CONFIG["trainings"][name].format_map(_CONFIG["parts"])
        self.dataset(5)
        for other in re.findall(r"\bruns/([\w-]+)", command):
            self.train(other)
        return ["train", *shlex.split(command), "--out" if name == "patterns" else "--run", run]


def format_json(text: str) -> str:
    """JSON in many lines; any other text as it is."""
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"
    except ValueError:
        return text


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:24]


# The oracles

Oracle = Callable[[Workspace], Texts]
ORACLES: Final[dict[str, Oracle]] = {}


def oracle(name: str) -> Callable[[Oracle], Oracle]:
    """Register a function under a name."""
    return lambda function: ORACLES.setdefault(name, function)


# Training


def list_arrays(path: Path) -> Iterator[str]:
    """Name, type, shape and digest of every array in a safetensors file."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    for name, array in sorted(json.loads(content[8:start]).items()):
        if name != "__metadata__":
            first, last = array["data_offsets"]
            values = hashlib.sha256(content[start + first : start + last]).hexdigest()[:24]
            yield f"{name} {array['dtype']} {array['shape']} {values}"


def list_weights(workspace: Workspace, run: str, *, checkpoints: bool) -> str:
    """The arrays of all models of a run, or those of its checkpoints."""
    lines: list[str] = []
    for path in workspace.files(run, ".safetensors", ".onnx"):
        if path.stem.startswith("checkpoint") == checkpoints:
            file = workspace.folder / path
            found = [digest(file)] if path.suffix == ".onnx" else list_arrays(file)
            lines += [f"{path.relative_to(run)} {line}\n" for line in found]
    return "".join(lines)


def freeze_training(workspace: Workspace, name: str) -> Texts:
    """Weights, metrics, cards and files of a run."""
    run = workspace.train(name)
    return {
        "weights.txt": list_weights(workspace, run, checkpoints=False),
        "checkpoint.txt": list_weights(workspace, run, checkpoints=True),
        "metrics.txt": workspace.read_all(workspace.files(run, ".jsonl")),
        "card.txt": workspace.read_all(workspace.files(run, ".json")),
        "run.txt": workspace.read_all([*workspace.files(run, ".toml", ".txt"), f"{run}.txt"]),
        "files.txt": "".join(f"{path}\n" for path in workspace.files(run)),
    }


for _name in _CONFIG["trainings"]:
    oracle(f"train-{_name}")(partial(freeze_training, name=_name))


@oracle("resume")
def resume(workspace: Workspace) -> Texts:
    """Runs that are killed after their first evaluation, and resumed, end in the same weights."""
    text = ""
    for name in _CONFIG["resumed"]:
        run, whole = f"runs/{name}-resumed", workspace.train(name)
        command = workspace.training(name, run)
        kill_after_evaluation(workspace, command, workspace.folder / run / "metrics.jsonl")
        workspace.run("", *command)
        for checkpoints in (False, True):
            both = [list_weights(workspace, folder, checkpoints=checkpoints) for folder in (run, whole)]
            text += (
                f"{name}, {'checkpoint' if checkpoints else 'weights'}: {'same' if both[0] == both[1] else 'others'}\n"
            )
    return {"txt": text}


def kill_after_evaluation(workspace: Workspace, command: Sequence[str], metrics: Path) -> None:
    """Start a run, and kill it as soon as there is a line of metrics."""
    process = workspace.start(command)
    while process.poll() is None and not metrics.exists():
        time.sleep(0.002)
    process.kill()
    process.communicate()
    if process.returncode == 0:
        print(f"  {' '.join(command)} ended before it could be killed")


@oracle("data")
def data(workspace: Workspace) -> Texts:
    """Games of two players, the dataset of them, and what the commands report."""
    path = workspace.dataset(5)
    arrays = (f"{file} {digest(workspace.folder / file)}\n" for file in workspace.files(path, ".npy"))
    return {
        "games.sgf": workspace.read("records/played-5.sgf"),
        "arrays.txt": "".join(arrays),
        "cards.txt": workspace.read_all(workspace.files(path, ".json")),
        "import.json": workspace.run_json(f"data import {workspace.records(5)} --out {path}"),
        "label.json": workspace.run_json(f"data label {path} --by playouts"),
        "info.json": workspace.run_json(f"data info {workspace.records(5)}"),
    }


# GTP


def write_player(workspace: Workspace, name: str) -> str:
    """The TOML file of a player of the configuration; what JSON writes of its values is TOML, too."""
    tables: dict[str, dict[str, Any]] = _CONFIG["players"][name]
    lines = ['kind = "search"\n']
    for table, values in tables.items():
        lines += [f"[{table}]\n", *(f"{key} = {json.dumps(value)}\n" for key, value in values.items())]
    return workspace.write(f"players/{name}.toml", "".join(lines))


def board_size(name: str) -> int:
    """The size of the boards that a player or a model is for."""
    found = re.search(r"-(5|9|13|19)$", name)
    return int(found[1]) if found and not name.startswith("level") else 9


def random_moves(size: int, count: int) -> list[str]:
    """Commands that play points in a fixed random order; GTP refuses what is illegal."""
    points = [f"{column}{row + 1}" for column in "ABCDEFGHJKLMNOPQRST"[:size] for row in range(size)]
    drawn = random.Random(size).choices(points, k=count)
    return [f"play {'bw'[number % 2]} {point}" for number, point in enumerate(drawn)]


def converse(workspace: Workspace, player: str, commands: Sequence[str]) -> str:
    """GTP commands, and what a player answers."""
    said = workspace.run("gtp", player, "--seed", "1", stdin="".join(f"{command}\n" for command in [*commands, "quit"]))
    return "".join(f"> {command}\n{answer}\n" for command, answer in zip(commands, said.split("\n\n"), strict=False))


def freeze_player(workspace: Workspace, name: str, player: str) -> str:
    """Moves of a player against itself on one thread, what it thinks of them, and the state of the game."""
    size, gtp = board_size(name), _CONFIG["gtp"]
    more = [line for begin, lines in gtp["more_limits"].items() if name.startswith(begin) for line in lines]
    start = ["name", "kata-get-params", *gtp["limits"], *more, f"boardsize {size}", "komi 6.5", *random_moves(size, 4)]
    return converse(workspace, player, [*start, *gtp["playing"]])


@oracle("gtp-players")
def gtp_players(workspace: Workspace) -> Texts:
    """All players of the package."""
    names = [name for name in workspace.names("players") if name not in _CONFIG["gtp"]["left_out"]]
    return {f"{name}.txt": freeze_player(workspace, name, name) for name in names}


@oracle("gtp-searches")
def gtp_searches(workspace: Workspace) -> Texts:
    """Players of every kind of search, from TOML files."""
    names: Iterable[str] = _CONFIG["players"]
    return {f"{name}.txt": freeze_player(workspace, name, write_player(workspace, name)) for name in names}


@oracle("predictions")
def predictions(workspace: Workspace) -> Texts:
    """Value, policy and ownership of ten positions by every pretrained model, in six decimals."""
    texts = {}
    players = {name: name for name in workspace.names("models")}
    players |= {f"option-{name}": write_player(workspace, name) for name in ("policy", "policy-int8")}
    for name, player in players.items():
        size = board_size(name)
        commands, moves = [f"boardsize {size}", "kata-get-models", "kata-raw-nn 0"], random_moves(size, 9 * size)
        for first in range(0, len(moves), size):
            commands += [*moves[first : first + size], "kata-raw-nn 0"]
        commands += ["kata-raw-nn 5", "katachi-stone_values", "katachi-shapes", "list_stones b", "list_stones w"]
        texts[f"{name}.txt"] = converse(workspace, player, commands)
    return texts


# The command line


@oracle("help")
def show_help(workspace: Workspace) -> Texts:
    """``--help`` of all commands."""
    found, waiting = Texts(), [""]
    while waiting:
        command = waiting.pop(0)
        text = found[f"katachi{command}.txt".replace(" ", "-")] = workspace.run(command, "--help")
        listed = text.partition("\nCommands:\n")[2]
        waiting += [f"{command} {name}" for name in re.findall(r"^  ([\w-]+)  ", listed, flags=re.MULTILINE)]
    return found


def print_commands(workspace: Workspace, commands: Sequence[str]) -> Texts:
    """What commands print, or how they fail; further lines of a command are its input."""
    parts = [command.partition("\n") for command in commands]
    return {"txt": "".join(f"── {line}\n{format_json(workspace.run(line, stdin=said))}" for line, _, said in parts)}


for _name, _commands in _CONFIG["printed"].items():
    oracle(_name)(partial(print_commands, commands=_commands))


@oracle("models")
def models(workspace: Workspace) -> Texts:
    """The list of models, and what ``show`` draws of each: weights or the empty board, and a position of a game."""
    texts = {"list.txt": workspace.run("models"), "list.json": workspace.run_json("models")}
    for name in workspace.names("models"):
        texts[f"{name}.txt"] = workspace.run(f"show {name} --per-set 4")
        if board_size(name) == 9:
            texts[f"{name}.position.txt"] = workspace.run(f"show {name} --sgf {workspace.game(9, 30)} --move 20")
            workspace.run(f"show {name} --svg {name}.svg --html {name}.html")
            texts |= {f"{name}.{end}": workspace.read(f"{name}.{end}") for end in ("svg", "html")}
    return texts


@oracle("doctor")
def doctor(workspace: Workspace) -> Texts:
    """The names of its checks."""
    findings = json.loads(workspace.run("doctor --json"))["findings"]
    return {"txt": "".join(f"{finding['what']}, essential {finding['essential']}\n" for finding in findings)}


@oracle("match")
def match(workspace: Workspace) -> Texts:
    """Matches and a tournament: their reports and games."""
    simple = "match alp random --size 5 --games 6 --seed 3 --run runs/simple"
    searching = "match level-4 shapes-9 --games 2 --simulations 8 --run runs/searching"
    table = 'size = 5\ngames = 4\nseed = 2\n[players]\nalp = "alp"\nrandom = "random"\ninfluence = "influence"\n'
    many = f"tournament {workspace.write('many.toml', table)} --run runs/many --markdown many.md"
    texts = {f"{command.split('/')[-1]}.json": workspace.run_json(command) for command in (simple, searching)}
    texts |= {"many.json": workspace.run_json(many), "simple.txt": workspace.run(simple)}
    games = [path for run in ("simple", "searching", "many") for path in workspace.files(f"runs/{run}", ".sgf")]
    return texts | {"many.md": workspace.read("many.md"), "games.txt": workspace.read_all(games)}


@oracle("analyze")
def analyze(workspace: Workspace) -> Texts:
    """The analysis of a short game, with all kinds of models."""
    models = [f"--model={name}" for name in _CONFIG["analyzing_models"]]
    said = workspace.run(f"analyze {workspace.game(9, 16)} --player level-6 --out analysis", *models)
    return {
        "jsonl.txt": "".join(map(format_json, workspace.read("analysis/analysis.jsonl").splitlines())),
        "sgf": workspace.read("analysis/16-moves.sgf"),
        "html": workspace.read("analysis/report.html"),
        "txt": said + workspace.run("analyze analysis/16-moves.sgf --strip --out plain"),
        "plain.sgf": workspace.read("plain/16-moves.sgf"),
    }


def reproduce(workspace: Workspace, experiment: str) -> Texts:
    """The rows of a paper's tables, with the smallest budget."""
    command = f"reproduce {experiment} --budget smoke --data {workspace.dataset(9)} --table"
    return {f"{table}.json": workspace.run_json(command, table) for table in _CONFIG["tables"][experiment]}


for _name in _CONFIG["tables"]:
    oracle(f"reproduce-{_name}")(partial(reproduce, experiment=_name))


@oracle("bench")
def bench(workspace: Workspace) -> Texts:
    """What benchmarks measure, without how fast it is."""
    lines: list[str] = []
    for name in _CONFIG["benches"]:
        report = json.loads(workspace.run(f"bench {name} --seconds 0.001 --rounds 1 --json"))
        lines += [f"{name}: {row['name']}, {row['size']}, {row['threads']}, {row['unit']}\n" for row in report["rows"]]
    return {"txt": "".join(lines)}


# Freezing and comparing


def is_wanted(name: str, only: Sequence[str]) -> bool:
    return not only or any(fnmatch.fnmatch(name, pattern) for pattern in only)


def freeze(folder: Path, source: Path, only: Sequence[str], jobs: int) -> int:
    """Run the oracles, so many at a time, and write what they return."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="oracles-") as work, ThreadPoolExecutor(jobs) as pool:
        workspace = Workspace(Path(work).resolve(), source.resolve())
        for size in (5, 9):
            workspace.dataset(size)
        for line in pool.map(partial(consult, workspace, folder), (name for name in ORACLES if is_wanted(name, only))):
            print(line, flush=True)
    return 0


def consult(workspace: Workspace, folder: Path, name: str) -> str:
    """Write what an oracle returns, in place of what it returned before, and say how long it took."""
    start = time.perf_counter()
    try:
        texts = ORACLES[name](workspace)
    except (OSError, ValueError, KeyError) as error:  # a command failed, and did not leave what it should
        texts = {"failed.txt": f"{type(error).__name__}: {workspace.clean(str(error))}"}
    for old in folder.glob(f"{name}.*"):
        old.unlink()
    for end, text in texts.items():
        (folder / f"{name}.{end}").write_text(text, encoding="utf-8")
    return f"{name}: {time.perf_counter() - start:.1f} s"


def compare(folder: Path, other: Path, only: Sequence[str]) -> int:
    """Print how two frozen folders differ; returns 1 if they do."""
    names = sorted({path.name for where in (folder, other) for path in where.iterdir()})
    wanted = [name for name in names if is_wanted(name, [f"{pattern}.*" for pattern in only])]
    different = [name for name in wanted if not print_difference(folder / name, other / name)]
    print(f"{len(wanted) - len(different)} of {len(wanted)} files are the same", *different, sep="\n  ")
    return int(bool(different))


def print_difference(first: Path, second: Path) -> bool:
    """Print how two files differ; returns whether they are the same."""
    contents = [path.read_bytes() if path.exists() else b"" for path in (first, second)]
    if contents[0] == contents[1] and first.exists() and second.exists():
        return True
    texts = [content.decode().splitlines() for content in contents]
    lines = list(difflib.unified_diff(texts[0], texts[1], str(first), str(second), lineterm="", n=1))
    print(*lines[:_SHOWN_LINES], sep="\n")
    if len(lines) > _SHOWN_LINES:
        print(f"… and {len(lines) - _SHOWN_LINES} lines")
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("command", choices=("freeze", "compare"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("other", type=Path, nargs="?", help="the folder to compare with")
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[1] / "src", help="the src folder to run")
    parser.add_argument("--jobs", type=int, default=1, help="commands at a time")
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="oracles by their names, or patterns")
    given = parser.parse_args()
    if given.command == "freeze":
        return freeze(given.folder, given.source, given.only, given.jobs)
    return compare(given.folder, given.other or parser.error("name two folders to compare"), given.only)


if __name__ == "__main__":
    sys.exit(main())
