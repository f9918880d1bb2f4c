"""What a move does at once: what it takes, puts in atari or saves, and the ladders that it begins or runs in.

>>> from katachi.go.points import parse_vertex
>>> board = Board.parse('''
... . . . . . .
... . . X . . .
... . X O . . .
... . X . . . .
... . . . . . .
... . . . . . .''')
>>> [(fact.tactic.value, fact.stones) for fact in find_tactics(board, parse_vertex("D4", 6))]
[('catches in a ladder', (14,))]
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import numpy as np

from katachi.core.evaluators import after
from katachi.go.board import Board
from katachi.go.points import EMPTY, PASS
from katachi.go.reading import is_ladder_capture, read_ladder


class Tactic(Enum):
    """What can be said of a move."""

    CAPTURES = "captures"
    ATARI = "puts in atari"
    LADDER = "catches in a ladder"
    SAVES = "saves from atari"
    RUNS_IN_VAIN = "runs in vain with"
    SELF_ATARI = "puts into atari itself"
    LEAVES = "leaves in atari"


class TacticalFact(NamedTuple):
    """A tactic and the stones that it is about."""

    tactic: Tactic
    stones: tuple[int, ...]


def find_tactics(board: Board, move: int) -> list[TacticalFact]:
    """What a move of the player to move does at once; raises IllegalMove if simple ko or suicide forbids it."""
    played = after(board, move)
    taken = tuple(np.flatnonzero((board.stones != EMPTY) & (played.stones == EMPTY)).tolist())
    facts = [TacticalFact(Tactic.CAPTURES, taken)] if taken else []
    return [*facts, *_threats(board, played), *_rescues(board, played, move), *_self_atari(board, played, move)]


def _chains_in_atari(board: Board, color: int) -> list[tuple[int, ...]]:
    chains = (tuple(chain) for chain in board.chains())
    return [chain for chain in chains if board[chain[0]] == color and board.liberty_count(chain[0]) == 1]


def _threats(board: Board, played: Board) -> list[TacticalFact]:
    """The enemy's chains that are in atari now and were not."""
    chains = [chain for chain in _chains_in_atari(played, -board.to_play) if board.liberty_count(chain[0]) > 1]
    caught = [read_ladder(played, chain[0], attacker_first=False).captured for chain in chains]
    return [
        TacticalFact(Tactic.LADDER if is_caught else Tactic.ATARI, chain)
        for chain, is_caught in zip(chains, caught, strict=True)
    ]


def _rescues(board: Board, played: Board, move: int) -> list[TacticalFact]:
    """What becomes of our chains that were in atari."""
    facts = []
    for chain in _chains_in_atari(board, board.to_play):
        is_lost = is_ladder_capture(played, chain[0])
        runs = move in played.chain(chain[0])
        tactic = Tactic.SAVES if not is_lost else Tactic.RUNS_IN_VAIN if runs else Tactic.LEAVES
        facts.append(TacticalFact(tactic, chain))
    return facts


def _self_atari(board: Board, played: Board, move: int) -> list[TacticalFact]:
    """Our chain that the move puts into atari; one that was in atari runs in vain, and a ko is no mistake."""
    if move == PASS or played.liberty_count(move) > 1 or played.ko_point is not None:
        return []
    chain = tuple(played.chain(move))
    ran = any(board[stone] != EMPTY and board.liberty_count(stone) == 1 for stone in chain)
    return [] if ran else [TacticalFact(Tactic.SELF_ATARI, chain)]
