"""The loop: a dialogue over pipes, stopping an analysis by any input, and every way in which a dialogue ends."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from threading import Event, Thread
from typing import BinaryIO

import pytest

from katachi.core.contracts import Decision
from katachi.gtp import serving
from katachi.gtp.engine import GtpEngine
from katachi.gtp.protocol import MAX_LINE, GtpError
from katachi.gtp.serving import CommandTable, InputReader
from katachi.players.specs import load_player


def converse(engine, data: bytes) -> bytes:
    output = io.BytesIO()
    engine.serve(io.BytesIO(data), output)
    return output.getvalue()


class Dialogue:
    """An engine served on a thread, over real pipes."""

    def __init__(self, engine) -> None:
        their_input, self._to_engine = os.pipe()
        self._from_engine, their_output = os.pipe()
        self._their_streams = (os.fdopen(their_input, "rb"), os.fdopen(their_output, "wb"))
        self.input: BinaryIO = os.fdopen(self._to_engine, "wb", buffering=0)
        self.output: BinaryIO = os.fdopen(self._from_engine, "rb")
        self.thread = Thread(target=engine.serve, args=self._their_streams, daemon=True)
        self.thread.start()

    def answer(self) -> list[str]:
        """The lines of the next answer, without the empty one."""
        return [line.decode().rstrip() for line in iter(self.output.readline, b"\n")]

    def end(self) -> None:
        self.input.close()
        self.thread.join(20)
        assert not self.thread.is_alive()
        for stream in (self.output, *self._their_streams):
            stream.close()


@pytest.fixture
def dialogue(make_engine) -> Iterator[Dialogue]:
    made = Dialogue(make_engine("analyzing"))
    yield made
    made.end()


def test_commands_are_registered_once():
    table = CommandTable[None]()
    table.command("a", "b")(lambda session: "")
    with pytest.raises(AssertionError, match="b is registered twice"):
        table.command("b")(lambda session: "")
    assert table.names == ["a", "b"]


def test_lines_end_in_any_way(make_engine):
    assert (
        converse(make_engine(), b"1 name\r\n2 name\n\r\n3 name")
        == b"=1 katachi first\n\n=2 katachi first\n\n=3 katachi first\n\n"
    )


def test_nothing_is_answered_after_quit(make_engine):
    assert converse(make_engine(), b"1 quit\n2 name\n") == b"=1 \n\n"


def test_a_long_line_is_one_error_and_the_next_line_is_read(make_engine):
    for length in (MAX_LINE + 1, 1 << 20):
        line = b"17 echo " + b"x" * length
        assert (
            converse(make_engine(), line + b"\n18 name\n")
            == b"?17 syntax error: line too long\n\n=18 katachi first\n\n"
        )
        assert converse(make_engine(), line) == b"?17 syntax error: line too long\n\n"
    assert converse(make_engine(), b"#" * (1 << 20) + b"\n1 name\n") == b"=1 katachi first\n\n"
    fits = b"echo " + b"x" * (MAX_LINE - 5)
    assert converse(make_engine(), fits + b"\n") == b"= " + fits[5:] + b"\n\n"


def test_bytes_that_are_no_utf8_come_back(make_engine):
    assert converse(make_engine(), b"echo \xff\xfe\x80\n\xc3\n") == b"= \xff\xfe\x80\n\n? unknown command\n\n"


def test_the_log_has_both_sides(make_engine):
    log = io.BytesIO()
    make_engine().serve(io.BytesIO(b"1 name\nfoo\n"), io.BytesIO(), log=log)
    assert log.getvalue() == b"> 1 name\n=1 katachi first\n\n> foo\n? unknown command\n\n"


@pytest.mark.parametrize("stop", [b"\n", b"# interrupt\n", b"\x00\n"])
def test_analysis_begins_at_once_and_is_stopped_by_any_line(dialogue, stop):
    dialogue.input.write(b"1 lz-analyze b 0\n")
    assert dialogue.output.readline() == b"=1\n"
    reports = [dialogue.output.readline().decode() for _ in range(3)]
    dialogue.input.write(stop)
    rest = dialogue.answer()
    visits = [int(line.split("visits ")[1].split()[0]) for line in [*reports, *rest]]
    assert visits == list(range(1, len(visits) + 1))
    dialogue.input.write(b"2 name\n")
    assert dialogue.answer() == ["=2 katachi analyzing"]


def test_analysis_is_stopped_by_the_next_command(dialogue):
    for number in range(50):
        dialogue.input.write(f"{number} kata-analyze b 1\n".encode())
    dialogue.input.write(b"name\n")
    for number in range(50):
        first, *reports = dialogue.answer()
        assert first == f"={number}"
        assert all(report.startswith("info move A9") for report in reports)
    assert dialogue.answer() == ["= katachi analyzing"]


def test_interval_spaces_the_reports(dialogue):
    dialogue.input.write(b"lz-analyze b 100000\n")
    assert dialogue.output.readline() == b"=\n"
    assert b"visits 1 " in dialogue.output.readline()
    dialogue.input.write(b"\n")
    last = dialogue.answer()
    assert len(last) <= 1, "only what was not reported yet follows the first report"


def test_analysis_of_a_player_that_is_asked_once_stays_open_until_input(make_engine):
    dialogue = Dialogue(make_engine("first"))
    dialogue.input.write(b"lz-analyze b 1\n")
    assert dialogue.output.readline() == b"=\n"
    assert dialogue.output.readline().startswith(b"info move A9")
    assert dialogue.thread.is_alive()
    dialogue.input.write(b"\n")
    assert dialogue.answer() == []
    dialogue.end()


def test_the_end_of_the_input_ends_an_analysis(dialogue):
    dialogue.input.write(b"lz-analyze\n")
    assert dialogue.output.readline() == b"=\n"
    dialogue.end()


def test_a_reader_that_is_gone_ends_the_dialogue(make_engine):
    class Gone(io.BytesIO):
        def write(self, data):
            raise BrokenPipeError

    make_engine().serve(io.BytesIO(b"name\nname\n"), Gone())


def test_a_stream_that_takes_parts(make_engine):
    class Slow(io.RawIOBase):
        taken = b""

        def writable(self):
            return True

        def write(self, data):
            self.taken += bytes(data[:2])
            return min(2, len(data))

    slow = Slow()
    make_engine().serve(io.BytesIO(b"1 name\n"), slow)
    assert slow.taken == b"=1 katachi first\n\n"


def test_waiting_is_set_as_long_as_a_line_waits():
    reader_end, writer_end = os.pipe()
    with os.fdopen(reader_end, "rb") as stream, os.fdopen(writer_end, "wb", buffering=0) as writer:
        reader = InputReader(stream)
        assert not reader.waiting.is_set()
        writer.write(b"a\nb\n")
        assert reader.next_line().content == b"a"
        assert reader.waiting.wait(20)
        assert reader.next_line().content == b"b"
        assert not reader.waiting.is_set()
        writer.close()
        assert reader.waiting.wait(20)
        assert reader.next_line() is None


def test_time_counts_from_the_line_or_from_the_answer_before_it(monkeypatch):
    """A line that comes while we are idle counts from its coming, one that had to wait from our being free."""
    now = [0.0]
    monkeypatch.setattr(serving.time, "monotonic", lambda: now[0])
    reader_end, writer_end = os.pipe()
    with os.fdopen(reader_end, "rb") as stream, os.fdopen(writer_end, "wb", buffering=0) as writer:
        reader = InputReader(stream)

        def be_idle() -> None:
            now[0] = 5.0
            writer.write(b"a\nb\n")
            assert reader.waiting.wait(20)
            now[0] = 7.0  # it takes a while to stop what we did meanwhile

        assert reader.next_line(be_idle).content == b"a"
        assert reader.asked == 5.0
        now[0] = 9.0
        assert reader.waiting.wait(20)
        assert reader.next_line(lambda: pytest.fail("a line waits")).content == b"b"
        assert reader.asked == 9.0


def test_a_controller_far_ahead_is_answered_in_full(make_engine):
    count = 10_000
    answers = converse(make_engine(), b"".join(b"%d name\n" % number for number in range(count)))
    assert answers == b"".join(b"=%d katachi first\n\n" % number for number in range(count))


def test_errors_inside_commands_are_told(make_engine):
    engine = make_engine("raising")
    assert engine.answer("1 genmove b") == b"?1 RuntimeError: out of ideas\n\n"
    assert issubclass(GtpError, ValueError)


SERVE = """
import signal, sys
from katachi.gtp.engine import GtpEngine
from katachi.core.contracts import Decision
class Passer:
    name = "passer"
    def decide(self, game, limit):
        return Decision()
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell runs in the background ignores it
GtpEngine(Passer()).serve(sys.stdin.buffer.raw, sys.stdout.buffer)
"""


@pytest.mark.parametrize("end", ["quit", "interrupt", "close"])
def test_the_process_ends_cleanly(end):
    with subprocess.Popen(
        [sys.executable, "-c", SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"1 name\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"=1 katachi passer\n"
        if end == "quit":
            process.stdin.write(b"quit\n")
            process.stdin.flush()  # and the pipe stays open
        elif end == "interrupt":
            process.send_signal(signal.SIGINT)
        else:
            process.stdin.close()
        assert process.wait(30) == 0
        assert process.stderr.read() == b""


def test_stop_event_reaches_the_player(make_engine):
    engine = make_engine("analyzing")
    event: Event = engine._session.input_waiting
    assert event.is_set(), "a single answer has nobody who could stop it"
    assert engine.answer("lz-analyze b").startswith(b"=\ninfo move A9 visits 1 ")


# What programs send, in their order


class DeliberatePlayer:
    """Thinks for as long as nobody hurries it."""

    name = "deliberate"

    def decide(self, game, limit):
        raise AssertionError("it can be hurried")

    def decide_until(self, game, limit, stop):
        assert stop.wait(60)
        return Decision(game.size)


@pytest.mark.parametrize("early", [False, True])
def test_a_move_is_made_when_gogui_interrupts(early):
    """Also if the line comes together with the command; one that came before the command means another."""
    made = Dialogue(GtpEngine(DeliberatePlayer(), size=9))
    made.input.write(b"known_command gogui-interrupt\n")
    assert made.answer() == ["= true"]
    if early:
        made.input.write(b"genmove b\n# interrupt\ngenmove w\n# interrupt\n")
    else:
        made.input.write(b"# interrupt\ngenmove b\n")
        made.input.write(b"# interrupt\n")
    assert made.answer() == ["= A8"]
    if early:
        assert made.answer() == ["? deliberate wants to play A8: occupied"]
    made.end()


def test_a_tree_search_is_interrupted():
    player = load_player("strong-9 limit.seconds=600", seed=1)
    player.prepare(5)
    made = Dialogue(GtpEngine(player, size=5))
    made.input.write(b"genmove b\n# interrupt\n")
    (answer,) = made.answer()
    assert answer.startswith("= ")
    made.end()


def test_lizzie_reads_name_and_version(make_engine):
    """It takes the second word of both, and complains of a version whose second number is below 15."""
    engine = make_engine("first")
    name, version = (engine.answer(line).decode().split() for line in ("1 name", "2 version"))
    assert name[1] == "katachi", "it asks whoever is called KataGo for more"
    assert int(version[1].split(".")[1]) >= 17
    for line in ("3 boardsize 9", "4 komi 7.5", "5 lz-analyze 10", "6 name", "7 lz-genmove_analyze b 10"):
        assert engine.answer(line).startswith(b"=" + line.split()[0].encode()), line


def test_lizzieyzy_asks_whom_it_takes_for_katago_for_points():
    """By the first word of the name; of every move it reads scoreMean, and owners behind the last variation."""
    engine = GtpEngine(load_player("expert-9", seed=1), size=9, name="KataGo protocol")
    assert engine.answer("name") == b"= KataGo protocol\n\n"
    assert engine.answer("kata-set-rules chinese").startswith(b"=")
    said = engine.answer("kata-analyze b 10 ownership true").decode()
    variation, _, owners = said.splitlines()[1].partition(" ownership ")
    assert len(owners.split()) == 81
    for move in variation.removeprefix("info ").split(" info "):
        words = move[: move.index(" pv ")].split()
        found = dict(zip(words[::2], words[1::2], strict=True))
        assert 0 <= float(found["winrate"]) <= 1
        assert abs(float(found["scoreMean"])) < 81
        assert {"order", "visits", "prior", "lcb"} <= found.keys()


def test_a_game_as_cgos_plays_it(make_engine):
    engine = make_engine("first")
    commands = engine.answer("list_commands").decode().split()
    assert {"time_settings", "time_left", "cgos-genmove_analyze", "cgos-gameover"} <= set(commands)
    opponent = ("cgos-opponent_name Gnugo-3.7.10-a1", "cgos-opponent_rating 1800")
    for line in ("boardsize 9", "komi 7.0", "clear_board", "time_settings 300 0 0", *opponent, "time_left b 300 0",
                 "cgos-genmove_analyze b", "play w E5", "time_left b 299 0", "cgos-genmove_analyze b",
                 "cgos-gameover B+Resign"):  # fmt: skip
        assert engine.answer(line).startswith(b"="), line
    assert "black: 29" in engine.answer("katachi-clock").decode()
    assert "2 own moves took" in engine.answer("katachi-clock").decode()


def test_a_game_as_gtp2ogs_plays_it(make_engine):
    engine = make_engine("first")
    clocks = ("kata-list_time_settings", "kata-time_settings fischer 120 30", "kgs-time_settings byoyomi 60 10 5")
    for line in ("list_commands", "known_command kata-time_settings", "boardsize 9", "clear_board", "komi 5.5", *clocks,
                 "set_free_handicap C3 G7", "time_left b 10 5", "genmove w", "play b E5", "time_left w 9 5",
                 "kata-genmove_analyze w 100", "final_status_list dead", "kgs-game_over", "quit"):  # fmt: skip
        assert engine.answer(line).startswith(b"="), line
