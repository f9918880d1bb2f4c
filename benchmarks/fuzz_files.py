"""Fuzz the readers of what others write: queries (json), cards, safetensors, ONNX and TOML.

    python benchmarks/fuzz_files.py json -runs=1000000

One of json, card, safetensors, onnx and toml is the first argument; other options are libFuzzer's. Without atheris the
inputs are changed at random, which needs nothing but time: ``--plain`` says so where atheris is there. Any bytes must
give a result or the error of the reader; the slowest input is printed.
"""

from __future__ import annotations

import io
import json
import random
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from katachi.core.cards import ModelError
from katachi.core.contracts import Analysis, Candidate, Decision
from katachi.core.disk import parse_toml
from katachi.core.models import CARD, PRETRAINED, WEIGHTS, parse_card, parse_tensors
from katachi.go.points import PASS
from katachi.gtp.analysis_engine import AnalysisEngine
from katachi.players.specs import SpecError, parse_spec
from katachi.policy.evaluator import ONNX, check_onnx

SLOWEST_ALLOWED = 1.0  # seconds of the processor
GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "first-release" / "runs" / "cnn" / "model"
QUERY = {"id": "q", "moves": [["B", "A1"]], "rules": "chinese", "komi": 0.5, "boardXSize": 3, "boardYSize": 3}
TOML = b'kind = "search"\n[evaluator]\nmodel = "policy-9"\nrank = 5\n[search]\nrave = 1e3\na.b = {c = 1}\n'


class Passer:
    """Decides at once."""

    name = "passer"

    def decide(self, game, limit):  # noqa: ARG002
        return Decision(PASS, analysis=Analysis((Candidate(PASS, 0.5),), 0.5))


def read_queries(data: bytes) -> None:
    """One line of JSON comes back for each that is not empty, and the next query is answered."""
    output = io.BytesIO()
    AnalysisEngine(Passer()).serve(io.BytesIO(data + b"\n" + json.dumps(QUERY).encode()), output)
    answers = [json.loads(line, parse_constant=_refuse) for line in output.getvalue().splitlines()]
    ended = [answer for answer in answers if "warning" not in answer]
    assert len(ended) > sum(1 for line in data.split(b"\n") if line.strip() and b"analyzeTurns" not in line)
    assert any(answer["id"] == "q" and "moveInfos" in answer for answer in answers if "id" in answer)


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def read_toml(data: bytes) -> None:
    text = data.decode(errors="replace")
    for read, fault in ((parse_toml, tomllib.TOMLDecodeError), (parse_spec, SpecError)):
        try:
            read(text)
        except fault:
            continue


def reading(read: Callable[[bytes], object]) -> Callable[[bytes], None]:
    """A reader that may refuse what it is given, with an error of its own."""

    def run(data: bytes) -> None:
        try:
            read(data)
        except ModelError as error:
            if "\n" in str(error):
                raise AssertionError("more than a sentence") from error

    return run


class Target(NamedTuple):
    """What is called with any bytes, and inputs to begin from."""

    run: Callable[[bytes], None]
    seeds: Sequence[bytes]


def targets() -> dict[str, Target]:
    """All of them by name."""
    actions = [{"id": "a", "action": name} for name in ("query_version", "terminate", "clear_cache")]
    cards = [path.read_bytes() for path in sorted(PRETRAINED.glob(f"*/{CARD}"))]
    return {
        "json": Target(read_queries, [json.dumps(one).encode() for one in (QUERY, *actions)]),
        "card": Target(reading(parse_card), cards),
        "safetensors": Target(reading(parse_tensors), [(GOLDEN / WEIGHTS).read_bytes()]),
        "onnx": Target(reading(check_onnx), [(GOLDEN / ONNX).read_bytes()]),
        "toml": Target(read_toml, [TOML]),
    }


def fuzz_plainly(target: Target, runs: int, seed: int = 0) -> tuple[float, bytes]:
    """Call a target with seeds that are changed here and there; returns the longest time and its input."""
    rng = random.Random(seed)
    for data in target.seeds:
        target.run(data)
    slowest = (0.0, b"")
    for _ in range(runs):
        data = mutate(rng.choice(target.seeds), rng)
        begun = time.process_time()
        try:
            target.run(data)
        except BaseException:
            print(f"failed for {data[:2000]!r}", file=sys.stderr)
            raise
        slowest = max(slowest, (time.process_time() - begun, data))
    return slowest


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Some bytes changed, left out, doubled or repeated, and words that readers stumble over put in."""
    words = (
        b"1e999",
        b"NaN",
        b"-1",
        b"[" * 999,
        b"{" * 300,
        b"." * 99,
        b".a" * 99,
        b"9" * 5000,
        b'"',
        b"\n",
        b"\xff\xfe",
    )
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        start = rng.randrange(len(found) + 1)
        part = slice(start, start + rng.choice((0, 1, 1, 2, 8, 64)))
        choice = rng.randrange(4)
        if choice == 0:
            found[part] = bytes(rng.randrange(256) for _ in found[part])
        elif choice == 1:
            del found[part]
        elif choice == 2:
            found[part] = found[part] * rng.choice((2, 3, 50))
        else:
            found[part] = rng.choice(words)
    return bytes(found)


def main(arguments: list[str]) -> None:
    known = targets()
    if not arguments or arguments[0] not in known:
        sys.exit(f"say what to fuzz: {', '.join(known)}")
    target = known[arguments[0]]
    try:
        import atheris
    except ImportError:
        arguments.append("--plain")
    if "--plain" in arguments:
        numbers = dict(word.split("=", 1) for word in arguments if word.startswith(("-runs=", "-seed=")))
        runs, seed = int(numbers.get("-runs", 100_000)), int(numbers.get("-seed", 0))
        seconds, data = fuzz_plainly(target, runs, seed)
        print(f"{runs:,} executions; slowest {seconds:.3f} s: {data[:200]!r}")
        sys.exit(seconds > SLOWEST_ALLOWED)
    with TemporaryDirectory() as folder:
        for number, seed in enumerate(target.seeds):
            Path(folder, str(number)).write_bytes(seed)
        atheris.instrument_all()
        atheris.Setup([sys.argv[0], "-timeout=1", *arguments[1:], folder], target.run)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
