"""Every command once with good and once with bad input, as kept in tests/golden/cli.

``python tests/cli/test_golden.py`` writes the files anew; look at the difference before you commit it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from katachi.cli import COMMANDS, main
from katachi.cli._commands import load_command

GOLDEN = Path(__file__).parents[1] / "golden" / "cli"
HELP, ERRORS = GOLDEN / "help.txt", GOLDEN / "errors.json"
REFRESH = "python tests/cli/test_golden.py writes it anew"
WIDTH = "80"
SGF = "(;GM[1]SZ[5]KM[0.5]RE[B+2.5];B[cc];W[bb];B[dd];W[];B[])"


def list_commands() -> list[str]:
    """``play``, …, ``train``, ``train shapes``, …"""
    found = [""]
    for name, lazy in COMMANDS.items():
        command = load_command(name, lazy.target)
        below = command.list_commands(None) if hasattr(command, "list_commands") else []
        found += [name, *(f"{name} {each}" for each in below)]
    return found


def run(line: str) -> tuple[int, str, str]:
    """The exit code and what is printed, here and now."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(shlex.split(line))
        except SystemExit as error:
            return int(error.code or 0), out.getvalue(), err.getvalue()
    raise AssertionError(f"katachi {line} did not exit")


def format_help() -> str:
    """The help of every command, one after another."""
    texts = [(f"{command} --help".strip(), run(f"{command} --help")) for command in list_commands()]
    return "".join(f"$ katachi {line}\n{ran[1].rstrip()}\n\n" for line, ran in texts)


def prepare(folder: Path) -> None:
    """What the command lines below name."""
    (folder / "game.sgf").write_text(SGF)
    (folder / "wrong.toml").write_text('kind = "alp"\nnmae = "x"\n')
    (folder / "cup.toml").write_text('gmaes = 2\n[players]\na = "alp"\nb = "random"\n')
    (folder / "empty").mkdir()


BAD = """
plya
--versoin
play level-11
play influense
play nothere.toml
play wrong.toml
play empty
play runs/nothere
play alp --size 0
play alp --size 26
play alp --size nine
play alp --komi nan
play alp --komi inf
play alp --seed -1
play alp --seed 1000000000000000000000000000000
play alp --seconds nan
play alp --seconds -1
play alp --simulations 0
play alp --handicap 10
play alp --rules chinesse
play alp --color green
play shapes-9 --size 5
play crbm-19
serve --port 99999
serve --port -1
gtp level-11
gtp alp --seed -1
gtp alp --lag nan
gtp alp --rules chinesse
gtp alp --directory nothere
analysis-engine
analysis-engine level-0
analysis-engine alp --visits 0
analysis-engine alp --seconds inf
analyze
analyze nothere.sgf
analyze game.sgf --player level-11
analyze game.sgf --model shapes-6
analyze game.sgf --seconds nan
analyze game.sgf --jobs -1
match alp
match alp rnadom
match alp random --gmaes 3
match alp random --games 0
match alp random --games -5
match alp random --komi 5000
match alp random --jobs 100000
match alp random --size 1
match alp random --random-plies -1
match alp random --max-moves 0
match alp random --seconds 0
match alp random --sprt nan 3
match alp random --sprt 30 0
match alp random --rules ""
match alp random --referee nobody
match alp gtp:no-such-program
match alp gtp:
match shapes-5 shapes-9
match shapes-5 alp --size 9
tournament
tournament nothere.toml
tournament cup.toml
train shpaes
train shapes --size 0
data
data inof
data info nothere.sgf
data import game.sgf
data label nothere
data label nothere --seconds nan
data selfplay alp random
data selfplay alp rnadom --out games.sgf
show
show shape-9
show shapes-99
show level-5
show empty
show shapes-5 --size 9
show shapes-5 --move 3
show shapes-5 --sgf nothere.sgf
show shapes-5 --per-set 0
models mkae
models make shapes-6
models --jsno
players show level-11
players show wrong.toml
reproduce silver2008
bench plaouts
bench playouts --seconds nan
bench playouts --rounds 0
bench playouts --people 3
doctor --jsno
cluster doctor --backend rya
warmup now
"""
GOOD = {  # and what is on standard output then
    "--version": "katachi ",
    "doctor": "Python",
    "players": "level-10",
    "players --json": '"level-10"',
    "show shapes-5 --json": '"name": "shapes-5"',
    "analyze game.sgf --player alp --out there --json": '"games": 1',
    "players show alp": 'kind = "alp"',
    "models": "shapes-9",
    "models --json": '"shapes-9"',
    "match random random --games 2 --size 5": "random 1 – random 2",
    "data selfplay random alp --games 2 --size 3 --out games.sgf": "games 2",
    "data info game.sgf": "games 1",
    "data import game.sgf --out set": "games 1",
    "data label set --by playouts --jobs 1": "counted 1",
    "show shapes-5 --per-set 1": "LI 1×1",
    "show shapes-5 --per-set 1 --svg shapes.svg": "written to shapes.svg",
    "analyze game.sgf --player alp --out analysed": "1 game",
    "play alp --size 5": "You are black",
    "tournament cup.toml --dry-run": "1 pairs",
}
WITHOUT_NEXT_STEP = ("--version", "doctor", "play ", "tournament")


def describe_errors() -> dict[str, dict[str, Any]]:
    """Each of the lines above with its exit code and error."""
    ran = {line: run(line) for line in BAD.strip().splitlines()}
    return {line: {"code": code, "error": err.strip()} for line, (code, _, err) in ran.items()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", WIDTH)
    prepare(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_help() -> None:
    assert format_help() == HELP.read_text(encoding="utf-8"), REFRESH


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return json.loads(ERRORS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("line", BAD.strip().splitlines())
@pytest.mark.usefixtures("folder")
def test_bad_input_is_one_sentence(run_katachi, kept, line) -> None:
    ran = run_katachi(*shlex.split(line))
    assert {"code": ran.code, "error": ran.err.strip()} == kept.get(line), REFRESH
    assert ran.code == 2
    assert "Traceback" not in ran.err
    assert "KATACHI_DEBUG" not in ran.err
    is_help = "Usage:" in ran.err  # of a group that was called without a command
    assert is_help or [each.startswith("katachi: ") for each in ran.err.splitlines()][-1:] == [True]


def test_every_command_is_tried(kept) -> None:
    assert list(kept) == BAD.strip().splitlines(), REFRESH
    assert set(COMMANDS) <= {line.split()[0] for line in kept}


@pytest.mark.parametrize(("line", "words"), GOOD.items())
def test_good_input_works_and_names_the_next_step(run_katachi, folder, line, words) -> None:
    (folder / "cup.toml").write_text('games = 2\n[players]\na = "alp"\nb = "random"\n')
    if line.startswith("data label"):
        run_katachi("data", "import", "game.sgf", "--out", "set")
    ran = run_katachi(*shlex.split(line))
    assert (ran.code, "Traceback" in ran.err) == (0, False)
    assert words in ran.out
    if "--json" in line:
        assert json.loads(ran.out)
        assert ran.err == ""
    elif not line.startswith(WITHOUT_NEXT_STEP):
        assert ran.err.splitlines()[-1].startswith("katachi: next: ")


def _refresh() -> None:
    os.environ["COLUMNS"] = WIDTH
    GOLDEN.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        prepare(Path(name))
        HELP.write_text(format_help(), encoding="utf-8")
        errors = json.dumps(describe_errors(), indent=1, ensure_ascii=False)
        ERRORS.write_text(errors + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(_refresh())
