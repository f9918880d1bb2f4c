"""The compiled game: a board in one structured record, and the moves on it.

Why a record and unsigned indices: a record is one pointer without reference counts, and an unsigned index needs no
wrap-around test; together they make this as fast as the same algorithm in C++ (``katachi bench playouts``).

- Points are flat, as everywhere. ``OFF`` is the one point that lies outside; ``stone[OFF]`` is a color that equals
  no other, so that a neighbor table needs no special cases.
- A chain is a circular list: ``link`` leads from stone to stone, ``head`` names the stone that stands for all.
- The liberties of a chain are one word: how often an empty point touches it (a *pseudo-liberty*), the sum of these
  points, and the sum of their squares. The word is 0 when the chain is captured; by Cauchy–Schwarz all of its
  liberties are the same point (atari) exactly when count · squares = sum².

Kernels trust their arguments; ``go/board.py`` checks them. A kernel takes a record, written ``b``; what Python calls
takes record *arrays*, which cost a tenth as much to hand over.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.go.kernels import kernel
from katachi.go.points import BLACK, EMPTY, MAX_POINTS, MAX_SIZE, PASS

OFF: Final = np.uint16(MAX_POINTS)
OFF_COLOR: Final = np.int8(2)
RECENT: Final = 8  # moves that a board remembers; a power of two
_RECENT_MASK: Final = np.uint16(RECENT - 1)


def record_dtype(fields: list[tuple[Any, ...]]) -> np.dtype[Any]:
    """A structured type whose fields are attributes in compiled code, and in Python when the compiler is off.

    A field must not be called like an attribute of numpy's scalars; so a board has ``lines``, not a size.
    """
    return np.dtype((np.record, np.dtype(fields, align=True)))


BOARD: Final = record_dtype(
    [
        ("hash", np.uint64),  # of the stones alone: the position that superko speaks of
        ("lines", np.uint16),  # the size of the board
        ("ko", np.uint16),  # the point that simple ko forbids to the player to move, or OFF
        ("empty_count", np.uint16),
        ("turns", np.uint16),  # played, passes included; it may wrap around
        ("recent", np.uint16, RECENT),  # the move of turn t at t mod RECENT; OFF for a pass, and for none
        ("to_play", np.int8),
        ("stone", np.int8, MAX_POINTS + 1),
        ("captured", np.uint32, 2),  # stones lost by Black, by White
        ("head", np.uint16, MAX_POINTS),
        ("link", np.uint16, MAX_POINTS),
        ("stones", np.uint16, MAX_POINTS),  # in the chain, at its head
        ("liberties", np.uint64, MAX_POINTS),  # the word described above, at the head
        ("empties", np.uint16, MAX_POINTS),  # the empty points, in no order
        ("empty_index", np.uint16, MAX_POINTS),  # where each of them stands in that list
    ],
)

_COUNT_BITS: Final = np.uint64(12)
_SUM_BITS: Final = np.uint64(20)
COUNT_MASK: Final = np.uint64((1 << 12) - 1)
_SUM_MASK: Final = np.uint64((1 << 20) - 1)


def _neighbor_table(steps: tuple[tuple[int, int], ...]) -> NDArray[np.uint16]:
    """The points at these (down, right) steps, [size, point, 4]; OFF where there is none."""
    table = np.full((MAX_SIZE + 1, MAX_POINTS, 4), OFF, dtype=np.uint16)
    for size in range(1, MAX_SIZE + 1):
        for point in range(size * size):
            row, col = divmod(point, size)
            for k, (down, right) in enumerate(steps):
                if 0 <= row + down < size and 0 <= col + right < size:
                    table[size, point, k] = (row + down) * size + col + right
    return table


NEIGHBORS: Final = _neighbor_table(((-1, 0), (0, -1), (0, 1), (1, 0)))
DIAGONALS: Final = _neighbor_table(((-1, -1), (-1, 1), (1, -1), (1, 1)))
# Fixed, so that hashes mean the same in every process and on every disk.
ZOBRIST: Final = np.random.Generator(np.random.PCG64(9)).integers(1 << 63, size=(2, MAX_POINTS), dtype=np.uint64)
ZOBRIST_WHITE_TO_PLAY: Final = np.uint64(0x9E3779B97F4A7C15)


def new_boards(count: int, size: int) -> NDArray[Any]:
    """Empty boards of one size, Black to play, [count] records."""
    boards = np.zeros(count, dtype=BOARD)
    points = size * size
    boards["lines"] = size
    boards["ko"] = boards["recent"] = OFF
    boards["to_play"] = BLACK
    boards["stone"] = OFF_COLOR
    boards["stone"][:, :points] = EMPTY
    boards["empty_count"] = points
    boards["empties"][:, :points] = boards["empty_index"][:, :points] = np.arange(points)
    return boards


@kernel
def liberty_word(point):
    """One pseudo-liberty at a point, as a word to add to a chain's."""
    p = np.uint64(point)
    return np.uint64(1) | (p << _COUNT_BITS) | ((p * p) << (_COUNT_BITS + _SUM_BITS))


@kernel
def is_atari(word):
    """Whether a chain with this liberty word has exactly one liberty (a captured chain, word 0, counts too)."""
    count = word & COUNT_MASK
    total = (word >> _COUNT_BITS) & _SUM_MASK
    return count * (word >> (_COUNT_BITS + _SUM_BITS)) == total * total


@kernel
def atari_point(word):
    """The one liberty of a chain in atari."""
    return np.uint16(((word >> _COUNT_BITS) & _SUM_MASK) // (word & COUNT_MASK))


@kernel
def _side(color):
    return np.uint8(0) if color == BLACK else np.uint8(1)


@kernel
def _remove_chain(b, head):
    """Take a chain off the board; its points become liberties of the neighbors."""
    color = b.stone[head]
    near = NEIGHBORS[b.lines]
    side = _side(color)
    b.captured[side] += b.stones[head]
    p = head
    while True:
        b.stone[p] = EMPTY
        b.hash ^= ZOBRIST[side, p]
        b.empty_index[p] = b.empty_count
        b.empties[b.empty_count] = p
        b.empty_count += np.uint16(1)
        word = liberty_word(p)
        for k in range(4):
            q = near[p, k]
            if b.stone[q] == -color:
                b.liberties[b.head[q]] += word
        p = b.link[p]
        if p == head:
            break


@kernel
def _join(b, first, second):
    """Make one chain of two, by their heads; the longer one gives its head."""
    if b.stones[first] < b.stones[second]:
        first, second = second, first
    p = second
    while True:
        b.head[p] = first
        p = b.link[p]
        if p == second:
            break
    b.link[first], b.link[second] = b.link[second], b.link[first]
    b.stones[first] += b.stones[second]
    b.liberties[first] += b.liberties[second]


@kernel
def exchange_empties(b, i, j):
    """Let two empty points change their places in the list; a random draw sets aside in this way what it rejects."""
    p, q = b.empties[i], b.empties[j]
    b.empties[i], b.empty_index[q] = q, i
    b.empties[j], b.empty_index[p] = p, j


@kernel
def _end_turn(b, p, color):
    """Remember the move; the ko is lifted and the other color is to play."""
    b.turns += np.uint16(1)
    b.recent[b.turns & _RECENT_MASK] = p
    b.ko = OFF
    b.to_play = -color


@kernel
def recent_move(b, ago):
    """The point of the last move (1 turn ago), or of one before it, up to RECENT; OFF if it was a pass or none."""
    return b.recent[(b.turns + np.uint16(1) - np.uint16(ago)) & _RECENT_MASK]


@kernel
def play_stone(b, p, color):
    """Put a stone on an empty point and remove what it captures (or, in suicide, itself). Sets ko and the turn.

    Whether the move is legal, the caller knows.
    """
    near = NEIGHBORS[b.lines]
    b.empty_count -= np.uint16(1)
    i = b.empty_index[p]
    last = b.empties[b.empty_count]
    b.empties[i] = last
    b.empty_index[last] = i

    b.stone[p] = color
    b.hash ^= ZOBRIST[_side(color), p]
    b.head[p] = p
    b.link[p] = p
    b.stones[p] = np.uint16(1)
    word = liberty_word(p)
    own = np.uint64(0)
    for k in range(4):
        q = near[p, k]
        s = b.stone[q]
        if s == EMPTY:
            own += liberty_word(q)
        elif s != OFF_COLOR:
            b.liberties[b.head[q]] -= word
    b.liberties[p] = own

    before = b.empty_count
    taken = OFF
    for k in range(4):
        q = near[p, k]
        s = b.stone[q]
        if s == color:
            if b.head[q] != b.head[p]:
                _join(b, b.head[p], b.head[q])
        elif s == -color and b.liberties[b.head[q]] == 0:
            _remove_chain(b, b.head[q])
            taken = q
    _end_turn(b, p, color)
    head = b.head[p]
    if b.liberties[head] == 0:
        _remove_chain(b, head)
    elif b.empty_count == before + 1 and b.stones[head] == 1 and b.liberties[head] == liberty_word(taken):
        b.ko = taken


# What ``illegality`` answers; go/board.py gives the reasons their names.
LEGAL: Final = 0
OCCUPIED: Final = 1
KO: Final = 2
SUICIDE: Final = 3


@kernel
def illegality(b, p, color, suicide):
    """Why a stone may not be put on a point under simple ko; ``suicide`` allows that of two stones or more."""
    if b.stone[p] != EMPTY:
        return OCCUPIED
    near = NEIGHBORS[b.lines]
    for k in range(4):
        if b.stone[near[p, k]] == EMPTY:
            return LEGAL
    if p == b.ko and color == b.to_play:
        return KO
    for k in range(4):
        q = near[p, k]
        s = b.stone[q]
        if s == color:
            if suicide or not is_atari(b.liberties[b.head[q]]):
                return LEGAL
        elif s == -color and is_atari(b.liberties[b.head[q]]):
            return LEGAL
    return SUICIDE


@kernel
def play_pass(b, color):
    """Leave the stones as they are; the ko is lifted."""
    _end_turn(b, OFF, color)


@kernel
def is_single_point_eye(b, p, color):
    """Whether all neighbors of an empty point are stones of a color."""
    near = NEIGHBORS[b.lines]
    for k in range(4):
        s = b.stone[near[p, k]]
        if s != color and s != OFF_COLOR:
            return False
    return True


@kernel
def is_own_eye(b, p, color):
    """Whether an empty point is a simple eye of a color: all neighbors its own, and the diagonals held.

    The opponent may hold one diagonal, none at the edge (Silver et al. 2007 after Enzenberger).
    """
    if not is_single_point_eye(b, p, color):
        return False
    opponents = 0
    off = 0
    for k in range(4):
        s = b.stone[DIAGONALS[b.lines, p, k]]
        if s == -color:
            opponents += 1
        elif s == OFF_COLOR:
            off = 1
    return opponents + off < 2


SIMPLE_EYES: Final = 0
SINGLE_POINT_EYES: Final = 1


@kernel
def is_kept_eye(b, p, color, eye_rule):
    """Whether a color may not fill an eye of its own on an empty point, by one of the two eye rules."""
    return is_single_point_eye(b, p, color) if eye_rule == SINGLE_POINT_EYES else is_own_eye(b, p, color)


@kernel
def is_sensible(b, p, color):
    """Whether a move is legal under simple ko, no suicide, and fills no simple eye of its own side."""
    return illegality(b, p, color, False) == LEGAL and not is_own_eye(b, p, color)


@kernel
def list_chain(b, p, out):
    """Write the stones of the chain at ``p`` to ``out``; returns how many."""
    q = p
    count = 0
    while True:
        out[count] = q
        count += 1
        q = b.link[q]
        if q == p:
            return count


@kernel
def _is_first_contact(b, liberty, stone):
    """Whether ``stone`` is the first neighbor of an empty point that belongs to the stone's chain."""
    head = b.head[stone]
    color = b.stone[stone]
    for k in range(4):
        q = NEIGHBORS[b.lines, liberty, k]
        if b.stone[q] == color and b.head[q] == head:
            return q == stone
    return False


@kernel
def list_liberties(b, p, out):
    """Write the liberties of the chain at ``p`` to ``out``, each once; returns how many.

    No marks are needed: a liberty that several stones touch is counted at the first of them alone.
    """
    q = p
    count = 0
    while True:
        for k in range(4):
            liberty = NEIGHBORS[b.lines, q, k]
            if b.stone[liberty] == EMPTY and _is_first_contact(b, liberty, q):
                out[count] = liberty
                count += 1
        q = b.link[q]
        if q == p:
            return count


@kernel
def count_liberties(b, p):
    """How many liberties the chain at ``p`` has."""
    q = p
    count = 0
    while True:
        for k in range(4):
            liberty = NEIGHBORS[b.lines, q, k]
            if b.stone[liberty] == EMPTY and _is_first_contact(b, liberty, q):
                count += 1
        q = b.link[q]
        if q == p:
            return count


# What Python calls: record arrays of one board. Colors become int8, as kernels have them: one compilation for both.


@kernel
def why_illegal(boards, point, color, suicide):
    return illegality(boards[0], np.uint16(point), np.int8(color), suicide)


@kernel
def own_eye_at(boards, point, color):
    return is_own_eye(boards[0], np.uint16(point), np.int8(color))


@kernel
def chain_at(boards, point, out):
    return list_chain(boards[0], np.uint16(point), out)


@kernel
def liberties_at(boards, point, out):
    return list_liberties(boards[0], np.uint16(point), out)


@kernel
def try_play(boards, move, color, suicide):
    """Play a move (a point or PASS) if it is legal under simple ko; answers as ``illegality`` does."""
    b, mover = boards[0], np.int8(color)
    if move == PASS:
        play_pass(b, mover)
        return LEGAL
    p = np.uint16(move)
    reason = illegality(b, p, mover, suicide)
    if reason == LEGAL:
        play_stone(b, p, mover)
    return reason


@kernel
def play_moves(boards, moves, colors, suicide):
    """Play a list of moves; returns how many were played before the first illegal one."""
    for i in range(moves.size):
        if try_play(boards, moves[i], colors[i], suicide) != LEGAL:
            return i
    return moves.size


@kernel
def fill_legal(boards, color, suicide, legal):
    """Set ``legal[point]`` for every point under simple ko."""
    b = boards[0]
    for p in range(b.lines * b.lines):
        legal[p] = illegality(b, np.uint16(p), np.int8(color), suicide) == LEGAL


@kernel
def fill_legal_of_all(boards, legal):
    """Set ``legal[board, point]`` for every point of every board, for the player to move and without suicide."""
    for i in range(boards.size):
        fill_legal(boards[i : i + 1], boards[i].to_play, False, legal[i])


@kernel
def hash_after(boards, work, move, color):
    """The hash of the position after a legal move; ``work`` is one more record to play it on."""
    work[0] = boards[0]
    play_stone(work[0], np.uint16(move), np.int8(color))
    return work[0].hash


@kernel
def fill_hashes(boards, work, color, legal, hashes):
    """Set ``hashes[point]`` to the hash of the position after each legal move."""
    for p in range(boards[0].lines * boards[0].lines):
        if legal[p]:
            hashes[p] = hash_after(boards, work, p, color)


@kernel
def set_stones(boards, colors):
    """Fill an empty board with stones; returns whether every chain has a liberty (else the board is in ruins).

    If every chain of the whole has a liberty, so has every chain on the way there: playing stone by stone captures
    nothing, and a capture shows that the whole is impossible.
    """
    b = boards[0]
    stones = 0
    for p in range(colors.size):
        if colors[p] != EMPTY:
            play_stone(b, np.uint16(p), colors[p])
            stones += 1
    b.ko = OFF
    b.recent[:] = OFF  # nobody has played them
    return np.int64(b.empty_count) + stones == colors.size


# Small questions about a move before it is made: what it takes, what it saves, how many liberties it leaves.


@kernel
def captures(b, p, color):
    """Whether a stone on an empty point would take something."""
    for k in range(4):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] == -color and is_atari(b.liberties[b.head[q]]):
            return True
    return False


@kernel
def liberties_after(b, p, color):
    """The liberty word and the stones of the chain that a stone at ``p`` would make if it captured nothing."""
    word = np.uint64(0)
    stones = 1
    near = NEIGHBORS[b.lines, p]
    for k in range(4):
        s = b.stone[near[k]]
        if s == EMPTY:
            word += liberty_word(near[k])
        elif s == color:
            word -= liberty_word(p)
            head = b.head[near[k]]
            seen = False
            for j in range(k):
                seen |= b.stone[near[j]] == color and b.head[near[j]] == head
            if not seen:
                word += b.liberties[head]
                stones += b.stones[head]
    return word, stones


@kernel
def rescue(b, stone, color):
    """A move that gets the chain at ``stone`` out of atari, or OFF: take an attacker, or extend to two liberties."""
    p = stone
    while True:
        for k in range(4):
            q = NEIGHBORS[b.lines, p, k]
            if b.stone[q] == -color and is_atari(b.liberties[b.head[q]]):
                point = atari_point(b.liberties[b.head[q]])
                if illegality(b, point, color, False) == LEGAL:
                    return point
        p = b.link[p]
        if p == stone:
            break
    point = atari_point(b.liberties[b.head[stone]])
    word, _ = liberties_after(b, point, color)
    return OFF if is_atari(word) else point


@kernel
def self_atari_stones(b, p, color):
    """How many stones a move that takes nothing would put in atari with itself; 0 if it leaves two liberties."""
    empties = 0
    for k in range(4):
        q = NEIGHBORS[b.lines, p, k]
        empties += b.stone[q] == EMPTY
    if empties > 1 or captures(b, p, color):
        return 0
    word, stones = liberties_after(b, p, color)
    return stones if is_atari(word) else 0
