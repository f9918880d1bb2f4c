"""The simulations of Monte-Carlo tree search: descend by the most promising moves, play out, remember.

A move's score at a node, for the player to move there, is our choice (RAVE and β as Gelly and Silver 2011 have them;
Maddison et al. 2014 name RAVE, a UCT exploration and a prior, and give no formula):

    (1 − β) Q + β Q_rave + c P sqrt(N) / (1 + n),   β = sqrt(K / (3 n + K))

with n and Q the visits and wins of the move, Q_rave those of all simulations in which the move was played later by
the same player (all moves as first), P its prior, N the visits of the node. A move that was never tried counts as the
node's mean less ``first_play_reduction``, or where that is below a half less its share, so that others are tried in a
lost game, too. Where a move has few such simulations, or none as the pass, β is less: it
is multiplied by m / (m + 1) for m of them.

With ``criticality`` w, P is multiplied by 1 + w max(0, κ − κ̄). κ is the criticality of the point (Coulom 2009): the
covariance of owning it and winning, 1/2 if it decides an even game alone; κ̄ is its mean over the board, which early in
a game most points are near. Both are those of the root by the worker's playouts, taken anew after every so many. Pachi
(Baudiš and Gailly 2011) adds won simulations to the RAVE value instead.

A simulation counts its visits on the way down and its win on the way up; in between it is a loss that turns other
threads elsewhere (*virtual loss*). Superko is looked at along the path and in the game's past. Two passes end the
game by its area, all stones alive.

A leaf is worth what a playout says, a compiled evaluator, or a mixture. Another evaluator's value comes to a node
with its prior; a leaf takes that of the last node on its path that has one, so that branches which wait are not
valued by playouts alone beside others that are not. Either is mostly who wins, and a little by how much: the lead
compared to what is expected at the root, so that lost and won games are played well, too.

A node may be waited for: the thread makes a few more simulations meanwhile, turned elsewhere by the losses on their
way, and has all their nodes evaluated together. One that comes to a node which is waited for is taken back.
Kernels trust their arguments; ``search/mcts_tree.py`` makes them.
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
    AWAITED,
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
    SURE,
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
        ("knows_outcomes", np.bool_),  # the evaluator: leads and owners come with its priors
        ("score_share", np.float64),  # of the lead in the value of a leaf; the rest is who wins
        ("expected_lead", np.float64),  # Black's at the root
        ("pattern_priors", np.bool_),  # else even ones
        ("ladder_priors", np.bool_),  # beside those by patterns
        ("criticality", np.float64),  # its weight in the priors
        ("shares_positions", np.bool_),
        ("stops_early", np.bool_),
        ("wants_priors", np.bool_),
        ("waits_left", np.int64),  # new nodes for whose priors is waited
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
_TAKE_CRITICALITY_EVERY: Final = 256  # playouts of a worker
_TRIES: Final = 4  # simulations for each that waits, before those that do are evaluated
_VISITS_FOR_ONE_MORE: Final = 24  # of the root: simulation of a thread that may wait beside others
_TINY: Final = np.float32(1e-6)
_ONE: Final = np.float32(1)
_THREE: Final = np.float32(3)
_HALF: Final = np.float32(0.5)


@kernel
def no_value(boards, parameters):  # noqa: ARG001 (the signature is that of all values)
    """Stands for the value of an evaluator where there is none."""
    return 0.5


@kernel(error_model="numpy")
def score_moves(tree, node, record, edges, bonus, scores):
    """Fill ``scores`` with every move's score at a node; −∞ where there is no candidate.

    A prior counts as much more as its ``bonus`` says: 0 is as it is.
    """
    k = tree.rave
    mean = record.wins / record.visits if record.visits > 0 else _HALF
    untried = mean - tree.first_play_reduction * min(_ONE, mean / _HALF)
    urge = tree.exploration * np.sqrt(record.visits + _ONE)
    for p in range(np.uint64(edges.shape[2])):
        n = edges[node, VISITS, p]
        own = (edges[node, WINS, p] + untried * _TINY) / (n + _TINY)
        beta = np.sqrt(k / (_THREE * n + k + _TINY))
        seen = edges[node, RAVE_VISITS, p]
        rave = (edges[node, RAVE_WINS, p] - own * seen) / (seen + _ONE)  # the difference that RAVE makes, if it is seen
        prior = edges[node, PRIOR, p]
        score = own + beta * rave + urge * prior * (_ONE + bonus[p]) / (_ONE + n)
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
    score_moves(tree, node, nodes[node], edges, worker.bonus, worker.scores)
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
def _make_child(tree, b, passes, nodes, edges, children, stones, table, head, worker, playout, ladder_boards, frames):
    """The node of a board: a new one, or, where positions are shared, one that is there; NONE if there is no room."""
    slot = np.uint64(0)
    if tree.shares_positions:
        found, slot = find_node(node_key(b, passes), nodes, table)
        if found != NONE:
            return found
    if head.free_left == 0:
        return NONE
    head.free_left -= 1
    node = head.free[head.free_left]
    state = AWAITED if tree.waits_left > 0 else WAITING if tree.wants_priors else DEFAULT
    tree.waits_left -= 1
    born = np.uint32(nodes[tree.root].visits)
    _recall_moves(tree, b, worker, playout)
    at, work = np.uint64(node), worker.scores
    make_node(tree, b, passes, born, state, at, nodes, edges, children, stones, playout, work, ladder_boards, frames)
    worker.made = node
    if tree.shares_positions:
        table[slot] = node
    return node


@kernel
def _descend(tree, b, nodes, edges, children, stones, table, history, head, worker, playout, ladder_boards, frames):
    """Play from the root to a leaf; returns False if that is a node which is waited for.

    ``head`` is the worker that has numbers of nodes to make, ``worker`` the one that remembers the path.
    """
    points = np.uint64(b.lines) * np.uint64(b.lines)
    node = np.uint64(tree.root)
    passes = tree.root_passes
    worker.depth = 0
    worker.made = NONE
    worker.has_ended = False
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
            worker.has_ended = True
            return True
        child = children[node, move]
        if child == NONE:
            if edges[node, VISITS, move] > tree.expand_after:
                children[node, move] = _make_child(
                    tree, b, passes, nodes, edges, children, stones, table, head, worker, playout, ladder_boards, frames
                )
            return True
        node = np.uint64(child)
        if worker.depth == MAX_DEPTH or nodes[node].state == FREE or nodes[node].key != node_key(b, passes):
            return True
        if nodes[node].state == AWAITED:
            return False


@kernel
def _take_back(nodes, edges, worker):
    """Let a simulation not have been, after its way down."""
    for i in range(worker.depth):
        nodes[worker.path[i]].visits -= _ONE
        edges[worker.path[i], VISITS, worker.moves[i]] -= _ONE


@kernel
def _count_first_plays(playout, first):
    """Set who was the first to play on each point in the playout."""
    color = playout.first_color if playout.plies % 2 == 1 else -playout.first_color
    for i in range(playout.plies, 0, -1):
        first[playout.moves[np.uint64(i - 1)]] = color
        color = -color
    first[OFF] = 0


@kernel
def _mix_score(tree, win, lead, points):
    """The value of a leaf: who wins, and a little by how much."""
    margin = 0.5 + 0.5 * np.tanh((lead - tree.expected_lead) / np.sqrt(np.float64(points)))
    return win + tree.score_share * (margin - win)


@kernel
def _add_lead(worker, lead, weight):
    """Add a lead to the sums of a worker."""
    move = np.uint64(worker.moves[0])
    worker.weight += weight
    worker.black_lead += weight * lead
    worker.move_weight[move] += weight
    worker.move_lead[move] += weight * lead


@kernel
def take_criticality(tree, worker, points):
    """Set the bonus of each point's prior by how much more than others it decides the worker's playouts."""
    playouts = np.float64(worker.playouts)
    winner = 2 * worker.black_wins / playouts - 1
    mean = 0.0
    for p in range(points):
        critical = (worker.owned_by_winner[p] - winner * worker.owned[p]) / (2 * playouts)
        worker.bonus[p] = np.float32(critical)
        mean += critical / points
    for p in range(points):
        worker.bonus[p] = np.float32(tree.criticality * max(0.0, worker.bonus[p] - mean))


@kernel
def _play_out(tree, b, worker, playout, weight):
    """What a playout is worth to Black; adds it to the worker's sums, where leads and owners have a weight."""
    points = np.uint64(b.lines) * np.uint64(b.lines)
    _recall_moves(tree, b, worker, playout)
    lead = play_out(b, playout) - tree.komi
    win = 1.0 if lead > 0 else 0.5 if lead == 0 else 0.0
    winner = np.int32(1) if lead > 0 else np.int32(-1) if lead < 0 else np.int32(0)
    worker.playouts += 1
    worker.black_wins += win
    _add_lead(worker, lead, weight)
    for p in range(points):
        owner = np.int32(playout.owner[p])
        worker.ownership[p] += np.float32(weight) * np.float32(owner)
        worker.owned[p] += owner
        worker.owned_by_winner[p] += winner * owner
    if tree.criticality > 0 and worker.playouts % _TAKE_CRITICALITY_EVERY == 0:
        take_criticality(tree, worker, points)
    _count_first_plays(playout, worker.first)
    if playout.replies:
        learn_replies(playout, winner)
    return _mix_score(tree, win, lead, points)


@kernel
def _last_evaluated(nodes, worker):
    """The last node of a simulation that was evaluated, the one that it made included; else NONE."""
    if worker.made != NONE and nodes[worker.made].state == EVALUATED:
        return worker.made
    for i in range(worker.depth, 0, -1):
        node = worker.path[np.uint64(i - 1)]
        if nodes[node].state == EVALUATED:
            return np.int32(node)
    return NONE


@kernel
def _take_value(tree, node, nodes, owners, worker, weight, points):
    """What an evaluator said of a node to Black; adds leads and owners with a weight."""
    record = nodes[node]
    if not tree.knows_outcomes:
        return np.float64(record.black_wins)
    _add_lead(worker, np.float64(record.black_lead), weight)
    unit = np.float32(weight) / SURE
    for p in range(points):
        worker.ownership[p] += unit * np.float32(owners[node, p])
    return _mix_score(tree, np.float64(record.black_wins), np.float64(record.black_lead), points)


@kernel
def _value_leaf(tree, boards, nodes, owners, worker, playout, value, parameters):
    """What a leaf is worth to Black: the evaluator's value, a playout's, or a mixture."""
    points = np.uint64(boards[0].lines) * np.uint64(boards[0].lines)
    share = tree.value_share
    if share == 0.0:
        return _play_out(tree, boards[0], worker, playout, 1.0)
    if tree.values_come_with_priors:
        node = _last_evaluated(nodes, worker)
        if node == NONE:
            return _play_out(tree, boards[0], worker, playout, 1.0)
        evaluated = _take_value(tree, np.uint64(node), nodes, owners, worker, share, points)
    else:
        evaluated = value(boards, parameters)
    if share == 1.0:
        return evaluated
    weight = 1.0 - share if tree.knows_outcomes else 1.0
    return (1.0 - share) * _play_out(tree, boards[0], worker, playout, weight) + share * evaluated


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


@kernel
def _finish(tree, boards, nodes, edges, owners, head, worker, playout, value, parameters):
    """Value the leaf of a simulation and remember it."""
    points = np.uint64(boards[0].lines) * np.uint64(boards[0].lines)
    worker.is_waiting = False
    if worker.has_ended:
        black_value = area_outcome(boards[0], tree.komi)
    else:
        black_value = _value_leaf(tree, boards, nodes, owners, worker, playout, value, parameters)
    _back_up(tree, black_value, nodes, edges, worker, points)
    head.left -= 1
    head.done += 1
    is_due = tree.stops_early and head.done % _CHECK_EVERY == 0
    if is_due and _is_decided(tree, edges, points, head.left * tree.threads):
        tree.decided = tree.stop = 1


@kernel(
    signature=types.int64(
        types.Array(from_dtype(TREE), 1, "C"),
        types.Array(from_dtype(NODE), 1, "C"),
        types.float32[:, :, ::1],
        types.int32[:, ::1],
        types.int8[:, ::1],
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
    owners,
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
    """Run simulations until all are done, it is to stop, or it needs something from outside.

    Each of the workers has a simulation of its own, on a board of its own, so that as many can wait together for what
    the evaluator says of their leaves; they are finished with the next call. The first counts for all of them. On the
    boards behind, and the frames, ladders are read. A small tree makes few simulations at a time.
    """
    tree, head, playout = trees[0], workers[0], playouts[0]
    behind = boards[workers.size :]
    for i in range(workers.size):
        if workers[i].is_waiting:
            _finish(tree, boards[i : i + 1], nodes, edges, owners, head, workers[i], playout, value, parameters)
    while head.left > 0 and not tree.stop:
        if head.free_left < workers.size:
            return NEEDS_NODES
        waiting = 0
        width = min(workers.size, 1 + np.int64(nodes[tree.root].visits) // _VISITS_FOR_ONE_MORE)
        for _ in range(_TRIES * width):
            if waiting == width or head.left <= waiting or head.free_left == 0 or tree.stop:
                break
            own, worker = boards[waiting : waiting + 1], workers[waiting]
            own[0] = roots[0]
            worker.first[:] = 0
            is_leaf = _descend(
                tree, own[0], nodes, edges, children, stones, table, history, head, worker, playout, behind, frames
            )
            if not is_leaf and waiting > 0:
                _take_back(nodes, edges, worker)
                break
            if worker.made != NONE and nodes[worker.made].state == AWAITED:
                worker.is_waiting = True
                waiting += 1
            else:
                _finish(tree, own, nodes, edges, owners, head, worker, playout, value, parameters)
        if waiting > 0:
            return NEEDS_PRIOR
    return DONE
