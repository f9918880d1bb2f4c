"""An analysis in words: a few lines for each position, as comments, pages and the terminal show them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import exp
from typing import Final

from katachi.analysis.records import (
    LEAST_MISTAKE,
    CandidateRecord,
    GameRecord,
    MoveRecord,
    PeopleRecord,
    PositionRecord,
    ShapesRecord,
    TerritoryRecord,
    count_losses,
    find_mistakes,
)

MOVES_TOLD: Final = 3
_SHAPES_TOLD: Final = 4
_POINTS_TOLD: Final = 8
_LEAST_TOLD: Final = 0.01  # of the chance to win: less is no loss worth a word
_MISTAKES_TOLD: Final = 10


def tell_position(position: PositionRecord) -> list[str]:
    """The lines about a position and the move that led to it."""
    lines = [tell_value(position.black_wins, position.black_lead)]
    if position.move is not None:
        lines += tell_move(position.move)
    if position.candidates:
        moves = ", ".join(tell_candidate(candidate, position) for candidate in position.candidates[:MOVES_TOLD])
        lines.append(f"{position.to_play.capitalize()} to play: {moves}.")
    return [line for line in lines if line]


def tell_value(black_wins: float | None, black_lead: float | None) -> str:
    """``Black wins 53.2 %, White leads by 1.5.``, as far as it is known."""
    parts = [] if black_wins is None else [f"Black wins {black_wins:.1%}".replace("%", " %")]
    if black_lead is not None:
        leader = "Black" if black_lead >= 0 else "White"
        parts.append(f"{leader} leads by {abs(black_lead):.1f}")
    return ", ".join(parts) + "." if parts else ""


def tell_candidate(candidate: CandidateRecord, position: PositionRecord) -> str:
    """``D4 (57 %, 120 visits)``; the chance is that of the player to move."""
    notes = []
    if candidate.black_wins is not None:
        wins = candidate.black_wins if position.to_play == "black" else 1 - candidate.black_wins
        notes.append(f"{100 * wins:.0f} %")
    if candidate.visits > 1:
        notes.append(f"{candidate.visits} visits")
    elif candidate.prior is not None and candidate.black_wins is None:
        notes.append(f"{100 * candidate.prior:.0f} % likely")
    return candidate.move + (f" ({', '.join(notes)})" if notes else "")


def tell_move(move: MoveRecord) -> list[str]:
    """The lines about a move: what it lost, did, changed, and what people would have played."""
    lines = [tell_loss(move), tell_tactics(move)]
    lines += [line for shapes in move.shapes for line in tell_shapes(shapes, move.color.capitalize())]
    if move.territory is not None:
        lines.append(tell_territory(move.territory))
    lines += tell_people(move.people)
    return [line for line in lines if line]


def tell_loss(move: MoveRecord) -> str:
    """What a move lost, and what was better; empty if it lost nothing worth a word."""
    if move.loss is None or move.loss < _LEAST_TOLD:
        return ""
    points = f" and {move.points_lost:.1f} points" if move.points_lost and move.points_lost > 0 else ""
    better = f"; {move.best} was better" if move.best and move.best != move.move else ""
    return f"{move.color.capitalize()} {move.move} lost {100 * move.loss:.1f} %{points}{better}."


def tell_tactics(move: MoveRecord) -> str:
    facts = [f"{fact.what} {_points(fact.stones)}" for fact in move.tactics]
    return f"{move.color.capitalize()} {move.move} {'; '.join(facts)}." if facts else ""


def tell_shapes(shapes: ShapesRecord, mover: str) -> list[str]:
    """What the shapes on the board gave the mover before and after, and the largest parts; ``ours`` are his."""
    sides = [f"{side} {value:+.2f}" for side, value in shapes.sides.items() if abs(value) >= 0.005]
    parts = ", ".join([*sorted(sides), f"the turn {shapes.turn:+.2f}"])
    chances = " before, ".join(f"{100 * _chance(logit):.0f} %" for logit in (shapes.logit_before, shapes.logit_after))
    lines = [f"By its shapes {shapes.evaluator} gave {mover} {chances} after (log-odds: {parts})."]
    for shape in shapes.shapes[:_SHAPES_TOLD]:
        words = shape.shape.splitlines()[0].removeprefix("LI ").removeprefix("LD ").replace("x", "×", 1)
        where = f" at {_points(shape.places[0])}" if len(shape.places) == 1 else ""
        lines.append(f"  {shape.after - shape.before:+.3f} by {words}{where}")
    return lines


def _chance(logit: float) -> float:
    return 1 / (1 + exp(-logit))


def tell_territory(territory: TerritoryRecord) -> str:
    """Which points went to whom, and who gained in all; empty if no single point moved far."""
    sides = (("Black", territory.to_black), ("White", territory.to_white))
    moved = [f"to {name} {_points(points)}" for name, points in sides if points]
    gainer = "Black" if territory.black_gain >= 0 else "White"
    return f"Went {'; '.join(moved)}. {gainer} gained {abs(territory.black_gain):.1f} in all." if moved else ""


def tell_people(people: Sequence[PeopleRecord]) -> list[str]:
    """A line for each network: what players of each rank would have played, and how likely the move was."""
    lines = []
    for evaluator, group in groupby(people, key=lambda one: one.evaluator):
        ranks = [
            f"{'people' if one.rank is None else f'{one.rank}d'} would play "
            + ", ".join(f"{move} ({100 * share:.0f} %)" for move, share in one.likely)
            + f", and this move with {100 * one.played:.1f} %"
            for one in group
        ]
        lines.append(f"{evaluator}: {'; '.join(ranks)}.")
    return lines


def tell_game(game: GameRecord, positions: Sequence[PositionRecord]) -> list[str]:
    """The lines about a whole game: who judged it, what each side lost, and the biggest mistakes."""
    lines = [f"Judged by {tell_judges(game)}."]
    for color in ("black", "white"):
        losses = count_losses(positions, color)
        if losses.moves:
            lines.append(
                f"{color.capitalize()}: {losses.mistakes} mistakes in {losses.moves} moves, "
                f"{100 * losses.mean:.1f} % lost by a move on average."
            )
    mistakes = find_mistakes(positions)[:_MISTAKES_TOLD]
    if mistakes:
        lines.append(f"Moves that lost at least {LEAST_MISTAKE:.0%}, the biggest first:".replace("%", " %"))
        lines += [f"  {move.number}: {tell_loss(move)}" for move in mistakes]
    return lines


def tell_judges(game: GameRecord) -> str:
    """Who judged a game, and for how long."""
    limits = [f"{game.simulations} simulations"] if game.simulations else []
    limits += [f"{game.seconds:g} s"] if game.seconds else []
    player = f"{game.player} ({' or '.join(limits)} a position)" if game.player and limits else game.player
    return " with ".join(filter(None, (player, ", ".join(game.evaluators)))) or "nobody"


def _points(points: Sequence[str]) -> str:
    more = len(points) - _POINTS_TOLD
    return " ".join(points[:_POINTS_TOLD]) + (f" and {more} more" if more > 0 else "")
