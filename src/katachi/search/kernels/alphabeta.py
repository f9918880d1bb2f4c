"""The compiled alpha-beta search: a stack of frames instead of recursion, so that it can stop after any node.

A node's *worth* is color · P(Black wins) of the player to move there: the parent's worth is its negative, exactly, so
that values flip once, at the node, and equal plain minimax to the last bit. Depth counts down; at depth 0 quiescence
begins, which looks at captures alone and may also stop at once; at ``-quiescence`` the evaluator has the word. The
children of a frontier node are all leaves, so that one sweep of the evaluator over its moves settles it.

An evaluator comes in as first-class functions of fixed signatures; so this module is compiled once for all of them
(and, as signatures make numba compile eagerly, when it is imported). Kernels trust their arguments;
``search/alphabeta.py`` checks.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import from_dtype, types

from katachi.go.kernels import kernel
from katachi.go.kernels.board import OFF, captures, is_sensible, play_pass, play_stone, record_dtype
from katachi.go.kernels.values import PARAMETERS, RECORDS, SWEEP, VALUE
from katachi.go.points import BLACK, EMPTY, MAX_POINTS
from katachi.search.kernels.mcts_nodes import area_outcome, node_key

MAX_PLY: Final = 64  # depth and quiescence together
MOVES: Final = MAX_POINTS + 1

FRAME: Final = record_dtype(
    [
        ("entered", np.bool_),
        ("depth", np.int32),
        ("passes", np.int32),  # in succession, up to this node
        ("alpha", np.float64),
        ("beta", np.float64),
        ("floor", np.float64),  # alpha as it was when the node was entered
        ("static", np.float64),  # P(Black wins) as the evaluator sees the board
        ("best", np.float64),
        ("best_move", np.uint16),  # OFF is the pass, if ``line_length`` is not 0
        ("moves", np.uint16, MOVES),
        ("values", np.float64, MOVES),  # of the boards after these moves, P(Black wins)
        ("order", np.float64, MOVES),  # the greatest is searched first
        ("count", np.int32),
        ("tried", np.int32),
        ("key", np.uint64),
        ("nodes_before", np.int64),
        ("line", np.uint16, MAX_PLY),
        ("line_length", np.int32),
    ]
)

ENTRY: Final = record_dtype(
    [("key", np.uint64), ("value", np.float64), ("depth", np.int16), ("bound", np.uint8), ("move", np.uint16)]
)
NO_ENTRY: Final = np.uint8(0)
EXACT: Final = np.uint8(1)
AT_LEAST: Final = np.uint8(2)
AT_MOST: Final = np.uint8(3)

TREE: Final = record_dtype(
    [
        ("ply", np.int32),  # of the frame at work; -1 when the iteration is complete
        ("nodes", np.int64),
        ("komi", np.float64),
        ("quiescence", np.int32),
        ("has_sweep", np.bool_),
        ("considered", np.uint8, MOVES),  # at the root, the pass last
        ("tie_break", np.float64, MOVES),  # random and tiny: the order of equal moves at the root
        ("visits", np.int64, MOVES),
        ("killers", np.uint16, (MAX_PLY, 2)),
        ("history", np.float64, (2, MOVES)),
        ("history_peak", np.float64),
    ]
)

# What is tried first: the table's move, then by the evaluator's value. A move that lately cut off at this ply, or often
# anywhere, gains a little; with more than a little, trees grew, as an evaluator knows its own opinion best.
_TABLE_MOVE: Final = 8.0
_KILLER: Final = 0.03
_HISTORY: Final = 0.02  # at most


@kernel
def no_sweep(boards, parameters, values):
    """Stands for the sweep of an evaluator that has none."""


@kernel
def _probe(table, frame):
    """Where the table knows this node to this depth, else an index past its end; sets ``best_move`` to its move."""
    first = np.uint64(2) * (frame.key & np.uint64(table.size // 2 - 1))
    found = np.uint64(table.size)
    for slot in (first, first + np.uint64(1)):
        entry = table[slot]
        if entry.bound != NO_ENTRY and entry.key == frame.key:
            if entry.depth == frame.depth:
                return slot
            frame.best_move = entry.move
    return found


@kernel
def _store(table, frame, bound):
    """Keep a node: the deeper of two in the first slot, the newest in the second."""
    slot = np.uint64(2) * (frame.key & np.uint64(table.size // 2 - 1))
    if table[slot].bound != NO_ENTRY and table[slot].key != frame.key and table[slot].depth > frame.depth:
        slot += np.uint64(1)
    entry = table[slot]
    entry.key = frame.key
    entry.value = frame.best
    entry.depth = frame.depth
    entry.bound = bound
    entry.move = frame.best_move


@kernel
def _list_moves(b, frame, tree):
    """Write the moves of a node to its frame: at the root those considered, in quiescence captures, else all sensible.

    Where a side has no other move it passes, but never in quiescence.
    """
    count = 0
    quiet = frame.depth <= 0
    for i in range(b.empty_count):
        p = b.empties[i]
        if tree.ply == 0:
            take = tree.considered[p] != 0
        else:
            take = (not quiet or captures(b, p, b.to_play)) and is_sensible(b, p, b.to_play)
        if take:
            frame.moves[count] = p
            count += 1
    if count == 0 and not quiet:
        frame.moves[0] = OFF
        count = 1
    frame.count = count
    frame.tried = 0


@kernel
def _value_moves(ply, frame, boards, work, tree, value, sweep, parameters):
    """Fill ``frame.values``: by the evaluator's sweep, or else by playing each move on a spare record."""
    pass_index = np.int64(boards[ply].lines) * np.int64(boards[ply].lines)
    spare = boards.size - 1
    if tree.has_sweep:
        sweep(boards[ply : ply + 1], parameters, work)
        for i in range(frame.count):
            p = frame.moves[i]
            frame.values[i] = work[pass_index if p == OFF else np.int64(p)]
        return
    for i in range(frame.count):
        _play_on(boards, ply, spare, frame.moves[i])
        frame.values[i] = value(boards[spare:], parameters)


@kernel
def _play_on(boards, ply, target, move):
    boards[target] = boards[ply]
    color = boards[ply].to_play
    if move == OFF:
        play_pass(boards[target], color)
    else:
        play_stone(boards[target], move, color)


@kernel
def _order_moves(b, frame, tree):
    """Fill ``frame.order``; ``best_move`` is the table's, or OFF."""
    color = b.to_play
    side = 0 if color == BLACK else 1
    share = _HISTORY / (1.0 + tree.history_peak)
    killers = tree.killers[tree.ply]
    for i in range(frame.count):
        p = frame.moves[i]
        order = color * frame.values[i] + share * tree.history[side, p]
        if p == frame.best_move:
            order += _TABLE_MOVE
        elif p == killers[0] or p == killers[1]:
            order += _KILLER
        if tree.ply == 0:
            order += tree.tie_break[p]
        frame.order[i] = order


@kernel
def _settle_frontier(b, frame, tree):
    """The best of children that are all leaves; an end by two passes counts by its score."""
    color = b.to_play
    winner = -1
    for i in range(frame.count):
        p = frame.moves[i]
        worth = color * (area_outcome(b, tree.komi) if p == OFF and frame.passes == 1 else frame.values[i])
        if tree.ply == 0:
            tree.visits[p] += 1
        # The best may be the stand-pat value of quiescence; among equal moves the order decides.
        better = worth > frame.best
        if better or (winner >= 0 and worth == frame.best and frame.order[i] > frame.order[winner]):
            frame.best = worth
            frame.best_move = p
            frame.line[0] = p
            frame.line_length = 1
            winner = i


@kernel
def _recall(frame, table):
    """Take what the table knows of a node: a move to try first in ``best_move``; returns whether that settles it."""
    frame.best_move = OFF
    slot = _probe(table, frame)
    if slot == np.uint64(table.size):
        return False
    entry = table[slot]
    frame.best_move = entry.move
    exact = entry.bound == EXACT
    high = entry.bound == AT_LEAST and entry.value >= frame.beta
    low = entry.bound == AT_MOST and entry.value <= frame.alpha
    if not (exact or high or low):
        return False
    frame.best = entry.value
    if exact and entry.move != OFF:
        frame.line[0] = entry.move
        frame.line_length = 1
    return True


@kernel
def _enter(frame, boards, table, work, tree, value, sweep, parameters):
    """Look at a node for the first time; returns whether that settles it."""
    ply = tree.ply
    b = boards[ply]
    tree.nodes += 1
    frame.entered = True
    frame.floor = frame.alpha
    frame.line_length = 0
    frame.best = -np.inf
    frame.nodes_before = tree.nodes
    frame.key = node_key(b, frame.passes)
    if ply > 0 and _recall(frame, table):  # the root has moves of its own, and keeps its best from run to run
        return True
    if frame.depth <= 0:  # quiescence may leave it at that
        frame.best = b.to_play * frame.static
        if frame.best >= frame.beta:
            return True
        frame.alpha = max(frame.alpha, frame.best)
    _list_moves(b, frame, tree)
    if frame.count == 0:
        return True
    _value_moves(ply, frame, boards, work, tree, value, sweep, parameters)
    _order_moves(b, frame, tree)
    frame.best_move = OFF
    if frame.depth - 1 > -tree.quiescence:
        return False
    _settle_frontier(b, frame, tree)
    if ply > 0:
        _store(table, frame, EXACT)
    return True


@kernel
def _next_move(frame):
    """Bring the most promising move that is left to the front of those left; returns its place."""
    at = frame.tried
    top = at
    for i in range(at + 1, frame.count):
        if frame.order[i] > frame.order[top]:
            top = i
    frame.moves[at], frame.moves[top] = frame.moves[top], frame.moves[at]
    frame.values[at], frame.values[top] = frame.values[top], frame.values[at]
    frame.order[at], frame.order[top] = frame.order[top], frame.order[at]
    return at


@kernel
def _descend(frames, boards, tree, at):
    """Put the child after the move at this place on the stack."""
    ply = tree.ply
    frame = frames[ply]
    child = frames[ply + 1]
    move = frame.moves[at]
    _play_on(boards, ply, ply + 1, move)
    child.entered = False
    child.depth = frame.depth - 1
    child.passes = frame.passes + 1 if move == OFF else 0
    child.static = frame.values[at]
    child.alpha = -frame.beta
    child.beta = -frame.alpha
    tree.ply = ply + 1


@kernel
def _receive(frame, worth, child, child_length):
    """Take the worth of the move that was tried last, and the line that goes with it."""
    move = frame.moves[frame.tried]
    frame.tried += 1
    if worth <= frame.best:
        return
    frame.best = worth
    frame.best_move = move
    frame.alpha = max(frame.alpha, worth)
    frame.line[0] = move
    for i in range(child_length):
        frame.line[i + 1] = child.line[i]
    frame.line_length = child_length + 1


@kernel
def _remember(b, frame, table, tree):
    """Keep a node that is done in the table, and what cut it off among the killers and in the history.

    But not the root: its moves are those that superko allows there, so that its worth is not that of the position.
    """
    bound = EXACT
    if frame.best >= frame.beta:
        bound = AT_LEAST
        move = frame.best_move
        if move != OFF and b.stone[move] == EMPTY:
            killers = tree.killers[tree.ply]
            if killers[0] != move:
                killers[1] = killers[0]
                killers[0] = move
            side = 0 if b.to_play == BLACK else 1
            tree.history[side, move] += max(frame.depth, 0) ** 2
            tree.history_peak = max(tree.history_peak, tree.history[side, move])
    elif frame.best <= frame.floor:
        bound = AT_MOST
    if tree.ply > 0:
        _store(table, frame, bound)


@kernel
def _leave(frames, boards, table, tree, settled):
    """Hand the worth of a node that is done to its parent."""
    ply = tree.ply
    frame = frames[ply]
    if not settled:
        _remember(boards[ply], frame, table, tree)
    tree.ply = ply - 1
    if ply > 0:
        parent = frames[ply - 1]
        if ply == 1:
            tree.visits[parent.moves[parent.tried]] += tree.nodes - frame.nodes_before + 1
        _receive(parent, -frame.best, frame, frame.line_length)


@kernel(
    signature=types.boolean(
        types.Array(from_dtype(FRAME), 1, "C"),
        RECORDS,
        types.Array(from_dtype(ENTRY), 1, "C"),
        types.float64[::1],
        types.Array(from_dtype(TREE), 1, "C"),
        VALUE,
        SWEEP,
        PARAMETERS,
        types.int64,
    ),
)
def run_nodes(frames, boards, table, work, trees, value, sweep, parameters, budget):
    """Continue an iteration for so many nodes; returns whether it is complete."""
    tree = trees[0]
    stop = tree.nodes + budget
    while tree.ply >= 0:
        frame = frames[tree.ply]
        if not frame.entered:
            if tree.nodes >= stop:
                return False
            if _enter(frame, boards, table, work, tree, value, sweep, parameters):
                _leave(frames, boards, table, tree, True)
                continue
        if frame.tried == frame.count or frame.best >= frame.beta:
            _leave(frames, boards, table, tree, False)
            continue
        at = _next_move(frame)
        if frame.moves[at] == OFF and frame.passes == 1:
            tree.visits[OFF] += tree.ply == 0
            worth = boards[tree.ply].to_play * area_outcome(boards[tree.ply], tree.komi)
            _receive(frame, worth, frame, 0)
        else:
            _descend(frames, boards, tree, at)
    return True
