"""Files that are written whole or not at all, whatever happens meanwhile: a kill, a full disk, a power cut.

And what goes with them: settings as TOML and JSON within limits, locks on folders, and worker processes that write
nothing themselves, and no more of them than there are processors for.
"""

from __future__ import annotations

import errno
import io
import json
import math
import os
import re
import stat
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final

from pydantic_core import from_json

# Windows has no O_NOFOLLOW. Elsewhere a link that somebody put in the temporary file's place is refused.
_BINARY: Final = getattr(os, "O_BINARY", 0)
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | _BINARY
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)  # without it, to open a pipe is to wait for whoever is at the other end


class NotAFile(OSError, ValueError):
    """What is read as a file and is a device or a pipe, or too large."""


def open_regular(path: Path, flags: int = 0) -> BinaryIO:
    """Open a regular file to read it, and nothing else: a device or a pipe may never end. Raises OSError.

    One that says it has no bytes is not read: some in /proc have bytes nevertheless, or wait for them.
    """
    descriptor = os.open(path, os.O_RDONLY | _BINARY | _NO_WAIT | flags)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(status.st_mode):
            raise NotAFile(errno.EINVAL, "it is not a regular file", str(path))
        if status.st_size:
            return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return io.BytesIO()


def read_regular(path: Path, most: int, flags: int = 0) -> bytes:
    """The content of a regular file; raises OSError, also if it is larger than ``most`` bytes."""
    with naming(path), open_regular(path, flags) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise NotAFile(errno.EFBIG, f"it is larger than {most:,} bytes", str(path))
    return content


def open_log(path: Path) -> BinaryIO:
    """Open a file to add to it, without a buffer; to wait for whoever reads a pipe is an OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _BINARY | _NO_WAIT, 0o666)
    return os.fdopen(descriptor, "ab", buffering=0)


def temporary_path(path: Path) -> Path:
    """Where ``write_atomically`` keeps what is not yet complete; a kill may leave it behind."""
    return path.with_name(f".{path.name}.tmp")


@contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """Let what the system refuses, as on a full disk, name the file that was to be written."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that readers see the old one or the new one, never a part; text is UTF-8.

    Raises OSError, which names the file.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary = temporary_path(path)
    try:
        with naming(path), os.fdopen(os.open(temporary, _FLAGS, 0o666), "wb") as file:
            _write(file, data)
        with naming(path):
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def append(file: BinaryIO, data: bytes) -> None:
    """Add to an open file; when this returns it survives a power cut. Raises OSError, which names the file."""
    with naming(file.name):
        _write(file, data)


def _write(file: BinaryIO, data: bytes) -> None:
    file.write(data)
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut too; Windows cannot open folders and does not need it."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def format_toml(values: Mapping[str, Any], place: str = "") -> str:
    """Plain values and tables of them as TOML; what is None is left out.

    >>> print(format_toml({"kind": "search", "search": {"rave": 0.0, "playouts": {"nakade": False}}}), end="")
    kind = "search"
    <BLANKLINE>
    [search]
    rave = 0.0
    <BLANKLINE>
    [search.playouts]
    nakade = false
    """

    def quote(value: object) -> str:  # a JSON text with its Unicode is one of TOML, but for DEL, which TOML escapes
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

    known = {key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else quote(key): value for key, value in values.items()}
    lines = [f"{k} = {quote(value)}\n" for k, value in known.items() if not isinstance(value, dict | None)]
    tables = {place + key: value for key, value in known.items() if isinstance(value, dict)}
    return "".join(lines + [f"\n[{name}]\n{format_toml(table, f'{name}.')}" for name, table in tables.items()])


MAX_TOML_CHARACTERS: Final = 1 << 20
_MOST_PARTS: Final = 32  # of a dotted key; tomllib takes a minute for 50,000
_LONG_KEY: Final = re.compile(rf"""(?:\.[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*){{{_MOST_PARTS}}}""")


def parse_toml(text: str) -> dict[str, Any]:
    """Read TOML that somebody else may have written; raises TOMLDecodeError, and nothing else."""
    if len(text) > MAX_TOML_CHARACTERS:
        raise tomllib.TOMLDecodeError(f"it is longer than {MAX_TOML_CHARACTERS:,} characters")
    if _LONG_KEY.search(text):
        raise tomllib.TOMLDecodeError(f"a dotted key has more than {_MOST_PARTS} parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None
    except ValueError:  # of int(), which says how to raise the limit of the interpreter
        raise tomllib.TOMLDecodeError(f"a number has more than {sys.get_int_max_str_digits():,} digits") from None


def parse_json(text: str | bytes) -> Any:
    """Read JSON that somebody else may have written, some 200 levels deep; raises ValueError, and nothing else.

    What it returns can be written again: of 1e999, which is JSON and infinite, it could not.
    """
    values = from_json(text, allow_inf_nan=False)
    try:
        json.dumps(values, allow_nan=False)
    except ValueError:
        raise ValueError("a number is too large") from None
    return values


# A lock on a directory, so that two processes never write the same run; a killed one leaves nothing behind.

LOCK_NAME: Final = ".lock"

if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


class DirectoryInUse(ValueError):
    """A directory that another process holds."""


class DirectoryLock:
    """Held from the start until ``release`` or the end of the process; raises DirectoryInUse if another one has it."""

    def __init__(self, directory: Path) -> None:
        self._file = (directory / LOCK_NAME).open("ab")
        try:
            _lock(self._file)
        except OSError:
            self._file.close()
            raise DirectoryInUse(f"another process is at work in {directory}") from None

    def release(self) -> None:
        self._file.close()


def usable_cores(root: Path = Path("/")) -> int:
    """The processors that this process may use: the machine's, those of its affinity mask, the quota of its container.

    A quota of one and a half is two. ``root`` is where the files of the control groups are, of version 1 or 2.
    """
    machine = os.cpu_count() or 1
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else machine
    return max(1, min([machine, affinity, *map(math.ceil, _cpu_quotas(root))]))


def _cpu_quotas(root: Path) -> Iterator[float]:
    """The processors that the control groups of this process allow: its own, and all that contain it.

    Within a container the path of a group may be that of the host, which is not there: the container's is the topmost.
    """
    for line in _read_words(root / "proc/self/cgroup", "\n"):
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        mount = root / "sys/fs/cgroup" / ("cpu" if controllers else "")
        names = ("cpu.cfs_quota_us", "cpu.cfs_period_us") if controllers else ("cpu.max",)
        for group in (PurePosixPath(path), *PurePosixPath(path).parents):
            quota = [word for name in names for word in _read_words(mount / group.relative_to("/") / name)]
            if len(quota) == 2 and all(word.isdecimal() for word in quota):  # not "max" or -1: without limit
                yield int(quota[0]) / int(quota[1])


def _read_words(path: Path, separator: str | None = None) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").strip().split(separator)
    except OSError:
        return []
