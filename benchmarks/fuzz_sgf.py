"""Fuzz the SGF reader with atheris: any bytes must give a result or an SgfError, and what was read must read back.

pip install 'katachi[fuzz]'
python benchmarks/fuzz_sgf.py -runs=1000000 [CORPUS_FOLDER] [any other libFuzzer option]

Replaying is not instrumented (it is compiled) but is run. At the end the slowest input is told; libFuzzer itself
stops at an input that takes longer than ``-timeout`` seconds, here 1 unless told otherwise.
"""

from __future__ import annotations

import atexit
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from katachi.core.registry import EXTRAS

try:
    import atheris
except ImportError:
    sys.exit(str(EXTRAS["atheris"]))

import katachi.go.game  # noqa: F401 - before instrumenting, which compiled functions do not survive

with atheris.instrument_imports(include=["katachi.sgf"]):
    from katachi.sgf import SgfError, format_sgf, parse_sgf

# Tried first: a fuzzer finds brackets by itself, but hardly names and what gives them a meaning.
SEEDS = [
    b"(;GM[1]FF[4]CA[UTF-8]SZ[9]KM[6.5]HA[2]AB[gc][cg]PL[W]RU[Japanese]PB[a]PW[b]RE[W+R];W[ee];B[];W[tt](;B[aa])(;B[bb]C[x\\]y]))",
    b"junk (SZ[9:9];B[aa];W[aa];AE[aa:bb]AW[cc]",
    "(;GM[1]SZ[19]PB[古力]C[黑中盘胜])".encode("gb18030"),
    "(;GM[1]CA[Shift_JIS]SZ[19]PB[小林光一]C[ソ])".encode("cp932"),
    b"\xff\xfe(\0;\0S\0Z\0[\x009\0]\0)\0",
    b"(;SiZe[3]KM[6,5];B[ba];W[aa];B[ab];W[bb];B[aa];W[ca]C[a [b] c])(;GM[1])",
]

_slowest = (0.0, b"")
_runs = 0


def one_input(data: bytes) -> None:
    """Read, write, read again and replay."""
    global _slowest, _runs
    _runs += 1
    start = time.process_time()
    _exercise(data)
    seconds = time.process_time() - start
    if seconds > _slowest[0] and _runs > 10:  # the first ones compile
        _slowest = seconds, bytes(data)


def _exercise(data: bytes) -> None:
    try:
        games = parse_sgf(data)
    except SgfError:
        return
    for game in games:
        again = parse_sgf(format_sgf(game))[0]
        if not again.root.is_same_tree(game.root):
            raise AssertionError(f"the tree does not read back equal: {data!r}")
        try:
            ending = game.replay_to_end()
            board = game.replay().board
        except SgfError:
            continue
        if ending.board.stones.tolist() != board.stones.tolist():
            raise AssertionError(f"the two ways of replaying end differently: {data!r}")


def _tell() -> None:
    print(f"{_runs} executions; slowest {_slowest[0]:.3f} s: {_slowest[1][:200]!r}", flush=True)


def main() -> None:
    atexit.register(_tell)
    with TemporaryDirectory() as folder:
        for number, seed in enumerate(SEEDS):
            Path(folder, f"{number}.sgf").write_bytes(seed)
            one_input(seed)
        limit = [] if any(word.startswith("-timeout") for word in sys.argv) else ["-timeout=1"]
        atheris.Setup([*sys.argv, *limit, f"-seed_inputs={_seed_inputs(folder)}"], one_input)
        atheris.Fuzz()


def _seed_inputs(folder: str) -> str:
    return ",".join(map(str, sorted(Path(folder).iterdir())))


if __name__ == "__main__":
    main()
