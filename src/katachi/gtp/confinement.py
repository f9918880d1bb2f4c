"""Files that a controller may name: regular ones inside one folder, and no others.

A name is refused if it leads out of the folder, by ``..``, as an absolute path or through a symbolic link, and if
what it names is a device, a pipe or a folder. The controller may be on the other end of a network.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from katachi.core.disk import write_atomically

MAX_FILE_BYTES: Final = 16 << 20

# Without O_NONBLOCK, opening a pipe would wait for somebody to write into it. Windows has neither flag.
_READ_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class Refused(ValueError):
    """A file that may not be touched, and why."""


def confine(directory: Path, name: str) -> Path:
    """The path of a file in ``directory``; raises Refused if ``name`` leads elsewhere."""
    try:
        root = directory.resolve(strict=True)
        path = (root / name).resolve()
    except (OSError, RuntimeError, ValueError):  # too long a name, a loop of links, a NUL
        raise Refused("no file can have this name") from None
    if not path.is_relative_to(root):
        raise Refused("only files inside the working directory may be used")
    return path


def read_confined(directory: Path, name: str) -> bytes:
    """The content of a regular file in ``directory``; raises Refused, or OSError if it cannot be read."""
    descriptor = os.open(confine(directory, name), _READ_FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Refused("it is no regular file")
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise Refused(f"it is larger than {MAX_FILE_BYTES} bytes")
    return content


def write_confined(directory: Path, name: str, content: bytes) -> None:
    """Write a file in ``directory``, whole or not at all; only a regular file may be replaced."""
    path = confine(directory, name)
    if path.exists() and not path.is_file():
        raise Refused("it is no regular file")
    write_atomically(path, content)
