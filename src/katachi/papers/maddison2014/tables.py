"""The tables of sections 5.1, 5.2 and 6: symmetric filters, depth and width, the rank of the player, and search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from katachi.arena.ratings import Anchor, elo_difference
from katachi.arena.records import GameRecord
from katachi.arena.settings import OpeningSettings, TournamentSettings
from katachi.core.contracts import Limit
from katachi.core.models import open_model
from katachi.features.planes import HIGHEST_RANK
from katachi.papers.documents import Estimate, format_rounded, format_value, mean_of_many, table
from katachi.papers.experiment import Budget, ExperimentError, Json, Row, Run, Scope, Table, Workers, do_runs, planned
from katachi.papers.maddison2014.nets import (
    MAIN,
    Learned,
    Net,
    accuracy,
    ask_pretrained,
    describe_tested,
    learn,
    name_models,
    pretrained_networks,
)
from katachi.papers.tournaments import (
    Games,
    Pair,
    describe_games,
    describe_set,
    distinct_games,
    format_won,
    gnugo,
    gnugo_name,
    gnugo_referee,
    has_gnugo,
    play_rounds,
    rate_games,
    require_games,
    rounds,
    write_players,
)
from katachi.policy.evaluator import PolicyCard, knows_ranks
from katachi.policy.measure import Predictor
from katachi.sgf.files import Split
from katachi.sgf.record import code_of, format_grade

# How learning differs from the paper's, whatever is measured.

PUBLISHED_POSITIONS: Final = 27_400_000  # to learn from
PUBLISHED_TEST_POSITIONS: Final = 2_000_000


def differences(data: Json) -> tuple[str, ...]:
    """Numbered in every section."""
    return (
        f"The paper learned from {PUBLISHED_POSITIONS / 1e6:g} million positions of 160,000 KGS games and tested with "
        f"{PUBLISHED_TEST_POSITIONS / 1e6:g} million. Our set, `{data['name']}`, is another and has "
        f"{data['positions'] / 1e6:.3g} million.",
        "Every network of the paper saw all positions 25 times, then three times at half, a quarter and an eighth of "
        "the rate. Ours see as many positions as the table says, with the halvings in the same proportion.",
        "The paper's fifty replicas learned asynchronously. Here one process learns from one batch after another, so "
        "that the same run on one thread gives the same network. The paper draws all parameters between −0.05 and 0.05 "
        "at first; our biases start at 0.",
        "The bins of some planes, which the paper does not give, are our reading. Ranks below 1 dan count as 1 dan, "
        "professionals as 9 dan, and unknown ranks have no plane.",
        "Illegal points have no part in our tests, as they have none in play; the paper does not say.",
        "All parameters of the paper begin at random, uniform between −0.05 and 0.05. Ours do but for the biases, "
        "which begin at 0.",
    )


class LearnedTable(Table):
    """A table about networks that learned from games: how that differs from the paper comes first."""

    needs = ("torch", "onnx")

    def differences(self, results: Json) -> tuple[str, ...]:
        """Those of learning, and the table's own."""
        return (*differences(results["data"]), *self.own_differences)


# Games of networks: who plays by a policy alone, where games begin, and what counts.
#
# A policy alone always plays the same, so the first plies are random; each opening is played with both colors, and
# games that came out the same count once.

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


# ``table1``, section 5.1: whether it helps that all filters are symmetric; nine planes, the same positions for both.

PLANES: Final = "maddison-9"
NETS: Final = {
    Budget.SMOKE: Net(3, 16, 6_400, PLANES),
    Budget.HOUR: Net(3, 32, 200_000, PLANES),
    Budget.FULL: Net(3, 64, 2_000_000, PLANES),
}
KINDS: Final = {"free": False, "symmetric": True}
TABLE1_PUBLISHED: Final = {"3×64": {"free": 43.3, "symmetric": 44.3}, "6×192": {"free": 49.6, "symmetric": 49.4}}


class Table1(LearnedTable):
    name = "table1"
    title = "Section 5.1: symmetric filters"
    own_differences = (
        "The paper lists the planes that it leaves out; that nine are left is our reading.",
        "The paper sums gradients over the symmetries. We learn free filters whose mean over the symmetries is used, "
        "which is the same up to the step size, and begin with filters as large as the others' are.",
        "The paper's larger pair, 6×192, is not learned here.",
    )

    def measure(self, scope: Scope) -> Json:
        """Learn and test both."""
        games = require_games(scope)
        nets = {kind: replace(NETS[scope.budget], symmetric=symmetric) for kind, symmetric in KINDS.items()}
        learned = learn(nets.values(), games, scope)
        return {"data": games.describe(), "nets": {kind: learned[net].to_json() for kind, net in nets.items()}}

    def rows(self, results: Json) -> list[Row]:
        """The top-1 accuracy with both kinds of filters."""
        return [self._row(kind, net) for kind, net in results["nets"].items()]

    def _row(self, kind: str, net: Json) -> Row:
        found = accuracy(net["tested"])
        what = f"{net['title']}, {kind} filters, after {net['positions']:,} positions: top-1 accuracy, %"
        return Row.measured(f"{self.name}/{kind}", what, self._published(kind, net), found)

    def _published(self, kind: str, net: Json) -> float | None:
        return TABLE1_PUBLISHED.get(net["title"], {}).get(kind)

    def section(self, results: Json) -> str:
        """How it was learned, both, and the paper's."""
        lines = [
            (f"{net['title']}, {kind}", f"{net['positions']:,}", *self._cells(kind, net))
            for kind, net in results["nets"].items()
        ]
        paper = [(shape, *map(format_value, found.values())) for shape, found in TABLE1_PUBLISHED.items()]
        return f"""
{describe_set(results["data"])} Both networks see the same positions in the same order, and are tested with the same.
They see nine planes: stones, liberties, legal moves and the last move. *Symmetric* filters and bias maps are the mean
of their eight symmetries; both kinds learn from positions that are turned and mirrored at random.

{table(("net", "positions", "paper: top-1, %", "top-1, %", "loss"), lines)}

The paper's networks:

{table(("net", *(f"{kind}, top-1, %" for kind in KINDS)), paper)}
"""

    def _cells(self, kind: str, net: Json) -> tuple[str, str, str]:
        tested = net["tested"]
        return format_value(self._published(kind, net)), format_rounded(accuracy(tested)), f"{tested['loss']:.3f}"


# ``table2``, section 5.2: what depth and width are worth, in top-1 accuracy and in games against GNU Go without search.

LEVEL: Final = 10
OPPONENT: Final = gnugo_name(LEVEL)


class Published(NamedTuple):
    """The paper's figures, in percent: top-1 accuracy, games won against GNU Go, and the standard error of these."""

    top_1: float
    won: float
    error: float | None
    top_1_error: float | None = None


TABLE2_PUBLISHED: Final = {
    "3×16": Published(37.5, 3.4, 1.1),
    "3×128": Published(48.0, 61.8, 2.6),
    "6×128": Published(51.2, 84.4, 1.9),
    "10×128": Published(54.5, 94.7, 1.2),
    "12×128": Published(55.2, 97.2, 0.9),
}
PUBLISHED_OTHERS: Final = {
    "Clark and Storkey, 8 layers": Published(44.4, 86, 2.5),
    "Aya, 2014": Published(38.8, 6, 1.0),
    "a human 6 dan": Published(52, 100, None, 5.8),
}

PLANS: Final[Mapping[Budget, Mapping[Net, int]]] = {  # with games against GNU Go
    Budget.SMOKE: {MAIN[Budget.SMOKE]: 2, Net(6, 16, 12_800): 0},
    Budget.HOUR: {Net(3, 16, 1_000_000): 0, MAIN[Budget.HOUR]: 10},
    Budget.FULL: {
        Net(3, 16, 8_000_000): 200,
        Net(3, 16, 8_000_000, adamw=True): 200,
        MAIN[Budget.FULL]: 200,
    },
}
PRETRAINED_GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 60, Budget.FULL: 200}


def player_name_table2(title: str, positions: int | None) -> str:
    """What a network is called in games, and its file."""
    name = title.strip("`").replace("×", "x").replace(", ", "-").lower()
    return name if positions is None else f"{name}-{positions}"


def published(title: str) -> Published | None:
    """The paper's figures for a network of this shape, however ours learned."""
    shape, _, _ = title.partition(", ")
    return TABLE2_PUBLISHED.get(shape)


class Table2(LearnedTable):
    name = "table2"
    title = "Section 5.2: depth, width, and games against GNU Go"
    own_differences = (
        "The paper's networks saw hundreds of times as many positions. Its larger ones would take days here; what "
        "depth and width are worth is asked in a table of its own.",
        f"Our games begin after {RANDOM_PLIES} random moves, because a network without search always plays the same. "
        "What the paper did is not said, but for the removal of games that came out the same.",
        "Our players never fill a simple eye of their own, and pass when the opponent has passed and counting would "
        "win.",
        "GNU Go captures what is dead before it passes.",
    )

    def measure(self, scope: Scope) -> Json:
        """Learn, test, and play, if GNU Go is here; ``--runs`` is the number of games of those that play."""
        games = require_games(scope)
        plan = PLANS[scope.budget]
        learned = learn(plan, games, scope)
        pretrained = ask_pretrained(games, scope)
        results = {"data": games.describe(), "nets": [net.to_json() for net in (*learned.values(), *pretrained)]}
        scope.keep(results | count_games([], []))
        playing = [(net, plan[made]) for made, net in learned.items()]
        playing += [(net, PRETRAINED_GAMES[scope.budget]) for net in pretrained]
        return self._play([(net, scope.runs or count) for net, count in playing if count], results, scope)

    def _play(self, playing: Sequence[tuple[Learned, int]], results: Json, scope: Scope) -> Json:
        """The results so far, and games if GNU Go is here."""
        if not has_gnugo():
            return results | count_games([], [])
        games = {player_name_table2(net.title, net.positions): count for net, count in playing}
        players: dict[str, Json | str] = {OPPONENT: gnugo(LEVEL)}
        players |= zip(games, (policy_player(net.model) for net, _ in playing), strict=True)
        template = tournament(players, results["data"]["size"], scope, gnugo_referee(LEVEL))

        def count(records: Sequence[GameRecord]) -> Json:
            return results | count_games([*games, OPPONENT], records)

        return play_rounds(rounds(template, games), scope, count)

    def rows(self, results: Json) -> list[Row]:
        """Top-1 accuracy and games won of every network."""
        return [row for net in results["nets"] for row in self._rows(net, results)]

    def _rows(self, net: Json, results: Json) -> Iterator[Row]:
        name, found = player_name_table2(net["title"], net["positions"]), accuracy(net["tested"])
        paper = published(net["title"])
        what = f"{net['title']} after {format_value(net['positions'])} positions"
        yield Row(
            f"{self.name}/{name}/top-1",
            f"{what}: top-1 accuracy, %",
            paper and paper.top_1,
            round(found.mean, 1),
            found.interval,
            n=found.n,
        )
        pair = scores(results).get((name, OPPONENT))
        if pair is not None:
            what += f" against {OPPONENT}: won, %"
            yield Row.measured(f"{self.name}/{name}/won", what, paper and paper.won, pair.won)

    def section(self, results: Json) -> str:
        """How it was learned and played, ours, the paper's others, and the differences."""
        size = results["data"]["size"]
        return f"""
{describe_set(results["data"])} Networks of layers × filters learn by the paper's protocol: 36 planes, a softmax each
for Black and White, plain descent at 0.128 in batches of 128, positions turned and mirrored at random. Those by
AdamW come further in as many positions; their learning rate falls along a cosine. All are tested with
{describe_tested(results["nets"][0]["tested"])}. {self._play_text(size)}

{self._table(results)}

The paper's other rows:

{table(("who", "top-1, %", f"won against {OPPONENT}, %"), map(self._other_line, PUBLISHED_OTHERS))}
"""

    def _play_text(self, size: int) -> str:
        return (
            f"Those with games played {OPPONENT} on {size}×{size} without search, by Chinese rules, with GNU Go as the "
            f"referee, from {RANDOM_PLIES} random moves; games that came out the same count once."
        )

    def _table(self, results: Json) -> str:
        header = ("net", "positions", "paper: top-1, %", "top-1, %", "top-5, %", "paper: won, %", "won, %")
        found = scores(results)
        lines = []
        for net in results["nets"]:
            tested, paper = net["tested"], published(net["title"])
            lines.append(
                (
                    net["title"],
                    format_value(net["positions"]),
                    format_value(paper and paper.top_1),
                    format_rounded(accuracy(tested)),
                    format_value(round(100 * tested["top"][4] / tested["positions"], 1)),
                    format_value(paper and f"{paper.won} ± {paper.error}"),
                    format_won(found.get((player_name_table2(net["title"], net["positions"]), OPPONENT))),
                )
            )
        return table(header, lines)

    def _other_line(self, who: str) -> tuple[str, str, str]:
        found = PUBLISHED_OTHERS[who]
        top_1, won = ("" if error is None else f" ± {error}" for error in (found.top_1_error, found.error))
        return who, f"{format_value(found.top_1)}{top_1}", f"{found.won}{won}"


# ``table3``, section 5.2: whether a network predicts better when it is given the rank of the player, and plays better.

TABLE3_PUBLISHED: Final = {
    1: (49.2, 3.6),
    5: (60.1, 1.6),
    9: (67.9, 5.0),
}  # percent won against one net, standard error
GROUPS: Final = {"1d–2d": (1, 2), "8d–9d": (8, 9)}
POSITIONS: Final = {Budget.SMOKE: 200, Budget.HOUR: 2_000, Budget.FULL: 10_000}  # of each group
TABLE3_GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 20, Budget.FULL: 200}
WEAKEST: Final = 1


def _ask_with_ranks(
    ranks: Sequence[int], asked: Sequence[int], positions: int, model: Path, games: Games, threads: int
) -> Json:
    """The mean log-likelihood of what players of these grades played, by the one of those asked that is given.

    ``gained`` is what the highest rank adds to that with the lowest, move by move: mean, low and high.
    """
    network = Predictor.open(model, threads)
    batches = list(
        network.held_out(games.dataset, Split.TEST, games.size, positions, [code_of(rank) for rank in ranks])
    )
    if not batches:
        return {"positions": 0}
    given = {rank: -network.predict(batches, code_of(rank)).losses for rank in asked}
    own = network.predict(batches)
    gained, bounds, _ = mean_of_many(given[asked[-1]] - given[asked[0]], own.games)
    return {
        "positions": own.games.size,
        "games": np.unique(own.games).size,
        "own": -float(own.losses.mean(dtype=float)),
        "told": {str(rank): float(found.mean(dtype=float)) for rank, found in given.items()},
        "gained": [gained, *(bounds or ())],
    }


def player_name_table3(rank: int) -> str:
    """What the network is called when it is given a rank."""
    return f"{rank} dan" if rank > 0 else f"{1 - rank} kyu"


def implied(rank: int) -> float:
    """What a rank would win against the weakest by Elo's curve, from the paper's scores of both against one net."""
    elo = elo_difference(TABLE3_PUBLISHED[rank][0] / 100) - elo_difference(TABLE3_PUBLISHED[WEAKEST][0] / 100)
    return round(float(100 / (1 + 10 ** (-elo / 400))), 1)


def thousandths(group: Json) -> Estimate:
    """What the highest rank gains over the lowest."""
    gained, low, high = (round(1000 * value, 1) for value in group["gained"])
    return Estimate(gained, (low, high))


class Table3(LearnedTable):
    name = "table3"
    title = "Section 5.2: the rank of the player"
    own_differences = (
        "The paper's opponent was a network that knows no ranks. Ours is the same network, given 1 dan; what the "
        "paper's scores against one opponent say of that we computed by Elo's curve: it is not a figure of the paper.",
        f"Our games begin after {RANDOM_PLIES} random moves, and our own referee counts them.",
        "The paper does not say how likely it held the moves of weaker and stronger players.",
    )
    grades: ClassVar[Sequence[int]] = tuple(TABLE3_PUBLISHED)  # that play, the weakest first
    asked: ClassVar[Sequence[int]] = range(WEAKEST, HIGHEST_RANK + 1)  # about moves
    groups: ClassVar[Mapping[str, Sequence[int]]] = GROUPS
    compares: ClassVar[bool] = True  # with what the paper's scores say

    def measure(self, scope: Scope) -> Json:
        """Ask one network with every rank, and let it play itself; ``--runs`` is the number of games of each pair."""
        games = require_games(scope)
        net = self._choose(games, scope)
        groups = {name: self._ask(name, net, games, scope) for name in self.groups}
        results = {"data": games.describe(), "net": net.to_json(), "groups": groups}
        scope.keep(results | count_games([], []))
        return self._play(net, results, scope)

    def _choose(self, games: Games, scope: Scope) -> Learned:
        """A bundled network that knows ranks, or else one that is learned."""
        for name, path in pretrained_networks(games.size).items():
            card = open_model(path).card
            if isinstance(card, PolicyCard) and knows_ranks(card.config):
                return Learned(f"`{name}`", path, card.training.all_positions, {})
        main = MAIN[scope.budget]
        return learn([main], games, scope)[main]

    def _ask(self, group: str, net: Learned, games: Games, scope: Scope) -> Json:
        asked = {"ranks": list(self.groups[group]), "asked": list(self.asked)}
        arguments = {**asked, "positions": POSITIONS[scope.budget]}
        work = partial(_ask_with_ranks, model=net.model, games=games, threads=scope.workers.jobs)
        name = f"{net.key} {group} {arguments['positions']}"
        return do_runs([Run(name, work, arguments, 1)], scope.folder, Workers(), lambda _: None)[0]

    def _play(self, net: Learned, results: Json, scope: Scope) -> Json:
        """The results so far, and games."""
        players = {player_name_table3(rank): policy_player(net.model, rank=rank) for rank in self.grades}
        template = tournament(players, results["data"]["size"], scope)
        weakest, *stronger = players

        def count(records: Sequence[GameRecord]) -> Json:
            return results | count_games([*stronger, weakest], records)

        return play_rounds(
            rounds(template, dict.fromkeys(stronger, scope.runs or TABLE3_GAMES[scope.budget])), scope, count
        )

    def rows(self, results: Json) -> list[Row]:
        """What the highest rank adds to the likelihood of moves, and games won by higher ranks."""
        return [*self._likelihood_rows(results), *self._game_rows(results)]

    def _likelihood_rows(self, results: Json) -> Iterator[Row]:
        for group, found in results["groups"].items():
            high, low = format_grade(self.asked[-1]), format_grade(self.asked[0])
            what = f"moves of {group}: log-likelihood given {high} less that given {low}, thousandths"
            gained = thousandths(found) if found["positions"] else None
            ours, interval, _ = gained or (None, None, None)
            yield Row(f"{self.name}/{group}/gained", what, None, ours, interval, n=found["positions"])

    def _game_rows(self, results: Json) -> Iterator[Row]:
        for (first, second), pair in scores(results).items():
            what = f"given {first} against given {second}: won, %"
            games = planned(results, TABLE3_GAMES)
            yield Row.measured(f"{self.name}/{first.replace(' ', '-')}/won", what, None, pair.won, planned=games)

    def section(self, results: Json) -> str:
        """The likelihoods by rank, the games, the paper's, and the differences."""
        net, size = results["net"], results["data"]["size"]
        return f"""
{describe_set(results["data"])} The network is {net["title"]}, which learned from {net["positions"]:,} positions and
knows the ranks of their players. Moves of weaker and stronger players in test games are predicted with every rank;
the table has the mean log-likelihood of what was played. *Own* is with each player's own rank, *gained* what
{format_grade(self.asked[-1])} adds to {format_grade(self.asked[0])}, move by move.

{self._likelihoods(results)}

In {results["games"]:,} games on {size}×{size} it played itself without search, given one rank on one side and another
on the other; {results["distinct"]:,} of them differ and count.

{table(("given", "against", "won, %", *["by Elo's curve of the paper's scores"] * self.compares), self._games(results))}
{self._paper()}"""

    def _paper(self) -> str:
        paper = [(player_name_table3(rank), f"{score} ± {error}") for rank, (score, error) in TABLE3_PUBLISHED.items()]
        return f"""
The paper's network, given a rank, against a network of ten layers without ranks:

{table(("given", "won, %"), paper)}
"""

    def _likelihoods(self, results: Json) -> str:
        ranks = [str(rank) for rank in self.asked]
        lines = []
        for group, found in results["groups"].items():
            if found["positions"]:
                means = (f"{value:.3f}".replace("-", "−") for value in (*map(found["told"].get, ranks), found["own"]))
                lines.append((group, describe_tested(found), *means, format_rounded(thousandths(found))))
        header = ("moves of", "tested with", *map(format_grade, self.asked), "own", "gained, thousandths (95 %)")
        return table(header, lines)

    def _games(self, results: Json) -> Iterator[tuple[str, ...]]:
        for (first, second), pair in scores(results).items():
            beside = [format_value(implied(int(first.split()[0])))] if self.compares else []
            yield first, second, format_won(pair), *beside


class KyuRanks(Table3):
    """The same with a network that knows kyu ranks, which are not in the paper."""

    name = "ranks"
    title = "Ranks from 25 kyu to 1 dan"
    only_by_name = True
    grades = (-24, -19, -14, -9, -4, 1)
    asked = grades
    groups = {"25k–15k": range(-24, -13), "5k–1d": range(-4, 2)}  # noqa: RUF012 (as in the class above)
    compares = False

    def differences(self, results: Json) -> tuple[str, ...]:  # noqa: ARG002
        return ("The paper knows dan ranks alone: all of this is ours.",)

    def _choose(self, games: Games, scope: Scope) -> Learned:
        for name, path in name_models(scope.models or pretrained_networks(games.size)).items():
            card = open_model(path).card
            if isinstance(card, PolicyCard) and card.config.kyu_ranks:
                return Learned(f"`{name}`", path, card.training.all_positions, {})
        raise ExperimentError("none of the networks knows kyu ranks: give --model with one that does")

    def _paper(self) -> str:
        return ""


# ``table5``, section 6: tree search with a network against the network alone, and against the same search without it.

SIZES: Final = (9, 19)  # the first for which a network is bundled
TABLE5_PUBLISHED: Final = {10_000: (67.6, 2.6), 100_000: (86.7, 3.5)}  # percent won against the network, standard error


class Table5Games(NamedTuple):
    """How many games the search with the network plays against each of its parts."""

    network: int
    search: int


TABLE5_GAMES: Final = {  # by what a move may take
    Budget.SMOKE: {Limit(simulations=8): Table5Games(2, 2), Limit(seconds=0.05): Table5Games(2, 2)},
    Budget.HOUR: {
        Limit(simulations=1_000): Table5Games(100, 20),
        Limit(seconds=0.5): Table5Games(0, 40),
    },
    Budget.FULL: {
        Limit(simulations=100): Table5Games(200, 200),
        Limit(simulations=1_000): Table5Games(200, 200),
        Limit(simulations=10_000): Table5Games(20, 20),
        Limit(seconds=0.5): Table5Games(200, 200),
    },
}
ALONE: Final = "network"
_EXPLORATION: Final = 2.0  # with the network: its priors know more than those by patterns
_BOTH: Final = "network and "


class _Network(NamedTuple):
    title: str
    model: Path
    size: int


def in_words(limit: Limit) -> str:
    """What a move may take, which is what the search without the network is called."""
    return f"{limit.simulations:,} simulations" if limit.simulations else f"{limit.seconds:g} s"


def both(limit: str) -> str:
    """What the search with the network is called."""
    return _BOTH + limit


_PAPER: Final = {in_words(Limit(simulations=count)): score for count, (score, _) in TABLE5_PUBLISHED.items()}


class Table5(Table):
    name = "table5"
    needs = ("torch", "onnx")
    title = "Section 6: search with the network"
    own_differences = (
        "The network is ours, and so are its data and its size; `katachi models` says how the bundled ones learned.",
        "The paper's search continues while a graphics card computes priors, and uses them when they come. Where "
        "simulations are counted ours waits for them, so that results do not depend on the machine's speed; what late "
        "priors cost is measured by `katachi reproduce search --table async`.",
        "The paper names RAVE, a UCT exploration after Chaslot et al. 2008 and the prior, and gives no formula: how "
        "they are put together is ours. Its rollouts and ours differ, too: by 3×3 patterns there, by patterns and "
        "tactics here.",
        f"Our games begin after {RANDOM_PLIES} random moves, and our own referee counts them.",
        "The search without the network is ours alone.",
    )

    def measure(self, scope: Scope) -> Json:
        """Play with a bundled network, or with one that is learned; ``--runs``: games of each pair."""
        network = self._choose(scope)
        tournaments: dict[str, TournamentSettings] = {}
        for limit, games in TABLE5_GAMES[scope.budget].items():
            some = Table5Games(scope.runs, scope.runs) if scope.runs else games
            tournaments |= self._rounds(network, limit, some, scope)
        names = [name for limit in map(in_words, TABLE5_GAMES[scope.budget]) for name in (both(limit), limit)]

        def count(records: Sequence[GameRecord]) -> Json:
            return {"network": network.title, "size": network.size} | count_games([*names, ALONE], records)

        return play_rounds(tournaments, scope, count)

    def _choose(self, scope: Scope) -> _Network:
        for size in SIZES:
            for name, path in pretrained_networks(size).items():
                return _Network(f"`{name}`", path, size)
        if scope.data is None:
            raise ExperimentError("no network is bundled, and this table learns one from games: give --data SET")
        games, main = require_games(scope), MAIN[scope.budget]
        learned = learn([main], games, scope)[main]
        return _Network(f"{learned.title}, which learned from {main.positions:,} positions", learned.model, games.size)

    def _rounds(
        self, network: _Network, limit: Limit, games: Table5Games, scope: Scope
    ) -> dict[str, TournamentSettings]:
        policy = policy_player(network.model)
        search = {"kind": "mcts", "threads": 1}
        steered = {"priors": "synchronous" if limit.simulations else "delayed", "exploration": _EXPLORATION}
        limits = {"limit": {name: value for name, value in asdict(limit).items() if value is not None}}
        without = in_words(limit)
        players = {
            both(without): policy | {"search": search | steered} | limits,
            ALONE: policy,
            without: {"kind": "search", "search": search} | limits,
        }
        template = tournament(players, network.size, scope)
        if limit.seconds:  # two threads think in a game, and games at once should not take each other's time
            template = template.model_copy(update={"jobs": max(1, template.jobs // 2)})
        found = rounds(template, {ALONE: games.network, without: games.search})
        return {f"{self._slug(without)}-{folder}": settings for folder, settings in found.items()}

    def _slug(self, limit: str) -> str:
        return limit.replace(",", "").replace(" ", "-")

    def rows(self, results: Json) -> list[Row]:
        """Games won against the network alone, and against the search alone; the paper's are on 19×19."""
        papers = _PAPER if results["size"] == SIZES[-1] else {}
        return [self._row(*names, pair, papers, results) for names, pair in scores(results).items()]

    def _row(self, first: str, second: str, pair: Pair, papers: Mapping[str, float], results: Json) -> Row:
        limit = first.removeprefix(_BOTH)
        paper = papers.get(limit) if second == ALONE else None
        opponent = "network" if second == ALONE else "search"
        plan = {
            budget: getattr(games, opponent)
            for budget, plan in TABLE5_GAMES.items()
            for other, games in plan.items()
            if in_words(other) == limit
        }
        what = f"{first} per move against the {opponent} alone: won, %"
        name = f"{self.name}/{self._slug(limit)}/{opponent}"
        return Row.measured(name, what, paper, pair.won, planned=planned(results, plan))

    def section(self, results: Json) -> str:
        """How it was played, the scores, the paper's, and the differences."""
        paper = [(f"{simulations:,}", f"{score} ± {error}") for simulations, (score, error) in TABLE5_PUBLISHED.items()]
        return f"""
The network is {results["network"]}. {results["games"]:,} games on {results["size"]}×{results["size"]} by Chinese rules,
of which {results["distinct"]:,} differ and count. The tree search gets its priors from the network: it waits for them
where simulations are counted, and continues meanwhile where time is. It plays the network alone, which plays what it
likes best, and the same search without it, which gets them from patterns. All search with one thread; the network has
another where the search does not wait.

{table(("a move may take", "against the network, %", "against the search, %", "s per move"), self._lines(results))}

The paper's network of 12 layers on 19×19, with search against without:

{table(("rollouts per move", "won, %"), paper)}
"""

    def _lines(self, results: Json) -> Iterator[tuple[str, ...]]:
        found = scores(results)
        for name in dict.fromkeys(first for first, _ in found):
            limit = name.removeprefix(_BOTH)
            against = (format_won(found.get((name, other))) for other in (ALONE, limit))
            yield limit, *against, f"{results['seconds'][name]:.2f}"
