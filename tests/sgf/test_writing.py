from __future__ import annotations

from pathlib import Path

import pytest
from sgfmill import sgf as sgfmill

from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, WHITE, GameResult
from katachi.go.rules import NAMED_RULES, parse_rules
from katachi.sgf import Node, SgfError, SgfGame, format_sgf, game_to_sgf, load_sgf, parse_sgf, save_sgf


def _handicap_game() -> Game:
    game = Game(9, parse_rules("chinese", 0.5))
    game.place_handicap([24, 56])
    game.play(40)
    game.play(PASS)
    game.setup(black=[0], white=[8], empty=[40], to_play=WHITE)
    game.play(41)
    return game


def test_a_game_comes_back_equal() -> None:
    game = _handicap_game()
    (record,) = parse_sgf(game_to_sgf(game, black="A]", white="B\\", result="W+R"))
    again = record.replay()
    assert again.steps == game.steps
    assert again.board == game.board
    assert (again.rules, again.handicap) == (game.rules, 2)
    assert (record.black, record.white, str(record.result)) == ("A]", "B\\", "W+R")
    assert record.repairs == []


def test_rules_are_called_as_everywhere() -> None:
    """By the names that SGF and other programs know; what these leave open comes back all the same."""
    called = {}
    for name, rules in NAMED_RULES.items():
        root = parse_sgf(game_to_sgf(Game(9, rules)))[0]
        called[name] = root.root.get("RU")
        assert root.replay().rules == rules
    assert called["katachi"] == called["chinese"] == called["chinese-kgs"] == "Chinese"
    assert (called["japanese"], called["aga"], called["new-zealand"]) == ("Japanese", "AGA", "NZ")
    assert "KRU" not in game_to_sgf(Game(9, NAMED_RULES["chinese"]))


def test_rules_without_a_name_come_back() -> None:
    rules = parse_rules('{"ko": "SITUATIONAL", "suicide": true, "whiteHandicapBonus": "N-1"}', 3.5)
    assert rules.name == "custom"
    game = Game(9, rules)
    assert parse_sgf(game_to_sgf(game))[0].replay().rules == rules


def test_comments_and_further_properties() -> None:
    game = _handicap_game()
    text = game_to_sgf(game, comments={0: "start", 1: "first]", 3: "third"}, properties={"EV": "Cup [1]", "DT": ""})
    root = parse_sgf(text)[0].root
    line = list(root.main_line())
    assert [node.text("C") for node in line] == ["start", "first]", "", "", "third"]
    assert root.simple_text("EV") == "Cup [1]"
    assert "DT" not in root.properties


def test_the_result_is_written_when_it_is_known() -> None:
    game = Game(9)
    assert "RE" not in parse_sgf(game_to_sgf(game))[0].root.properties
    game.play(PASS)
    game.play(PASS)
    assert "RE" not in parse_sgf(game_to_sgf(game))[0].root.properties  # which stones are dead?
    assert parse_sgf(game_to_sgf(game, result=GameResult.by_score(3.5)))[0].root.get("RE") == "B+3.5"
    game.resign(BLACK)
    assert parse_sgf(game_to_sgf(game))[0].root.get("RE") == "W+R"


def test_sgfmill_reads_the_same_tree() -> None:
    text = (
        "(;FF[4]GM[1]CA[UTF-8]SZ[9]C[a\\]b\\\\:\\\nc 黒]ZZ[x][y];B[aa]"
        "(;W[bb]LB[aa:1][bb:\\:];B[])(;W[cc](;B[dd])(;B[ee];W[ff])))"
    )
    ours = parse_sgf(text)[0]
    theirs = sgfmill.Sgf_game.from_bytes(format_sgf(ours).encode())
    pairs = [(ours.root, theirs.get_root())]
    nodes = 0
    while pairs:
        our_node, their_node = pairs.pop()
        nodes += 1
        raw = {name: [v.decode() for v in their_node.get_raw_list(name)] for name in their_node.properties()}
        assert raw == our_node.properties
        assert len(their_node) == len(our_node.children)
        pairs.extend(zip(our_node.children, their_node, strict=True))
    assert nodes == 8


def test_sgfmill_reads_what_a_game_is_written_as() -> None:
    theirs = sgfmill.Sgf_game.from_bytes(game_to_sgf(_handicap_game(), black="黒", result="W+3.5").encode())
    assert (theirs.get_size(), theirs.get_komi(), theirs.get_handicap()) == (9, 0.5, 2)
    assert (theirs.get_player_name("b"), theirs.get_winner()) == ("黒", "w")
    assert [node.get_move() for node in theirs.get_main_sequence()[1:3]] == [("w", (4, 4)), ("b", None)]
    assert theirs.get_main_sequence()[3].get_setup_stones() == ({(8, 0)}, {(8, 8)}, {(4, 4)})


@pytest.mark.parametrize(
    "properties",
    [{"c": ["x"]}, {"": ["x"]}, {"C[": ["x"]}, {"C": []}, {"C": ["a]b"]}, {"C": ["a\\"]}, {"C": ["\\\\]"]}],
)
def test_what_would_not_read_back_is_refused(properties: dict[str, list[str]]) -> None:
    with pytest.raises(SgfError, match=r"property name|escaped"):
        format_sgf(SgfGame(Node(properties)))


@pytest.mark.parametrize(("letters", "lines"), [(100, 1), (101, 2)])
def test_a_line_may_be_full(letters: int, lines: int) -> None:
    root = Node({"SZ": ["9"]})  # has a line of its own
    root.add_child({"B": ["aa"]}).add_child({"C": ["x" * (letters - len(";B[aa];C[]"))]})
    assert len(format_sgf(SgfGame(root)).rstrip().splitlines()) == 1 + lines


def test_lines_are_short_and_trees_deep() -> None:
    root = node = Node({"SZ": ["9"]})
    for _ in range(50_000):
        node = node.add_child({"B": ["aa"]})
        node.parent.add_child({"W": ["bb"]}) if node.parent else None
    text = format_sgf(SgfGame(root))
    assert max(map(len, text.split("\n")[:100])) <= 110
    assert parse_sgf(text)[0].root.is_same_tree(root)
    node.add_child({"C": ["x"]})
    assert not parse_sgf(text)[0].root.is_same_tree(root)


def test_files_are_written_as_utf8_whatever_they_were(tmp_path: Path) -> None:
    record = parse_sgf("(;GM[1]CA[gb2312]SZ[9]PB[古力])".encode("gb18030"))[0]
    path = tmp_path / "game.sgf"
    path.write_text("old")
    save_sgf(path, record)
    assert path.read_bytes() == "(;GM[1]CA[UTF-8]SZ[9]PB[古力])\n".encode()
    assert record.root.get("CA") == "gb2312"
    assert load_sgf(path)[0].repairs == []
    assert list(tmp_path.iterdir()) == [path]
    save_sgf(path, [record, record])
    assert len(load_sgf(path)) == 2


def test_a_text_that_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[9])")
    with pytest.raises(SgfError, match="cannot be written"):
        save_sgf(path, SgfGame(Node({"C": ["\ud800"]})))
    assert path.read_text() == "(;SZ[9])"
