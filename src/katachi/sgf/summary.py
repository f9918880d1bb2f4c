"""Counts over many records: how many there are, of what size, by whom, how they ended, and what was wrong with
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from katachi.go.points import BLACK, EMPTY, GameResult, Reason
from katachi.sgf.errors import DEFAULT_LIMITS, Limits, SgfError
from katachi.sgf.files import Piece, parse_piece
from katachi.sgf.record import SgfGame

MOST_EXAMPLES: Final = 20
NOT_TOLD: Final = "?"


@dataclass(slots=True)
class Summary:
    """Counts of games that could be replayed to their end; ``errors`` counts what could not."""

    games: int = 0
    moves: int = 0
    errors: int = 0
    by_size: Counter[int] = field(default_factory=Counter)
    by_rank: Counter[str] = field(default_factory=Counter)  # two players a game
    by_result: Counter[str] = field(default_factory=Counter)
    repairs: Counter[str] = field(default_factory=Counter)  # by kind
    repaired_games: int = 0
    error_examples: list[str] = field(default_factory=list)

    def add_piece(self, piece: Piece, limits: Limits = DEFAULT_LIMITS) -> None:
        """Read and replay every game of a piece."""
        try:
            games = parse_piece(piece, limits)
        except SgfError as error:
            self._add_error(str(error))
            return
        for game in games:
            try:
                self.add_game(game)
            except SgfError as error:
                self._add_error(f"{piece.source}: {error}")

    def add_game(self, game: SgfGame) -> None:
        """Replay a game and count it; raises SgfError and counts nothing if that cannot be done."""
        ending = game.replay_to_end()
        self.games += 1
        self.moves += ending.moves
        self.by_size[ending.board.size] += 1
        self.by_rank.update(rank or NOT_TOLD for rank in (game.black_rank, game.white_rank))
        self.by_result[_kind_of_result(game.result)] += 1
        self.repairs.update(repair.kind.value for repair in game.repairs)
        self.repaired_games += bool(game.repairs)

    def _add_error(self, message: str) -> None:
        self.errors += 1
        if len(self.error_examples) < MOST_EXAMPLES:
            self.error_examples.append(message)

    def merge(self, other: Summary) -> None:
        """Add the counts of another summary to this one."""
        self.games += other.games
        self.moves += other.moves
        self.errors += other.errors
        self.repaired_games += other.repaired_games
        self.by_size += other.by_size
        self.by_rank += other.by_rank
        self.by_result += other.by_result
        self.repairs += other.repairs
        self.error_examples += other.error_examples[: MOST_EXAMPLES - len(self.error_examples)]

    def to_json(self) -> dict[str, Any]:
        """The counts as plain values, most frequent first, sizes in order."""
        return {
            "games": self.games,
            "moves": self.moves,
            "errors": self.errors,
            "by_size": {str(size): self.by_size[size] for size in sorted(self.by_size)},
            "by_rank": _in_order(self.by_rank),
            "by_result": _in_order(self.by_result),
            "repairs": _in_order(self.repairs),
            "repaired_games": self.repaired_games,
            "error_examples": self.error_examples,
        }


def summarize(pieces: Iterable[Piece], limits: Limits = DEFAULT_LIMITS) -> Summary:
    """The counts over some pieces of files."""
    summary = Summary()
    for piece in pieces:
        summary.add_piece(piece, limits)
    return summary


def _in_order(counts: Counter[str]) -> dict[str, int]:
    """The most frequent first; equal counts by name, so that processes that finish in any order report the same."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _kind_of_result(result: GameResult | None) -> str:
    """``B+score``, ``W+R``, ``B+T``, ``0`` …; the margin left out."""
    if result is None:
        return NOT_TOLD
    if result.winner == EMPTY:
        return "0"
    letter = "B" if result.winner == BLACK else "W"
    return f"{letter}+{'score' if result.reason is Reason.SCORE else result.reason.value}"
