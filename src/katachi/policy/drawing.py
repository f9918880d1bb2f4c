"""Planes as a picture: a small board for each of them, with its points marked, on one sheet."""

from __future__ import annotations

from katachi.core.drawing import Picture, draw_sheet
from katachi.features.planes import HIGHEST_RANK, PlaneSet
from katachi.go.board import Board


def draw_planes(planes: PlaneSet, board: Board, rank: int = HIGHEST_RANK) -> str:
    """All planes of a position as one SVG, each with its name below, and what it means for those who point at it."""
    (encoded,) = planes.encode([board], rank)
    pictures = [
        Picture(f"{plane} {planes.names[plane]}", planes.describe(plane), encoded[plane])
        for plane in range(planes.count)
    ]
    return draw_sheet(f"{planes.name}: {planes.count} planes", board, pictures)
