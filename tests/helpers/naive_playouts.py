"""The slow twin of the tactics of playouts: chains of two liberties, moves redirected and silly, by definition."""

from __future__ import annotations

from helpers import naive
from katachi.go.board import Board


class Tactics:
    """One position; each question has a set of moves as its answer, of which the kernel gives one, or OFF for none."""

    def __init__(self, board: Board) -> None:
        self.size, self.stones, self.to_play = board.size, board.stones.tolist(), board.to_play
        self.ko = next((p for p in range(board.size**2) if self._is_ko(board, p)), None)

    def _is_ko(self, board: Board, point: int) -> bool:
        legal = naive.is_legal_simple(self.stones, self.size, point, board.to_play, None)
        return legal and not board.is_legal(point)

    def chain(self, stone: int) -> set[int]:
        return naive.chain_at(self.stones, self.size, stone)

    def liberties(self, stone: int) -> set[int]:
        return naive.liberties_of(self.stones, self.size, self.chain(stone))

    def beside(self, stone: int) -> set[int]:
        """Opponent stones that touch a chain."""
        return naive.border(self.stones, self.size, self.chain(stone), -self.stones[stone])

    def is_legal(self, point: int, color: int) -> bool:
        ko = self.ko if color == self.to_play else None
        return naive.is_legal_simple(self.stones, self.size, point, color, ko)

    def is_sensible(self, point: int, color: int) -> bool:
        return self.is_legal(point, color) and not naive.is_own_eye(self.stones, self.size, point, color)

    def liberties_after(self, point: int, color: int) -> tuple[int, set[int], set[int]]:
        """Stones and liberties of the chain that a move makes, and what it takes."""
        after = naive.put_stone(self.stones, self.size, point, color)
        if after.suicide:
            return len(after.suicide), set(), set()
        chain = naive.chain_at(after.stones, self.size, point)
        return len(chain), naive.liberties_of(after.stones, self.size, chain), after.captures

    def is_self_atari(self, point: int, color: int) -> bool:
        _, liberties, taken = self.liberties_after(point, color)
        return not taken and len(liberties) <= 1

    def runs(self, point: int, other: int, color: int) -> bool:
        _, liberties, taken = self.liberties_after(point, color)
        return bool(taken) or len(liberties - {other}) >= 2

    def takes(self, stone: int) -> set[int]:
        points = set().union(*(self.liberties(q) for q in self.beside(stone) if len(self.liberties(q)) == 1))
        return {point for point in points if self.is_legal(point, self.stones[stone])}

    def catches(self, stone: int) -> set[int]:
        color, liberties = -self.stones[stone], self.liberties(stone)
        if len(liberties) != 2 or self.takes(stone):
            return set()
        tries = {p for p in liberties if not any(self.runs(q, p, -color) for q in liberties - {p})}
        found = {p for p in tries if self.is_sensible(p, color) and not self.is_self_atari(p, color)}
        outer = {p for p in found if all(self.stones[q] != color for q in naive.neighbors(self.size, p))}
        return outer or found

    def runs_of(self, stone: int) -> set[int]:
        liberties = self.liberties(stone)
        return {p for p in liberties if any(self.runs(p, q, self.stones[stone]) for q in liberties - {p})}

    def flights(self, stone: int) -> set[int]:
        if len(self.liberties(stone)) != 2 or len(self.runs_of(stone)) == 2:
            return set()
        return self.takes(stone) or self.runs_of(stone)

    def races(self, stone: int) -> set[int]:
        if len(self.liberties(stone)) != 2 or self.runs_of(stone):
            return set()
        return set().union(*(self.catches(q) for q in self.beside(stone)))

    def redirections(self, point: int, color: int) -> set[int]:
        if not self.is_legal(point, color) or not self.is_self_atari(point, color):
            return set()
        own = [q for q in naive.neighbors(self.size, point) if self.stones[q] == color]
        others = set().union(*(self.liberties(q) - {point} for q in own if len(self.liberties(q)) == 2))
        return {p for p in others if self.is_sensible(p, color) and not self.is_self_atari(p, color)}

    def is_silly(self, point: int, color: int) -> bool:
        near = naive.neighbors(self.size, point)
        if all(self.stones[q] == color for q in near):
            return set(near) <= self.chain(near[0])
        count, liberties, taken = self.liberties_after(point, color)
        if count == 1 or len(liberties) != 1:
            return False
        rivals = [self.liberties(q) for q in near if self.stones[q] == -color]
        gives_up = any(len(theirs) == 2 and not theirs & liberties for theirs in rivals)
        return len(taken) == 1 if taken else gives_up
