"""The slow, obvious twin of every kernel: Go from its definitions, on plain lists and sets.

Nothing here is incremental and nothing is shared with katachi: chains are flood filled anew for every position, superko
compares whole boards, Benson's theorem and ladders are written as their definitions read. Points, colors and passes are
coded as in katachi (``row * size + col``, +1 Black, −1 White, −1 pass); ``stones`` is a list of colors, one per point.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

BLACK, WHITE, EMPTY, PASS = 1, -1, 0, -1

Stones = list[int]
ChainTable = dict[int, tuple[set[int], set[int]]]  # for every stone its chain and that chain's liberties


@cache
def neighbors(size: int, point: int) -> tuple[int, ...]:
    """The two to four points beside a point."""
    return _at_steps(size, point, ((-1, 0), (0, -1), (0, 1), (1, 0)))


@cache
def diagonals(size: int, point: int) -> tuple[int, ...]:
    """The one to four points that touch a point by a corner."""
    return _at_steps(size, point, ((-1, -1), (-1, 1), (1, -1), (1, 1)))


def _at_steps(size: int, point: int, steps: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    row, col = divmod(point, size)
    places = ((row + down, col + right) for down, right in steps)
    return tuple(r * size + c for r, c in places if 0 <= r < size and 0 <= c < size)


def flood(stones: Stones, size: int, start: int, colors: Iterable[int]) -> set[int]:
    """All points of the given colors that are connected with ``start`` through such points."""
    wanted = set(colors)
    found = {start}
    waiting = [start]
    while waiting:
        for near in neighbors(size, waiting.pop()):
            if near not in found and stones[near] in wanted:
                found.add(near)
                waiting.append(near)
    return found


def regions(stones: Stones, size: int, colors: Sequence[int]) -> list[set[int]]:
    """The connected regions of points of the given colors."""
    found: list[set[int]] = []
    seen: set[int] = set()
    for point in range(size * size):
        if stones[point] in colors and point not in seen:
            region = flood(stones, size, point, colors)
            found.append(region)
            seen |= region
    return found


def chain_at(stones: Stones, size: int, point: int) -> set[int]:
    return flood(stones, size, point, [stones[point]])


def border(stones: Stones, size: int, region: Iterable[int], color: int) -> set[int]:
    """The points of a color beside a region."""
    inside = set(region)
    return {near for point in inside for near in neighbors(size, point) if stones[near] == color and near not in inside}


def liberties_of(stones: Stones, size: int, chain: Iterable[int]) -> set[int]:
    return border(stones, size, chain, EMPTY)


def pseudo_liberties_of(stones: Stones, size: int, chain: Iterable[int]) -> int:
    """How often an empty point touches a stone of the chain."""
    return sum(stones[near] == EMPTY for stone in chain for near in neighbors(size, stone))


def liberties_by_point(stones: Stones, size: int) -> ChainTable:
    """For every stone on the board its chain and that chain's liberties."""
    table: ChainTable = {}
    for color in (BLACK, WHITE):
        for chain in regions(stones, size, [color]):
            entry = (chain, liberties_of(stones, size, chain))
            table.update(dict.fromkeys(chain, entry))
    return table


def is_legal_position(stones: Stones, size: int) -> bool:
    """Every chain has a liberty."""
    return all(liberties for _, liberties in liberties_by_point(stones, size).values())


def is_own_eye(stones: Stones, size: int, point: int, color: int) -> bool:
    """All neighbors are own stones and the opponent holds at most one diagonal, none at the edge."""
    if any(stones[near] != color for near in neighbors(size, point)):
        return False
    corners = diagonals(size, point)
    opponents = sum(stones[corner] == -color for corner in corners)
    return opponents <= (1 if len(corners) == 4 else 0)


@dataclass
class Outcome:
    """What a stone does: the board after it, and the stones it took off on either side."""

    stones: Stones
    captures: set[int]
    suicide: set[int]


def put_stone(stones: Stones, size: int, point: int, color: int) -> Outcome:
    """Put a stone, take off opponent chains without liberties, then own ones."""
    after = list(stones)
    after[point] = color
    captures: set[int] = set()
    for near in neighbors(size, point):
        if after[near] == -color:
            chain = chain_at(after, size, near)
            if not liberties_of(after, size, chain):
                captures |= chain
    for stone in captures:
        after[stone] = EMPTY
    own = chain_at(after, size, point)
    suicide = set() if liberties_of(after, size, own) else own
    for stone in suicide:
        after[stone] = EMPTY
    return Outcome(after, captures, suicide)


def ko_after(outcome: Outcome, size: int, point: int) -> int | None:
    """The point that may not be retaken: one stone was captured by a lone stone that now has one liberty."""
    if len(outcome.captures) != 1 or outcome.suicide:
        return None
    own = chain_at(outcome.stones, size, point)
    lone = len(own) == 1 and len(liberties_of(outcome.stones, size, own)) == 1
    return next(iter(outcome.captures)) if lone else None


@dataclass
class NaiveGame:
    """A game by the rules: ``ko`` is SIMPLE, POSITIONAL or SITUATIONAL. Every earlier state is kept whole."""

    size: int
    ko: str = "SIMPLE"
    suicide: bool = False
    stones: Stones = field(default_factory=list)
    to_play: int = BLACK
    ko_point: int | None = None
    captured: dict[int, int] = field(default_factory=lambda: {BLACK: 0, WHITE: 0})
    earlier: list[tuple[Stones, int, int | None, dict[int, int]]] = field(default_factory=list)
    positions: list[tuple[bytes, int]] = field(default_factory=list)
    _chains: tuple[Stones, ChainTable] | None = None

    def __post_init__(self) -> None:
        self.stones = self.stones or [EMPTY] * self.size**2
        self.positions = [_position(self.stones, self.to_play)]

    def play(self, move: int, color: int) -> None:
        """Play a legal move and pass the turn."""
        self._remember()
        self.ko_point = None
        if move != PASS:
            outcome = put_stone(self.stones, self.size, move, color)
            self.stones = outcome.stones
            self.ko_point = ko_after(outcome, self.size, move)
            self.captured[-color] += len(outcome.captures)
            self.captured[color] += len(outcome.suicide)
        self.to_play = -color
        self.positions.append(_position(self.stones, self.to_play))

    def setup(self, black: Iterable[int], white: Iterable[int], empty: Iterable[int], to_play: int) -> None:
        """Put and take off stones freely; nothing is captured and no ko remains."""
        self._remember()
        self.stones = list(self.stones)
        for points, color in ((black, BLACK), (white, WHITE), (empty, EMPTY)):
            for point in points:
                self.stones[point] = color
        self.ko_point = None
        self.to_play = to_play
        self.positions.append(_position(self.stones, self.to_play))

    def undo(self) -> None:
        self.stones, self.to_play, self.ko_point, self.captured = self.earlier.pop()
        self.positions.pop()

    def _remember(self) -> None:
        self.earlier.append((self.stones, self.to_play, self.ko_point, dict(self.captured)))

    def illegal_points(self, color: int) -> dict[int, str]:
        """Why each illegal point is illegal for a color; all others are legal."""
        seen = self._forbidden(color)
        reasons = ((point, self._why_illegal(point, color, seen)) for point in range(self.size**2))
        return {point: reason for point, reason in reasons if reason}

    @property
    def chains(self) -> ChainTable:
        """``liberties_by_point`` of the board as it stands; kept until another board takes its place."""
        if self._chains is None or self._chains[0] is not self.stones:
            self._chains = (self.stones, liberties_by_point(self.stones, self.size))
        return self._chains[1]

    def _why_illegal(self, point: int, color: int, seen: set[bytes]) -> str | None:
        if self.stones[point] != EMPTY:
            return "OCCUPIED"
        if point == self.ko_point and color == self.to_play:
            return "KO"
        near = neighbors(self.size, point)
        chains = self.chains
        captures = [chains[p][0] for p in near if self.stones[p] == -color and chains[p][1] == {point}]
        own = [chains[p] for p in near if self.stones[p] == color]
        dies = not captures and all(self.stones[p] != EMPTY for p in near) and all(libs == {point} for _, libs in own)
        if dies and not (self.suicide and own):
            return "SUICIDE"
        if not seen:
            return None
        # Removing the captured (or suicidal) chains from a copy is the whole next board.
        board = bytearray(self.positions[-1][0])
        board[point] = color % 3
        for chain in captures or ([{point}, *(chain for chain, _ in own)] if dies else []):
            for stone in chain:
                board[stone] = EMPTY
        return "SUPERKO" if bytes(board) in seen else None

    def _forbidden(self, color: int) -> set[bytes]:
        """The boards that superko keeps this color from making."""
        if self.ko == "SIMPLE":
            return set()
        positional = self.ko == "POSITIONAL"
        return {board for board, to_play in self.positions if positional or to_play == -color}


def _position(stones: Stones, to_play: int) -> tuple[bytes, int]:
    return bytes(stone % 3 for stone in stones), to_play


def area(stones: Stones, size: int, dead: Iterable[int] = ()) -> Stones:
    """Who owns each point: stones, and empty regions that touch one color only."""
    gone = set(dead)
    left = [EMPTY if point in gone else stone for point, stone in enumerate(stones)]
    owner = list(left)
    for region in regions(left, size, [EMPTY]):
        colors = {left[p] for p in border(left, size, region, BLACK) | border(left, size, region, WHITE)}
        if len(colors) == 1:
            for point in region:
                owner[point] = next(iter(colors))
    return owner


def unconditionally_alive(stones: Stones, size: int, color: int) -> tuple[set[int], set[int]]:
    """Benson 1976: the stones that cannot be captured though their owner passes forever, and their vital regions.

    A region (no stone of the color in it) is vital to a chain if all its empty points are liberties of the chain. Drop
    chains with fewer than two vital regions and regions with a dropped chain beside them, until nothing changes.
    """
    chains = [frozenset(chain) for chain in regions(stones, size, [color])]
    enclosed = [frozenset(region) for region in regions(stones, size, [EMPTY, -color])]
    while True:
        alive = [chain for chain in chains if sum(_is_vital(stones, size, r, chain) for r in enclosed) >= 2]
        stones_alive = set().union(*alive)
        healthy = [region for region in enclosed if border(stones, size, region, color) <= stones_alive]
        if len(alive) == len(chains) and len(healthy) == len(enclosed):
            break
        chains, enclosed = alive, healthy
    vital = (region for region in enclosed if any(_is_vital(stones, size, region, chain) for chain in chains))
    return stones_alive, set().union(*vital)


def _is_vital(stones: Stones, size: int, region: Iterable[int], chain: Iterable[int]) -> bool:
    return {point for point in region if stones[point] == EMPTY} <= liberties_of(stones, size, chain)


def is_legal_simple(stones: Stones, size: int, point: int, color: int, ko_point: int | None) -> bool:
    """Legal without suicide and under simple ko."""
    return stones[point] == EMPTY and point != ko_point and not put_stone(stones, size, point, color).suicide


def is_captured(stones: Stones, size: int, stone: int, ko_point: int | None) -> bool:
    """Whether the attacker, to move, captures the chain at ``stone`` in a ladder: it never has three liberties."""
    color = stones[stone]
    liberties = liberties_of(stones, size, chain_at(stones, size, stone))
    if len(liberties) > 2:
        return False
    tries = [point for point in liberties if is_legal_simple(stones, size, point, -color, ko_point)]
    if len(liberties) == 1:
        return bool(tries)
    return any(captures_by(stones, size, point, stone) for point in tries)


def captures_by(stones: Stones, size: int, point: int, stone: int) -> bool:
    """Whether the attacker's move at ``point``, which puts the chain at ``stone`` in atari, captures it in a ladder."""
    outcome = put_stone(stones, size, point, -stones[stone])
    return not can_escape(outcome.stones, size, stone, ko_after(outcome, size, point))


def can_escape(stones: Stones, size: int, stone: int, ko_point: int | None) -> bool:
    """Whether the defender, to move with the chain in atari, gets out: by extending, or by taking an attacker."""
    color = stones[stone]
    chain = chain_at(stones, size, stone)
    tries = set(liberties_of(stones, size, chain))
    for attacker in border(stones, size, chain, -color):
        liberties = liberties_of(stones, size, chain_at(stones, size, attacker))
        if len(liberties) == 1:
            tries |= liberties
    legal = (point for point in tries if is_legal_simple(stones, size, point, color, ko_point))
    return any(escapes_by(stones, size, point, stone) for point in legal)


def escapes_by(stones: Stones, size: int, point: int, stone: int) -> bool:
    """Whether the defender's move at ``point`` gets the chain at ``stone`` out of the ladder."""
    outcome = put_stone(stones, size, point, stones[stone])
    return not is_captured(outcome.stones, size, stone, ko_after(outcome, size, point))
