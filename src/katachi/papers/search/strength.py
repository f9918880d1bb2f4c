"""How strong the tree search is: ablations, games against GNU Go, strength by simulations, and a ladder of levels."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, zip_longest
from math import exp, log
from pathlib import Path
from typing import Any, ClassVar, Final

from katachi.arena.ratings import Anchor
from katachi.arena.records import GameRecord
from katachi.arena.settings import LimitSettings, OpeningSettings, TournamentSettings
from katachi.core.cards import provenance
from katachi.core.contracts import Limit
from katachi.core.disk import write_atomically
from katachi.papers.documents import (
    COLORS,
    Estimate,
    format_estimate,
    format_rounded,
    format_value,
    label_axes,
    plot,
    share,
    table,
    with_errors,
)
from katachi.papers.experiment import Budget, ExperimentError, Json, Row, Scope, Table, planned, scaled
from katachi.papers.tournaments import (
    Pair,
    describe_games,
    games_of,
    gnugo,
    gnugo_name,
    play_rounds,
    player_values,
    rate_games,
    require_gnugo,
    rounds,
    without_search,
    write_players,
    write_rating,
)
from katachi.players.specs import RatingTable
from katachi.search.playouts import UNIFORM
from katachi.search.settings import PlayoutSettings
from katachi.sgf.record import MOST_KYU, format_grade, parse_grade

SIZE: Final = 9
FULL: Final = Anchor("full")
MODEL: Final = "shapes-9"
VALUE_SHARE: Final = 0.25
SHAPE_CHOICES: Final = 4  # random moves among which shapes choose
TD_SIMULATIONS: Final = 200
SIMULATIONS: Final = {Budget.SMOKE: 20, Budget.HOUR: 1_000, Budget.FULL: 1_000}
ABLATION_GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 20, Budget.FULL: 200}


@dataclass(frozen=True, slots=True)
class Part:
    """A part that the full player has and the other has not (−), or the other way round (+)."""

    sign: str
    title: str
    search: Json  # how the other's search table differs
    model: str | None = None  # what it evaluates with

    @property
    def is_added(self) -> bool:
        return self.sign == "+"

    def player(self, simulations: int) -> Json:
        """The spec of the other."""
        evaluator = {"evaluator": {"model": self.model}} if self.model else {}
        search = self.search if "kind" in self.search else {"kind": "mcts", "threads": 1, **self.search}
        return {"kind": "search", **evaluator, "search": search, "limit": {"simulations": simulations}}


def _playout(title: str, name: str) -> Part:
    """A switch of the playouts, turned."""
    is_on = bool(getattr(PlayoutSettings(), name))
    return Part("−" if is_on else "+", title, {"playouts": {name: not is_on}})


PARTS: Final = {
    "rave": Part("−", "RAVE", {"rave": 0.0}),
    "patterns": Part(
        "−", "patterns, in playouts and priors", {"pattern_priors": False, "playouts": {"patterns": False}}
    ),
    "pattern-priors": Part("−", "pattern priors", {"pattern_priors": False}),
    "ladder-priors": Part("−", "ladders read for the priors", {"ladder_priors": False}),
    "captures": _playout("captures in playouts", "captures"),
    "escapes": _playout("escapes in playouts", "escapes"),
    "self-atari": _playout("avoiding self-atari in playouts", "self_atari"),
    "nakade": _playout("nakade in playouts", "nakade"),
    "replies": _playout("last good reply in playouts", "replies"),
    "informed": Part("−", "informed playouts: uniform ones instead", {"playouts": UNIFORM.model_dump()}),
    "shape-prior": Part("+", "shape prior, at once", {"priors": "synchronous"}, MODEL),
    "shape-prior-delayed": Part("+", "shape prior, with delay", {"priors": "delayed"}, MODEL),
    "shape-value": Part(
        "+", f"shape value, {VALUE_SHARE:.0%} of a leaf", {"priors": "none", "value_share": VALUE_SHARE}, MODEL
    ),
    "shape-playouts": Part(
        "+", "shapes choose moves in playouts", {"priors": "none", "playouts": {"shapes": SHAPE_CHOICES}}, MODEL
    ),
    "td-prior": Part(
        "+",
        f"shape prior, adapted by {TD_SIMULATIONS} simulations of TD search",
        {"priors": "synchronous", "td_simulations": TD_SIMULATIONS},
        MODEL,
    ),
    "td": Part("+", "TD search in the place of the tree", {"kind": "td"}, MODEL),
}


def worth(results: Json, name: str) -> tuple[float | None, float | None, float | None]:
    """What a part is worth in Elo: value, low and high, None where the games do not say it; above 0 it helps."""
    rating, low, high = results["ratings"][name]
    if PARTS[name].is_added:
        return rating, low, high
    rating, low, high = (None if value is None else -value for value in (rating, high, low))
    return rating, low, high


class Ablation(Table):
    name = "ablation"
    title = "What the parts are worth"
    hours = scaled(ABLATION_GAMES)

    def measure(self, scope: Scope) -> Json:
        """Play the full player against each of the others, from two random moves; ``--runs``: games of each pair."""
        simulations = SIMULATIONS[scope.budget]
        games = dict.fromkeys(PARTS, scope.runs or ABLATION_GAMES[scope.budget])
        full = Part("", "", {})
        players = {FULL.player: full.player(simulations)} | {
            name: part.player(simulations) for name, part in PARTS.items()
        }
        template = TournamentSettings(
            players=write_players(players, scope.folder / "players"),
            scheme="gauntlet",
            size=SIZE,
            jobs=scope.workers.jobs,
        )

        def count(records: Sequence[GameRecord]) -> Json:
            counted = describe_games(records) | rate_games([*PARTS, FULL.player], records, FULL)
            return {"simulations": simulations} | counted

        return play_rounds(rounds(template, games), scope, count)

    def _measured(self, results: Json) -> list[str]:
        return [name for name in PARTS if name in results["ratings"]]

    def rows(self, results: Json) -> Iterator[Row]:
        """What every part is worth."""
        for name in self._measured(results):
            value, low, high = worth(results, name)
            what = f"{PARTS[name].sign} {PARTS[name].title}: worth in Elo"
            n, games = games_of(results, name), planned(results, ABLATION_GAMES)
            yield Row(f"{self.name}/{name}", what, None, value, (low, high), n=n, planned=games)

    def section(self, results: Json) -> str:
        """How it was played, what the parts are worth as a picture, and the scores."""
        return f"""
{results["games"]:,} games on {SIZE}×{SIZE} at {results["simulations"]:,} simulations per move, each opening of two
random moves played with both colors; {results["distinct"]:,} of them differ. The full player has the default settings.
It plays itself without a part (−), or with one more (+); a part that helps has a positive number either way. The
shapes are those of `{MODEL}`. Time is what the other took for a move, as a multiple of the full player's.

![What each part is worth in Elo](search/{self.name}.svg)

{self._table(results)}
"""

    def _table(self, results: Json) -> str:
        header = ("part", "games", "the other won, %", "worth in Elo (95 %)", "time, ×")
        pairs = {pair["first"]: Pair(**pair) for pair in results["pairs"]}
        lines = []
        for name in self._measured(results):
            part, pair = PARTS[name], pairs[name]
            value, *interval = worth(results, name)
            won = format_rounded(pair.won)
            time = results["seconds"][name] / max(results["seconds"][FULL.player], 1e-9)
            lines.append(
                (f"{part.sign} {part.title}", str(pair.games), won, format_estimate(value, interval), f"{time:.2f}")
            )
        return table(header, lines)

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the picture."""
        names = sorted(
            self._measured(results), key=lambda name: [value for value in worth(results, name) if value is not None]
        )
        values, errors = with_errors(worth(results, name) for name in names)
        with plot(pictures / f"{self.name}.svg", columns=2, height=1.2 + 0.3 * len(names)) as (labels, axes):
            labels.set_axis_off()  # room for the names of the bars
            axes.barh(range(len(names)), values, xerr=errors, color=COLORS[2], capsize=3, label="95 % interval")
            label_axes(axes, "What each part is worth", "Elo", "")
            axes.set_yticks(range(len(names)), [f"{PARTS[name].sign} {PARTS[name].title}" for name in names])


# The bundled players in matches: against GNU Go, their own network without search, and another program.

_ROUNDS: Final = 10  # so that all matches are played side by side
_SMOKE_LIMIT: Final = Limit(seconds=0.05)
ALONE: Final = "its network alone"


@dataclass(frozen=True, slots=True)
class Match:
    """A player against an opponent, and what we want it to win.

    Held to simulations it plays on one thread, and a busy machine slows the match; only priors that come later than
    they would elsewhere weaken the player.
    """

    player: str
    size: int
    opponent: str
    limit: Limit  # of a move; an empty one is for players that do not search
    games: dict[Budget, int]
    target: str | None = None  # percent won
    on_one_thread: bool = False  # for a time

    @property
    def name(self) -> str:
        held = f"-{self.limit.simulations}" if self.limit.simulations else ""
        if self.on_one_thread:
            held = f"-{self.limit.seconds:g}s"
        return f"{self.player}{held}-{self.opponent.removeprefix('GNU Go ').replace(' ', '-')}"

    @property
    def needs_one_core(self) -> bool:
        """Whether games can be played side by side."""
        return self.on_one_thread or self.limit.seconds is None

    @property
    def limit_in_words(self) -> str:
        if self.limit.seconds is not None:
            return f"{self.limit.seconds:g} s, {'one thread' if self.on_one_thread else 'all cores'}"
        return f"{self.limit.simulations:,} simulations" if self.limit.simulations else "no search"

    def values(self, limit: Limit) -> Json:
        """Our bundled player but for the limit."""
        values = player_values(self.player, self.size)
        limits = {name: value for name, value in asdict(limit).items() if value is not None}
        if not limits:
            return values
        threads = {"threads": 1} if limit.simulations or self.on_one_thread else {}
        return values | {"search": values["search"] | threads, "limit": limits}


_SOME: Final = {Budget.SMOKE: 0, Budget.HOUR: 20, Budget.FULL: 20}
_FEW: Final = {Budget.SMOKE: 0, Budget.HOUR: 0, Budget.FULL: 20}
_MANY: Final = {Budget.SMOKE: 0, Budget.HOUR: 40, Budget.FULL: 200}
_SIXTY: Final = {Budget.SMOKE: 0, Budget.HOUR: 10, Budget.FULL: 60}
_WEAK, _FAIR = gnugo_name(0), gnugo_name(10)
MATCHES: Final = (
    Match("strong-9", 9, _FAIR, Limit(seconds=2.0), {Budget.SMOKE: 2, Budget.HOUR: 20, Budget.FULL: 200}, "≥ 90"),
    Match("strong-9", 9, _FAIR, Limit(seconds=1.0), _MANY, "≥ 97", on_one_thread=True),
    Match("strong-9", 9, _FAIR, Limit(simulations=1000), _MANY, "≥ 85"),
    Match("expert-9", 9, _FAIR, Limit(), _MANY, "≥ 60"),
    Match("strong-19", 19, _WEAK, Limit(simulations=2000), _SOME, "> 50"),
    Match("strong-19", 19, _FAIR, Limit(simulations=2000), _SOME),
    Match("strong-19", 19, _WEAK, Limit(seconds=10.0), _FEW, "> 50"),
    Match("strong-19", 19, _FAIR, Limit(seconds=10.0), _FEW),
)
MATCHES_ALONE: Final = (
    Match("strong-9", 9, ALONE, Limit(simulations=100), {Budget.SMOKE: 2, Budget.HOUR: 20, Budget.FULL: 60}, "≥ 60"),
    Match("strong-19", 19, ALONE, Limit(simulations=100), _SIXTY, "≥ 60"),
    Match("strong-19", 19, ALONE, Limit(simulations=500), _SIXTY, "≥ 70"),
    Match("strong-19", 19, ALONE, Limit(simulations=1000), _SIXTY, "≥ 75"),
)
MATCHES_FORMER: Final = (
    Match("strong-9", 9, "another program", Limit(seconds=1.0), _MANY, "≥ 85", on_one_thread=True),
    Match("expert-9", 9, "another program", Limit(), _MANY, "≥ 95"),
)


_FROM_LINE: Final = 3  # a stone on the first two lines is as good as none: who has it loses, whoever is stronger


class Matches(Table):
    """Matches of the bundled players, from random moves on the third line or above."""

    random_plies: ClassVar[int] = 2  # first, because the players repeat themselves
    preface: ClassVar[str]

    @property
    @abstractmethod
    def matches(self) -> Sequence[Match]:
        """All that there are."""

    @abstractmethod
    def opponent(self, match: Match, scope: Scope) -> str:
        """Who the opponent is, for a tournament."""

    def measure(self, scope: Scope) -> Json:
        """Play all matches side by side, one game at a time where a player has all cores.

        ``--runs`` is the number of games of those matches that the budget has, ``--model`` names players to play;
        the scores of matches that were played before stay.
        """
        chosen = self.choose(scope)
        parts = (self._rounds(match, scope).items() for match in chosen)
        tournaments = dict(part for part in chain.from_iterable(zip_longest(*parts)) if part)

        def count(records: Sequence[GameRecord]) -> Json:
            scores = {match.name: scope.folder / "scores" / f"{match.name}.json" for match in self.matches}
            for match in chosen:
                scores[match.name].parent.mkdir(exist_ok=True)
                write_atomically(scores[match.name], json.dumps(self._count(match, records)))
            return {"matches": {name: json.loads(path.read_text()) for name, path in scores.items() if path.exists()}}

        return play_rounds(tournaments, scope, count)

    def choose(self, scope: Scope) -> list[Match]:
        """The matches of a budget, of all players or of those that are named, by themselves or with their limit."""
        wanted = [match for match in self.matches if match.games[scope.budget]]
        if not scope.models:
            return wanted
        chosen = [match for match in wanted if {match.player, match.name} & set(scope.models)]
        if not chosen:
            raise ExperimentError(f"--model names no match of {self.name}: {', '.join(match.name for match in wanted)}")
        return chosen

    def _rounds(self, match: Match, scope: Scope) -> dict[str, TournamentSettings]:
        games = scope.runs or match.games[scope.budget]
        is_short = scope.budget is Budget.SMOKE and match.limit != Limit()
        values = match.values(_SMOKE_LIMIT if is_short else match.limit)
        template = TournamentSettings(
            players=write_players({match.name: values}, scope.folder / "players")
            | {match.opponent: self.opponent(match, scope)},
            size=match.size,
            openings=OpeningSettings(random_plies=self.random_plies, from_line=_FROM_LINE),
            jobs=scope.workers.jobs if match.needs_one_core else 1,
        )
        found = rounds(template, {match.name: games}, max(2, games // _ROUNDS))
        return {f"{match.name}-{folder}": settings for folder, settings in found.items()}

    def _count(self, match: Match, records: Sequence[GameRecord]) -> Json:
        """The score of one match; nothing if it has no games yet."""
        own = [record for record in records if match.name in (record.black.name, record.white.name)]
        if not own:
            return {"games": 0}
        found = describe_games(own) | rate_games([match.name, match.opponent], own, Anchor(match.opponent))
        return {**found, "commit": provenance()["commit"], "from_line": _FROM_LINE}

    def rows(self, results: Json) -> Iterator[Row]:
        """The win rate of every match; None for those that were not played."""
        for match in self.matches:
            pair = self._pair(match, results)
            what = f"{match.player}, {match.limit_in_words}, against {match.opponent}: won, %"
            won, games = None if pair is None else self._won(match, results, pair), planned(results, match.games)
            yield Row.measured(f"{self.name}/{match.name}", what, match.target, won, planned=games)

    def _pair(self, match: Match, results: Json) -> Pair | None:
        found = results["matches"].get(match.name, {"games": 0})
        return Pair(**found["pairs"][0]) if found["games"] else None

    def _won(self, match: Match, results: Json, pair: Pair) -> Estimate:
        """What was won, in percent; games that repeat others say no more than these."""
        different = results["matches"][match.name]["distinct"]
        return share(pair.points * different / pair.games, different)

    def section(self, results: Json) -> str:
        """How it was played, and the scores."""
        return f"""
{self.preface} Every row is of the commit that it names. The random moves lie anywhere, or on the third line and above:
on 9×9 a stone on the first two lines is nearly a pass, which can decide a game whoever is stronger.

{self._table(results)}
"""

    def _table(self, results: Json) -> str:
        last = ("random moves", "commit")
        header = ("match", "board", "limit", "s per move", "games", "different", "won, %", "Elo ahead", *last)
        lines = []
        for match in self.matches:
            pair = self._pair(match, results)
            if pair is not None:
                found = results["matches"][match.name]
                rating, *interval = found["ratings"][match.name]
                lines.append(
                    (
                        f"{match.player} – {match.opponent}",
                        f"{match.size}×{match.size}",
                        match.limit_in_words,
                        format_value(round(found["seconds"][match.name], 2)),
                        str(pair.games),
                        str(found["distinct"]),
                        format_rounded(self._won(match, results, pair)),
                        format_estimate(rating, interval),
                        "anywhere" if found.get("from_line", 1) == 1 else f"from line {found['from_line']}",
                        (found.get("commit") or "")[:7],
                    )
                )
        return table(header, lines)


class AgainstGnugo(Matches):
    name = "gnugo"
    title = "Against GNU Go"
    preface = """
Two random moves, then both colors, komi 7.5, area rules. Only our players are limited: by time, or held to simulations
on one thread, as a lower bound: far less than they have otherwise. Games with a limit of time had a core of their
own.""".strip()

    @property
    def matches(self) -> Sequence[Match]:
        return MATCHES

    def opponent(self, match: Match, scope: Scope) -> str:  # noqa: ARG002
        """GNU Go at the level that the match names."""
        require_gnugo()
        return gnugo(int(match.opponent.split()[-1]))


class AgainstNetwork(Matches):
    name = "alone"
    title = "Search against the network alone"
    random_plies = 4
    preface = """
The search held to some simulations on one thread against the same network without search, which plays the move that
it holds most likely: four random moves, then both colors, komi 7.5, area rules.""".strip()

    @property
    def matches(self) -> Sequence[Match]:
        return MATCHES_ALONE

    def opponent(self, match: Match, scope: Scope) -> str:
        """The same player, but that it does not search."""
        name = f"{match.player} alone"
        return write_players({name: without_search(match.player, match.size)}, scope.folder / "players")[name]


class AgainstFormer(Matches):
    name = "former"
    title = "Against a former version"
    only_by_name = True
    preface = """
Against what `--model` names, here the players of the same kind of commit 10f78d5 (`strong-9`, `policy-9`) as GTP
programs on one thread, with the same time for a move: two random moves, then both colors, komi 7.5, area
rules.""".strip()

    @property
    def matches(self) -> Sequence[Match]:
        return MATCHES_FORMER

    def choose(self, scope: Scope) -> list[Match]:
        """The matches for which an opponent is given."""
        chosen = [match for match in MATCHES_FORMER if match.player in self._given(scope)]
        if not chosen:
            raise ExperimentError(
                'this table is about other programs: give opponents by --model "strong-9=gtp:COMMAND"'
            )
        return chosen

    def opponent(self, match: Match, scope: Scope) -> str:
        """The program that was given."""
        return self._given(scope)[match.player]

    def _given(self, scope: Scope) -> dict[str, str]:
        return {player: program for player, _, program in (text.partition("=") for text in scope.models)}


# Strength by simulations: the tree search with ever more of them per move, against GNU Go.

LEVEL: Final = 10
OPPONENT: Final = Anchor(gnugo_name(LEVEL))
POINTS: Final = (500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
TARGETS: Final = {10_000: 80}  # percent won
DOUBLING_GAMES: Final[Mapping[Budget, Mapping[int, int]]] = {
    Budget.SMOKE: {500: 2, 1_000: 2},
    Budget.HOUR: dict.fromkeys(POINTS, 10),
    Budget.FULL: dict.fromkeys(POINTS, 20) | {10_000: 200},
}


def player(simulations: int) -> Json:
    """The search as it is by default, on one thread, so that games can be played side by side."""
    return {"kind": "search", "search": {"kind": "mcts", "threads": 1}, "limit": {"simulations": simulations}}


def name_of(simulations: int) -> str:
    """What a point is called."""
    return f"{simulations} simulations"


def scores(results: Json) -> dict[int, Pair]:
    """What each point won against the opponent, by simulations."""
    pairs = (Pair(**pair) for pair in results["pairs"])
    return {int(pair.first.split()[0]): pair for pair in pairs}


class Doubling(Table):
    name = "doubling"
    title = "Strength by simulations"

    def measure(self, scope: Scope) -> Json:
        """Play all points side by side, from the empty board; ``--runs`` is the number of games of each."""
        require_gnugo()
        plan = dict.fromkeys(POINTS, scope.runs) if scope.runs else DOUBLING_GAMES[scope.budget]
        games = {name_of(simulations): count for simulations, count in plan.items()}
        files = write_players(
            {name_of(simulations): player(simulations) for simulations in plan}, scope.folder / "players"
        )
        template = TournamentSettings(
            players={OPPONENT.player: gnugo(LEVEL), **files},
            scheme="gauntlet",
            size=SIZE,
            jobs=scope.workers.jobs,
            openings=OpeningSettings(random_plies=0),
        )

        def count(records: Sequence[GameRecord]) -> Json:
            return describe_games(records) | rate_games([*games, OPPONENT.player], records, OPPONENT)

        return play_rounds(rounds(template, games), scope, count)

    def rows(self, results: Json) -> Iterator[Row]:
        """The win rate and the Elo difference of every point."""
        for simulations, pair in scores(results).items():
            rating, low, high = results["ratings"][pair.first]
            what = f"{simulations:,} simulations against {OPPONENT.player}"
            target = f"≥ {TARGETS[simulations]}" if simulations in TARGETS else None
            games = planned(results, {budget: plan.get(simulations, 0) for budget, plan in DOUBLING_GAMES.items()})
            yield Row.measured(f"{self.name}/{simulations}/won", f"{what}: won, %", target, pair.won, planned=games)
            elo = f"{what}: Elo"
            yield Row(f"{self.name}/{simulations}/elo", elo, None, rating, (low, high), n=pair.games, planned=games)

    def section(self, results: Json) -> str:
        """How it was played, the curve, and its points."""
        return f"""
{results["games"]:,} games on {SIZE}×{SIZE} from the empty board against {OPPONENT.player}, komi 7.5, area rules, colors
alternating, with the default settings on one thread; {results["distinct"]:,} of them differ. The tree is kept from move
to move, and a search ends early where its move can no longer change.

![Win rate and Elo by simulations per move](search/{self.name}.svg)

{self._table(results)}
"""

    def _table(self, results: Json) -> str:
        header = ("simulations per move", "games", "won, %", f"Elo above {OPPONENT.player}", "s per move")
        lines = []
        for simulations, pair in scores(results).items():
            rating, *interval = results["ratings"][pair.first]
            won = format_rounded(pair.won)
            elo, seconds = format_estimate(rating, interval), f"{results['seconds'][pair.first]:.2f}"
            lines.append((f"{simulations:,}", str(pair.games), won, elo, seconds))
        return table(header, lines)

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the picture."""
        found = scores(results)
        won = [(pair.won.mean, *(pair.won.interval or ())) for pair in found.values()]
        elo = [results["ratings"][pair.first] for pair in found.values()]
        with plot(pictures / f"{self.name}.svg", columns=2) as (left, right):
            self._draw_curve(left, list(found), won)
            label_axes(left, f"Games won against {OPPONENT.player}", "simulations per move", "%")
            self._draw_curve(right, list(found), elo)
            label_axes(right, f"Strength above {OPPONENT.player}", "simulations per move", "Elo")

    def _draw_curve(self, axes: Any, simulations: Sequence[int], found: Sequence[Sequence[float]]) -> None:
        """Values with their intervals, each (value, low, high)."""
        values, errors = with_errors(found)
        axes.errorbar(simulations, values, errors, color=COLORS[4], marker="o", capsize=3, label="95 % interval")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,.0f}")


# The bundled levels on one scale with GNU Go, on 9×9, 13×13 and 19×19, and the ranks of people that they are like.
#
# Each plays the two that follow it in the order of their strength. The scale is that of the old Computer Go Server,
# where GNU Go stood at 1,800. A rank is an estimate in two steps: GNU Go at level 10 is taken as 9 kyu, as it was on
# KGS on 19×19, and a difference in Elo as OGS turns ratings into ranks, rank = 23.15 ln(rating / 525), 0 being 30 kyu.

ANCHOR: Final = Anchor(gnugo_name(10), 1800)
LEVELS: Final = tuple(f"level-{number}" for number in range(1, 11))
LADDER_GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 20, Budget.FULL: 100}  # of each pair of levels
EVIDENCE: Final = (
    f"estimates: {ANCHOR.player} is taken as 9 kyu, as on KGS, and Elo differences as OGS turns them into ranks"
)
_SMOKE_SIMULATIONS: Final = 10
_OGS_POINTS, _OGS_RANKS = 525.0, 23.15  # https://forums.online-go.com/t/53944
_WEAKEST: Final = 1 - MOST_KYU  # the grade that OGS counts ranks from
_ANCHOR_POINTS: Final = _OGS_POINTS * exp((parse_grade("9k") - _WEAKEST) / _OGS_RANKS)


def estimate_rank(elo: float) -> str:
    """The rank of people who would be about as strong, 30k if they are weaker.

    >>> [estimate_rank(elo) for elo in (900, 1310, 1800, 2420)]
    ['30k', '20k', '9k', '1d']
    """
    points = max(_OGS_POINTS, _ANCHOR_POINTS + elo - ANCHOR.rating)
    return format_grade(_WEAKEST + round(_OGS_RANKS * log(points / _OGS_POINTS)))


class Ladder(Table):
    name = "ladder"
    title = "A ladder of levels"
    hours = scaled(LADDER_GAMES)
    size: ClassVar[int] = 9
    gnugo_share: ClassVar[float] = 0.3  # of the games of a pair of levels, for pairs with GNU Go, which takes its time
    # how many levels GNU Go's levels 0 and 10 stand above, or nearly: neighbors in this order meet
    gnugo_above: ClassVar[Mapping[int, int]] = {0: 5, 10: 7}

    @property
    def scale(self) -> str:
        return f"on {self.size}x{self.size}, where {ANCHOR.player} is {ANCHOR.rating:,.0f}"

    @property
    def rungs(self) -> dict[str, str]:
        """Everybody in the order of their strength, or nearly."""
        found: dict[str, str] = {}
        for number, level in enumerate(LEVELS, start=1):
            found[level] = level
            found |= {gnugo_name(other): gnugo(other) for other, at in self.gnugo_above.items() if at == number}
        return found

    def measure(self, scope: Scope) -> Json:
        """Play and rate; ``--runs`` is the number of games of a pair of levels, ``--model`` a level instead of all."""
        require_gnugo()
        games = scope.runs or LADDER_GAMES[scope.budget]
        some = max(2, round(self.gnugo_share * games))
        rungs = {
            name: player
            for name, player in self.rungs.items()
            if not scope.models or name not in LEVELS or name in scope.models
        }
        template = TournamentSettings(
            players=rungs,
            scheme="ladder",
            size=self.size,
            jobs=scope.workers.jobs,
            openings=OpeningSettings(random_plies=0),
            limit=LimitSettings(simulations=_SMOKE_SIMULATIONS if scope.budget is Budget.SMOKE else None),
        )

        def count(records: Sequence[GameRecord]) -> Json:
            return describe_games(records) | rate_games(list(rungs), records, ANCHOR)

        return play_rounds(rounds(template, {name: games if name in LEVELS else some for name in rungs}), scope, count)

    def rate_levels(self, results: Json) -> dict[str, RatingTable]:
        """The ratings of those levels of which more than a bound was measured."""
        return {
            level: RatingTable(
                value=value, low=low, high=high, scale=self.scale, rank=estimate_rank(value), evidence=EVIDENCE
            )
            for level, (value, low, high) in results["ratings"].items()
            if level in LEVELS and value is not None
        }

    def rows(self, results: Json) -> Iterator[Row]:
        """The rating of every player."""
        for name, (rating, low, high) in results["ratings"].items():
            n = games_of(results, name)
            yield Row(f"{self.name}/{name.replace(' ', '-')}", f"{name}: Elo", None, rating, (low, high), n=n)

    def section(self, results: Json) -> str:
        """How it was played, the ratings as a picture, and as a table."""
        return f"""
{results["games"]:,} games {self.scale}, colors alternating; {results["distinct"]:,} of them differ. Each player met the
two that stand nearest above and below. Ratings are Bradley–Terry's. The cards of the levels have them from here:
`katachi players`. Ranks are {EVIDENCE} ([formula](https://forums.online-go.com/t/53944)).

![The levels and GNU Go on one scale](search/{self.name}.svg)

{self._table(results)}
"""

    def _table(self, results: Json) -> str:
        order = list(results["ratings"])
        above = {(pair.second, pair.first): pair for pair in (Pair(**pair) for pair in results["pairs"])}
        lines = []
        for name, other in zip(order, [*order[1:], ""], strict=True):
            rating, *interval = results["ratings"][name]
            seconds = f"{1000 * results['seconds'][name]:,.0f}"
            won = self._won(above, name, other)
            rank = "" if rating is None else estimate_rank(rating)
            lines.append((name, format_estimate(rating, interval), rank, won, seconds))
        return table(("player", "Elo (95 %)", "about", "won against the next below, %", "ms per move"), lines)

    def _won(self, above: Mapping[tuple[str, str], Pair], name: str, other: str) -> str:
        """What a player won against another, if they met."""
        if pair := above.get((name, other)):
            return f"{100 - pair.won.mean:.1f} of {pair.games}"
        if pair := above.get((other, name)):
            return f"{pair.won.mean:.1f} of {pair.games}"
        return ""

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the picture."""
        found = dict(reversed(results["ratings"].items()))
        values, errors = with_errors(found.values())
        with plot(pictures / f"{self.name}.svg", columns=2, height=1.2 + 0.25 * len(found)) as (axes, rest):
            rest.set_axis_off()
            axes.errorbar(
                values, range(len(found)), xerr=errors, color=COLORS[4], fmt="o", capsize=3, label="95 % interval"
            )
            label_axes(axes, f"Ratings {self.scale}", "Elo", "")
            axes.set_yticks(range(len(found)), list(found))


class Ladder13(Ladder):
    name = "ladder-13"
    title = "The levels on 13×13"
    size = 13


class Ladder19(Ladder):
    name = "ladder-19"
    title = "The levels on 19×19"
    size = 19
    gnugo_share = 0.1


LADDERS: Final = (Ladder(), Ladder13(), Ladder19())


def write_cards(results: Mapping[str, Json], folder: Path) -> list[str]:
    """Put the ratings of the levels into their files in a folder; returns whose.

    Raises ExperimentError if they were not measured, or are not there.
    """
    measured = [ladder for ladder in LADDERS if ladder.name in results]
    if not measured:
        raise ExperimentError(f"the table {Ladder.name} has not been measured")
    rated: dict[str, None] = {}
    for ladder in measured:
        for level, rating in ladder.rate_levels(results[ladder.name]).items():
            path = folder / f"{level}.toml"
            if not path.is_file():
                raise ExperimentError(f"there is no {path} to write a rating into")
            write_rating(path, rating, f"boards.{ladder.size}.rating")
            rated[level] = None
    return list(rated)
