"""The records of an analysis: what is known of a game and of each of its positions, as JSON Lines.

A game is a line of kind ``game``, then one of kind ``position`` for its beginning and for every move or set-up. Moves
are vertices (``D4``, ``pass``), numbers are rounded, and what is not known is null. Chances and scores are Black's,
but what a move lost and what its shapes added are those of the player who made it. ``docs/analysis.schema.json`` is
made from these classes (``json_schema``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Whose = Literal["ours", "theirs", "both", "nobody's", "unknown"]
Color = Literal["black", "white"]
Probability = Annotated[float, Field(ge=0, le=1)]
Vertex = Annotated[str, Field(pattern=r"^([A-HJ-T]([1-9]|1[0-9])|pass)$")]


LEAST_MISTAKE: Final = 0.05  # of the chance to win
LEAST_BLUNDER: Final = 0.15
LIKELY: Final = 0.25  # the prior of a move that is not called a mistake


class Record(BaseModel):
    """Strict and never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class TacticRecord(Record):
    """What a move did at once."""

    what: str
    stones: tuple[Vertex, ...]
    others: tuple[Vertex, ...] = ()  # of a second chain: what was cut off, or put in double atari


class NamedShapeRecord(Record):
    """A shape that has a name, which a move made."""

    name: str
    stones: tuple[Vertex, ...]


class CandidateRecord(Record):
    """A move that was considered; the variation begins with it. What the best one does is listed."""

    move: Vertex
    black_wins: Probability | None = None
    black_lead: float | None = None
    prior: Probability | None = None
    visits: int = Field(default=0, ge=0)
    variation: tuple[Vertex, ...] = ()
    tactics: tuple[TacticRecord, ...] = ()
    named_shapes: tuple[NamedShapeRecord, ...] = ()


class OpinionRecord(Record):
    """What an evaluator says without looking ahead."""

    evaluator: str
    black_wins: Probability


class ShapeRecord(Record):
    """A shape that came or went, and what it added to the mover's logit before and after."""

    shape: str  # in words, with a drawing on the lines below
    whose: Whose
    before: float
    after: float
    places: tuple[tuple[Vertex, ...], ...] = ()


class ShapesRecord(Record):
    """What a move changed in the mover's logit: ``after − before = turn + Σ shapes (after − before) + others``."""

    evaluator: str
    logit_before: float
    logit_after: float
    turn: float  # what a pass would have changed
    shapes: tuple[ShapeRecord, ...]  # those that changed most
    others: float  # all other shapes together
    sides: dict[Whose, float]  # all shapes, by whose stones they are made of


class TerritoryRecord(Record):
    """The points that changed hands, or nearly, and what Black gained by all points together."""

    black_gain: float
    to_black: tuple[Vertex, ...]
    to_white: tuple[Vertex, ...]
    where: str = ""  # where most of the gain lies, if it lies together
    there: float = 0.0  # what Black gained in that part of the board


class PeopleRecord(Record):
    """What players of a grade (1 is 1 dan, 0 is 1 kyu) would have played, and how likely they found what was played."""

    evaluator: str
    rank: int | None
    likely: tuple[tuple[Vertex, Probability], ...]
    played: Probability


class MoveRecord(Record):
    """The move that led to a position, and what is said of it."""

    number: int = Field(ge=1)
    color: Color
    move: Vertex
    loss: float | None = (
        None  # of the chance to win, compared with the turn before; below 0 it was better than expected
    )
    loss_error: float = 0.0  # half of the interval (95 %) of the loss, as far as playouts make it uncertain
    points_lost: float | None = None
    order: int | None = None  # among the candidates, 0 is the best; null if it was not considered
    best: Vertex | None = None
    loss_foreseen: float | None = None  # compared with the best candidate, by what looked ahead before it was played
    prior: Probability | None = None  # how likely it was held before looking ahead
    is_most_probable: bool = False  # whether no other move was held as likely
    is_near_pass: bool = False  # whether it is a pass, or comes after one
    in_full: bool = True  # whether both positions, before and after it, were searched in full
    shapes: tuple[ShapesRecord, ...] = ()
    territory: TerritoryRecord | None = None
    people: tuple[PeopleRecord, ...] = ()
    tactics: tuple[TacticRecord, ...] = ()
    named_shapes: tuple[NamedShapeRecord, ...] = ()
    best_tactics: tuple[TacticRecord, ...] = ()  # what the best candidate would have done
    answer: Vertex | None = None  # the best candidate after it, and what that does
    answer_tactics: tuple[TacticRecord, ...] = ()

    @property
    def sure_loss(self) -> float | None:
        """What can be claimed that a move lost of the chance to win.

        Nothing of a move that the search before found as good as any, or that was held likely by what knows how strong
        players play, nothing once somebody passed, when the game may be over, and nothing unless both positions are
        searched in full: such a loss is more often an error of the analysis. So is one within the error of playouts.
        """
        claimed = self._claim(self.loss)
        return claimed if claimed is None or claimed > self.loss_error else min(0.0, claimed)

    @property
    def sure_points(self) -> float | None:
        """The same in points."""
        return self._claim(self.points_lost)

    def _claim(self, loss: float | None) -> float | None:
        if loss is None:
            return None
        is_good = self.order == 0 or (self.loss_foreseen is not None and self.loss_foreseen <= 0)
        return loss if self.can_be_mistake and not is_good and self.in_full else min(0.0, loss)

    @property
    def can_be_mistake(self) -> bool:
        """Whether it may be called a mistake at all: people play it seldom, and nobody has passed."""
        return not (self.is_most_probable or (self.prior or 0) >= LIKELY or self.is_near_pass)


class PositionRecord(Record):
    """A position, and the move that led to it."""

    kind: Literal["position"] = "position"
    game: str
    turn: int = Field(ge=0)  # 0 is where the game begins
    node: int = Field(ge=0)  # of the main line of the record, 0 is the root
    to_play: Color
    black_wins: Probability | None = None
    black_lead: float | None = None
    error: float = 0.0  # the standard error of black_wins by playouts, which are drawn at random
    candidates: tuple[CandidateRecord, ...] = ()
    opinions: tuple[OpinionRecord, ...] = ()
    ownership: tuple[float, ...] | None = None  # row by row from the top, +1 is Black's
    is_first_look: bool = False  # whether it is the network's value alone, to be searched later
    in_full: bool = True  # whether the search was as long as any of the game
    move: MoveRecord | None = None


class GameRecord(Record):
    """A game, and who analysed it how."""

    kind: Literal["game"] = "game"
    game: str
    source: str
    sha256: str
    size: int
    komi: float
    handicap: int = 0
    rules: str
    black: str = ""
    white: str = ""
    black_rank: str | None = None
    white_rank: str | None = None
    result: str | None = None
    positions: int
    player: str | None = None
    evaluators: tuple[str, ...] = ()
    simulations: int | None = None
    seconds: float | None = None
    seed: int = 0
    program: str


Line = GameRecord | PositionRecord
_LINES: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="kind")])


def format_line(record: Line) -> str:
    """A record as a line of JSON."""
    return record.model_dump_json() + "\n"


def parse_line(line: str | bytes) -> Line:
    """Read a line; raises pydantic's ValidationError, which is a ValueError."""
    return _LINES.validate_json(line)


def json_schema() -> dict[str, Any]:
    """The JSON schema of a line, as it is published."""
    schema = _LINES.json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A line of a katachi analysis"} | schema


def format_schema() -> str:
    return json.dumps(json_schema(), indent=2) + "\n"


# The biggest mistakes of a game, and how much each side lost.


class Losses(NamedTuple):
    """What a side lost in a game: moves that were analysed, mistakes among them, and their mean loss."""

    moves: int
    mistakes: int
    mean: float
    points: float | None = None  # lost by a move on average, if leads are known


def moves_of_game(positions: Iterable[PositionRecord]) -> list[MoveRecord]:
    """The moves that are explained, in the order of the game."""
    return [position.move for position in positions if position.move is not None]


def find_mistakes(positions: Iterable[PositionRecord], least: float = LEAST_MISTAKE) -> list[MoveRecord]:
    """The moves that surely lost so much of the chance to win, the biggest first; equal ones in their order."""
    claims = ((move.sure_loss, move) for move in moves_of_game(positions))
    lost = [(loss, move) for loss, move in claims if loss is not None and loss >= least]
    return [move for _, move in sorted(lost, key=lambda pair: -pair[0])]


def count_losses(positions: Iterable[PositionRecord], color: Color) -> Losses:
    """What a side surely lost; a move that was better than expected lost nothing."""
    moves = [move for move in moves_of_game(positions) if move.color == color]
    losses = [max(0.0, loss) for move in moves if (loss := move.sure_loss) is not None]
    mistakes = sum(loss >= LEAST_MISTAKE for loss in losses)
    points = [max(0.0, lost) for move in moves if (lost := move.sure_points) is not None]
    return Losses(len(losses), mistakes, _mean(losses) or 0.0, _mean(points))


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
