"""The simulations of Monte-Carlo tree search: descend by the most promising moves, play out, remember.

A move's score at a node, for the player to move there (Maddison et al. 2014 after Gelly and Silver 2011):

    (1 − β) Q + β Q_rave + c P sqrt(N) / (1 + n),   β = sqrt(K / (3 n + K))

with n and Q the visits and wins of the move, Q_rave those of all simulations in which the move was played later by
the same player (all moves as first), P its prior, N the visits of the node. A move that was never tried counts as the
node's mean less ``first_play_reduction``. Where a move has few such simulations, or none as the pass, β is less: it
is multiplied by m / (m + 1) for m of them.

A simulation counts its visits on the way down and its win on the way up; in between it is a loss that turns other
threads elsewhere (*virtual loss*). Superko is looked at along the path and in the game's past. Two passes end the
game by its area, all stones alive.

A leaf is worth what a playout says, a compiled evaluator, or a mixture. Another evaluator's value comes to a node
with its prior; a leaf takes that of the last node on its path that has one, so that branches which wait are not
valued by playouts alone beside others that are not. Kernels trust their arguments; ``search/mcts_tree.py`` makes
them.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import from_dtype, types

from katachi.go.kernels import kernel
from katachi.go.kernels.board import (
    LEGAL,
    NEIGHBORS,
    OFF,
    ZOBRIST,
    ZOBRIST_WHITE_TO_PLAY,
    illegality,
    is_atari,
    play_pass,
    play_stone,
    record_dtype,
)
from katachi.go.kernels.ladders import FRAME, new_stack
from katachi.go.kernels.values import PARAMETERS, RECORDS, VALUE
from katachi.go.points import BLACK
from katachi.search.kernels.mcts_nodes import (
    DEFAULT,
    EVALUATED,
    FREE,
    MAX_DEPTH,
    MAX_WIDTH,
    NODE,
    NONE,
    PRIOR,
    RAVE_VISITS,
    RAVE_WINS,
    VISITS,
    WAITING,
    WINS,
    WORKER,
    area_outcome,
    find_node,
    make_node,
    node_key,
)
from katachi.search.kernels.playouts import PLAYOUT, learn_replies, play_out

TREE: Final = record_dtype(
    [
        ("stop", np.uint8),  # set by anyone, seen by all before their next simulation
        ("decided", np.uint8),  # the best move can no longer change
        ("root", np.uint32),
        ("root_passes", np.uint8),
        ("last", np.uint16),  # the two moves before the root, or OFF
        ("before", np.uint16),
        ("threads", np.int64),
        ("komi", np.float64),
        ("superko", np.uint8),  # one of those below
        ("exploration", np.float32),  # c
        ("rave", np.float32),  # K; 0 is without
        ("first_play_reduction", np.float32),
        ("expand_after", np.float32),  # visits
        ("value_share", np.float64),  # of the evaluator in the value of a leaf; the rest is the playout's
        ("values_come_with_priors", np.bool_),  # else a compiled evaluator is asked at the leaf
        ("score_share", np.float64),  # of the score in the value of a playout; the rest is who won
        ("pattern_priors", np.bool_),  # else even ones
        ("ladder_priors", np.bool_),  # beside those by patterns
        ("shares_positions", np.bool_),
        ("stops_early", np.bool_),
        ("wants_priors", np.bool_),
        ("waits_for_priors", np.bool_),
        ("banned_depth", np.uint64),  # nothing is banned from this depth on
        ("banned_until", np.uint16, (2, MAX_WIDTH)),  # the depth, for each color, Black first, and move
    ]
)

SIMPLE_KO: Final = np.uint8(0)
POSITIONAL: Final = np.uint8(1)
SITUATIONAL: Final = np.uint8(2)

# Why ``run_simulations`` came back.
DONE: Final = 0
NEEDS_NODES: Final = 1
NEEDS_PRIOR: Final = 2

_CHECK_EVERY: Final = 64  # simulations, before it is asked whether the best move can still change
_TINY: Final = np.float32(1e-6)
_ONE: Final = np.float32(1)
_THREE: Final = np.float32(3)
_HALF: Final = np.float32(0.5)


@kernel
def no_value(boards, parameters):  # noqa: ARG001 (the signature is that of all values)
    """Stands for the value of an evaluator where there is none."""
    return 0.5


@kernel(error_model="numpy")
def score_moves(tree, node, record, edges, scores):
    """Fill ``scores`` with every move's score at a node; −∞ where there is no candidate."""
    k = tree.rave
    mean = record.wins / record.visits if record.visits > 0 else _HALF
    untried = mean - tree.first_play_reduction
    urge = tree.exploration * np.sqrt(record.visits + _ONE)
    for p in range(np.uint64(edges.shape[2])):
        n = edges[node, VISITS, p]
        own = (edges[node, WINS, p] + untried * _TINY) / (n + _TINY)
        beta = np.sqrt(k / (_THREE * n + k + _TINY))
        seen = edges[node, RAVE_VISITS, p]
        rave = (edges[node, RAVE_WINS, p] - own * seen) / (seen + _ONE)  # the difference that RAVE makes, if it is seen
        prior = edges[node, PRIOR, p]
        score = own + beta * rave + urge * prior / (_ONE + n)
        scores[p] = score if prior >= 0 else np.float32(-np.inf)


@kernel
def _best_move(scores, points):
    best = points  # the pass, which is always a candidate
    top = scores[points]
    for p in range(points):
        if scores[p] > top:
            top = scores[p]
            best = p
    return best


@kernel
def _hash_after(b, p, color):
    """The hash of the stones after a legal move that is not suicide."""
    own = np.uint8(0) if color == BLACK else np.uint8(1)
    result = b.hash ^ ZOBRIST[own, p]
    for k in range(4):
        q = NEIGHBORS[b.lines, p, k]
        if b.stone[q] != -color or not is_atari(b.liberties[b.head[q]]):
            continue
        head = b.head[q]
        seen = False
        for j in range(k):
            r = NEIGHBORS[b.lines, p, j]
            seen |= b.stone[r] == -color and b.head[r] == head
        if not seen:
            stone = head
            while True:
                result ^= ZOBRIST[np.uint8(1) - own, stone]
                stone = b.link[stone]
                if stone == head:
                    break
    return result


@kernel
def _has_been(situation, worker, history):
    """Whether a situation lies on the path or in the game's past."""
    for i in range(worker.depth):
        if worker.situations[i] == situation:
            return True
    mask = np.uint64(history.size - 1)
    slot = situation & mask
    while history[slot] != 0:
        if history[slot] == situation:
            return True
        slot = (slot + np.uint64(1)) & mask
    return False


@kernel
def _is_allowed(tree, b, p, worker, history):
    """Whether a point may be played on here: the board knows occupied points, suicide and simple ko, we superko."""
    if illegality(b, p, b.to_play, False) != LEGAL:
        return False
    if tree.superko == SIMPLE_KO:
        return True
    situation = _hash_after(b, p, b.to_play)
    if b.to_play == BLACK:
        situation ^= ZOBRIST_WHITE_TO_PLAY
    worker.situations[worker.depth] = situation
    if _has_been(situation, worker, history):
        return False
    return tree.superko == SITUATIONAL or not _has_been(situation ^ ZOBRIST_WHITE_TO_PLAY, worker, history)


@kernel
def _leave_out_banned(tree, b, worker, points):
    """Take the moves that are banned at this depth off the candidates."""
    color = np.uint64(0) if b.to_play == BLACK else np.uint64(1)
    for p in range(points + np.uint64(1)):
        if worker.depth < tree.banned_until[color, p]:
            worker.scores[p] = -np.inf


@kernel
def _choose(tree, b, node, nodes, edges, worker, history):
    """The candidate with the best score that may be played on this path; the pass where there is none."""
    points = np.uint64(b.lines) * np.uint64(b.lines)
    score_moves(tree, node, nodes[node], edges, worker.scores)
    if worker.depth < tree.banned_depth:
        _leave_out_banned(tree, b, worker, points)
    while True:
        move = _best_move(worker.scores, points)
        if move == points or _is_allowed(tree, b, np.uint16(move), worker, history):
            return move
        worker.scores[move] = -np.inf


@kernel
def _move_at(tree, b, worker, back):
    """The move so many before the end of the path, 1 for the last; OFF for a pass and before the game began."""
    points = np.uint16(b.lines * b.lines)
    depth = np.int64(worker.depth)
    if back <= depth:
        move = worker.moves[np.uint64(depth - back)]
        return OFF if move == points else move
    return tree.last if back == depth + 1 else tree.before if back == depth + 2 else OFF


@kernel
def _recall_moves(tree, b, worker, playout):
    """Tell the playout's policy which two moves led to this board."""
    playout.last = _move_at(tree, b, worker, 1)
    playout.before = _move_at(tree, b, worker, 2)


@kernel
def _make_child(tree, b, passes, nodes, edges, children, stones, table, worker, playout, ladder_boards, frames):
    """The node of a board: a new one, or, where positions are shared, one that is there; NONE if there is no room."""
    slot = np.uint64(0)
    if tree.shares_positions:
        found, slot = find_node(node_key(b, passes), nodes, table)
        if found != NONE:
            return found
    if worker.free_left == 0:
        return NONE
    worker.free_left -= 1
    node = worker.free[worker.free_left]
    state = WAITING if tree.wants_priors else DEFAULT
    born = np.uint32(nodes[tree.root].visits)
    _recall_moves(tree, b, worker, playout)
    at, work = np.uint64(node), worker.scores
    make_node(tree, b, passes, born, state, at, nodes, edges, children, stones, playout, work, ladder_boards, frames)
    worker.made = node
    if tree.shares_positions:
        table[slot] = node
    return node


@kernel
def _descend(tree, b, nodes, edges, children, stones, table, history, worker, playout, ladder_boards, frames):
    """Play from the root to a leaf; returns whether the game has ended there."""
    points = np.uint64(b.lines) * np.uint64(b.lines)
    node = np.uint64(tree.root)
    passes = tree.root_passes
    worker.depth = 0
    worker.made = NONE
    while True:
        nodes[node].visits += _ONE
        move = _choose(tree, b, node, nodes, edges, worker, history)
        edges[node, VISITS, move] += _ONE
        worker.path[worker.depth] = node
        worker.moves[worker.depth] = move
        if move == points:
            play_pass(b, b.to_play)
            worker.situations[worker.depth] = b.hash if b.to_play == BLACK else b.hash ^ ZOBRIST_WHITE_TO_PLAY
            passes += np.uint8(1)
        else:
            play_stone(b, np.uint16(move), b.to_play)
            passes = np.uint8(0)
        worker.depth += np.uint64(1)
        if passes == 2:
            return True
        child = children[node, move]
        if child == NONE:
            if edges[node, VISITS, move] > tree.expand_after:
                children[node, move] = _make_child(
                    tree, b, passes, nodes, edges, children, stones, table, worker, playout, ladder_boards, frames
                )
            return False
        node = np.uint64(child)
        if worker.depth == MAX_DEPTH or nodes[node].state == FREE or nodes[node].key != node_key(b, passes):
            return False


@kernel
def _count_first_plays(playout, first):
    """Set who was the first to play on each point in the playout."""
    color = playout.first_color if playout.plies % 2 == 1 else -playout.first_color
    for i in range(playout.plies, 0, -1):
        first[playout.moves[np.uint64(i - 1)]] = color
        color = -color
    first[OFF] = 0


@kernel
def _play_out(tree, b, worker, playout):
    """What a playout is worth to Black, by who wins and a little by how much; adds it to the worker's sums."""
    points = np.uint64(b.lines) * np.uint64(b.lines)
    _recall_moves(tree, b, worker, playout)
    area = play_out(b, playout)
    win = 1.0 if area > tree.komi else 0.5 if area == tree.komi else 0.0
    winner = np.int32(1) if area > tree.komi else np.int32(-1) if area < tree.komi else np.int32(0)
    worker.playouts += 1
    worker.black_wins += win
    worker.black_area += area
    worker.move_playouts[np.uint64(worker.moves[0])] += 1
    worker.move_area[np.uint64(worker.moves[0])] += area
    for p in range(points):
        worker.ownership[p] += np.int32(playout.owner[p])
        worker.owned_by_winner[p] += winner * np.int32(playout.owner[p])
    _count_first_plays(playout, worker.first)
    if playout.replies:
        learn_replies(playout, winner)
    margin = 0.5 + 0.5 * min(max((area - tree.komi) / points, -1.0), 1.0)
    return win + tree.score_share * (margin - win)


@kernel
def _last_value(nodes, worker):
    """The evaluator's value of the last node of a simulation that has one, the one that it made included; else NaN."""
    if worker.made != NONE and nodes[worker.made].state == EVALUATED:
        return np.float64(nodes[worker.made].black_wins)
    for i in range(worker.depth, 0, -1):
        node = worker.path[np.uint64(i - 1)]
        if nodes[node].state == EVALUATED:
            return np.float64(nodes[node].black_wins)
    return np.nan


@kernel
def _value_leaf(tree, boards, nodes, worker, playout, value, parameters):
    """What a leaf is worth to Black: the evaluator's value, a playout's, or a mixture."""
    share = tree.value_share
    if share == 0.0:
        return _play_out(tree, boards[0], worker, playout)
    evaluated = _last_value(nodes, worker) if tree.values_come_with_priors else value(boards, parameters)
    if np.isnan(evaluated):
        return _play_out(tree, boards[0], worker, playout)
    if share == 1.0:
        return evaluated
    return (1.0 - share) * _play_out(tree, boards[0], worker, playout) + share * evaluated


@kernel
def _back_up(tree, black_value, nodes, edges, worker, points):
    """Add a simulation's value to all nodes of its path, and to all moves there that were played later on."""
    first = worker.first
    for i in range(worker.depth, 0, -1):
        at = np.uint64(i - 1)
        node = np.uint64(worker.path[at])
        move = np.uint64(worker.moves[at])
        color = nodes[node].to_play
        value = np.float32(black_value if color == BLACK else 1.0 - black_value)
        nodes[node].wins += value
        edges[node, WINS, move] += value
        if tree.rave > 0:
            if move != points:
                first[move] = color
            for p in range(points):
                played = _ONE if first[p] == color else np.float32(0)
                edges[node, RAVE_VISITS, p] += played
                edges[node, RAVE_WINS, p] += played * value


@kernel
def _is_decided(tree, edges, points, left):
    """Whether the most visited move stays so, whatever so many simulations bring."""
    best = second = np.float32(0)
    for p in range(points + np.uint64(1)):
        n = edges[tree.root, VISITS, p]
        if n > best:
            best, second = n, best
        elif n > second:
            second = n
    return best - second > left


@kernel
def make_root(trees, boards, state, nodes, edges, children, stones, playouts, workers):
    """Make node 0 for ``boards[0]``. Any worker will do: with its type, nodes are compiled once for all."""
    tree, b, playout = trees[0], boards[0], playouts[0]
    playout.last, playout.before = tree.last, tree.before
    work = workers[0].scores
    ladder_boards, frames = new_stack()
    passes, born, as_state, at = tree.root_passes, np.uint32(0), np.uint8(state), np.uint64(0)
    make_node(tree, b, passes, born, as_state, at, nodes, edges, children, stones, playout, work, ladder_boards, frames)


@kernel(
    signature=types.int64(
        types.Array(from_dtype(TREE), 1, "C"),
        types.Array(from_dtype(NODE), 1, "C"),
        types.float32[:, :, ::1],
        types.int32[:, ::1],
        types.int8[:, ::1],
        types.int32[::1],
        types.uint64[::1],
        RECORDS,
        RECORDS,
        types.Array(from_dtype(FRAME), 1, "C"),
        types.Array(from_dtype(WORKER), 1, "C"),
        types.Array(from_dtype(PLAYOUT), 1, "C"),
        VALUE,
        PARAMETERS,
    ),
)
def run_simulations(
    trees,
    nodes,
    edges,
    children,
    stones,
    table,
    history,
    roots,
    boards,
    frames,
    workers,
    playouts,
    value,
    parameters,
):
    """Run a worker's simulations until it has done them, it is to stop, or it needs something from outside.

    They are played on the first board; on the others, and the frames, ladders are read. One that waits for what the
    evaluator says of its leaf resumes with the next call.
    """
    tree, worker, playout = trees[0], workers[0], playouts[0]
    points = np.uint64(roots[0].lines) * np.uint64(roots[0].lines)
    while worker.is_waiting or (worker.left > 0 and not tree.stop):
        has_ended = False
        if not worker.is_waiting:
            boards[0] = roots[0]
            worker.first[:] = 0
            has_ended = _descend(
                tree, boards[0], nodes, edges, children, stones, table, history, worker, playout, boards[1:], frames
            )
            if tree.waits_for_priors and worker.made != NONE:
                worker.is_waiting = True
                return NEEDS_PRIOR
        worker.is_waiting = False
        if has_ended:
            black_value = area_outcome(boards[0], tree.komi)
        else:
            black_value = _value_leaf(tree, boards, nodes, worker, playout, value, parameters)
        _back_up(tree, black_value, nodes, edges, worker, points)
        worker.left -= 1
        worker.done += 1
        is_due = tree.stops_early and worker.done % _CHECK_EVERY == 0
        if is_due and _is_decided(tree, edges, points, worker.left * tree.threads):
            tree.decided = tree.stop = 1
        if worker.free_left == 0:
            return NEEDS_NODES
    return DONE
