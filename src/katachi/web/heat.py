"""Layers as spots on the board: which color a number has, in maps that color-blind people can read too.

What has a middle is Black's on one side of it and White's on the other: territory in the stones' own colors, all else
in blue and crimson. What has none goes from pale yellow to dark blue, and gets darker all the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from katachi.analysis.layers import Layer
from katachi.web.board import Spot

_Color = tuple[int, int, int]
_SEQUENCE: Final[Sequence[_Color]] = ((250, 240, 190), (160, 205, 160), (60, 140, 150), (35, 85, 135), (30, 35, 90))
_BLACKS: Final = "#1d5fa8"  # blue, for what is Black's
_WHITES: Final = "#b3224f"  # crimson, which wood does not swallow
_STONE_BLACK: Final = "#101014"
_STONE_WHITE: Final = "#fdfcf6"
_LEAST: Final = 0.06  # of the scale: what is nearer to the middle is not shown
_LARGEST: Final = 13.0  # half the side of a square


def draw_layer(layer: Layer) -> tuple[list[Spot], list[Spot]]:
    """What a layer shows under the stones, and over them."""
    points = range(layer.values.size)
    if not layer.is_diverging:
        return [], [spot for point in points if (spot := _disc(layer, point)) is not None]
    if layer.name == "territory":
        return [], [spot for point in points if (spot := _square(layer, point)) is not None]
    return [spot for point in points if (spot := _tint(layer, point)) is not None], []


def _disc(layer: Layer, point: int) -> Spot | None:
    shade = layer.shade(point)
    if shade is None:
        return None
    text = layer.labels[point] if layer.labels else ""
    return Spot(point, _mix(shade), 0.92, text, "#fdfcf6" if shade > 0.45 else "#1c1a16")


def _square(layer: Layer, point: int) -> Spot | None:
    strength = _strength(layer, point)
    if strength is None or abs(strength) < _LEAST:
        return None
    color = _STONE_BLACK if strength > 0 else _STONE_WHITE
    return Spot(point, color, 0.85, round=False, half=round(_LARGEST * abs(strength) ** 0.5, 1))


def _tint(layer: Layer, point: int) -> Spot | None:
    strength = _strength(layer, point)
    if strength is None or abs(strength) < _LEAST:
        return None
    return Spot(point, _BLACKS if strength > 0 else _WHITES, round(0.75 * abs(strength), 3))


def _strength(layer: Layer, point: int) -> float | None:
    """−1 to 1 on a scale with a middle."""
    shade = layer.shade(point)
    return None if shade is None else 2 * shade - 1


def _mix(shade: float) -> str:
    """A color of the sequence, 0 to 1."""
    place = shade * (len(_SEQUENCE) - 1)
    low = min(int(place), len(_SEQUENCE) - 2)
    share = place - low
    mixed = (round(a + share * (b - a)) for a, b in zip(_SEQUENCE[low], _SEQUENCE[low + 1], strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def gradient_of(layer: Layer) -> str:
    """The scale of a layer as a CSS background, the low end on the left."""
    if not layer.is_diverging:
        stops = [_mix(number / 8) for number in range(9)]
    elif layer.name == "territory":
        stops = [_STONE_WHITE, "#e3ba74", _STONE_BLACK]
    else:
        stops = [_WHITES, "#e3ba74", _BLACKS]
    return f"linear-gradient(to right, {', '.join(stops)})"
