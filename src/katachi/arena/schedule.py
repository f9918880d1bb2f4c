"""Who plays whom, with which color, opening and seeds: all of it decided before the first game.

A game's seeds come from the tournament's seed, its pairing and its number, so that they are the same in whatever
order and in however many processes the games are played, and after every interruption.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from katachi.arena.match import Opening, Openings
from katachi.arena.settings import Scheme, TournamentSettings

_STREAM = 0  # keeps the random numbers of the players apart from those of the openings


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two players who meet in a number of games; the first has Black in the games with even numbers."""

    number: int
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Seeds:
    """The random seeds of one game, 31 bits each, which every GTP program takes."""

    black: int
    white: int


@dataclass(frozen=True, slots=True)
class ScheduledGame:
    """One game to be played."""

    pairing: Pairing
    number: int  # within the pairing, from 0
    opening: Opening
    seeds: Seeds

    @property
    def id(self) -> str:
        return game_id(self.pairing, self.number)

    @property
    def black(self) -> str:
        return self.pairing.second if self.number % 2 else self.pairing.first

    @property
    def white(self) -> str:
        return self.pairing.first if self.number % 2 else self.pairing.second


def game_id(pairing: Pairing, number: int) -> str:
    """The name of a game in its run, both numbers counted from 1: ``02-0017``."""
    return f"{pairing.number + 1:02d}-{number + 1:04d}"


def pairings(settings: TournamentSettings) -> list[Pairing]:
    """All pairs for a round robin; the first player against all others for a gauntlet; near ones for a ladder."""
    pairs = _SCHEMES[settings.scheme](list(settings.players))
    return [Pairing(number, first, second) for number, (first, second) in enumerate(pairs)]


def _round_robin(names: list[str]) -> list[tuple[str, str]]:
    return list(combinations(names, 2))


def _gauntlet(names: list[str]) -> list[tuple[str, str]]:
    return [(names[0], other) for other in names[1:]]


def _ladder(names: list[str]) -> list[tuple[str, str]]:
    """Each against the two that follow: where players stand in the order of their strength, the others say little."""
    return [(name, other) for number, name in enumerate(names) for other in names[number + 1 : number + 3]]


_SCHEMES: Final[dict[Scheme, Callable[[list[str]], list[tuple[str, str]]]]] = {
    "round-robin": _round_robin,
    "gauntlet": _gauntlet,
    "ladder": _ladder,
}


def schedule(
    settings: TournamentSettings, openings: Openings, played: Container[str] = frozenset()
) -> Iterator[ScheduledGame]:
    """The games that are still to be played, all pairings side by side."""
    for number in range(settings.games):
        opening = None
        for pairing in pairings(settings):
            if game_id(pairing, number) not in played:
                opening = opening or openings.opening(number // 2 if settings.openings.paired else number)
                yield ScheduledGame(pairing, number, opening, _seeds(settings.seed, pairing, number))


def _seeds(seed: int, pairing: Pairing, number: int) -> Seeds:
    sequence = np.random.SeedSequence(seed, spawn_key=(_STREAM, pairing.number, number))
    return Seeds(*(int(word) >> 1 for word in sequence.generate_state(2, np.uint32)))
