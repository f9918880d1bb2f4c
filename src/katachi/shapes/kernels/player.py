"""The compiled one-ply player over fused tables: what every move is worth.

The value of a board is a sum of table entries, one for each 3×3 window, so a move changes at most nine of them, and
nine for each stone that it captures. The player keeps, for each *side* (0 Black, 1 White), every window's entry as
that side sees it as the one who has just moved, and what each move would add to their sum. A move makes *dirty*
what it may have changed: the 5×5 points around every stone that came or went, and the last liberties of chains that
came into atari or out of it. What captures is valued anew at every ply, because it depends on windows far away.

What liberty shapes up to 2×2 add, where there are any, is worked out at every ply
(``shapes/kernels/liberty_windows.py``), because a stone changes the liberties of chains far away.

Every stone that comes or goes is written down with its ply, and so are the liberty windows: that is all that learning
after the game needs. The state lies in one record, and indices are unsigned: see ``go/kernels/board.py`` for why.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.go.kernels import kernel
from katachi.go.kernels.board import (
    BOARD,
    NEIGHBORS,
    atari_point,
    is_atari,
    is_kept_eye,
    play_pass,
    play_stone,
    record_dtype,
)
from katachi.go.kernels.playouts import next_random, random_below
from katachi.go.points import BLACK, EMPTY, MAX_POINTS, MAX_SIZE
from katachi.shapes.kernels import liberty_windows
from katachi.shapes.kernels.liberty_windows import (
    INVERSE,
    POSITION,
    captures,
    gain_of_capture,
    gain_of_stone,
    read_position,
    window_count,
)
from katachi.shapes.kernels.run import MAX_PLIES, PASS_MOVE, draw_exploring, list_taken

# Fused tables: all shapes up to 3×3 as one table for each kind of 3×3 window.
#
# The value of a board is a sum over its shapes. A shape that lies in several windows gives each an equal share of its
# weight, so that the sum over the 3×3 windows alone is the value of the board. Sharing goes by levels, which makes it
# cheap: 1×1, 2×1 and 2×2 shapes go into 2×2 windows, these and the 3×2 shapes into 3×2 windows, these and the 3×3
# shapes into 3×3 windows. Windows that a symmetry of the board makes equal are one *class* and share a table.
#
# Fused values are whole numbers of 1/``UNIT``: sums are exact in any order, so that equal moves stay exactly equal.

UNIT: Final = 1 << 20
CODES: Final = 3**9  # of a 3×3 window
MAX_CLASSES: Final = 45  # of 3×3 windows, on 19×19
_LARGEST: Final = 60.0 * UNIT  # weights that diverge must not make the change of nine windows wrap around


class Level(NamedTuple):
    """How the tables of one size of window are made: from those of the level below, and from weights.

    ``child`` and ``weight`` are entries by class, part and code.
    """

    child: NDArray[np.uint32]  # [classes, children, codes]
    child_share: NDArray[np.float64]  # [classes, children]
    weight: NDArray[np.uint32]  # [classes, shapes, codes]
    weight_share: NDArray[np.float64]  # [classes, shapes]
    table: NDArray[np.float64]  # [classes · codes], room for the values


@kernel
def _fuse_level(weights, below, level):
    """Fill ``level.table`` with the values of its windows; ``below`` is the table of the level below."""
    classes, children, codes = level.child.shape
    for c in range(classes):
        row = level.table[c * codes : (c + 1) * codes]
        row[:] = 0.0
        for i in range(children):
            share = level.child_share[c, i]
            entry = level.child[c, i]
            for code in range(codes):
                row[code] += share * below[entry[code]]
        for i in range(level.weight.shape[1]):
            share = level.weight_share[c, i]
            entry = level.weight[c, i]
            for code in range(codes):
                row[code] += share * weights[entry[code]]


@kernel
def _in_units(value):
    return np.int32(np.rint(min(max(value * UNIT, -_LARGEST), _LARGEST)))


@kernel
def fuse(weights, small, middle, large, fused):
    """Write the 3×3 tables of these weights, [classes · CODES], to ``fused``."""
    _fuse_level(weights, small.table, small)  # the smallest windows have no level below
    _fuse_level(weights, small.table, middle)
    _fuse_level(weights, middle.table, large)
    for i in range(large.table.size):
        fused[i] = _in_units(large.table[i])


@kernel
def value_window(weights, windows, entry):
    """The sum of the shapes of a liberty window, each by its share; ``windows`` is a ``LibertyWindows``."""
    share = windows.share[entry // liberty_windows.CODES]
    value = 0.0
    for part in range(windows.weight.shape[1]):
        value += share[part] * weights[windows.weight[entry, part]]
    return value


@kernel
def fuse_liberties(weights, windows, fused):
    """Write the tables of the liberty windows with these weights to ``fused``."""
    for entry in range(windows.weight.shape[0]):
        fused[entry] = _in_units(value_window(weights, windows, entry))


# The player

MAX_WINDOWS: Final = (MAX_SIZE - 2) ** 2
MAX_CHANGES: Final = 2 * MAX_PLIES  # each ply puts down one stone, which may be taken later
WORDS: Final = (MAX_POINTS + 63) // 64
TABLE: Final = MAX_CLASSES * CODES

LIBERTY_TABLE: Final = liberty_windows.MAX_CLASSES * liberty_windows.CODES

NO_MOVE: Final = np.int32(-(2**31))  # what an impossible move is worth
_NO_GAIN: Final = np.int64(-(2**62))  # and with liberty shapes

LIBERTIES: Final = record_dtype(
    [
        ("position", POSITION),
        ("spare", BOARD),  # to capture on
        ("table_base", np.uint32, 2),  # where each side's tables begin
        ("gain", np.int64, MAX_POINTS),  # what a move adds, local shapes included
        (
            "after",
            np.uint16,
            (MAX_PLIES, liberty_windows.MAX_WINDOWS),
        ),  # the codes after each ply, as its side sees them
        ("fused", np.int32, 2 * LIBERTY_TABLE),
    ]
)

PLAYER: Final = record_dtype(
    [
        ("liberties", LIBERTIES),  # records come first: numpy does not align them
        ("has_liberties", np.uint8),  # 1 if there are liberty shapes
        # the board's geometry
        ("points", np.uint16),
        ("windows", np.uint16),
        ("words", np.uint16),
        ("eye_rule", np.uint8),
        ("around_count", np.uint16, MAX_POINTS),
        ("around", np.uint16, (MAX_POINTS, 9)),  # the windows around a point
        ("power", np.int32, (MAX_POINTS, 9)),  # and the power of three at which it counts there
        ("class_base", np.uint32, MAX_WINDOWS),
        ("nearby", np.uint64, (MAX_POINTS, WORDS)),  # the 5×5 points around a point, as bits
        # the position
        ("table_base", np.uint32, 2),  # where each side's tables begin
        ("entry", np.uint32, (2, MAX_WINDOWS)),
        ("value", np.int32, (2, MAX_WINDOWS)),
        ("dirty", np.uint64, (2, WORDS)),
        ("gain", np.int32, (3, MAX_POINTS)),  # what a move adds to the sum, by side; see _mark_best
        ("taken", np.uint16, MAX_POINTS),
        ("shift", np.int32, MAX_WINDOWS),  # work space, all 0 between uses
        ("shifted", np.uint16, MAX_WINDOWS),
        ("ownership", np.int32, MAX_POINTS),
        # the game so far
        ("plies", np.uint32),
        ("changes", np.uint32),
        ("change_ply", np.uint16, MAX_CHANGES),
        ("change_point", np.uint16, MAX_CHANGES),
        ("change_digit", np.int8, (MAX_CHANGES, 2)),  # by side
        ("moves", np.uint16, MAX_PLIES),
        ("explored", np.uint8, MAX_PLIES),
        ("random", np.uint64),
        ("fused", np.int32, 2 * TABLE),
    ]
)


def new_player(size: int, cells: NDArray[np.int64], classes: NDArray[np.int64]) -> NDArray[Any]:
    """A player for boards of one size, [1] record; ``cells`` and ``classes`` are those of the board's 3×3 windows."""
    player = np.zeros(1, dtype=PLAYER)
    r = player[0]
    points = size * size
    r["points"], r["windows"], r["words"] = points, len(cells), (points + 63) // 64
    r["class_base"][: len(cells)] = classes * CODES
    for window, points_in in enumerate(cells.tolist()):
        for cell, point in enumerate(points_in):
            k = r["around_count"][point]
            r["around"][point, k], r["power"][point, k] = window, 3**cell
            r["around_count"][point] = k + 1
    row, col = np.divmod(np.arange(points), size)
    for p in range(points):
        for q in np.flatnonzero((abs(row - row[p]) <= 2) & (abs(col - col[p]) <= 2)).tolist():
            r["nearby"][p, q // 64] |= np.uint64(1) << np.uint64(q % 64)
    return player


# The number of the lowest bit, by de Bruijn's sequence: numba has no instruction for it.
_DE_BRUIJN: Final = np.uint64(0x03F79D71B4CB0A89)
_LOWEST: Final = np.zeros(64, dtype=np.uint16)
for _bit in range(64):
    _LOWEST[((0x03F79D71B4CB0A89 << _bit) % 2**64) >> 58] = _bit


@kernel
def begin_game(r):
    """Go to the empty board."""
    r.plies = 0
    r.changes = 0
    for side in range(np.uint8(2)):
        for w in range(r.windows):
            entry = np.uint32(r.table_base[side] + r.class_base[w])
            r.entry[side, w] = entry
            r.value[side, w] = r.fused[entry]
        for p in range(r.points):
            r.dirty[side, np.uint16(p) >> np.uint16(6)] |= np.uint64(1) << np.uint64(p & 63)


@kernel
def _make_dirty(r, p):
    word = p >> np.uint16(6)
    bit = np.uint64(1) << np.uint64(p & np.uint16(63))
    r.dirty[0, word] |= bit
    r.dirty[1, word] |= bit


@kernel
def _change_point(r, p, black, white):
    """Add to a point's digit in the windows around it: ``black`` as Black sees it, ``white`` as White does."""
    i = r.changes
    r.change_ply[i] = r.plies
    r.change_point[i] = p
    r.change_digit[i, 0] = black
    r.change_digit[i, 1] = white
    r.changes = i + np.uint32(1)
    for k in range(r.around_count[p]):
        w = r.around[p, k]
        entry = np.uint32(r.entry[0, w] + np.uint32(black * r.power[p, k]))
        r.entry[0, w] = entry
        r.value[0, w] = r.fused[entry]
        entry = np.uint32(r.entry[1, w] + np.uint32(white * r.power[p, k]))
        r.entry[1, w] = entry
        r.value[1, w] = r.fused[entry]
    for i in range(r.words):
        r.dirty[0, i] |= r.nearby[p, i]
        r.dirty[1, i] |= r.nearby[p, i]


@kernel
def _shift_windows(r, p, digit, count):
    """Add a change of digit to ``r.shift`` of the windows around a point; returns the number of shifted windows."""
    for k in range(r.around_count[p]):
        w = r.around[p, k]
        if r.shift[w] == 0:
            r.shifted[count] = w
            count += np.uint16(1)
        r.shift[w] += digit * r.power[p, k]
    return count


@kernel
def _gain_of_capture(r, b, p, color, side):
    """What a move that captures adds to the sum. A window is listed twice if its shift passes through 0."""
    taken = list_taken(r, b, p, color)
    count = _shift_windows(r, p, np.int32(1), np.uint16(0))
    for i in range(taken):
        count = _shift_windows(r, r.taken[i], np.int32(-2), count)
    gain = np.int32(0)
    for i in range(count):
        w = r.shifted[i]
        if r.shift[w] != 0:
            gain += r.fused[np.uint32(r.entry[side, w] + np.uint32(r.shift[w]))] - r.value[side, w]
            r.shift[w] = 0
    return gain


@kernel
def _gain_of_stone(r, p, side):
    """What a stone that captures nothing adds to the sum."""
    gain = np.int32(0)
    for k in range(r.around_count[p]):
        w = r.around[p, k]
        gain += r.fused[np.uint32(r.entry[side, w] + np.uint32(r.power[p, k]))] - r.value[side, w]
    return gain


@kernel
def _refresh_point(r, b, p, color, side):
    """Value the move on a dirty point; returns whether it stays dirty."""
    r.gain[side, p] = NO_MOVE
    if b.stone[p] != EMPTY:
        return False
    near = NEIGHBORS[b.lines]
    is_open = is_safe = captures = False
    for k in range(4):
        q = near[p, k]
        s = b.stone[q]
        if s == EMPTY:
            is_open = True
        elif s == color:
            is_safe |= not is_atari(b.liberties[b.head[q]])
        elif s == -color:
            captures |= is_atari(b.liberties[b.head[q]])
    if captures:
        if p != b.ko:
            r.gain[side, p] = _gain_of_capture(r, b, p, color, side)
        return True
    if is_open or (is_safe and not is_kept_eye(b, p, color, r.eye_rule)):
        r.gain[side, p] = _gain_of_stone(r, p, side)
    return False


@kernel
def refresh(r, b, color):
    """Bring ``r.gain`` of the side to move up to date."""
    side = np.uint8(0) if color == BLACK else np.uint8(1)
    for i in range(r.words):
        bits = r.dirty[side, i]
        kept = np.uint64(0)
        while bits != 0:
            bit = bits & (~bits + np.uint64(1))
            bits ^= bit
            p = np.uint16(np.uint16(i << 6) + _LOWEST[(bit * _DE_BRUIJN) >> np.uint64(58)])
            if _refresh_point(r, b, p, color, side):
                kept |= bit
        r.dirty[side, i] = kept


@kernel
def write_windows(r, b, color):
    """Read the liberty windows as the side to move sees them, and write down what the move before this led to."""
    lib = r.liberties
    side = np.uint8(0) if color == BLACK else np.uint8(1)
    read_position(lib.position, b, color, lib.fused, lib.table_base[side])
    if r.plies > 0:
        for w in range(window_count(b)):
            lib.after[r.plies - np.uint32(1), w] = INVERSE[lib.position.code[w]]


@kernel
def _mark_best(r, b, color):
    """Set the third row of ``r.gain`` to 1 for the best moves with liberty shapes, and to 0 for all others."""
    lib = r.liberties
    side = np.uint8(0) if color == BLACK else np.uint8(1)
    first = lib.table_base[side]
    best = _NO_GAIN + 1
    for p in range(r.points):
        lib.gain[p] = _NO_GAIN
        if r.gain[side, p] == NO_MOVE:
            continue
        if captures(b, p, color):
            lib.spare = b
            gain = gain_of_capture(lib.position, lib.spare, p, color, lib.fused, first)
        else:
            gain = gain_of_stone(lib.position, b, p, color, lib.fused, first)
        lib.gain[p] = r.gain[side, p] + gain
        best = max(best, lib.gain[p])
    for p in range(r.points):
        r.gain[2, p] = lib.gain[p] == best


@kernel
def _pick(r, row, least):
    """A random one of the moves whose gain is at least ``least``, or PASS_MOVE if there is none."""
    count = np.uint16(0)
    for p in range(r.points):
        count += np.uint16(r.gain[row, p] >= least)
    if count == 0:
        return PASS_MOVE
    r.random = next_random(r.random)
    left = random_below(r.random, count)
    for p in range(r.points):
        if r.gain[row, p] >= least:
            if left == 0:
                return np.uint16(p)
            left -= np.uint64(1)
    return PASS_MOVE


@kernel
def choose(r, b, color, explore):
    """The best move, any of the best if there are several; any possible one with the chance ``explore`` / 2³².

    PASS_MOVE if there is none. Says in ``r.explored`` which it was.
    """
    refresh(r, b, color)
    if r.has_liberties:
        write_windows(r, b, color)
    row = np.uint8(0) if color == BLACK else np.uint8(1)
    least = NO_MOVE + np.int32(1)
    if not draw_exploring(r, explore):
        if r.has_liberties:
            _mark_best(r, b, color)
            row = np.uint8(2)
            least = np.int32(1)
        else:
            for p in range(r.points):
                least = max(least, r.gain[row, p])
    return _pick(r, row, least)


@kernel
def _dirty_rescued(r, b, taken, color):
    """A capture gives liberties to the chains around: make the last liberties that they had dirty."""
    near = NEIGHBORS[b.lines]
    for i in range(taken):
        p = r.taken[i]
        for k in range(4):
            q = near[p, k]
            if b.stone[q] == color:
                word = b.liberties[b.head[q]]
                if is_atari(word):
                    _make_dirty(r, atari_point(word))


@kernel
def _dirty_ataris(r, b, p):
    """Make the last liberties of the chains in atari at and around a new stone dirty."""
    near = NEIGHBORS[b.lines]
    word = b.liberties[b.head[p]]
    if is_atari(word):
        _make_dirty(r, atari_point(word))
    for k in range(4):
        q = near[p, k]
        if b.stone[q] == -b.stone[p]:
            word = b.liberties[b.head[q]]
            if is_atari(word):
                _make_dirty(r, atari_point(word))


@kernel
def play(r, b, move, color):
    """Play a move on the board, and follow it."""
    if move == PASS_MOVE:
        play_pass(b, color)
    else:
        taken = list_taken(r, b, move, color)
        _dirty_rescued(r, b, taken, color)
        play_stone(b, move, color)
        mine, theirs = np.int32(1), np.int32(2)
        if color != BLACK:
            mine, theirs = theirs, mine
        _change_point(r, move, mine, theirs)
        for i in range(taken):
            _change_point(r, r.taken[i], -theirs, -mine)
        _dirty_ataris(r, b, move)
    r.moves[r.plies] = move
    r.plies += np.uint32(1)
