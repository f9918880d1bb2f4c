"""What commands that read many records share: a bar over the bytes of their files, and how many processes pay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_WORTH_A_PROCESS: Final = 1 << 20  # bytes on disk; for less, starting another takes longer than the work

Advance = Callable[[Path, int], None]  # hears how many bytes of a file are done with


def sizes_on_disk(paths: list[Path]) -> dict[Path, int]:
    """The files that are read, with their bytes."""
    from katachi.sgf.files import find_files

    return {path: path.stat().st_size for path in find_files(paths) if path.is_file()}


def useful_processes(size: int) -> int:
    """How many processes it is worth to start for so many bytes."""
    from joblib import cpu_count

    cores: int = cpu_count()
    return max(1, min(cores, size // _WORTH_A_PROCESS))


@contextmanager
def show_reading(sizes: dict[Path, int]) -> Iterator[Advance]:
    """A bar on standard error over the bytes of the files; nothing where nobody watches."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    starts: dict[Path, int] = {}
    before = 0
    for path, size in sizes.items():
        starts[path] = before
        before += size
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("reading", total=before)
        yield lambda path, read: bar.update(task, completed=starts.get(path, 0) + read, description=path.name)
