"""The slow, obvious twins of the players' kernels, by their definitions, on plain lists."""

from __future__ import annotations

from statistics import fmean

from helpers import naive


def sensible_moves(stones: list[int], size: int, color: int, ko_point: int | None) -> list[int]:
    """Legal under simple ko, no suicide, no own eye filled."""
    return [
        point
        for point in range(size * size)
        if naive.is_legal_simple(stones, size, point, color, ko_point)
        and not naive.is_own_eye(stones, size, point, color)
    ]


def liberty_balance(stones: list[int], size: int) -> float:
    """Mean liberties of Black's chains less those of White's."""
    means = []
    for color in (naive.BLACK, naive.WHITE):
        chains = {frozenset(naive.chain_at(stones, size, p)) for p in range(size * size) if stones[p] == color}
        means.append(fmean(len(naive.liberties_of(stones, size, chain)) for chain in chains) if chains else 0.0)
    return means[0] - means[1]


def influence_map(stones: list[int], size: int, dilations: int, erosions: int) -> list[int]:
    """Bouzy's map, each step written for Black and applied to White by turning the signs."""
    values = [128 * stone for stone in stones]
    for _ in range(dilations):
        values = _for_both_colors(values, size, _dilated)
    for _ in range(erosions):
        values = _for_both_colors(values, size, _eroded)
    return values


def influence_balance(stones: list[int], size: int) -> int:
    values = influence_map(stones, size, dilations=5, erosions=21)
    return sum(value > 0 for value in values) - sum(value < 0 for value in values)


def _for_both_colors(values: list[int], size: int, step) -> list[int]:
    turned = [-value for value in values]
    changes = [
        (step(values, size, point) - values[point]) - (step(turned, size, point) - turned[point])
        for point in range(size * size)
    ]
    return [value + change for value, change in zip(values, changes, strict=True)]


def _dilated(values: list[int], size: int, point: int) -> int:
    near = [values[q] for q in naive.neighbors(size, point)]
    gains = values[point] >= 0 and not any(value < 0 for value in near)
    return values[point] + (sum(value > 0 for value in near) if gains else 0)


def _eroded(values: list[int], size: int, point: int) -> int:
    if values[point] <= 0:
        return values[point]
    near = [values[q] for q in naive.neighbors(size, point)]
    return max(0, values[point] - sum(value <= 0 for value in near))
