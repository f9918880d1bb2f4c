"""Compressed records: gzip and zip, read as streams and never unpacked to disk.

A bomb is known by its ratio: the text of records shrinks three to twenty times, a bomb a thousand times. The
directory of a zip archive is measured before it is read, because reading a million entries is already too much.
"""

from __future__ import annotations

import gzip
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Final

from katachi.sgf.errors import Limits, SgfError
from katachi.sgf.splitting import Reader

GZIP_MAGIC: Final = b"\x1f\x8b"
ZIP_MAGICS: Final = (b"PK\x03\x04", b"PK\x05\x06")
RECORD_SUFFIXES: Final = (".sgf", ".mgt")

_SLACK: Final = 1 << 20  # so much may come out whatever went in: a short file of spaces is no bomb
_ENTRY_SIZE: Final = 46 + 128  # of an entry of the directory with a long name
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
            raise SgfError(f"the archive expands more than {self._ratio} times: this is no collection of records")


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


def open_gzip(file: IO[bytes], limits: Limits) -> Reader:
    """The content of a gzip file."""
    return _MeteredReader(gzip.GzipFile(fileobj=file, mode="rb"), _Meter(file.tell, limits))


def open_zip(file: IO[bytes], limits: Limits) -> Iterator[tuple[str, Callable[[], Reader]]]:
    """The names of the records in a zip archive and how to open each; archives inside it are left alone."""
    _check_directory(file, limits)
    size = file.seek(0, os.SEEK_END)
    # One meter for all: entries that overlap would each pass on its own.
    meter = _Meter(lambda: size, limits)
    try:
        archive = zipfile.ZipFile(file)
    except _FAULTS as error:
        raise SgfError(f"damaged archive: {error}") from None
    with archive:
        if len(archive.infolist()) > limits.entries:
            raise _too_many_entries(limits)
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


def _too_many_entries(limits: Limits) -> SgfError:
    return SgfError(f"the archive has more than {limits.entries} entries")
