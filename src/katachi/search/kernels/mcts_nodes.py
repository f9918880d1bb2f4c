"""The nodes of the Monte-Carlo tree: how they lie in memory, how they are made, and which of them are kept.

A node is a number. Its statistics are rows of arrays indexed by move, the pass after the last point, padded to whole
vectors: so selection and backup are loops that the compiler turns into vector code, and nothing needs a list of
moves.

    nodes[node]                 NODE, what is known of the position
    edges[node, field, move]    float32: visits, what they won for the mover, the same for RAVE, prior
    children[node, move]        int32, or NONE
    stones[node, point]         int8, so that an evaluator can be asked about the position later
    owners[node, point]         int8, who will own it as an evaluator says: 127 is Black's for sure

A prior below 0 marks what is not a candidate. Threads work on these arrays without locks. A lost update does no harm; a
node that is read half written does none either, as every move is checked on the board before it is played.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from katachi.go.kernels import kernel
from katachi.go.kernels.board import OFF, RECENT, ZOBRIST_WHITE_TO_PLAY, is_sensible, record_dtype, set_stones
from katachi.go.kernels.playouts import next_random
from katachi.go.kernels.scoring import fill_owner
from katachi.go.points import BLACK, MAX_POINTS
from katachi.search.kernels.playouts import pattern_prior, weigh_ladders


@kernel
def node_key(b, passes):
    """One number for a board with whose turn it is, the ko, and so many passes before it in succession, 0 or 1."""
    key = b.hash
    if b.to_play != BLACK:
        key ^= ZOBRIST_WHITE_TO_PLAY
    if b.ko != OFF:
        key ^= (np.uint64(b.ko) + np.uint64(1)) * np.uint64(0xD1342543DE82EF95)
    if passes:
        key ^= np.uint64(0x2545F4914F6CDD1D)
    return key


@kernel
def key_of(boards, passes):
    """The same for Python: of ``boards[0]``."""
    return node_key(boards[0], passes)


@kernel
def fill_area(b, owner):
    """Black's area less White's after two passes, all stones alive; ``owner`` [MAX_POINTS] gets who owns each point."""
    fill_owner(b.stone, np.int64(b.lines), np.zeros(MAX_POINTS + 1, np.bool_), owner)
    area = 0
    for p in range(np.uint16(b.lines * b.lines)):
        area += owner[p]
    return area


@kernel
def area_outcome(b, komi):
    """P(Black wins) when both have passed."""
    area = fill_area(b, np.empty(MAX_POINTS, np.int8))
    return 1.0 if area > komi else 0.5 if area == komi else 0.0


NONE: Final = np.int32(-1)
VISITS: Final = np.uint64(0)
WINS: Final = np.uint64(1)
RAVE_VISITS: Final = np.uint64(2)
RAVE_WINS: Final = np.uint64(3)
PRIOR: Final = np.uint64(4)
FIELDS: Final = 5
NO_CANDIDATE: Final = np.float32(-1)

# The states of a node.
FREE: Final = np.uint8(0)
DEFAULT: Final = np.uint8(1)  # its prior is the default, and nobody is going to replace it
WAITING: Final = np.uint8(2)  # for an evaluator's prior, in the order of ``born``
SENT: Final = np.uint8(3)  # to the evaluator
EVALUATED: Final = np.uint8(4)  # its prior and its value are the evaluator's
AWAITED: Final = np.uint8(5)  # the simulation that made it waits until it is evaluated

SURE: Final = np.float32(127)  # of owners

NODE: Final = record_dtype(
    [
        ("key", np.uint64),
        ("born", np.uint32),  # how many simulations the root had seen
        ("visits", np.float32),
        ("wins", np.float32),  # of the player to move
        ("black_wins", np.float32),  # what the evaluator says, once it is evaluated
        ("black_lead", np.float32),  # the same, if it knows outcomes
        ("ko", np.uint16),
        ("turns", np.uint16),  # as on the board
        ("recent", np.uint16, RECENT),  # the same, by the path on which the node was made
        ("to_play", np.int8),
        ("passes", np.uint8),  # in succession, up to this node: 0 or 1
        ("state", np.uint8),
    ]
)

FREE_NODES: Final = 64  # how many a worker takes at once
MAX_DEPTH: Final = 1024
LANES: Final = 8
MAX_WIDTH: Final = -(-(MAX_POINTS + 1) // LANES) * LANES

WORKER: Final = record_dtype(
    [
        ("left", np.int64),  # simulations to go
        ("done", np.int64),
        ("free", np.int32, FREE_NODES),  # numbers of nodes to make
        ("free_left", np.int32),
        ("made", np.int32),  # the node made by the last simulation, or NONE
        ("is_waiting", np.bool_),  # the last simulation for what the evaluator says of that node
        ("has_ended", np.bool_),  # the game, at the leaf of the last simulation
        ("depth", np.uint64),
        ("path", np.uint32, MAX_DEPTH),  # the nodes of the last simulation, the root first
        ("moves", np.uint16, MAX_DEPTH),  # and what was played there
        ("situations", np.uint64, MAX_DEPTH),  # and what came of it, for superko
        ("scores", np.float32, MAX_WIDTH),
        ("first", np.int8, MAX_WIDTH),  # the color that was first to play on each point, or 0
        # sums over simulations of what playouts and evaluators that know outcomes say, and what that weighs
        ("weight", np.float64),
        ("black_lead", np.float64),
        ("move_weight", np.float64, MAX_WIDTH),  # the same for each move of the root
        ("move_lead", np.float64, MAX_WIDTH),
        ("ownership", np.float32, MAX_POINTS),
        # sums over playouts
        ("playouts", np.int64),
        ("black_wins", np.float64),
        ("owned", np.int32, MAX_POINTS),  # by Black less by White
        ("owned_by_winner", np.int32, MAX_POINTS),  # how often less how often not
        ("bonus", np.float32, MAX_WIDTH),  # of each point's prior, as a multiple of it, for what it decides
    ]
)

_PASS_WEIGHT: Final = np.float32(0.25)  # in a default prior; another move has 1
_EVEN_SHARE: Final = np.float32(0.1)  # of a prior by patterns
_ONE: Final = np.float32(1)
_UNEVEN: Final = np.float32(2.0**-40)  # by which default priors differ: no point is always the first


@kernel
def _fill_even_prior(b, edges, node, playout):
    """Give all sensible moves about the same prior, and the pass less."""
    points = np.uint64(b.lines) * np.uint64(b.lines)
    state = playout.random
    total = _PASS_WEIGHT
    for i in range(b.empty_count):
        p = b.empties[i]
        if is_sensible(b, p, b.to_play):
            state = next_random(state)
            weight = _ONE + np.float32(state >> np.uint64(34)) * _UNEVEN
            edges[node, PRIOR, p] = weight
            total += weight
    playout.random = state
    edges[node, PRIOR, points] = _PASS_WEIGHT
    for p in range(points + np.uint64(1)):
        if edges[node, PRIOR, p] > 0:
            edges[node, PRIOR, p] /= total


@kernel
def _fill_weighed_prior(b, edges, node, strengths):
    """Give all moves a prior in proportion to their strengths, mixed with an even one, and the pass little."""
    points = np.uint64(b.lines) * np.uint64(b.lines)
    count = 0
    total = np.float32(0)
    for p in range(points):
        count += strengths[p] > 0
        total += strengths[p]
    even = _EVEN_SHARE / np.float32(count + 1)
    for p in range(points):
        if strengths[p] > 0:
            edges[node, PRIOR, p] = even + (_ONE - _EVEN_SHARE) * strengths[p] / total
    edges[node, PRIOR, points] = even if count else _ONE


@kernel
def make_node(tree, b, passes, born, state, node, nodes, edges, children, stones, playout, work, boards, frames):
    """Write a fresh node for a board; ``work`` is [n²], and on the boards and frames ladders are read.

    Its state is written last.
    """
    for p in range(np.uint64(edges.shape[2])):
        edges[node, VISITS, p] = edges[node, WINS, p] = 0
        edges[node, RAVE_VISITS, p] = edges[node, RAVE_WINS, p] = 0
        edges[node, PRIOR, p] = NO_CANDIDATE
        children[node, p] = NONE
    for p in range(np.uint64(b.lines) * np.uint64(b.lines)):
        stones[node, p] = b.stone[p]
    if tree.pattern_priors and state != AWAITED:
        pattern_prior(b, playout, work)
        if tree.ladder_priors:
            weigh_ladders(b, boards, frames, work)
        _fill_weighed_prior(b, edges, node, work)
    else:
        _fill_even_prior(b, edges, node, playout)
    new = nodes[node]
    new.key = node_key(b, passes)
    new.born = born
    new.visits = new.wins = 0
    new.ko = b.ko
    new.turns = b.turns
    for i in range(RECENT):
        new.recent[i] = b.recent[i]
    new.to_play = b.to_play
    new.passes = passes
    new.state = state


@kernel
def restore_boards(numbers, nodes, stones, boards):
    """Make the boards of so many nodes from empty ones."""
    for i in range(numbers.size):
        node = numbers[i]
        set_stones(boards[i : i + 1], stones[node, : np.int64(boards[i].lines) ** 2])
        boards[i].to_play = nodes[node].to_play
        boards[i].ko = nodes[node].ko
        boards[i].turns = nodes[node].turns
        for j in range(RECENT):
            boards[i].recent[j] = nodes[node].recent[j]


@kernel
def put_evaluations(numbers, keys, policy, black_wins, black_lead, ownership, nodes, edges, owners, is_there):
    """Give nodes an evaluator's priors, over their candidates, and its values; statistics stay.

    Only those that were sent and still have their key are there. ``ownership`` may have no columns. The state of a node
    is written last: whoever sees it takes the value.
    """
    for i in range(numbers.size):
        node = numbers[i]
        was_sent = nodes[node].state == SENT or nodes[node].state == AWAITED
        is_there[i] = was_sent and nodes[node].key == keys[i]
        if not is_there[i]:
            continue
        total = np.float32(0)
        for p in range(policy.shape[1]):
            if edges[node, PRIOR, p] >= 0:
                total += policy[i, p]
        for p in range(policy.shape[1]):
            if edges[node, PRIOR, p] >= 0 and total > 0:
                edges[node, PRIOR, p] = policy[i, p] / total
        for p in range(ownership.shape[1]):
            owners[node, p] = np.int8(np.rint(ownership[i, p] * SURE))
        nodes[node].black_wins = black_wins[i]
        nodes[node].black_lead = black_lead[i]
        nodes[node].state = EVALUATED


@kernel
def find_node(key, nodes, table):
    """The node of a position, by the table of those that share it, or NONE; and the slot where it belongs."""
    mask = np.uint64(table.size - 1)
    slot = key & mask
    for _ in range(8):
        node = table[slot]
        if node == NONE:
            return NONE, slot
        if nodes[node].key == key and nodes[node].state != FREE:
            return node, slot
        slot = (slot + np.uint64(1)) & mask
    return NONE, slot


@kernel
def keep_subtree(nodes, children, root, least_visits, kept, stack):
    """Mark in ``kept`` the root and what is below it with so many visits, and cut off all else; returns how many."""
    kept[:] = False
    kept[root] = True
    stack[0] = root
    count = 1
    left = 1
    while left > 0:
        left -= 1
        node = stack[left]
        for p in range(children.shape[1]):
            child = children[node, p]
            if child == NONE:
                continue
            if nodes[child].visits < least_visits or nodes[child].state == FREE:
                children[node, p] = NONE
            elif not kept[child]:
                kept[child] = True
                stack[left] = child
                left += 1
                count += 1
    return count


@kernel
def fill_table(nodes, table):
    """Enter all nodes that are in use into the table of shared positions."""
    table[:] = NONE
    for node in range(nodes.size):
        if nodes[node].state != FREE:
            found, slot = find_node(nodes[node].key, nodes, table)
            if found == NONE:
                table[slot] = node
