"""Change the program for the worse, one place at a time, and see whether the tests notice.

    python tools/mutate.py --sample 200 --minutes 60
    python tools/mutate.py core/disk.py go/kernels --sample 20 --show

A mutant is a copy of the source with one comparison, sum, bound, condition or call changed. It is killed if a test of
its module fails or hangs, and else survives: then a test is missing, or the change means nothing. Kernels are tested
as plain Python, without the compiler. The same seed chooses the same mutants. What was found is kept in a run folder:
the same command resumes, and with --again it tries survivors anew, after tests were added.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
SOURCE: Final = ROOT / "src" / "katachi"
PLAYOUT: Final = "tests/go/test_playouts.py::test_a_playout_plays_what_it_says_and_only_sensible_moves"
TESTS: Final = {  # that notice a fault of a module, the quickest first
    "go/kernels/board.py": ["tests/go/test_board.py", "tests/go/test_game.py", "tests/go/test_tactics.py"],
    "go/kernels/ladders.py": ["tests/go/test_ladders.py::test_pictures"],
    "go/kernels/playouts.py": ["tests/go/test_nakade.py", f"{PLAYOUT}[5]", f"{PLAYOUT}[7]"],
    "go/kernels/replay.py": ["tests/sgf/test_replay.py", "tests/data/test_recorded_moves.py"],
    "go/kernels/scoring.py": ["tests/go/test_scoring.py", "tests/go/test_life.py"],
    "go/kernels/values.py": [f"{PLAYOUT}[5]"],
    "sgf/parsing.py": ["tests/sgf/test_parsing.py", "tests/sgf/test_decoding.py", "tests/sgf/test_files.py"],
    "sgf/tree.py": ["tests/sgf/test_parsing.py", "tests/sgf/test_writing.py", "tests/sgf/test_replay.py"],
    "sgf/record.py": ["tests/sgf/test_replay.py", "tests/sgf/test_parsing.py", "tests/sgf/test_summary.py"],
    "sgf/repairs.py": ["tests/sgf/test_parsing.py", "tests/sgf/test_files.py"],
    "sgf/writing.py": ["tests/sgf/test_writing.py"],
    "sgf/files.py": ["tests/sgf/test_files.py", "tests/sgf/test_summary.py"],
    "gtp/protocol.py": ["tests/gtp/test_protocol.py"],
    "gtp/serving.py": ["tests/gtp/test_serving.py"],
    "gtp/client.py": ["tests/gtp/test_client.py"],
    "gtp/engine.py": ["tests/gtp/test_transcripts.py"],
    "gtp/session.py": ["tests/gtp/test_transcripts.py", "tests/gtp/test_clock.py"],
    "gtp/analysis.py": ["tests/gtp/test_transcripts.py", "tests/gtp/test_serving.py"],
    "gtp/analysis_engine.py": ["tests/gtp/test_analysis_engine.py"],
    "gtp/commands/admin.py": ["tests/gtp/test_transcripts.py", "tests/gtp/test_protocol.py"],
    "gtp/commands/inspect.py": ["tests/gtp/test_transcripts.py", "tests/gtp/test_confinement.py"],
    "gtp/commands/play.py": ["tests/gtp/test_transcripts.py", "tests/gtp/test_confinement.py"],
    "core/disk.py": ["tests/core/test_disk.py"],
}
TIMEOUT: Final = 300.0  # seconds of the tests of a module
COMPARISONS: Final = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
SUMS: Final = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult}


class Mutant(NamedTuple):
    """A module with one change, said in words."""

    module: str
    line: int
    what: str
    text: str

    @property
    def key(self) -> str:
        """The same for the same change of the same source."""
        return hashlib.sha256(f"{self.module} {self.text}".encode()).hexdigest()


class Place(NamedTuple):
    """A change that can be made: of which node of a module, in the order of a walk, and which of its changes."""

    module: str
    node: int
    change: int


def places(module: str, text: str) -> Iterator[Place]:
    """All changes of a module, but for those of annotations and of what only type checkers read."""
    tree = ast.parse(text)
    untested = {id(inner) for node in ast.walk(tree) for part in for_checkers(node) for inner in ast.walk(part)}
    for number, node in enumerate(ast.walk(tree)):
        if id(node) not in untested:
            yield from (Place(module, number, change) for change, _ in enumerate(changes(node)))


def make(place: Place, text: str) -> Mutant:
    """The module with a change."""
    tree = ast.parse(text)
    node = next(itertools.islice(ast.walk(tree), place.node, None))
    what, change = list(changes(node))[place.change]
    change(node)
    return Mutant(place.module, getattr(node, "lineno", 0), what, ast.unparse(ast.fix_missing_locations(tree)))


def mutate(module: str, text: str) -> Iterator[Mutant]:
    """All mutants of a module."""
    return (make(place, text) for place in places(module, text))


def for_checkers(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that no test can notice."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return [node]
    parts = [getattr(node, name, None) for name in ("annotation", "returns")]
    return [part for part in parts if isinstance(part, ast.AST)]


def changes(node: ast.AST) -> Iterator[tuple[str, Callable[[Any], object]]]:
    """What can be changed about a node: words, and a function that does it to its twin."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        other = COMPARISONS[type(node.ops[0])]
        yield f"{ast.unparse(node)}: {other.__name__}", lambda twin: twin.ops.__setitem__(0, other())
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in SUMS:
        sum_ = SUMS[type(node.op)]
        yield f"{ast.unparse(node)}: {sum_.__name__}", lambda twin: setattr(twin, "op", sum_())
    elif isinstance(node, ast.BoolOp):
        or_and = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield f"{ast.unparse(node)}: {or_and.__name__}", lambda twin: setattr(twin, "op", or_and())
    elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        yield f"{node.value} becomes {value}", lambda twin: setattr(twin, "value", value)
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        negated = ast.UnaryOp(ast.Not(), copy.deepcopy(node.test))
        yield f"not ({ast.unparse(node.test)})", lambda twin: setattr(twin, "test", negated)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield f"without {ast.unparse(node)}", lambda twin: setattr(twin, "value", ast.Constant(None))


class Workspace:
    """A copy of the package, in which one module at a time is changed."""

    def __init__(self, folder: Path) -> None:
        shutil.copytree(SOURCE, folder / "katachi", ignore=shutil.ignore_patterns("__pycache__"))
        self._folder = folder

    def kills(self, mutant: Mutant) -> bool:
        """Whether the tests of its module notice a mutant."""
        target = self._folder / "katachi" / mutant.module
        original = target.read_bytes()
        target.write_text(mutant.text, encoding="utf-8")
        try:
            return not self.passes(mutant.module)
        finally:
            target.write_bytes(original)

    def passes(self, module: str) -> bool:
        """Whether the tests of a module pass, in time."""
        plain = {"NUMBA_DISABLE_JIT": "1"} if "kernels" in module else {}
        environment = os.environ | plain | {"PYTHONPATH": str(self._folder), "PYTHONDONTWRITEBYTECODE": "1"}
        options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:randomly"]
        options += ["-W", "ignore:overflow encountered:RuntimeWarning"] if plain else []  # words wrap
        command = [sys.executable, "-m", "pytest", *options, *TESTS[module]]
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


class Results:
    """What became of mutants, kept line by line: a kill loses the one that was being tried."""

    def __init__(self, file: Path, *, again: bool = False) -> None:
        self._file = file
        self._killed: dict[str, bool] = {}
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        for line in lines:
            found = json.loads(line)
            self._killed[found["key"]] = found["killed"]
        if again:
            self._killed = {key: killed for key, killed in self._killed.items() if killed}

    def get(self, mutant: Mutant) -> bool | None:
        """Whether a mutant was killed, None if it was not tried."""
        return self._killed.get(mutant.key)

    def add(self, mutant: Mutant, *, killed: bool) -> None:
        self._killed[mutant.key] = killed
        found = {"key": mutant.key, "killed": killed, "module": mutant.module, "line": mutant.line, "what": mutant.what}
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")


def choose(names: list[str], sample: int, seed: int) -> tuple[list[Mutant], int]:
    """A sample of the mutants of some modules, or of all below some folders, and how many there are."""
    modules = [module for module in TESTS if not names or any(module == name or f"{name}/" in module for name in names)]
    if not modules:
        raise SystemExit(f"{', '.join(names)}: known are {', '.join(TESTS)}")
    texts = {module: (SOURCE / module).read_text(encoding="utf-8") for module in modules}
    found = [place for module, text in texts.items() for place in places(module, text)]
    random.Random(seed).shuffle(found)
    return [make(place, texts[place.module]) for place in found[:sample]], len(found)


def try_all(mutants: list[Mutant], results: Results, seconds: float, *, show: bool) -> None:
    """Try the mutants that were not tried yet, for so long. Tests must pass without a change before they count."""
    end, sound = time.monotonic() + seconds, dict[str, bool]()
    with TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder))
        for mutant in mutants:
            if results.get(mutant) is not None:
                continue
            if time.monotonic() > end:
                break
            if not sound.setdefault(mutant.module, sound.get(mutant.module) or workspace.passes(mutant.module)):
                raise SystemExit(f"the tests of {mutant.module} fail without a change")
            killed = workspace.kills(mutant)
            results.add(mutant, killed=killed)
            if show or not killed:
                print(f"{'killed' if killed else 'SURVIVES'}: {mutant.module}:{mutant.line}: {mutant.what}", flush=True)


def report(mutants: list[Mutant], results: Results, count: int) -> Iterator[str]:
    """How many were killed, by module and in all, and which survive."""
    tried = [(mutant, killed) for mutant in mutants if (killed := results.get(mutant)) is not None]
    by_module = Counter(mutant.module for mutant, _ in tried)
    kills = Counter(mutant.module for mutant, killed in tried if killed)
    yield "\n| module | killed | tried |\n|---|---|---|"
    yield from (f"| {module} | {kills[module]} | {by_module[module]} |" for module in TESTS if by_module[module])
    yield ""
    yield from (f"survives: {mutant.module}:{mutant.line}: {mutant.what}" for mutant, killed in tried if not killed)
    share = f" ({100 * kills.total() / len(tried):.1f} %)" if tried else ""
    yield f"{kills.total()} of {len(tried)} mutants killed{share}, of {count} that there are"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", help=f"or folders below src/katachi; known are {', '.join(TESTS)}")
    parser.add_argument("--sample", type=int, default=200, help="how many mutants to try, of all")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop after so many minutes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--run", type=Path, default=ROOT / "build" / "mutants", help="the folder that keeps results")
    parser.add_argument("--again", action="store_true", help="try those that survived again")
    parser.add_argument("--show", action="store_true", help="show the mutants that are killed, too")
    arguments = parser.parse_args()
    mutants, count = choose(arguments.modules, arguments.sample, arguments.seed)
    results = Results(arguments.run / "results.jsonl", again=arguments.again)
    try_all(mutants, results, 60 * arguments.minutes, show=arguments.show)
    print("\n".join(report(mutants, results, count)))


if __name__ == "__main__":
    main()
