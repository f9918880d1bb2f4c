"""The slow, obvious twin of the planes: every plane from its name, every move played on a copy of the board.

A name is a title and perhaps a bin, ``liberties after: 3`` or ``captures: 7 or more``; the title says what is counted
at each point, the bin which counts are meant. Only the rules of ``naive.py`` are used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from helpers import naive
from helpers.naive import BLACK, EMPTY, PASS, WHITE, Outcome, Stones

Counts = dict[int, int]


@dataclass
class NaivePosition:
    """A position, and when each of its stones was played: ``turns[point]`` counts from 1, set-up stones have none."""

    size: int
    stones: Stones
    to_play: int = BLACK
    ko_point: int | None = None
    turns: Counts = field(default_factory=dict)
    turn: int = 0
    rank: int = 0
    _counts: dict[str, Counts] = field(default_factory=dict)

    def after(self, move: int) -> NaivePosition:
        """The position after a legal move."""
        turns, turn = dict(self.turns), self.turn + 1
        if move == PASS:
            return NaivePosition(self.size, self.stones, -self.to_play, None, turns, turn, self.rank)
        outcome = naive.put_stone(self.stones, self.size, move, self.to_play)
        turns = {point: played for point, played in turns.items() if point not in outcome.captures} | {move: turn}
        ko_point = naive.ko_after(outcome, self.size, move)
        return NaivePosition(self.size, outcome.stones, -self.to_play, ko_point, turns, turn, self.rank)

    def outcomes(self, color: int) -> dict[int, Outcome]:
        """What each legal move of a color does; the ko binds the player to move alone."""
        ko_point = self.ko_point if color == self.to_play else None
        points = [
            point
            for point in range(self.size**2)
            if naive.is_legal_simple(self.stones, self.size, point, color, ko_point)
        ]
        return {point: naive.put_stone(self.stones, self.size, point, color) for point in points}

    def counts(self, title: str) -> Counts:
        """What is counted at each point, by the title of planes."""
        if title not in self._counts:
            self._counts[title] = COUNTS[title](self)
        return self._counts[title]

    @cached_property
    def own(self) -> dict[int, Outcome]:
        return self.outcomes(self.to_play)

    @cached_property
    def opponent(self) -> dict[int, Outcome]:
        return self.outcomes(-self.to_play)

    @cached_property
    def chains(self) -> naive.ChainTable:
        return naive.liberties_by_point(self.stones, self.size)


def plane_at(position: NaivePosition, name: str) -> set[int]:
    """The points of a plane, by its name."""
    title, _, bin_ = name.partition(": ")
    return {point for point, count in position.counts(title).items() if _is_in(count, bin_)}


def _is_in(count: int, bin_: str) -> bool:
    if bin_.endswith("or more"):
        return count >= int(bin_.split()[0])
    return count == int(bin_.rstrip("d")) if bin_ else count > 0


def _stones(position: NaivePosition, color: int) -> Counts:
    return {point: 1 for point, stone in enumerate(position.stones) if stone == color}


def _liberties(position: NaivePosition, *colors: int) -> Counts:
    table = position.chains.items()
    return {point: len(liberties) for point, (_, liberties) in table if position.stones[point] in colors}


def _age(position: NaivePosition) -> Counts:
    """Stones that were never played are older than all."""
    points = (point for point, stone in enumerate(position.stones) if stone != EMPTY)
    return {point: position.turn + 1 - position.turns.get(point, -1000) for point in points}


def _last_move(position: NaivePosition) -> Counts:
    return {point: 1 for point, age in _age(position).items() if age == 1}


def _chains_after(position: NaivePosition, outcomes: dict[int, Outcome]) -> dict[int, tuple[set[int], set[int]]]:
    """The chain that each move makes, and its liberties."""
    chains = {point: naive.chain_at(outcome.stones, position.size, point) for point, outcome in outcomes.items()}
    return {p: (chain, naive.liberties_of(outcomes[p].stones, position.size, chain)) for p, chain in chains.items()}


def _liberties_after(position: NaivePosition, outcomes: dict[int, Outcome]) -> Counts:
    return {point: len(liberties) for point, (_, liberties) in _chains_after(position, outcomes).items()}


def _self_atari(position: NaivePosition) -> Counts:
    after = _chains_after(position, position.own)
    return {point: len(chain) for point, (chain, liberties) in after.items() if len(liberties) == 1}


def _captures(outcomes: dict[int, Outcome]) -> Counts:
    return {point: len(outcome.captures) for point, outcome in outcomes.items()}


def _own_eyes(position: NaivePosition) -> Counts:
    own = position.to_play
    return {p: naive.is_own_eye(position.stones, position.size, p, own) for p in position.own}


def _catches(position: NaivePosition, outcomes: dict[int, Outcome]) -> Counts:
    """Moves at one of exactly two liberties of an opponent chain that capture it in a ladder."""
    attacker = position.to_play if outcomes is position.own else -position.to_play
    caught = {}
    for point in outcomes:
        stones = [q for q in naive.neighbors(position.size, point) if position.stones[q] == -attacker]
        attacked = [q for q in stones if len(position.chains[q][1]) == 2]
        caught[point] = any(naive.captures_by(position.stones, position.size, point, stone) for stone in attacked)
    return caught


def _in_atari(position: NaivePosition) -> dict[int, int]:
    """The first stone of every own chain in atari, and its last liberty."""
    chains = {min(chain): liberties for chain, liberties in position.chains.values()}
    own = [stone for stone in chains if position.stones[stone] == position.to_play]
    return {stone: min(chains[stone]) for stone in own if len(chains[stone]) == 1}


def _saves(position: NaivePosition) -> Counts:
    """Moves after which a chain that was in atari cannot be captured in a ladder."""
    stones, size, in_atari = position.stones, position.size, _in_atari(position)
    return {point: any(naive.escapes_by(stones, size, point, stone) for stone in in_atari) for point in position.own}


def _runs_in_vain(position: NaivePosition) -> Counts:
    flights = [(stone, last) for stone, last in _in_atari(position).items() if last in position.own]
    caught = [last for stone, last in flights if not naive.escapes_by(position.stones, position.size, last, stone)]
    return dict.fromkeys(caught, 1)


COUNTS: dict[str, Callable[[NaivePosition], Counts]] = {
    "black": lambda position: _stones(position, BLACK),
    "white": lambda position: _stones(position, WHITE),
    "empty": lambda position: _stones(position, EMPTY),
    "own": lambda position: _stones(position, position.to_play),
    "enemy": lambda position: _stones(position, -position.to_play),
    "ones": lambda position: dict.fromkeys(range(position.size**2), 1),
    "liberties": lambda position: _liberties(position, BLACK, WHITE),
    "own liberties": lambda position: _liberties(position, position.to_play),
    "enemy liberties": lambda position: _liberties(position, -position.to_play),
    "turns since": _age,
    "last move": _last_move,
    "ko": lambda position: {} if position.ko_point is None else {position.ko_point: 1},
    "legal": lambda position: dict.fromkeys(position.own, 1),
    "own eye": _own_eyes,
    "liberties after": lambda position: _liberties_after(position, position.own),
    "enemy liberties after": lambda position: _liberties_after(position, position.opponent),
    "captures": lambda position: _captures(position.own),
    "enemy captures": lambda position: _captures(position.opponent),
    "self-atari": _self_atari,
    "ladder capture": lambda position: _catches(position, position.own),
    "enemy ladder capture": lambda position: _catches(position, position.opponent),
    "ladder escape": _saves,
    "ladder in vain": _runs_in_vain,
    "rank": lambda position: dict.fromkeys(range(position.size**2), position.rank),
}
