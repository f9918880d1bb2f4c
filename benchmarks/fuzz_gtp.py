"""Fuzz the GTP engine with atheris: whatever bytes arrive, answers are well framed, no error but our own is told, and
no line takes a second.

    python benchmarks/fuzz_gtp.py -runs=1000000

Options are libFuzzer's; a folder given as an argument keeps what it finds. It begins with the lines of the golden
transcripts, and knows the names of all commands. Whenever a line takes longer than all before, it is printed.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from katachi.core.registry import EXTRAS

try:
    import atheris
except ImportError:
    sys.exit(str(EXTRAS["atheris"]))

# Before anything is instrumented: numba cannot compile kernels that are.
import katachi.sgf  # noqa: F401
from katachi.core.contracts import Analysis, Candidate, Decision
from katachi.go.points import PASS
from katachi.go.scoring import estimate_status

with atheris.instrument_imports(include=["katachi.gtp"]):
    from katachi.gtp.commands import inspect, play
    from katachi.gtp.engine import GtpEngine, commands
    from katachi.gtp.protocol import Line, LineSplitter, parse_command
    from katachi.gtp.serving import answer

SLOWEST_ALLOWED = 1.0  # seconds
GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "gtp"
FOLDER = tempfile.TemporaryDirectory()
ANSWER = re.compile(rb"[=?][0-9]*( [^\n]*)?\n([^\n]+\n)*\n")
FOREIGN_ERROR = re.compile(rb"^(\?[0-9]*|error:) \w+(Error|Exception|Illegal\w+):", re.MULTILINE)
WORDS = [
    "black",
    "white",
    "pass",
    "C3",
    "T19",
    "5",
    "0.5",
    "dead",
    "ownership true",
    "avoid b C3 1",
    "chinese",
    "game.sgf",
]


class LastPlayer:
    """Plays the last legal point, which costs next to nothing."""

    name = "last"

    def decide(self, game, limit):  # noqa: ARG002
        legal = game.legal_moves()[:-1].nonzero()[0]
        move = int(legal[-1]) if len(legal) else PASS
        return Decision(move, analysis=Analysis((Candidate(move, black_wins=0.5, prior=0.1),)))


class Slowest:
    """The longest time that a line has taken."""

    seconds = 0.02

    @classmethod
    def add(cls, line: Line, seconds: float) -> None:
        if seconds > cls.seconds:
            cls.seconds = seconds
            print(f"slowest: {seconds:.3f} s  {line.content[:60]!r}", file=sys.stderr)
        assert seconds < SLOWEST_ALLOWED, f"{seconds:.3f} s for {line.content[:200]!r}"


def test_one_input(data: bytes) -> None:
    engine = GtpEngine(LastPlayer(), size=5, directory=Path(FOLDER.name))
    splitter = LineSplitter(limit=300)
    for line in (*splitter.feed(data), *splitter.finish()):
        begun = time.perf_counter()
        reply = b"".join(answer(commands, engine._session, line))
        Slowest.add(line, time.perf_counter() - begun)
        assert not FOREIGN_ERROR.search(reply), (line, reply)
        assert ANSWER.fullmatch(reply) if parse_command(line.content) else reply == b"", (line, reply)


def write_beginnings(folder: Path) -> Path:
    """Transcripts as first inputs, and a dictionary of words, whose path is returned."""
    (Path(FOLDER.name) / "game.sgf").write_text("(;SZ[5]KM[0.5];B[cc];W[dd];B[])")
    for path in GOLDEN.glob("*.gtp"):
        lines = [line[2:] for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("> ")]
        for start in range(0, len(lines), 8):
            (folder / f"{path.stem}-{start}").write_text("\n".join(lines[start : start + 8]), encoding="utf-8")
    dictionary = folder.with_suffix(".dict")
    dictionary.write_text("".join(f'"{word}"\n' for word in (*commands.names, *WORDS)))
    return dictionary


def make_quick() -> None:
    """Leave out what is not tested here, playouts and waiting for the disk, and load what is compiled."""
    os.fsync = lambda _descriptor: None
    for module in (inspect, play):
        module.estimate_status = partial(estimate_status, playouts=4)
    engine = GtpEngine(LastPlayer(), size=5)
    for line in ("genmove b", "final_score", "all_legal w", "kgs-genmove_cleanup w", "gogui-setup b C3", "showboard"):
        engine.answer(line)


def main() -> None:
    make_quick()
    beginnings = Path(tempfile.mkdtemp(prefix="fuzz-gtp-"))
    dictionary = write_beginnings(beginnings)
    folders = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    options = [argument for argument in sys.argv[1:] if argument.startswith("-")]
    arguments = [sys.argv[0], f"-dict={dictionary}", "-max_len=400", "-timeout=10", *options, *folders, str(beginnings)]
    atheris.Setup(arguments, test_one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
