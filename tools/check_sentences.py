"""Check every sentence of an analysis against the stones, slowly and by other means than those that wrote it.

``katachi analyze`` writes comments into records. Each of their lines is read here as English, the game is replayed by a
board of this file alone (flood fill, lists, no kernel), ladders are read by brute force, shapes are looked for by their
definitions, territory is summed anew from the ownership in ``analysis.jsonl``, and what players of a rank play is asked
of the network again. A sentence that cannot be read counts as false.

    python tools/check_sentences.py analysis/ more-analyses/
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

LETTERS: Final = "ABCDEFGHJKLMNOPQRST"
WORDS: Final = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
MINE, THEIRS, NONE, OFF = "m", "o", ".", "#"
Point = tuple[int, int]  # row from the top, column


# The board


class Position(NamedTuple):
    """Stones by point, whose turn it is, and the point that simple ko forbids."""

    size: int
    stones: dict[Point, str]
    to_play: str
    ko: Point | None = None

    def near(self, point: Point) -> list[Point]:
        row, column = point
        around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        return [(r, c) for r, c in around if 0 <= r < self.size and 0 <= c < self.size]

    def chain(self, point: Point) -> set[Point]:
        color, found, new = self.stones[point], {point}, [point]
        while new:
            for other in self.near(new.pop()):
                if other not in found and self.stones.get(other) == color:
                    found.add(other)
                    new.append(other)
        return found

    def liberties(self, point: Point) -> set[Point]:
        return {each for stone in self.chain(point) for each in self.near(stone) if each not in self.stones}

    def play(self, move: Point | None) -> Position | None:
        """The position after a move of the player to move; None if it is illegal."""
        other = "white" if self.to_play == "black" else "black"
        if move is None:
            return Position(self.size, self.stones, other)
        if move in self.stones or move == self.ko:
            return None
        stones = dict(self.stones)
        stones[move] = self.to_play
        after = Position(self.size, stones, other)
        taken: set[Point] = set()
        for point in self.near(move):
            if stones.get(point) == other and not after.liberties(point):
                taken |= after.chain(point)
        for point in taken:
            del stones[point]
        if not after.liberties(move):
            return None
        is_ko = len(taken) == 1 and after.chain(move) == {move} and after.liberties(move) == taken
        return after._replace(ko=next(iter(taken)) if is_ko else None)

    def turned(self) -> Position:
        return Position(self.size, self.stones, "white" if self.to_play == "black" else "black")


class Undecided(Exception):
    """A ladder that takes too long to read."""


def is_caught(position: Position, stone: Point, budget: list[int]) -> bool:
    """Whether a chain cannot get away: whoever is to move moves, the attacker by ataris alone."""
    budget[0] -= 1
    if budget[0] < 0:
        raise Undecided
    liberties = position.liberties(stone)
    if position.stones[stone] == position.to_play:
        if len(liberties) > 1:
            return False
        attackers = {p for own in position.chain(stone) for p in position.near(own) if p in position.stones}
        attackers = {p for p in attackers if position.stones[p] != position.to_play}
        helps = [point for p in attackers for point in position.liberties(p) if len(position.liberties(p)) == 1]
        return all(_stays_caught(position.play(move), stone, budget) for move in {*liberties, *helps})
    if len(liberties) != 2:
        return len(liberties) == 1 and position.play(next(iter(liberties))) is not None
    return any(
        (after := position.play(move)) is not None and is_caught(after, stone, budget) for move in sorted(liberties)
    )


def _stays_caught(after: Position | None, stone: Point, budget: list[int]) -> bool:
    return after is None or (len(after.liberties(stone)) < 3 and is_caught(after, stone, budget))


def caught(position: Position, stone: Point) -> bool:
    return is_caught(position, stone, [3_000])


# A move, and what is claimed of it


class Move(NamedTuple):
    """A move with the positions before and after it, and the two moves before."""

    before: Position
    after: Position
    point: Point
    last: Point | None = None
    own_last: Point | None = None

    @property
    def mine(self) -> str:
        return self.before.to_play

    @property
    def taken(self) -> set[Point]:
        return {point for point in self.before.stones if point not in self.after.stones}

    def in_atari(self, when: Position, mine: bool) -> list[frozenset[Point]]:
        found = {frozenset(when.chain(p)) for p, color in when.stones.items() if (color == self.mine) == mine}
        return [chain for chain in found if len(when.liberties(next(iter(chain)))) == 1]

    def new_ataris(self) -> list[frozenset[Point]]:
        old = self.in_atari(self.before, mine=False)
        return [chain for chain in self.in_atari(self.after, mine=False) if chain not in old]


def is_one_of(chains: list[frozenset[Point]], stones: Stones) -> bool:
    return any(stones.is_all_of(chain) for chain in chains)


class Stones(NamedTuple):
    """Stones as a sentence names them: all of them, or their number and one."""

    points: frozenset[Point]
    number: int

    def is_all_of(self, chain: Any) -> bool:
        return len(chain) == self.number and self.points <= set(chain)


def is_ko(move: Move, stones: Stones, _: Stones | None) -> bool:
    return stones.is_all_of(move.taken) and move.after.ko in stones.points


def captures(move: Move, stones: Stones, _: Stones | None) -> bool:
    return stones.is_all_of(move.taken)


def double_atari(move: Move, stones: Stones, others: Stones | None) -> bool:
    chains = move.new_ataris()
    rest = [chain for chain in chains if not stones.is_all_of(chain)] or chains[1:]
    return (
        len(chains) > 1
        and is_one_of(chains, stones)
        and others is not None
        and (
            others.is_all_of({p for chain in rest for p in chain})
            or any(others.is_all_of({p for c in chains if c != one for p in c}) for one in chains)
        )
    )


def atari(move: Move, stones: Stones, _: Stones | None) -> bool:
    return is_one_of(move.new_ataris(), stones)


def is_lost(move: Move, stones: Stones) -> bool:
    return any(stones.is_all_of(chain) and caught(move.after, next(iter(chain))) for chain in move.new_ataris())


def run_of(move: Move, stones: Stones) -> Position | None:
    """The position after the chain in atari has extended."""
    (last,) = move.after.liberties(next(iter(stones.points)))
    return move.after.play(last)


def ladder(move: Move, stones: Stones, _: Stones | None) -> bool:
    ran = run_of(move, stones)
    return is_lost(move, stones) and ran is not None and len(ran.liberties(next(iter(stones.points)))) == 2


def no_way_out(move: Move, stones: Stones, _: Stones | None) -> bool:
    return is_lost(move, stones)


def snapback(move: Move, stones: Stones, _: Stones | None) -> bool:
    taken = move.after.play(next(iter(move.after.liberties(move.point))))
    thrown_in = move.after.chain(move.point) == {move.point} and len(move.after.liberties(move.point)) == 1
    retaken = taken is not None and move.point not in taken.stones
    return thrown_in and is_lost(move, stones) and retaken and len(taken.liberties(next(iter(stones.points)))) == 1


def was_in_atari(move: Move, stones: Stones) -> bool:
    return is_one_of(move.in_atari(move.before, mine=True), stones)


def saves(move: Move, stones: Stones, _: Stones | None) -> bool:
    stone = next(iter(stones.points))
    return was_in_atari(move, stones) and len(move.after.liberties(stone)) > 1 and not caught(move.after, stone)


def runs_out(move: Move, stones: Stones, _: Stones | None) -> bool:
    return saves(move, stones, None) and move.point in move.after.chain(next(iter(stones.points)))


def in_vain(move: Move, stones: Stones, _: Stones | None) -> bool:
    return was_in_atari(move, stones) and caught(move.after, next(iter(stones.points)))


def runs_in_vain(move: Move, stones: Stones, _: Stones | None) -> bool:
    return in_vain(move, stones, None) and move.point in move.after.chain(next(iter(stones.points)))


def leaves(move: Move, stones: Stones, _: Stones | None) -> bool:
    return was_in_atari(move, stones) and is_one_of(move.in_atari(move.after, mine=True), stones)


def self_atari(move: Move, stones: Stones | None, _: Stones | None) -> bool:
    chain = move.after.chain(move.point)
    return len(move.after.liberties(move.point)) == 1 and (stones or Stones(frozenset({move.point}), 1)).is_all_of(
        chain
    )


def cuts(move: Move, stones: Stones, others: Stones | None) -> bool:
    """They met at the move, are of different chains, and no chain of liberties in common joins them any more."""
    assert others is not None
    (a,), (b,) = stones.points, others.points
    after = move.after
    if (
        not {a, b} <= set(after.near(move.point))
        or after.stones.get(a) == move.mine
        or after.stones.get(b) == move.mine
    ):
        return False
    group, grown = after.chain(a), True
    while grown:
        edge = {each for stone in group for each in after.near(stone) if each not in after.stones}
        more = {s for each in edge for s in after.near(each) if after.stones.get(s) == after.stones[a]} - group
        group |= {stone for s in more for stone in after.chain(s)}
        grown = bool(more)
    return b not in group and len(after.liberties(move.point)) > 1 and not caught(after, move.point)


def connects(move: Move, stones: Stones, _: Stones | None) -> bool:
    points = list(stones.points)
    if any(move.before.stones.get(point) != move.mine for point in points):
        return False
    apart = all(b not in move.before.chain(a) for a in points for b in points if a != b)
    cut = move.before.turned().play(move.point)
    return apart and all(p in move.after.chain(move.point) for p in points) and cut is not None


def fills_eye(move: Move, _: Stones | None, __: Stones | None) -> bool:
    (row, column), size = move.point, move.before.size
    diagonals = [(row + a, column + b) for a in (-1, 1) for b in (-1, 1)]
    inside = [(r, c) for r, c in diagonals if 0 <= r < size and 0 <= c < size]
    bad = sum(move.before.stones.get(p, move.mine) != move.mine for p in inside)
    own = all(move.before.stones.get(p) == move.mine for p in move.before.near(move.point))
    return own and bad <= (1 if len(inside) == 4 else 0)


STONES: Final = r"(?:[A-T]\d+(?:, [A-T]\d+)*(?: and [A-T]\d+)?|\w+ stones at [A-T]\d+)"
Check = Callable[..., bool]
TACTICS: Final[dict[str, Check]] = {
    "takes the ko at {s}": is_ko,
    "captures {s}": captures,
    "gives double atari to {s} and {o}": double_atari,
    "catches {s} in a snapback": snapback,
    "catches {s} in a ladder": ladder,
    "leaves {s} no way out": no_way_out,
    "puts {s} in atari": atari,
    "saves {s} from atari": saves,
    "runs with {s}, and no ladder works": runs_out,
    "runs in vain with {s}": runs_in_vain,
    "tries in vain to save {s}": in_vain,
    "leaves {s} in atari": leaves,
    "puts itself in atari with {s}": self_atari,
    "puts itself in atari": self_atari,
    "cuts {s} from {o}": cuts,
    "connects {s}": connects,
    "fills an eye of its own": fills_eye,
}


# Shapes, by their definitions: what stands so many rows and columns from the move, in one of eight views


class View:
    """A board around a move, turned or mirrored."""

    def __init__(self, move: Move, turn: int) -> None:
        self.move, self._turn = move, turn

    def point(self, row: int, column: int) -> Point:
        if self._turn & 1:
            row, column = column, row
        row, column = (-row if self._turn & 2 else row), (-column if self._turn & 4 else column)
        return self.move.point[0] + row, self.move.point[1] + column

    def now(self, row: int, column: int) -> str:
        return self._what(self.move.after, row, column)

    def was(self, row: int, column: int) -> str:
        return self._what(self.move.before, row, column)

    def _what(self, when: Position, row: int, column: int) -> str:
        point = self.point(row, column)
        if not all(0 <= each < when.size for each in point):
            return OFF
        color = when.stones.get(point)
        return NONE if color is None else MINE if color == self.move.mine else THEIRS

    def row(self, at: int, columns: range) -> str:
        return "".join(self.now(at, column) for column in columns)

    def apart(self, a: Point, b: Point, *, before: bool = False) -> bool:
        when = self.move.before if before else self.move.after
        return self.point(*b) not in when.chain(self.point(*a))

    def line_of(self, row: int, column: int) -> int:
        """Which line from the edge below, in this view, a point lies on."""
        return next(line for line in range(1, 30) if self.now(row + line, column) == OFF)


def squares(view: View, height: int, width: int) -> Iterator[str]:
    """The rectangles that hold the move, row by row."""
    for top in range(1 - height, 1):
        for left in range(1 - width, 1):
            yield "".join(view.row(top + row, range(left, left + width)) for row in range(height))


def head_of(view: View, count: int) -> bool:
    """The move stands before the first of so many stones in a line, each with one of ours at its side."""
    line = [view.now(0, -n) for n in range(1, count + 1)] == [THEIRS] * count and view.now(0, -count - 1) != THEIRS
    return line and [view.was(1, -n) for n in range(1, count + 1)] == [MINE] * count and view.now(1, 0) == NONE


def is_hane(view: View) -> bool:
    return view.now(0, -1) == THEIRS and view.was(1, -1) == MINE and view.now(1, 0) == NONE


def is_surrounding(view: View, hole: list[Point]) -> bool:
    """Whether points before the move, where it took stones, are surrounded by ours."""
    if any(view.now(*p) != NONE or view.was(*p) != THEIRS for p in hole):
        return False
    around = {(r + a, c + b) for r, c in hole for a, b in ((0, 1), (0, -1), (1, 0), (-1, 0))} - set(hole)
    return all(view.now(*p) == MINE for p in around)


def is_tiger(view: View) -> bool:
    """A point beside the move with three of our stones at its sides, and the fourth side open."""
    sides = sorted(view.now(*p) for p in ((0, 0), (1, -1), (1, 1), (2, 0)))
    return view.now(1, 0) == NONE and sides == sorted((MINE, MINE, MINE, NONE))


def is_table(view: View) -> bool:
    """A pillar, a one-space jump from one end of it, a knight's move from the other."""
    placed = [(0, 0), (0, 1), (2, 0), (2, 2)]
    for row, column in placed:
        near = [(r - row, c - column) for r, c in placed]
        empty = [(1 - row, 0 - column), (1 - row, 1 - column), (2 - row, 1 - column)]
        if all(view.now(*p) == MINE for p in near) and all(view.now(*p) == NONE for p in empty):
            return True
    return False


def is_bamboo(view: View) -> bool:
    pairs = ((0, 1), (0, -1))
    return any(
        view.now(0, b) == MINE == view.now(2, 0) == view.now(2, b) and view.now(1, 0) == NONE == view.now(1, b)
        for _, b in pairs
    )


def is_double_hane(view: View) -> bool:
    """Their answer to our hane stands beside it, and the move is a hane around that answer."""
    last, own = view.move.last, view.move.own_last
    return (
        (last, own) == (view.point(1, 0), view.point(1, -1)) and view.now(0, -1) == NONE and view.now(2, -1) == THEIRS
    )


def is_peek(view: View) -> bool:
    sides = view.now(1, -1) == THEIRS == view.now(1, 1) and view.now(1, 0) == NONE and view.now(2, 0) != THEIRS
    return sides and view.apart((1, -1), (1, 1))


def is_wedge(view: View) -> bool:
    between = view.now(0, -1) == THEIRS == view.now(0, 1) and view.now(1, 0) == NONE == view.now(-1, 0)
    return between and view.apart((0, -1), (0, 1))


def is_cut(view: View) -> bool:
    corners = view.now(0, -1) == THEIRS == view.now(1, 0) and view.was(1, -1) == MINE
    return corners and view.apart((0, -1), (1, 0)) and len(view.move.after.liberties(view.move.point)) > 1


def is_crosscut(view: View) -> bool:
    four = [view.point(*p) for p in ((0, 0), (0, -1), (1, 0), (1, -1))]
    return is_cut(view) and all(len(view.move.after.chain(p)) == 1 for p in four)


def is_solid(view: View) -> bool:
    joined = view.was(0, -1) == MINE == view.was(1, 0) and view.now(1, -1) == THEIRS
    return joined and view.apart((0, -1), (1, 0), before=True)


def is_monkey_jump(view: View) -> bool:
    edge = view.now(1, 0) == OFF and view.was(-1, -3) == MINE
    way = [view.now(*p) for p in ((-1, -2), (-1, -1), (0, -2), (0, -1))] == [NONE] * 4
    return edge and way and THEIRS in (view.now(-2, -2), view.now(-2, -1))


def is_shoulder_hit(view: View) -> bool:
    corner = view.now(1, -1) == THEIRS and view.now(1, 0) == NONE == view.now(0, -1)
    return corner and view.line_of(1, -1) in (3, 4)


def is_cap(view: View) -> bool:
    return view.now(2, 0) == THEIRS and view.now(1, 0) == NONE and view.line_of(2, 0) in (3, 4)


def is_attachment(view: View) -> bool:
    return view.now(0, -1) == THEIRS and MINE not in (view.now(1, 0), view.now(-1, 0), view.now(0, 1))


def is_stretch(view: View) -> bool:
    return view.was(0, -1) == MINE and view.now(1, -1) == THEIRS and view.now(0, 1) in (NONE, OFF)


def jump(row: int, column: int, *between: Point) -> Callable[[View], bool]:
    """From a stone of ours over empty points."""
    return lambda view: view.was(row, column) == MINE and all(view.now(*p) == NONE for p in between)


SHAPES: Final[dict[str, Callable[[View], bool]]] = {
    "makes an empty triangle": lambda view: any(sorted(s) == sorted("mmm.") for s in squares(view, 2, 2)),
    "makes a dumpling": lambda view: any(s == "m" * 6 for s in squares(view, 2, 3)),
    "makes a ponnuki": lambda view: is_surrounding(view, [(1, 0)]),
    "makes a tortoise shell": lambda view: (
        is_surrounding(view, [(1, 0), (2, 0)]) or is_surrounding(view, [(1, 0), (1, 1)])
    ),
    "makes a tiger's mouth": is_tiger,
    "makes a bamboo joint": is_bamboo,
    "makes a table shape": is_table,
    "is a hane at the head of three": lambda view: head_of(view, 3),
    "is a hane at the head of two": lambda view: head_of(view, 2),
    "is a double hane": is_double_hane,
    "is a hane": is_hane,
    "is a crosscut": is_crosscut,
    "is a cut": is_cut,
    "makes a solid connection": is_solid,
    "is a wedge": is_wedge,
    "is a peek": is_peek,
    "is a monkey jump": is_monkey_jump,
    "is a shoulder hit": is_shoulder_hit,
    "is a cap": is_cap,
    "is an attachment": is_attachment,
    "is a stretch": is_stretch,
    "is a diagonal move": jump(1, -1, (0, -1), (1, 0)),
    "is a one-space jump": jump(0, -2, (0, -1)),
    "is a two-space jump": jump(0, -3, (0, -1), (0, -2)),
    "is a knight's move": jump(-1, -2, (0, -1), (-1, -1)),
    "is a large knight's move": jump(-1, -3, (0, -1), (0, -2), (-1, -1), (-1, -2)),
}


def has_shape(words: str, move: Move) -> bool:
    return any(SHAPES[words](View(move, turn)) for turn in range(8))


# Reading English


def parse_point(text: str, size: int) -> Point:
    return size - int(text[1:]), LETTERS.index(text[0])


def parse_stones(text: str, size: int) -> Stones:
    points = frozenset(parse_point(each, size) for each in re.findall(r"\b[A-T]\d+\b", text))
    number, many, _ = text.partition(" stones at ")
    if many:
        return Stones(points, WORDS.index(number) if number in WORDS else int(number))
    return Stones(points, len(points))


FACTS: Final = [
    (re.compile(re.escape(text).replace(r"\{s\}", f"(?P<s>{STONES})").replace(r"\{o\}", f"(?P<o>{STONES})")), text)
    for text in (*TACTICS, *SHAPES)
]


def read_facts(text: str) -> list[tuple[str, re.Match[str]]] | None:
    """The facts of a list such as ``captures C4, saves D4 and D5 from atari and is a cut``; None if it is not one."""
    if not text:
        return []
    for pattern, name in FACTS:
        for found in _matches(pattern, text):
            rest = text[found.end() :]
            rest = re.sub(r"^(, | and )", "", rest) if re.match(r"(, | and )\w", rest) else rest
            if rest and rest == text[found.end() :]:
                continue
            more = read_facts(rest)
            if more is not None:
                return [(name, found), *more]
    return None


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """What matches at the beginning: the longest, and what is shorter by a stone or more."""
    end = len(text)
    while (found := pattern.match(text, 0, end)) is not None:
        yield found
        cut = max(text.rfind(" and ", 0, found.end()), text.rfind(", ", 0, found.end()))
        if cut <= 0:
            return
        end = cut


class Ledger:
    """How many sentences of each kind there are, and those that are false."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.false: list[str] = []
        self.undecided = 0

    def note(self, kind: str, is_true: bool, where: str) -> None:
        self.kinds[kind] += 1
        if not is_true:
            self.false.append(f"{kind}: {where}")


def check_facts(text: str, move: Move, ledger: Ledger, where: str) -> None:
    facts = read_facts(text)
    if facts is None:
        ledger.note("unreadable", False, f"{where}: {text}")
        return
    for name, found in facts:
        groups = found.groupdict()
        stones, others = (
            parse_stones(groups[key], move.before.size) if groups.get(key) else None for key in ("s", "o")
        )
        try:
            is_true = TACTICS[name](move, stones, others) if name in TACTICS else has_shape(name, move)
        except Undecided:
            ledger.undecided += 1
            is_true = True
        ledger.note(name.format(s="…", o="…"), is_true, f"{where}: {found[0]}")


# Numbers

LEAST: Final = 1.5  # points: less is within the error
LAST_DIGIT: Final = {0: 0.5, 1: 0.05}


def is_rounded(said: str, value: float) -> bool:
    """Whether a number in a text is a value, rounded; records round too, so there is some slack."""
    digits = len(said.partition(".")[2])
    return abs(float(said) - value) <= LAST_DIGIT[digits] + 0.011


def region(name: str, size: int) -> Callable[[Point], bool]:
    """A corner and a side are as wide as a third of the board, rounded up; what is left is the center."""
    third = -(-size // 3)
    tests: dict[str, Callable[[Point], bool]] = {
        "top": lambda p: p[0] < third,
        "upper": lambda p: p[0] < third,
        "bottom": lambda p: p[0] >= size - third,
        "lower": lambda p: p[0] >= size - third,
        "left": lambda p: p[1] < third,
        "right": lambda p: p[1] >= size - third,
        "center": lambda p: all(third <= each < size - third for each in p),
    }
    wanted = [tests[word] for word in name.split() if word in tests]
    return lambda point: all(test(point) for test in wanted)


def check_territory(found: re.Match[str], before: Any, now: Any, size: int) -> bool:
    if before["ownership"] is None or now["ownership"] is None:
        return False
    sign = 1 if found["color"] == "Black" else -1
    change = [sign * (b - a) for a, b in zip(before["ownership"], now["ownership"], strict=True)]
    total, slack = sum(change), 0.5 + 0.006 * size * size  # ownership is written with two digits
    if not found["where"]:
        return abs(total - int(found["count"])) <= slack
    inside = region(found["where"], size)
    there = sum(value for index, value in enumerate(change) if inside(divmod(index, size)))
    rest = 0.0 if found["rest"] is None else float(found["rest"]) * (-1 if found["loses"] else 1)
    is_rest = abs(total - there - rest) <= slack if rest else abs(total - there) <= LEAST + slack
    return abs(there - int(found["count"])) <= slack and is_rest


class Shares:
    """What players of a rank play, asked of the network again, for a whole game at once."""

    def __init__(self) -> None:
        self._models: dict[tuple[str, int], Any] = {}

    def of_game(self, sgf: Any, model: str, rank: str) -> list[Any]:
        from katachi.core.models import find_model, load_model

        grade = int(rank[:-1]) if rank.endswith("d") else 1 - int(rank[:-1])
        if (model, grade) not in self._models:
            self._models[model, grade] = load_model(find_model(model)).at_rank(grade)
        boards = [game.board.copy() for _, game in sgf.positions()]
        return list(self._models[model, grade].evaluate(boards).policy)


PEOPLE: Final = re.compile(
    r"Most (?P<often>often )?(?P<rank>\d+[dk]) players play (?P<moves>.+); (?P<played>this move .+)\."
)
TERRITORY: Final = re.compile(
    r"(?P<color>Black|White) gains about (?P<count>\d+) points(?: (?P<where>(?:in|at|on) the [a-z]+(?: left| right)?))?"
    r"(?: and (?P<loses>loses )?(?P<rest>\d+) elsewhere)?\."
)
LOSS: Final = re.compile(
    r"(?P<color>\w+) (?P<move>[A-T]\d+|pass) lost (?:(?P<loss>[\d.]+) %)?(?: and )?(?:(?P<points>[\d.]+) points)?"
    r"(?:; (?P<best>[A-T]\d+|pass) was better(?:: it (?P<facts>.+))?)?\."
)
VALUE: Final = re.compile(
    r"Black wins (?P<wins>[\d.]+) %"
    r"(?:, (?:(?P<leader>\w+) leads by (?P<lead>[\d.]+)|(?P<unclear>who leads is unclear)))?\."
)
ANSWER: Final = re.compile(r"(?P<color>\w+) answers at (?P<move>[A-T]\d+|pass): it (?P<facts>.+)\.")
TO_PLAY: Final = re.compile(r"(?P<color>\w+) to play: (?P<moves>.+)\.")
MOVED: Final = re.compile(r"(?P<color>Black|White) (?P<move>[A-T]\d+) (?P<facts>.+)\.")


class Game:
    """A game of an analysis: its positions replayed, its lines of JSON, and the sentences about each."""

    def __init__(self, head: Any, lines: list[Any], sgf: Any) -> None:
        self.head, self.lines, self.sgf = head, lines, sgf
        self.size: int = head["size"]
        self.moves = [self._move(number) for number in range(len(lines))]

    def _move(self, number: int) -> Any:
        return self.lines[number]["move"]

    def replay(self) -> Iterator[tuple[Any, Any, Position, Move | None]]:
        """Each line with the one before, the position, and the move that led there."""
        position = Position(self.size, {}, self.lines[0]["to_play"])
        last: list[Point | None] = [None, None]
        for number, line in enumerate(self.lines):
            move = None
            if number:
                made = line["move"]
                point = None if made["move"] == "pass" else parse_point(made["move"], self.size)
                position = position._replace(to_play=made["color"], ko=position.ko)
                after = position.play(point)
                assert after is not None, f"{self.head['game']}: {made['number']} is illegal"
                if point is not None:
                    move = Move(position, after, point, last[-1], last[-2])
                position = after
                last.append(point)
            yield (self.lines[number - 1] if number else None), line, position, move


def check_line(text: str, game: Game, turn: Any, ledger: Ledger, where: str, shares: Shares) -> None:
    """One sentence of a comment."""
    before, line, position, move = turn
    where = f"{where}: {text}"
    made = line["move"]
    if found := VALUE.fullmatch(text):
        lead = line["black_lead"]
        is_lead = lead is None or (
            abs(lead) < LEAST
            if found["unclear"]
            else is_rounded(found["lead"], abs(lead)) and (lead > 0) == (found["leader"] == "Black")
        )
        ledger.note("who wins, who leads", is_rounded(found["wins"], 100 * line["black_wins"]) and is_lead, where)
    elif found := PEOPLE.fullmatch(text):
        ledger.note("what players of a rank play", check_people(found, game, before, made, shares), where)
    elif found := TERRITORY.fullmatch(text):
        ledger.note("gains about … points", check_territory(found, before, line, game.size), where)
    elif found := LOSS.fullmatch(text):
        ledger.note("lost … % and … points", check_loss(found, before, line), where)
        if found["facts"]:
            check_other(found["best"], found["facts"], move and move.before, move, ledger, where)
    elif found := ANSWER.fullmatch(text):
        is_best = line["candidates"][0]["move"] == found["move"]
        ledger.note("answers at …", is_best and found["color"].lower() == line["to_play"], where)
        check_other(found["move"], found["facts"], position, None, ledger, where)
    elif found := TO_PLAY.fullmatch(text):
        ledger.note("… to play", check_candidates(found, line, position, game.size), where)
    elif (found := MOVED.fullmatch(text)) and move is not None:
        is_it = (found["color"].lower(), found["move"]) == (made["color"], made["move"])
        ledger.note("who moved", is_it, where)
        check_facts(found["facts"], move, ledger, where)
    else:
        ledger.note("unreadable", False, where)


def check_other(
    vertex: str, facts: str, position: Position | None, move: Move | None, ledger: Ledger, where: str
) -> None:
    """What a move that was not played would do."""
    point = None if position is None or vertex == "pass" else parse_point(vertex, position.size)
    after = None if position is None or point is None else position.play(point)
    if position is None or point is None or after is None:
        ledger.note("unreadable", False, where)
        return
    last = (move.last, move.own_last) if move else (None, None)
    check_facts(facts, Move(position, after, point, *last), ledger, where)


def check_loss(found: re.Match[str], before: Any, line: Any) -> bool:
    made = line["move"]
    sign = 1 if made["color"] == "black" else -1
    is_true = (found["color"].lower(), found["move"]) == (made["color"], made["move"])
    if found["loss"]:
        is_true &= is_rounded(found["loss"], 100 * sign * (before["black_wins"] - line["black_wins"]))
    if found["points"]:
        is_true &= is_rounded(found["points"], sign * (before["black_lead"] - line["black_lead"]))
    priors = {each["move"]: each["prior"] or 0.0 for each in before["candidates"]}
    was_first = bool(priors) and priors.get(made["move"], 0.0) >= max(priors.values()) > 0
    return is_true and not was_first and (not found["best"] or before["candidates"][0]["move"] == found["best"])


def check_candidates(found: re.Match[str], line: Any, position: Position, size: int) -> bool:
    said = re.findall(r"([A-T]\d+|pass)(?: \(([^)]*)\))?", found["moves"])
    for (vertex, notes), candidate in zip(said, line["candidates"], strict=False):
        point = None if vertex == "pass" else parse_point(vertex, size)
        if candidate["move"] != vertex or position._replace(to_play=line["to_play"]).play(point) is None:
            return False
        wins = re.match(r"(\d+) %(?! likely)", notes)
        mine = candidate["black_wins"]
        if wins and not is_rounded(wins[1], 100 * (mine if line["to_play"] == "black" else 1 - mine)):
            return False
        visits, likely = re.search(r"(\d+) visits", notes), re.search(r"(\d+) % likely", notes)
        if (visits and int(visits[1]) != candidate["visits"]) or (
            likely and not is_rounded(likely[1], 100 * candidate["prior"])
        ):
            return False
    return bool(said) and found["color"].lower() == line["to_play"]


def check_people(found: re.Match[str], game: Game, before: Any, made: Any, shares: Shares) -> bool:
    known = {person["rank"]: person["evaluator"] for person in made["people"]}
    model = next(iter(known.values()))
    if not hasattr(game, "asked"):
        game.asked = {}  # type: ignore[attr-defined]
    asked: dict[str, list[Any]] = game.asked  # type: ignore[attr-defined]
    if found["rank"] not in asked:
        asked[found["rank"]] = shares.of_game(game.sgf, model, found["rank"])
    policy = asked[found["rank"]][before["node"]]

    def share_of(vertex: str) -> float:
        index = (
            -1
            if vertex == "pass"
            else sum(a * b for a, b in zip(parse_point(vertex, game.size), (game.size, 1), strict=True))
        )
        return float(100 * policy[index])

    said = re.findall(r"([A-T]\d+|pass) \((\d+) %\)", found["moves"])
    best = float(100 * max(policy))
    is_true = all(is_rounded(share, share_of(vertex)) for vertex, share in said)
    is_true &= abs(share_of(said[0][0]) - best) < 0.01 and (found["often"] is not None or best >= 49.9)
    played = re.fullmatch(r"this move (?:(\d+) %|(hardly any))", found["played"])
    own = share_of(made["move"])
    return is_true and played is not None and (is_rounded(played[1], own) if played[1] else own < 1.01)


def read_games(folder: Path) -> Iterator[Game]:
    from katachi.sgf import load_sgf

    games: list[tuple[Any, list[Any]]] = []
    for text in (folder / "analysis.jsonl").read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        if line["kind"] == "game":
            games.append((line, []))
        else:
            games[-1][1].append(line)
    for head, lines in games:
        if all(line["move"] for line in lines[1:]) and not head["handicap"]:
            yield Game(head, lines, load_sgf(folder / f"{head['game']}.sgf")[0])


def check_game(game: Game, ledger: Ledger, shares: Shares) -> None:
    nodes = [node for node, _ in game.sgf.positions()]
    for turn in game.replay():
        line = turn[1]
        if line["turn"] == 0:
            continue  # the comment there is about the whole game
        comment = nodes[line["node"]].properties["C"][-1].replace("\\]", "]").replace("\\\\", "\\")
        block = comment.partition("=== katachi ===\n")[2].partition("\n=== end of katachi ===")[0]
        for text in block.splitlines():
            if text.startswith(("By its shapes", "  ")):
                continue  # arithmetic of the model
            where = f"{game.head['game']}, move {line['move']['number']}"
            check_line(text, game, turn, ledger, where, shares)


def main() -> int:
    """Check the analyses in some folders; 1 if a sentence is false."""
    ledger, shares, games = Ledger(), Shares(), 0
    for folder in map(Path, sys.argv[1:]):
        for game in read_games(folder):
            check_game(game, ledger, shares)
            games += 1
            print(f"\r{games} games, {sum(ledger.kinds.values()):,} claims", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for text in ledger.false[:200]:
        print(f"FALSE {text}")
    for kind, count in sorted(ledger.kinds.items(), key=lambda pair: -pair[1]):
        print(f"{count:7,}  {kind}")
    total = sum(ledger.kinds.values())
    print(f"{games} games, {total:,} claims, {len(ledger.false)} false, {ledger.undecided} ladders not read to the end")
    return 1 if ledger.false or not games else 0


if __name__ == "__main__":
    sys.exit(main())
