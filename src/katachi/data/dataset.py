"""Sets of games to learn from: moves, not planes, in a few memory-mapped files.

```
SET/dataset.json    what is in it, where it came from, and checksums of the other files; written last
SET/games.npy       a record for each game, [games] of GAME
SET/moves.npy       the moves of all games one after another, [moves] of uint16
SET/stones.npy      the stones that were set up before the first move, coded like moves
SET/endings.npy     how each game was counted, [games] of ENDING; older sets do not have this, nor the next
SET/marks.npy       the points that the last nodes mark as territory, coded like moves
SET/labels.npy      who owns each point in the end, where that is known (see ``data/labels.py``)
```

A move is its point, or ``PASS_CODE`` for a pass, with ``WHITE_BIT`` if White made it. All moves are legal under
simple ko and without suicide. A folder without ``dataset.json`` is no set. ``data/dataset_import.py`` makes sets.
"""

from __future__ import annotations

import hashlib
import zlib
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from katachi.data.labels import NO_LABEL, open_labels
from katachi.go.board import Board
from katachi.go.kernels.board import play_moves, record_dtype
from katachi.go.kernels.replay import PASS_CODE, POINT_MASK, WHITE_BIT
from katachi.go.points import BLACK, PASS, WHITE
from katachi.go.results import Reason
from katachi.go.rules import HandicapBonus, Scoring, Tax
from katachi.sgf.ranks import UNKNOWN, grade_of
from katachi.sgf.splits import Split

CARD: Final = "dataset.json"
GAMES: Final = "games.npy"
MOVES: Final = "moves.npy"
STONES: Final = "stones.npy"
ENDINGS: Final = "endings.npy"
MARKS: Final = "marks.npy"

SPLITS: Final = tuple(Split)
RESULTS: Final = (None, *Reason)  # None: the record tells no result
SCORINGS: Final = (None, *Scoring)  # None: the record tells no rules
TAXES: Final = tuple(Tax)
BONUSES: Final = tuple(HandicapBonus)

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
ENDING: Final = record_dtype(
    [
        ("first_mark", np.uint32),  # its place in the list of all marks
        ("margin", np.float32),  # by which it was won; NaN if it was not counted, or its end is not in the set
        ("marks", np.uint16),
        ("scoring", np.uint16),  # index in SCORINGS
        ("tax", np.uint16),  # index in TAXES
        ("bonus", np.uint16),  # index in BONUSES
    ]
)  # like GAME without gaps, which numpy forgets when it joins arrays
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
    splits_of: list[str] = []  # other sets, which say what split a game is of if they have it
    split_elsewhere: int = 0  # games that one of them has
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

    @cached_property
    def endings(self) -> NDArray[Any]:
        """How each game was counted, [games] of ENDING; raises DatasetError if the set is too old to know."""
        return self._map_ending(ENDINGS).view(ENDING)

    @cached_property
    def marks(self) -> NDArray[np.uint16]:
        """The marks of all games; raises DatasetError if the set is too old to have them."""
        return self._map_ending(MARKS)

    @cached_property
    def labels(self) -> NDArray[np.int8]:
        """Who owns each point at the end of each game, [games, n²]; raises LabelError if that was never found out."""
        return open_labels(self.path, self.card.games, self.only_size(), self.digest)

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
        self,
        size: int | None = None,
        split: Split | None = None,
        weakest: str | None = None,
        *,
        labeled: bool = False,
    ) -> NDArray[np.int64]:
        """The numbers of the games of a size and a split in which neither player is weaker than a rank, or unranked.

        ``labeled`` chooses those of which it is known who owns each point in the end.
        """
        games = self.games
        chosen = np.ones(games.size, dtype=np.bool_)
        if size is not None:
            chosen &= games["lines"] == size
        if split is not None:
            chosen &= games["split"] == SPLITS.index(split)
        if weakest is not None:
            for grades in (games["black_grade"], games["white_grade"]):
                chosen &= (grades >= grade_of(weakest)) & (grades != UNKNOWN)
        if labeled:
            chosen &= self.labels[:, 0] != NO_LABEL
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

    def end(self, game: int) -> Board:
        """The board after the last move of a game."""
        return self.position(game, int(self.games["moves"][game]))

    def position(self, game: int, plies: int) -> Board:
        """The board after so many moves of a game, with the player of the next one to move."""
        board = self.start(game)
        moves, colors = self.moves_of(game)
        if play_moves(board.record, moves[:plies], colors[:plies], False) < min(plies, moves.size):
            raise DatasetError(f"{self.path} has a game with moves that cannot be played: it is damaged")
        if plies < moves.size:
            board.to_play = int(colors[plies])
        return board

    def key(self, game: int) -> int:
        """What a game has in common with equal ones in any set (see ``game_key``)."""
        row = self.games[game]
        stones = self.stones[int(row["first_stone"]) :][: row["stones"]]
        return game_key(int(row["lines"]), stones, self.moves[int(row["first_move"]) :][: row["moves"]])

    def marks_of(self, game: int) -> NDArray[np.int8]:
        """Whose territory the last node of a record marks each point as, [n²]; all EMPTY if it marks none."""
        row = self.endings[game]
        codes = self.marks[int(row["first_mark"]) :][: row["marks"]]
        marks = np.zeros(int(self.games["lines"][game]) ** 2, dtype=np.int8)
        marks[codes & POINT_MASK] = np.where(codes & WHITE_BIT, WHITE, BLACK)
        return marks

    def ownership(self, game: int) -> NDArray[np.int8] | None:
        """Who owns each point at the end of a game, [n²]; None if that is not known."""
        row = self.labels[game]
        return None if row[0] == NO_LABEL else row

    def _map_ending(self, name: str) -> NDArray[Any]:
        if name not in self.card.files:
            raise DatasetError(f"{self.path} does not say how its games were counted: import them again")
        return _map(self.path / name, self.card)


def encode_moves(moves: NDArray[np.int64], colors: NDArray[np.int8]) -> NDArray[np.uint16]:
    """Moves as they are kept; the inverse of ``Dataset.moves_of``."""
    codes = np.where(moves == PASS, PASS_CODE, moves) | np.where(colors == WHITE, WHITE_BIT, 0)
    return codes.astype(np.uint16)


def game_key(size: int, stones: NDArray[np.uint16], moves: NDArray[np.uint16]) -> int:
    """A number that is the same for equal set-ups and moves, coded as they are kept, and for no others."""
    content = bytes([size]) + stones.tobytes() + moves.tobytes()
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


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
