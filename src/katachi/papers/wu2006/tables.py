"""Table 2, the probability of the moves that people made; ownership accuracy; and dead stones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.data.dataset import Dataset
from katachi.go.board import Board
from katachi.go.scoring import DEFAULT_PLAYOUTS, estimate_status
from katachi.papers.documents import Estimate, format_rounded, format_value, mean_of_many, share, table
from katachi.papers.experiment import Better, Budget, Json, Row, Run, Scope, Table, Value, do_runs
from katachi.papers.wu2006.nets import (
    DIFFERENCES,
    LARGE,
    PAPERS,
    STRONG,
    TITLES,
    Learned,
    describe_sets,
    even_games,
    is_the_papers,
    learn,
    pretrained_networks,
    require_sets,
    who_played,
)
from katachi.sgf.files import Split
from katachi.territory.evaluator import Territory, load_territory
from katachi.territory.measure import (
    Asked,
    Known,
    evaluate_moves,
    is_at_edge,
    measure_territory,
    pick_moves,
    promise_areas,
    promise_logits,
)

# What networks think of the moves that people made: asked in blocks, each of which is kept as soon as it is through.
#
# Temperatures are fitted to moves of validation games first, one for the geometric mean of probabilities and one for
# the arithmetic mean; then moves of test games are asked about.
#
# ```
# RUN/moves/NET-SIZE-PLIES-fit-N.json         the temperatures that fit N moves best
# RUN/moves/NET-SIZE-PLIES-SET-BLOCK-N.json   what it thinks of a block of moves
# ```

FOLDER: Final = "moves"
FITTED: Final = {Budget.SMOKE: 5, Budget.HOUR: 100, Budget.FULL: 500}  # moves that a temperature is fitted to
_PROMISES: Final = {False: promise_areas, True: promise_logits}
TOP: Final = 60  # places that are counted
_BLOCK: Final = 250  # moves that are asked about before what is known is kept


@dataclass(frozen=True, slots=True)
class Question:
    """Which moves are asked about: those on boards of a size, all or only some of each game (from 1 on)."""

    size: int
    first: int = 1
    last: int | None = None

    @property
    def name(self) -> str:
        return f"{self.size}" if self.last is None else f"{self.size}-moves-{self.first}-{self.last}"

    def pick(self, games: Dataset, split: Split, count: int) -> Asked:
        """So many of these moves in even games of a split."""
        plies = None if self.last is None else range(self.first - 1, self.last)
        return pick_moves(games, even_games(games, self.size, split), count, seed=0, plies=plies)


def ask(net: Learned, question: Question, games: Dataset, count: int, scope: Scope) -> Json:
    """What a network thinks of so many moves of test games: their probability, and how many moves it liked better."""
    folder = scope.folder.parent / FOLDER
    about: Json = {
        "model": str(net.model),
        "by_policy": net.by_policy,
        "data": str(games.path),
        "question": [question.size, question.first, question.last],
    }
    name = f"{net.key}-{question.name}-{games.digest[:8]}"
    fitted = FITTED[scope.budget]
    fit = Run(f"{name}-fit-{fitted}", _fit, {**about, "count": fitted}, fitted)
    fitted_best = do_runs([fit], folder, scope.workers, scope.watch)[0]
    temperatures = fitted_best["temperatures"]
    asked = question.pick(games, Split.TEST, count).games
    blocks = [
        Run(
            f"{name}-of-{count}-{first}",
            _evaluate,
            {**about, "temperatures": temperatures, "count": count, "first": first},
            min(_BLOCK, asked.size - first),
        )
        for first in range(0, asked.size, _BLOCK)
    ]
    found = do_runs(blocks, folder, scope.workers, scope.watch)
    return {**fitted_best, "games": int(np.unique(asked).size), **_summarize(found)}


def _fit(model: str, data: str, by_policy: bool, question: list[int | None], count: int) -> Json:
    games = Dataset.open(data)
    asked = _question(question).pick(games, Split.VALIDATION, count)
    moves = evaluate_moves(load_territory(Path(model))[0], games, asked, _PROMISES[by_policy])
    temperatures = [moves.fit_temperature(mean_of_logs=of_logs) for of_logs in (True, False)]
    return {"temperatures": temperatures, "at edge": list(map(is_at_edge, temperatures))}


def _evaluate(
    model: str,
    data: str,
    by_policy: bool,
    question: list[int | None],
    temperatures: list[float],
    count: int,
    first: int,
) -> Json:
    games = Dataset.open(data)
    asked = _question(question).pick(games, Split.TEST, count)
    block = Asked(asked.games[first : first + _BLOCK], asked.plies[first : first + _BLOCK])
    moves = evaluate_moves(load_territory(Path(model))[0], games, block, _PROMISES[by_policy])
    logs, others = (moves.log_likelihoods(temperature) for temperature in temperatures)
    return {
        "log_likelihoods": logs.round(4).tolist(),
        "likelihoods": np.exp(others).round(6).tolist(),
        "places": moves.places().tolist(),
        "legal": moves.legal.tolist(),
    }


def _question(values: list[int | None]) -> Question:
    size, first, last = values
    return Question(size or 0, first or 1, last)


def _summarize(blocks: list[Json]) -> Json:
    """Means and counts that are small enough to be kept: ``top[m − 1]`` moves were among the m best."""
    names = ("log_likelihoods", "likelihoods", "places", "legal")
    logs, likely, places, legal = (np.concatenate([block[name] for block in blocks]) for name in names)
    mean_log, mean = mean_of_many(logs), mean_of_many(likely)
    return {
        "moves": int(logs.size),
        "mean_log": mean_log.mean,
        "interval": mean_log.interval,
        "mean": mean.mean,
        "mean_interval": mean.interval,
        "random_log": float(-np.log(legal).mean()),
        "legal": float(legal.mean()),
        "top": [int((places < top).sum()) for top in range(1, TOP + 1)],
        "random_top": [float(np.minimum(1, top / legal).mean()) for top in range(1, TOP + 1)],
    }


AMONG_BEST: Final = 50.0  # percent of the paper's moves at 80 stones that are among the 30 best (section 4)
_MEANS: Final = (("mean_log", "interval"), ("mean", "mean_interval"))  # in a summary


def top_rate(asked: Json, top: int) -> Estimate:
    """How often what was played was among so many best, in percent."""
    return share(asked["top"][top - 1], asked["moves"])


# Ownership accuracy: whose each point became, over all phases of test games and at their end.

POSITIONS: Final = {Budget.SMOKE: 50, Budget.HOUR: 5_000, Budget.FULL: 10_000}
# Another program, GoCNN: a convolutional network that learned from 15,000 professional games on 19×19; of other games.
GOCNN: Final = {"all": "80", "end": "over 96"}


def _measure(model: str, data: str, count: int) -> Json:
    territory, games = load_territory(model)[0], Dataset.open(data)
    every = measure_territory(territory, games, count)
    ended = measure_territory(territory, games, count, ended=True)
    return {
        "all": _describe(every),
        "end": _describe(ended),
        "phases": {phase: _describe(known) for phase, known in every.by_phase().items()},
    }


def _ask_all(
    nets: Sequence[Learned], games: Dataset, work: Callable[..., Json], count: int, scope: Scope
) -> list[Json]:
    """What all networks say of so many positions or games of a set."""
    about = {"data": str(games.path), "count": count}
    names = [f"{net.key}-{games.digest[:8]}-of-{count}" for net in nets]
    runs = [Run(name, work, {"model": str(net.model)} | about, count) for name, net in zip(names, nets, strict=True)]
    return do_runs(runs, scope.folder, scope.workers, scope.watch)


def _describe(known: Known) -> Json:
    found = mean_of_many(100 * known.shares)
    return {"mean": found.mean, "interval": found.interval, "positions": int(known.shares.size)}


class Points(Table):
    name = "points"
    title = "Ownership accuracy"
    own_differences = DIFFERENCES

    def measure(self, scope: Scope) -> Json:
        """Learn all networks, and ask them and bundled ones about every labeled set; ``--runs`` is the positions."""
        sets = require_sets(scope)
        nets = [*(learn(kind, sets, scope) for kind in TITLES), *pretrained_networks()]
        count = scope.runs or POSITIONS[scope.budget]
        results: Json = {"data": sets.describe(), "nets": [net.to_json() for net in nets], "sets": []}
        for games in sets.labeled_sets():
            if not games.select(split=Split.TEST, labeled=True).size:
                continue
            found = _ask_all(nets, games, _measure, count, scope)
            results["sets"].append({"name": games.path.name, "size": games.only_size(), "known": found})
            scope.keep(results)
        return results

    def _estimate(self, known: Json) -> Estimate:
        return Estimate(known["mean"], tuple(known["interval"]), known["positions"])

    def rows(self, results: Json) -> Iterator[Row]:
        """The share over all phases and at the end, of every network on every set."""
        for games in results["sets"]:
            networks = zip(results["nets"], games["known"], strict=True)
            for (net, known), when in product(networks, GOCNN):
                at = "over all phases" if when == "all" else "at the end"
                what = f"{net['title']} on {games['size']}×{games['size']}: ownership accuracy {at}, %"
                name = f"{self.name}/{games['name']}/{net['title'].strip('`')}/{when}"
                yield Row.measured(name, what, None, self._estimate(known[when]))

    def section(self, results: Json) -> str:
        """A table for every set."""
        tables = "\n".join(self._table(games, results["nets"]) for games in results["sets"])
        return f"""
{describe_sets(results["data"])} Ownership accuracy is the share of points whose owner in the end is the more probable
one; points that nobody owned do not count. {POSITIONS[Budget(results.get("budget", Budget.SMOKE))]:,} positions are
random ones of test games, and the ends are those of as many games, if there are; the cards of bundled networks have
figures of more positions (`katachi models`). Phases go by how full the board is. The paper gives no such figures.
Another program, GoCNN, a convolutional network of 0.35 million parameters that learned from about 15,000 professional
games on 19×19, is said to reach {GOCNN["all"]} % over all phases and {GOCNN["end"]} % at the end, of games that are not
ours.

{tables}
"""

    def _table(self, games: Json, nets: list[Json]) -> str:
        phases = list(games["known"][0]["phases"])
        header = (
            f"`{games['name']}`, {games['size']}×{games['size']}",
            "learned from",
            "all, %",
            "at the end, %",
            *phases,
        )
        lines = []
        for net, known in zip(nets, games["known"], strict=True):
            shares = [format_rounded(self._estimate(known[when])) for when in GOCNN]
            by_phase = [f"{known['phases'][phase]['mean']:.1f}" if phase in known["phases"] else "" for phase in phases]
            lines.append((net["title"], f"{format_value(net['positions'])} positions", *shares, *by_phase))
        return table(header, lines)


# Which stones are dead at the end: what playouts say and what networks say, against what the players agreed on.

GAMES: Final = {Budget.SMOKE: 4, Budget.HOUR: 300, Budget.FULL: 2000}


def _compare(model: str, data: str, count: int) -> Json:
    territory, games = load_territory(model)[0], Dataset.open(data)
    counts = {"games": 0, "chains": 0, "playouts": 0, "network": 0, "disagree": 0, "network of these": 0}
    for game in games.select(split=Split.TEST, labeled=True)[:count].tolist():
        counts["games"] += 1
        for name, number in compare(territory, games.end(game), games.labels[game]).items():
            counts[name] += number
    return counts


def compare(territory: Territory, board: Board, owned: NDArray[np.int8]) -> Json:
    """How many chains there are, how many of them both classify right, and who is right where they disagree.

    A chain is dead if its points are the opponent's in the end; by a network, if it expects that of them on the whole.
    """
    expected = territory.ownership([board])[0]
    by_playouts = set(estimate_status(board, DEFAULT_PLAYOUTS).dead)
    verdicts = [
        (owned[chain[0]] == -board[chain[0]], tuple(chain) in by_playouts, board[chain[0]] * expected[chain].mean() < 0)
        for chain in board.chains()
    ]
    truth, playouts, network = np.array(verdicts, dtype=np.bool_).reshape(-1, 3).T
    return {
        "chains": truth.size,
        "playouts": int((playouts == truth).sum()),
        "network": int((network == truth).sum()),
        "disagree": int((playouts != network).sum()),
        "network of these": int(((playouts != network) & (network == truth)).sum()),
    }


class Status(Table):
    name = "status"
    title = "Dead stones: playouts and networks"

    def measure(self, scope: Scope) -> Json:
        """Learn all networks, and ask them, bundled ones and playouts about every labeled set; ``--runs``: games."""
        sets = require_sets(scope)
        nets = [*(learn(kind, sets, scope) for kind in TITLES), *pretrained_networks()]
        count = scope.runs or GAMES[scope.budget]
        results: Json = {"data": sets.describe(), "sets": []}
        for games in sets.labeled_sets():
            found = _ask_all(nets, games, _compare, count, scope)
            asked = [net.to_json() | counts for net, counts in zip(nets, found, strict=True)]
            results["sets"].append({"name": games.path.name, "size": games.only_size(), "asked": asked})
            scope.keep(results)
        return results

    def rows(self, results: Json) -> Iterator[Row]:
        """Of the chains about which they disagree, how many the network classifies right."""
        for games in results["sets"]:
            for asked in (asked for asked in games["asked"] if asked["disagree"]):
                found = share(asked["network of these"], asked["disagree"])
                what = f"{asked['title']} on {games['size']}×{games['size']}, where playouts disagree: chains right, %"
                yield Row.measured(f"{self.name}/{games['name']}/{asked['title'].strip('`')}", what, None, found)

    def section(self, results: Json) -> str:
        """A table for every set."""
        tables = "\n".join(self._table(games) for games in results["sets"])
        return f"""
{describe_sets(results["data"])} When a game has ended, which chains are dead? {DEFAULT_PLAYOUTS} playouts say it where
Benson's theorem does not; a network says it by the ownership that it expects of a chain's points. Both are compared
with the labels of test games.

{tables}
"""

    def _table(self, games: Json) -> str:
        title = f"`{games['name']}`, {games['size']}×{games['size']}"
        header = (
            title,
            "games",
            "chains",
            "playouts right, %",
            "network right, %",
            "they disagree",
            "network right then, %",
        )
        lines = []
        for asked in games["asked"]:
            both = (share(asked[who], max(1, asked["chains"])) for who in ("playouts", "network"))
            numbers = (format_value(asked[name]) for name in ("games", "chains"))
            then = format_rounded(share(asked["network of these"], asked["disagree"])) if asked["disagree"] else ""
            shares = (format_rounded(found, 2) for found in both)
            lines.append((asked["title"], *numbers, *shares, format_value(asked["disagree"]), then))
        return table(header, lines)


QUESTIONS: Final = {9: Question(9), 13: Question(13), 19: Question(19, 80, 83)}
_LEAST: Final = 1e-6  # probability that an inverse is taken of
BEST: Final = 30  # moves, among which half of the paper's are at 80 stones
MOVES: Final = {Budget.SMOKE: 20, Budget.HOUR: 2700, Budget.FULL: 7200}
_RANDOM, _NETWORK = "random", "network"
_BEYOND: Final = (0.02, 20.0)  # the range of temperatures of results that do not say whether one is at its edge
# 1 / x of the probability of moves: what the paper's text says, and what we remember of its Table 2 and cannot check.
PUBLISHED_X: Final = {LARGE: {_RANDOM: 281, "BoltzmannLiberties (Stern et al.)": 194, _NETWORK: 15}}
REMEMBERED_X: Final = {
    9: {_RANDOM: 62, _NETWORK: 7},
    13: {_RANDOM: 132, _NETWORK: 10},
    LARGE: {"Boltzmann5 (Stern et al.)": 254},
}


def best_by_places(share: float, best: int, legal: int) -> float:
    """The largest geometric mean of probabilities by place if a share of moves is among the best.

    It is reached when all of that share is in the first place. The others are in any place after the best alike.
    """
    return math.pow(share, share) * math.pow((1 - share) / (legal - best), 1 - share)


_MOST: Final = best_by_places(AMONG_BEST / 100, BEST, PUBLISHED_X[LARGE][_RANDOM])


class Table2(Table):
    name = "table2"
    title = "Table 2: the probability of the moves that were played"
    own_differences = (
        *DIFFERENCES,
        "The paper writes of the average probability of moves, and says neither which mean it takes nor at which "
        "temperature; ours are fitted to moves of other games of the same set and size. It is most probably the "
        "geometric mean: its figures stand beside those of Stern et al., who, as we remember, give means of log p. So "
        "our geometric mean is compared, and nothing else of ours is. The paper's other figures are hard to reconcile: "
        f"half of the moves are among the best {BEST} of 281 (section 4); if all of these were in the first place and "
        "the others in any after the thirtieth alike, the geometric mean of probabilities by place would be "
        f"1 / {1 / _MOST:.0f}.",
        "In the text that we have Table 2 is lost. What the paper's sentences say is in the column of the paper; its "
        "figures for 9×9 and 13×13 and that of Boltzmann5 are quoted from memory, in a column of their own.",
        "That random play has 1 / 281 on 19×19 says that the paper asked about positions with 80 stones and counts "
        "points alone; ours may have fewer stones, as some were captured.",
    )

    def differences(self, results: Json) -> tuple[str, ...]:
        """Also whose games were asked about, where they are not of people."""
        boards = {size: self._players(board) for size, board in results["boards"].items()}
        return *self.own_differences, *(
            f"The paper's games on {size}×{size} are of people; ours are between {players}."
            for size, players in boards.items()
            if players != "people"
        )

    def measure(self, scope: Scope) -> Json:
        """Learn all networks, and ask them and bundled ones about the moves of each size that there are games of.

        ``--runs`` is the number of moves.
        """
        sets = require_sets(scope)
        papers = [learn(kind, sets, scope) for kind in PAPERS]
        nets = [*papers, learn("strong", sets, scope).evaluating_by_policy(), *pretrained_networks(by_policy=True)]
        results: Json = {"data": sets.describe(), "nets": [net.to_json() for net in nets], "boards": {}}
        for size, question in QUESTIONS.items():
            games = sets.of_size(question.size)
            if games is not None:
                count = scope.runs or MOVES[scope.budget]
                found = [ask(net, question, games, count, scope) for net in nets]
                players = who_played(games.path.name, *(source.path for source in games.card.sources))
                results["boards"][str(size)] = {"name": games.path.name, "players": players, "asked": found}
                scope.keep(results)
        return results

    def _players(self, board: Json) -> str:
        return str(board.get("players") or who_played(board["name"]))

    def rows(self, results: Json) -> list[Row]:
        """The probability of moves by every network and by random play, on every board."""
        return [
            row for size, board in results["boards"].items() for row in self._rows(int(size), board, results["nets"])
        ]

    def _rows(self, size: int, board: Json, nets: list[Json]) -> Iterator[Row]:
        published, first = PUBLISHED_X.get(size, {}), board["asked"][0]
        random = round(math.exp(-first["random_log"]), 1)
        what = f"{size}×{size}, random: geometric mean of the probability of moves, 1 / x"
        yield Row(f"{self.name}/{size}/random", what, published.get(_RANDOM), random, None, better=Better.SAME)
        for net, asked in zip(nets, board["asked"], strict=True):
            name, what = net["title"].strip("`"), f"{size}×{size}, {net['title']}"
            papers = is_the_papers(net)
            more: Json = {"n": asked["moves"], "better": Better.LOWER}
            for mean, found in self._means(asked).items():
                known: Value = published.get(_NETWORK) if papers and mean == "geometric" else None
                x, low, high = (round(bound, 2) for bound in found)
                text = f"{what}: {mean} mean of the probability of moves, 1 / x"
                yield Row(f"{self.name}/{size}/{name}/{mean}", text, known, x, (low, high), **more)
            for top in (1, BEST):
                known = AMONG_BEST if top == BEST and size == LARGE and papers else None
                text = f"{what}: top-{top} rate, %"
                yield Row.measured(f"{self.name}/{size}/{name}/top-{top}", text, known, top_rate(asked, top))

    def _means(self, asked: Json) -> dict[str, tuple[float, float, float]]:
        """1 / x by both means, with intervals."""
        logs, shares = ((asked[mean], *reversed(asked[bounds])) for mean, bounds in _MEANS)
        geometric, low, high = (math.exp(-log) for log in logs)
        arithmetic, least, most = (1 / max(share, _LEAST) for share in shares)
        return {"geometric": (geometric, low, high), "arithmetic": (arithmetic, least, most)}

    def section(self, results: Json) -> str:
        """Who was asked about what, ours beside the paper's, and the differences."""
        boards = results["boards"].items()
        return f"""
{describe_sets(results["data"])} They are asked about the moves that were made in even games: any move of test games
on 9×9 and 13×13, moves 80 to 83 on 19×19, of players of {STRONG} and better where ranks are known. Moves are taken for
the likelier the more area they promise, at the temperature that fits the moves of validation games best; our own
networks are asked for their policies. A mean probability is given as 1 / x: the smaller x the better. The geometric
mean is e to the mean of log p; the arithmetic mean has a temperature of its own. Where that is marked by ≤ or ≥, the
fit sits at the edge of the temperatures that were tried; at the lowest, the arithmetic mean is little else than the
top-1 rate: how often the network likes best what was played. The top-{BEST} rate is how often that is among the {BEST}
that it likes best.

{"".join(self._board_table(int(size), board, results["nets"]) for size, board in boards)}
"""

    def _board_table(self, size: int, board: Json, nets: list[Json]) -> str:
        published, remembered = PUBLISHED_X.get(size, {}), REMEMBERED_X[size]
        first = board["asked"][0]
        header = (
            f"{size}×{size}, {first['moves']:,} moves of {first['games']:,} games of `{board['name']}`, "
            f"between {self._players(board)}",
            "learned from",
            "paper: x",
            "from memory: x",
            "geometric mean: x",
            "mean of log p",
            "temperature",
            "arithmetic mean: x",
            "temperature",
            "top-1, %",
            f"top-{BEST}, %",
        )
        given = {
            name: (format_value(published.get(name)), format_value(remembered.get(name)))
            for name in (*published, *remembered)
        }
        random = (f"{math.exp(-first['random_log']):.0f}", f"{first['random_log']:.2f}".replace("-", "−"))
        by_chance = (f"{100 * first['random_top'][top - 1]:.1f}" for top in (1, BEST))
        lines: list[tuple[str, ...]] = [(_RANDOM, "", *given[_RANDOM], *random, "", "", "", *by_chance)]
        others = (name for name in given if name not in (_RANDOM, _NETWORK))
        lines += [(name, "", *given[name], *[""] * 7) for name in others]
        network, nothing = given[_NETWORK], (format_value(None),) * 2
        for net, asked in zip(nets, board["asked"], strict=True):
            lines.append(self._line(net, asked, network if is_the_papers(net) else nothing))
        return table(header, lines) + "\n"

    def _line(self, net: Json, asked: Json, given: tuple[str, str]) -> tuple[str, ...]:
        means = [f"{x:.1f} ({low:.1f} … {high:.1f})" for x, low, high in self._means(asked).values()]
        temperatures = self._temperatures(asked)
        return (
            net["title"],
            f"{format_value(net['positions'])} positions",
            *given,
            means[0],
            f"{asked['mean_log']:.2f}".replace("-", "−"),
            temperatures[0],
            means[1],
            temperatures[1],
            *(format_rounded(top_rate(asked, top)) for top in (1, BEST)),
        )

    def _temperatures(self, asked: Json) -> list[str]:
        """Both temperatures; at an edge of those that were tried, the best may be beyond."""
        found = asked["temperatures"]
        at_edge = asked.get("at edge") or [not _BEYOND[0] < round(each, 6) < _BEYOND[1] for each in found]
        marks = ("≤ " if each < 1 else "≥ " for each in found)
        return [f"{mark * edge}{each:.2g}" for mark, edge, each in zip(marks, at_edge, found, strict=True)]
