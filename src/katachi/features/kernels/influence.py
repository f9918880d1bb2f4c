"""Groups of a board, and how far stones make themselves felt, by four rules.

Chen's two rules spread sets: every point knows the stones of a color that have reached it, a bit for each, so that
one step for all stones together is a union over neighbors. Bouzy's and Zobrist's spread numbers, positive where they
are Black's. Kernels trust their arguments.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.features.kernels.lookahead import count_bits
from katachi.go.kernels import kernel
from katachi.go.kernels.board import NEIGHBORS, OFF, OFF_COLOR, is_own_eye, record_dtype
from katachi.go.points import BLACK, EMPTY, MAX_POINTS, MAX_SIZE, WHITE

# Groups: their eyes, liberties near and far, and their weakest opponents.
#
# Sets of points are rows of bits, one row of the board in a word, with an empty row above and one below; so the points
# that touch a set are a few shifts, whatever the size of the board. A group is known by the head of one of its chains.
# Kernels trust their arguments.

ORDERS: Final = 4  # of liberties
LARGEST_EYE: Final = 7  # points; in a larger region two eyes can be made, or the opponent can live
_ROWS: Final = MAX_SIZE + 2
_EYE_WEIGHT: Final = 1 << 10  # more than all liberties that there can be

GROUPS: Final = record_dtype(
    [
        ("group_count", np.uint16),
        ("groups", np.uint16, MAX_POINTS),  # all of them
        ("group", np.uint16, MAX_POINTS),  # of the stone on a point; OFF where there is none
        ("eyes", np.uint16, MAX_POINTS),  # of a group, and so below
        ("liberties", np.uint16, (MAX_POINTS, ORDERS)),
        ("weakest", np.uint16, (MAX_POINTS, 2)),  # adjacent opponent groups, the weakest first; OFF where there is none
        ("eye", np.int8, MAX_POINTS),  # whose eye a point is part of
        ("joined", np.uint16, MAX_POINTS),  # a forest over the heads of chains that are loosely connected
        ("empty_rows", np.uint32, _ROWS),
        ("reached", np.uint32, (MAX_POINTS, _ROWS)),  # by a chain, then by a group: its liberties up to some order
        ("region", np.uint16, MAX_POINTS),  # the empty points of a region
        ("visited", np.uint8, MAX_POINTS),
        ("counted", np.uint16, MAX_POINTS),  # the last region that was counted as an eye of a group, by its first point
    ]
)


@kernel
def _mark_liberties(b, g):
    """Set the empty points, and the liberties of every chain."""
    rows = np.uint16(b.lines + np.uint16(2))
    for row in range(rows):
        g.empty_rows[row] = np.uint32(0)
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] != EMPTY and b.head[p] == p:
            g.joined[p] = p
            for row in range(rows):
                g.reached[p, row] = np.uint32(0)
    point = np.uint16(0)
    for row in range(np.uint16(1), np.uint16(b.lines + np.uint16(1))):
        for column in range(np.uint16(b.lines)):
            if b.stone[point] == EMPTY:
                bit = np.uint32(1) << np.uint32(column)
                g.empty_rows[row] |= bit
                for k in range(np.uint16(4)):
                    q = NEIGHBORS[b.lines, point, k]
                    if b.stone[q] != EMPTY and b.stone[q] != OFF_COLOR:
                        g.reached[b.head[q], row] |= bit
            point += np.uint16(1)


@kernel
def _root(g, head):
    """The head that stands for all chains that are joined with one."""
    while g.joined[head] != head:
        head = g.joined[head]
    return head


@kernel
def _share_two(b, g, first, second):
    """Whether two chains have two liberties in common."""
    found = False
    for row in range(np.uint16(1), np.uint16(b.lines + np.uint16(1))):
        common = g.reached[first, row] & g.reached[second, row]
        if common != 0:
            if found or common & (common - np.uint32(1)) != 0:
                return True
            found = True
    return False


@kernel
def _is_protected(b, p, color):
    """Whether an opponent stone on an empty point would stand alone with one liberty or none."""
    empty = 0
    for k in range(np.uint16(4)):
        s = b.stone[NEIGHBORS[b.lines, p, k]]
        if s == -color:
            return False
        empty += s == EMPTY
    return empty <= 1


@kernel
def _join_at(b, g, p, first, second):
    """Join the chains of two stones of a color that touch an empty point, if no opponent stone can keep them apart."""
    first, second = b.head[first], b.head[second]
    root = _root(g, first)
    other = _root(g, second)
    if root != other and (_is_protected(b, p, b.stone[first]) or _share_two(b, g, first, second)):
        g.joined[other] = root


@kernel
def _join_chains(b, g):
    """Join all chains that are loosely connected."""
    for i in range(b.empty_count):
        near = NEIGHBORS[b.lines, b.empties[i]]
        for k in range(np.uint16(1), np.uint16(4)):
            color = b.stone[near[k]]
            for j in range(k):
                if b.stone[near[j]] == color and color != EMPTY and color != OFF_COLOR:
                    _join_at(b, g, b.empties[i], near[j], near[k])


@kernel
def _list_groups(b, g, loose):
    """Name the group of every stone, and give each group the liberties of its chains."""
    g.group_count = np.uint16(0)
    for p in range(np.uint16(b.lines * b.lines)):
        g.group[p] = OFF
        if b.stone[p] == EMPTY:
            continue
        head = b.head[p]
        root = _root(g, head) if loose else head
        g.group[p] = root
        if p == root:
            g.groups[g.group_count] = root
            g.group_count += np.uint16(1)
            g.eyes[root] = np.uint16(0)
            g.counted[root] = OFF
            g.weakest[root, 0] = OFF
            g.weakest[root, 1] = OFF
        elif p == head and root != head:
            for row in range(np.uint16(1), np.uint16(b.lines + np.uint16(1))):
                g.reached[root, row] |= g.reached[head, row]


@kernel
def _flood_region(b, g, start):
    """List the empty region of a point; returns its points, and whose eye it would be (EMPTY if nobody's).

    It would be an eye of the color around it, if there is only one and the chains there are loosely connected.
    """
    near = NEIGHBORS[b.lines]
    g.region[0] = start
    g.visited[start] = np.uint8(1)
    listed = np.uint16(1)
    seen = np.uint16(0)
    owner = np.int8(EMPTY)
    root = OFF
    whole = True
    while seen < listed:
        p = g.region[seen]
        seen += np.uint16(1)
        for k in range(np.uint16(4)):
            q = near[p, k]
            s = b.stone[q]
            if s == EMPTY:
                if not g.visited[q]:
                    g.visited[q] = np.uint8(1)
                    g.region[listed] = q
                    listed += np.uint16(1)
            elif s != OFF_COLOR:
                if root == OFF:
                    root = _root(g, b.head[q])
                    owner = s
                whole &= s == owner and root == _root(g, b.head[q])
    if listed == 1 and owner != EMPTY:
        whole = is_own_eye(b, start, owner)
    return listed, owner if whole else np.int8(EMPTY)


@kernel
def _find_eyes(b, g):
    """Mark the eyes, and count each of them for every group around it."""
    for p in range(np.uint16(b.lines * b.lines)):
        g.eye[p] = EMPTY
        g.visited[p] = np.uint8(0)
    for i in range(b.empty_count):
        start = b.empties[i]
        if g.visited[start]:
            continue
        points, owner = _flood_region(b, g, start)
        if owner == EMPTY or points > LARGEST_EYE:
            continue
        for j in range(points):
            p = g.region[j]
            g.eye[p] = owner
            for k in range(np.uint16(4)):
                q = NEIGHBORS[b.lines, p, k]
                if b.stone[q] == owner and g.counted[g.group[q]] != start:
                    g.counted[g.group[q]] = start
                    g.eyes[g.group[q]] += np.uint16(1)


@kernel
def _count_liberties(b, g):
    """Count the liberties of each order: the empty points that touch those of the order before, and are new."""
    last = np.uint16(b.lines)
    for i in range(g.group_count):
        rows = g.reached[g.groups[i]]
        before = np.uint16(0)
        for order in range(np.uint16(ORDERS)):
            count = np.uint16(0)
            above = np.uint32(0)
            for row in range(np.uint16(1), np.uint16(last + np.uint16(1))):
                here = rows[row]
                grown = here
                if order > 0:
                    near = here << np.uint32(1) | here >> np.uint32(1) | above | rows[row + np.uint16(1)]
                    grown = np.uint32((here | near) & g.empty_rows[row])
                rows[row] = grown
                above = here
                count += count_bits(np.uint64(grown))
            g.liberties[g.groups[i], order] = count - before
            before = count


@kernel
def strength(g, group):
    """How strong a group is: the one with more eyes is stronger, among equals that with more liberties."""
    return np.int64(_EYE_WEIGHT) * np.int64(g.eyes[group]) + np.int64(g.liberties[group, 0])


@kernel
def _meet(g, group, opponent):
    """Remember an adjacent opponent group if it is one of the two weakest."""
    first, second = g.weakest[group, 0], g.weakest[group, 1]
    if opponent in (first, second):
        return
    if first == OFF or strength(g, opponent) < strength(g, first):
        g.weakest[group, 0] = opponent
        g.weakest[group, 1] = first
    elif second == OFF or strength(g, opponent) < strength(g, second):
        g.weakest[group, 1] = opponent


@kernel
def _find_weakest(b, g):
    """Find the two weakest opponents of every group."""
    for p in range(np.uint16(b.lines * b.lines)):
        if b.stone[p] != EMPTY:
            for k in range(np.uint16(4)):
                q = NEIGHBORS[b.lines, p, k]
                if b.stone[q] == -b.stone[p]:
                    _meet(g, g.group[p], g.group[q])


@kernel
def read_groups(b, g, loose):
    """Fill a record with the groups of a board: its chains, or what is loosely connected."""
    _mark_liberties(b, g)
    _join_chains(b, g)
    _list_groups(b, g, loose)
    _find_eyes(b, g)
    _count_liberties(b, g)
    _find_weakest(b, g)


@kernel
def fill_groups(boards, work, loose):
    """The groups of one board, for Python to read."""
    read_groups(boards[0], work[0], loose)


# Influence.

EXACT: Final = 0
STRINGENT: Final = 1
BOUZY: Final = 2
ZOBRIST: Final = 3

_WORDS: Final = (MAX_POINTS + 63) // 64
_ALL: Final = np.uint64(0xFFFFFFFFFFFFFFFF)

INFLUENCE: Final = record_dtype(
    [
        ("maps", np.float64, (2, MAX_POINTS)),  # Black's and White's, both positive
        ("levels", np.int32, (2, MAX_POINTS + 1)),  # numbers that spread, written in turn; 0 at OFF
        ("felt", np.uint64, (2, MAX_POINTS + 1, _WORDS)),  # the stones that reached a point, in turn; none at OFF
        ("passing", np.uint64, (MAX_POINTS, _WORDS)),  # the stones that a point lets in
    ]
)


@kernel
def new_influence():
    """A record to spread influence in."""
    return np.zeros(1, dtype=INFLUENCE)


# Chen's rules


@kernel
def _number_stones(b, f, color):
    """Let every stone of a color be felt on its own point; returns how many words their set takes."""
    points = np.uint16(b.lines * b.lines)
    stones = 0
    for p in range(points):
        stones += b.stone[p] == color
    words = np.uint16((stones + 63) // 64)
    number = np.uint16(0)
    for p in range(points):
        for w in range(words):
            f.felt[0, p, w] = np.uint64(0)
            f.passing[p, w] = np.uint64(0) if b.stone[p] == -color else _ALL
        if b.stone[p] == color:
            f.felt[0, p, number >> np.uint16(6)] = np.uint64(1) << np.uint64(number & np.uint16(63))
            number += np.uint16(1)
    return words


@kernel
def _admit_stronger(b, g, f, color):
    """Let opponent stones be passed by those stones of a color that are at least as strong."""
    points = np.uint16(b.lines * b.lines)
    for p in range(points):
        if b.stone[p] != -color:
            continue
        held = strength(g, g.group[p])
        number = np.uint16(0)
        for q in range(points):
            if b.stone[q] == color:
                if strength(g, g.group[q]) >= held:
                    f.passing[p, number >> np.uint16(6)] |= np.uint64(1) << np.uint64(number & np.uint16(63))
                number += np.uint16(1)


@kernel
def _take_step(b, f, words, now, gain, out):
    """Let every stone be felt one step farther, and add ``gain`` for each that is new to a point."""
    near = NEIGHBORS[b.lines]
    then = np.uint8(1 - now)
    for p in range(np.uint16(b.lines * b.lines)):
        north, west, east, south = near[p, 0], near[p, 1], near[p, 2], near[p, 3]
        arrived = 0
        for w in range(words):
            known = f.felt[now, p, w]
            around = f.felt[now, north, w] | f.felt[now, west, w] | f.felt[now, east, w] | f.felt[now, south, w]
            new = around & f.passing[p, w] & ~known
            f.felt[then, p, w] = known | new
            if new != 0:
                arrived += count_bits(new)
        out[p] += gain * arrived


@kernel
def _radiate(b, g, f, stringent, constants):
    """Chen's influence: each stone gives its point an amount, and each step farther a fraction of that before."""
    for side in range(np.uint8(2)):
        color = np.int8(BLACK) if side == 0 else np.int8(WHITE)
        amount = constants[0]
        for p in range(np.uint16(b.lines * b.lines)):
            f.maps[side, p] = amount if b.stone[p] == color else 0.0
        words = _number_stones(b, f, color)
        if stringent:
            _admit_stronger(b, g, f, color)
        for step in range(np.int64(constants[2])):
            amount *= constants[1]
            _take_step(b, f, words, np.uint8(step & 1), amount, f.maps[side])


# Bouzy's and Zobrist's rules


@kernel
def _dilate(b, levels, now, then):
    """A point that only one color touches gains one of that color for each neighbor that has any."""
    near = NEIGHBORS[b.lines]
    for p in range(np.uint16(b.lines * b.lines)):
        black = white = 0
        for k in range(np.uint16(4)):
            value = levels[now, near[p, k]]
            black += value > 0
            white += value < 0
        value = levels[now, p]
        gain = (black if value >= 0 and white == 0 else 0) - (white if value <= 0 and black == 0 else 0)
        levels[then, p] = value + gain


@kernel
def _erode(b, levels, now, then):
    """A point loses one for each neighbor that is not of its color, down to nothing."""
    near = NEIGHBORS[b.lines]
    for p in range(np.uint16(b.lines * b.lines)):
        value = levels[now, p]
        loss = 0
        if value != 0:
            for k in range(np.uint16(4)):
                q = near[p, k]
                loss += q != OFF and (levels[now, q] <= 0 if value > 0 else levels[now, q] >= 0)
        levels[then, p] = max(value - loss, 0) if value > 0 else min(value + loss, 0)


@kernel
def _add_signs(b, levels, now, then):
    """A point gains one for each neighbor that is Black's and loses one for each that is White's."""
    near = NEIGHBORS[b.lines]
    for p in range(np.uint16(b.lines * b.lines)):
        total = levels[now, p]
        for k in range(np.uint16(4)):
            total += np.sign(levels[now, near[p, k]])
        levels[then, p] = total


@kernel
def spread_bouzy(b, levels, stone, dilations, erosions):
    """Bouzy's map of a board; returns which of the two levels it is left in."""
    for p in range(np.uint16(b.lines * b.lines)):
        levels[0, p] = stone * b.stone[p]
    for i in range(dilations + erosions):
        now = np.uint8(i & 1)
        if i < dilations:
            _dilate(b, levels, now, np.uint8(1 - now))
        else:
            _erode(b, levels, now, np.uint8(1 - now))
    return np.uint8((dilations + erosions) & 1)


@kernel
def _spread_zobrist(b, levels, stone, passes):
    """Zobrist's map of a board; returns which of the two levels it is left in."""
    for p in range(np.uint16(b.lines * b.lines)):
        levels[0, p] = stone * b.stone[p]
    for i in range(passes):
        now = np.uint8(i & 1)
        _add_signs(b, levels, now, np.uint8(1 - now))
    return np.uint8(passes & 1)


@kernel
def _split(b, f, level):
    """Make two maps of one with signs."""
    for p in range(np.uint16(b.lines * b.lines)):
        value = f.levels[level, p]
        f.maps[0, p] = max(value, 0)
        f.maps[1, p] = max(-value, 0)


# All of them


@kernel
def spread(b, g, f, method, constants):
    """Leave the influence of both colors in ``f.maps``; the constants [3] are those of the method, in its order.

    Only the stringent method looks at the groups.
    """
    if method <= STRINGENT:
        _radiate(b, g, f, method == STRINGENT, constants)
    elif method == BOUZY:
        stone, dilations, erosions = np.int32(constants[0]), np.int64(constants[1]), np.int64(constants[2])
        _split(b, f, spread_bouzy(b, f.levels, stone, dilations, erosions))
    else:
        _split(b, f, _spread_zobrist(b, f.levels, np.int32(constants[0]), np.int64(constants[1])))


@kernel
def fill_influence(boards, loose, method, constants, out):
    """The influence of both colors on one board, [2, n²], for Python to read."""
    _fill_influence(boards, loose, method, constants, np.empty(1, dtype=GROUPS), new_influence(), out)


@kernel
def _fill_influence(boards, loose, method, constants, groups, work, out):
    """The same with room for groups and maps, which the caller keeps: a record alone does not."""
    read_groups(boards[0], groups[0], loose)
    spread(boards[0], groups[0], work[0], method, constants)
    for side in range(np.uint8(2)):
        for p in range(out.shape[1]):
            out[side, p] = work[0].maps[side, p]
