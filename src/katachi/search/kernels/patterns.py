"""What a move is like, as one number in each of some groups, and how strong such moves are.

The groups are the 3×3 pattern around it, its tactics, its distances to the last move and to the one before that, and,
in a prior that wants it, the largest known pattern around it that is larger than 3×3.

A pattern is a number of 20 bits. Two bits for each of the eight neighbors, first the four that touch the point, then
the diagonal ones, in the order of the tables in ``go/kernels/board.py``: 0 empty, 1 the viewer's stone, 2 the
opponent's, 3 outside. Then a bit for each of the four that touch it: its chain is in atari. The field ``seen`` of any
record keeps the first sixteen bits of all points as Black sees them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import (
    DIAGONALS,
    LEGAL,
    NEIGHBORS,
    OFF,
    OFF_COLOR,
    captures,
    illegality,
    is_atari,
    is_sensible,
    liberties_after,
    liberty_word,
    play_pass,
    play_stone,
    record_dtype,
    self_atari_stones,
)
from katachi.go.points import BLACK, EMPTY, MAX_POINTS, PASS, Symmetry

COLOR_BITS: Final = np.uint32(16)
PATTERN_CODES: Final = 1 << 20
_BLACK_BITS: Final = np.uint32(0x5555)
_TOUCHING_BITS: Final = np.uint16(0x55)
_DIAGONAL_BITS: Final = np.uint16(8)


@kernel
def _digit(stone):
    if stone == EMPTY:
        return np.uint16(0)
    if stone == OFF_COLOR:
        return np.uint16(3)
    return np.uint16(1) if stone == BLACK else np.uint16(2)


@kernel
def fill_views(b, record):
    """Set ``seen`` of all points of a board."""
    near, corners = NEIGHBORS[b.lines], DIAGONALS[b.lines]
    for p in range(np.uint16(b.lines * b.lines)):
        code = np.uint16(0)
        for k in range(np.uint16(4)):
            shift = np.uint16(2) * k
            code |= _digit(b.stone[near[p, k]]) << shift
            code |= _digit(b.stone[corners[p, k]]) << (shift + _DIAGONAL_BITS)
        record.seen[p] = code


@kernel
def change_views(lines, record, p, color):
    """Tell the eight neighbors that a stone of a color has come to ``p``, or gone; ``seen[OFF]`` takes what is lost."""
    digit = np.uint16(1) if color == BLACK else np.uint16(2)
    near, corners = NEIGHBORS[lines], DIAGONALS[lines]
    for k in range(np.uint16(4)):
        shift = np.uint16(6) - np.uint16(2) * k  # I am my neighbor's opposite neighbor
        record.seen[near[p, k]] ^= digit << shift
        record.seen[corners[p, k]] ^= digit << (shift + _DIAGONAL_BITS)


@kernel
def _empty_bits(view):
    """The lower one of each two bits if they are 0."""
    return ~(view | (view >> np.uint16(1))) & np.uint16(_BLACK_BITS)


@kernel
def touching_empty(view):
    """A bit for each empty one of the four points that touch a point."""
    return _empty_bits(view) & _TOUCHING_BITS


@kernel
def touching_stones(view, color):
    """A bit for each stone of a color among the four points that touch a point."""
    high = view >> np.uint16(1)
    return (view & ~high if color == BLACK else high & ~view) & _TOUCHING_BITS


@kernel
def count_empty(view):
    """How many of the eight neighbors are empty."""
    pairs = _empty_bits(view)
    pairs = (pairs & np.uint16(0x3333)) + ((pairs >> np.uint16(2)) & np.uint16(0x3333))
    pairs = (pairs + (pairs >> np.uint16(4))) & np.uint16(0x0F0F)
    return (pairs + (pairs >> np.uint16(8))) & np.uint16(0x1F)


@kernel
def pattern_code(b, record, p, color):
    """The pattern around an empty point as ``color`` sees it, with the chains in atari."""
    code = np.uint32(record.seen[p])
    if color != BLACK:
        code = ((code & _BLACK_BITS) << np.uint32(1)) | ((code >> np.uint32(1)) & _BLACK_BITS)
    for k in range(np.uint32(4)):
        q = NEIGHBORS[b.lines, p, k]
        s = b.stone[q]
        if s != EMPTY and s != OFF_COLOR and is_atari(b.liberties[b.head[q]]):
            code |= np.uint32(1) << (COLOR_BITS + k)
    return code


# What a move does to chains is one of these, and ATARI is added if it leaves an opponent chain one liberty.
TAKES: Final = 1
TAKES_LAST: Final = 2  # the stone just played
SAVES: Final = 3
SELF_ATARI: Final = 4
ATARI: Final = 5
TACTICS: Final = 10

DISTANCES: Final = 18


@kernel
def _saves(b, p, color):
    """Whether a move that takes nothing gives a chain in atari two liberties."""
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] == color and is_atari(b.liberties[b.head[q]]):
            word, _ = liberties_after(b, p, color)
            return not is_atari(word)
    return False


@kernel
def gives_atari(b, p, color):
    """Whether a move leaves an opponent chain that has more than one liberty with one."""
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] != -color or is_atari(b.liberties[b.head[q]]):
            continue
        word = b.liberties[b.head[q]]
        for j in range(np.uint64(4)):
            other = NEIGHBORS[b.lines, p, j]
            if b.stone[other] == -color and b.head[other] == b.head[q]:
                word -= liberty_word(p)
        if is_atari(word):
            return True
    return False


@kernel
def _takes_last(b, p, color, last):
    if last == OFF or b.stone[last] != -color or not is_atari(b.liberties[b.head[last]]):
        return False
    for k in range(np.uint64(4)):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] == -color and b.head[q] == b.head[last]:
            return True
    return False


@kernel
def move_tactic(b, p, color, last):
    """What a legal move does to chains, below TACTICS."""
    tactic = 0
    if captures(b, p, color):
        tactic = TAKES_LAST if _takes_last(b, p, color, last) else TAKES
    elif self_atari_stones(b, p, color) > 0:
        tactic = SELF_ATARI
    elif _saves(b, p, color):
        tactic = SAVES
    return tactic + (ATARI if gives_atari(b, p, color) else 0)


@kernel
def move_distance(lines, p, other):
    """The distance dx + dy + max(dx, dy) (Coulom 2007), at most DISTANCES − 1; 0 if there is no other point."""
    if other == OFF:
        return 0
    down = abs(np.int32(p // lines) - np.int32(other // lines))
    right = abs(np.int32(p % lines) - np.int32(other % lines))
    return min(down + right + max(down, right), DISTANCES - 1)


# Patterns larger than 3×3: all points within a distance dx + dy + max(dx, dy) of the move (Stern et al. 2006).
#
# They are nested, one for each of ``LARGE_SIZES``. A pattern's key is the least of the eight hashes that its turns and
# mirrors have, an exclusive or of a random word for each point that is not empty; that of the next size continues
# from there. What was learned is a list of keys, and a pattern's number is its place there, counted from 1. A pattern
# was played no more often than the smaller ones in it, so that the look at a move ends at the first that is not known.

LARGE_SIZES: Final = (4, 5, 6, 7, 8)
LARGE_MOST: Final = (1 << 16) - 1  # known patterns
_LARGE_SLOTS: Final = 1 << 17
_REACH: Final = 4  # lines from the move to the farthest point

LARGE_FIELDS: Final = [
    ("large_key", np.uint64, LARGE_MOST + 1),  # by number
    ("large_number", np.uint16, _LARGE_SLOTS),  # a hash table, open addressing; 0 is free
    ("large_hash", np.uint64, 8),  # work space: one for each symmetry
]


def _large_steps():
    """Down and right from the move to each point of the largest pattern, nearest first, and where each size ends."""
    span = range(-_REACH, _REACH + 1)
    far = {(y, x): abs(y) + abs(x) + max(abs(y), abs(x)) for y in span for x in span if y or x}
    steps = sorted((step for step in far if far[step] <= LARGE_SIZES[-1]), key=lambda step: (far[step], step))
    return np.array(steps), np.array([sum(far[step] <= size for step in steps) for size in LARGE_SIZES])


def _large_words():
    """The random word of each point by what is there and for each symmetry, [points, 4, 8]; 0 if it is empty."""
    side = 2 * _REACH + 1
    drawn = np.random.Generator(np.random.PCG64(10)).integers(1 << 63, size=(side * side, 4), dtype=np.uint64)
    drawn[:, 0] = 0
    cells = (LARGE_STEPS + _REACH) @ [side, 1]
    return np.stack([drawn[symmetry.points(side)[cells]] for symmetry in Symmetry], axis=2)


LARGE_STEPS, LARGE_ENDS = _large_steps()
_LARGE_WORDS: Final = _large_words()
_SIZE_WORDS: Final = np.random.Generator(np.random.PCG64(11)).integers(1 << 63, size=len(LARGE_SIZES), dtype=np.uint64)


@kernel
def _add_ring(b, hashes, p, color, size):
    """Add the points by which a size is larger than the one before; returns the key of the pattern."""
    lines = np.int64(b.lines)
    row, col = np.int64(p) // lines, np.int64(p) % lines
    for i in range(LARGE_ENDS[size - 1] if size else 0, LARGE_ENDS[size]):
        y, x = row + LARGE_STEPS[i, 0], col + LARGE_STEPS[i, 1]
        digit = 3
        if 0 <= y < lines and 0 <= x < lines:
            stone = b.stone[y * lines + x]
            if stone == EMPTY:
                continue
            digit = 1 if stone == color else 2
        for s in range(8):
            hashes[s] ^= _LARGE_WORDS[i, digit, s]
    least = hashes[0]
    for s in range(1, 8):
        least = min(least, hashes[s])
    return least ^ _SIZE_WORDS[size]


@kernel
def _find_large(record, key):
    """The number of a key, or 0; and the slot where it belongs."""
    slot = key % np.uint64(_LARGE_SLOTS)
    while record.large_number[slot] and record.large_key[record.large_number[slot]] != key:
        slot = (slot + np.uint64(1)) % np.uint64(_LARGE_SLOTS)
    return record.large_number[slot], slot


@kernel
def enter_large(records, count):
    """Enter the first ``count`` keys of each record, from number 1 on, into its hash table."""
    for i in range(records.size):
        records[i].large_number[:] = 0
        for number in range(1, count + 1):
            _, slot = _find_large(records[i], records[i].large_key[number])
            records[i].large_number[slot] = number


@kernel
def large_pattern(b, record, p, color):
    """The number of the largest known pattern around an empty point as ``color`` sees it; 0 if there is none."""
    record.large_hash[:] = 0
    largest = np.uint16(0)
    for size in range(LARGE_ENDS.size):
        number, _ = _find_large(record, _add_ring(b, record.large_hash, p, color, size))
        if number == 0:
            break
        largest = number
    return largest


@kernel
def write_large_keys(boards, moves, colors, out):
    """Play a game on ``boards[0]`` and write the keys of all sizes for each choice, [plies, sizes]; returns how many.

    What is not a choice in ``write_choices`` is not one here.
    """
    b = boards[0]
    hashes = np.zeros(8, np.uint64)
    count = 0
    for ply in range(moves.size):
        if moves[ply] == PASS:
            play_pass(b, colors[ply])
            continue
        move = np.uint16(moves[ply])
        if illegality(b, move, colors[ply], False) != LEGAL:
            break
        if is_sensible(b, move, colors[ply]):
            hashes[:] = 0
            for size in range(LARGE_ENDS.size):
                out[count, size] = _add_ring(b, hashes, move, colors[ply], size)
            count += 1
        play_stone(b, move, colors[ply])
    return count


# The choices in a game as lists of features, and passes over them for ``search/pattern_learning.py``.

GROUPS: Final = 4  # pattern, tactic, distance to the last move, to the one before; a fifth may be the large pattern

VIEWS: Final = record_dtype([("seen", np.uint16, MAX_POINTS + 1), *LARGE_FIELDS])


@kernel
def _write_candidates(b, views, color, move, recent, classes, out):
    """Write the features of all sensible moves, the one that was played first; returns how many."""
    count = 1
    for i in range(np.uint16(b.lines * b.lines)):
        p = np.uint16(i)
        if b.stone[p] != EMPTY or not is_sensible(b, p, color):
            continue
        row = 0 if p == move else count
        out[row, 0] = classes[pattern_code(b, views, p, color)]
        out[row, 1] = move_tactic(b, p, color, recent[0])
        out[row, 2] = move_distance(b.lines, p, recent[0])
        out[row, 3] = move_distance(b.lines, p, recent[1])
        if out.shape[1] > GROUPS:
            out[row, GROUPS] = large_pattern(b, views, p, color)
        count += p != move
    return count


@kernel
def write_choices(boards, moves, colors, first, step, classes, views, out, counts):
    """Play a game on ``boards[0]`` and write every ``step``-th choice from ply ``first`` on.

    Choices follow each other in ``out`` [candidates, GROUPS], or a column more for the large pattern by the keys in
    ``views[0]``, and ``counts``, all 0 before, says how long each is. A pass and a move that fills an eye are not
    choices; an illegal move ends the game.
    """
    b = boards[0]
    recent = np.full(2, OFF, np.uint16)
    choices = 0
    used = 0
    for ply in range(moves.size):
        color = colors[ply]
        move = OFF if moves[ply] == PASS else np.uint16(moves[ply])
        if move == OFF:
            play_pass(b, color)
        else:
            if illegality(b, move, color, False) != LEGAL:
                break
            if ply % step == first and is_sensible(b, move, color):
                fill_views(b, views[0])
                counts[choices] = _write_candidates(b, views[0], color, move, recent, classes, out[used:])
                used += counts[choices]
                choices += 1
            play_stone(b, move, color)
        recent[1] = recent[0]
        recent[0] = move


@kernel
def _strength(features, gammas, offsets, i):
    product = 1.0
    for g in range(offsets.size):
        product *= gammas[offsets[g] + features[i, g]]
    return product


@kernel
def count_wins(features, starts, group, wins):
    """Count how often each feature of a group was chosen."""
    for choice in range(starts.size - 1):
        wins[features[starts[choice], group]] += 1


@kernel
def add_shares(features, starts, gammas, offsets, group, shares):
    """Add up for each feature of a group what stands beside its gamma in the likelihood (Coulom 2007, eq. 5)."""
    for choice in range(starts.size - 1):
        total = 0.0
        for i in range(starts[choice], starts[choice + 1]):
            total += _strength(features, gammas, offsets, i)
        for i in range(starts[choice], starts[choice + 1]):
            feature = features[i, group]
            shares[feature] += _strength(features, gammas, offsets, i) / (gammas[offsets[group] + feature] * total)


@kernel
def measure_fit(features, starts, gammas, offsets):
    """The mean log probability of what was chosen, and how often nothing was more probable (a tie counts its share)."""
    logs = 0.0
    hits = 0.0
    for choice in range(starts.size - 1):
        chosen = _strength(features, gammas, offsets, starts[choice])
        total = 0.0
        better = 0
        equal = 0
        for i in range(starts[choice], starts[choice + 1]):
            strength = _strength(features, gammas, offsets, i)
            total += strength
            better += strength > chosen
            equal += strength == chosen
        logs += np.log(chosen / total)
        hits += 1.0 / equal if better == 0 else 0.0
    return logs / (starts.size - 1), hits / (starts.size - 1)
