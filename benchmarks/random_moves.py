"""Plays random moves over sizes 2–19 and all ko and suicide rules against the slow twin in tests/naive.py.

    python benchmarks/random_moves.py --moves 1000000 --jobs 2

After every move stones, turn, ko, prisoners, hash, chains, liberties and the legality of every point with its reason
must agree; now and then some moves are played and taken back, and every array must be what it was. The first
difference ends the run and tells the seed that repeats it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from joblib import Parallel, delayed
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

TESTS = str(Path(__file__).parents[1] / "tests")
MOVES_A_PIECE = 5000


def agree(moves: int, seed: int) -> Counter[str]:
    """Play one piece of the work; returns how often each reason for illegality was met."""
    sys.path.insert(0, TESTS)
    from helpers import agreement

    witness = agreement.Witness()
    try:
        for _ in agreement.play_random_games(moves, seed, witness=witness):
            pass
    except AssertionError as error:
        raise AssertionError(f"katachi and its twin differ; repeat with --moves {moves} --seed {seed}") from error
    return witness.reasons


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moves", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    pieces = [min(MOVES_A_PIECE, options.moves - begin) for begin in range(0, options.moves, MOVES_A_PIECE)]
    calls = (delayed(agree)(moves, options.seed + i) for i, moves in enumerate(pieces))
    columns = (TextColumn("moves that agree"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    reasons: Counter[str] = Counter()
    with Progress(*columns) as progress:
        task = progress.add_task("", total=options.moves)
        results = Parallel(n_jobs=options.jobs, return_as="generator")(calls)
        for done, (moves, met) in enumerate(zip(pieces, results, strict=True), 1):
            reasons += met
            progress.advance(task, moves)
            if not progress.console.is_terminal and done % 10 == 0:
                print(f"{done * MOVES_A_PIECE:,} moves agree", flush=True)
    met = ", ".join(f"{count:,} {reason.lower()}" for reason, count in sorted(reasons.items()))
    print(f"{options.moves:,} moves agree; illegal points met: {met}")


if __name__ == "__main__":
    main()
