"""Running katachi's command line inside the test."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from katachi.cli import main


class Ran(NamedTuple):
    code: int
    out: str
    err: str


RunKatachi = Callable[..., Ran]


@pytest.fixture
def run_katachi(capsys, monkeypatch) -> RunKatachi:
    """Run a command line with text on standard input; what it printed, and its exit code."""

    def run(*arguments: str, stdin: str = "") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        with pytest.raises(SystemExit) as exited:
            main(list(arguments))
        printed = capsys.readouterr()
        return Ran(exited.value.code or 0, printed.out, printed.err)

    return run
