"""Games between values over different features (D1, D6): CRBM, its orientation-free kind, and all templates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Final

from katachi.arena.match import Ending
from katachi.arena.records import GameRecord
from katachi.arena.settings import OpeningSettings, TournamentSettings
from katachi.papers.documents import Estimate, format_rounded, numbered, share, table
from katachi.papers.experiment import Budget, Json, Row, Scope, Table
from katachi.papers.games import Games, require_games
from katachi.papers.gnugo import gnugo_referee, has_gnugo
from katachi.papers.largman2010.learned import EPSILON, KOMI, PAPER_GAMES, Kind, Subject, how_long, learn_values
from katachi.papers.player_files import write_players
from katachi.papers.tournaments import play_rounds, rounds

NAME: Final = "play"
RUN: Final = f"largman2010/{NAME}"
PUBLISHED_WON, PUBLISHED_GAMES = 54, 63  # by the CRBM against templates
MAX_MOVES: Final = 100  # then there is no winner
KINDS: Final = (Kind.CRBM, Kind.ORIENTED, Kind.TEMPLATES)
PAIRS: Final = tuple(combinations(KINDS, 2))
EYES: Final = {"eyes may be filled": True, "no eye is filled": False}  # the paper's way, and ours
SEEDS: Final = {Budget.SMOKE: 1, Budget.HOUR: 3, Budget.FULL: 3}
GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 140, Budget.FULL: 400}  # of each pair of one seed

_LEVEL: Final = 0  # of GNU Go as a referee


def measure(scope: Scope) -> Json:
    """Learn and play; ``--runs`` is the number of seeds."""
    games = require_games(scope)
    seeds = range(scope.runs or SEEDS[scope.budget])
    learn_values([Subject(kind, seed) for seed in seeds for kind in KINDS], games, scope)
    tournaments: dict[str, TournamentSettings] = {}
    for seed in seeds:
        for name, fills in EYES.items():
            template = _tournament(seed, games, scope, fills=fills)
            found = rounds(template, dict.fromkeys(template.players, GAMES[scope.budget]))
            tournaments |= {f"{name.replace(' ', '-')}-{seed}-{part}": settings for part, settings in found.items()}

    def count(records: Sequence[GameRecord]) -> Json:
        return {"data": games.describe(), "seeds": len(seeds), "scores": list(_count(seeds, records))}

    return play_rounds(tournaments, scope, count)


def _tournament(seed: int, games: Games, scope: Scope, *, fills: bool) -> TournamentSettings:
    """All three kinds of one seed against each other, by the paper's protocol."""
    search = {"kind": "greedy", "epsilon": EPSILON, "fills_eyes": fills, "may_pass": True}
    specs = {
        _player(kind, seed, fills=fills): {
            "kind": "search",
            "evaluator": {"model": str(Subject(kind, seed).value(games, scope))},
            "search": search,
        }
        for kind in KINDS
    }
    return TournamentSettings(
        players=write_players(specs, scope.folder / f"players-{how_long(games, scope)}"),
        size=games.size,
        rules="chinese",
        komi=KOMI,
        max_moves=MAX_MOVES,
        referee=gnugo_referee(_LEVEL) if has_gnugo() else "estimate",
        jobs=scope.workers.jobs,
        openings=OpeningSettings(random_plies=0),
    )


def _player(kind: Kind, seed: int, *, fills: bool) -> str:
    return f"{kind.value} {seed}{' filling' if fills else ''}"


def _count(seeds: Iterable[int], records: Sequence[GameRecord]) -> Iterator[Json]:
    """What the first of each pair won with each seed, of the games with a winner."""
    for name, fills in EYES.items():
        for seed in seeds:
            for first, second in PAIRS:
                names = _player(first, seed, fills=fills), _player(second, seed, fills=fills)
                played = [record for record in records if {record.black.name, record.white.name} == set(names)]
                decided = [record for record in played if record.ending != Ending.MOVE_LIMIT.value]
                yield {
                    "eyes": name,
                    "seed": seed,
                    "first": first.value,
                    "second": second.value,
                    "games": len(played),
                    "decided": len(decided),
                    "won": sum(record.score_of(names[0]) for record in decided),
                }


def won(scores: Iterable[Mapping[str, float]]) -> Estimate | None:
    """What the first won of the games with a winner, in percent; None if there were none."""
    found = list(scores)
    decided = int(sum(score["decided"] for score in found))
    return share(sum(score["won"] for score in found), decided) if decided else None


def _scores(results: Json, eyes: str, first: Kind, second: Kind) -> list[Json]:
    wanted = (eyes, first.value, second.value)
    return [score for score in results["scores"] if (score["eyes"], score["first"], score["second"]) == wanted]


def rows(results: Json) -> list[Row]:
    """Every pair, all seeds together, with both rules of eyes; and games that nobody won."""
    return [row for eyes in EYES for pair in PAIRS for row in _rows(results, eyes, *pair)]


def _rows(results: Json, eyes: str, first: Kind, second: Kind) -> Iterator[Row]:
    scores = _scores(results, eyes, first, second)
    found, fills = won(scores), EYES[eyes]
    is_published = fills and (first, second) == (Kind.CRBM, Kind.TEMPLATES)
    paper = round(100 * PUBLISHED_WON / PUBLISHED_GAMES, 1) if is_published else None
    name = f"{NAME}/{first.value}/{second.value}/{'filling' if fills else 'not-filling'}"
    what = f"{first.value} against {second.value}, {eyes}"
    ours, interval = (None, None) if found is None else (round(found.mean, 1), found.interval)
    yield Row(f"{name}/won", f"{what}: won of games with a winner, %", paper, ours, interval, RUN)
    games = sum(score["games"] for score in scores)
    if games:
        none = share(games - sum(score["decided"] for score in scores), games)
        yield Row(f"{name}/no-winner", f"{what}: no winner, %", None, round(none.mean, 1), none.interval, RUN)


def section(results: Json, pictures: Path) -> str:  # noqa: ARG001 — the table says it all
    """How it was played, the scores of every seed, the paper's, and the differences."""
    header = ("", "eyes", "all seeds: won, % of games with a winner", "each seed, %", "no winner, %")
    published = share(PUBLISHED_WON, PUBLISHED_GAMES)
    return f"""
Values over each set of features learn by TD(0) from the same recorded games of `{results["data"]["name"]}`, and play
one ply deep with ε = {EPSILON}, komi {KOMI}, on {results["data"]["size"]}×{results["data"]["size"]}. Games that have
{MAX_MOVES} moves have no winner. Seeds: {results["seeds"]}; each learns its CRBM and its values anew.

{table(header, (_line(results, eyes, *pair) for eyes in EYES for pair in PAIRS))}

In the paper the CRBM won {PUBLISHED_WON} of {PUBLISHED_GAMES} games against templates, {format_rounded(published)} %.
It says that features that are not oriented played better than those that are, without a number.

Differences from the paper:

{numbered((_games_difference(results["data"]), *_DIFFERENCES))}
"""


def _line(results: Json, eyes: str, first: Kind, second: Kind) -> tuple[str, ...]:
    scores = _scores(results, eyes, first, second)
    found, seeds = won(scores), [won([score]) for score in scores]
    games = sum(score["games"] for score in scores)
    none = share(games - sum(score["decided"] for score in scores), games) if games else None
    return (
        f"{first.value} against {second.value}",
        eyes,
        "" if found is None else f"{format_rounded(found)} of {sum(score['decided'] for score in scores)}",
        ", ".join("–" if one is None else f"{one.mean:.1f}" for one in seeds),
        "" if none is None else format_rounded(none),
    )


def _games_difference(data: Json) -> str:
    return (
        f"The paper learned from {PAPER_GAMES:,} games that GNU Go played against itself, and `katachi data selfplay` "
        f"can have it do that. Ours are of `{data['name']}`, which has {data['games']:,} games; values learn from "
        f"{PAPER_GAMES:,} of its training games at most."
    )


_DIFFERENCES: Final = (
    "The paper gives neither step size nor number of passes. We scale each step by 1/‖φ‖², so that both sets learn at "
    "the same rate, take the gradient of the logistic loss, and go over the games several times.",
    "Features of a CRBM are less how often their kernel is on; without this the value learns many times slower.",
    "Positions are seen by the player who has just moved, with one weight vector for both colors; the paper does not "
    "say how it tells them apart.",
    "GNU Go counts, as in the paper; where it is not installed, our own estimate does.",
    "A pass is a move like others, valued by the board that it leaves. Our players also pass when the opponent has "
    "passed and counting would win.",
    "What the paper calls rotation-invariant is taken with an off state, so that a kernel need not be on anywhere.",
)

TABLE: Final = Table(NAME, "Games: CRBM features against templates", measure, rows, section)
