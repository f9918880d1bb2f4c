"""What tests share: the programs of other people that they need, and what is on disk."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def gnugo() -> str:
    """The path of GNU Go."""
    return find_program("gnugo")


@pytest.fixture(scope="session")
def compiler() -> str:
    """The path of the C++ compiler."""
    return find_program("g++")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Debian's browser."""
    return find_program("chromium")


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> dict[Path, object]:
    """What a power cut would leave: the bytes of files, and the names in folders, when they were last synced."""
    kept: dict[Path, object] = {}

    def sync(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").resolve()
        kept[path] = path.read_bytes() if path.is_file() else sorted(each.name for each in path.iterdir())

    if not Path("/proc/self/fd").exists():
        pytest.skip("this system does not say what a descriptor stands for")
    monkeypatch.setattr(os, "fsync", sync)
    return kept


def find_program(name: str) -> str:
    """The path of a program. Without it a test is skipped, but in CI it fails: there the set-up must install it."""
    path = shutil.which(name, path=os.environ.get("PATH", "") + os.pathsep + "/usr/games")
    if path is None:
        reason = f"{name} is not installed (Debian's package {name})"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return path
