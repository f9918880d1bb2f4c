"""How often the estimated dead stones reproduce the recorded results of counted games, beside GNU Go.

    python benchmarks/final_status.py GAMES.sgf.gz --games 300 --split validation --gnugo

Reads files with one game a line, plain or gzip, that ended by a count (``RE[B+3.5]``). The split of a game is told by
the sha256 of its line, modulo 20: 0 is test, 1 validation, the rest training; so is which games are taken.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from rich.progress import track

from katachi.go.game import Game
from katachi.go.points import GameResult, Reason
from katachi.go.scoring import DEFAULT_PLAYOUTS, estimate_status, score
from katachi.gtp.client import GtpPlayer
from katachi.sgf import SgfGame, parse_sgf

SPLITS = {"test": {0}, "validation": {1}, "training": set(range(2, 20)), "all": set(range(20))}


class Judgment(NamedTuple):
    dead: frozenset[int]
    result: GameResult


def select_games(paths: Iterable[Path], split: str, games: int) -> list[SgfGame]:
    """The games of a split in the order of their hashes, as many as asked for."""
    lines = sorted(line for line in _hashed_lines(paths) if int(line[0][:8], 16) % 20 in SPLITS[split])
    found: list[SgfGame] = []
    for _, text in lines:
        game = parse_sgf(text)[0]
        if game.result is not None and game.result.reason is Reason.SCORE:
            found.append(game)
        if len(found) == games:
            break
    return found


def _hashed_lines(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    for path in paths:
        data = path.read_bytes()
        for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines():
            yield hashlib.sha256(line).hexdigest(), line.decode()


def judge_ourselves(game: Game, playouts: int) -> Judgment:
    fate = estimate_status(game.board, playouts)
    lead = score(game.board, game.rules, fate.dead_stones, game.handicap, seki=fate.seki_stones)
    return Judgment(frozenset(fate.dead_stones), GameResult.by_score(lead))


def judge_by_program(game: Game, player: GtpPlayer) -> Judgment:
    dead = player.final_status_list(game, "dead")
    seki = player.final_status_list(game, "seki")
    lead = score(game.board, game.rules, dead, game.handicap, seki=seki)
    return Judgment(frozenset(dead), GameResult.by_score(lead))


def report(name: str, right: int, games: int, seconds: float) -> None:
    print(
        f"{name:8} {right:5} of {games} results reproduced ({right / games:.1%}), {1000 * seconds / games:.1f} ms each"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--games", type=int, default=300)
    parser.add_argument("--split", choices=SPLITS, default="validation")
    parser.add_argument("--playouts", type=int, default=DEFAULT_PLAYOUTS)
    parser.add_argument("--gnugo", action="store_true", help="ask GNU Go's final_status_list too")
    options = parser.parse_args()
    estimate_status(Game(9).board, 1)  # compiles outside of the clock
    records = select_games(options.files, options.split, options.games)
    ours = theirs = both = same = 0
    seconds = their_seconds = 0.0
    with closing(GtpPlayer("gnugo --mode gtp --chinese-rules")) as gnugo:
        for record in track(records, "games"):
            game = record.replay()
            start = time.perf_counter()
            judgment = judge_ourselves(game, options.playouts)
            seconds += time.perf_counter() - start
            right = judgment.result == record.result
            ours += right
            if options.gnugo:
                start = time.perf_counter()
                other = judge_by_program(game, gnugo)
                their_seconds += time.perf_counter() - start
                theirs += other.result == record.result
                both += right and other.result == record.result
                same += judgment.dead == other.dead
    report("katachi", ours, len(records), seconds)
    if options.gnugo:
        report("GNU Go", theirs, len(records), their_seconds)
        print(f"both right {both / len(records):.1%}, the same stones held for dead {same / len(records):.1%}")


if __name__ == "__main__":
    main()
