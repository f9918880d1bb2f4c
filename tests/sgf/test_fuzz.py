"""Any bytes and any text: a result or an SgfError, and what was read is written and read again as the same tree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from katachi.sgf import Node, SgfError, SgfGame, format_sgf, parse_sgf

# Pieces of grammar are likelier to reach deep states than random characters.
FRAGMENTS = st.sampled_from(
    [
        *(
            "(",
            ")",
            ";",
            "[",
            "]",
            "\\",
            ":",
            " ",
            "\n",
            "\r\n",
            "(;",
            "é",
            "\0",
            "\ufeff",
            "tt",
            "C[",
            "C[x]",
            "GM[1]",
        ),
        *("B[", "W[aa]", ";B[bb]", "B[]", "AB[aa]", "[aa:cc]", "AW[aa][ab]", "AE[aa]", "PL[W]", "CA[UTF-8]", "SiZe[9]"),
        *("SZ[3]", "SZ[19:19]", "HA[2]", "KM[6,5]", "RU[nz]", "GM[1]"),
    ]
)
MOSTLY_SGF = st.lists(FRAGMENTS | st.text(max_size=3), max_size=40).map(lambda parts: "(;SZ[3]" + "".join(parts))

RAW = st.text(st.characters(exclude_characters="\\]", exclude_categories=("Cs",)), max_size=8)
NAMES = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=1, max_size=3)
PROPERTIES = st.dictionaries(NAMES, st.lists(RAW, min_size=1, max_size=3), max_size=4)
SHAPES = st.lists(st.tuples(PROPERTIES, st.integers(0, 30)), max_size=15)


def _exercise(source: str | bytes) -> None:
    try:
        games = parse_sgf(source)
    except SgfError:
        return
    for game in games:
        assert parse_sgf(format_sgf(game))[0].root.is_same_tree(game.root)
        for node in (None, *list(game.root.walk())[-3:]):
            try:
                replayed = game.replay(node)
            except SgfError:
                continue
            for _ in replayed.steps:
                replayed.undo()
            assert not replayed.board.stones.any()


@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_any_bytes(data: bytes) -> None:
    _exercise(data)


@given(st.binary(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_bytes_in_a_name(data: bytes) -> None:
    _exercise(b"(;SZ[9]PB[" + data + b"];B[aa])")


@given(MOSTLY_SGF)
@settings(max_examples=800, deadline=None)
def test_texts_that_are_mostly_sgf(text: str) -> None:
    _exercise(text)


@given(MOSTLY_SGF)
@settings(max_examples=300, deadline=None)
def test_both_ways_of_replaying_end_alike(text: str) -> None:
    for game in parse_sgf(text):
        try:
            slow = game.replay().board
        except SgfError:
            with pytest.raises(SgfError):
                game.replay_to_end()
            continue
        assert game.replay_to_end().board.stones.tolist() == slow.stones.tolist()


def _grow(shapes: list[tuple[dict[str, list[str]], int]]) -> Node:
    """A tree in which each node follows one of those before it."""
    nodes = [Node({"SZ": ["9"]})]
    for properties, parent in shapes:
        nodes.append(nodes[parent % len(nodes)].add_child(properties))
    return nodes[0]


@given(SHAPES)
@settings(max_examples=300, deadline=None)
def test_trees_come_back_equal(shapes: list[tuple[dict[str, list[str]], int]]) -> None:
    root = _grow(shapes)
    (game,) = parse_sgf(format_sgf(SgfGame(root)))
    assert game.root.is_same_tree(root)


@given(st.text(st.characters(exclude_characters="\r", exclude_categories=("Cs",))))
def test_any_text_survives_as_a_comment(text: str) -> None:
    root = Node()
    root.set_text("C", text)
    (game,) = parse_sgf(format_sgf(SgfGame(root)).encode())
    assert game.root.text("C") == text
