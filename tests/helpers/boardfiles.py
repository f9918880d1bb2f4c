"""Reads the diagrams in tests/boards: a title, a board, and what is true of it.

A file has ``# title`` lines, the rows of a board, perhaps ``White to play``, and lines such as ``dead: A1 B2``; it may
name a komi, moves that are played from there (``moves: C3 pass D3``), and how many simulations a search may take.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from katachi.go.board import Board
from katachi.go.points import parse_vertex

BOARDS = Path(__file__).parents[1] / "boards"


class BoardFile(NamedTuple):
    name: str
    board: Board
    points: dict[str, list[int]]  # by the word before the colon
    komi: float | None = None
    moves: tuple[int, ...] = ()
    simulations: int | None = None


def read_boards(folder: str) -> list[BoardFile]:
    """All files of a folder of tests/boards, in order of their names."""
    return [_read_board(path) for path in sorted((BOARDS / folder).glob("*.txt"))]


def _read_board(path: Path) -> BoardFile:
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    board = Board.parse("\n".join(line for line in lines if ":" not in line))
    facts = dict(line.split(":") for line in lines if ":" in line)
    komi = float(facts.pop("komi")) if "komi" in facts else None
    simulations = int(facts.pop("simulations")) if "simulations" in facts else None
    moves = tuple(parse_vertex(vertex, board.size) for vertex in facts.pop("moves", "").split())
    points = {word: sorted(parse_vertex(v, board.size) for v in vertices.split()) for word, vertices in facts.items()}
    return BoardFile(path.stem, board, points, komi, moves, simulations)
