"""Where records come from: files, folders of files, gzip and zip, as one stream of games; and counts over them.

What a file is, its first bytes tell, not its name. In folders, only names that promise records are opened.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from katachi.core.disk import open_regular, usable_cores
from katachi.core.execution import hand_out
from katachi.go.points import BLACK, EMPTY, GameResult, Reason
from katachi.sgf.parsing import Reader, parse_sgf, split_games
from katachi.sgf.record import SgfGame
from katachi.sgf.repairs import DEFAULT_LIMITS, Limits, SgfError

# Which games are for training and which for testing: decided by each record itself, so it never changes.
#
# The first eight hexadecimal digits of the SHA-256 of a record's bytes, modulo 20: 0 is test, 1 validation, the rest
# training. Whoever learns from a collection looks at its training games alone.

_PARTS: Final = 20


class Split(StrEnum):
    """What a game may be used for."""

    TRAINING = "training"
    VALIDATION = "validation"
    TEST = "test"


def split_of(record: bytes) -> Split:
    """The split of a record, given as it stands in its collection without white space around it."""
    part = int(hashlib.sha256(record).hexdigest()[:8], 16) % _PARTS
    return Split.TEST if part == 0 else Split.VALIDATION if part == 1 else Split.TRAINING


# Compressed records: gzip and zip, read as streams and never unpacked to disk.
#
# A bomb is known by its ratio: the text of records shrinks three to twenty times, a bomb a thousand times. The
# directory of a zip archive is measured before it is read, because reading a million entries is already too much.

GZIP_MAGIC: Final = b"\x1f\x8b"
ZIP_MAGICS: Final = (b"PK\x03\x04", b"PK\x05\x06")
RECORD_SUFFIXES: Final = (".sgf", ".mgt")

_SLACK: Final = 1 << 20  # so much may come out whatever went in: a short file of spaces is not a bomb
_ENTRY_SIZE: Final = 46 + 128  # of an entry of the directory with a long name
_HEADER_SIZE: Final = 30  # before each entry, without its name
_COMMENT_SIZE: Final = 1 << 16
_END: Final = struct.Struct("<4s8xLLH")  # signature, -, size of the directory, -, length of the comment
_END_64: Final = struct.Struct("<4s36xQ8x")  # signature, -, size of the directory, -
_LOCATOR_64_SIZE: Final = 20
_SEE_64: Final = 0xFFFFFFFF

# Whatever zlib, gzip and zipfile raise over bytes that are damaged or contrived.
_FAULTS: Final = (OSError, EOFError, ValueError, RuntimeError, zlib.error, zipfile.BadZipFile, struct.error)


class _Meter:
    """Compares what came out of a file with what is in it."""

    def __init__(self, compressed: Callable[[], int], limits: Limits) -> None:
        self._compressed = compressed
        self._ratio = limits.ratio
        self._out = 0

    def count(self, size: int) -> None:
        self._out += size
        if self._out > _SLACK + self._ratio * self._compressed():
            raise SgfError(f"the archive expands more than {self._ratio} times: this is not a collection of records")


class _MeteredReader:
    """Reads what is decompressed as long as the meter agrees."""

    def __init__(self, inner: Reader, meter: _Meter) -> None:
        self._inner = inner
        self._meter = meter

    def read(self, size: int, /) -> bytes:
        try:
            data = self._inner.read(min(size, _SLACK))
        except _FAULTS as error:
            raise SgfError(f"damaged archive: {error}") from None
        self._meter.count(len(data))
        return data


def open_zip(file: IO[bytes], limits: Limits) -> Iterator[tuple[str, Callable[[], Reader]]]:
    """The names of the records in a zip archive and how to open each; archives inside it are left alone."""
    _check_directory(file, limits)
    size = file.seek(0, os.SEEK_END)
    meter = _Meter(lambda: size, limits)
    try:
        archive = zipfile.ZipFile(file)
    except _FAULTS as error:
        raise SgfError(f"damaged archive: {error}") from None
    with archive:
        if len(archive.infolist()) > limits.entries:
            raise _too_many_entries(limits)
        _check_entries(archive.infolist())
        for entry in archive.infolist():
            if entry.filename.lower().endswith(RECORD_SUFFIXES):
                yield entry.filename, partial(_open_entry, archive, entry, meter)


def _open_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, meter: _Meter) -> Reader:
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise SgfError(f"compression by method {entry.compress_type} is not read")
    try:
        return _MeteredReader(archive.open(entry), meter)
    except _FAULTS as error:
        raise SgfError(f"damaged archive: {error}") from None


def _check_directory(file: IO[bytes], limits: Limits) -> None:
    """Refuse an archive with too many entries by what its end says, before anything of it is read."""
    end_of_file = file.seek(0, os.SEEK_END)
    file.seek(max(0, end_of_file - _COMMENT_SIZE - _END.size - _LOCATOR_64_SIZE - _END_64.size))
    tail = file.read()
    has_comment = not (tail[-_END.size :].startswith(b"PK\x05\x06") and tail.endswith(b"\0\0"))
    end = tail.rfind(b"PK\x05\x06") if has_comment else len(tail) - _END.size
    if end < 0 or end + _END.size > len(tail):
        raise SgfError("damaged archive: it has no directory")
    size = _END.unpack_from(tail, end)[1]
    end_64 = end - _LOCATOR_64_SIZE - _END_64.size
    if end_64 >= 0 and tail.startswith(b"PK\x06\x06", end_64):
        size_64 = _END_64.unpack_from(tail, end_64)[1]
        size = size_64 if size == _SEE_64 else max(size, size_64)
    if size > limits.entries * _ENTRY_SIZE:
        raise _too_many_entries(limits)


def _check_entries(entries: Iterable[zipfile.ZipInfo]) -> None:
    """Refuse entries that share bytes: 20,000 of them could be one long record, to be read again and again."""
    end = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < end:
            raise SgfError("damaged archive: its entries overlap")
        end = entry.header_offset + _HEADER_SIZE + entry.compress_size


def _too_many_entries(limits: Limits) -> SgfError:
    return SgfError(f"the archive has more than {limits.entries} entries")


# Files and folders as a stream of pieces.

FOLDER_SUFFIXES: Final = (*RECORD_SUFFIXES, *(suffix + ".gz" for suffix in RECORD_SUFFIXES), ".zip")

PathLike = str | os.PathLike[str]


class Piece(NamedTuple):
    """Bytes of a record or a small collection, or why there are none; ``read`` of the file's bytes are done with."""

    source: str
    data: bytes
    error: SgfError | None
    file: Path
    read: int


class FoundGame(NamedTuple):
    """A game and the file that it is from, or why a part of that file could not be read."""

    source: str
    game: SgfGame | None
    error: SgfError | None
    data: bytes = b""  # that it was read from, if it is the only game in them


def load_sgf(path: PathLike, limits: Limits = DEFAULT_LIMITS) -> list[SgfGame]:
    """All games of one file; raises SgfError if it cannot be read whole, or is larger than the limit of size."""
    games: list[SgfGame] = []
    size = 0
    for piece in iter_pieces([path], limits):
        size += len(piece.data)
        if piece.error is None and size > limits.size:
            raise SgfError(f"{piece.source}: larger than {limits.size} bytes; read it game by game with iter_sgf")
        games += parse_piece(piece, limits)
    return games


def iter_sgf(paths: Iterable[PathLike], limits: Limits = DEFAULT_LIMITS) -> Iterator[FoundGame]:
    """The games of files and folders, one after the other, of collections however long; faults do not end it."""
    for piece in iter_pieces(paths, limits):
        try:
            games = parse_piece(piece, limits)
            for game in games:
                yield FoundGame(piece.source, game, None, piece.data if len(games) == 1 else b"")
        except SgfError as error:
            yield FoundGame(piece.source, None, error)


def parse_piece(piece: Piece, limits: Limits) -> list[SgfGame]:
    """The games of a piece; raises SgfError, with the name of the file, if there are none."""
    try:
        if piece.error is not None:
            raise piece.error
        return parse_sgf(piece.data, limits)
    except SgfError as error:
        raise SgfError(f"{piece.source}: {error}") from None


def find_files(paths: Iterable[PathLike]) -> Iterator[Path]:
    """Files as they are named, and in place of folders the records in them and below, in order of their names.

    A folder that cannot be read is given as it is, so that whoever opens it finds out.
    """
    for path in map(Path, paths):
        if path.is_dir():
            unread: list[OSError] = []
            for folder, folders, names in os.walk(path, onerror=unread.append):
                folders.sort()
                yield from (Path(folder, name) for name in sorted(names) if name.lower().endswith(FOLDER_SUFFIXES))
            yield from (Path(error.filename) for error in unread)
        else:
            yield path


def iter_pieces(paths: Iterable[PathLike], limits: Limits = DEFAULT_LIMITS) -> Iterator[Piece]:
    """The contents of files and folders, in pieces that can be parsed each on its own."""
    for path in find_files(paths):
        try:
            with open_regular(path) as file:
                for name, open_content in _contents(path, file, limits):
                    yield from _read_pieces(name, open_content, path, file, limits)
        except SgfError as error:
            yield Piece(str(path), b"", error, path, 0)
        except (OSError, ValueError) as error:  # ValueError of a NUL in the name
            reason = error.strerror if isinstance(error, OSError) else error
            yield Piece(str(path), b"", SgfError(f"cannot be opened: {reason}"), path, 0)


def batch_pieces(pieces: Iterable[Piece], size: int) -> Iterator[list[Piece]]:
    """Pieces in lists of about so many bytes, the same for the same files: work for one process at a time."""
    batch: list[Piece] = []
    collected = 0
    for piece in pieces:
        batch.append(piece)
        collected += len(piece.data) + 1
        if collected >= size:
            yield batch
            batch, collected = [], 0
    if batch:
        yield batch


def _contents(path: Path, file: IO[bytes], limits: Limits) -> Iterator[tuple[str, Callable[[], Reader]]]:
    """The name of what is in a file and how to open it; there is more than one in a zip archive."""
    start = file.read(4)
    file.seek(0)
    if start.startswith(ZIP_MAGICS):
        for name, open_entry in open_zip(file, limits):
            yield f"{path}:{name}", open_entry
    elif start.startswith(GZIP_MAGIC):
        yield str(path), lambda: _MeteredReader(gzip.GzipFile(fileobj=file, mode="rb"), _Meter(file.tell, limits))
    else:
        yield str(path), lambda: file


def _read_pieces(
    name: str, open_content: Callable[[], Reader], path: Path, file: IO[bytes], limits: Limits
) -> Iterator[Piece]:
    try:
        for data in split_games(open_content(), limits):
            yield Piece(name, data, None, path, file.tell())
    except (SgfError, OSError) as error:
        yield Piece(name, b"", error if isinstance(error, SgfError) else SgfError(str(error)), path, file.tell())


# Counts over many records: how many there are, of what size, by whom, how they ended, and what was wrong with them.

MOST_EXAMPLES: Final = 20
UNKNOWN_RANK: Final = "?"
_BATCH_BYTES: Final = 1 << 19  # of records that one process counts at a time
_WORTH_A_PROCESS: Final = 1 << 20  # bytes on disk; for less, starting another takes longer than the work


@dataclass(slots=True)
class Summary:
    """Counts of games that could be replayed to their end; ``errors`` counts what could not."""

    games: int = 0
    moves: int = 0
    errors: int = 0
    by_size: Counter[int] = field(default_factory=Counter)
    by_rank: Counter[str] = field(default_factory=Counter)  # two players a game
    by_result: Counter[str] = field(default_factory=Counter)
    repairs: Counter[str] = field(default_factory=Counter)  # by kind
    repaired_games: int = 0
    error_examples: list[str] = field(default_factory=list)

    def add_piece(self, piece: Piece, limits: Limits = DEFAULT_LIMITS) -> None:
        """Read and replay every game of a piece."""
        try:
            games = parse_piece(piece, limits)
        except SgfError as error:
            self._add_error(str(error))
            return
        for game in games:
            try:
                self.add_game(game)
            except SgfError as error:
                self._add_error(f"{piece.source}: {error}")

    def add_game(self, game: SgfGame) -> None:
        """Replay a game and count it; raises SgfError and counts nothing if that cannot be done."""
        ending = game.replay_to_end()
        self.games += 1
        self.moves += ending.moves
        self.by_size[ending.board.size] += 1
        self.by_rank.update(rank or UNKNOWN_RANK for rank in (game.black_rank, game.white_rank))
        self.by_result[_kind_of_result(game.result)] += 1
        self.repairs.update(repair.kind.value for repair in game.repairs)
        self.repaired_games += bool(game.repairs)

    def _add_error(self, message: str) -> None:
        self.errors += 1
        if len(self.error_examples) < MOST_EXAMPLES:
            self.error_examples.append(message)

    def merge(self, other: Summary) -> None:
        """Add the counts of another summary to this one."""
        for name in ("games", "moves", "errors", "repaired_games", "by_size", "by_rank", "by_result", "repairs"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.error_examples += other.error_examples[: MOST_EXAMPLES - len(self.error_examples)]

    def to_json(self) -> dict[str, Any]:
        """The counts as plain values, most frequent first, sizes in order."""
        return {
            "games": self.games,
            "moves": self.moves,
            "errors": self.errors,
            "by_size": {str(size): self.by_size[size] for size in sorted(self.by_size)},
            "by_rank": _in_order(self.by_rank),
            "by_result": _in_order(self.by_result),
            "repairs": _in_order(self.repairs),
            "repaired_games": self.repaired_games,
            "error_examples": self.error_examples,
        }


def summarize(pieces: Iterable[Piece], limits: Limits = DEFAULT_LIMITS) -> Summary:
    """The counts over some pieces of files."""
    summary = Summary()
    for piece in pieces:
        summary.add_piece(piece, limits)
    return summary


def sizes_on_disk(paths: Iterable[PathLike]) -> dict[Path, int]:
    """The files that are read, with their bytes."""
    return {path: path.stat().st_size for path in find_files(paths) if path.is_file()}


def useful_processes(size: int) -> int:
    """How many processes it is worth to start for so many bytes."""
    return max(1, min(usable_cores(), size // _WORTH_A_PROCESS))


def summarize_files(paths: Iterable[PathLike], processes: int, watch: Callable[[Path, int], None]) -> Summary:
    """Count in this process, or hand batches to others; a game is parsed and replayed where it is counted.

    ``watch`` hears how many bytes of a file are done with.
    """

    def batches() -> Iterator[list[Piece]]:
        for batch in batch_pieces(iter_pieces(paths), _BATCH_BYTES):
            yield batch
            watch(batch[-1].file, batch[-1].read)

    total = Summary()
    for count in hand_out(summarize, ((batch,) for batch in batches()), processes):
        total.merge(count)
    return total


def _in_order(counts: Counter[str]) -> dict[str, int]:
    """The most frequent first; equal counts by name, so that processes that finish in any order report the same."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _kind_of_result(result: GameResult | None) -> str:
    """``B+score``, ``W+R``, ``B+T``, ``0`` …; the margin left out."""
    if result is None:
        return UNKNOWN_RANK
    if result.winner == EMPTY:
        return "0"
    letter = "B" if result.winner == BLACK else "W"
    return f"{letter}+{'score' if result.reason is Reason.SCORE else result.reason.value}"
