"""The slow, obvious twins of point inputs: groups, influence and propensity by definition, on sets and lists."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from helpers.naive import BLACK, EMPTY, WHITE, Stones, chain_at, is_own_eye, liberties_of, neighbors, regions

Window = tuple[int, ...]  # its nine points, by rows in some frame
LARGEST_EYE = 7
FAR = 3


# Groups


@dataclass
class NaiveGroup:
    stones: set[int]
    color: int
    eyes: int
    liberties: list[int]

    @property
    def strength(self) -> tuple[int, int]:
        return self.eyes, self.liberties[0]


def all_chains(stones: Stones, size: int) -> list[set[int]]:
    found = {frozenset(chain_at(stones, size, point)) for point in range(size * size) if stones[point] != EMPTY}
    return [set(chain) for chain in found]


def loose_groups(stones: Stones, size: int) -> list[set[int]]:
    """Chains, merged as long as two of them contain chains that belong together."""
    chains = [(chain, liberties_of(stones, size, chain)) for chain in all_chains(stones, size)]
    groups = [chain for chain, _ in chains]
    for (first, near_first), (second, near_second) in combinations(chains, 2):
        color, common = stones[min(first)], near_first & near_second
        if stones[min(second)] != color:
            continue
        if len(common) >= 2 or any(is_protected(stones, size, point, color) for point in common):
            merged = [group for group in groups if group & first or group & second]
            groups = [group for group in groups if group not in merged] + [set().union(*merged)]
    return groups


def is_protected(stones: Stones, size: int, point: int, color: int) -> bool:
    """Whether an opponent stone there would be alone, and in atari or without liberties."""
    around = [stones[near] for near in neighbors(size, point)]
    return -color not in around and around.count(EMPTY) <= 1


def true_eyes(stones: Stones, size: int) -> list[tuple[set[int], int]]:
    """The eyes and their colors."""
    groups = loose_groups(stones, size)
    found = []
    for region in regions(stones, size, [EMPTY]):
        around = {near for point in region for near in neighbors(size, point)} - region
        colors = {stones[point] for point in around}
        if len(region) > LARGEST_EYE or len(colors) != 1:
            continue
        (color,) = colors
        if len(region) == 1:
            is_eye = is_own_eye(stones, size, min(region), color)
        else:
            is_eye = any(around <= group for group in groups)
        if is_eye:
            found.append((region, color))
    return found


def liberties_by_order(stones: Stones, size: int, group: set[int]) -> list[int]:
    reached: set[int] = set()
    edge = group
    counts = []
    for _ in range(4):
        edge = {near for point in edge for near in neighbors(size, point) if stones[near] == EMPTY} - reached
        reached |= edge
        counts.append(len(edge))
    return counts


def find_groups(stones: Stones, size: int, kind: str) -> list[NaiveGroup]:
    eyes = true_eyes(stones, size)
    groups = loose_groups(stones, size) if kind == "loose" else all_chains(stones, size)
    found = []
    for group in groups:
        around = {near for point in group for near in neighbors(size, point)}
        color = stones[min(group)]
        count = sum(owner == color and bool(region & around) for region, owner in eyes)
        found.append(NaiveGroup(group, color, count, liberties_by_order(stones, size, group)))
    return sorted(found, key=lambda group: min(group.stones))


def opponents_by_weakness(groups: list[NaiveGroup], size: int, group: NaiveGroup) -> list[NaiveGroup]:
    around = {near for point in group.stones for near in neighbors(size, point)}
    opponents = [other for other in groups if other.color == -group.color and other.stones & around]
    return sorted(opponents, key=lambda opponent: opponent.strength)


# Influence


def radiate(
    stones: Stones, size: int, kind: str, stringent: bool, emission: float, decay: float, steps: int
) -> list[list[float]]:
    """Chen's influence: a breadth-first search from every stone; the maps of Black and of White."""
    strengths = {point: group.strength for group in find_groups(stones, size, kind) for point in group.stones}
    maps = [[0.0] * size**2, [0.0] * size**2]
    for start in range(size * size):
        color = stones[start]
        if color == EMPTY:
            continue
        reached, edge = {start}, {start}
        for step in range(steps + 1):
            for point in edge:
                maps[0 if color == BLACK else 1][point] += emission * decay**step
            edge = {near for point in edge for near in neighbors(size, point)} - reached
            edge = {
                point
                for point in edge
                if stones[point] != -color or (stringent and strengths[point] <= strengths[start])
            }
            reached |= edge
    return maps


def bouzy(stones: Stones, size: int, stone: int, dilations: int, erosions: int) -> list[int]:
    values = [stone * color for color in stones]
    for _ in range(dilations):
        values = [_dilated(values, size, point) for point in range(size * size)]
    for _ in range(erosions):
        values = [_eroded(values, size, point) for point in range(size * size)]
    return values


def _dilated(values: list[int], size: int, point: int) -> int:
    around = [values[near] for near in neighbors(size, point)]
    if values[point] >= 0 and min(around, default=0) >= 0:
        return values[point] + sum(value > 0 for value in around)
    if values[point] <= 0 and max(around, default=0) <= 0:
        return values[point] - sum(value < 0 for value in around)
    return values[point]


def _eroded(values: list[int], size: int, point: int) -> int:
    around = [values[near] for near in neighbors(size, point)]
    if values[point] > 0:
        return max(0, values[point] - sum(value <= 0 for value in around))
    return min(0, values[point] + sum(value >= 0 for value in around))


def zobrist(stones: Stones, size: int, stone: int, passes: int) -> list[int]:
    values = [stone * color for color in stones]
    for _ in range(passes):
        signs = [(value > 0) - (value < 0) for value in values]
        values = [values[point] + sum(signs[near] for near in neighbors(size, point)) for point in range(size * size)]
    return values


# Propensity


def distance(offset: int, size: int) -> int:
    """Of a window from the nearer of two edges: 3 is far, and so is the middle between both."""
    other = size - 3 - offset
    return FAR if offset == other else min(offset, other, FAR)


@cache
def framings(size: int, row: int, column: int) -> list[tuple[tuple[int, int], Window]]:
    """All ways to see a window with the nearest edges above and on the left, the latter at least as far; and where."""
    found = []
    for transposed in (False, True):
        for mirrored in (False, True):
            for upside_down in (False, True):
                rows = [[(row + i) * size + column + j for j in range(3)] for i in range(3)]
                down, right = row, column
                if transposed:
                    rows = [list(line) for line in zip(*rows, strict=True)]
                    down, right = right, down
                if mirrored:
                    rows = [line[::-1] for line in rows]
                    right = size - 3 - right
                if upside_down:
                    rows = rows[::-1]
                    down = size - 3 - down
                x, y = distance(right, size), distance(down, size)
                nearest = (x == FAR or right <= size - 3 - right) and (y == FAR or down <= size - 3 - down)
                if nearest and x >= y:
                    found.append(((x, y), tuple(point for line in rows for point in line)))
    return found


class NaivePropensity:
    """Counts every way to see a window, as it is and with colors exchanged, as one occurrence in all."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[tuple[int, int], tuple[int, ...], int, int]] = Counter()

    def count(self, stones: Stones, size: int, owners: list[int]) -> None:
        for row in range(size - 2):
            for column in range(size - 2):
                self._count_window(stones, owners, framings(size, row, column))

    def _count_window(self, stones: Stones, owners: list[int], ways: list[tuple[tuple[int, int], Window]]) -> None:
        seen = []
        for place, points in ways:
            for sign in (1, -1):
                content = tuple(sign * stones[point] for point in points)
                seen.append((place, content, tuple(sign * owners[point] for point in points)))
        alike = Counter(content for _, content, _ in seen)
        for place, content, owned in seen:
            for cell, owner in enumerate(owned):
                if owner != EMPTY:
                    self.counts[place, content, cell, owner] += 1 / alike[content]

    def values(self, stones: Stones, size: int) -> list[float]:
        """For every point the mean over the windows that contain it; any way to see a window will do."""
        found: list[list[float]] = [[] for _ in stones]
        for row in range(size - 2):
            for column in range(size - 2):
                place, points = framings(size, row, column)[0]
                content = tuple(stones[point] for point in points)
                for cell, point in enumerate(points):
                    black, white = (self.counts[place, content, cell, color] for color in (BLACK, WHITE))
                    found[point].append((black - white) / (black + white + 1))
        return [sum(values) / len(values) if values else 0.0 for values in found]


# Inputs


def point_inputs(
    stones: Stones,
    size: int,
    kind: str,
    influence: list[list[float]],
    propensity: list[float],
    places: list[tuple[str, int, int]],
) -> list[dict[str, float]]:
    """For every point its inputs by name; places are names, and steps down and to the right."""
    groups = find_groups(stones, size, kind)
    of_groups = {point: _describe_group(group, groups, size) for group in groups for point in group.stones}
    told = []
    for point in range(size * size):
        inputs = {}
        for place, down, right in places:
            suffix = f": {place}" if place else ""
            row, column = point // size + down, point % size + right
            near = row * size + column if 0 <= row < size and 0 <= column < size else None
            inputs |= {name + suffix: value for name, value in _tell(stones, influence, propensity, near).items()}
        told.append(inputs | of_groups.get(point, NO_GROUP))
    return told


OPPONENT = ("black", "white", "none", "liberties", "eyes")


NO_GROUP = dict.fromkeys(
    [
        "eyes",
        *(f"liberties of order {order}" for order in (1, 2, 3, 4)),
        *(f"{rank} enemy: {name}" for rank in ("weakest", "second weakest") for name in OPPONENT),
    ],
    0.0,
)


def _describe_group(group: NaiveGroup, groups: list[NaiveGroup], size: int) -> dict[str, float]:
    inputs = {"eyes": min(group.eyes / 2, 1)}
    for order, many in enumerate((8, 16, 16, 16)):
        inputs[f"liberties of order {order + 1}"] = min(group.liberties[order] / many, 1)
    opponents = [*opponents_by_weakness(groups, size, group), None, None]
    for rank, opponent in zip(("weakest", "second weakest"), opponents, strict=False):
        inputs |= {f"{rank} enemy: {name}": value for name, value in _describe_opponent(opponent).items()}
    return inputs


def _describe_opponent(opponent: NaiveGroup | None) -> dict[str, float]:
    if opponent is None:
        return {name: float(name == "none") for name in OPPONENT}
    return {
        "black": float(opponent.color == BLACK),
        "white": float(opponent.color == WHITE),
        "none": 0.0,
        "liberties": min(opponent.liberties[0] / 8, 1),
        "eyes": min(opponent.eyes / 2, 1),
    }


def _tell(stones: Stones, influence: list[list[float]], propensity: list[float], point: int | None) -> dict[str, float]:
    color = None if point is None else stones[point]
    return {
        "black": float(color == BLACK),
        "white": float(color == WHITE),
        "empty": float(color == EMPTY),
        "influence of Black": 0.0 if point is None else influence[0][point],
        "influence of White": 0.0 if point is None else influence[1][point],
        "propensity": 0.0 if point is None else propensity[point],
    }
