"""Wald's sequential probability ratio test: a match that stops as soon as it is clear enough.

Two strengths are weighed against each other: that the first player is ``elo0`` points stronger, and that it is
``elo1``. The logarithm of the ratio of their likelihoods moves with every game; the match is over when it leaves the
bounds that the two kinds of error allow. A draw is half a win, which errs on the side of playing longer.

Games are taken in the order of the schedule, so that the decision is the same in however many processes they are
played.

Wald, *Sequential tests of statistical hypotheses*, Annals of Mathematical Statistics 16 (1945).

>>> test = Sprt(elo0=0, elo1=100)
>>> test.outcome([1.0] * 11), test.outcome([1.0] * 12)
(None, Outcome(accepted=100, games=12, log_ratio=2.96...))
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from katachi.arena.records import GameRecord
from katachi.arena.schedule import Pairing, game_id, pairings
from katachi.arena.settings import TournamentSettings


class Outcome(NamedTuple):
    """The strength that was accepted, after how many games, and the logarithm of the likelihood ratio then."""

    accepted: float
    games: int
    log_ratio: float


@dataclass(frozen=True, slots=True)
class Sprt:
    """The test; ``alpha`` is the chance to accept ``elo1`` where ``elo0`` is true, ``beta`` the reverse."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    @property
    def bounds(self) -> tuple[float, float]:
        """Where the logarithm of the ratio decides for ``elo0`` and for ``elo1``."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def outcome(self, scores: Iterable[float]) -> Outcome | None:
        """What the scores of the first player decide, None while they do not."""
        p0, p1 = (1 / (1 + 10 ** (-elo / 400)) for elo in (self.elo0, self.elo1))
        won, lost = math.log(p1 / p0), math.log((1 - p1) / (1 - p0))
        low, high = self.bounds
        ratio = 0.0
        for games, score in enumerate(scores, 1):
            ratio += score * won + (1 - score) * lost
            if not low < ratio < high:
                return Outcome(self.elo1 if ratio >= high else self.elo0, games, ratio)
        return None


def sprt_outcome(settings: TournamentSettings, records: Mapping[str, GameRecord]) -> Outcome | None:
    """What the games of a match have decided, None if they have not or if no test was asked for."""
    if settings.sprt is None:
        return None
    test = Sprt(**settings.sprt.model_dump())
    return test.outcome(_scores_in_order(pairings(settings)[0], records))


def _scores_in_order(pairing: Pairing, records: Mapping[str, GameRecord]) -> Iterator[float]:
    """The scores of the first player, up to the first game that is not yet played."""
    number = 0
    while (record := records.get(game_id(pairing, number))) is not None:
        yield record.score_of(pairing.first)
        number += 1
