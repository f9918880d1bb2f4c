"""Change the program for the worse, one place at a time, and see whether the tests notice.

    python tools/mutate.py --sample 40 --minutes 10
    python tools/mutate.py core/disk.py --sample 20 --show

A mutant is a copy of the source with one comparison, sum, bound, condition or call changed. It is killed if a test of
its module fails or hangs, and else survives: then a test is missing, or the change means nothing. Kernels are tested
as plain Python, without the compiler. The same seed chooses the same mutants.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]
SOURCE: Final = ROOT / "src" / "katachi"
TESTS: Final = {  # that notice a fault of a module, the quickest first
    "go/kernels/board.py": ["tests/go/test_board.py", "tests/go/test_game.py", "tests/go/test_tactics.py"],
    "sgf/parsing.py": ["tests/sgf/test_parsing.py", "tests/sgf/test_decoding.py", "tests/sgf/test_files.py"],
    "sgf/tree.py": ["tests/sgf/test_parsing.py", "tests/sgf/test_writing.py", "tests/sgf/test_replay.py"],
    "sgf/writing.py": ["tests/sgf/test_writing.py"],
    "sgf/files.py": ["tests/sgf/test_files.py", "tests/sgf/test_summary.py"],
    "gtp/protocol.py": ["tests/gtp/test_protocol.py"],
    "gtp/serving.py": ["tests/gtp/test_serving.py"],
    "gtp/client.py": ["tests/gtp/test_client.py"],
    "core/disk.py": ["tests/core/test_disk.py"],
}
TIMEOUT: Final = 180.0  # seconds of the tests of a module
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


def mutate(module: str, text: str) -> Iterator[Mutant]:
    """All mutants of a module."""
    tree = ast.parse(text)
    for number, node in enumerate(ast.walk(tree)):
        for what, change in changes(node):
            twin = copy.deepcopy(tree)
            change(next(other for place, other in enumerate(ast.walk(twin)) if place == number))
            yield Mutant(module, getattr(node, "lineno", 0), what, ast.unparse(ast.fix_missing_locations(twin)))


def changes(node: ast.AST) -> Iterator[tuple[str, object]]:
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
        command = [sys.executable, "-m", "pytest", *options, *TESTS[module]]
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", help=f"below src/katachi; known are {', '.join(TESTS)}")
    parser.add_argument("--sample", type=int, default=40, help="how many mutants to try, of all")
    parser.add_argument("--minutes", type=float, default=10.0, help="stop after so many minutes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="show the mutants that are killed, too")
    arguments = parser.parse_args()
    modules = arguments.modules or list(TESTS)
    mutants = [each for module in modules for each in mutate(module, (SOURCE / module).read_text(encoding="utf-8"))]
    random.Random(arguments.seed).shuffle(mutants)
    end, killed, tried = time.monotonic() + 60 * arguments.minutes, 0, 0
    with TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder))
        for mutant in mutants[: arguments.sample]:
            if time.monotonic() > end:
                break
            tried += 1
            is_killed = workspace.kills(mutant)
            killed += is_killed
            if arguments.show or not is_killed:
                word = "killed" if is_killed else "SURVIVES"
                print(f"{word}: {mutant.module}:{mutant.line}: {mutant.what}", flush=True)
    print(f"{killed} of {tried} mutants killed, of {len(mutants)} that there are")


if __name__ == "__main__":
    main()
