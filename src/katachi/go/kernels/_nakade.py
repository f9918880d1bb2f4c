"""Nakade: the shapes in which big eyes are one eye, and the point on which it turns.

A square of four, a T, a bulky five, a cross or a rabbity six is one eye: if stones fill it, their capture leaves one
eye; if it is empty, the point with the most neighbors in it kills (the square needs none).
"""

from __future__ import annotations

from typing import Final

from numba import njit

from katachi.go.kernels.board import NEIGHBORS, OFF
from katachi.go.points import EMPTY

LARGEST_NAKADE: Final = 6


@njit(cache=True, nogil=True)
def _degree(b, p, color, added):
    """How many neighbors of a stone belong to its color, counting ``added`` as one of them."""
    degree = 0
    for k in range(4):
        q = NEIGHBORS[b.lines, p, k]
        if q != OFF and (b.stone[q] == color or q == added):
            degree += 1
    return degree


@njit(cache=True, nogil=True)
def _is_one_eye(points, largest, contacts):
    """Whether four, five or six points make one eye: the square, the T, the bulky five, the cross, the rabbity six.

    The largest number of neighbors that a point has among them, and the sum of these numbers, tell them from others.
    """
    if points == 4:
        return largest == 3 or contacts == 8
    if points == 5:
        return largest == 4 or contacts == 10
    return largest == 4 and contacts == 12


@njit(cache=True, nogil=True)
def is_nakade(b, p, color, stones):
    """Whether a stone at ``p`` makes a chain of so many stones that leaves one eye when it is captured.

    Up to three stones always do.
    """
    if stones <= 3:
        return True
    if stones > LARGEST_NAKADE:
        return False
    largest = _degree(b, p, color, p)
    contacts = largest
    for k in range(4):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] != color:
            continue
        fresh = True
        for j in range(k):
            other = NEIGHBORS[b.lines, p, j]
            fresh &= not (b.stone[other] == color and b.head[other] == b.head[q])
        stone = q
        while fresh:
            degree = _degree(b, stone, color, p)
            largest = max(largest, degree)
            contacts += degree
            stone = b.link[stone]
            fresh = stone != q
    return _is_one_eye(stones, largest, contacts)


@njit(cache=True, nogil=True)
def vital_point(b, start, color, region):
    """The point that leaves the enemy one eye in the small empty region at ``start`` which he alone surrounds, or OFF.

    It is the middle of three, of the T, of the cross, of the bulky five and of the rabbity six.
    """
    region[0] = start
    count = 1
    done = 0
    best = OFF
    largest = 0
    contacts = 0
    while done < count:
        p = region[done]
        done += 1
        degree = 0
        for k in range(4):
            q = NEIGHBORS[b.lines, p, k]
            if b.stone[q] == color:
                return OFF
            if b.stone[q] != EMPTY:
                continue
            degree += 1
            fresh = True
            for i in range(count):
                fresh &= region[i] != q
            if fresh:
                if count == LARGEST_NAKADE:
                    return OFF
                region[count] = q
                count += 1
        contacts += degree
        if degree > largest:
            largest = degree
            best = p
    return best if count == 3 or (count > 3 and _is_one_eye(count, largest, contacts)) else OFF
