"""The games of a run as one SGF collection, in the order of their numbers."""

from __future__ import annotations

from pathlib import Path

from katachi.arena.errors import RunError
from katachi.arena.records import SGF_FOLDER
from katachi.core.disk import write_atomically


def write_collection(run: Path, path: Path) -> int:
    """Write all games of a run to a file, whole or not at all; returns how many they are."""
    games = [file.read_text(encoding="utf-8").strip() for file in sorted((run / SGF_FOLDER).glob("*.sgf"))]
    if not games:
        raise RunError(f"{run} has no games")
    write_atomically(path, "\n".join(games) + "\n")
    return len(games)
