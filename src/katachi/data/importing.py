"""Parts of a set of games in the making: the games of a few pieces of files, kept until the whole is put together."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from katachi.core.disk import write_atomically
from katachi.data.dataset import (
    BONUSES,
    ENDING,
    GAME,
    RESULTS,
    SCORINGS,
    SPLITS,
    TAXES,
    DatasetError,
    encode_moves,
    game_key,
)
from katachi.data.recorded_endings import RecordedEnding, read_ending
from katachi.data.recorded_moves import RecordedMoves, read_moves
from katachi.go.points import PASS
from katachi.sgf.errors import DEFAULT_LIMITS, SgfError
from katachi.sgf.files import Piece, parse_piece
from katachi.sgf.ranks import grade_of
from katachi.sgf.record import SgfGame
from katachi.sgf.splits import split_of
from katachi.sgf.splitting import cut_games

MOST_EXAMPLES: Final = 20

_MOST_HANDICAP: Final = 255  # kept in a byte


class Faults(NamedTuple):
    """What was wrong with games: those that were left out and those that were cut short, by reason."""

    skipped: Counter[str]
    cut: Counter[str]
    examples: list[str]

    @classmethod
    def none(cls) -> Self:
        return cls(Counter(), Counter(), [])

    def skip(self, reason: str, example: str) -> None:
        """Count a game that is left out."""
        self.skipped[reason] += 1
        if len(self.examples) < MOST_EXAMPLES:
            self.examples.append(example)

    def merge(self, other: Faults) -> None:
        """Add the counts of others to these."""
        self.skipped.update(other.skipped)
        self.cut.update(other.cut)
        self.examples.extend(other.examples[: MOST_EXAMPLES - len(self.examples)])


class PartGames(NamedTuple):
    """The games of a part, their places counted within it, and what tells whether two are the same."""

    games: NDArray[Any]  # of GAME
    keys: NDArray[np.uint64]  # equal for equal set-ups and moves
    lengths: NDArray[np.uint32]  # of the records, in bytes
    endings: NDArray[Any]  # of ENDING


class Part(NamedTuple):
    """All that comes from a few pieces of files."""

    games: PartGames
    moves: NDArray[np.uint16]
    stones: NDArray[np.uint16]
    marks: NDArray[np.uint16]
    faults: Faults


class _Entry(NamedTuple):
    """One game on its way into a part."""

    row: NDArray[Any]
    key: int
    length: int
    ending: NDArray[Any]
    moves: NDArray[np.uint16]
    stones: NDArray[np.uint16]
    marks: NDArray[np.uint16]


def make_part(pieces: Sequence[Piece], sources: Sequence[int]) -> Part:
    """Read the games of pieces; ``sources`` are the numbers of their files."""
    faults = Faults.none()
    entries: list[_Entry] = []
    for piece, source in zip(pieces, sources, strict=True):
        try:
            records = parse_piece(piece, DEFAULT_LIMITS)
        except SgfError as error:
            faults.skip("cannot be read", str(error))
            continue
        for record, content in zip(records, _contents(piece.data, len(records)), strict=True):
            try:
                line = read_moves(record)
            except SgfError as error:
                faults.skip("cannot be played here", f"{piece.source}: {error}")
                continue
            if line.cut is not None:
                faults.cut[line.cut] += 1
            if (line.moves == PASS).all():
                faults.skip("has no moves", f"{piece.source}: a record without moves")
            else:
                entries.append(_make_entry(record, line, content, source))
    return _join(entries, faults)


def _contents(data: bytes, count: int) -> list[bytes]:
    """The bytes of each of the games in a piece, by which their splits are decided."""
    if count == 1:
        return [data.strip()]
    contents = cut_games(data)
    if len(contents) != count:  # brackets that are none: at least no two games have the same
        contents = [data + str(index).encode() for index in range(count)]
    return contents


def _make_entry(record: SgfGame, line: RecordedMoves, content: bytes, source: int) -> _Entry:
    moves = encode_moves(line.moves, line.colors)
    points = np.flatnonzero(line.start.stones)
    stones = encode_moves(points, line.start.stones[points])
    row = np.zeros(1, dtype=GAME)
    row["moves"], row["plays"], row["stones"] = moves.size, np.count_nonzero(line.moves != PASS), stones.size
    row["source"] = source
    row["split"] = SPLITS.index(split_of(content))
    row["lines"] = line.start.size
    row["to_play"] = line.start.to_play
    _describe(record, row)
    told = read_ending(record, line.start.size)
    ending = _describe_ending(told, whole=line.cut is None)
    marks = encode_moves(told.points, told.owners)
    return _Entry(row, game_key(line.start.size, stones, moves), len(content), ending, moves, stones, marks)


def _describe(record: SgfGame, row: NDArray[Any]) -> None:
    """What the root of a record tells."""
    result = record.result
    row["komi"] = np.nan if record.komi is None else record.komi
    row["handicap"] = min(record.handicap, _MOST_HANDICAP)
    row["black_grade"], row["white_grade"] = grade_of(record.black_rank), grade_of(record.white_rank)
    row["winner"] = 0 if result is None else result.winner
    row["result"] = RESULTS.index(None if result is None else result.reason)


def _describe_ending(told: RecordedEnding, *, whole: bool) -> NDArray[Any]:
    ending = np.zeros(1, dtype=ENDING)
    ending["margin"] = told.margin if whole and told.margin is not None else np.nan
    ending["marks"] = told.points.size
    if told.rules is not None:
        ending["scoring"] = SCORINGS.index(told.rules.scoring)
        ending["tax"], ending["bonus"] = TAXES.index(told.rules.tax), BONUSES.index(told.rules.handicap_bonus)
    return ending


def _join(entries: Sequence[_Entry], faults: Faults) -> Part:
    games = np.concatenate([np.zeros(0, GAME), *(entry.row for entry in entries)])
    endings = np.concatenate([np.zeros(0, ENDING), *(entry.ending for entry in entries)])
    place(games, endings)
    keys = np.array([entry.key for entry in entries], dtype=np.uint64)
    lengths = np.array([entry.length for entry in entries], dtype=np.uint32)
    none = np.zeros(0, np.uint16)
    moves = np.concatenate([none, *(entry.moves for entry in entries)])
    stones = np.concatenate([none, *(entry.stones for entry in entries)])
    marks = np.concatenate([none, *(entry.marks for entry in entries)])
    return Part(PartGames(games, keys, lengths, endings), moves, stones, marks, faults)


def place(games: NDArray[Any], endings: NDArray[Any]) -> None:
    """Let games follow each other: set where the moves, the stones and the marks of each begin."""
    for rows, first, count in (
        (games, "first_move", "moves"),
        (games, "first_stone", "stones"),
        (endings, "first_mark", "marks"),
    ):
        rows[first] = np.cumsum(rows[count], dtype=np.uint64) - rows[count]


# On disk


def save_part(path: Path, part: Part) -> None:
    """Write a part whole or not at all."""
    buffer = io.BytesIO()
    faults = np.frombuffer(json.dumps(part.faults).encode(), dtype=np.uint8)
    np.savez(buffer, **part.games._asdict(), moves=part.moves, stones=part.stones, marks=part.marks, faults=faults)
    write_atomically(path, buffer.getvalue())


class SavedPart:
    """A part on disk; what is asked of it is read, no more."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def games(self) -> PartGames:
        return PartGames(*self._read(*PartGames._fields))

    def faults(self) -> Faults:
        skipped, cut, examples = json.loads(self._read("faults")[0].tobytes())
        return Faults(Counter(skipped), Counter(cut), examples)

    def moves(self) -> NDArray[np.uint16]:
        return self._read("moves")[0]

    def stones(self) -> NDArray[np.uint16]:
        return self._read("stones")[0]

    def marks(self) -> NDArray[np.uint16]:
        return self._read("marks")[0]

    def _read(self, *names: str) -> list[NDArray[Any]]:
        try:
            with np.load(self._path) as arrays:
                return [arrays[name] for name in names]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            raise DatasetError(f"{self._path} is damaged: delete it and repeat the command") from None
