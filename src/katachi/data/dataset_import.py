"""Importing game records into a set that can be learned from, by processes side by side, through any interruption.

```
SET/import.json       which files, and how; written first
SET/parts/*.npz       the games of each part of the files, as it is done
```

When all parts are there, ``data/dataset_assembly.py`` puts the set together. Whenever this is interrupted, the same
command goes on with the parts that are missing.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from katachi.core.disk import LOCK_NAME, DirectoryLock, temporary_path, write_atomically
from katachi.core.processes import end_with_parent
from katachi.data.dataset import CARD, MAX_SOURCES, Dataset, DatasetError, Source
from katachi.data.dataset_assembly import NoGames, put_together
from katachi.data.importing import Part, SavedPart, make_part, save_part
from katachi.sgf.files import Piece, batch_pieces, find_files, iter_pieces

_PLAN: Final = "import.json"
_PARTS: Final = "parts"
_PART_BYTES: Final = 1 << 20  # of records

Watcher = Callable[[Path, int], None]


class ImportPlan(BaseModel):
    """What an import is of."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    format: Literal[1] = 1
    unique: bool
    sources: list[Source]
    splits_of: list[str] = []


def import_games(
    paths: Iterable[Path],
    folder: Path,
    *,
    unique: bool = False,
    splits_of: Sequence[Path] = (),
    jobs: int = 1,
    watch: Watcher = lambda *_: None,
) -> Dataset:
    """Make a set of the games of files and folders, or go on with it; nothing is done if it is there already.

    ``unique`` keeps games that come more than once only once. A game that one of the sets ``splits_of`` has, with the
    same moves, is of the split that it is of there. ``watch`` hears how far which file is done. Raises DatasetError if
    the folder holds anything else, or another import.
    """
    files = list(find_files(paths))
    others = [str(Dataset.open(other).path) for other in splits_of]
    plan = ImportPlan(unique=unique, sources=[_identify(file) for file in files], splits_of=others)
    if len(files) > MAX_SOURCES:
        raise DatasetError(f"{len(files)} files are too many: join them to at most {MAX_SOURCES}")
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    lock = DirectoryLock(folder)
    try:
        if not _is_done(folder, plan):
            _begin(folder, plan)
            parts = _make_parts(files, folder / _PARTS, jobs, watch)
            put_together(folder, parts, plan.sources, unique=plan.unique, splits_of=plan.splits_of)
        _clean(folder)
    except NoGames:  # what is left behind would want the same files again
        _clean(folder)
        if is_new:
            shutil.rmtree(folder)
        raise
    finally:
        lock.release()
    return Dataset.open(folder)


def _identify(file: Path) -> Source:
    try:
        status = file.stat()
    except OSError as error:
        raise DatasetError(f"{file} cannot be read: {error.strerror}") from None
    return Source(path=str(file), bytes=status.st_size, modified=status.st_mtime_ns)


def _is_done(folder: Path, plan: ImportPlan) -> bool:
    """Whether the set is there; raises DatasetError if it is another one."""
    if not (folder / CARD).exists():
        return False
    card = Dataset.open(folder).card
    if (card.unique, card.sources, card.splits_of) != (plan.unique, plan.sources, plan.splits_of):
        raise DatasetError(f"{folder} holds a set of other files, or they have changed since: give a new folder")
    return True


def _begin(folder: Path, plan: ImportPlan) -> None:
    """Write the plan, or see that it is the one that is being followed."""
    if (folder / _PLAN).exists():
        try:
            begun = ImportPlan.model_validate_json((folder / _PLAN).read_bytes())
        except ValidationError:
            raise DatasetError(f"{folder / _PLAN} is damaged: give a new folder") from None
        if begun != plan:
            raise DatasetError(f"{folder} was begun with other files or settings: repeat those, or give a new folder")
    elif any(file.name not in (LOCK_NAME, temporary_path(Path(_PLAN)).name) for file in folder.iterdir()):
        raise DatasetError(f"{folder} holds other files: give a new folder")
    else:
        write_atomically(folder / _PLAN, plan.model_dump_json(indent=2) + "\n")
    (folder / _PARTS).mkdir(exist_ok=True)


def _clean(folder: Path) -> None:
    """Remove what a finished set does not need."""
    shutil.rmtree(folder / _PARTS, ignore_errors=True)
    (folder / _PLAN).unlink(missing_ok=True)


# Parts


def _make_parts(files: Sequence[Path], folder: Path, jobs: int, watch: Watcher) -> list[SavedPart]:
    """Make the parts that are not there yet, in any order; returns all of them in theirs."""
    numbers = {file: number for number, file in enumerate(files)}
    paths: list[Path] = []

    def missing() -> Iterator[tuple[Path, list[Piece], list[int]]]:
        for batch in batch_pieces(iter_pieces(files), _PART_BYTES):
            path = folder / f"{len(paths):06}.npz"
            paths.append(path)
            if not path.exists():
                yield path, batch, [numbers[piece.file] for piece in batch]
            watch(batch[-1].file, batch[-1].read)

    made: Iterable[tuple[Path, Part]]
    if jobs == 1:
        made = (_make_part(*work, os.getpid()) for work in missing())
    else:
        from joblib import Parallel, delayed  # loads multiprocessing, which a single process does without

        run = Parallel(n_jobs=jobs, return_as="generator_unordered")
        made = run(delayed(_make_part)(*work, os.getpid()) for work in missing())
    for path, part in made:
        save_part(path, part)
    return [SavedPart(path) for path in paths]


def _make_part(path: Path, pieces: list[Piece], sources: list[int], parent: int) -> tuple[Path, Part]:
    end_with_parent(parent)
    return path, make_part(pieces, sources)
