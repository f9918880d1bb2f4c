"""``katachi play`` with piped input: what a person may type, and what is kept."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from katachi.analysis.layers import LAYERS, LayerKind
from katachi.cli import play as _terminal
from katachi.core.contracts import Decision
from katachi.go.game import Play
from katachi.go.points import BLACK, PASS, WHITE, parse_vertex
from katachi.sgf import parse_sgf


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def play(run_katachi, tmp_path):
    """Play on 5×5 with these lines typed; the record is in game.sgf."""

    def run(*lines: str, options: tuple[str, ...] = (), player: str = "alp"):
        return run_katachi(
            "play", player, "--size", "5", "--seed", "1", "--sgf", "game.sgf", *options, stdin="\n".join([*lines, ""])
        )

    return run


def record(path: str = "game.sgf"):
    return parse_sgf(Path(path).read_text(encoding="utf-8"))[0]


def moves(path: str = "game.sgf") -> list[Play]:
    return record(path).replay().moves


def test_a_move_is_answered_and_marked(play):
    ran = play("D4", "quit")
    assert ran.code == 0
    assert "4 . .(O)X . 4" in ran.out  # ALP plays beside it; its stone is marked
    assert "alp: C4" in ran.out
    assert moves() == [Play(BLACK, parse_vertex("D4", 5)), Play(WHITE, parse_vertex("C4", 5))]
    assert (record().black, record().white) == ("you", "alp")


def test_without_a_name_it_is_what_learned_on_that_size(run_katachi):
    ran = run_katachi("play", "--size", "5", "--seed", "1", stdin="C3\nquit\n")
    assert ran.code == 0
    assert "shapes-5: " in ran.out


def test_a_board_of_another_size_is_one_sentence(run_katachi):
    ran = run_katachi("play", "shapes-5", "--size", "7", "--color", "white", stdin="quit\n")
    assert (ran.code, ran.err) == (2, "katachi: shapes-5 plays on 5×5 alone, and the board is 7×7\n")


def test_the_player_begins_if_it_has_black(play):
    play("pass", "quit", options=("--color", "white"))
    first, second = moves()[:2]
    assert first.color == BLACK
    assert second == Play(WHITE, PASS)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("foo", "'foo' is not a vertex; help lists what you can say."),
        ("D3 E3", "'D3 E3' is not a vertex; help lists what you can say."),
        ("F1", "F1 is off the 5×5 board; help lists what you can say."),
        ("D4", "You cannot play D4: there is a stone already."),
        ("save a\0b", "That cannot be written: embedded null byte."),
        ("save " + 999 * "x", "That cannot be written: File name too long."),
        ("save", "Say save and a file name."),
        ("save no/such/folder.sgf", "That cannot be written: No such file or directory."),
        ("save there.sgf", "there.sgf is there already; choose another name."),
    ],
)
def test_bad_input_gets_a_sentence_and_the_game_goes_on(play, line, sentence):
    Path("there.sgf").write_text("mine")
    ran = play("D4", line, "D3", "quit")
    assert sentence in ran.out.splitlines()
    assert len(moves()) == 4
    assert Path("there.sgf").read_text() == "mine"


def test_undo_takes_back_both_moves(play):
    ran = play("D4", "A1", "undo", "quit")
    assert len(moves()) == 2
    assert ran.out.count("Black to play") == 4  # at the start, after two answers, after undo


def test_undoing_everything_is_kept_too(play):
    play("D4", "undo", "quit")
    assert moves() == []


def test_bytes_that_are_no_text(tmp_path):
    command = [sys.executable, "-m", "katachi", "play", "random", "--size", "3", "--sgf", "game.sgf"]
    ran = subprocess.run(command, input=b"\xff\xfe\nB2\nquit\n", capture_output=True, check=True)
    assert "is not a vertex" in ran.stdout.decode()
    assert len(moves()) == 2


def test_undo_before_any_move(play):
    ran = play("undo", "quit")
    assert "You have not moved yet." in ran.out
    assert not Path("game.sgf").exists()


def test_undo_leaves_the_handicap(play):
    ran = play("undo", "D4", "undo", "undo", "quit", options=("--size", "9", "--handicap", "2", "--color", "white"))
    assert ran.out.count("You have not moved yet.") == 2
    assert ran.out.count("X") >= 2


def test_resign(play):
    ran = play("D4", "resign")
    assert "Result: W+R" in ran.out
    assert str(record().result) == "W+R"


def test_two_passes_end_the_game_and_dead_stones_come_off(play):
    """White owns the board but for one dead stone; the person passes and so does the player."""
    ran = play("A1", "pass", "pass", "pass", "pass", "pass", "pass", "pass", "quit", options=("--komi", "0.5"))
    assert re.search(r"Result: W\+\d", ran.out)
    assert record().result is not None


def test_hint_and_score_and_help(play):
    ran = play("D4", "hint", "score", "help", "quit")
    assert re.search(r"alp would play [A-E][1-5] \(\d+% for Black\), ", ran.out)
    assert "As it stands: W+7.5." in ran.out
    assert "take back your move" in ran.out
    assert len(moves()) == 2


def test_a_kind_of_layer_that_is_defined_can_be_shown(play, monkeypatch):
    class Everywhere(LayerKind):
        name = "everywhere"
        title = button = "Everywhere"
        legend = "One on every point."

        def of_game(self, game):
            return self._numbers(np.ones(game.size**2), 0.0, 1.0)

    monkeypatch.setitem(LAYERS, "everywhere", LAYERS.pop("everywhere"))  # it goes with the test
    ran = play("layer everywhere", "help", "layer nowhere", "quit")
    assert "Everywhere: A5 1" in ran.out
    assert "influence, shapes or everywhere" in ran.out
    assert "shapes, everywhere, or off." in ran.out


def test_save(play):
    play("D4", "save other.sgf", "C2", "quit")
    assert len(moves("other.sgf")) == 2
    assert len(moves("game.sgf")) == 4


def test_the_end_of_the_input_is_no_loss(play):
    ran = play("D4")
    assert ran.code == 0
    assert len(moves()) == 2
    assert "The record is in game.sgf" in ran.out


def test_an_interrupt_is_no_loss(play, monkeypatch):
    lines = iter(["D4", KeyboardInterrupt()])

    def read(prompt: str) -> str:
        line = next(lines)
        if isinstance(line, KeyboardInterrupt):
            raise line
        return line

    monkeypatch.setattr("katachi.cli.play._read_line", read)
    ran = play()
    assert ran.code == 130
    assert len(moves()) == 2


def test_a_player_that_fails_is_no_loss(play, monkeypatch):
    ran = play("D4", player="gtp:false")
    assert ran.code != 0
    assert ran.err.startswith("katachi: false ")
    assert moves() == [Play(BLACK, parse_vertex("D4", 5))]


def test_a_full_disk_does_not_end_the_game(play, monkeypatch):
    def full(path: Path, text: str) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(_terminal, "write_atomically", full)
    ran = play("D4", "A1", "quit")
    assert ran.code == 0
    assert "The record cannot be written to game.sgf: No space left on device." in ran.out
    assert ran.out.count("alp: ") == 2


def test_a_player_may_resign(play, monkeypatch):
    monkeypatch.setattr("katachi.players.simple.AlpPlayer.decide", lambda *_: Decision(resign=True))
    ran = play("hint", "D4")
    assert "It would resign." in ran.out
    assert "alp resigns." in ran.out
    assert str(record().result) == "B+R"


def test_rules_komi_and_handicap_reach_the_record(run_katachi):
    run_katachi(
        "play", "random", "--handicap", "3", "--komi", "0.5", "--rules", "japanese", "--sgf", "h.sgf",
        "--color", "white", stdin="E5\nquit\n",
    )  # fmt: skip
    kept = record("h.sgf")
    assert (kept.size, kept.komi, kept.handicap, kept.rules.name) == (9, 0.5, 3, "japanese")


def test_a_new_file_if_none_is_named(run_katachi):
    for _ in range(2):
        assert run_katachi("play", "random", "--size", "3", stdin="B2\nquit\n").code == 0
    names = sorted(path.name for path in Path().glob("*.sgf"))
    assert len(names) == 2
    assert all(re.fullmatch(r"katachi-\d{8}-\d{6}(-\d+)?\.sgf", name) for name in names)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--rules", "japanes"], "katachi: no rules are called 'japanes'; did you mean 'japanese'?"),
        (["--size", "3", "--handicap", "2"], "katachi: 2 handicap stones: "),
        (["--sgf", "there.sgf"], "katachi: there.sgf is there already: records are not overwritten"),
        (["--sgf", "no/such.sgf"], "is not a folder"),
        (["--komi", "nan"], "katachi: --komi: nan is not between"),
    ],
)
def test_what_cannot_begin(run_katachi, options, sentence):
    Path("there.sgf").write_text("mine")
    ran = run_katachi("play", "random", *options)
    assert ran.code == 2
    assert sentence in ran.err
    assert ran.err.count("\n") == 1


def test_an_unknown_player(run_katachi):
    ran = run_katachi("play", "apl")
    assert (ran.code, ran.err) == (2, "katachi: no player is called 'apl'; did you mean 'alp'?\n")


def test_the_color_may_be_drawn(run_katachi):
    prompts = set()
    for seed in range(8):
        ran = run_katachi("play", "random", "--size", "3", "--color", "random", "--seed", str(seed), stdin="quit\n")
        prompts.add(re.findall("(black|white)> ", ran.out)[0])
    assert prompts == {"black", "white"}


def test_layers_color_the_board_until_they_are_off(play):
    ran = play("D4", "layer wins", "B2", "layer off", "A1", "quit")
    assert ran.out.count("Win probability of each move: ") == 2
    assert "How often Black wins after a move there" in ran.out


def test_every_layer_can_be_shown(play):
    names = ("wins", "policy", "territory", "influence", "shapes")
    ran = play("D4", *(f"layer {name}" for name in names), "layer visits", "layer mood", "quit", player="shapes-5")
    for title in ("Win probability of each move", "Move probability", "Territory", "Influence", "Shapes that fired"):
        assert f"{title}: " in ran.out
    assert "Say layer and one of wins, policy, visits, territory, influence, shapes, or off." in ran.out


def test_the_next_step_is_to_analyse_the_record(play):
    assert play("D4", "quit").err == "katachi: next: katachi analyze game.sgf\n"


def test_the_board_is_of_the_size_that_the_player_knows(run_katachi):
    assert "5 . . . . . 5" in run_katachi("play", "shapes-5", stdin="quit\n").out
