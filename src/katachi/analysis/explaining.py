"""From analyses to records: what is said of a position, and of the move that led to it.

A move is explained by its tactics, by shapes that have names, by the territory that changed hands, and by the features
of a linear evaluator.

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
>>> [shape.name.value for shape in find_shapes(board, parse_vertex("A3", 6))]
['empty triangle']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from html import escape
from math import fsum, isqrt
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from katachi.analysis.judges import Judges, Turn, has_value, last_turn, predict_people
from katachi.analysis.layers import layers_of
from katachi.analysis.records import (
    CandidateRecord,
    Color,
    MoveRecord,
    NamedShapeRecord,
    OpinionRecord,
    PeopleRecord,
    PositionRecord,
    ShapeRecord,
    ShapesRecord,
    TacticRecord,
    TerritoryRecord,
    Whose,
)
from katachi.analysis.report import describe_models, describe_position
from katachi.core.contracts import Analysis, Candidate, FeatureSet, LinearEvaluator, PlacedFeatures, RankedEvaluator
from katachi.core.drawing import Layer, draw_layer
from katachi.core.evaluators import after
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, PASS, WHITE, format_vertex
from katachi.go.reading import is_ladder_capture, read_ladder

# Tactics


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
    """The opponent's chains that are in atari now and were not."""
    return [
        TacticalFact(
            Tactic.LADDER if read_ladder(played, stones[0], attacker_first=False).captured else Tactic.ATARI, stones
        )
        for stones in _chains_in_atari(played, -board.to_play)
        if board.liberty_count(stones[0]) > 1
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
    """Our chain that the move puts into atari; one that was in atari runs in vain, and a ko is not a mistake."""
    if move == PASS or played.liberty_count(move) > 1 or played.ko_point is not None:
        return []
    chain = tuple(played.chain(move))
    ran = any(board[stone] != EMPTY and board.liberty_count(stone) == 1 for stone in chain)
    return [] if ran else [TacticalFact(Tactic.SELF_ATARI, chain)]


# Shapes that players have names for, found around a move by small diagrams.


class ShapeName(Enum):
    """What a shape is called."""

    EMPTY_TRIANGLE = "empty triangle"
    DUMPLING = "dumpling"
    PONNUKI = "ponnuki"
    TORTOISE_SHELL = "tortoise shell"
    TIGERS_MOUTH = "tiger's mouth"
    BAMBOO_JOINT = "bamboo joint"
    HEAD_OF_THREE = "hane at the head of three"
    HEAD_OF_TWO = "hane at the head of two"
    DOUBLE_HANE = "double hane"
    HANE = "hane"
    CROSSCUT = "crosscut"
    CUT = "cut"
    SOLID_CONNECTION = "solid connection"
    PEEK = "peek"
    SHOULDER_HIT = "shoulder hit"
    ATTACHMENT = "attachment"
    DIAGONAL_MOVE = "diagonal move"
    ONE_SPACE_JUMP = "one-space jump"
    KNIGHTS_MOVE = "knight's move"
    TWO_SPACE_JUMP = "two-space jump"
    LARGE_KNIGHTS_MOVE = "large knight's move"


class NamedShape(NamedTuple):
    """A shape that a move made, and the stones that it consists of."""

    name: ShapeName
    stones: tuple[int, ...]


# In a diagram, for the player who moved:
#   *  a stone of theirs that may be the move     X  one that was there before
#   O  a stone of the opponent's                  A, B  two of different chains
#   P, Q  two of theirs of chains that the move joined
#   L  the opponent's last move                   M  their own before
#   .  an empty point, before too                 x  one where the move took a stone
#   #  off the board; these may be, too: ,  not theirs    ;  not the opponent's    :  no stone    ?  anything
_DIAGRAMS: Final[Mapping[ShapeName, tuple[str, ...]]] = {
    ShapeName.EMPTY_TRIANGLE: ("**? *., ?,?",),
    ShapeName.DUMPLING: ("*** ***",),
    ShapeName.PONNUKI: (",*, *x* ,*,",),
    ShapeName.TORTOISE_SHELL: (",**, *xx* ,**,",),
    ShapeName.TIGERS_MOUTH: (",*? *.* ?.?",),
    ShapeName.BAMBOO_JOINT: ("** .. **",),
    ShapeName.HEAD_OF_THREE: ("????,? ;OOO*, ?XXX.?",),
    ShapeName.HEAD_OF_TWO: ("???,? ;OO*, ?XX.?",),
    ShapeName.DOUBLE_HANE: ("??,? ?.*, ?ML? XO??",),
    ShapeName.HANE: ("?,? O*, X.?",),
    ShapeName.CUT: ("A* XB",),
    ShapeName.SOLID_CONNECTION: ("P* OQ",),
    ShapeName.PEEK: ("?*? A.B ?;?",),
    ShapeName.SHOULDER_HIT: ("?::: ?.*: ,O.: ?,?? ???? ####", "?::: ?.*: ,O.: ?,?? ???? ???? ####"),
    ShapeName.ATTACHMENT: (",:, O*: ,:,",),
    ShapeName.ONE_SPACE_JUMP: ("?;,? X.*, ?;,?",),
    ShapeName.TWO_SPACE_JUMP: ("?;;,? X..*, ?;;,?",),
    ShapeName.KNIGHTS_MOVE: ("X.,? ..*, ??,?",),
    ShapeName.LARGE_KNIGHTS_MOVE: ("X..,? ?..*, ???,?",),
    ShapeName.DIAGONAL_MOVE: ("X.? .*, ?,?",),
}
# What a name makes needless to say: that a hane at the head of two is a hane, or that a cut is made by a hane.
_IMPLIED: Final[Mapping[ShapeName, frozenset[ShapeName]]] = {
    ShapeName.HEAD_OF_THREE: frozenset({ShapeName.HANE}),
    ShapeName.HEAD_OF_TWO: frozenset({ShapeName.HANE}),
    ShapeName.DOUBLE_HANE: frozenset({ShapeName.HANE}),
    ShapeName.CROSSCUT: frozenset({ShapeName.HANE, ShapeName.CUT}),
    ShapeName.CUT: frozenset({ShapeName.HANE}),
    ShapeName.TORTOISE_SHELL: frozenset({ShapeName.PONNUKI}),
    ShapeName.DUMPLING: frozenset({ShapeName.EMPTY_TRIANGLE}),
}
_WAYS_TO_MOVE: Final = (  # the nearest is said of a move that nothing else is said of
    ShapeName.DIAGONAL_MOVE,
    ShapeName.ONE_SPACE_JUMP,
    ShapeName.KNIGHTS_MOVE,
    ShapeName.TWO_SPACE_JUMP,
    ShapeName.LARGE_KNIGHTS_MOVE,
)
_SMALLEST_WITH_SIDES: Final = 9  # on a smaller board the fourth line belongs to no side
_MARGIN: Final = 7  # of a board's frame, wider than any diagram
_OFF: Final = 9

Cells = tuple[tuple[int, int, str], ...]  # rows and columns from the move, and what is there


def find_shapes(board: Board, move: int) -> list[NamedShape]:
    """The named shapes that a move makes, each once; raises IllegalMove if simple ko or suicide forbids the move."""
    played = after(board, move)
    if move == PASS:
        return []
    view = _View(board, played, move)
    found: dict[ShapeName, tuple[int, ...]] = {}
    for name, cells in _all_cells():
        if name is ShapeName.SHOULDER_HIT and board.size < _SMALLEST_WITH_SIDES:
            continue
        if name not in found and view.has(cells):
            found[name] = view.stones(cells)
    if ShapeName.CUT in found and played.liberty_count(move) == 1:  # it is taken: nothing was cut
        del found[ShapeName.CUT]
    if ShapeName.CUT in found and all(len(played.chain(stone)) == 1 for stone in found[ShapeName.CUT]):
        found[ShapeName.CROSSCUT] = found[ShapeName.CUT]
    needless = {implied for name in found for implied in _IMPLIED.get(name, ())}
    names = [name for name in ShapeName if name in found and name not in needless]
    named = [name for name in names if name not in _WAYS_TO_MOVE] or names[:1]
    return [NamedShape(name, found[name]) for name in named]


class _View:
    """A board before and after a move as its player sees it: own stones are 1, the opponent's −1."""

    def __init__(self, board: Board, played: Board, move: int) -> None:
        self._boards = (board, played)
        self._last = board.recent_points[:2]
        self._size = board.size
        self._row, self._column = divmod(move, board.size)
        self._before, self._now = (self._frame(each, board.to_play) for each in (board, played))

    def _frame(self, board: Board, color: int) -> list[list[int]]:
        stones = board.stones.reshape(self._size, self._size) * color
        rows: list[list[int]] = np.pad(stones, _MARGIN, constant_values=_OFF).tolist()
        return rows

    def has(self, cells: Cells) -> bool:
        """Whether all points are what a diagram says, and its chains apart."""
        marked: dict[str, int] = {}
        for down, right, symbol in cells:
            row, column = self._row + down + _MARGIN, self._column + right + _MARGIN
            if self._now[row][column] not in _NOW[symbol]:
                return False
            if symbol in _BEFORE and self._before[row][column] not in _BEFORE[symbol]:
                return False
            if symbol in "ABPQLM":
                marked[symbol] = (self._row + down) * self._size + self._column + right
        if any(marked.get(symbol, move) != move for symbol, move in zip("LM", self._last, strict=True)):
            return False
        return self._apart(marked, "AB", 1) and self._apart(marked, "PQ", 0)

    def _apart(self, marked: Mapping[str, int], pair: str, when: int) -> bool:
        """Whether two stones, if a diagram marks them, belong to different chains before (0) or after (1) the move."""
        first, second = (marked.get(symbol) for symbol in pair)
        return first is None or second is None or second not in self._boards[when].chain(first)

    def stones(self, cells: Cells) -> tuple[int, ...]:
        """The stones of a diagram, on the board."""
        points = (
            (self._row + down) * self._size + self._column + right for down, right, mark in cells if mark in _STONES
        )
        return tuple(sorted(points))


_STONES: Final = "*XOABPQLM"
_OWN, _OTHER = frozenset({1}), frozenset({-1})
_NONE, _NO_STONE = frozenset({EMPTY}), frozenset({EMPTY, _OFF})
# What may stand on a point of a diagram after the move; and before, where that matters
_NOW: Final[Mapping[str, frozenset[int]]] = {
    **dict.fromkeys("*XPQM", _OWN),
    **dict.fromkeys("OABL", _OTHER),
    **dict.fromkeys(".x", _NONE),
    ",": _NO_STONE | _OTHER,
    ";": _NO_STONE | _OWN,
    ":": _NO_STONE,
    "#": frozenset({_OFF}),
}
_BEFORE: Final[Mapping[str, frozenset[int]]] = {**dict.fromkeys("XPQM", _OWN), ".": _NONE, "x": _OTHER}


@cache
def _all_cells() -> tuple[tuple[ShapeName, Cells], ...]:
    """Every diagram in all of its symmetries, with each stone that may be the move in the middle."""
    return tuple((name, cells) for name, diagrams in _DIAGRAMS.items() for each in diagrams for cells in _turn(each))


def _turn(diagram: str) -> Iterator[Cells]:
    rows = diagram.split()
    cells = [(row, column, mark) for row, line in enumerate(rows) for column, mark in enumerate(line) if mark != "?"]
    seen: set[frozenset[tuple[int, int, str]]] = set()
    for first_row, first_column, mark in cells:
        if mark != "*":
            continue
        for turn in _SYMMETRIES:
            turned = [(*turn(row - first_row, column - first_column), mark) for row, column, mark in cells]
            if frozenset(turned) not in seen:
                seen.add(frozenset(turned))
                yield tuple(sorted(turned, key=lambda cell: (abs(cell[0]) + abs(cell[1]), cell)))  # what is near first


_SYMMETRIES: Final[tuple[Callable[[int, int], tuple[int, int]], ...]] = (
    lambda row, column: (row, column),
    lambda row, column: (row, -column),
    lambda row, column: (-row, column),
    lambda row, column: (-row, -column),
    lambda row, column: (column, row),
    lambda row, column: (column, -row),
    lambda row, column: (-column, row),
    lambda row, column: (-column, -row),
)


# Which territory a move moved: the points that became more Black's or more White's, and by how much together.

Ownership = NDArray[np.floating]

MOVED: Final = 0.5  # of the way from one color to the other is 2: so much is reported of a single point


@dataclass(frozen=True, slots=True)
class TerritoryChange:
    """What became of the points: ``black_gain`` is their sum, all of them counted."""

    black_gain: float
    to_black: tuple[int, ...]  # points that moved far, the farthest first
    to_white: tuple[int, ...]


def compare_ownership(before: Ownership, now: Ownership) -> TerritoryChange:
    """What changed between two predictions of who will own each point, [n²] in [−1, 1]."""
    change = now.astype(np.float64) - before
    order = np.argsort(-np.abs(change), kind="stable").tolist()
    moved = [point for point in order if abs(change[point]) >= MOVED]
    return TerritoryChange(
        float(change.sum()),
        tuple(point for point in moved if change[point] > 0),
        tuple(point for point in moved if change[point] < 0),
    )


# What a move changes for an evaluator that is a sum of features: which of them came, which went, what each added.
#
# A linear value is that of the player who has just moved. So a move changes two things: the stones, and whose turn it
# is. The *turn* is what a pass would have changed, the same for all moves; everything else are features that appeared
# or disappeared, all of them seen by the mover. Together they are the change of the mover's logit, exactly. Where a
# feature is and whose stones it consists of is known of ``PlacedFeatures`` alone.

_WHOSE: Final[dict[frozenset[int], Whose]] = {
    frozenset(): "nobody's",
    frozenset((BLACK,)): "ours",
    frozenset((WHITE,)): "theirs",
    frozenset((BLACK, WHITE)): "both",
}


@dataclass(frozen=True, slots=True)
class FeatureChange:
    """A feature that occurs more or less often after a move; ``before`` and ``after`` are what it adds to the logit."""

    index: int
    before: float
    after: float
    places: tuple[tuple[int, ...], ...]  # the points where it came, or if nowhere, where it went; if that is known

    @property
    def change(self) -> float:
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class ShapeChanges:
    """The logit of the mover before and after the move, and what its change is made of, the largest part first."""

    logit_before: float
    logit_after: float
    turn: float
    changes: tuple[FeatureChange, ...]

    @property
    def total(self) -> float:
        """The sum of all parts: ``logit_after − logit_before``."""
        return fsum([self.turn, *(change.change for change in self.changes)])


def explain_change(evaluator: LinearEvaluator, board: Board, move: int) -> ShapeChanges:
    """What a move on a board changes for its player; raises IllegalMove if simple ko or suicide forbids it."""
    passed, played = after(board, PASS), after(board, move)
    logit_before = -fsum(_added(evaluator, board).values())  # it is the opponent who had just moved
    before, now = _added(evaluator, passed), _added(evaluator, played)
    changed = [index for index in before.keys() | now.keys() if before.get(index, 0.0) != now.get(index, 0.0)]
    places = _find_places(evaluator.features, changed, passed, played)
    changes = [FeatureChange(i, before.get(i, 0.0), now.get(i, 0.0), places.get(i, ())) for i in changed]
    changes.sort(key=lambda change: (-abs(change.change), change.index))
    return ShapeChanges(logit_before, fsum(now.values()), fsum(before.values()) - logit_before, tuple(changes))


def _added(evaluator: LinearEvaluator, board: Board) -> dict[int, float]:
    """What every feature on a board adds to the logit of the player who has just moved."""
    indices, occurrences = evaluator.features.active(board)
    added = evaluator.weights[indices].astype(np.float64) * occurrences
    return dict(zip(indices.tolist(), added.tolist(), strict=True))


def _find_places(
    features: FeatureSet, changed: list[int], passed: Board, played: Board
) -> dict[int, tuple[tuple[int, ...], ...]]:
    """Where each of some features came, or if nowhere, where it went; empty if the features do not say."""
    if not isinstance(features, PlacedFeatures):
        return {}
    before, now = features.place(passed), features.place(played)
    found = {}
    for index in changed:
        there, here = set(before.places_of(index)), set(now.places_of(index))
        found[index] = tuple(sorted(here - there or there - here))
    return found


def whose(features: FeatureSet, index: int) -> Whose:
    """Whose stones a shape is made of; ours are the mover's."""
    stones = features.stones_of(index) if isinstance(features, PlacedFeatures) else None
    return "unknown" if stones is None else _WHOSE[stones]


def sum_by_side(features: FeatureSet, changes: ShapeChanges) -> dict[Whose, float]:
    """What the shapes of each side changed together; without the turn."""
    parts: dict[Whose, list[float]] = {}
    for change in changes.changes:
        parts.setdefault(whose(features, change.index), []).append(change.change)
    return {side: fsum(values) for side, values in parts.items()}


# Positions

SHAPES_LISTED: Final = 8
CANDIDATES_LISTED: Final = 10
VARIATION_LISTED: Final = 12  # moves
_DIGITS: Final = 4
_LEAST_VISITS: Final = 3  # that make the value of a candidate more than a guess


@dataclass(frozen=True, slots=True)
class PositionAnalysis:
    """A position, its record and its layers."""

    game: Game
    record: PositionRecord
    layers: tuple[Layer, ...]

    def layer(self, name: str) -> Layer:
        """The layer of a kind; raises KeyError if there is none."""
        return {layer.name: layer for layer in self.layers}[name]

    def _repr_html_(self) -> str:
        """The layers side by side, and the analysis in words."""
        board, last_move = self.game.board, self.game.last_move
        boards = "".join(
            f'<figure style="display:inline-block;margin:.5rem">{draw_layer(board, layer, last_move)}'
            f"<figcaption>{escape(layer.title)}</figcaption></figure>"
            for layer in self.layers
        )
        lines = describe_position(self.record) + describe_models(self.record.move)
        return f"<pre>{escape(chr(10).join(lines))}</pre>{boards}"


def analyze_position(game: Game, judges: Judges) -> PositionAnalysis:
    """Analyse the position of a game; raises WrongBoardSize if one of the evaluators is for boards of another size."""
    analysis = judges.analyze(game)
    layers = layers_of(game, analysis, judges.all_evaluators)
    return PositionAnalysis(game.copy(), record_turn(judges, last_turn(game), analysis), tuple(layers))


def evaluate_turn(judges: Judges, turn: Turn, game_name: str = "") -> PositionRecord:
    """A position as a record, with what can be said of its last move without looking at the turn before."""
    return record_turn(judges, turn, judges.analyze(turn.game), game_name)


def record_turn(judges: Judges, turn: Turn, analysis: Analysis, game_name: str = "") -> PositionRecord:
    """The same from an analysis that was made."""
    size = turn.game.size
    return PositionRecord(
        game=game_name,
        turn=turn.turn,
        node=turn.node,
        to_play=_color(turn.game.to_play),
        black_wins=_round(analysis.black_wins),
        black_lead=_round(analysis.black_lead, 2),
        candidates=tuple(_candidate(candidate, size) for candidate in analysis.candidates[:CANDIDATES_LISTED]),
        opinions=_opinions(judges, turn.game.board),
        ownership=None if analysis.ownership is None else tuple(np.round(analysis.ownership, 2).tolist()),
        move=_explain_move(judges, turn),
    )


def link_turns(previous: PositionRecord, position: PositionRecord) -> PositionRecord:
    """The position with what its last move lost and which territory it moved, compared with the turn before."""
    move = position.move
    if move is None:
        return position
    sign = 1 if move.color == "black" else -1
    candidates = [candidate.move for candidate in previous.candidates]
    found = {candidate.move: candidate for candidate in previous.candidates}.get(move.move)
    priors = [candidate.prior for candidate in previous.candidates if candidate.prior is not None]
    changes = {
        "loss": _difference(previous.black_wins, position.black_wins, sign, _DIGITS),
        "points_lost": _difference(previous.black_lead, position.black_lead, sign, 2),
        "order": candidates.index(move.move) if move.move in candidates else None,
        "best": candidates[0] if candidates else None,
        "loss_foreseen": _foresee_loss(previous, found, sign),
        "prior": None if found is None else found.prior,
        "is_most_probable": found is not None and found.prior is not None and found.prior >= max(priors),
        "is_near_pass": "pass" in (move.move, previous.move and previous.move.move),
        "territory": _territory(previous, position, move.move),
    }
    return position.model_copy(update={"move": move.model_copy(update=changes)})


def _foresee_loss(previous: PositionRecord, found: CandidateRecord | None, sign: int) -> float | None:
    """What a candidate was found to be worse by than the best one, if both were looked into."""
    if found is None or found.visits < _LEAST_VISITS:
        return None
    return _difference(previous.candidates[0].black_wins, found.black_wins, sign, _DIGITS)


def _difference(before: float | None, now: float | None, sign: int, digits: int) -> float | None:
    return None if before is None or now is None else round(sign * (before - now), digits)


def _territory(previous: PositionRecord, position: PositionRecord, played: str) -> TerritoryRecord | None:
    """The points that changed hands, but the one that was played on."""
    if previous.ownership is None or position.ownership is None:
        return None
    size = isqrt(len(position.ownership))
    change = compare_ownership(np.array(previous.ownership), np.array(position.ownership))
    return TerritoryRecord(
        black_gain=round(change.black_gain, 2),
        to_black=tuple(vertex for vertex in _vertices(change.to_black, size) if vertex != played),
        to_white=tuple(vertex for vertex in _vertices(change.to_white, size) if vertex != played),
        where=name_region(change.to_black if change.black_gain > 0 else change.to_white, size),
    )


_MOST_POINTS: Final = 0.6  # the share of points that makes a region theirs
_ZONES: Final = {  # thirds of the board, from the top and from the left
    (0, 0): "in the upper left",
    (0, 1): "at the top",
    (0, 2): "in the upper right",
    (1, 0): "on the left",
    (1, 1): "in the center",
    (1, 2): "on the right",
    (2, 0): "in the lower left",
    (2, 1): "at the bottom",
    (2, 2): "in the lower right",
}


def name_region(points: Sequence[int], size: int) -> str:
    """Where most of some points lie, in words: a corner, a side, the center, or half of the board; empty if nowhere.

    >>> name_region([0, 1, 9], 9), name_region([36, 44], 9), name_region([], 9)
    ('in the upper left', '', '')
    """
    if not points:
        return ""
    zones = [(3 * (point // size) // size, 3 * (point % size) // size) for point in points]
    zone, count = Counter(zones).most_common(1)[0]
    if count >= _MOST_POINTS * len(points):
        return _ZONES[zone]
    for axis, names in enumerate((("at the top", "at the bottom"), ("on the left", "on the right"))):
        for third, name in zip((0, 2), names, strict=True):
            if sum(each[axis] == third for each in zones) >= _MOST_POINTS * len(points):
                return name
    return ""


# A position


def _candidate(candidate: Candidate, size: int) -> CandidateRecord:
    return CandidateRecord(
        move=format_vertex(candidate.move, size),
        black_wins=_round(candidate.black_wins),
        black_lead=_round(candidate.black_lead, 2),
        prior=_round(candidate.prior),
        visits=candidate.visits,
        variation=_vertices((candidate.variation or (candidate.move,))[:VARIATION_LISTED], size),
    )


def _opinions(judges: Judges, board: Board) -> tuple[OpinionRecord, ...]:
    asked = {name: evaluator for name, evaluator in judges.all_evaluators.items() if has_value(evaluator)}
    wins = {name: float(evaluator.evaluate([board]).black_wins[0]) for name, evaluator in asked.items()}
    return tuple(OpinionRecord(evaluator=name, black_wins=round(share, _DIGITS)) for name, share in wins.items())


# A move


def _explain_move(judges: Judges, turn: Turn) -> MoveRecord | None:
    if turn.play is None or turn.before is None:
        return None
    color, move = turn.play
    board, size = turn.before, turn.before.size
    evaluators = judges.all_evaluators
    tactics = find_tactics(board, move)
    return MoveRecord(
        number=turn.number,
        color=_color(color),
        move=format_vertex(move, size),
        shapes=tuple(
            explain_shapes(name, evaluator, board, move)
            for name, evaluator in evaluators.items()
            if isinstance(evaluator, LinearEvaluator)
        ),
        people=tuple(
            people
            for name, evaluator in evaluators.items()
            if isinstance(evaluator, RankedEvaluator)
            for people in explain_people(name, evaluator, board, move)
        ),
        tactics=tuple(TacticRecord(what=fact.tactic.value, stones=_vertices(fact.stones, size)) for fact in tactics),
        named_shapes=tuple(
            NamedShapeRecord(name=shape.name.value, stones=_vertices(shape.stones, size))
            for shape in find_shapes(board, move)
        ),
    )


def explain_shapes(name: str, evaluator: LinearEvaluator, board: Board, move: int) -> ShapesRecord:
    """What a move changes in the mover's logit, shape by shape, the largest changes one by one."""
    changes = explain_change(evaluator, board, move)
    listed, others = changes.changes[:SHAPES_LISTED], changes.changes[SHAPES_LISTED:]
    return ShapesRecord(
        evaluator=name,
        logit_before=changes.logit_before,
        logit_after=changes.logit_after,
        turn=changes.turn,
        shapes=tuple(
            ShapeRecord(
                shape=evaluator.features.describe(change.index),
                whose=whose(evaluator.features, change.index),
                before=change.before,
                after=change.after,
                places=tuple(_vertices(place, board.size) for place in change.places),
            )
            for change in listed
        ),
        others=fsum(change.change for change in others),
        sides=sum_by_side(evaluator.features, changes),
    )


def explain_people(name: str, evaluator: RankedEvaluator, board: Board, move: int) -> list[PeopleRecord]:
    """What people of several ranks would have played."""
    return [
        PeopleRecord(
            evaluator=name,
            rank=prediction.rank,
            likely=tuple((format_vertex(m, board.size), round(share, _DIGITS)) for m, share in prediction.best()),
            played=round(float(prediction.policy[move]), _DIGITS),
        )
        for prediction in predict_people(evaluator, board)
    ]


# Text and numbers


def _color(color: int) -> Color:
    return "black" if color == BLACK else "white"


def _vertices(moves: Iterable[int], size: int) -> tuple[str, ...]:
    return tuple(format_vertex(move, size) for move in moves)


def _round(value: float | None, digits: int = _DIGITS) -> float | None:
    return None if value is None else round(value, digits) + 0.0
