"""Help, version, completion and errors: what all commands have in common."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from katachi.cli import COMMANDS
from katachi.cli._commands import keep_layout
from katachi.go.rules import RulesError


def test_help_lists_every_command(run_katachi):
    ran = run_katachi("--help")
    assert ran.code == 0
    for name, command in COMMANDS.items():
        assert name in ran.out
        assert command.help in ran.out


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["plya"]])
def test_help_loads_nothing_heavy(arguments):
    code = f"""
import sys
import time
from katachi.cli import main
try:
    main({arguments})
finally:
    heavy = {{"numpy", "numba", "scipy", "joblib"}} & set(sys.modules)
    if heavy: print("LOADED", heavy)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "LOADED" not in ran.stdout
    assert "katachi" in ran.stdout + ran.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command_has_examples(run_katachi, name):
    ran = run_katachi(name, "--help")
    assert ran.code == 0
    assert f"Usage: katachi {name}" in ran.out
    assert "Example" in ran.out
    example = ran.out.split("Example", 1)[1]
    assert f"  katachi {name}" in example


def test_no_arguments_show_help(run_katachi):
    ran = run_katachi()
    assert "Commands:" in ran.out + ran.err


def test_version(run_katachi):
    from importlib.metadata import version

    assert run_katachi("--version").out == f"katachi {version('katachi')}\n"


def test_a_command_with_a_slip(run_katachi):
    ran = run_katachi("plya")
    assert ran.code == 2
    assert ran.err == "katachi: there is no command plya; did you mean 'play'? (see: katachi --help)\n"


def test_completion_knows_the_commands():
    environment = os.environ | {
        "_KATACHI_COMPLETE": "complete_bash",
        "COMP_WORDS": "katachi pla",
        "COMP_CWORD": "1",
    }
    code = "from katachi.cli import main; main([])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert ran.stdout.split() == ["play", "players"]


# Errors


@pytest.fixture
def failing(monkeypatch, run_katachi):
    """Run a command that raises."""

    def run(error: BaseException):
        def doctor() -> None:
            raise error

        monkeypatch.setitem(sys.modules, "katachi.cli.setup", SimpleNamespace(doctor=doctor))
        return run_katachi("doctor")

    return run


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (RulesError("no such rules"), 2, "katachi: no such rules"),
        (FileNotFoundError(2, "No such file or directory", "x.sgf"), 2, "katachi: x.sgf: No such file or directory"),
        (OSError(28, "No space left on device", "x.sgf"), 1, "katachi: x.sgf: No space left on device"),
        (ValueError("broken\ninside"), 1, "katachi: ValueError: broken inside (KATACHI_DEBUG=1 shows where)"),
        (KeyError("x"), 1, "katachi: KeyError: 'x' (KATACHI_DEBUG=1 shows where)"),
    ],
)
def test_errors_are_one_line(failing, error, code, line):
    ran = failing(error)
    assert (ran.code, ran.out, ran.err) == (code, "", line + "\n")


@pytest.mark.parametrize("command", ["doctor", "players", "--help"])
def test_a_terminal_that_knows_only_ascii(command):
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    arguments = [sys.executable, "-m", "katachi", command]
    ran = subprocess.run(arguments, capture_output=True, env=environment, check=False)
    assert ran.returncode == 0
    assert ran.stderr.startswith(b"katachi: next: ") or not ran.stderr
    assert ran.stdout.isascii()


def test_interrupt_is_quiet(failing):
    ran = failing(KeyboardInterrupt())
    assert (ran.code, ran.out, ran.err) == (130, "", "")


def test_debug_shows_the_traceback(failing, monkeypatch):
    monkeypatch.setenv("KATACHI_DEBUG", "1")
    with pytest.raises(RulesError, match="no such rules"):
        failing(RulesError("no such rules"))


def test_layout_is_kept_where_lines_are_indented():
    text = keep_layout("One.\n\nTwo\nlines.\n\nExamples:\n  a\n  b\n")
    assert text == "One.\n\nTwo\nlines.\n\n\b\nExamples:\n  a\n  b"
    assert keep_layout(text) == text
    assert keep_layout(None) is None
