"""What parts of the search cost and gain: priors from a slow evaluator, and what playouts know."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from katachi.arena.ratings import Anchor
from katachi.arena.records import GameRecord
from katachi.arena.settings import TournamentSettings
from katachi.core.contracts import Evaluation, Limit
from katachi.data.batches import area_komi
from katachi.data.dataset import NO_LABEL, RESULTS
from katachi.go.board import Board, legal_moves_of
from katachi.go.game import Game
from katachi.go.points import BLACK, EMPTY, Reason
from katachi.papers.documents import (
    NOTHING,
    Estimate,
    estimate,
    format_estimate,
    format_rounded,
    format_value,
    mean_of_many,
    table,
)
from katachi.papers.experiment import (
    Budget,
    ExperimentError,
    Json,
    Row,
    Run,
    Scope,
    Table,
    Workers,
    do_runs,
    planned,
    seed_of,
)
from katachi.papers.tournaments import (
    Games,
    Pair,
    describe_games,
    play_rounds,
    rate_games,
    require_games,
    rounds,
    write_players,
)
from katachi.search.mcts import MctsSearch
from katachi.search.playouts import UNIFORM, new_playouts, run_with
from katachi.search.settings import MctsSettings, PlayoutSettings
from katachi.sgf.files import Split

SIZE: Final = 9

# What priors from a slow evaluator cost the search: simulations per second, beside those without one.
#
# The evaluator is a double that waits, like a network on another device. It finds all moves equally good, and so does
# the default prior here, so that the trees are alike and only the traffic is measured. In each round all delays take
# turns; ratios are taken within a round, so that whatever else the machine does disturbs both sides alike.


class SlowEvaluator:
    """Finds all legal moves equally good, after so many seconds a batch in which it uses no processor."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def evaluate(self, boards: Sequence[Board]) -> Evaluation:
        """Wait, then answer."""
        time.sleep(self._seconds)
        legal = legal_moves_of(boards).astype(np.float32)
        even = np.full(len(boards), 0.5, dtype=np.float32)
        return Evaluation(even, legal / legal.sum(axis=1, keepdims=True))


DELAYS: Final = (0, 50, 150)  # milliseconds a batch
THREADS: Final = (1, 2)
LEAST_RATIO: Final = 90  # percent of the search without an evaluator
ROUNDS: Final = {Budget.SMOKE: 2, Budget.HOUR: 20, Budget.FULL: 60}
_SECONDS: Final = {Budget.SMOKE: 0.2, Budget.HOUR: 2.0, Budget.FULL: 2.0}  # a search


def search_round(size: int, seconds: float, seed: int) -> Json:
    """One search of each kind, in random order: what it did, by threads and delay (−1: without an evaluator)."""
    kinds = [(threads, delay) for threads in THREADS for delay in (-1, *DELAYS)]
    np.random.default_rng(seed).shuffle(kinds)
    return {_key(threads, delay): _search(threads, delay, size, seconds, seed) for threads, delay in kinds}


def _key(threads: int, delay: int) -> str:
    return f"{threads}/{delay}"


def _search(threads: int, delay: int, size: int, seconds: float, seed: int) -> Json:
    settings = MctsSettings(threads=threads, pattern_priors=False, stops_early=False)
    search = MctsSearch(None if delay < 0 else SlowEvaluator(delay / 1000), settings)
    rng = np.random.default_rng(seed)
    search.search(Game(size), Limit(simulations=100), rng)  # wakes the threads
    search.finish_priors()
    begin = time.perf_counter()
    result = search.search(Game(size), Limit(seconds=seconds), rng)
    elapsed = time.perf_counter() - begin
    priors = search.finish_priors()
    return {
        "rate": result.simulations / elapsed,
        "sent": priors.sent,
        "dropped": priors.sent - priors.returned,
        "coverage": result.coverage,
        "lag simulations": priors.lag_simulations,
        "lag seconds": priors.lag_seconds,
    }


def ratio(results: Json, threads: int, delay: int) -> Estimate:
    """The median over rounds of the rate with an evaluator, in percent of that without."""
    plain = np.array(results["kinds"][_key(threads, -1)]["rate"])
    return estimate(100 * np.array(results["kinds"][_key(threads, delay)]["rate"]) / plain, np.median)


class LatePriors(Table):
    name = "async"
    title = "Priors that come late"

    def measure(self, scope: Scope) -> Json:
        """Search in rounds, one at a time, whatever ``--jobs`` says; ``--runs`` is the number of rounds."""
        arguments = {"size": SIZE, "seconds": _SECONDS[scope.budget]}
        runs = [
            Run(f"round {number:02d}", search_round, {**arguments, "seed": seed_of(self.name, number)}, games=1)
            for number in range(scope.runs or ROUNDS[scope.budget])
        ]
        done = do_runs(runs, scope.folder, Workers(), scope.watch)
        kinds = {
            kind: {what: [found[kind][what] for found in done] for what in done[0][kind]} for kind in sorted(done[0])
        }
        return {"seconds": arguments["seconds"], "batch": MctsSettings().batch, "kinds": kinds}

    def rows(self, results: Json) -> Iterator[Row]:
        """The rate beside that without an evaluator, and what was dropped."""
        for threads, delay in product(THREADS, DELAYS):
            where, found = f"{self.name}/{threads}/{delay}", ratio(results, threads, delay)
            what = f"priors after {delay} ms, {threads} thread{'s' if threads > 1 else ''}"
            dropped = sum(results["kinds"][_key(threads, delay)]["dropped"])
            share = f"{what}: simulations/s, % of those without"
            yield Row.measured(f"{where}/rate", share, f"≥ {LEAST_RATIO}", found)
            yield Row(f"{where}/dropped", f"{what}: evaluations dropped", 0, dropped, None)

    def section(self, results: Json) -> str:
        """How it was measured, and the medians."""
        count = len(results["kinds"][_key(THREADS[0], -1)]["rate"])
        return f"""
An evaluator that waits so many milliseconds a batch of up to {results["batch"]} nodes, and the search beside it, from
the empty {SIZE}×{SIZE} board with even priors, {results["seconds"]:g} s a search. Medians over {count} rounds in which
all took turns. *Covered* is the share of visited nodes that have the evaluator's prior when the search ends; the lag is
that from the making of a node to its prior.

{self._table(results)}
"""

    def _table(self, results: Json) -> str:
        header = (
            "delay, ms",
            "threads",
            "simulations/s",
            "% of those without",
            "evaluations",
            "dropped",
            "covered, %",
            "lag, simulations",
            "lag of a batch, ms",
        )
        kinds = ((threads, delay) for threads in THREADS for delay in (-1, *DELAYS))
        return table(header, (self._line(results, *kind) for kind in kinds))

    def _line(self, results: Json, threads: int, delay: int) -> tuple[str, ...]:
        found = results["kinds"][_key(threads, delay)]
        rate = format_value(round(np.median(found["rate"])))
        if delay < 0:
            return ("no evaluator", str(threads), rate, *[""] * 6)
        return (
            str(delay),
            str(threads),
            rate,
            format_rounded(ratio(results, threads, delay)),
            format_value(sum(found["sent"])),
            str(sum(found["dropped"])),
            f"{100 * np.median(found['coverage']):.0f}",
            format_value(round(np.median(found["lag simulations"]))),
            f"{1000 * np.median(found['lag seconds']):.0f}",
        )


# What playouts know: how well their share of wins predicts who won recorded games, and what their parts cost and gain.
#
# All policies play from the same positions of validation games. In each round they take turns, and their speeds are
# compared within it, so that whatever else the machine does disturbs all of them alike. Then the search plays itself
# with the parts that looked best, at equal time.

PLAYOUTS: Final = 200  # from each position
POSITIONS: Final = {Budget.SMOKE: 10, Budget.HOUR: 1_000, Budget.FULL: 1_800}
_A_ROUND: Final = 50  # positions
_DEFAULT: Final = "default"
_NEW: Final = ("neighbors", "two_liberties", "redirects", "guards")
_SEED: Final = 1


def _turn(*names: str) -> PlayoutSettings:
    """The default policy with some of its switches turned."""
    default = PlayoutSettings()
    return default.model_copy(update={name: not getattr(default, name) for name in names})


def _sign(name: str) -> str:
    return "−" if getattr(PlayoutSettings(), name, False) else "+"  # other parts of the search are added


def policies() -> dict[str, PlayoutSettings]:
    """What is measured, by its title: parts that the default policy has are taken away (−), others added (+)."""
    turned = {f"{_sign(name)} {name}": _turn(name) for name in _NEW}
    everything = PlayoutSettings().model_copy(update=dict.fromkeys(_NEW, True))
    return {_DEFAULT: PlayoutSettings(), "uniform": UNIFORM, **turned, "all": everything}


def play_round(chosen: list[list[int]], seed: int, games: Games) -> Json:
    """Playouts of all policies from (game, ply) positions: Black's share of wins, right owners in %, and seconds."""
    dataset = games.dataset
    boards = [dataset.position(game, ply) for game, ply in chosen]
    komi = area_komi(dataset, np.array([game for game, _ in chosen])).tolist()
    owners = [dataset.ownership(game) if dataset.is_labeled else None for game, _ in chosen]
    kinds = list(policies().items())
    np.random.default_rng(seed).shuffle(kinds)
    found = {}
    for name, settings in kinds:
        playouts = new_playouts(settings, 1, seed)
        run_with(playouts, boards[0], 1, komi[0])  # compiles what is not yet
        start = time.process_time()
        played = [run_with(playouts, board, PLAYOUTS, k) for board, k in zip(boards, komi, strict=True)]
        seconds = time.process_time() - start
        right = [_right_owners(each.ownership, owner) for each, owner in zip(played, owners, strict=True)]
        found[name] = {"wins": [each.black_wins for each in played], "owners": right, "seconds": seconds}
    return found


def _right_owners(ownership: NDArray[np.float32], owner: NDArray[np.int8] | None) -> float | None:
    """The share of points, among those that somebody owned in the end, whose more frequent owner that was."""
    if owner is None or owner[0] == NO_LABEL or not owner.any():
        return None
    return 100 * float(np.mean(np.sign(ownership[owner != EMPTY]) == owner[owner != EMPTY]))


def brier(wins: NDArray[np.float64], won: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The square by which each share of wins misses what came of it."""
    return (wins - won) ** 2


def log_loss(wins: NDArray[np.float64], won: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The negative log probability of what came of it; one playout won and one lost are added, lest a share is 0."""
    share = (wins * PLAYOUTS + 1) / (PLAYOUTS + 2)
    return -np.log(np.where(won, share, 1 - share))


def _summarize(done: Sequence[Json], name: str, won: NDArray[np.bool_]) -> dict[str, Estimate | None]:
    """Each measure of a policy over all rounds; the third compares it with the default, over the same positions."""
    wins, base = (np.concatenate([each[which]["wins"] for each in done]) for which in (name, _DEFAULT))
    owners = [right for each in done for right in each[name]["owners"] if right is not None]
    rates = [100 * each[_DEFAULT]["seconds"] / each[name]["seconds"] for each in done]
    return {
        "Brier score, ×1000": mean_of_many(1000 * brier(wins, won)),
        "log loss, ×1000": mean_of_many(1000 * log_loss(wins, won)),
        "Brier score, ×1000, less the default's": mean_of_many(1000 * (brier(wins, won) - brier(base, won))),
        "ownership accuracy, %": mean_of_many(owners) if owners else None,
        "playouts/s, % of the default's": estimate(rates, np.median),
    }


class PlayoutQuality(Table):
    name = "playouts"
    title = "What playouts know"
    only_by_name = True

    def measure(self, scope: Scope) -> Json:
        """Play out positions of counted validation games, a round after the other; ``--runs`` is the positions."""
        games = require_games(scope, [Split.VALIDATION], "plays out recorded games")
        chosen = self._choose(games, scope)
        parts = [chosen[start : start + _A_ROUND] for start in range(0, len(chosen), _A_ROUND)]
        work = partial(play_round, games=games)
        runs = [
            Run(f"{games.digest} {number:03d}", work, {"chosen": some, "seed": number}, len(some))
            for number, some in enumerate(parts)
        ]
        done = do_runs(runs, scope.folder, Workers(), scope.watch)
        won = np.array([int(games.dataset.games["winner"][game]) == BLACK for game, _ in chosen])
        labeled = sum(right is not None for each in done for right in each[_DEFAULT]["owners"])
        measures = {name: _summarize(done, name, won) for name in policies()}
        return {"data": games.describe(), "positions": len(chosen), "labeled": labeled, "policies": measures}

    def _choose(self, games: Games, scope: Scope) -> list[list[int]]:
        """A ply of the last third of so many games that were counted and won, always the same."""
        all_games = games.dataset.games
        some = games.dataset.select(games.size, Split.VALIDATION)
        some = some[(all_games["result"][some] == RESULTS.index(Reason.SCORE)) & (all_games["winner"][some] != EMPTY)]
        some = some[all_games["moves"][some] > 2]
        if not some.size:
            raise ExperimentError(f"{scope.data} has no validation games that were counted: import some that were")
        rng = np.random.default_rng(_SEED)
        some = rng.permutation(some)[-(scope.runs or POSITIONS[scope.budget]) :]  # the first ones chose what parts do
        moves = all_games["moves"][some].astype(np.int64)
        plies = rng.integers(2 * moves // 3, moves)
        return [[game, ply] for game, ply in zip(some.tolist(), plies.tolist(), strict=True)]

    def rows(self, results: Json) -> Iterator[Row]:
        """Every measure of every policy."""
        for name, measures in results["policies"].items():
            for measure, found in measures.items():
                key = f"{self.name}/{name}/{measure}".replace(" ", "-")
                yield Row.measured(key, f"{name}: {measure}", None, found and [*found[:2], results["positions"]])

    def section(self, results: Json) -> str:
        """How it was measured, and the measures."""
        data, found = results["data"], results["policies"]
        lines = (
            (name, *(NOTHING if each is None else format_rounded(Estimate(*each)) for each in measures.values()))
            for name, measures in found.items()
        )
        return f"""
{PLAYOUTS} playouts from each of {results["positions"]:,} positions, one from the last third of each of as many
validation games of `{data["name"]}` on {data["size"]}×{data["size"]} that were counted, at their komi. Black's share of
wins is taken for the probability that Black won. The default policy is measured with a part less (−) or more (+);
differences are over the same positions. Owners are known of {results["labeled"]:,} games. Speeds are medians over
rounds of {_A_ROUND} positions in which all policies took turns.

{table(("policy", *found[_DEFAULT]), lines)}
"""


# The search with a part more against the search as it is, each with the same time for a move.

MATCH_SECONDS: Final = {Budget.SMOKE: 0.02, Budget.HOUR: 0.2, Budget.FULL: 0.2}  # for a move
MATCH_GAMES: Final = {Budget.SMOKE: 2, Budget.HOUR: 60, Budget.FULL: 400}  # of each part
_MATCHED: Final[dict[str, Json]] = {  # how the search differs
    "guards": {"playouts": _turn("guards").model_dump()},
    "two_liberties": {"playouts": _turn("two_liberties").model_dump()},
    "large_patterns": {"large_patterns": True},
    "criticality-4": {"criticality": 4.0},
    "criticality-16": {"criticality": 16.0},
}


class PlayoutMatches(Table):
    name = "playout-matches"
    title = "Parts of playouts and priors at equal time"

    def measure(self, scope: Scope) -> Json:
        """Play the search against itself with a part turned, on one thread; ``--runs``: games of each part."""
        seconds = MATCH_SECONDS[scope.budget]
        players = {
            name: {
                "kind": "search",
                "search": {"kind": "mcts", "threads": 1, **part},
                "limit": {"seconds": seconds},
            }
            for name, part in {_DEFAULT: {}, **_MATCHED}.items()
        }
        files = write_players(players, scope.folder / "players")
        template = TournamentSettings(players=files, scheme="gauntlet", size=SIZE, jobs=scope.workers.jobs)

        def count(records: Sequence[GameRecord]) -> Json:
            rated = rate_games([*_MATCHED, _DEFAULT], records, Anchor(_DEFAULT))
            signs = {name: _sign(name) for name in _MATCHED}
            return {"limit": seconds, "signs": signs} | describe_games(records) | rated

        return play_rounds(
            rounds(template, dict.fromkeys(_MATCHED, scope.runs or MATCH_GAMES[scope.budget])), scope, count
        )

    def rows(self, results: Json) -> Iterator[Row]:
        """What the search wins with each part turned."""
        for pair in (Pair(**values) for values in results["pairs"]):
            what = f"{results['signs'][pair.first]} {pair.first}, at equal time: won, %"
            games = planned(results, MATCH_GAMES)
            yield Row.measured(f"{self.name}/{pair.first}", what, None, pair.won, planned=games)

    def section(self, results: Json) -> str:
        """How it was played, and the scores."""
        lines = (
            (
                f"{results['signs'][pair.first]} {pair.first}",
                str(pair.games),
                format_rounded(pair.won),
                format_estimate(results["ratings"][pair.first][0], results["ratings"][pair.first][1:]),
            )
            for pair in (Pair(**values) for values in results["pairs"])
        )
        return f"""
The search with a part less (−) or more (+) against the search as it is: {results["games"]:,} games on {SIZE}×{SIZE},
{results["limit"]:g} s for a move on one thread, each opening of two random moves played with both colors;
{results["distinct"]:,} of them differ. A part is on by default only if it pays here.

{table(("part", "games", "won, %", "Elo (95 %)"), lines)}
"""
