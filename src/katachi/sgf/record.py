"""A record: the tree of one game, what its root says, and the game that it tells.

>>> from katachi.sgf import parse_sgf
>>> record = parse_sgf("(;GM[1]SZ[9]KM[6,5]PB[Sen'ei]RE[B+R];B[ee];W[tt])")[0]
>>> record.size, record.black, str(record.result), record.komi
(9, "Sen'ei", 'B+R', 6.5)
>>> str(record.repairs[0])
"root: komi '6,5' taken for 6.5"
>>> len(record.replay().moves)
2

Ranks as numbers: grades, in which every rank has its place, and the nine dan ranks that networks are given.

>>> grade_of("3k"), grade_of("1k"), grade_of("1d"), grade_of("2p"), grade_of(None)
(-2, 0, 1, 11, -128)
>>> dans(np.array([-2, 6, 11, UNKNOWN], dtype=np.int8)).tolist()
[1, 6, 9, 0]
>>> rank_codes(np.array([-2, 6, 11, UNKNOWN], dtype=np.int8), kyu=True).tolist()
[12, 6, 9, 0]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.go.board import Board, IllegalMove
from katachi.go.game import Game
from katachi.go.kernels import board as kernels
from katachi.go.kernels.board import NEIGHBORS, OFF
from katachi.go.points import BLACK, EMPTY, MAX_SIZE, WHITE, GameResult, fixed_handicap_points, max_fixed_handicap
from katachi.go.rules import DEFAULT_KOMI, KoRule, Rules, RulesError, parse_rules
from katachi.sgf.repairs import Repair, RepairKind, RepairLog, Report, SgfError, ignore, shorten
from katachi.sgf.tree import Node, move_table, read_move, read_points

# Ranks as people write them.

UNKNOWN: Final = -128
MOST_DAN: Final = 9
MOST_KYU: Final = 30

_WRITTEN: Final = re.compile(r"([1-9][0-9]?)([kd]?)")
_MOST_GRADE: Final = 127  # grades are kept in a byte


def grade_of(rank: str | None) -> int:
    """The grade of a rank as records have it (``3k``, ``6d``, ``9p``): 1k is 0, 1d is 1, 1p follows 9d."""
    if rank is None:
        return UNKNOWN
    number = int(rank[:-1])
    grade = 1 - number if rank.endswith("k") else number + (MOST_DAN if rank.endswith("p") else 0)
    return min(grade, _MOST_GRADE)


def parse_grade(text: str) -> int:
    """The grade of a rank that somebody wrote: 5 or 5d, 15k; raises ValueError with a sentence if it is none."""
    found = _WRITTEN.fullmatch(text.strip())
    grade = UNKNOWN if found is None else grade_of(found[1] + (found[2] or "d"))
    if not 1 - MOST_KYU <= grade <= MOST_DAN:
        raise ValueError(f"{text!r} is not a rank: say 5d or 15k")
    return grade


def format_grade(grade: int) -> str:
    """The rank of a grade, ``?`` if it is unknown."""
    if grade == UNKNOWN:
        return "?"
    if grade > MOST_DAN:
        return f"{grade - MOST_DAN}p"
    return f"{grade}d" if grade > 0 else f"{1 - grade}k"


def dans(grades: NDArray[np.int8]) -> NDArray[np.int8]:
    """What networks are given: 1 to 9 dan, 0 if unknown. Weaker players count as 1 dan, professionals as 9."""
    return np.where(grades == UNKNOWN, 0, np.clip(grades, 1, MOST_DAN)).astype(np.int8)


def rank_codes(grades: NDArray[np.int8], *, kyu: bool) -> NDArray[np.int8]:
    """The same with ``kyu`` ranks, which follow: 10 is 1k, 39 is 30k or weaker."""
    weak = np.clip(MOST_DAN + 1 - grades.astype(np.int64), 0, MOST_DAN + MOST_KYU)
    return np.where(kyu & (grades <= 0) & (grades != UNKNOWN), weak, dans(grades)).astype(np.int8)


def count_ranks(*, kyu: bool) -> int:
    """How many codes of ranks there are."""
    return 1 + MOST_DAN + kyu * MOST_KYU


def code_of(grade: int) -> int:
    """The code of a grade, among kyu ranks too."""
    return int(rank_codes(np.array([grade], dtype=np.int8), kyu=True)[0])


def grade_of_code(code: int) -> int:
    """The grade of a rank that ``rank_codes`` made a code of."""
    return (code or UNKNOWN) if code <= MOST_DAN else MOST_DAN + 1 - code


# What the root of a record says about the game: size, komi, handicap, rules, ranks and result.
#
# Each reader answers with what can be made of the property, or with "not said"; what was odd goes to ``report``.

DEFAULT_SIZE: Final = 19

_SIZE: Final = re.compile(r"(\d{1,4})(?:\s*[:xX×]\s*(\d{1,4}))?")
_KOMI: Final = re.compile(r"[-+]?\d{1,4}(?:[.,]\d{1,6}|½)?")
_RANK: Final = re.compile(r"(p)?(\d{1,2})\s*-?(k|d|p|级|級|급|段|단)", re.IGNORECASE)  # P5段 is a professional
_RANK_LETTERS: Final = {"级": "k", "級": "k", "급": "k", "段": "d", "단": "d"}

# The Fox server writes komi in hundredths of a point, or of a pair of points.
_KOMI_IN_HUNDREDTHS: Final = {
    "275": 5.5, "325": 6.5, "350": 7.0, "375": 7.5, "550": 5.5, "650": 6.5, "700": 7.0, "750": 7.5,
}  # fmt: skip
RULES_ALIASES: Final = {
    "jp": "japanese",
    "cn": "chinese",
    "kr": "korean",
    "nz": "new-zealand",
    "tt": "tromp-taylor",
    "日本": "japanese",
    "中国": "chinese",
}
# How other programs call the sets; what that leaves open stands in a property of our own.
STANDARD_RULES: Final = {
    "tromp-taylor": "Tromp-Taylor",
    "japanese": "Japanese",
    "aga": "AGA",
    "new-zealand": "NZ",
}
EXACT_RULES: Final = "KRU"


def check_information(root: Node, report: Report) -> None:
    """Report everything that is odd about a root; a size that no board has is left to ``read_size``."""
    try:
        size = read_size(root, report)
    except SgfError:
        size = MAX_SIZE
    read_komi(root, report)
    read_handicap(root, report, most=size * size)


def check_is_go(root: Node) -> None:
    """Raise SgfError for the record of another game."""
    game = root.simple_text("GM")
    if game.isdigit() and game not in ("0", "1"):
        raise SgfError(f"GM[{game[:10]}] is not Go")


def read_size(root: Node, report: Report = ignore) -> int:
    """The board size; raises SgfError for boards that are not square or too large."""
    raw = root.get("SZ")
    if raw is None:
        return DEFAULT_SIZE
    text = root.simple_text("SZ")
    found = _SIZE.match(text)
    if found is None:
        report(RepairKind.INFORMATION, "root", f"size {shorten(text)} taken for {DEFAULT_SIZE}")
        return DEFAULT_SIZE
    width, height = int(found[1]), int(found[2] or found[1])
    if width != height:
        raise SgfError(f"the board is {width}×{height}: katachi plays on square boards only")
    if not 1 <= width <= MAX_SIZE:
        raise SgfError(f"the board is {width}×{width}: katachi plays on boards up to {MAX_SIZE}×{MAX_SIZE}")
    if raw != str(width):
        report(RepairKind.INFORMATION, "root", f"size {shorten(text)} taken for {width}")
    return width


def read_komi(root: Node, report: Report = ignore) -> float | None:
    """The komi, None if the record does not tell."""
    text = root.simple_text("KM")
    if not text:
        return None
    if text in _KOMI_IN_HUNDREDTHS:
        komi = _KOMI_IN_HUNDREDTHS[text]
        report(RepairKind.INFORMATION, "root", f"komi {text} taken for {komi}, in hundredths")
        return komi
    found = _KOMI.match(text)
    komi = float(found[0].replace(",", ".").replace("½", ".5")) if found else 0.0
    if found is None or abs(komi) > MAX_SIZE**2:
        report(RepairKind.INFORMATION, "root", f"komi {shorten(text)} ignored")
        return None
    if "," in found[0] or "½" in found[0] or found[0] != text:
        report(RepairKind.INFORMATION, "root", f"komi {shorten(text)} taken for {komi:g}")
    return komi


def read_handicap(root: Node, report: Report = ignore, most: int = MAX_SIZE**2) -> int:
    """The number of handicap stones that the record tells, 0 if none; ``AB`` may tell otherwise."""
    text = root.simple_text("HA")
    if not text:
        return 0
    handicap = int(text) if re.fullmatch(r"\d{1,3}", text) else -1
    if not 0 <= handicap < most:
        report(RepairKind.INFORMATION, "root", f"handicap {shorten(text)} ignored")
        return 0
    stones = len(root.properties.get("AB", ()))
    if handicap >= 2 and stones and stones != handicap and not any(":" in value for value in root.properties["AB"]):
        report(RepairKind.HANDICAP, "root", f"handicap {handicap}, but {stones} stones are set up; the stones count")
    return handicap


def read_rules(root: Node, report: Report = ignore) -> Rules:
    """The rules with the komi; what the record does not tell is as usual, but with simple ko, which forbids least."""
    komi = read_komi(root)
    text = root.simple_text(EXACT_RULES) or root.simple_text("RU")
    rules = replace(Rules(), ko=KoRule.SIMPLE)
    if text:
        try:
            rules = parse_rules(RULES_ALIASES.get(text.lower(), text))
        except RulesError:
            report(RepairKind.INFORMATION, "root", f"rules {shorten(text)} unknown, taken for area scoring, simple ko")
    return rules.with_komi(DEFAULT_KOMI if komi is None and not text else rules.komi if komi is None else komi)


def read_result(root: Node) -> GameResult | None:
    """The result, None if the record tells none."""
    try:
        return GameResult.parse(root.simple_text("RE"))
    except ValueError:
        return None


def read_rank(root: Node, name: str) -> str | None:
    """The rank in ``BR`` or ``WR`` as ``3k``, ``6d`` or ``9p``, None if it is missing or not understood."""
    found = _RANK.match(root.simple_text(name))
    if not found:
        return None
    letter = (found[1] or found[3]).lower()
    return f"{int(found[2])}{_RANK_LETTERS.get(letter, letter)}"


# What stones stand after a move that the rules forbid, and which set-up stones cannot stand at all.
#
# Slow and obvious: only records that are wrong come here.

Stones = NDArray[np.int8]


def neighbors(point: int, size: int) -> list[int]:
    """The points beside a point."""
    return [int(near) for near in NEIGHBORS[size, point] if near != OFF]


def dead_chain(stones: Stones, point: int, size: int) -> set[int]:
    """The chain at a point if it has no liberty, else nothing."""
    color = stones[point]
    chain, waiting = {point}, [point]
    while waiting:
        for near in neighbors(waiting.pop(), size):
            if stones[near] == EMPTY:
                return set()
            if stones[near] == color and near not in chain:
                chain.add(near)
                waiting.append(near)
    return chain


def after_any_move(stones: Stones, move: int, color: int, size: int) -> Stones:
    """The stones after a move as SGF executes it: put the stone, take the opponent's dead chains, then one's own."""
    after = stones.copy()
    after[move] = color
    for near in neighbors(move, size):
        if after[near] == -color:
            after[list(dead_chain(after, near, size))] = EMPTY
    after[list(dead_chain(after, move, size))] = EMPTY
    return after


def dead_points(stones: Stones, size: int) -> list[int]:
    """The points of all chains without liberties."""
    dead: set[int] = set()
    seen: set[int] = set()
    for point in np.flatnonzero(stones).tolist():
        if point not in seen:
            chain = dead_chain(stones, point, size)
            seen |= chain
            dead |= chain
    return sorted(dead)


# From a path of nodes to the game that it tells: set-up stones anywhere, illegal moves kept and reported.
#
# SGF wants a move executed whether or not it is legal. So a move that the rules forbid (on a stone, against ko,
# suicide) becomes a set-up of the position that it leads to, and the turn passes; the record is never cut short.

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
        self.moves = 0  # in the record so far, readable or not
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


# The record itself.


@dataclass(slots=True)
class SgfGame:
    """One game of a collection: its tree, and every repair that reading and replaying it has needed so far."""

    root: Node = field(default_factory=Node)
    repairs: list[Repair] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The board size, 19 if the record does not tell; raises SgfError for a board that katachi has not."""
        return read_size(self.root)

    @property
    def komi(self) -> float | None:
        return read_komi(self.root)

    @property
    def handicap(self) -> int:
        """The number of handicap stones, 0 if the record tells none."""
        return read_handicap(self.root)

    @property
    def rules(self) -> Rules:
        """The rules with the komi, or what is usual (with simple ko) where the record does not tell."""
        return read_rules(self.root)

    @property
    def result(self) -> GameResult | None:
        return read_result(self.root)

    @property
    def black(self) -> str:
        """The name of Black, empty if the record does not tell."""
        return self.root.simple_text("PB")

    @property
    def white(self) -> str:
        """The name of White, empty if the record does not tell."""
        return self.root.simple_text("PW")

    @property
    def black_rank(self) -> str | None:
        """Black's rank as ``3k``, ``6d`` or ``9p``."""
        return read_rank(self.root, "BR")

    @property
    def white_rank(self) -> str | None:
        """White's rank as ``3k``, ``6d`` or ``9p``."""
        return read_rank(self.root, "WR")

    def main_line(self) -> Iterator[Node]:
        """The nodes of the game as it was played, the root first."""
        return self.root.main_line()

    def replay(self, until: Node | None = None, *, before_move: int | None = None, rules: Rules | None = None) -> Game:
        """The game along the main line, or along the way to a node, which is included.

        ``before_move=1`` stops before the first move, with the stones that are set up there. ``rules`` replace those
        of the record. Illegal moves are kept as set-ups and join ``repairs``. Raises SgfError if it cannot be played.
        """
        log = RepairLog()
        nodes = list(self.main_line()) if until is None else until.path()
        game = replay(nodes, before_move=before_move, rules=rules, report=log)
        self._note(log)
        return game

    def positions(self) -> Iterator[tuple[Node, Game]]:
        """Every node of the main line with the game after it: one game, played on; copy it to keep it."""
        log = RepairLog()
        nodes = list(self.main_line())
        replaying = _Replay(nodes, None, log)
        for node in nodes:
            replaying.follow(node)
            yield node, replaying.game
        self._note(log)

    def replay_to_end(self) -> Ending:
        """The board at the end of the main line, faster than by ``replay`` and without a history."""
        log = RepairLog()
        ending = replay_to_end(list(self.main_line()), log)
        self._note(log)
        return ending

    def _repr_svg_(self) -> str | None:
        """The end of the main line, for notebooks; None if it cannot be played."""
        try:
            return self.replay()._repr_svg_()
        except SgfError:
            return None

    def _note(self, log: RepairLog) -> None:
        """Add what is new: the same record may be replayed more than once."""
        if found := log.repairs:
            known = set(self.repairs)
            self.repairs.extend(repair for repair in found if repair not in known)
