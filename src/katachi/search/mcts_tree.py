"""The Monte-Carlo tree of one game as Python sees it: room for nodes, the way from game to game, and what was found.

Room is fixed: so many megabytes, of which the system gives what is used. When all of it is taken, the least visited
half is cut off and grows again where it matters. When the game continues, the part below its new position is kept.
``search/kernels/mcts_nodes.py`` says how nodes lie in memory; ``search/kernels/mcts.py`` runs simulations on them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Ban, Doubles, Evaluation, Floats, Ints, Outcome
from katachi.go.board import Board, Boards
from katachi.go.game import Game, Play, Step
from katachi.go.kernels import board as board_kernels
from katachi.go.points import BLACK, PASS
from katachi.go.rules import KoRule, Rules
from katachi.search.kernels import mcts as kernels
from katachi.search.kernels import mcts_nodes as layout
from katachi.search.kernels.mcts_nodes import key_of
from katachi.search.one_ply import komi_of, passes_before

_SUPERKO: Final = {
    KoRule.SIMPLE: kernels.SIMPLE_KO,
    KoRule.POSITIONAL: kernels.POSITIONAL,
    KoRule.SITUATIONAL: kernels.SITUATIONAL,
}
_LONG_QUEUE: Final = 2  # batches
_MOST_VISITS: Final = 64  # that a move needs for a node, however long the queue
_MOST_SCORE: Final = 0.9  # share in the values that can be told from who wins
_FEWEST_NODES: Final = 8 * layout.FREE_NODES
_MORE_VISITS: Final = 50  # that gains count for, beside those of the most visited move


class MctsTree:
    """The tree below a game's position. ``lock`` guards which nodes are in use; simulations need none."""

    def __init__(self, size: int, megabytes: float, shares_positions: bool = False) -> None:
        self.size = size
        self.points = size * size
        width = -(-(self.points + 1) // layout.LANES) * layout.LANES
        node_bytes = width * (4 * layout.FIELDS + 4 + 2) + layout.NODE.itemsize
        self.capacity = max(_FEWEST_NODES, int(megabytes * 1e6 / node_bytes))
        self.lock = Lock()
        self.control = np.zeros(1, dtype=kernels.TREE)
        self.control["shares_positions"] = shares_positions
        self.nodes = np.zeros(self.capacity, dtype=layout.NODE)
        self.edges: Floats = np.zeros((self.capacity, layout.FIELDS, width), dtype=np.float32)
        self.children: NDArray[np.int32] = np.zeros((self.capacity, width), dtype=np.int32)
        self.stones: NDArray[np.int8] = np.zeros((self.capacity, width), dtype=np.int8)
        self.owners: NDArray[np.int8] = np.zeros((self.capacity, width), dtype=np.int8)
        slots = 2 * self.capacity if shares_positions else 1
        self.table: NDArray[np.int32] = np.full(1 << (slots - 1).bit_length(), layout.NONE, dtype=np.int32)
        self.history: NDArray[np.uint64] = np.zeros(1, dtype=np.uint64)
        self.root_board = Board(size).record
        self._steps: list[Step] = []
        self._rules: Rules | None = None  # None: what has grown is of no use for any game
        self._free: list[int] = []
        self._used = 0  # nodes from here on were never taken
        self._favors_pass = False
        self._least_visits = 0.0  # that a move needs for a node
        self.is_full = False

    # From game to game

    def begin(
        self, game: Game, playouts: NDArray[Any], reuse: bool, bans: Collection[Ban] = (), *, goes_on: bool = False
    ) -> None:
        """Make a game's position the root: a fresh one, or a grown one if the game has gone on since the last time.

        The same position again begins anew unless the search ``goes_on``, and so does what grows with bans or after.
        """
        passes = passes_before(game)
        self._least_visits = float(self.control["expand_after"][0])
        with self.lock:
            least_steps = len(self._steps) + (not goes_on)
            can_reuse = reuse and not bans and len(game.steps) >= least_steps
            root = self._grown_node(game, passes) if can_reuse else None
            self.root_board = game.board.record.copy()
            self.control["root_passes"] = passes
            self.control["last"], self.control["before"] = _last_points(game)
            self.control["komi"] = komi_of(game)
            self.control["superko"] = _SUPERKO[game.rules.ko]
            self.history = _hash_table(game.past_situations)
            self._steps, self._rules = game.steps, None if bans else game.rules
            self._favors_pass = False
            self._set_bans(bans)
            if root is None:
                self._plant(playouts)
            else:
                self.control["root"] = root
                self._keep(root, 0.0)
            self._forbid(~game.legal_moves())
            self._forbid(self._banned_at_root())

    def forget(self) -> None:
        """Let the next game begin with a fresh root."""
        self._rules = None

    def _grown_node(self, game: Game, passes: int) -> int | None:
        """The node of a game that went on from the last root, if the tree has it."""
        steps, count = game.steps, len(self._steps)
        if self._rules != game.rules or steps[:count] != self._steps:
            return None
        node = self.root
        for step in steps[count:]:
            if not isinstance(step, Play) or step.color != self.nodes["to_play"][node]:
                return None
            node = int(self.children[node, self._index(step.move)])
            if node == layout.NONE:
                return None
        return node if self.nodes["key"][node] == key_of(game.board.record, passes) else None

    def _plant(self, playouts: NDArray[Any]) -> None:
        """Throw everything away and make a root."""
        self.nodes["state"][: self._used] = layout.FREE
        self._free, self._used = [], 1
        self.table.fill(layout.NONE)
        self.control["root"] = 0
        state = int(layout.WAITING if self.control["wants_priors"][0] else layout.DEFAULT)
        arrays = self.nodes, self.edges, self.children, self.stones
        kernels.make_root(self.control, self.root_board, state, *arrays, playouts, np.zeros(1, dtype=layout.WORKER))

    def _forbid(self, forbidden: NDArray[np.bool_]) -> None:
        """Let the root have no candidates but those that the game allows."""
        root = self.edges[self.root]
        root[:, : self.points + 1][:, forbidden] = 0
        root[layout.PRIOR, : self.points + 1][forbidden] = layout.NO_CANDIDATE

    def _set_bans(self, bans: Collection[Ban]) -> None:
        """Tell the simulations down to which depth each move is banned."""
        until = self.control["banned_until"][0]
        until.fill(0)
        for color, move, depth in bans:
            at = (0 if color == BLACK else 1, self._index(move))
            until[at] = max(until[at], min(depth, layout.MAX_DEPTH))
        self.control["banned_depth"] = until.max()

    def _banned_at_root(self) -> NDArray[np.bool_]:
        """Which moves are banned there; the pass only if there is another candidate."""
        color = 0 if self.nodes["to_play"][self.root] == BLACK else 1
        banned: NDArray[np.bool_] = self.control["banned_until"][0, color, : self.points + 1] > 0
        others = self.edges[self.root, layout.PRIOR, : self.points][~banned[:-1]]
        banned[-1] &= bool((others >= 0).any())
        return banned

    def leave_out_pass(self) -> None:
        """Let the pass be no candidate at the root if there are others."""
        prior = self.edges[self.root, layout.PRIOR, : self.points + 1]
        if (prior[:-1] >= 0).any():
            prior[-1] = layout.NO_CANDIDATE

    def favor_pass(self) -> None:
        """Make the pass at the root, if it is allowed, as likely as all other moves together, now and later."""
        self._favors_pass = True
        prior = self.edges[self.root, layout.PRIOR, : self.points + 1]
        if prior[-1] < 0:
            return
        others = prior[:-1][prior[:-1] > 0].sum()
        prior[-1] = others if others > 0 else 1.0

    # Room

    def _keep(self, root: int, least_visits: float) -> None:
        """Keep what lies below a node and has so many visits; the rest is free."""
        kept = np.zeros(self.capacity, dtype=np.bool_)
        stack = np.zeros(self.capacity, dtype=np.int32)
        layout.keep_subtree(self.nodes, self.children, root, least_visits, kept, stack)
        self.nodes["state"][~kept] = layout.FREE
        self._free = np.flatnonzero(~kept[: self._used])[::-1].tolist()
        if self.control["shares_positions"][0]:
            layout.fill_table(self.nodes, self.table)

    def prune(self) -> None:
        """Cut off the least visited half of the tree. No simulation may run meanwhile."""
        with self.lock:
            in_use = self.nodes["state"] != layout.FREE
            self._keep(self.root, float(np.median(self.nodes["visits"][in_use])) + 1)
            self.is_full = False

    def hand_out(self, worker: NDArray[Any], least: int) -> bool:
        """Give a worker numbers of nodes to make, in place of what it has left; False if there are not so many."""
        self.take_back(worker)
        with self.lock:
            while len(self._free) < layout.FREE_NODES and self._used < self.capacity:
                self._free.append(self._used)
                self._used += 1
            chunk = self._free[-layout.FREE_NODES :]
            del self._free[-layout.FREE_NODES :]
            worker["free"][0, : len(chunk)] = chunk[::-1]
            worker["free_left"][0] = len(chunk)
            self.is_full |= len(chunk) < least
            return len(chunk) >= least

    def take_back(self, worker: NDArray[Any]) -> None:
        """Let the numbers that a worker has not used be free again."""
        with self.lock:
            self._free += worker["free"][0, : int(worker["free_left"][0])].tolist()
            worker["free_left"][0] = 0

    # Priors and values from outside

    def take_waiting(self, most: int) -> Ints:
        """Up to so many nodes that wait for a prior, the oldest first; they count as sent."""
        with self.lock:
            waiting = np.flatnonzero(self.nodes["state"][: self._used] == layout.WAITING)
            waiting = waiting[np.argsort(self.nodes["born"][waiting], kind="stable")][:most]
            self.nodes["state"][waiting] = layout.SENT
        return waiting

    def take_root(self) -> Ints:
        """The root if it has no evaluator's prior yet; it counts as sent."""
        with self.lock:
            if self.nodes["state"][self.root] == layout.EVALUATED:
                return np.zeros(0, dtype=np.int64)
            self.nodes["state"][self.root] = layout.SENT
            return np.array([self.root])

    def expand_by_queue(self, batches: float) -> None:
        """Let moves need more visits for a node where so many batches wait for their priors, and fewer again."""
        least, now = self._least_visits, float(self.control["expand_after"][0])
        if batches > _LONG_QUEUE:
            self.control["expand_after"] = min(2 * now + 1, max(_MOST_VISITS, least))
        elif batches < 1:
            self.control["expand_after"] = max(now / 2 - 1, least)

    def expect_lead(self) -> None:
        """Compare leads to what the evaluator expects at the root, if it does."""
        knows = self.control["knows_outcomes"][0] and self.nodes["state"][self.root] == layout.EVALUATED
        self.control["expected_lead"] = self.nodes["black_lead"][self.root] if knows else 0.0

    def count_waiting(self) -> int:
        """How many nodes wait for a prior."""
        return int(np.count_nonzero(self.nodes["state"][: self._used] == layout.WAITING))

    def put_back(self, sent: Ints) -> None:
        """Let nodes wait again that were sent in vain."""
        with self.lock:
            states = self.nodes["state"][sent]
            self.nodes["state"][sent[(states == layout.SENT) | (states == layout.AWAITED)]] = layout.WAITING

    def boards(self, nodes: Ints) -> Boards:
        """The boards of nodes."""
        records = board_kernels.new_boards(nodes.size, self.size)
        layout.restore_boards(nodes, self.nodes, self.stones, records)
        return Boards(records)

    def set_priors(
        self, nodes: Ints, keys: NDArray[np.uint64], evaluation: Evaluation, outcome: Outcome | None = None
    ) -> Ints:
        """Replace the priors and values of nodes that were sent, statistics kept; returns those still there."""
        if outcome is None:
            leads, owners = np.zeros(nodes.size, dtype=np.float32), np.zeros((nodes.size, 0), dtype=np.float32)
        else:
            leads, owners = outcome.black_lead, outcome.ownership
        arrays = (evaluation.policy, evaluation.black_wins, leads, owners)
        said = (np.ascontiguousarray(array, dtype=np.float32) for array in arrays)
        is_there = np.zeros(nodes.size, dtype=np.bool_)
        with self.lock:
            layout.put_evaluations(nodes, keys, *said, self.nodes, self.edges, self.owners, is_there)
            if self._favors_pass and self.root in nodes[is_there]:
                self.favor_pass()
        return nodes[is_there]

    @property
    def coverage(self) -> float:
        """The share of visited nodes whose prior is the evaluator's."""
        states = self.nodes["state"][: self._used][self.nodes["visits"][: self._used] > 0]
        in_use = int(np.count_nonzero(states != layout.FREE))
        return int(np.count_nonzero(states == layout.EVALUATED)) / max(in_use, 1)

    # What was found

    @property
    def root(self) -> int:
        return int(self.control["root"][0])

    def visits(self, node: int) -> Ints:
        """How often each move was chosen at a node, [n²+1]."""
        return self.edges[node, layout.VISITS, : self.points + 1].astype(np.int64)

    def priors(self) -> Floats:
        """The priors of the root's candidates, [n²+1]; 0 elsewhere."""
        return np.clip(self.edges[self.root, layout.PRIOR, : self.points + 1], 0, 1)

    def values(self, leads: Doubles) -> Floats:
        """P(Black wins) after each move of the root, [n²+1]; NaN where it was never chosen.

        Black's mean leads after them say what of the values is the score's share.
        """
        visits, wins = self.edges[self.root, :2, : self.points + 1]
        shares = np.divide(wins, visits, out=np.full_like(wins, np.nan), where=visits > 0)
        return self._without_score(shares if self.nodes["to_play"][self.root] > 0 else 1 - shares, leads)

    def black_wins(self, lead: float | None) -> float:
        """P(Black wins) at the root, as all simulations found it; their mean lead says what is the score's share."""
        wins = float(self.nodes["wins"][self.root] / max(self.nodes["visits"][self.root], 1))
        black = wins if self.nodes["to_play"][self.root] == BLACK else 1 - wins
        return float(self._without_score(np.array([black]), np.array([np.nan if lead is None else lead]))[0])

    def _without_score(self, values: NDArray[Any], leads: Doubles) -> Floats:
        """Who wins, of values that are partly by how much."""
        share = np.where(np.isnan(leads), 0, min(float(self.control["score_share"][0]), _MOST_SCORE))
        margins = 0.5 + 0.5 * np.tanh((leads - float(self.control["expected_lead"][0])) / self.size)
        won: Floats = np.clip((values - share * np.nan_to_num(margins)) / (1 - share), 0, 1).astype(np.float32)
        return won  # in bounds, though lost updates may have left a share a little outside

    @property
    def evaluation(self) -> float | None:
        """P(Black wins) as the evaluator says at the root; None if its values do not count, or it was not asked."""
        counts = self.control["values_come_with_priors"][0] and self.control["value_share"][0]
        is_known = counts and self.nodes["state"][self.root] == layout.EVALUATED
        return float(self.nodes["black_wins"][self.root]) if is_known else None

    def ownership(self) -> Floats:
        """Who will own each point as the evaluator says at the root, [n²]; 0 everywhere if it does not."""
        return (self.owners[self.root, : self.points] / layout.SURE).astype(np.float32)

    def improved_policy(self, policy: Doubles, sharpness: float, doubt: float) -> Doubles:
        """A policy [n²+1] made better by what the search found of the root's moves; few visits are enough for it.

        A move is the more probable the more it wins than the position does (Danihelka et al. 2022, section 4): its
        log-probability grows by the difference, times ``sharpness`` for each visit of the most visited move and for 50
        more. Values are drawn to the position's by ``doubt`` visits; moves that were not tried have it.
        """
        visits, wins = (self.edges[self.root, row, : self.points + 1].astype(np.float64) for row in (0, 1))
        mean = wins.sum() / max(visits.sum(), 1)
        gains = (wins - visits * mean) / (visits + doubt)
        weights = np.where(policy > 0, gains, -np.inf) * sharpness * (_MORE_VISITS + visits.max())
        improved = policy * np.exp(weights - weights.max())
        shares: Doubles = improved / improved.sum()
        return shares

    def mix_priors(self, share: float, concentration: float, rng: np.random.Generator) -> None:
        """Give the priors of the root a share of noise by Dirichlet, whose parameters have this sum."""
        priors = self.edges[self.root, layout.PRIOR, : self.points + 1]
        candidates = priors >= 0
        count = int(np.count_nonzero(candidates))
        noise = rng.dirichlet(np.full(count, concentration / count))
        priors[candidates] = (1 - share) * priors[candidates] + share * noise

    def best_move(self) -> int:
        """The most visited move of the root, of equal ones the one that wins more."""
        visits, wins = self.edges[self.root, :2, : self.points + 1]
        return self._move(int(np.lexsort((wins, visits))[-1]))

    def line(self, move: int, most: int = 40) -> tuple[list[int], list[int]]:
        """What follows a move of the root when both play what they visited most, and how often that was."""
        line, counts, node = [move], [int(self.visits(self.root)[move])], self.root
        while len(line) < most:
            node = int(self.children[node, self._index(move)])
            if node == layout.NONE or not (visits := self.visits(node)).any():
                break
            move = self._move(int(visits.argmax()))
            line.append(move)
            counts.append(int(visits[move]))
        return line, counts

    def _index(self, move: int) -> int:
        return self.points if move == PASS else move

    def _move(self, index: int) -> int:
        return PASS if index == self.points else index


def _last_points(game: Game) -> tuple[int, int]:
    """Where the last two moves were, the last first; OFF for a pass, a set-up, or none."""
    off = int(board_kernels.OFF)
    points = [step.move if isinstance(step, Play) and step.move != PASS else off for step in game.steps[-2:]]
    before, last = [off, off, *points][-2:]
    return last, before


def _hash_table(situations: Sequence[int]) -> NDArray[np.uint64]:
    """The situations as a table with open addressing, at most half full; 0, the empty board, is not an entry."""
    size = 1 << (2 * len(situations) + 1).bit_length()
    table = np.zeros(size, dtype=np.uint64)
    for situation in situations:
        slot = situation % size
        while table[slot] not in (0, situation):
            slot = (slot + 1) % size
        table[slot] = situation
    return table
