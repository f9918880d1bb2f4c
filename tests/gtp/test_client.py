"""Programs as players: those that behave, and those that crash, hang, talk nonsense or leave children behind."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from katachi.core.contracts import ClosingPlayer, Decision, Limit
from katachi.go.board import Illegality, IllegalMove
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE, parse_vertex
from katachi.gtp.client import EngineFailure, GtpPlayer, replay_commands, split_seconds
from katachi.gtp.protocol import GtpError

FAKE = Path(__file__).parents[1] / "helpers" / "fake_engine.py"
NO_LIMIT = Limit()


class Fake:
    """A fake engine as a player, and what it was told."""

    def __init__(self, log: Path, how: str, answers: tuple[str, ...], move_timeout: float) -> None:
        self._log = log
        command = [sys.executable, "-S", str(FAKE), how, str(log), *answers]
        self.player = GtpPlayer(command, name="fake", timeout=60.0, move_timeout=move_timeout)

    def heard(self) -> list[str]:
        """The commands since the last question, without the opening ones."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        self._log.write_text("")
        return [line for line in lines if line != "list_commands"]


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[Callable[..., Fake]]:
    made: list[Fake] = []

    def make(how: str = "well", *answers: str, move_timeout: float = 60.0) -> Fake:
        made.append(Fake(tmp_path / f"log{len(made)}", how, answers, move_timeout))
        return made[-1]

    yield make
    for each in made:
        each.player.close()


def is_running(pid: int) -> bool:
    """Whether a process lives; one that is dead and not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until_gone(pid: int) -> None:
    for _ in range(500):
        if not is_running(pid):
            return
        time.sleep(0.02)
    pytest.fail(f"process {pid} still runs")


def point(vertex: str, size: int = 9) -> int:
    return parse_vertex(vertex, size)


def game_of(*vertices: str, size: int = 9) -> Game:
    game = Game(size)
    for vertex in vertices:
        game.play(point(vertex, size))
    return game


# What it is told


def test_is_a_player(fake):
    player = fake("well", "C3").player
    assert isinstance(player, ClosingPlayer)
    assert player.name == "fake"
    assert player.pid is None, "a program starts when it is first needed"
    assert player.decide(Game(9), NO_LIMIT) == Decision(point("C3"))
    assert player.pid is not None


@pytest.mark.parametrize(
    ("command", "name"), [("/usr/games/gnugo --mode gtp", "gnugo"), (["my engine", "-x"], "my engine")]
)
def test_name_is_that_of_the_program(command, name):
    assert GtpPlayer(command).name == name


def test_first_position_and_then_only_what_is_new(fake):
    engine = fake("well", "C3", "E5")
    game = Game(9)
    game.play(engine.player.decide(game, NO_LIMIT).move)
    assert engine.heard() == ["boardsize 9", "clear_board", "komi 7.5", "genmove black"]
    game.play(point("G7"))
    assert engine.player.decide(game, NO_LIMIT).move == point("E5")
    assert engine.heard() == ["play white G7", "genmove black"]


def test_a_move_that_was_not_played_is_taken_back(fake):
    engine = fake("well", "C3", "E5")
    game = game_of("D4", "F6")
    engine.player.decide(game, NO_LIMIT)
    engine.heard()
    game.play(point("G7"))
    engine.player.decide(game, NO_LIMIT)
    assert engine.heard() == ["undo", "play black G7", "genmove white"]


def test_a_resignation_is_no_move(fake):
    engine = fake("well", "resign", "C3")
    game = game_of("D4")
    assert engine.player.decide(game, NO_LIMIT) == Decision(resign=True)
    engine.heard()
    engine.player.decide(game, NO_LIMIT)
    assert engine.heard() == ["genmove white"]


def test_another_game_is_played_anew(fake):
    engine = fake()
    engine.player.decide(game_of("D4", "F6", "C3"), NO_LIMIT)
    engine.heard()
    engine.player.decide(game_of("E5"), NO_LIMIT)
    assert engine.heard() == ["clear_board", "komi 7.5", "play black E5", "genmove white"]


def test_another_size_and_komi(fake):
    engine = fake()
    engine.player.decide(game_of("D4"), NO_LIMIT)
    engine.heard()
    game = game_of("D4", size=13)
    engine.player.decide(game, NO_LIMIT)
    assert engine.heard() == ["boardsize 13", "clear_board", "komi 7.5", "play black D4", "genmove white"]
    game.play(PASS)
    game.komi = 0.5
    engine.player.decide(game, NO_LIMIT)
    assert engine.heard() == ["komi 0.5", "genmove black"]


def test_time_for_a_move(fake):
    engine = fake()
    game = Game(9)
    engine.player.decide(game, Limit(seconds=2.7))
    assert engine.heard()[3:] == ["time_settings 0 8 3", "time_left black 8 3", "genmove black"]
    game.play(PASS)
    engine.player.decide(game, Limit(seconds=0.1))
    assert engine.heard() == ["time_settings 0 1 10", "time_left white 1 10", "genmove white"]
    game.play(PASS)
    engine.player.decide(game, NO_LIMIT)
    assert engine.heard() == ["time_settings 0 1 0", "genmove black"]


@pytest.mark.parametrize("seconds", [0.01, 0.05, 0.1, 0.29, 0.3, 0.5, 0.99, 1, 1.5, 2.7, 3.3, 10, 99.5])
def test_a_time_for_a_move_in_whole_seconds(seconds):
    """Never more than there is, and nearly all of it."""
    period, stones = split_seconds(seconds)
    assert 0.95 * seconds <= period / stones <= seconds + 1e-9


@pytest.mark.parametrize(
    ("how", "seconds", "why"),
    [
        ("well", 0.5, ""),
        ("well", 0.001, "GTP has no less than 1 s for 100 moves"),
        ("untimed", 0.5, "it has no time_settings"),
        ("refuse-time", 2, "it refuses time_settings: no such clock"),
    ],
)
def test_why_a_program_cannot_be_held_to_a_time(fake, how, seconds, why):
    engine = fake(how)
    assert engine.player.why_untimed(seconds) == why
    engine.heard()
    assert engine.player.decide(Game(9), Limit(seconds=seconds)).move == PASS, "it plays at its own pace"
    timed = [command for command in engine.heard() if command.startswith("time")]
    assert timed == {"well": timed, "untimed": [], "refuse-time": ["time_settings 0 2 1"]}[how]
    assert bool(timed) == (how != "untimed")


def test_handicap_and_setup():
    game = Game(9)
    game.place_handicap([point("C3"), point("G7")])
    game.play(point("E5"))
    game.setup(black=[point("A1"), point("J9")], white=[point("J9")])  # the last color counts
    plays = ["play white E5", "play black A1", "play white J9"]
    assert replay_commands(game, ["set_free_handicap"]) == ["set_free_handicap C3 G7", *plays]
    assert replay_commands(game) == ["play black C3", "play black G7", *plays]
    game.setup(empty=[point("E5")], black=[point("J9")])
    game.play(PASS)
    after = ["play black J9", "play black G7", "play black C3", "play black A1"]
    assert replay_commands(game, ["set_free_handicap"]) == [
        *after,
        f"play {'black' if game.moves[-1].color == BLACK else 'white'} pass",
    ]


def test_setup_stones_can_be_taken_back(fake):
    engine = fake("well", "C3", "D4")
    game = Game(9)
    game.setup(black=[point("A1"), point("A2")], to_play=WHITE)
    engine.player.decide(game, NO_LIMIT)
    assert engine.heard()[3:] == ["set_free_handicap A1 A2", "genmove white"]
    game.undo()
    engine.player.decide(game, NO_LIMIT)
    assert engine.heard() == ["clear_board", "komi 7.5", "genmove black"]


# What it says


@pytest.mark.parametrize("answer", ["c3", "C3", " C3 ", "C3\t"])
def test_forms_of_a_move(fake, answer):
    assert fake("well", answer).player.decide(Game(9), NO_LIMIT).move == point("C3")


@pytest.mark.parametrize("how", ["banner", "crlf", "slow", "no-id"])
def test_odd_but_right(fake, how):
    engine = fake(how, "C3", "pass", "Resign")
    game = Game(9)
    game.play(engine.player.decide(game, NO_LIMIT).move)
    game.play(engine.player.decide(game, NO_LIMIT).move)
    assert [play.move for play in game.moves] == [point("C3"), PASS]
    assert engine.player.decide(game, NO_LIMIT).resign


def test_score_and_status_and_stones(fake):
    engine = fake("well", "W+12.5", "A1 B2\nC3", "", "C3", "D4 E5")
    game = game_of("C3")
    assert str(engine.player.final_score(game)) == "W+12.5"
    assert engine.player.final_status_list(game, "dead") == [point("A1"), point("B2"), point("C3")]
    assert engine.player.final_status_list(game, "seki") == []
    stones = engine.player.stones(game)
    assert [stones[point(vertex)] for vertex in ("C3", "D4", "E5", "F6")] == [BLACK, WHITE, WHITE, 0]


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (lambda player, game: player.final_score(game), "who knows"),
        (lambda player, game: player.final_score(game), ""),
        (lambda player, game: player.final_status_list(game, "dead"), "A1 X99"),
        (lambda player, game: player.stones(game), "pass"),
    ],
)
def test_nonsense_about_the_end(fake, ask, answer):
    engine = fake("well", answer)
    with pytest.raises(EngineFailure, match="says"):
        ask(engine.player, Game(9))
    assert engine.player.pid is None


# Failures


@pytest.mark.parametrize(
    ("how", "answers", "message"),
    [
        ("dead", (), r"fake died at .*exit status 1.*cannot find my weights"),
        ("crash", (), r"fake died at 'genmove black' \(exit status 3\); its last words: first .* / last line of woe"),
        ("half", (), r"fake died at 'genmove black'"),
        ("hang", (), r"fake did not answer 'genmove black' in time"),
        ("wrong-id", (), r"fake did not answer 'genmove black' in time"),
        ("flood", (), r"fake talks nonsense instead of answering 'genmove black'"),
        ("endless", (), r"fake (never comes to an end|talks nonsense instead of) answering 'genmove black'"),
        ("well", ("D4 or so",), r"fake answers genmove with 'D4 or so'"),
        ("well", ("",), r"fake answers genmove with ''"),
        ("well", ("J10",), r"fake answers genmove with 'J10'"),
        ("refuse", (), r"fake refuses 'play black E5': illegal move"),
    ],
)
def test_failure_tells_what_happened_and_ends_the_program(fake, how, answers, message):
    waits = how in ("hang", "wrong-id")
    player = fake(how, *answers, move_timeout=1.5 if waits else 60.0).player
    if how not in ("dead", "well"):
        player.stones(Game(9))
    pid = player.pid
    with pytest.raises(EngineFailure, match=message):
        player.decide(game_of("E5", "pass") if how == "refuse" else Game(9), NO_LIMIT)
    assert player.pid is None
    if pid is not None:
        wait_until_gone(pid)


def test_illegal_move_is_a_failure_with_its_reason(fake):
    player = fake("well", "E5").player
    with pytest.raises(EngineFailure, match="fake wants to play E5: occupied") as failure:
        player.decide(game_of("E5"), NO_LIMIT)
    assert isinstance(failure.value.__cause__, IllegalMove)
    assert failure.value.__cause__.reason is Illegality.OCCUPIED
    assert isinstance(failure.value, GtpError)


def test_superko_is_a_failure_with_its_reason(fake):
    # White takes two, and then the one that Black puts back; Black's capture of all three would repeat the first move.
    game = game_of("A1", "B2", "A2", "B1", "A1", "A2", size=2)
    assert game.board.is_legal(point("A1", 2)), "simple ko would allow it"
    with pytest.raises(EngineFailure, match="superko"):
        fake("well", "A1").player.decide(game, NO_LIMIT)


def test_starts_again_after_a_failure(fake):
    engine = fake("well", "nonsense")
    with pytest.raises(EngineFailure):
        engine.player.decide(game_of("E5"), NO_LIMIT)
    engine.heard()
    with pytest.raises(EngineFailure):
        engine.player.decide(game_of("E5"), NO_LIMIT)
    assert engine.heard() == ["boardsize 9", "clear_board", "komi 7.5", "play black E5", "genmove white"]


@pytest.mark.parametrize("command", ["/no/such/program --mode gtp", ["/"], "\0"])
def test_program_that_cannot_be_started(command):
    with pytest.raises(EngineFailure, match="cannot be started"):
        GtpPlayer(command).decide(Game(9), NO_LIMIT)


@pytest.mark.parametrize(("command", "message"), [("", "needs a command"), ("gnugo 'a b", "No closing quotation")])
def test_no_command(command, message):
    with pytest.raises(EngineFailure, match=message):
        GtpPlayer(command)


# The end of its processes


@pytest.mark.parametrize("how", ["well", "stubborn"])
def test_close_ends_the_program(fake, how):
    player = fake(how).player
    player.final_status_list(Game(9), "dead")
    pid = player.pid
    assert is_running(pid)
    player.close()
    wait_until_gone(pid)
    player.close()
    assert player.pid is None


def test_children_of_the_program_end_with_it(fake):
    player = fake("parent", move_timeout=1.5).player
    with pytest.raises(EngineFailure, match="last words: child") as failure:
        player.decide(Game(9), NO_LIMIT)
    wait_until_gone(int(str(failure.value).split()[-1]))


def test_forgotten_player_ends_its_program(fake, tmp_path):
    player = GtpPlayer([sys.executable, "-S", str(FAKE), "well", str(tmp_path / "log")])
    player.final_status_list(Game(9), "dead")
    pid = player.pid
    del player
    gc.collect()
    wait_until_gone(pid)


OWNER = """
import signal, sys, time
from katachi.go.game import Game
from katachi.gtp.client import GtpPlayer
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell runs in the background ignores it
player = GtpPlayer(sys.argv[2:])
player.final_status_list(Game(9), "dead")
print(player.pid, flush=True)
if sys.argv[1] != "exit":
    time.sleep(1000)
"""


@pytest.mark.parametrize("end", ["exit", signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_program_ends_when_we_do(end, tmp_path):
    word = "exit" if end == "exit" else "stay"
    engine = [sys.executable, "-S", str(FAKE), "stubborn", str(tmp_path / "log")]
    command = [sys.executable, "-c", OWNER, word, *engine]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        if end != "exit":
            assert is_running(pid)
            os.kill(owner.pid, end)
        owner.wait(20)
    wait_until_gone(pid)


def processes_below_us() -> set[str]:
    return {pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="this system does not list descriptors and processes")
def test_nothing_is_left_open_or_running(fake):
    def play_all() -> None:
        for how in ("well", "dead", "stubborn"):
            player = fake(how).player
            with contextlib.suppress(EngineFailure):
                player.final_status_list(Game(9), "dead")
            player.close()
        with pytest.raises(EngineFailure):
            GtpPlayer("no-such-program-at-all").decide(Game(9), NO_LIMIT)

    play_all()
    descriptors, processes = len(os.listdir("/proc/self/fd")), processes_below_us()  # noqa: PTH208
    play_all()
    deadline = time.monotonic() + 60
    while len(os.listdir("/proc/self/fd")) > descriptors and time.monotonic() < deadline:  # noqa: PTH208
        time.sleep(0.05)  # the threads that drain the pipes close them
    assert len(os.listdir("/proc/self/fd")) <= descriptors  # noqa: PTH208
    assert processes_below_us() <= processes
