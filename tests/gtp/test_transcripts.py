"""Golden dialogues: ``> `` lines are sent, what stands beneath is the answer, character for character.

A transcript may begin with ``@player NAME``; lines that begin with ``## `` are comments. ``<number>`` stands for any
number, such as a version or a time. White space at the ends of lines does not count, because editors take it away.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from katachi.gtp.engine import commands

FOLDER = Path(__file__).parents[1] / "golden" / "gtp"
TRANSCRIPTS = sorted(FOLDER.glob("*.gtp"))


class Exchange(NamedTuple):
    line: str
    answer: str


class Transcript(NamedTuple):
    player: str
    exchanges: list[Exchange]


def read_transcript(path: Path) -> Transcript:
    player, exchanges = "first", []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("@player "):
            player = line.split()[1]
        elif line.startswith("> ") or line == ">":
            exchanges.append(Exchange(line[2:], ""))
        elif exchanges and not line.startswith("## "):
            exchanges[-1] = Exchange(exchanges[-1].line, exchanges[-1].answer + line.rstrip() + "\n")
    return Transcript(player, [Exchange(line, answer.rstrip()) for line, answer in exchanges])


def is_as_expected(answer: str, expected: str) -> bool:
    return re.fullmatch(re.escape(expected).replace("<number>", r"[0-9]+(\.[0-9]+)*"), answer) is not None


def without_line_ends(answer: bytes) -> str:
    return "\n".join(line.rstrip() for line in answer.decode().splitlines()).rstrip()


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path, make_engine):
    transcript = read_transcript(path)
    engine = make_engine(transcript.player)
    for line, expected in transcript.exchanges:
        answer = engine.answer(line)
        text = without_line_ends(answer)
        assert is_as_expected(text, expected), f"> {line}\n{text}\nis not\n{expected}"
        assert answer == b"" or answer.endswith(b"\n\n")
        assert answer.count(b"\n\n") == (answer != b""), "an empty line inside an answer ends it too early"


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript_served_at_once(path, make_engine):
    """The same dialogue through streams, all lines sent before the first answer is read, up to the first quit."""
    transcript = read_transcript(path)
    lines = [exchange.line for exchange in transcript.exchanges]
    quits = [number for number, line in enumerate(lines) if line.split()[-1:] == ["quit"]]
    end = quits[0] + 1 if quits else len(lines)
    output = io.BytesIO()
    make_engine(transcript.player).serve(io.BytesIO("\r\n".join(lines).encode()), output)
    expected = [exchange.answer for exchange in transcript.exchanges[:end] if exchange.answer]
    answers = [without_line_ends(answer) for answer in output.getvalue().split(b"\n\n")[:-1]]
    assert len(answers) == len(expected)
    assert all(map(is_as_expected, answers, expected))


def test_every_command_is_in_a_transcript():
    asked = [exchange for path in TRANSCRIPTS for exchange in read_transcript(path).exchanges]
    words = [[*line.split(), ""][int(line[:1].isdigit())] if line.strip() else "" for line, _ in asked]
    succeeded = {word for word, exchange in zip(words, asked, strict=True) if exchange.answer.startswith("=")}
    refused = {word for word, exchange in zip(words, asked, strict=True) if exchange.answer.startswith("?")}
    assert set(commands.names) - succeeded == set()
    assert set(commands.names) - refused == {"echo"}, "every other command can be asked wrongly"
