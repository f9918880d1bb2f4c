"""Every command line in README and the documents exists, and runs.

Blocks of ``sh`` and ``console`` hold commands. They run in order, each page in a folder of its own, unless a comment
before the block says why not: ``<!-- not run: stays open -->``; ``<!-- tested with: --games 20 -->`` makes them
cheaper: the options are added to those commands of the block that have them. Options of commands in running
text are only looked up.
"""

from __future__ import annotations

import io
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

import pytest
import typer

from katachi.cli import app, main

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md"))]
UsageError = typer.BadParameter.__base__  # typer has a click of its own
BLOCK = re.compile(r"(?:<!-- (not run|tested with): ([^>]*?) -->\s*)?^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
GAMES = (
    "(;SZ[9]KM[7.5]RE[W+7.5];B[ee];W[gc];B[cg];W[cc];B[gg];W[];B[])",
    "(;SZ[9]KM[7.5]RE[B+R];B[ed];W[ef];B[gd];W[gf];B[cd];W[cf])",
)


class Block(NamedTuple):
    """Command lines that belong together, with what a comment says about running them."""

    lines: list[list[str]]
    not_run: str = ""
    added: tuple[str, ...] = ()


def read_blocks(text: str) -> Iterator[Block]:
    """The blocks of a page that hold commands of ours."""
    for mark, said, language, body in BLOCK.findall(text):
        if language in ("sh", "console"):
            lines = [words for line in read_lines(body, language) if (words := our_words(line))]
            if lines:
                yield Block(
                    lines, said if mark == "not run" else "", tuple(said.split()) if mark == "tested with" else ()
                )


def read_lines(body: str, language: str) -> list[str]:
    """What is typed: in a console after the prompt."""
    lines = body.replace("\\\n", " ").splitlines()
    return lines if language == "sh" else [line[2:] for line in lines if line.startswith("$ ")]


def our_words(line: str) -> list[str]:
    """``katachi …`` or ``make …`` in words, however it is started; empty for other programs."""
    words = shlex.split(line, comments=True)
    if "-m" in words and words[words.index("-m") + 1 :][:1] == ["katachi"]:
        words = words[words.index("-m") + 1 :]
    while words and re.fullmatch(r"\w+=\S*", words[0]):
        words = words[1:]
    if not words or Path(words[0]).name not in ("katachi", "make"):
        return []
    return [Path(words[0]).name, *words[1:]]


def find_command(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the words after ``katachi`` name, and its arguments; raises UsageError if there is none."""
    command: Any = typer.main.get_command(app)
    while words and hasattr(command, "resolve_command") and not words[0].startswith("-"):
        _, command, words = command.resolve_command(typer.Context(command), words)
    return command, words


def options_of(command: Any) -> set[str]:
    return {"--help"} | {name for each in command.params for name in (*each.opts, *each.secondary_opts)}


def check_line(words: list[str]) -> None:
    """Parse a line as the program would, but for files, which need not exist."""
    command, arguments = find_command(words)
    context = typer.Context(command)
    values, rest, _ = command.make_parser(context).parse_args(list(arguments))
    assert not rest, f"unexpected: {rest}"
    for parameter in command.params:
        value = values.get(parameter.name)
        assert not (parameter.required and value in (None, ())), f"{parameter.name} is missing"
        if value is not None and "Path" not in str(parameter.type_descriptor):
            parameter.process_value(context, value)


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def blocks_of(page: str) -> list[Block]:
    return list(read_blocks((ROOT / page).read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)])
def test_lines_are_understood(page: str) -> None:
    for block in blocks_of(page):
        for program, *words in block.lines:
            if program == "make":
                assert set(words) <= targets(), f"{page}: make {words}"
            else:
                try:
                    check_line(words[1:] if words[0] == "--" else words)  # which is for torchrun
                except UsageError as error:
                    pytest.fail(f"{page}: katachi {shlex.join(words)}: {error.format_message()}", pytrace=False)


@pytest.mark.parametrize("page", PAGES)
def test_commands_stand_in_blocks_that_are_run(page: str) -> None:
    for _, _, language, body in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        typed = re.findall(r"^(?:\$ )?(?:[^\s=]*/)?(?:katachi|make) .*", body, re.MULTILINE)
        assert language in ("sh", "console") or not typed, f"{page}: {typed}"


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_running_text_exist(page: str) -> None:
    text = BLOCK.sub("", (ROOT / page).read_text(encoding="utf-8"))
    for span in re.findall(r"`(?:torchrun [^`]*-m |nice )?((?:\S*/)?katachi (?!gtp:)[^`]+)`", text.replace("\n", " ")):
        words = re.sub(r"\"[^\"]*\"|'[^']*'", "X", span).split()[1:]
        if words[0][0] in "-…[(" or not words[0].islower():
            continue
        command, arguments = find_command(words)
        wrong = {word.split("=")[0] for word in arguments if word.startswith("--")} - options_of(command)
        assert not wrong, f"{page}: {span}: {wrong}"


@pytest.mark.parametrize("page", [page for page in PAGES if any(not block.not_run for block in blocks_of(page))])
def test_lines_run(page: str, tmp_path: Path, monkeypatch, capsys) -> None:
    make_world(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    for block in blocks_of(page):
        for program, *words in [] if block.not_run else block.lines:
            assert program == "katachi", f"{page}: a target of make needs a reason why it is not run"
            line = [*words, *added_options(find_command(words)[0], block.added)]
            assert not run(line), f"{page}: katachi {shlex.join(line)}: {capsys.readouterr().err}"


def run(line: list[str]) -> int | str | None:
    """The exit code of a line; engines, which take the streams of their process, have one of their own."""
    if line[0] in ("gtp", "analysis-engine"):
        return subprocess.run(
            [sys.executable, "-m", "katachi", *line], stdin=subprocess.DEVNULL, check=False
        ).returncode
    with pytest.raises(SystemExit) as exited:
        main(line)
    return exited.value.code


def added_options(command: Any, added: tuple[str, ...]) -> Iterator[str]:
    """The options, each with its value, that a command has."""
    known = options_of(command)
    for option, value in zip(added[::2], added[1::2], strict=True):
        if option in known:
            yield from (option, value)


def make_world(folder: Path) -> None:
    """What a reader has at hand: a game, a folder of games, an archive, the examples."""
    (folder / "games").mkdir()
    (folder / "game.sgf").write_text(GAMES[0])
    for number, game in enumerate(GAMES):
        (folder / "games" / f"{number}.sgf").write_text(game)
    with ZipFile(folder / "more.zip", "w") as archive:
        archive.writestr("more.sgf", GAMES[1])
    shutil.copytree(ROOT / "examples", folder / "examples")


# What is read, and what is refused


def test_reading_of_blocks() -> None:
    text = "<!-- not run: slow -->\n\n```sh\nA=1 .venv/bin/katachi play 'x y'  # why\nls\n```\n"
    text += "```console\n$ make test\nok\n```\n```\nkatachi\n```"
    assert list(read_blocks(text)) == [Block([["katachi", "play", "x y"]], "slow"), Block([["make", "test"]])]
    text = (
        "<!-- tested with: --games 2 -->\n```sh\ntorchrun --nproc-per-node 2 -m katachi train policy \\\n--data x\n```"
    )
    assert list(read_blocks(text)) == [Block([["katachi", "train", "policy", "--data", "x"]], "", ("--games", "2"))]


@pytest.mark.parametrize(
    "line",
    [
        "plya",
        "play alp --sise 9",
        "play --size nine",
        "train nothing",
        "match alp",
        "match alp alp alp",
        "reproduce search --budget huge",
    ],
)
def test_wrong_lines_are_refused(line: str) -> None:
    with pytest.raises((UsageError, AssertionError)):
        check_line(line.split())


def test_options_are_added_where_they_exist() -> None:
    command, _ = find_command(["match", "alp", "random"])
    assert list(added_options(command, ("--games", "2", "--by", "playouts"))) == ["--games", "2"]
