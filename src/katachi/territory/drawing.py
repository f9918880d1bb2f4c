"""Influence as a picture: a small board for each rule, marked where Black is felt more than White, and the
reverse.
"""

from __future__ import annotations

from collections.abc import Mapping

from katachi.core.drawing import Picture, draw_sheet
from katachi.features.influence import INFLUENCES, AnyInfluence, GroupKind, map_influence
from katachi.go.board import Board


def draw_influence(
    board: Board, influences: Mapping[str, AnyInfluence] = INFLUENCES, group: GroupKind = "chain"
) -> str:
    """Black's influence less White's by each of some rules, side by side as one SVG."""
    pictures = []
    for name, influence in influences.items():
        black, white = map_influence(board, influence, group)
        words = f"{name}: red where Black is felt more, blue where White is"
        pictures.append(Picture(name, words, (black - white).reshape(board.size, board.size)))
    return draw_sheet("Influence", board, pictures)
