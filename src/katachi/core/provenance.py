"""Which program made a result: versions, platform, and the commit if it runs from its source tree."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from pathlib import Path
from typing import Final, TypedDict

_LIBRARIES: Final = ("numba", "numpy")


class Provenance(TypedDict):
    """What is needed to run the same program again."""

    katachi: str
    commit: str | None
    python: str
    platform: str
    libraries: dict[str, str]


def provenance() -> Provenance:
    """The program that is running now."""
    return Provenance(
        katachi=importlib.metadata.version("katachi"),
        commit=_commit(),
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        libraries={name: importlib.metadata.version(name) for name in _LIBRARIES},
    )


def format_program(made_by: Provenance) -> str:
    """``katachi 0.1.0, commit 1a2b3c4d5e``."""
    commit = made_by["commit"]
    if commit is None:
        return f"katachi {made_by['katachi']}"
    changed = " with changes" if commit.endswith("-dirty") else ""
    return f"katachi {made_by['katachi']}, commit {commit[:10]}{changed}"


def _commit() -> str | None:
    """The commit of the source tree, with ``-dirty`` if files differ from it; None outside one."""
    # Installed somewhere inside another project, that project's commit would be a lie: our files must be tracked.
    if _git("ls-files", "--error-unmatch", Path(__file__).name) is None:
        return None
    return _git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def _git(*arguments: str) -> str | None:
    command = ["git", "-C", str(Path(__file__).parent), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
