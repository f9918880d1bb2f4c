"""A lock on a directory, so that two processes never write the same run; a killed one leaves nothing behind."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO, Final

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
