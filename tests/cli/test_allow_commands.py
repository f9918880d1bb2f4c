"""Files of others run no programs unless the user says so."""

from __future__ import annotations

import io
import sys

import pytest

PLAYER = 'kind = "gtp"\ncommand = "touch started"\n'
FORMER = ["reproduce", "search", "--table", "former"]
TOURNAMENTS = [
    'players = ["random", "gtp:touch started"]\n',
    'players = ["random", "player.toml"]\n',
    'players = ["random", "alp"]\nreferee = "gtp:touch started"\n',
    'players = ["random", "alp"]\ncheck_referee = "gtp:touch started"\n',
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "player.toml").write_text(PLAYER)
    (tmp_path / "game.sgf").write_text("(;SZ[5];B[aa])")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["gtp", "player.toml"],
        ["gtp", "."],
        ["analysis-engine", "player.toml"],
        ["serve", "player.toml", "--no-open", "--port", "0"],
        ["play", "player.toml"],
        ["match", "random", "player.toml"],
        ["match", "player.toml", "random"],
        ["data", "selfplay", "random", "player.toml", "--out", "games.sgf"],
        ["analyze", "game.sgf", "--player", "player.toml"],
        ["bench", "latency", "--player", "player.toml"],
        ["reproduce", "search", "--model", "player.toml"],
        [*FORMER, "--model", "strong-9=player.toml"],
    ],
    ids=" ".join,
)
def test_a_player_of_somebody_else_runs_no_program(run_katachi, folder, words):
    code, out, err = run_katachi(*words)
    assert (code, out) == (2, "")
    assert err == (
        "katachi: player.toml would run the program 'touch started': say --allow-commands if you trust it, "
        f"or keep the file in {folder}/data/katachi/players\n"
    )
    assert not (folder / "started").exists()


@pytest.mark.parametrize("text", TOURNAMENTS)
@pytest.mark.parametrize("option", [(), ("--dry-run",)])
def test_a_tournament_of_somebody_else_runs_no_program(run_katachi, folder, text, option):
    (folder / "cup.toml").write_text(text)
    code, _, err = run_katachi("tournament", "cup.toml", *option)
    assert code == 2
    assert "would run the program 'touch started': say --allow-commands" in err
    assert not (folder / "started").exists()


def start(run_katachi, *words, stdin=""):
    """The program is started, though it speaks no GTP."""
    err = run_katachi(*words, stdin=stdin).err
    assert "allow-commands" not in err, err


def test_what_is_allowed_or_named_by_the_command_line_or_our_own_is_run(run_katachi, folder):
    own = folder / "data" / "katachi" / "players"
    own.mkdir(parents=True)
    (own / "mine.toml").write_text(PLAYER)
    (folder / "cup.toml").write_text(TOURNAMENTS[0])
    for words in (
        ["match", "random", "player.toml", "--allow-commands"],
        ["match", "random", "gtp:touch started"],
        ["match", "random", str(own / "mine.toml")],
        ["tournament", "cup.toml", "--allow-commands"],
        [*FORMER, "--run", "run", "--runs", "2", "--model", "strong-9=gtp:touch started ./x.toml"],
    ):
        start(run_katachi, *words)
        (folder / "started").unlink()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "is_started"), [("y\n", True), ("n\n", False), ("", False)])
def test_a_terminal_is_asked(run_katachi, folder, monkeypatch, answer, is_started):
    monkeypatch.setattr("io.StringIO", Terminal)  # as the standard input of the test
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run_katachi("match", "random", "player.toml", "--games", "1", stdin=answer)
    assert (folder / "started").exists() == is_started
