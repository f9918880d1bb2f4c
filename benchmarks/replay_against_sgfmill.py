"""Replay real games with katachi and with sgfmill, compare the final positions, and time both.

python benchmarks/replay_against_sgfmill.py FILES… [--games 2000]

The games are taken from all files in turn; long collections are streamed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import islice, zip_longest
from time import process_time

from sgfmill import boards, sgf, sgf_moves

from katachi.go.points import BLACK, EMPTY, WHITE
from katachi.sgf import SgfGame, parse_sgf
from katachi.sgf.files import iter_pieces

_COLORS = {"b": BLACK, "w": WHITE, None: EMPTY}


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare final positions with sgfmill's.")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--games", type=int, default=2000)
    arguments = parser.parse_args()
    records = list(_records(arguments.files, arguments.games))
    parse_sgf(records[0])[0].replay_to_end()  # compiled before the clock starts

    start = process_time()
    ours = [_our_stones(parse_sgf(record)[0]) for record in records]
    middle = process_time()
    theirs = [_their_stones(record) for record in records]
    end = process_time()

    different = sum(our != their for our, their in zip(ours, theirs, strict=True))
    print(f"{len(records)} games, {different} final positions differ")
    print(f"katachi {_milliseconds(middle - start, records)}, sgfmill {_milliseconds(end - middle, records)}")
    raise SystemExit(bool(different))


def _records(files: list[str], games: int) -> Iterator[bytes]:
    """Games from all files in turn, as long as each has some."""
    rounds = zip_longest(*(iter_pieces([file]) for file in files))
    found = (piece.data for pieces in rounds for piece in pieces if piece is not None and piece.error is None)
    return islice(found, games)


def _our_stones(game: SgfGame) -> list[int]:
    stones: list[int] = game.replay_to_end().board.stones.tolist()
    return stones


def _their_stones(record: bytes) -> list[int]:
    board, plays = sgf_moves.get_setup_and_moves(sgf.Sgf_game.from_bytes(record))
    for color, move in plays:
        if move is not None:
            board.play(*move, color)
    return _flat(board)


def _flat(board: boards.Board) -> list[int]:
    size = board.side
    return [_COLORS[board.get(size - 1 - row, col)] for row in range(size) for col in range(size)]


def _milliseconds(seconds: float, records: list[bytes]) -> str:
    return f"{1000 * seconds / len(records):.2f} ms a game"


if __name__ == "__main__":
    main()
