"""What an analysis of many games leaves on disk, and how it goes on after a kill at any moment.

```
OUT/run.json           the judges, and the program that asked them
OUT/analysis.jsonl     every game and its positions, a line each, in the order of the games (``analysis/records.py``)
OUT/NAME.sgf           the games with their analyses written in
OUT/report.html        all games as one page
OUT/analysis.parquet   the positions as a table, if it was asked for
```

The lines are the truth, and everything else is made from them. They are synced to the disk as they come; a line torn
by a kill is dropped, and its position judged again, to the same result. One process at a time holds a folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from katachi.analysis.records import GameRecord, Line, PositionRecord, format_line, parse_line
from katachi.analysis.settings import JudgeSettings
from katachi.core.disk import write_atomically
from katachi.core.locking import DirectoryLock
from katachi.core.provenance import provenance

RUN: Final = "run.json"
LINES: Final = "analysis.jsonl"


class AnalysisError(ValueError):
    """An analysis that cannot begin or go on, and why."""


class Journal:
    """The lines of an analysis, read and written in order; a context manager that lets the folder go."""

    def __init__(self, folder: Path, settings: JudgeSettings, *, resume: bool) -> None:
        """Begin, or go on if told to; raises AnalysisError if the folder holds something else."""
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = DirectoryLock(folder)
        except OSError as error:
            raise AnalysisError(f"cannot write to {folder}: {error.strerror}") from None
        try:
            self._begin(settings, resume)
            self.kept = _drop_torn_line(folder / LINES)
            self._reader = (folder / LINES).open("rb")
            self._writer = (folder / LINES).open("ab")
        except BaseException:
            self._lock.release()
            raise

    def _begin(self, settings: JudgeSettings, resume: bool) -> None:
        if (self.folder / RUN).exists():
            if not resume:
                raise AnalysisError(f"{self.folder} holds an analysis: --resume goes on with it, or give another --out")
            self._refuse_other_settings(settings)
            return
        if (self.folder / LINES).exists():
            raise AnalysisError(f"{self.folder / LINES} is not of an analysis that can go on: give another --out")
        state = {"settings": settings.model_dump(mode="json"), "program": provenance()}
        write_atomically(self.folder / RUN, json.dumps(state, indent=2) + "\n")

    def _refuse_other_settings(self, settings: JudgeSettings) -> None:
        try:
            there = json.loads((self.folder / RUN).read_bytes())["settings"]
        except (ValueError, KeyError, TypeError) as error:
            raise AnalysisError(f"{self.folder / RUN} is damaged: give another --out ({error})") from None
        here = settings.model_dump(mode="json")
        changed = [key for key in {**there, **here} if there.get(key) != here.get(key)]
        if changed:
            others = ", another ".join(changed)
            raise AnalysisError(f"{self.folder} was begun with another {others}: give that, or another --out")

    def read(self, game: GameRecord) -> list[PositionRecord]:
        """The positions of the next game that are there already; raises AnalysisError if another game is.

        If nothing is there, the game's own line is written.
        """
        if not self.kept:
            self.write([game])
            return []
        count = self.kept.pop(0)
        first, *positions = (_parse(line, self.folder) for line in islice(self._reader, count))
        if first != game:
            raise AnalysisError(f"{self.folder} holds an analysis of other games, or by others: give another --out")
        return [position for position in positions if isinstance(position, PositionRecord)]

    def write(self, records: Sequence[Line]) -> None:
        """Add lines; when this returns they survive a power cut."""
        self._writer.write("".join(map(format_line, records)).encode())
        self._writer.flush()
        os.fsync(self._writer.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reader.close()
        self._writer.close()
        self._lock.release()


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of an analysis; raises AnalysisError if one of them is none."""
    with path.open("rb") as file:
        yield from (_parse(line, path) for line in file)


def _parse(line: bytes, where: Path) -> Line:
    try:
        return parse_line(line)
    except ValueError:
        raise AnalysisError(f"{where}: a line of the analysis is damaged: give another --out") from None


def _drop_torn_line(path: Path) -> list[int]:
    """How many lines each game has, its own included; what follows the last line break is cut off."""
    counts: list[int] = []
    length = 0
    with path.open("a+b") as file:
        file.seek(0)
        for line in file:
            if not line.endswith(b"\n"):
                break
            length += len(line)
            if line.startswith(b'{"kind":"game"') or not counts:
                counts.append(0)
            counts[-1] += 1
        file.truncate(length)
    return counts
