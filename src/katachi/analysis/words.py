"""An analysis in a Go player's words: sentences from records, all text out of one catalogue.

The catalogue is a file (``english.toml``), so that another language is another file. A sentence says what is certain:
a loss, a lead or a territory within the error of the analysis is not mentioned, or called unclear.

>>> say("tactic.puts in atari", stones=list_stones([f"C{n}" for n in range(1, 12)]))
'puts eleven stones at C1 in atari'
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from math import exp
from pathlib import Path
from typing import Any, Final

from katachi.analysis.records import (
    LEAST_MISTAKE,
    CandidateRecord,
    GameRecord,
    MoveRecord,
    NamedShapeRecord,
    PeopleRecord,
    PositionRecord,
    ShapesRecord,
    TacticRecord,
    TerritoryRecord,
    count_losses,
    find_mistakes,
)
from katachi.sgf.record import format_grade

# The catalogue

_PLURALS: Final[Mapping[str, Callable[[int], str]]] = {  # which form a number takes, by the rules of languages
    "other": lambda _: "other",
    "one, other": lambda count: "one" if count == 1 else "other",
    "one, few, other": lambda count: (
        "other" if 10 < count % 100 < 20 else {1: "one", 2: "few", 3: "few", 4: "few"}.get(count % 10, "other")
    ),
}


class Catalogue:
    """The texts of a language by key, such as ``loss.both``."""

    def __init__(self, texts: Mapping[str, Any]) -> None:
        """Take what a file holds; raises ValueError if it names a rule for plurals that nobody knows."""
        self._texts = texts
        if texts["plural"] not in _PLURALS:
            raise ValueError(f"the plural {texts['plural']!r} is none of {', '.join(map(repr, _PLURALS))}")

    @classmethod
    def read(cls, path: Path) -> Catalogue:
        return cls(tomllib.loads(path.read_text(encoding="utf-8")))

    def say(self, key: str, **parameters: Any) -> str:
        """A text with its parameters; the form of one that has several is chosen by ``count``."""
        section, _, name = key.partition(".")
        text = self._texts[section][name]
        if not isinstance(text, str):
            text = text[_PLURALS[self._texts["plural"]](parameters["count"])]
        said: str = text.format(**parameters)
        return said

    def spell(self, number: int) -> str:
        """A small number as a word, others by their digits."""
        words = self._texts["numbers"]
        return str(words[number]) if number < len(words) else str(number)

    def join(self, items: Sequence[str]) -> str:
        """``A, B and C``."""
        *first, last = items
        ends = self._texts["list"]
        return f"{ends['between'].join(first)}{ends['last']}{last}" if first else last


@cache
def _english() -> Catalogue:
    return Catalogue.read(Path(__file__).with_name("english.toml"))


_SPOKEN: Final[ContextVar[Catalogue | None]] = ContextVar("_SPOKEN", default=None)


@contextmanager
def speaking(catalogue: Catalogue) -> Iterator[None]:
    """Say everything by another catalogue."""
    token = _SPOKEN.set(catalogue)
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def _catalogue() -> Catalogue:
    return _SPOKEN.get() or _english()


def say(key: str, **parameters: Any) -> str:
    """A text of the catalogue in force."""
    return _catalogue().say(key, **parameters)


def say_color(color: str) -> str:
    return say(f"color.{color}")


def list_stones(points: Sequence[str]) -> str:
    """Few stones by their points, many by their number and one of them."""
    if len(points) <= _STONES_LISTED:
        return _catalogue().join(points)
    return say("stones.many", number=_catalogue().spell(len(points)), first=points[0])


# What is too little to be said: within the error of an analysis

LEAST_POINTS: Final = 1.5  # of a lead, a loss or a territory
LEAST_POINTS_ALONE: Final = 5.0  # lost without a chance to win
MOVES_LISTED: Final = 3
_SHAPES_LISTED: Final = 4
_POINTS_LISTED: Final = 8
_STONES_LISTED: Final = 3
_FACTS_LISTED: Final = 2  # of a move that was not played
_MOST: Final = 0.5  # of the players
_MISTAKES_LISTED: Final = 10
_NO_REASON: Final = frozenset(  # tactics that do not speak for a move
    ("leaves in atari", "puts into atari itself", "runs in vain with", "tries in vain to save", "fills an eye")
)
_SAID_BY: Final = {"cut": "cuts", "solid connection": "connects"}  # shapes that tactics make needless to say

# Positions


def describe_position(position: PositionRecord) -> list[str]:
    """The lines about a position and the move that led to it, in players' words."""
    lines = [describe_value(position.black_wins, position.black_lead)]
    if position.move is not None:
        lines += describe_move(position.move)
    if position.candidates:
        moves = _separate(describe_candidate(candidate, position) for candidate in position.candidates[:MOVES_LISTED])
        lines.append(say("candidates.line", color=say_color(position.to_play), moves=moves))
    return [line for line in lines if line]


def describe_value(black_wins: float | None, black_lead: float | None) -> str:
    """``Black wins 53.2 %, White leads by 2.5.``, as far as it is known."""
    parts = [] if black_wins is None else [say("value.wins", wins=100 * black_wins)]
    if black_lead is not None and abs(black_lead) < LEAST_POINTS:
        parts.append(say("value.unclear"))
    elif black_lead is not None:
        leader = say_color("black" if black_lead > 0 else "white")
        parts.append(say("value.lead", color=leader, lead=abs(black_lead)))
    return say("value.sentence", parts=_separate(parts)) if parts else ""


def describe_candidate(candidate: CandidateRecord, position: PositionRecord) -> str:
    """``D4 (57 %, 120 visits)``; the chance is that of the player to move."""
    notes = []
    if candidate.black_wins is not None:
        wins = candidate.black_wins if position.to_play == "black" else 1 - candidate.black_wins
        notes.append(say("candidates.wins", wins=100 * wins))
    if candidate.visits > 1:
        notes.append(say("candidates.visits", count=candidate.visits))
    elif candidate.prior is not None and candidate.black_wins is None:
        notes.append(say("candidates.likely", share=100 * candidate.prior))
    return say("candidates.noted", move=candidate.move, notes=_separate(notes)) if notes else candidate.move


def _separate(parts: Any) -> str:
    return ", ".join(parts)


# Moves


def describe_move(move: MoveRecord) -> list[str]:
    """The lines about a move: what it lost, did, changed, and what people would have played."""
    lines = [describe_loss(move), describe_tactics(move)]
    if move.territory is not None:
        lines.append(describe_territory(move.territory))
    lines += [describe_answer(move), describe_people(move.people)]
    return [line for line in lines if line]


def describe_loss(move: MoveRecord) -> str:
    """What a move surely lost, in chances and in points, and what was better and why; empty if it is within the error.

    Points alone are mentioned if they are many: who is far ahead loses no chance with them.
    """
    loss, points = move.sure_loss or 0.0, move.sure_points or 0.0
    is_mistake = loss >= LEAST_MISTAKE
    if not is_mistake and points < LEAST_POINTS_ALONE:
        return ""
    what = "points" if not is_mistake else "both" if points >= LEAST_POINTS else "wins"
    color = say_color(move.color)
    lost = say(f"loss.{what}", color=color, move=move.move, loss=100 * loss, points=points)
    if not move.best or move.best == move.move:
        return say("loss.alone", lost=lost)
    facts = _list_reasons(move.best_tactics)
    return say("loss.because" if facts else "loss.better", lost=lost, best=move.best, facts=facts)


def describe_answer(move: MoveRecord) -> str:
    """What the opponent's best answer to a mistake does; empty if that is nothing."""
    facts = _list_reasons(move.answer_tactics)
    if (move.sure_loss or 0.0) < LEAST_MISTAKE or move.answer is None or not facts:
        return ""
    color = say_color("white" if move.color == "black" else "black")
    return say("loss.answer", color=color, move=move.answer, facts=facts)


def _list_reasons(tactics: Sequence[TacticRecord]) -> str:
    """What speaks for a move that was not played."""
    return _list_facts([fact for fact in tactics if fact.what not in _NO_REASON][:_FACTS_LISTED])


def describe_tactics(move: MoveRecord) -> str:
    """What a move did at once, and the shapes that it made or was, in one sentence; empty if there is nothing."""
    facts = _list_facts(move.tactics, move.named_shapes)
    return say("move.sentence", color=say_color(move.color), move=move.move, facts=facts) if facts else ""


def _list_facts(tactics: Sequence[TacticRecord], shapes: Sequence[NamedShapeRecord] = ()) -> str:
    done = {fact.what for fact in tactics}
    named = [shape.name for shape in shapes if _SAID_BY.get(shape.name) not in done]
    facts = [*map(_describe_fact, tactics), *(say(f"shape.{name}") for name in named)]
    return _catalogue().join(facts) if facts else ""


def _describe_fact(fact: TacticRecord) -> str:
    others = list_stones(fact.others) if fact.others else ""
    stones = list_stones(fact.stones) if fact.stones else ""
    return say(f"tactic.{fact.what}", stones=stones, others=others, count=len(fact.stones))


def describe_territory(territory: TerritoryRecord) -> str:
    """Who gained about how many points, and where; empty if no single point moved far, or too little in all."""
    gain = territory.black_gain
    if not (territory.to_black or territory.to_white) or abs(gain) < LEAST_POINTS:
        return ""
    color = say_color("black" if gain > 0 else "white")
    if not territory.where or not territory.there:
        return say("territory.gain", color=color, count=round(abs(gain)))
    there = abs(territory.there)
    rest = abs(gain) - there
    how = "there" if abs(rest) < LEAST_POINTS else "more" if rest > 0 else "less"
    where = say(f"region.{territory.where}")
    return say(f"territory.{how}", color=color, count=round(there), where=where, rest=round(abs(rest)))


def describe_people(people: Sequence[PeopleRecord]) -> str:
    """What players of the highest rank that a network knows would have played, and how many the move that was."""
    best = max((one for one in people if one.likely), key=lambda one: one.rank or 0, default=None)
    if best is None:
        return ""
    who = say("people.all") if best.rank is None else say("people.ranked", rank=format_grade(best.rank))
    is_clear = best.likely[0][1] >= _MOST
    listed = best.likely[:1] if is_clear else best.likely
    moves = _separate(say("people.share", move=move, share=100 * share) for move, share in listed)
    played = say("people.this", share=100 * best.played) if best.played >= 0.01 else say("people.none")
    return say("people.most" if is_clear else "people.some", who=who, moves=moves, played=played)


# How the models see a move, shape by shape: arithmetic, for who asks


def describe_models(move: MoveRecord | None) -> list[str]:
    """The lines about what a move changed for each model that is a sum of shapes."""
    if move is None:
        return []
    return [line for shapes in move.shapes for line in describe_shapes(shapes, say_color(move.color))]


def describe_shapes(shapes: ShapesRecord, mover: str) -> list[str]:
    """What the shapes on the board gave the mover before and after, and the largest parts; ``ours`` are the mover's."""
    sides = {side: value for side, value in shapes.sides.items() if abs(value) >= 0.005}
    parts = [say("model.side", side=say(f"side.{side}"), value=value) for side, value in sorted(sides.items())]
    parts.append(say("model.turn", value=shapes.turn))
    before, now = (100 / (1 + exp(-logit)) for logit in (shapes.logit_before, shapes.logit_after))
    summary = {"model": shapes.evaluator, "color": mover, "parts": _separate(parts)}
    lines = [say("model.line", before=before, after=now, **summary)]
    for shape in shapes.shapes[:_SHAPES_LISTED]:
        words = shape.shape.splitlines()[0].removeprefix("LI ").removeprefix("LD ").replace("x", "×", 1)
        is_one = len(shape.places) == 1
        points = _list_points(shape.places[0]) if is_one else ""
        change = shape.after - shape.before
        lines.append(say("model.place" if is_one else "model.shape", change=change, shape=words, points=points))
    return lines


def _list_points(points: Sequence[str]) -> str:
    more = len(points) - _POINTS_LISTED
    listed = " ".join(points[:_POINTS_LISTED])
    return say("model.more", points=listed, count=more) if more > 0 else listed


# Games


def describe_game(game: GameRecord, positions: Sequence[PositionRecord]) -> list[str]:
    """The lines about a whole game: who analysed it, what each side lost, and the biggest mistakes."""
    lines = [say("game.analysed", names=describe_judges(game))]
    if any(position.is_first_look for position in positions):
        return [*lines, say("game.first")]
    for color in ("black", "white"):
        losses = count_losses(positions, color)
        if losses.moves:
            counted = say("game.count", color=say_color(color), count=losses.mistakes, moves=losses.moves)
            how = "mean" if losses.points is None else "both"
            lines.append(say(f"game.{how}", counted=counted, loss=100 * losses.mean, points=losses.points))
    mistakes = find_mistakes(positions)[:_MISTAKES_LISTED]
    if mistakes:
        lines.append(say("game.mistakes", least=100 * LEAST_MISTAKE))
        lines += [say("game.mistake", number=move.number, sentence=describe_loss(move)) for move in mistakes]
    return lines


def describe_judges(game: GameRecord) -> str:
    """Who analysed a game, and for how long."""
    limits = [say("game.simulations", count=game.simulations)] if game.simulations else []
    limits += [say("game.seconds", seconds=game.seconds)] if game.seconds else []
    held = say("game.or", first=limits[0], second=limits[1]) if len(limits) > 1 else "".join(limits)
    name = re.sub(r" limit\.\w+=\S+", "", game.player or "") if limits else game.player
    player = say("game.limited", player=name, limits=held) if name and limits else name
    models = _separate(model for model in game.evaluators if model != game.player)
    return (
        say("game.with", player=player, models=models) if player and models else player or models or say("game.nobody")
    )
