"""Datasets: games to learn from as moves, not planes, in a few memory-mapped files, with labels and counts.

```
SET/dataset.json    what is in it, where it came from, and checksums of the other files; written last
SET/games.npy       a record for each game, [games] of GAME
SET/moves.npy       the moves of all games one after another, [moves] of uint16
SET/stones.npy      the stones that were set up before the first move, coded like moves
SET/endings.npy     how each game was counted, [games] of ENDING; older sets do not have this, nor the next
SET/marks.npy       the points that the last nodes mark as territory, coded like moves
SET/labels.npy      who owns each point in the end, where that is known (see below)
SET/visits.npy      of games that a search played: how often it chose each move there, [moves, n²+1], and …
SET/searched.npy    … what it thought, P(Black wins), [moves]
```

A move is its point, or ``PASS_CODE`` for a pass, with ``WHITE_BIT`` if White made it. All moves are legal under
simple ko and without suicide. A folder without ``dataset.json`` is not a dataset. ``data.importing`` makes them.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray
from pydantic import Field, ValidationError

from katachi.core.cards import Strict
from katachi.core.disk import write_atomically
from katachi.core.execution import here
from katachi.go.board import Board, IllegalMove
from katachi.go.game import Game
from katachi.go.kernels.board import play_moves, record_dtype
from katachi.go.kernels.replay import PASS_CODE, POINT_MASK, WHITE_BIT
from katachi.go.points import BLACK, PASS, WHITE, Reason
from katachi.go.rules import HandicapBonus, Scoring, Tax
from katachi.sgf.files import Split
from katachi.sgf.record import UNKNOWN, format_grade, grade_of

# Whom to ask who owns what at the end of a game, and what can come of it.


class AnswerSource(StrEnum):
    """Who says which stones are dead, or who owns what."""

    MARKS = "marks"  # both players, by what the last node of the record marks
    GNUGO = "gnugo"  # or another GTP program
    PLAYOUTS = "playouts"


SOURCES: Final = tuple(AnswerSource)


class Answer(IntEnum):
    """What became of asking a source about a game."""

    NOT_ASKED = 0
    NOTHING = 1  # it had nothing to say
    FAILED = 2  # it hung, died or talked nonsense
    DISAGREES = 3  # counted like this, the game ends otherwise than its record says
    AGREES = 4


# Labels on disk: who owns each point at the end of the games of a set, and what was answered to find it out.
#
# ```
# SET/labels.npy     [games, n²] of int8: +1 Black's, −1 White's, 0 neutral; a row of −128 where it is not known
# SET/answers.npy    [games, sources] of uint8: what each source said of each game, as ``Answer`` numbers it
# SET/labels.json    which set they belong to, and who was asked
# ```
#
# Each file is written whole or not at all, the answers last; so a kill loses the last minute and leaves nothing that
# does not fit. ``data.labeling`` finds labels.

LABELS: Final = "labels.npy"
ANSWERS: Final = "answers.npy"
LABELS_CARD: Final = "labels.json"
NO_LABEL: Final = -128


class LabelError(ValueError):
    """Labels that cannot be read, or are not there, and why."""


class LabelCard(Strict):
    """What labels belong to, and how they were found."""

    format: Literal[1] = 1
    dataset: str  # the digest of the set
    asked: list[str] = Field(default_factory=list)  # everybody who was, in words
    seconds: float = 0.0


@dataclass(eq=False)
class Labels:
    """The labels of a set in the making, in memory; ``save`` writes them."""

    path: Path
    card: LabelCard
    labels: NDArray[np.int8]
    answers: NDArray[np.uint8]

    @classmethod
    def open(cls, path: Path, games: int, size: int, digest: str) -> Self:
        """The labels of a set so far, none in the beginning; raises LabelError if they are damaged, or of another."""
        answers = np.zeros((games, len(SOURCES)), dtype=np.uint8)
        if not (path / LABELS).exists():
            labels = np.full((games, size * size), NO_LABEL, dtype=np.int8)
            return cls(path, LabelCard(dataset=digest), labels, answers)
        labels = np.array(open_labels(path, games, size, digest))
        if (path / ANSWERS).exists():  # else a kill came between the first writing of the two
            answers = np.array(_map_labels(path / ANSWERS, np.uint8, (games, len(SOURCES))))
        return cls(path, _read_labels_card(path), labels, answers)

    def save(self, card: LabelCard) -> None:
        """Write what is known now."""
        self.card = card
        write_atomically(self.path / LABELS_CARD, card.model_dump_json(indent=2) + "\n")
        _write(self.path / LABELS, self.labels)
        _write(self.path / ANSWERS, self.answers)


def open_labels(path: Path, games: int, size: int, digest: str) -> NDArray[np.int8]:
    """The labels of a set, mapped from disk; raises LabelError if there are none, or they are not what they must be."""
    if not (path / LABELS).exists():
        raise LabelError(f"{path} has no labels: katachi data label {path} finds them")
    if _read_labels_card(path).dataset != digest:
        raise LabelError(f"the labels in {path} are of another set: delete {LABELS}, {ANSWERS} and {LABELS_CARD} there")
    labels = _map_labels(path / LABELS, np.int8, (games, size * size))
    unknown = labels == NO_LABEL
    if np.any(unknown != unknown[:, :1]) or np.any((labels > 1) | ((labels < -1) & ~unknown)):
        raise LabelError(f"{path / LABELS} is damaged: it says of a point what cannot be; delete it and label again")
    return labels


def _read_labels_card(path: Path) -> LabelCard:
    try:
        return LabelCard.model_validate_json((path / LABELS_CARD).read_bytes())
    except (OSError, ValidationError):
        raise LabelError(f"{path / LABELS_CARD} is missing or damaged: delete {LABELS}, {ANSWERS} and it") from None


def _map_labels(path: Path, dtype: DTypeLike, shape: tuple[int, int]) -> NDArray[Any]:
    try:
        array = np.asarray(np.load(path, mmap_mode="r"))
    except (OSError, ValueError, EOFError) as error:
        raise LabelError(f"{path} cannot be read: {error}; delete it and label again") from None
    if (array.dtype, array.shape) != (np.dtype(dtype), shape):
        found = f"{array.dtype} {list(array.shape)} instead of {np.dtype(dtype)} {list(shape)}"
        raise LabelError(f"{path} does not fit its set, it is {found}: delete it and label again")
    return array


def _write(path: Path, array: NDArray[Any]) -> None:
    buffer = io.BytesIO()
    np.save(buffer, array)
    write_atomically(path, buffer.getvalue())


# The dataset itself.

CARD: Final = "dataset.json"
GAMES: Final = "games.npy"
MOVES: Final = "moves.npy"
STONES: Final = "stones.npy"
ENDINGS: Final = "endings.npy"
MARKS: Final = "marks.npy"
VISITS: Final = "visits.npy"
SEARCHED: Final = "searched.npy"

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
        ("plays", np.uint16),  # moves but for passes
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
    """A dataset that cannot be read, or has not what is asked of it, and why."""


class Source(Strict):
    """A file that games came from, and how to see that it has changed since."""

    path: str
    bytes: int
    modified: int  # nanoseconds


class Checksum(Strict):
    """The length and the CRC-32 of a file."""

    bytes: int
    crc32: int


class DatasetCard(Strict):
    """What a dataset is."""

    format: Literal[1] = 1
    games: int
    moves: int
    unique: bool  # whether games that came more than once were kept once
    sources: list[Source]
    repeated: int  # games that came more than once, each time after the first
    skipped: dict[str, int]  # games that are not in it, by reason
    cut: dict[str, int]  # games of which only the beginning is in it, by reason
    examples: list[str]  # of what was wrong with skipped games
    splits_of: list[str] = Field(default_factory=list)  # other sets, which say what split a game is of if they have it
    split_elsewhere: int = 0  # games that one of them has
    files: dict[str, Checksum]


class GameMoves(NamedTuple):
    """The moves of a game as kernels take them, and their colors."""

    moves: NDArray[np.int64]
    colors: NDArray[np.int8]


@dataclass(eq=False)
class Dataset:
    """A dataset, opened for reading; its arrays are mapped from disk and cannot be written to."""

    path: Path
    card: DatasetCard
    games: NDArray[Any]
    moves: NDArray[np.uint16]
    stones: NDArray[np.uint16]

    @cached_property
    def endings(self) -> NDArray[Any]:
        """How each game was counted, [games] of ENDING; raises DatasetError if the set is too old to know."""
        return self._map_ending(ENDINGS).view(ENDING)

    @cached_property
    def marks(self) -> NDArray[np.uint16]:
        """The marks of all games; raises DatasetError if the set is too old to have them."""
        return self._map_ending(MARKS)

    @property
    def knows_endings(self) -> bool:
        """Whether it says how games were counted."""
        return ENDINGS in self.card.files

    @property
    def is_labeled(self) -> bool:
        """Whether it was asked who owns each point at the end of games."""
        return (self.path / LABELS).exists()

    @cached_property
    def labels(self) -> NDArray[np.int8]:
        """Who owns each point at the end of each game, [games, n²]; raises LabelError if that was never found out."""
        return open_labels(self.path, self.card.games, self.only_size(), self.digest)

    @property
    def knows_visits(self) -> bool:
        """Whether its games were played by a search that kept what it found."""
        return VISITS in self.card.files

    @cached_property
    def visits(self) -> NDArray[np.uint16]:
        """How often a search chose each move before each move of the set, [moves, n²+1]; 0 where it hardly looked."""
        return _map(self.path / VISITS, self.card)

    @cached_property
    def searched(self) -> NDArray[np.float32]:
        """P(Black wins) before each move as a search found it, [moves]."""
        return _map(self.path / SEARCHED, self.card)

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Open a set; raises DatasetError if it is not there, not finished or damaged."""
        path = here(path)
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
    def title(self) -> str:
        """The dataset as cards name it."""
        return f"{self.path.name} ({self.digest})"

    @property
    def sizes(self) -> list[int]:
        """The board sizes that there are."""
        return [int(size) for size in np.unique(self.games["lines"])]

    def only_size(self, way_out: str = "say which size") -> int:
        """The board size if there is only one; raises DatasetError if there are more or no games at all."""
        if len(sizes := self.sizes) != 1:
            found = ", ".join(f"{size}×{size}" for size in sizes) or "no games"
            raise DatasetError(f"{self.path} holds {found}: {way_out}")
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
        row, codes = self.games[game], self._stones_of(game)
        white = (codes & WHITE_BIT) != 0
        board = Board(int(row["lines"]))
        points = codes & POINT_MASK
        board.place(black=points[~white].tolist(), white=points[white].tolist(), to_play=int(row["to_play"]))
        return board

    def moves_of(self, game: int) -> GameMoves:
        """The moves of a game."""
        codes = self._codes_of(game)
        points = (codes & POINT_MASK).astype(np.int64)
        colors = np.where(codes & WHITE_BIT, WHITE, BLACK).astype(np.int8)
        return GameMoves(np.where(points == PASS_CODE, PASS, points), colors)

    def moves_in_turn(self, game: int) -> list[int]:
        """The moves of a game as long as the players take turns and our rules allow them; none after a handicap."""
        moves, colors = self.moves_of(game)
        turns = np.where(np.arange(moves.size) % 2 == 0, BLACK, WHITE)
        in_turn = int(np.argmin(np.append(colors == turns, False)))
        played = Game(int(self.games["lines"][game]))
        if self.games["stones"][game] == 0:
            with suppress(IllegalMove):
                for move in moves[:in_turn].tolist():
                    played.play(move)
        return [play.move for play in played.moves]

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
        return game_key(int(self.games["lines"][game]), self._stones_of(game), self._codes_of(game))

    def _stones_of(self, game: int) -> NDArray[np.uint16]:
        row = self.games[game]
        return self.stones[int(row["first_stone"]) :][: row["stones"]]

    def _codes_of(self, game: int) -> NDArray[np.uint16]:
        row = self.games[game]
        return self.moves[int(row["first_move"]) :][: row["moves"]]

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


# Games that a search has played, with all that it found.


class SearchedGame(NamedTuple):
    """A game on the empty board, whose komi is what Black's area must exceed."""

    size: int
    komi: float
    moves: NDArray[np.uint16]  # [m], coded
    visits: NDArray[np.uint16]  # [m, n²+1]; rows of 0 are not learned from
    black_wins: NDArray[np.float32]  # [m]
    black_lead: float  # NaN if it was not counted
    winner: int
    owners: NDArray[np.int8]  # [n²], or NO_LABEL
    gave_up: int  # who did, or would have if that were allowed; 0: nobody


_HELD_OUT_EVERY: Final = 20  # games


def write_searched_games(path: Path, games: Sequence[SearchedGame], grade: int) -> Dataset:
    """Make a dataset of games by players of a grade, one of twenty for validation, and open it."""
    path.mkdir(parents=True, exist_ok=True)
    rows, endings = np.zeros(len(games), dtype=GAME), np.zeros(len(games), dtype=ENDING)
    counts = np.array([game.moves.size for game in games])
    rows["moves"], rows["first_move"] = counts, np.cumsum(counts) - counts
    rows["plays"] = [np.count_nonzero(game.moves & POINT_MASK != PASS_CODE) for game in games]
    for name in ("komi", "winner"):
        rows[name] = [getattr(game, name) for game in games]
    rows["lines"] = [game.size for game in games]
    rows["black_grade"] = rows["white_grade"] = grade
    rows["to_play"] = BLACK
    rows["split"] = SPLITS.index(Split.TRAINING)
    rows["split"][:: min(_HELD_OUT_EVERY, len(games) - 1)] = SPLITS.index(Split.VALIDATION)
    endings["margin"] = [abs(game.black_lead) for game in games]
    rows["result"] = np.where(
        np.isnan(endings["margin"]), RESULTS.index(Reason.RESIGNATION), RESULTS.index(Reason.SCORE)
    )
    endings["scoring"] = SCORINGS.index(Scoring.AREA)
    nothing = np.zeros(0, dtype=np.uint16)
    arrays = {GAMES: rows, ENDINGS: endings, STONES: nothing, MARKS: nothing}
    arrays |= {MOVES: np.concatenate([game.moves for game in games])}
    arrays |= {VISITS: np.concatenate([game.visits for game in games])}
    arrays |= {SEARCHED: np.concatenate([game.black_wins for game in games])}
    for name, array in arrays.items():
        _write(path / name, array)
    card = DatasetCard(
        games=len(games),
        moves=int(counts.sum()),
        unique=False,
        sources=[],
        repeated=0,
        skipped={},
        cut={},
        examples=[],
        files={name: checksum(path / name) for name in arrays},
    )
    write_atomically(path / CARD, card.model_dump_json(indent=2) + "\n")
    dataset = Dataset.open(path)
    labels = Labels(path, LabelCard(dataset=dataset.digest), *_no_answers(games))
    labels.save(labels.card)
    return dataset


def _no_answers(games: Sequence[SearchedGame]) -> tuple[NDArray[np.int8], NDArray[np.uint8]]:
    return np.stack([game.owners for game in games]), np.zeros((len(games), len(SOURCES)), dtype=np.uint8)


def save_searched_games(path: Path, games: Sequence[SearchedGame]) -> None:
    """Write games into one file, whole or not at all."""
    buffer = io.BytesIO()
    each = enumerate(game._asdict() for game in games)
    np.savez_compressed(buffer, **{f"{number}/{name}": value for number, game in each for name, value in game.items()})
    write_atomically(path, buffer.getvalue())


def load_searched_games(path: Path) -> list[SearchedGame]:
    """The games of a file; raises DatasetError if it is damaged."""
    try:
        with np.load(path) as arrays:
            count = len(arrays.files) // len(SearchedGame._fields)
            found = [[arrays[f"{number}/{name}"] for name in SearchedGame._fields] for number in range(count)]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        raise DatasetError(f"{path} is damaged: delete it and repeat the command") from None
    return [SearchedGame._make(value.item() if value.ndim == 0 else value for value in game) for game in found]


Checked = TypeVar("Checked")


def infer_size(values: Mapping[str, Any], check: Callable[[Mapping[str, Any]], Checked]) -> Checked:
    """What ``check`` makes of the settings of a training, with the board size of their dataset unless they say one.

    Raises DatasetError if it has several, unless there is something else that ``check`` refuses.
    """
    if "size" in values or "data" not in values:
        return check(values)
    try:
        size = Dataset.open(str(values["data"])).only_size("say which by --size")
    except DatasetError:
        check(values)
        raise
    return check({**values, "size": size})


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
        raise DatasetError(f"{path} is not a dataset: {error.strerror}") from None
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


# Counts over a dataset: sizes, splits, ranks, results, sources, and what is not in it.


def count_games(dataset: Dataset) -> dict[str, Any]:
    """The counts as plain values; by rank two players a game, the strongest first."""
    games, card = dataset.games, dataset.card
    grades = np.concatenate([games["white_grade"], games["black_grade"]])
    on_disk = sum(check.bytes for check in card.files.values())
    return {
        "games": card.games,
        "moves": card.moves,
        "positions": int(games["plays"].sum(dtype=np.int64)),
        "bytes_per_move": round(on_disk / card.moves, 3),
        "by_size": {str(size): count for size, count in _tally(games["lines"])},
        "by_split": _name(games["split"], SPLITS),
        "by_rank": {format_grade(grade): count for grade, count in reversed(_tally(grades))},
        "by_result": _name(games["result"], [result.name.lower() if result else "?" for result in RESULTS]),
        "by_source": _name(games["source"], [source.path for source in card.sources]),
        "unique": card.unique,
        "repeated": card.repeated,
        "splits_of": card.splits_of,
        "split_elsewhere": card.split_elsewhere,
        "skipped": card.skipped,
        "cut": card.cut,
        "examples": card.examples,
        "digest": dataset.digest,
    }


def _tally(values: NDArray[Any]) -> list[tuple[int, int]]:
    found, counts = np.unique(values, return_counts=True)
    return list(zip(found.tolist(), counts.tolist(), strict=True))


def _name(indices: NDArray[Any], names: Sequence[str]) -> dict[str, int]:
    return {str(names[index]): count for index, count in _tally(indices)}
