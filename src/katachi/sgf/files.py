"""Where records come from: files, folders of files, gzip and zip, as one stream of games.

What a file is, its first bytes tell, not its name. In folders, only names that promise records are opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple

from katachi.sgf.archives import GZIP_MAGIC, RECORD_SUFFIXES, ZIP_MAGICS, open_gzip, open_zip
from katachi.sgf.errors import DEFAULT_LIMITS, Limits, SgfError
from katachi.sgf.parsing import parse_sgf
from katachi.sgf.record import SgfGame
from katachi.sgf.splitting import Reader, split_games

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
            for game in parse_piece(piece, limits):
                yield FoundGame(piece.source, game, None)
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
    """Files as they are named, and in place of folders the records in them and below, in order of their names."""
    for path in map(Path, paths):
        if path.is_dir():
            for folder, folders, names in os.walk(path):
                folders.sort()
                yield from (Path(folder, name) for name in sorted(names) if name.lower().endswith(FOLDER_SUFFIXES))
        else:
            yield path


def iter_pieces(paths: Iterable[PathLike], limits: Limits = DEFAULT_LIMITS) -> Iterator[Piece]:
    """The contents of files and folders, in pieces that can be parsed each on its own."""
    for path in find_files(paths):
        try:
            with _open_regular(path) as file:
                for name, open_content in _contents(path, file, limits):
                    yield from _read_pieces(name, open_content, path, file, limits)
        except SgfError as error:
            yield Piece(str(path), b"", error, path, 0)


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


def _open_regular(path: Path) -> IO[bytes]:
    """Open a file that is one: not a device, nor a pipe that never ends."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise SgfError("not a regular file")
        return path.open("rb")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise SgfError(f"cannot be opened: {reason}") from None


def _contents(path: Path, file: IO[bytes], limits: Limits) -> Iterator[tuple[str, Callable[[], Reader]]]:
    """The name of what is in a file and how to open it; there is more than one in a zip archive."""
    start = file.read(4)
    file.seek(0)
    if start.startswith(ZIP_MAGICS):
        for name, open_entry in open_zip(file, limits):
            yield f"{path}:{name}", open_entry
    elif start.startswith(GZIP_MAGIC):
        yield str(path), lambda: open_gzip(file, limits)
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
