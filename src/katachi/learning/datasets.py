"""Sets of games to learn from: moves, not planes, in a few memory-mapped files.

```
SET/dataset.json    what is in it, where it came from, and checksums of the other files; written last
SET/games.npy       a record for each game, [games] of GAME
SET/moves.npy       the moves of all games one after another, [moves] of uint16
SET/stones.npy      the stones that were set up before the first move, coded like moves
```

A move is its point, or ``PASS_CODE`` for a pass, with ``WHITE_BIT`` if White made it. All moves are legal under simple
ko and without suicide. A folder without ``dataset.json`` is no set. ``dataset_import.py`` makes sets.
"""

from __future__ import annotations

import hashlib
import zlib
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from katachi.go._kernels import OFF, record_dtype
from katachi.go.board import Board
from katachi.go.points import BLACK, PASS, WHITE
from katachi.go.results import Reason
from katachi.learning.ranks import UNKNOWN, grade_of
from katachi.learning.splits import Split

CARD: Final = "dataset.json"
GAMES: Final = "games.npy"
MOVES: Final = "moves.npy"
STONES: Final = "stones.npy"

PASS_CODE: Final = int(OFF)
POINT_MASK: Final = (1 << 9) - 1
WHITE_BIT: Final = 1 << 9

SPLITS: Final = tuple(Split)
RESULTS: Final = (None, *Reason)  # None: the record tells no result

GAME: Final = record_dtype(
    [
        ("first_move", np.uint64),  # its place in the list of all moves
        ("first_stone", np.uint32),
        ("komi", np.float32),  # NaN if the record does not tell
        ("moves", np.uint16),
        ("plays", np.uint16),  # moves that are no passes
        ("stones", np.uint16),  # set up before the first move
        ("source", np.uint16),  # which of the card's files it is from
        ("lines", np.uint8),  # the size of the board
        ("split", np.uint8),  # index in SPLITS
        ("black_grade", np.int8),
        ("white_grade", np.int8),
        ("handicap", np.uint8),  # as the record tells
        ("winner", np.int8),  # EMPTY for a draw, and if it is not known
        ("result", np.uint8),  # index in RESULTS
        ("to_play", np.int8),  # who starts
    ]
)
MAX_SOURCES: Final = 1 << 16


class DatasetError(ValueError):
    """A set of games that cannot be read, or has not what is asked of it, and why."""


class Source(BaseModel):
    """A file that games came from, and how to see that it has changed since."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    path: str
    bytes: int
    modified: int  # nanoseconds


class Checksum(BaseModel):
    """The length and the CRC-32 of a file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    bytes: int
    crc32: int


class DatasetCard(BaseModel):
    """What a set of games is."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    format: Literal[1] = 1
    games: int
    moves: int
    unique: bool  # whether games that came more than once were kept once
    sources: list[Source]
    repeated: int  # games that came more than once, each time after the first
    skipped: dict[str, int]  # games that are not in it, by reason
    cut: dict[str, int]  # games of which only the beginning is in it, by reason
    examples: list[str]  # of what was wrong with skipped games
    files: dict[str, Checksum]


class GameMoves(NamedTuple):
    """The moves of a game as kernels take them, and their colors."""

    moves: NDArray[np.int64]
    colors: NDArray[np.int8]


class Dataset:
    """A set of games, opened for reading; its arrays are mapped from disk and cannot be written to."""

    def __init__(
        self, path: Path, card: DatasetCard, games: NDArray[Any], moves: NDArray[np.uint16], stones: NDArray[np.uint16]
    ) -> None:
        self.path = path
        self.card = card
        self.games = games
        self.moves = moves
        self.stones = stones

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Open a set; raises DatasetError if it is not there, not finished or damaged."""
        path = Path(path)
        card = _read_card(path)
        games, moves, stones = (_map(path / name, card) for name in (GAMES, MOVES, STONES))
        if (games.dtype, games.size, moves.size) != (GAME, card.games, card.moves):
            raise DatasetError(f"{path} is damaged: its files do not hold what {CARD} says")
        return cls(path, card, games.view(GAME), moves, stones)

    @property
    def digest(self) -> str:
        """What tells this set from any other, whatever its name."""
        files = (f"{name} {check.bytes} {check.crc32}" for name, check in sorted(self.card.files.items()))
        return hashlib.sha256("\n".join(files).encode()).hexdigest()[:16]

    @property
    def sizes(self) -> list[int]:
        """The board sizes that there are."""
        return [int(size) for size in np.unique(self.games["lines"])]

    def only_size(self) -> int:
        """The board size if there is only one; raises DatasetError if there are more or no games at all."""
        if len(sizes := self.sizes) != 1:
            found = ", ".join(f"{size}×{size}" for size in sizes) or "no games"
            raise DatasetError(f"{self.path} holds {found}: say which size")
        return sizes[0]

    def select(
        self, size: int | None = None, split: Split | None = None, weakest: str | None = None
    ) -> NDArray[np.int64]:
        """The numbers of the games of a size and a split in which neither player is weaker than a rank, or unranked."""
        games = self.games
        chosen = np.ones(games.size, dtype=np.bool_)
        if size is not None:
            chosen &= games["lines"] == size
        if split is not None:
            chosen &= games["split"] == SPLITS.index(split)
        if weakest is not None:
            for grades in (games["black_grade"], games["white_grade"]):
                chosen &= (grades >= grade_of(weakest)) & (grades != UNKNOWN)
        return np.flatnonzero(chosen)

    def start(self, game: int) -> Board:
        """The board before the first move of a game."""
        row = self.games[game]
        codes = self.stones[int(row["first_stone"]) :][: row["stones"]]
        white = (codes & WHITE_BIT) != 0
        board = Board(int(row["lines"]))
        points = codes & POINT_MASK
        board.place(black=points[~white].tolist(), white=points[white].tolist(), to_play=int(row["to_play"]))
        return board

    def moves_of(self, game: int) -> GameMoves:
        """The moves of a game."""
        row = self.games[game]
        codes = self.moves[int(row["first_move"]) :][: row["moves"]]
        points = (codes & POINT_MASK).astype(np.int64)
        colors = np.where(codes & WHITE_BIT, WHITE, BLACK).astype(np.int8)
        return GameMoves(np.where(points == PASS_CODE, PASS, points), colors)


def encode_moves(moves: NDArray[np.int64], colors: NDArray[np.int8]) -> NDArray[np.uint16]:
    """Moves as they are kept; the inverse of ``Dataset.moves_of``."""
    codes = np.where(moves == PASS, PASS_CODE, moves) | np.where(colors == WHITE, WHITE_BIT, 0)
    return codes.astype(np.uint16)


def _read_card(path: Path) -> DatasetCard:
    try:
        return DatasetCard.model_validate_json((path / CARD).read_bytes())
    except FileNotFoundError:
        reason = "was not imported to its end: repeat the command that began it" if path.is_dir() else "does not exist"
        raise DatasetError(f"{path} {reason}") from None
    except OSError as error:
        raise DatasetError(f"{path} is no set of games: {error.strerror}") from None
    except ValidationError as error:
        raise DatasetError(f"{path / CARD} is damaged: {error.errors()[0]['msg']}") from None


def _map(path: Path, card: DatasetCard) -> NDArray[Any]:
    """The array in a file, once its length and checksum are what the card says."""
    try:
        if card.files.get(path.name) != checksum(path):
            raise DatasetError(f"{path} is damaged: delete {path.parent} and import the games again")
        return np.asarray(np.load(path, mmap_mode="r"))
    except (OSError, ValueError, EOFError) as error:
        if isinstance(error, DatasetError):
            raise
        raise DatasetError(f"{path} cannot be read: {error}") from None


def checksum(path: Path) -> Checksum:
    """The checksum of a file as it is now."""
    crc = length = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            crc = zlib.crc32(block, crc)
            length += len(block)
    return Checksum(bytes=length, crc32=crc)
