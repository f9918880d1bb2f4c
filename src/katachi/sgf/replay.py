"""From a path of nodes to the game that it tells: set-up stones anywhere, illegal moves kept and reported.

SGF wants a move executed whether or not it is legal. So a move that the rules forbid (on a stone, against ko,
suicide) becomes a set-up of the position that it leads to, and the turn passes; the record is never cut short.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.go.board import Board, IllegalMove
from katachi.go.game import Game
from katachi.go.kernels import board as kernels
from katachi.go.points import BLACK, EMPTY, WHITE, fixed_handicap_points, max_fixed_handicap
from katachi.go.rules import Rules
from katachi.sgf.errors import SgfError
from katachi.sgf.information import check_is_go, read_handicap, read_rules, read_size
from katachi.sgf.positions import Stones, after_any_move, dead_points
from katachi.sgf.repairs import RepairKind, Report, ignore, shorten
from katachi.sgf.tree import Node
from katachi.sgf.vertices import move_table, read_move, read_points

MOST_STEPS: Final = 10_000  # a game keeps a copy of the board for each; real ones have under 1,500

_COLORS: Final = {"B": BLACK, "W": WHITE}
_SETUP: Final = frozenset(("AB", "AW", "AE", "PL"))
_ROOT_SETUP: Final = _SETUP | {"HA"}


def replay(
    nodes: Sequence[Node],
    *,
    before_move: int | None = None,
    rules: Rules | None = None,
    report: Report = ignore,
) -> Game:
    """The game along a path from the root, to its end or until just before the node of move ``before_move``.

    Raises SgfError if the record is not of a game that can be played here.
    """
    if before_move is not None and before_move < 1:
        raise ValueError(f"there is no move {before_move}")
    replaying = _Replay(nodes, rules, report)
    for node in nodes:
        replaying.set_up(node)
        if before_move is not None and replaying.moves + _count_moves(node) >= before_move:
            break
        replaying.play(node)
    return replaying.game


def replay_nodes(nodes: Sequence[Node], report: Report = ignore) -> Iterator[Game]:
    """The game after each node of a path from the root: one game, which goes on when the next node is asked for."""
    replaying = _Replay(nodes, None, report)
    for node in nodes:
        replaying.follow(node)
        yield replaying.game


class Ending(NamedTuple):
    """The board at the end of a main line, and the number of moves that led there."""

    board: Board
    moves: int


def replay_to_end(nodes: Sequence[Node], report: Report = ignore) -> Ending:
    """The end of a path, without a history: an order of magnitude faster than ``replay`` on ordinary records.

    Moves are checked as the rules of the record want, but with simple ko in place of superko.
    """
    replaying = _Replay(nodes, None, report)
    start = 0
    if not _ROOT_SETUP.isdisjoint(nodes[0].properties):
        replaying.follow(nodes[0])
        start = 1
    board = replaying.game.board
    plain = _plain_moves(nodes[start:], board.size)
    if plain is not None:
        before = board.record.copy()
        if kernels.play_moves(board.record, *plain, replaying.game.rules.suicide) == plain.moves.size:
            return Ending(board, replaying.moves + plain.moves.size)
        board.record = before
    for node in nodes[start:]:
        replaying.follow(node)
    return Ending(replaying.game.board, replaying.moves)


class _PlainMoves(NamedTuple):
    moves: NDArray[np.int64]
    colors: NDArray[np.int8]


def _plain_moves(nodes: Sequence[Node], size: int) -> _PlainMoves | None:
    """The moves of nodes that hold one readable move each and no set-up, None if some do not."""
    texts: list[str] = []
    colors: list[int] = []
    for node in nodes:
        properties = node.properties
        if not _SETUP.isdisjoint(properties):
            return None
        name, color = ("B", BLACK) if "B" in properties else ("W", WHITE)
        if name in properties:
            values = properties[name]
            if len(values) > 1 or (color == BLACK and "W" in properties):
                return None
            texts.append(values[0])
            colors.append(color)
    moves = list(map(move_table(size).get, texts))
    if None in moves:
        return None
    return _PlainMoves(np.array(moves, dtype=np.int64), np.array(colors, dtype=np.int8))


def _count_moves(node: Node) -> int:
    return sum(len(node.properties.get(name, ())) for name in _COLORS)


def customary_handicaps(size: int, stones: int) -> list[list[int]]:
    """Where handicap stones usually stand: GTP's fixed places, or with the side stones at the top and bottom instead.

    Fox and other Chinese servers place six and seven stones in the second way.
    """
    if stones > max_fixed_handicap(size):
        return []
    fixed = fixed_handicap_points(size, stones)
    turned = sorted(point % size * size + point // size for point in fixed)
    return [fixed] if turned == fixed else [fixed, turned]


class _Opening(NamedTuple):
    """What a path has up to its first move: whose it is, if there is one, and whether stones are set up before."""

    color: int | None
    has_stones: bool


def _read_opening(nodes: Sequence[Node]) -> _Opening:
    has_stones = False
    for node in nodes:
        has_stones = has_stones or "AB" in node.properties or "AW" in node.properties
        for name in node.properties:
            if name in _COLORS:
                return _Opening(_COLORS[name], has_stones)
    return _Opening(None, has_stones)


class _Replay:
    """A game in the making: follows one node after the other."""

    def __init__(self, nodes: Sequence[Node], rules: Rules | None, report: Report) -> None:
        root = nodes[0]
        check_is_go(root)
        self.size = read_size(root)
        self.game = Game(self.size, read_rules(root, report) if rules is None else rules)
        self._steps = 0
        self.moves = 0  # told by the record so far, readable or not
        self._root = root
        self._nodes = nodes
        self._handicap = read_handicap(root)
        self._opening = _read_opening(nodes)
        self._report = report
        self._where = "root"

    def follow(self, node: Node) -> None:
        self.set_up(node)
        self.play(node)

    def play(self, node: Node) -> None:
        """Play the moves of a node, in the order in which it has them."""
        if _count_moves(node) > 1:
            self._report(RepairKind.STRUCTURE, f"move {self.moves + 1}", "several moves in one node; played in turn")
        for name, values in node.properties.items():
            if name in _COLORS:
                for value in values:
                    self._play_value(_COLORS[name], value)

    def _play_value(self, color: int, value: str) -> None:
        self.moves += 1
        self._where = f"move {self.moves}"
        move = read_move(value, self.size, self._report, self._where)
        if move is None:
            return
        self._count_step()
        try:
            self.game.play(move, color)
        except IllegalMove as error:
            self._report(RepairKind.ILLEGAL_MOVE, self._where, f"{error}; kept as set-up stones")
            self._set_stones(after_any_move(self.game.board.stones, move, color, self.size), -color)

    def _count_step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise SgfError(f"more than {MOST_STEPS} moves")

    # Set-up

    def set_up(self, node: Node) -> None:
        """Put up the stones of a node and set who is to play."""
        is_root = node is self._root
        if (_ROOT_SETUP if is_root else _SETUP).isdisjoint(node.properties):
            return
        self._where = "root" if is_root else f"after move {self.moves}"
        black, white, empty = (self._points(node, name) for name in ("AB", "AW", "AE"))
        to_play = self._read_player(node)
        if is_root:
            black = black or self._missing_handicap()
        if not self.moves and (black or white):
            to_play = to_play or (WHITE if black and self._handicap >= 2 else self._opening.color)
        if black or white or empty or to_play:
            self._count_step()
            self._put(black, white, empty, to_play)

    def _points(self, node: Node, name: str) -> list[int]:
        return read_points(node.properties.get(name, ()), self.size, self._report, self._where)

    def _read_player(self, node: Node) -> int | None:
        """The color in PL, None if there is none or it is not understood."""
        text = node.simple_text("PL").lower()
        if not text:
            return None
        color = {"b": BLACK, "1": BLACK, "w": WHITE, "2": WHITE}.get(text[0])
        if color is None:
            self._report(RepairKind.SETUP, self._where, f"player {shorten(text)} ignored")
        return color

    def _missing_handicap(self) -> list[int]:
        """The customary places, if a record counts handicap stones, sets up none, and Black does not play them.

        A guess, so it must fit: no move of the record may be played on one of these stones.
        """
        stones = self._handicap
        if stones < 2 or self._opening.has_stones or self._opening.color == BLACK:
            return []
        for points in customary_handicaps(self.size, stones):
            if self._fits(points):
                self._report(RepairKind.HANDICAP, "root", f"{stones} handicap stones put on their customary places")
                return points
        self._report(RepairKind.HANDICAP, "root", f"{stones} handicap stones are not in the record; left out")
        return []

    def _fits(self, points: list[int]) -> bool:
        plain = _plain_moves(self._nodes, self.size)
        if plain is None:
            return False
        board = Board(self.size)
        board.place(black=points)
        played = kernels.play_moves(board.record, *plain, self.game.rules.suicide)
        return played == plain.moves.size or int(plain.moves[played]) not in points

    def _put(self, black: list[int], white: list[int], empty: list[int], to_play: int | None) -> None:
        if len({*black, *white, *empty}) < len(black) + len(white) + len(empty):
            self._report(RepairKind.SETUP, self._where, "a point is set up twice; the last color counts")
        try:
            self.game.setup(black, white, empty, to_play)
        except ValueError:
            stones = self.game.board.stones.copy()
            for color, points in ((BLACK, black), (WHITE, white), (EMPTY, empty)):
                stones[points] = color
            dead = dead_points(stones, self.size)
            self._report(RepairKind.SETUP, self._where, f"{len(dead)} stones without liberties left out")
            stones[dead] = EMPTY
            self._set_stones(stones, to_play)

    def _set_stones(self, stones: Stones, to_play: int | None) -> None:
        """Set up exactly these stones, naming the points that change alone."""
        changed = stones != self.game.board.stones
        black, white, empty = (np.flatnonzero(changed & (stones == color)).tolist() for color in (BLACK, WHITE, EMPTY))
        self.game.setup(black, white, empty, to_play)
