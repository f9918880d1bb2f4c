"""Whatever bytes arrive: well-framed answers, one for each command, and never an exception."""

from __future__ import annotations

import io
import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from katachi.core.contracts import Analysis, Candidate, Decision
from katachi.go.points import BLACK, PASS, format_vertex
from katachi.gtp.engine import GtpEngine, commands
from katachi.gtp.protocol import parse_command

ANSWER = re.compile(rb"[=?][0-9]*( [^\n]*)?\n([^\n]+\n)*\n")
FOREIGN_ERROR = re.compile(rb"^(\?[0-9]*|error:) \w+(Error|Exception|Illegal\w+):", re.MULTILINE)
# These read and write the folder that the tests are run in, or compute for long.
LEFT_OUT = {"printsgf", "final_score", "final_status_list", "katachi-territory", "kgs-genmove_cleanup"}


class LastPlayer:
    """Plays the last legal point, and looks at nothing else."""

    name = "last"

    def decide(self, game, limit):
        legal = game.legal_moves()[:-1].nonzero()[0]
        move = int(legal[-1]) if len(legal) else PASS
        return Decision(move, analysis=Analysis((Candidate(move, black_wins=0.5),)))


vertices = st.sampled_from(["A1", "b2", "C3", "d4", "E5", "f6", "T19", "i1", "pass", "resign", "Z0"])
numbers = st.one_of(st.integers(-2, 30).map(str), st.sampled_from(["nan", "inf", "1e400", "-0", "9" * 30, "0.5", "x"]))
colors = st.sampled_from(["b", "w", "Black", "WHITE", "e", "red", ""])
words = st.one_of(
    vertices, numbers, colors, st.text(max_size=8), st.sampled_from(["true", "ownership", "avoid", "{}", '{"ko":'])
)
names = st.one_of(st.sampled_from(sorted(set(commands.names) - LEFT_OUT)), st.text(max_size=8))
lines = st.builds(
    lambda number, name, arguments: " ".join([number, name, *arguments]),
    st.sampled_from(["", "1", "007", "9" * 40, "-1"]),
    names,
    st.lists(words, max_size=6),
)


def check_answer(engine: GtpEngine, line: bytes) -> bytes:
    answer = engine.answer(line)
    command = parse_command(line)
    if command is None:
        assert answer == b""
    else:
        assert ANSWER.fullmatch(answer), (line, answer)
        assert re.match(rb"[=?]" + command.id.encode() + rb"( |\n)", answer)
        assert not FOREIGN_ERROR.search(answer), (line, answer)
    return answer


@given(
    st.lists(st.one_of(st.binary(max_size=60), lines.map(lambda line: line.encode("utf-8", "replace"))), max_size=20)
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_lines(sent):
    engine = GtpEngine(LastPlayer(), size=5)
    for line in sent:
        check_answer(engine, line.replace(b"\n", b" "))


@given(st.binary(max_size=400))
@settings(max_examples=150, deadline=None)
def test_any_stream(data):
    output = io.BytesIO()
    GtpEngine(LastPlayer(), size=5).serve(io.BytesIO(data), output)
    assert re.fullmatch(rb"(%s)*" % ANSWER.pattern, output.getvalue())


class Dialogue(RuleBasedStateMachine):
    """Any commands in any order; beside them a plain account of the moves, which the engine must agree with."""

    @initialize(size=st.integers(2, 7))
    def begin(self, size):
        self.engine = GtpEngine(LastPlayer(), size=size)
        self.moves: list[str] = []

    def ask(self, line: str) -> tuple[bool, str]:
        answer = check_answer(self.engine, line.encode("utf-8", "surrogateescape"))
        return answer[:1] == b"=", answer[1:].decode().strip()

    @rule(color=st.sampled_from(["black", "white"]), point=st.integers(-1, 48))
    def play(self, color, point):
        size = self.engine.game.size
        move = format_vertex(min(point, size * size - 1), size)
        ok, _ = self.ask(f"play {color} {move}")
        if ok:
            self.moves.append(f"{color} {'PASS' if move == 'pass' else move}")
        assert ok or move != "pass"

    @rule(color=st.sampled_from(["black", "white"]))
    def genmove(self, color):
        ok, move = self.ask(f"genmove {color}")
        assert ok
        self.moves.append(f"{color} {'PASS' if move == 'pass' else move}")

    @rule()
    def undo(self):
        ok, _ = self.ask("undo")
        assert ok == bool(self.moves)
        self.moves = self.moves[:-1]

    @rule(size=st.integers(1, 21))
    def boardsize(self, size):
        ok, _ = self.ask(f"boardsize {size}")
        assert ok == (2 <= size <= 19)
        if ok:
            self.moves = []

    @rule(komi=st.floats())
    def komi(self, komi):
        before = self.engine.game.komi
        ok, _ = self.ask(f"komi {komi:g}")
        assert ok == (abs(float(f"{komi:g}")) <= 1000)
        assert ok or self.engine.game.komi == before

    @rule(
        line=st.sampled_from(
            ["reg_genmove b", "lz-analyze w 5", "showboard", "all_legal b", "loadsgf /etc/passwd", "foo"]
        )
    )
    def ask_without_change(self, line):
        self.ask(line)

    @precondition(lambda self: hasattr(self, "engine"))
    @invariant()
    def moves_agree(self):
        _, history = self.ask("move_history")
        assert [line.strip() for line in history.splitlines()] == self.moves[::-1]

    @precondition(lambda self: hasattr(self, "engine"))
    @invariant()
    def stones_agree(self):
        _, stones = self.ask("list_stones black")
        assert len(stones.split()) == (self.engine.game.board.stones == BLACK).sum()


Dialogue.TestCase.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
TestDialogue = Dialogue.TestCase
