"""Engines answer before their players are ready, and wait where those have to think."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from threading import Event, Thread

import pytest

from katachi.core.contracts import Analysis, Candidate, Decision
from katachi.gtp.analysis_engine import AnalysisEngine
from katachi.gtp.engine import GtpEngine
from katachi.players import asking

KATACHI = [sys.executable, "-c", "from katachi.cli import main; main()"]
AT_ONCE = ("name", "version", "protocol_version", "known_command play", "list_commands", "boardsize 5", "clear_board",
           "komi 0.5", "kata-list-params", "kgs-time_settings none")  # fmt: skip


class SlowPlayer:
    """Is ready when the test says so."""

    name = "slow"

    def __init__(self) -> None:
        self.may_end = Event()
        self.happened: list[str] = []

    def prepare(self, size: int) -> None:
        self.may_end.wait()
        self.happened.append(f"prepared {size}")

    def decide(self, game, limit):
        self.happened.append("decided")
        return Decision(0, analysis=Analysis((Candidate(0, 0.5),), 0.5))


class Served:
    """An engine between two pipes, in a thread."""

    def __init__(self, engine) -> None:
        (engine_in, our_out), (our_in, engine_out) = os.pipe(), os.pipe()
        self._input, self._output = os.fdopen(our_out, "wb", 0), os.fdopen(our_in, "rb")
        self._theirs = os.fdopen(engine_in, "rb", 0), os.fdopen(engine_out, "wb", 0)
        self._thread = Thread(target=engine.serve, args=self._theirs, daemon=True)
        self._thread.start()

    def say(self, line: str) -> None:
        self._input.write(line.encode() + b"\n")

    def read(self) -> str:
        return self._output.readline().decode().strip()

    def ask(self, line: str) -> str:
        self.say(line)
        lines = [self.read()]
        while lines[-1]:
            lines.append(self.read())
        return "\n".join(lines[:-1])

    def end(self) -> None:
        self._input.close()
        self._thread.join(60)
        assert not self._thread.is_alive()
        for stream in (self._output, *self._theirs):
            stream.close()


def wait_for(condition) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@contextmanager
def no_silence(monkeypatch) -> Iterator[io.StringIO]:
    """Standard error, to which whoever has to wait says so without delay."""
    monkeypatch.setattr(asking, "_SILENT_SECONDS", 0.0)
    with redirect_stderr(io.StringIO()) as told:
        yield told


def test_gtp_waits_where_the_player_thinks_alone(monkeypatch):
    with no_silence(monkeypatch) as told:
        player = SlowPlayer()
        engine = GtpEngine(player, size=9)
        engine.preparation.begin(9)
        served = Served(engine)
        for line in AT_ONCE:
            assert served.ask(line).startswith("="), line
        assert served.ask("play b C3") == "="
        assert player.happened == []
        assert told.getvalue() == ""
        served.say("genmove w")
        wait_for(lambda: "katachi: preparing slow" in told.getvalue())
        assert player.happened == []
        player.may_end.set()
        assert served.read() == "= A5"
        assert player.happened[-2:] == ["prepared 5", "decided"]
        assert not engine.preparation.is_running
        served.end()
        assert told.getvalue().count("\n") == 1


def test_input_ends_an_analysis_that_has_not_begun():
    class SlowAnalyst(SlowPlayer):
        def analyze(self, game, limit, stop):
            raise AssertionError("nobody wants to know any more")

    player = SlowAnalyst()
    served = Served(GtpEngine(player, size=9))
    assert served.ask("clear_board") == "="
    served.say("lz-analyze b")
    assert served.read() == "="
    assert served.ask("name") == "", "the end of the analysis"
    assert [served.read(), served.read()] == ["= katachi slow", ""]
    player.may_end.set()
    served.end()


def test_our_clock_does_not_run_while_the_player_gets_ready():
    player = SlowPlayer()
    engine = GtpEngine(player, size=9)
    engine.answer("time_settings 100 0 0")
    engine._session.asked = before = time.monotonic() - 50
    waiting = Thread(target=engine.answer, args=("genmove b",))
    waiting.start()
    time.sleep(0.2)
    player.may_end.set()
    waiting.join()
    assert engine._session.asked >= before + 0.1


def test_the_analysis_engine_answers_actions_meanwhile(monkeypatch):
    with no_silence(monkeypatch) as told:
        player = SlowPlayer()
        served = Served(AnalysisEngine(player))
        query = {"moves": [], "rules": "chinese", "boardXSize": 5, "boardYSize": 5}
        for name in ("a", "b", "c"):
            served.say(json.dumps({"id": name, **query}))
        wait_for(lambda: "katachi: preparing slow" in told.getvalue())
        served.say('{"id": "v", "action": "query_version"}')
        assert "version" in json.loads(served.read())
        for name in ("b", "a"):  # one waits in the queue, one for the player
            served.say(json.dumps({"id": f"stop {name}", "action": "terminate", "terminateId": name}))
            assert json.loads(served.read())["id"] == f"stop {name}"
            ended = json.loads(served.read())
            assert (ended["id"], ended["noResults"]) == (name, True)
        assert player.happened == []
        player.may_end.set()
        assert "warning" in json.loads(served.read())  # it tells no score
        answer = json.loads(served.read())
        assert (answer["id"], answer["moveInfos"][0]["move"]) == ("c", "A5")
        served.end()


# As processes, where nothing has been compiled yet


def start(cache: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    restore = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731 — what runs in the background ignores it
    return subprocess.Popen([*KATACHI, *arguments], env=environment, text=True, preexec_fn=restore, **pipes)


def compiled(cache: Path, name: str = "") -> list[str]:
    return [file.name for file in cache.rglob(f"{name}*.nb*")]


@pytest.mark.parametrize("how", ["quit", "end of the input", "interrupt"])
def test_an_engine_ends_though_it_is_compiling(tmp_path, how):
    engine = start(tmp_path, "gtp", "strong-9")
    engine.stdin.write("boardsize 9\n")
    engine.stdin.flush()
    assert [engine.stdout.readline(), engine.stdout.readline()] == ["= \n", "\n"]
    assert "compiling" in engine.stderr.readline()
    if how == "interrupt":
        engine.send_signal(signal.SIGINT)
        engine.wait(120)
    out, err = engine.communicate("quit\n" if how == "quit" else None, timeout=120)
    assert engine.returncode == 0
    assert out == ("= \n\n" if how == "quit" else "")
    assert "Traceback" not in err
    assert compiled(tmp_path, "run_simulations") == [], "it did not wait for that"

    after = start(tmp_path, "gtp", "random", "--seed", "1")  # what was left in the cache does no harm
    out, err = after.communicate("boardsize 5\ngenmove b\nquit\n", timeout=120)
    assert (after.returncode, out.count("= ")) == (0, 3), err
    assert compiled(tmp_path) != []


def test_a_game_with_nothing_compiled(tmp_path):
    engine = start(tmp_path, "gtp", "random", "--seed", "1")
    out, err = engine.communicate("name\nboardsize 5\nplay b C3\ngenmove w\nlist_stones b\nquit\n", timeout=120)
    answers = [answer.removeprefix("= ") for answer in out.split("\n\n")]
    assert (engine.returncode, answers[0], answers[4]) == (0, "katachi random", "C3"), err
    assert answers[3] not in ("C3", "")
    assert compiled(tmp_path) != []


def test_loading_compiles_nothing(tmp_path):
    """So errors can be told, and a dialogue be begun, before anything is compiled."""
    load = "from katachi.players.specs import *; [load_player(player.name) for player in bundled_players()]"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", load], env=environment, check=True, timeout=120)
    assert compiled(tmp_path) == []


@pytest.mark.parametrize("command", ["gtp", "analysis-engine"])
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ('kind = "search"\n[search', "no TOML"),
        ('kind = "search"\n[evaluator]\nmodel = "policy-8"', "policy-8: there is no such model"),
        ('kind = "search"\n[search]\nkind = "alphabeta"', "needs an evaluator"),
        ('kind = "search"\n[search]\nkind = "mcts"\n[search.playouts]\nshapes = 2', "shapes"),
    ],
)
def test_what_is_wrong_with_a_player_comes_before_the_first_answer(tmp_path, command, spec, message):
    (tmp_path / "mine.toml").write_text(spec)
    engine = start(tmp_path / "cache", command, str(tmp_path / "mine.toml"))
    out, err = engine.communicate('name\n{"id": "v", "action": "query_version"}\n', timeout=120)
    assert (engine.returncode, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
