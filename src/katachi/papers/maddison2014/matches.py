"""Games of networks: who plays by a policy alone, where games begin, and what counts.

A policy alone always plays the same, so the first plies are random; each opening is played with both colors, and
games that came out the same count once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from katachi.arena.ratings import Anchor
from katachi.arena.records import GameRecord
from katachi.arena.settings import OpeningSettings, TournamentSettings
from katachi.papers.documents import Estimate, format_rounded
from katachi.papers.experiment import Json, Scope
from katachi.papers.player_files import write_players
from katachi.papers.tournaments import Pair, describe_games, distinct_games, rate_games

RANDOM_PLIES: Final = 4


def policy_player(model: Path, **options: Any) -> Json:
    """Plays what a network likes best, without search; options are the network's."""
    return {"kind": "search", "evaluator": {"model": str(model.resolve()), **options}, "search": {"kind": "policy"}}


def tournament(
    players: Mapping[str, Json | str], size: int, scope: Scope, referee: str = "estimate"
) -> TournamentSettings:
    """The first against all others by Chinese rules; players are values for a file, or specs as they are."""
    files = {name: values for name, values in players.items() if not isinstance(values, str)}
    written = write_players(files, scope.folder / "players")
    specs = {name: written.get(name, str(values)) for name, values in players.items()}
    return TournamentSettings(
        players=specs,
        scheme="gauntlet",
        size=size,
        rules="chinese",
        referee=referee,
        jobs=scope.workers.jobs,
        openings=OpeningSettings(random_plies=RANDOM_PLIES),
    )


def count_games(names: Sequence[str], records: Sequence[GameRecord]) -> Json:
    """How many games there were, and the scores of all pairs in those that differ; earlier names come first in them."""
    if not records:
        return {"games": 0, "distinct": 0, "seconds": {}, "pairs": []}
    anyone = Anchor(records[0].black.name)  # only the scores are wanted
    return describe_games(records) | {"pairs": rate_games(names, distinct_games(records), anyone)["pairs"]}


def scores(results: Json) -> dict[tuple[str, str], Pair]:
    """What the first of each pair won."""
    return {(pair["first"], pair["second"]): Pair(**pair) for pair in results["pairs"]}


def won(pair: Pair) -> Estimate:
    """What the first of a pair won, in percent."""
    return Estimate(pair.percent, pair.percent_interval)


def format_won(pair: Pair | None) -> str:
    """``86.7 (79.4 … 91.6) of 100``, or nothing."""
    return "" if pair is None else f"{format_rounded(won(pair))} of {pair.games}"
