"""Source, help and documents use the field's own words.

``python tests/test_words.py [PATH …]`` lists what is left, by word and file, and counts it by package.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
SCANNED = (
    *("src/**/*.py", "src/**/*.toml", "src/**/*.js", "src/**/*.css"),
    *("*.md", "docs/**/*.md", "docs/*.py", "examples/*", "Makefile", "pyproject.toml"),
)
GAP = r"""(?:[ "']*\n[ #"']*| +)"""  # between the words of a phrase: it may be wrapped, in comments and strings, too
UNITS = "bytes|candidates|evaluations|games|moves|ms|nodes|playouts|positions|(?<!')s|seconds|simulations|steps|visits"
COMPARED = "better|bigger|different|fewer|further|larger|later|less|longer|lower|more|smaller|stronger|weaker|worse"
CODE_IN_PROSE = r"`+[^`\n]*`+|\{[^{}\n]*\}|[\"']judges?[\"']|analysis[./]judges"


class Word(NamedTuple):
    """A word that is not used: what is said instead, where it is looked for, and what is fine all the same."""

    pattern: str  # a space is any gap
    instead: str
    where: str = "text"  # or "prose" (comments, strings, documents), or "code" (the rest)
    fine: str = "(?!)"


WORDS = {
    "foretell": Word("foretell(s|ing|er|ers)?|foretold", "predict, prediction accuracy"),
    "told": Word("told|tell_[a-z]+", "given, conditioned on; describe_*", fine="told (apart|from)"),
    "likeliest": Word("likeliest", "most probable; top-10 accuracy"),
    "points known": Word("points known", "ownership accuracy"),
    "ship": Word("ship(s|ped|ping)?", "pretrained, bundled; release"),
    "enemy": Word("enemy|enemies", "opponent"),
    "he": Word("he|his|him|himself", "the player, their", "prose", fine="He et al|He's for rectified"),
    "slope": Word("slopes?", "gradient"),
    "judge": Word("judg(e|es|ed|ing|e?ments?)", "evaluate, analyse; analysed by", "prose", fine=CODE_IN_PROSE),
    "judged": Word("judg(ed|ing|e?ments?)", "evaluated, analysed", "code"),
    "House": Word("(?-i:House|Shelf|Gate|Offer)", "App, GameStore, AuthMiddleware, Opponent", "code"),
    "shelf": Word("shelf|shelves", "store", "prose"),
    "visitor": Word("visitors?", "user"),
    "is no": Word("(is|are) no [a-z]+", "is not a", "prose", fine=f"there (is|are) no|(is|are) no ({COMPARED})"),
    "goes on": Word("goes on|begun", "resumes, continues; started"),
    "a second": Word(f"({UNITS}) a (game|minute|move|position|second)", "per second, per move", "prose"),
    "set of games": Word("sets? of games", "dataset", "prose"),
    "yardstick": Word("yardsticks?", "target, baseline"),
    "riddle": Word("what tree search is worth|same seed ends in the same bytes", "a noun", "prose"),
}

# What stays: in which file, the text around the word, and why.
ALLOWED = (
    ("src/katachi/*", r'players/shipped|"shipped"', "the folder of the bundled players, which commands name"),
    ("pyproject.toml", "players/shipped", "the same folder"),
    ("src/katachi/data/importing.py", '"a move that is no point"', "a key in the cards of datasets"),
    ("src/katachi/policy/planes.py", r'PlaneKind\("enemy[a-z ]*"', "plane names are part of a digest in model cards"),
    ("src/katachi/policy/train.py", r'"own", "enemy"', "plane names, as above"),
    ("src/katachi/crbm/*", r'PlaneKind\("enemy[a-z ]*"|"enemy": "O"', "plane names, as above"),
    ("src/katachi/territory/inputs.py", r'"(second )?weakest enemy[":]', "input names are part of a digest, too"),
    ("src/katachi/web/security.py", '"katachi-visitor"', "a cookie in browsers that know their user by it"),
    ("src/katachi/web/sessions.py", 'DATA/visitors|"visitors"', "the folder of users' games on disk"),
    ("src/katachi/*", r'"(test|validation) points known', "names of metrics in the cards of released models"),
    ("src/katachi/papers/maddison2014/tables.py", r'"told"', "a key of results that runs and documents keep"),
)


class Hit(NamedTuple):
    """A word, where it stands, and the line."""

    word: str
    path: str
    line: int
    text: str


def compile_words(pattern: str) -> re.Pattern[str]:
    """No letter on either side: the parts of names, which ``find`` takes apart, are words."""
    return re.compile(rf"(?<![A-Za-z])({pattern.replace(' ', GAP)})(?![A-Za-z])", re.IGNORECASE)


PATTERNS = {name: compile_words(word.pattern) for name, word in WORDS.items()}
FINE = {name: re.compile(word.fine.replace(" ", GAP), re.IGNORECASE) for name, word in WORDS.items()}


def blank(text: str) -> str:
    """As many spaces, so that lines stay where they are."""
    return re.sub(r"[^\n]", " ", text)


def python_prose(text: str) -> str:
    """Comments and strings without doctests, all at their places."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    prose, done = [], 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kinds:
            first, last = (starts[line - 1] + column for line, column in (token.start, token.end))
            prose += [blank(text[done:first]), text[first:last]]
            done = last
    prose.append(blank(text[done:]))
    return re.sub(r"^ *(>>>|\.\.\.) .*$", lambda doctest: blank(doctest[0]), "".join(prose), flags=re.MULTILINE)


def split(path: str, text: str) -> dict[str, str]:
    """A file's text, the prose in it and the code in it; other files, such as TOML, are all prose."""
    if path.endswith(".py"):
        prose = python_prose(text)
    elif path.endswith(".md"):
        prose = re.sub(r"^```.*?^```", lambda block: blank(block[0]), text, flags=re.MULTILINE | re.DOTALL)
    elif path.endswith(".ipynb"):
        cell = re.compile(r'"cell_type": "code".*?(?="cell_type"|\Z)', re.DOTALL)
        prose = cell.sub(lambda block: blank(block[0]), text)
    else:
        prose = text
    code = "".join(" " if kept == character != "\n" else character for character, kept in zip(text, prose, strict=True))
    return {"text": text, "prose": prose, "code": code}


def find(path: str, text: str) -> Iterator[Hit]:
    """Every word in a file, but for those that are allowed there."""
    lines, parts = text.splitlines(), split(path, text)
    allowed = [re.compile(around) for file, around, _ in ALLOWED if fnmatch(path, file)]
    for name, word in WORDS.items():
        seen = parts[word.where]
        for fine in (*allowed, FINE[name]):
            seen = fine.sub(lambda match: blank(match[0]), seen)
        seen = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", seen)  # WeakestEnemy is Weakest_Enemy
        for match in PATTERNS[name].finditer(seen):
            number = seen.count("\n", 0, match.start()) + 1
            yield Hit(name, path, number, lines[number - 1].strip())


@cache
def read_all() -> dict[str, str]:
    """The text of every file that is looked at, by its path."""
    files = sorted({file for pattern in SCANNED for file in ROOT.glob(pattern) if file.is_file()})
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}


@cache
def find_all() -> tuple[Hit, ...]:
    """Every word in every file."""
    return tuple(hit for path, text in read_all().items() for hit in find(path, text))


@pytest.mark.parametrize("name", WORDS)
def test_the_word_is_not_used(name: str) -> None:
    found = [f"{hit.path}:{hit.line}: {name}: {hit.text}" for hit in find_all() if hit.word == name]
    if found:
        pytest.fail("\n".join([f"{len(found)} × {name!r}: say {WORDS[name].instead}", *found]), pytrace=False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("moves_foretold = SHIPPED[WeakestEnemy]", ["foretell", "ship", "enemy"]),
        ("ownership, telling, the, shelfmark = Judges(judges), self.judges", []),
        ("# It judges boards, and his judgment\n# is no truth.", ["he", "judge", "judge", "is no"]),
        ('"the run goes "\n"on"', ["goes on"]),
        ('"""There is no board; it is no longer open; told apart (He et al. 2016) by ``judges``."""', []),
        ('"""Points\nknown right, 5 s a move, games a second."""', ["points known", "a second", "a second"]),
        ("# one's\n# a move, or 12 moves\n\n# a game", []),
        ('f"{judge.name} is no player"', ["is no"]),
        ("def f():\n    >>> judged = 1", ["judged"]),
        ("class House: ...  # Offer a set of games", ["House", "set of games"]),
    ],
)
def test_words_are_found(text: str, words: list[str]) -> None:
    assert [hit.word for hit in find("some.py", text)] == words


def test_documents_are_prose_and_code() -> None:
    text = "Judged by\n```python\njudges = judged\n```\nthe `judges`\nenemy"
    found = [(hit.word, hit.line) for hit in find("some.md", text)]
    assert found == [("enemy", 6), ("judge", 1), ("judged", 3)]
    cells = '"cell_type": "markdown"\n"It judges"\n"cell_type": "code"\n"judges"\n"cell_type": "markdown"\n"judging"'
    assert [hit.line for hit in find("some.ipynb", cells)] == [2, 6]


def test_an_exception_allows_its_own_text_alone() -> None:
    text = 'PlaneKind("enemy liberties", "the enemy chain")\nPlaneKind("own", "an enemy")'
    assert [hit.line for hit in find("src/katachi/policy/planes.py", text)] == [1, 2]


def test_every_exception_is_needed() -> None:
    for file, around, why in ALLOWED:
        found = [path for path, text in read_all().items() if fnmatch(path, file) and re.search(around, text)]
        assert found, f"{file}: {why}"


def package_of(path: str) -> str:
    """``shapes`` for a file below that package, else the first folder or the file itself."""
    return path.removeprefix("src/katachi/").split("/")[0]


def list_left(paths: tuple[str, ...]) -> Iterator[str]:
    """What is left in files that begin with any of these paths, in lines."""
    hits = sorted(hit for hit in find_all() if not paths or hit.path.startswith(paths))
    for name, found in groupby(hits, lambda hit: hit.word):
        yield f"\n{name}: say {WORDS[name].instead}"
        for path, places in groupby(found, lambda hit: hit.path):
            yield from (f"  {path}", *(f"    {hit.line}: {hit.text}" for hit in places))
    for title, names in (("word", [hit.word for hit in hits]), ("package", [package_of(hit.path) for hit in hits])):
        yield f"\nby {title}: " + ", ".join(f"{name} {count}" for name, count in Counter(names).most_common())
    yield f"{len(hits)} in all"


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in list_left(tuple(sys.argv[1:])))
