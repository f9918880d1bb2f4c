"""What tests share: the programs of other people that they need."""

from __future__ import annotations

import os
import shutil

import pytest

from katachi.cli._compiling import forget_stale_kernels


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        forget_stale_kernels()


@pytest.fixture(scope="session")
def gnugo() -> str:
    """The path of GNU Go. Without it a test is skipped, but in CI it fails: there the set-up must install it."""
    path = shutil.which("gnugo", path=os.environ.get("PATH", "") + os.pathsep + "/usr/games")
    if path is None:
        reason = "GNU Go is not installed (Debian's package gnugo)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return path
