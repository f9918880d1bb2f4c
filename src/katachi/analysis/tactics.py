"""What a move does at once: its tactics, and the shapes that it makes and that players have names for.

Everything here is a fact about the stones, read and not guessed: whoever counts liberties by hand comes to the same.
What is not certain, such as a ladder that was not read to its end, is not said.

>>> from katachi.go.points import parse_vertex
>>> board = Board.parse('''
... . . . . . .
... . . X . . .
... . X O . . .
... . X . . . .
... . . . . . .
... . . . . . .''')
>>> [(fact.tactic.value, fact.stones) for fact in find_tactics(board, parse_vertex("D4", 6))]
[('catches in a ladder', (14,))]
>>> [shape.name.value for shape in find_shapes(board, parse_vertex("A3", 6))]
['empty triangle']
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from katachi.core.evaluators import after
from katachi.go.board import Board
from katachi.go.points import EMPTY, PASS
from katachi.go.reading import read_ladder

# Tactics


class Tactic(Enum):
    """What can be said of a move."""

    KO = "takes the ko"
    CAPTURES = "captures"
    DOUBLE_ATARI = "gives double atari"
    SNAPBACK = "catches in a snapback"
    LADDER = "catches in a ladder"
    CATCHES = "catches"
    ATARI = "puts in atari"
    SAVES = "saves from atari"
    LADDER_FAILS = "runs out of a ladder"
    RUNS_IN_VAIN = "runs in vain with"
    IN_VAIN = "tries in vain to save"
    LEAVES = "leaves in atari"
    SELF_ATARI = "puts into atari itself"
    CUTS = "cuts"
    CONNECTS = "connects"
    FILLS_EYE = "fills an eye"


class TacticalFact(NamedTuple):
    """A tactic and the stones that it is about; ``others`` are what it does to a second chain."""

    tactic: Tactic
    stones: tuple[int, ...] = ()
    others: tuple[int, ...] = ()


def find_tactics(board: Board, move: int) -> list[TacticalFact]:
    """What a move of the player to move does at once; raises IllegalMove if simple ko or suicide forbids it."""
    played = after(board, move)
    if move == PASS:
        return []
    threats = _threats(board, played, move)
    own = [] if any(fact.tactic is Tactic.SNAPBACK for fact in threats) else _self_atari(board, played, move)
    rescues = _rescues(board, played, move)
    return [*_captures(board, played), *threats, *rescues, *own, *_links(board, played, move)]


def _captures(board: Board, played: Board) -> list[TacticalFact]:
    taken = tuple(np.flatnonzero((board.stones != EMPTY) & (played.stones == EMPTY)).tolist())
    if not taken:
        return []
    return [TacticalFact(Tactic.CAPTURES if played.ko_point is None else Tactic.KO, taken)]


def _chains_in_atari(board: Board, color: int) -> list[tuple[int, ...]]:
    chains = (tuple(chain) for chain in board.chains())
    return [chain for chain in chains if board[chain[0]] == color and board.liberty_count(chain[0]) == 1]


# What becomes of the opponent's chains


def _threats(board: Board, played: Board, move: int) -> list[TacticalFact]:
    """The opponent's chains that are in atari now and were not."""
    threatened = [chain for chain in _chains_in_atari(played, -board.to_play) if board.liberty_count(chain[0]) > 1]
    if len(threatened) > 1:
        first, *others = sorted(threatened, key=len, reverse=True)
        return [TacticalFact(Tactic.DOUBLE_ATARI, first, tuple(stone for chain in others for stone in chain))]
    return [TacticalFact(_how_caught(played, chain, move), chain) for chain in threatened]


def _how_caught(played: Board, chain: tuple[int, ...], move: int) -> Tactic:
    """Whether a chain in atari, its player to move, can still get away."""
    if not read_ladder(played, chain[0], attacker_first=False).captured:
        return Tactic.ATARI
    if _is_snapback(played, chain, move):
        return Tactic.SNAPBACK
    (last,) = played.liberties(chain[0])
    runs = played.is_legal(last) and after(played, last).liberty_count(last) > 1
    return Tactic.LADDER if runs else Tactic.CATCHES


def _is_snapback(played: Board, chain: tuple[int, ...], move: int) -> bool:
    """Whether the move is a single stone in atari, and who takes it with the chain stays in atari."""
    if len(played.chain(move)) > 1 or played.liberty_count(move) > 1:
        return False
    (last,) = played.liberties(move)
    if not played.is_legal(last):
        return False
    taken = after(played, last)
    return last in taken.chain(chain[0]) and taken[move] == EMPTY and taken.liberty_count(last) == 1


# What becomes of our own chains


def _rescues(board: Board, played: Board, move: int) -> list[TacticalFact]:
    """What becomes of our chains that were in atari; one that nobody cares for is not mentioned again and again."""
    facts = []
    attacker = board.recent_points[0]
    for chain in _chains_in_atari(board, board.to_play):
        captured = read_ladder(played, chain[0]).captured
        liberties, runs = played.liberty_count(chain[0]), move in played.chain(chain[0])
        if captured is False:
            tactic = Tactic.LADDER_FAILS if runs and liberties == 2 else Tactic.SAVES
        elif captured is None:
            continue
        elif runs:
            tactic = Tactic.RUNS_IN_VAIN
        elif liberties > 1:
            tactic = Tactic.IN_VAIN
        elif attacker is not None and set(_beside(attacker, board.size)) & set(chain):
            tactic = Tactic.LEAVES
        else:
            continue
        facts.append(TacticalFact(tactic, chain))
    return facts


def _self_atari(board: Board, played: Board, move: int) -> list[TacticalFact]:
    """Our chain that the move puts into atari; one that was in atari runs in vain, and a ko is not a mistake."""
    if played.liberty_count(move) > 1 or played.ko_point is not None:
        return []
    chain = tuple(played.chain(move))
    ran = any(board[stone] != EMPTY and board.liberty_count(stone) == 1 for stone in chain)
    return [] if ran else [TacticalFact(Tactic.SELF_ATARI, chain)]


# What the move links and keeps apart


def _links(board: Board, played: Board, move: int) -> list[TacticalFact]:
    facts = [TacticalFact(Tactic.CUTS, (first,), (second,)) for first, second in _find_cuts(board, played, move)[:1]]
    joined = _joined(board, played, move)
    if joined:
        facts.append(TacticalFact(Tactic.CONNECTS, joined))
    if board.is_own_eye(move, board.to_play) and not joined and not _was_needed(board, move):
        facts.append(TacticalFact(Tactic.FILLS_EYE))
    return facts


def _find_cuts(board: Board, played: Board, move: int) -> list[tuple[int, int]]:
    """Pairs of the opponent's stones beside a move that it keeps apart for good, as far as one move can say.

    They could have connected there. Now no liberty that they share, nor one shared with chains between them, is left,
    and the stone that cuts is neither taken nor caught in a ladder.
    """
    beside = [point for point in _beside(move, board.size) if played[point] == -board.to_play]
    firsts = {min(played.chain(point)): point for point in reversed(beside)}
    if len(firsts) < 2 or played.liberty_count(move) < 2:
        return []
    stones = sorted(firsts.values())
    pairs = [(a, b) for a in stones for b in stones if a < b and b not in _reachable(played, a)]
    return pairs if pairs and read_ladder(played, move).captured is False else []


def _reachable(board: Board, point: int) -> set[int]:
    """The stones of a chain and of all chains that share a liberty with it, and so on."""
    found: set[int] = set()
    new = [point]
    while new:
        chain = board.chain(new.pop())
        found |= set(chain)
        near = (beside for liberty in board.liberties(chain[0]) for beside in _beside(liberty, board.size))
        new += [stone for stone in near if board[stone] == board[point] and stone not in found]
    return found


def _joined(board: Board, played: Board, move: int) -> tuple[int, ...]:
    """A stone of each of our chains that met here and nowhere else, if the opponent could have cut here."""
    chains = {min(board.chain(point)): point for point in _beside(move, board.size) if board[point] == board.to_play}
    if len(chains) < 2:
        return ()
    shared = [point for first in chains for point in board.liberties(first)]
    if len(set(shared) - {move}) < len([point for point in shared if point != move]):
        return ()
    if not board.is_legal(move, -board.to_play):
        return ()
    cut = board.copy()
    cut.play(move, -board.to_play)
    return tuple(sorted(chains.values())) if cut.liberty_count(move) > 1 and played[move] else ()


def _was_needed(board: Board, move: int) -> bool:
    """Whether a chain around an eye was in atari."""
    return any(board.liberty_count(point) == 1 for point in _beside(move, board.size))


def _beside(point: int, size: int) -> list[int]:
    row, column = divmod(point, size)
    near = ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
    return [r * size + c for r, c in near if 0 <= r < size and 0 <= c < size]


# Shapes that players have names for, found around a move by small diagrams.


class ShapeName(Enum):
    """What a shape is called."""

    EMPTY_TRIANGLE = "empty triangle"
    DUMPLING = "dumpling"
    PONNUKI = "ponnuki"
    TORTOISE_SHELL = "tortoise shell"
    TIGERS_MOUTH = "tiger's mouth"
    BAMBOO_JOINT = "bamboo joint"
    TABLE_SHAPE = "table shape"
    HEAD_OF_THREE = "hane at the head of three"
    HEAD_OF_TWO = "hane at the head of two"
    DOUBLE_HANE = "double hane"
    HANE = "hane"
    CROSSCUT = "crosscut"
    CUT = "cut"
    SOLID_CONNECTION = "solid connection"
    WEDGE = "wedge"
    PEEK = "peek"
    MONKEY_JUMP = "monkey jump"
    SHOULDER_HIT = "shoulder hit"
    CAP = "cap"
    ATTACHMENT = "attachment"
    STRETCH = "stretch"
    DIAGONAL_MOVE = "diagonal move"
    ONE_SPACE_JUMP = "one-space jump"
    KNIGHTS_MOVE = "knight's move"
    TWO_SPACE_JUMP = "two-space jump"
    LARGE_KNIGHTS_MOVE = "large knight's move"


class NamedShape(NamedTuple):
    """A shape that a move made, and the stones that it consists of."""

    name: ShapeName
    stones: tuple[int, ...]


# In a diagram, for the player who moved:
#   *  a stone of theirs that may be the move     X  one that was there before
#   O  a stone of the opponent's                  A, B  two of different chains
#   P, Q  two of theirs of chains that the move joined
#   L  the opponent's last move                   M  their own before
#   .  an empty point, before too                 x  one where the move took a stone
#   #  off the board                              +  on the board
# These may be off the board, too:   ,  not theirs    ;  not the opponent's    :  no stone    ?  anything
_DIAGRAMS: Final[Mapping[ShapeName, tuple[str, ...]]] = {
    ShapeName.EMPTY_TRIANGLE: ("**? *., ?,?",),
    ShapeName.DUMPLING: ("*** ***",),
    ShapeName.PONNUKI: (",*, *x* ,*,",),
    ShapeName.TORTOISE_SHELL: (",**, *xx* ,**,",),
    ShapeName.TIGERS_MOUTH: (",*? *.* ?.?",),
    ShapeName.BAMBOO_JOINT: ("** .. **",),
    ShapeName.TABLE_SHAPE: ("**, .., *.*",),
    ShapeName.HEAD_OF_THREE: ("????,? ;OOO*, ?XXX.?",),
    ShapeName.HEAD_OF_TWO: ("???,? ;OO*, ?XX.?",),
    ShapeName.DOUBLE_HANE: ("??,? ?.*, ?ML? XO??",),
    ShapeName.HANE: ("?,? O*, X.?",),
    ShapeName.CUT: ("A* XB",),
    ShapeName.SOLID_CONNECTION: ("P* OQ",),
    ShapeName.WEDGE: ("?.? A*B ?.?",),
    ShapeName.PEEK: ("?*? A.B ?;?",),
    ShapeName.MONKEY_JUMP: ("?O??? X..,? ?..*, #####", "??O?? X..,? ?..*, #####"),
    ShapeName.SHOULDER_HIT: ("?::: ?.*: ,O.: ?,?? ?+?? ####", "?::: ?.*: ,O.: ?,?? ???? ?+?? ####"),
    ShapeName.CAP: ("?:*:? ?:.:? ?:O:? ????? ??+?? #####", "?:*:? ?:.:? ?:O:? ????? ????? ??+?? #####"),
    ShapeName.ATTACHMENT: (",:, O*: ,:,",),
    ShapeName.STRETCH: ("?:? X*: O:?",),
    ShapeName.ONE_SPACE_JUMP: ("?;,? X.*, ?;,?",),
    ShapeName.TWO_SPACE_JUMP: ("?;;,? X..*, ?;;,?",),
    ShapeName.KNIGHTS_MOVE: ("X.,? ..*, ??,?",),
    ShapeName.LARGE_KNIGHTS_MOVE: ("X..,? ?..*, ???,?",),
    ShapeName.DIAGONAL_MOVE: ("X.? .*, ?,?",),
}
# What a name makes needless to say: that a hane at the head of two is a hane, or that a cut is made by a hane.
_IMPLIED: Final[Mapping[ShapeName, frozenset[ShapeName]]] = {
    ShapeName.HEAD_OF_THREE: frozenset({ShapeName.HANE}),
    ShapeName.HEAD_OF_TWO: frozenset({ShapeName.HANE}),
    ShapeName.DOUBLE_HANE: frozenset({ShapeName.HANE}),
    ShapeName.CROSSCUT: frozenset({ShapeName.HANE, ShapeName.CUT}),
    ShapeName.CUT: frozenset({ShapeName.HANE}),
    ShapeName.TORTOISE_SHELL: frozenset({ShapeName.PONNUKI}),
    ShapeName.DUMPLING: frozenset({ShapeName.EMPTY_TRIANGLE}),
}
_WAYS_TO_MOVE: Final = (  # the nearest is said of a move that nothing else is said of
    ShapeName.STRETCH,
    ShapeName.DIAGONAL_MOVE,
    ShapeName.ONE_SPACE_JUMP,
    ShapeName.KNIGHTS_MOVE,
    ShapeName.TWO_SPACE_JUMP,
    ShapeName.LARGE_KNIGHTS_MOVE,
)
_SMALLEST_WITH_SIDES: Final = 9  # on a smaller board the fourth line belongs to no side
_MARGIN: Final = 7  # of a board's frame, wider than any diagram
_OFF: Final = 9

Cells = tuple[tuple[int, int, str], ...]  # rows and columns from the move, and what is there


def find_shapes(board: Board, move: int) -> list[NamedShape]:
    """The named shapes that a move makes, each once; raises IllegalMove if simple ko or suicide forbids the move."""
    played = after(board, move)
    if move == PASS:
        return []
    view = _View(board, played, move)
    found: dict[ShapeName, tuple[int, ...]] = {}
    for name, cells in _all_cells():
        if name in (ShapeName.SHOULDER_HIT, ShapeName.CAP) and board.size < _SMALLEST_WITH_SIDES:
            continue
        if name not in found and view.has(cells):
            found[name] = view.stones(cells)
    if played.liberty_count(move) == 1:  # it is taken: nothing was cut
        found.pop(ShapeName.CUT, None)
    if played.ko_point is not None:  # the same stones, but it will be taken back
        found.pop(ShapeName.PONNUKI, None)
    if ShapeName.CUT in found and all(len(played.chain(stone)) == 1 for stone in found[ShapeName.CUT]):
        found[ShapeName.CROSSCUT] = found[ShapeName.CUT]
    needless = {implied for name in found for implied in _IMPLIED.get(name, ())}
    names = [name for name in ShapeName if name in found and name not in needless]
    named = [name for name in names if name not in _WAYS_TO_MOVE] or names[:1]
    return [NamedShape(name, found[name]) for name in named]


class _View:
    """A board before and after a move as its player sees it: own stones are 1, the opponent's −1."""

    def __init__(self, board: Board, played: Board, move: int) -> None:
        self._boards = (board, played)
        self._last = board.recent_points[:2]
        self._size = board.size
        self._row, self._column = divmod(move, board.size)
        self._before, self._now = (self._frame(each, board.to_play) for each in (board, played))

    def _frame(self, board: Board, color: int) -> list[list[int]]:
        stones = board.stones.reshape(self._size, self._size) * color
        rows: list[list[int]] = np.pad(stones, _MARGIN, constant_values=_OFF).tolist()
        return rows

    def has(self, cells: Cells) -> bool:
        """Whether all points are what a diagram says, and its chains apart."""
        marked: dict[str, int] = {}
        for down, right, symbol in cells:
            row, column = self._row + down + _MARGIN, self._column + right + _MARGIN
            if self._now[row][column] not in _NOW[symbol]:
                return False
            if symbol in _BEFORE and self._before[row][column] not in _BEFORE[symbol]:
                return False
            if symbol in "ABPQLM":
                marked[symbol] = (self._row + down) * self._size + self._column + right
        if any(marked.get(symbol, move) != move for symbol, move in zip("LM", self._last, strict=True)):
            return False
        return self._apart(marked, "AB", 1) and self._apart(marked, "PQ", 0)

    def _apart(self, marked: Mapping[str, int], pair: str, when: int) -> bool:
        """Whether two stones, if a diagram marks them, belong to different chains before (0) or after (1) the move."""
        first, second = (marked.get(symbol) for symbol in pair)
        return first is None or second is None or second not in self._boards[when].chain(first)

    def stones(self, cells: Cells) -> tuple[int, ...]:
        """The stones of a diagram, on the board."""
        points = (
            (self._row + down) * self._size + self._column + right for down, right, mark in cells if mark in _STONES
        )
        return tuple(sorted(points))


_STONES: Final = "*XOABPQLM"
_OWN, _OTHER = frozenset({1}), frozenset({-1})
_NONE, _NO_STONE = frozenset({EMPTY}), frozenset({EMPTY, _OFF})
# What may stand on a point of a diagram after the move; and before, where that matters
_NOW: Final[Mapping[str, frozenset[int]]] = {
    **dict.fromkeys("*XPQM", _OWN),
    **dict.fromkeys("OABL", _OTHER),
    **dict.fromkeys(".x", _NONE),
    ",": _NO_STONE | _OTHER,
    ";": _NO_STONE | _OWN,
    ":": _NO_STONE,
    "#": frozenset({_OFF}),
    "+": frozenset({1, -1, EMPTY}),
}
_BEFORE: Final[Mapping[str, frozenset[int]]] = {**dict.fromkeys("XPQM", _OWN), ".": _NONE, "x": _OTHER}


@cache
def _all_cells() -> tuple[tuple[ShapeName, Cells], ...]:
    """Every diagram in all of its symmetries, with each stone that may be the move in the middle."""
    return tuple((name, cells) for name, diagrams in _DIAGRAMS.items() for each in diagrams for cells in _turn(each))


def _turn(diagram: str) -> Iterator[Cells]:
    rows = diagram.split()
    cells = [(row, column, mark) for row, line in enumerate(rows) for column, mark in enumerate(line) if mark != "?"]
    seen: set[frozenset[tuple[int, int, str]]] = set()
    for first_row, first_column, mark in cells:
        if mark != "*":
            continue
        for turn in _SYMMETRIES:
            turned = [(*turn(row - first_row, column - first_column), mark) for row, column, mark in cells]
            if frozenset(turned) not in seen:
                seen.add(frozenset(turned))
                yield tuple(sorted(turned, key=lambda cell: (abs(cell[0]) + abs(cell[1]), cell)))  # what is near first


_SYMMETRIES: Final[tuple[Callable[[int, int], tuple[int, int]], ...]] = (
    lambda row, column: (row, column),
    lambda row, column: (row, -column),
    lambda row, column: (-row, column),
    lambda row, column: (-row, -column),
    lambda row, column: (column, row),
    lambda row, column: (column, -row),
    lambda row, column: (-column, row),
    lambda row, column: (-column, -row),
)
