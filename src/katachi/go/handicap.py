"""Where handicap stones stand: the fixed placement of GTP, and as many more as a board takes."""

from __future__ import annotations

from katachi.go.points import check_size


def max_fixed_handicap(size: int) -> int:
    """The most stones that have a fixed place on a board of that size (GTP 2, section 4.1.1)."""
    if size < 7:
        return 0
    return 4 if size % 2 == 0 or size == 7 else 9


def fixed_handicap_points(size: int, stones: int) -> list[int]:
    """The points of a fixed handicap of 2 stones or more, in order; raises ValueError if there are no such places."""
    most = max_fixed_handicap(check_size(size))
    if not 2 <= stones <= most:
        known = f"2 to {most} stones" if most else "no handicap stones"
        raise ValueError(f"{stones} handicap stones: on {size}×{size} {known} have fixed places")
    low = 2 if size < 13 else 3
    high, middle = size - 1 - low, size // 2
    # (row, col) from the top; GTP's first stone is in the lower left, its second in the upper right.
    corners = [(high, low), (low, high), (low, low), (high, high)]
    sides = [(middle, low), (middle, high), (low, middle), (high, middle)]
    places = corners[: min(stones, 4)]
    if stones >= 6:
        places += sides[: stones // 2 * 2 - 4]
    if stones >= 5 and stones % 2:
        places.append((middle, middle))
    return sorted(row * size + col for row, col in places)


def free_handicap_points(size: int, stones: int) -> list[int]:
    """Points for any handicap that leaves room to play: the fixed places first, then those farthest from the others."""
    if not 2 <= stones <= size * size - 1:
        raise ValueError(f"{stones} handicap stones do not fit on {size}×{size}")
    most = min(stones, max_fixed_handicap(size))
    chosen = fixed_handicap_points(size, most) if most >= 2 else []
    while len(chosen) < stones:
        chosen.append(_farthest(size, chosen))
    return sorted(chosen)


def _farthest(size: int, chosen: list[int]) -> int:
    """The free point whose nearest chosen stone, or edge, is farthest away; the first of equals."""

    def distance(point: int) -> tuple[int, int]:
        row, col = divmod(point, size)
        edge = min(row, col, size - 1 - row, size - 1 - col)
        nearest = min((abs(row - p // size) + abs(col - p % size) for p in chosen), default=size)
        return min(nearest, 2 * edge + 1), nearest

    free = [point for point in range(size * size) if point not in chosen]
    return max(free, key=lambda point: (distance(point), -point))
