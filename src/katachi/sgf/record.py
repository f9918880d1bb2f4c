"""A record: the tree of one game, what its root says, and the game that it tells.

>>> from katachi.sgf import parse_sgf
>>> record = parse_sgf("(;GM[1]SZ[9]KM[6,5]PB[Sen'ei]RE[B+R];B[ee];W[tt])")[0]
>>> record.size, record.black, str(record.result), record.komi
(9, "Sen'ei", 'B+R', 6.5)
>>> str(record.repairs[0])
"root: komi '6,5' taken for 6.5"
>>> len(record.replay().moves)
2
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from katachi.go.game import Game
from katachi.go.points import GameResult
from katachi.go.rules import Rules
from katachi.sgf import information
from katachi.sgf.errors import SgfError
from katachi.sgf.repairs import Repair, RepairLog
from katachi.sgf.replay import Ending, replay, replay_nodes, replay_to_end
from katachi.sgf.tree import Node


@dataclass(slots=True)
class SgfGame:
    """One game of a collection: its tree, and every repair that reading and replaying it has needed so far."""

    root: Node = field(default_factory=Node)
    repairs: list[Repair] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The board size, 19 if the record does not tell; raises SgfError for a board that katachi has not."""
        return information.read_size(self.root)

    @property
    def komi(self) -> float | None:
        return information.read_komi(self.root)

    @property
    def handicap(self) -> int:
        """The number of handicap stones, 0 if the record tells none."""
        return information.read_handicap(self.root)

    @property
    def rules(self) -> Rules:
        """The rules with the komi, or what is usual (with simple ko) where the record does not tell."""
        return information.read_rules(self.root)

    @property
    def result(self) -> GameResult | None:
        return information.read_result(self.root)

    @property
    def black(self) -> str:
        """The name of Black, empty if the record does not tell."""
        return self.root.simple_text("PB")

    @property
    def white(self) -> str:
        """The name of White, empty if the record does not tell."""
        return self.root.simple_text("PW")

    @property
    def black_rank(self) -> str | None:
        """Black's rank as ``3k``, ``6d`` or ``9p``."""
        return information.read_rank(self.root, "BR")

    @property
    def white_rank(self) -> str | None:
        """White's rank as ``3k``, ``6d`` or ``9p``."""
        return information.read_rank(self.root, "WR")

    def main_line(self) -> Iterator[Node]:
        """The nodes of the game as it was played, the root first."""
        return self.root.main_line()

    def replay(self, until: Node | None = None, *, before_move: int | None = None, rules: Rules | None = None) -> Game:
        """The game along the main line, or along the way to a node, which is included.

        ``before_move=1`` stops before the first move, with the stones that are set up there. ``rules`` replace those
        of the record. Illegal moves are kept as set-ups and join ``repairs``. Raises SgfError if it cannot be played.
        """
        log = RepairLog()
        nodes = list(self.main_line()) if until is None else until.path()
        game = replay(nodes, before_move=before_move, rules=rules, report=log)
        self._note(log)
        return game

    def positions(self) -> Iterator[tuple[Node, Game]]:
        """Every node of the main line with the game after it: one game, which goes on; copy it to keep it."""
        log = RepairLog()
        nodes = list(self.main_line())
        yield from zip(nodes, replay_nodes(nodes, log), strict=True)
        self._note(log)

    def replay_to_end(self) -> Ending:
        """The board at the end of the main line, faster than by ``replay`` and without a history."""
        log = RepairLog()
        ending = replay_to_end(list(self.main_line()), log)
        self._note(log)
        return ending

    def _repr_svg_(self) -> str | None:
        """The end of the main line, for notebooks; None if it cannot be played."""
        try:
            return self.replay()._repr_svg_()
        except SgfError:
            return None

    def _note(self, log: RepairLog) -> None:
        """Add what is new: the same record may be replayed more than once."""
        if found := log.repairs:
            known = set(self.repairs)
            self.repairs.extend(repair for repair in found if repair not in known)
